"""`pvs`, `vgs`, `lvs` and the warnings of LVM: physical volumes that are not there. LVM is no pool; its disks may be those of the machine's own system.

Attributes by lvs(8) and vgs(8): the health of a volume is the ninth letter (p: partial, r: a disk had errors, m: mismatches), of a group the fourth (p: partial).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Cure, Situation
from workflows.pasted.base import Reader, Where, plural, refused

_MISSING = re.compile(
    r"\s{0,8}(?:WARNING: )?(?:Couldn't find (?:device with uuid|all devices for LV) ?(?P<uuid>[\w/-]{4,60})|VG (?P<group>\S{1,80}) is missing PV (?P<pv>\S{1,60})|Device for PV (?P<lost>\S{1,60}) not found)"
)
_UNKNOWN = re.compile(r"\s{0,8}(?:\[unknown\]|unknown device) +(?P<group>\S{1,80}) +lvm2 ")
_VOLUME = re.compile(r"\s{0,8}(?P<name>\S{1,80}) +(?P<group>\S{1,80}) +(?P<attributes>[-a-zA-Z]{10})(?: |$)")
_GROUP = re.compile(r"\s{0,8}(?P<name>\S{1,80}) +[0-9]{1,5} +[0-9]{1,5} +[0-9]{1,5} +(?P<attributes>[wr][z-][x-][p-][cnai-][cs-]) ")
_HEALTH = {"p": "is partial: a disk of it is not there", "r": "had errors of a disk", "m": "has copies that differ"}
NO_POOL = "LVM makes it and it is no pool: ZFS knows nothing of it."


@dataclass(frozen=True)
class Volumes:
    missing: tuple[tuple[str, str], ...]  # of which group or which identity, and its line
    ill: tuple[tuple[str, str, str], ...]  # volume, what is so, line


def parse(lines: Sequence[str]) -> Volumes | Unparsed:
    """What is not there and what is ill; Unparsed where no line is LVM's."""
    missing: list[tuple[str, str]] = []
    ill: list[tuple[str, str, str]] = []
    for line in lines:
        if found := _MISSING.match(line[:400]) or _UNKNOWN.match(line[:400]):
            missing.append((next(filter(None, found.groups())), line.strip()))
        elif (group := _GROUP.match(line[:400])) and group["attributes"][3] == "p":
            ill.append((group["name"], _HEALTH["p"], line.strip()))
        elif (volume := _VOLUME.match(line[:400])) and volume["attributes"][8] in _HEALTH:
            ill.append((f"{volume['group']}/{volume['name']}", _HEALTH[volume["attributes"][8]], line.strip()))
    known = missing or ill or any(map(re.compile(READER.first).match, lines))
    return Volumes(tuple(missing), tuple(ill)) if known else refused("LVM", next(iter(lines), ""))


def situations(value: Volumes, where: Where) -> tuple[Situation, ...]:
    return tuple(_of(value, where))


_LOOK = Cure("look", "See which disk it was: `pvs -o +uuid,devices`, the kernel's log of the last boot, and the list of disks.")
_SEAT = Cure("reseat", "Look at its seat, cable, port and power first; when it is there again, LVM finds it by itself.")


def _of(value: Volumes, where: Where) -> Iterator[Situation]:
    if value.missing:
        names = ", ".join(dict.fromkeys(name for name, _ in value.missing))
        yield Situation(
            "disk-missing", f"disk-missing:{where.node}:lvm", where.node, "watch",
            f"LVM does not find a physical volume ({names[:120]})",
            f"LVM names {names}, of which a disk is not there. {NO_POOL} `vgreduce --removemissing` gives up for good what was on it: do not run it before the disk was looked for.",
            where.evidence(*(line for _, line in value.missing[:6])),
            subject={"node": where.node, "names": names[:200]}, sure=False, cures=(_LOOK, _SEAT),
        )  # fmt: skip
    for name, words, line in value.ill:
        yield Situation(
            "vdev-degraded", f"vdev-degraded:{where.node}:lvm:{name}", where.node, "watch",
            f"{name} of LVM {words}",
            f"LVM says by its attributes that {name} {words}. {NO_POOL}",
            where.evidence(line),
            subject={"node": where.node, "array": name}, sure=False, cures=(_LOOK, _SEAT),
        )  # fmt: skip


def notes(value: Volumes) -> tuple[str, ...]:
    lines = len(value.missing) + len(value.ill)
    trouble = f"Trouble of LVM stands in {plural(lines, 'line')}." if lines else "No line is about trouble of LVM."
    return (f"{trouble} It is no pool, and says nothing of the health of its disks; `zpool status -P -p` shows the pools.",)


READER = Reader(
    name="lvm",
    first=r"\s{0,8}(?:WARNING: )?(?:Couldn't find (?:device with uuid|all devices for LV)|VG \S{1,80} is missing PV|Device for PV )|\s{1,8}(?:PV +VG +Fmt |VG +#PV +#LV |LV +VG +Attr )",
    tools=("pvs", "vgs", "lvs"),
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="pvs -o +uuid,devices",
)
