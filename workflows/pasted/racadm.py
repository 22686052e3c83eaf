"""`racadm storage get pdisks -o` and `vdisks -o` of an iDRAC, and `omreport storage pdisk` and `vdisk`: Dell's own view of drives behind a PERC.

Both print a drive's name and then "Field = value" or "Field : value". Words of states by Dell's guides of racadm and of OpenManage; behind a volume
ZFS sees one disk and cannot tell which drive is ill.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Severity, Situation
from workflows.pasted.base import Reader, Where, refused

GOOD_STATES = frozenset(("online", "ready", "non-raid", "nonraid", "jbod", "spun-up", "hot-spare", "hotspare", "ok", "enabled", "none"))
STATES: dict[str, tuple[str, Severity]] = {
    "failed": ("disk-failing", "act"),
    "offline": ("disk-missing", "act"),
    "missing": ("disk-missing", "act"),
    "removed": ("disk-missing", "act"),
    "degraded": ("vdev-degraded", "act"),
    "foreign": ("disk-missing", "watch"),
    "blocked": ("disk-failing", "act"),
    "rebuilding": ("resilver-running", "watch"),
    "rebuild": ("resilver-running", "watch"),
}
_NAME = re.compile(r"\s*((?:Disk|Enclosure|RAID|NonRAID|AHCI)\.[\w.:-]{3,120}|ID {4,60}: [0-9:]{1,20})$")
_FIELD = re.compile(r"\s*([A-Za-z][A-Za-z ./]{1,40}?) {0,60}[=:] (\S.{0,200}|$)")


@dataclass
class Item:
    """A drive, a volume or another part. `fields` are its lines, the names in lower case without blanks."""

    name: str
    fields: dict[str, str]
    line: str

    def field(self, *names: str) -> str:
        """The first of these fields that stands there; "" for none."""
        return next((self.fields[name] for name in names if name in self.fields), "")

    @property
    def serial(self) -> str:
        return self.field("serialnumber", "serialno.")


@dataclass(frozen=True)
class Items:
    items: tuple[Item, ...]


def parse(lines: Sequence[str]) -> Items | Unparsed:
    found: list[Item] = []
    for line in lines:
        if named := _NAME.match(line[:200]):
            found.append(Item(named.group(1).removeprefix("ID").strip(" :"), {}, line))
        elif found and (field := _FIELD.match(line[:300])):
            found[-1].fields.setdefault(field.group(1).replace(" ", "").lower(), field.group(2).strip())
    return Items(tuple(found)) if any(item.fields for item in found) else refused("racadm storage get", next(iter(lines), ""))


def situations(value: Items, where: Where) -> tuple[Situation, ...]:
    return tuple(one for item in value.items for one in _of(item, where))


def _of(item: Item, where: Where) -> Iterator[Situation]:
    state, status = item.field("state"), item.field("status", "rollupstatus")
    predicts = item.field("failurepredicted", "predictivefailurestate").lower() in ("yes", "smart alert present")
    slug, severity = STATES.get(state.lower(), ("", "watch"))
    if not slug and state and state.lower() not in GOOD_STATES:
        slug = "unexplained"
    if predicts and slug in ("", "unexplained", "resilver-running"):
        slug, severity = "disk-failing", "act"
    if not slug and status.lower() not in ("ok", "", "unknown"):
        slug, severity = "disk-errors", "act" if status.lower() == "critical" else "watch"
    if not slug:
        return
    reported = ", ".join(
        part
        for part in (f"state {state}" if state else "", f"status {status}" if status else "", "a failure predicted" if predicts else "")
        if part
    )
    named = item.field("devicedescription", "name") or item.name
    member = where.member(item.serial or None)
    yield Situation(
        slug, f"{slug}:{where.node}:racadm:{item.serial or item.name}", where.node, severity,
        f"{named}{f' (serial {item.serial})' if item.serial else ''}: {reported}",
        f"The controller says of {named} ({item.name}): {reported}. {member.sentence + ' ' if member else ''}Compare the serial number, and see which volume or pool holds it, "
        "before it is pulled. Where it is part of a volume, the controller rebuilds the volume and ZFS sees nothing of it.",
        where.evidence(item.line),
        subject={"node": where.node, "disk": item.name, "text": reported} | ({"serial": item.serial} if item.serial else {}) | (member.subject if member else {}),
        sure=False,
    )  # fmt: skip


def notes(value: Items) -> tuple[str, ...]:
    bare = [item.name for item in value.items if not item.field("state", "status")]
    return (
        f"{len(value.items)} parts of the controller were read.",
        *((f"Of {', '.join(bare[:6])} no state stands there.",) if bare else ()),
    )


READER = Reader(
    name="racadm",
    first=r"\s*(?:Disk|Enclosure)\.[\w.]{3,60}:[\w.:-]{3,100}$|List of (?:Physical|Virtual) Disks? (?:on|in) |ID {4,60}: [0-9]{1,3}:[0-9]{1,3}",
    tools=("racadm", "omreport"),
    asks=lambda tool, rest: (
        "storage" in rest and any(word in ("pdisks", "vdisks", "pdisk", "vdisk", "controllers", "enclosures") for word in rest)
    ),
    goes_on=r"\s*(?:Disk|Enclosure|RAID|NonRAID)\.[\w.:-]{3,120}$|\s*[A-Za-z][A-Za-z ./]{1,40}? {0,60}[=:] |List of |Controller ",
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: not any(item.field("state", "status") for item in value.items),
    notes=notes,
    again="racadm storage get pdisks -o",
)
