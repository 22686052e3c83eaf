"""`ipmitool chassis status`: what the BMC says of the machine as a whole, a yes or no for each kind of trouble (ipmitool lib/ipmi_chassis.c).

Main Power Fault     : true
Drive Fault          : false

It says neither which part nor which disk; a no is never good.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted.base import Reader, Where, pairs, refused

_FIELD = r"\s{0,4}(?:System Power|Power (?:Overload|Interlock|Control Fault|Restore Policy)|Main Power Fault|Last Power Event|Chassis Intrusion|Front-Panel Lockout|Drive Fault|Cooling/Fan Fault|Sleep Button|Diag Button|Reset Button|Power Button|Front Panel)\b"
_IS_FIELD = re.compile(rf"{_FIELD}.{{0,40}}:")
_PARTS = ("Power Overload", "Main Power Fault", "Power Control Fault", "Cooling/Fan Fault")
_DRIVE = "Drive Fault"


@dataclass(frozen=True)
class Chassis:
    fields: tuple[tuple[str, str, str], ...]  # name, value, line


def parse(lines: Sequence[str]) -> Chassis | Unparsed:
    rows = ((line, pairs(line[:120])) for line in lines if _IS_FIELD.match(line[:120]))
    found = tuple((row[0], row[1], line.strip()) for line, row in rows if row is not None)
    return Chassis(found) if found else refused("ipmitool chassis status", next(iter(lines), ""))


def situations(value: Chassis, where: Where) -> tuple[Situation, ...]:
    return tuple(_of(name, line, where) for name, state, line in value.fields if state == "true" and name in (*_PARTS, _DRIVE))


def _of(name: str, line: str, where: Where) -> Situation:
    slug = "disk-failing" if name == _DRIVE else "enclosure-fault"
    return Situation(
        slug, f"{slug}:{where.node}:chassis:{name}", where.node, "act", f"The machine's BMC reports: {name}",
        f"`ipmitool chassis status` says that there is a {name.lower()}. It does not say of which part: `ipmitool sdr elist` and `ipmitool sel elist` do."
        + (" Which disk it is, only the machine's own list of bays or a light shows; ask the disk (`smartctl -x`) and the pool (`zpool status -P -p`) before anything is taken out." if name == _DRIVE else ""),
        where.evidence(line), subject={"node": where.node, "sensor": name}, sure=False,
    )  # fmt: skip


READER = Reader(
    name="ipmi_chassis",
    first=r"System Power {1,12}: (?:on|off)$|Main Power Fault {1,12}: ",
    tools=("ipmitool",),
    asks=lambda tool, rest: "chassis" in rest,
    goes_on=_FIELD,
    strict=True,
    open_ended=True,
    inside=frozenset(("notices", "machine_events")),
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=lambda value: ("It says of the machine as a whole whether a part is at fault, and of no disk how it is.",),
    again="ipmitool chassis status",
)
