"""What md, the Linux kernel's own RAID, says in the kernel's log: disks that it gave up or left out, arrays that lack disks, reads that failed.

Forms: drivers/md/raid1.c, raid10.c, raid5.c and md.c. The arrays are no pools.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from agents.collectors._log_stamps import stamped
from agents.domain.wwid import strip_partition
from workflows.engine.core import Situation
from workflows.pasted.base import Where
from workflows.pasted.md import TOGETHER_MIN

_FAILED = re.compile(r"(?:md/\w{1,12}:(?P<array>\w{1,20})|raid\d{1,2}): Disk failure on (?P<disk>[\w!/-]{2,40}?), disabling device")
_READ = re.compile(
    r"md/\w{1,12}:(?P<array>\w{1,20}): read error (?P<what>(?:not correctable|NOT corrected|corrected|on)[^()]{0,60}(?:\([^()]{0,80})?)"
)
_UNRAID = re.compile(r"md: disk(?P<disk>\d{1,2}) (?P<what>read|write) error, sector=\d")  # of Unraid, whose own driver is called md
_ON = re.compile(r"\bon (?P<disk>[a-z][\w!-]{1,40})")
_LEFT_OUT = re.compile(r"md: kicking (?:non-fresh|faulty) (?P<disk>[\w!/-]{2,40}?) from array")
_ACTIVE = re.compile(
    r"md/\w{1,12}:(?P<array>\w{1,20}): (?:raid level \d{1,2} )?active with (?P<have>\d{1,4}) out of (?P<of>\d{1,4}) (?:mirrors|devices)"
)
_TOO_FEW = re.compile(
    r"md/\w{1,12}:(?P<array>\w{1,20}): (?:not enough operational (?:devices|mirrors)|cannot start dirty degraded array|failed to run raid set)"
)
_CONTINUES = re.compile(r"md/\w{1,12}:(?P<array>\w{1,20}): Operation continuing on (?P<have>\d{1,4}) devices")
_NO_POOL = "It is an array of md, and no pool."
_NOW = "`cat /proc/mdstat` shows how it is now, and whether a pool misses the same disk `zpool status -P -p` does."


def situations(lines: Sequence[str], where: Where) -> tuple[Situation, ...]:
    """Each disk and each array once, by the gravest of its lines."""
    of_md = [line[:500] for line in lines if "md" in line]
    given_up = {strip_partition(failed["disk"])[0]: line for line in of_md if (failed := _FAILED.search(line))}
    together = len(given_up) >= TOGETHER_MIN or _at_once(given_up.values())
    found: dict[str, Situation] = {}
    for line in of_md:
        for one in _of_line(line, where):
            before = found.get(one.key)
            if not (together and one.slug == "disk-failing") and (before is None or (before.severity != "act" and one.severity == "act")):
                found[one.key] = one
    return ((_together(given_up, where),) if together else ()) + tuple(found.values())


MOMENT_US = 60_000_000


def _at_once(lines: Collection[str]) -> bool:
    """Whether two disks or more were given up within a minute, by the stamps of their lines."""
    times = [one.at_us for line in lines if (one := stamped(line.lstrip("> "))) is not None and one.printed]
    return len(times) > 1 and max(times) - min(times) <= MOMENT_US


def _together(given_up: Mapping[str, str], where: Where) -> Situation:
    return Situation(
        "many-disks-offline", f"many-disks-offline:{where.node}:md", where.node, "act", f"md gave up {len(given_up)} disks",
        f"md gave up {', '.join(given_up)}. {_NO_POOL} So many disks do not fail by themselves at once: look at what they share, an HBA, a cable, an expander, a shelf, power. "
        "Replace none of them before that is known; the log says which went first, and of what.",
        where.evidence(*list(dict.fromkeys(given_up.values()))[:6]), subject={"node": where.node, "names": " ".join(given_up)}, sure=False, gate=True,
    )  # fmt: skip


def _of_line(line: str, where: Where) -> Iterator[Situation]:
    if failed := _FAILED.search(line):
        disk = strip_partition(failed["disk"])[0]
        yield _of_disk(
            "disk-failing", "act", disk, f"md gave up {failed['disk']} of {failed['array'] or 'an array'}",
            "md gives a disk up at the first write that fails, whatever the cause: ask the disk itself, smartctl -x, and see what the log says of its cable and port.", line, where,
        )  # fmt: skip
    elif read := _READ.search(line):
        on = _ON.search(read["what"])
        disk = strip_partition(on["disk"])[0] if on else "a disk that the line does not name"
        yield _of_disk(
            "disk-errors", "watch", disk, f"{disk}: a read of {read['array']} failed on it",
            "Ask the disk itself, smartctl -x: another copy served the read, or none did.", line, where,
        )  # fmt: skip
    elif slot := _UNRAID.search(line):
        name = f"disk{slot['disk']} of the Unraid array"
        yield _of_disk(
            "disk-errors", "watch", name, f"{name}: a {slot['what']} failed on it",
            "The number is of the array's slot and no kernel name: find the disk by its serial number on Unraid's page, and ask it, smartctl -x.", line, where,
        )  # fmt: skip
    elif left := _LEFT_OUT.search(line):
        disk = strip_partition(left["disk"])[0]
        yield _of_disk(
            "disk-missing", "watch", disk, f"md left {left['disk']} out: it is not as new as the others of its array",
            "It was away while the others were written. See why (smartctl -x, the log of that time) before it is added again.", line, where,
        )  # fmt: skip
    elif few := _TOO_FEW.search(line):
        yield _of_array("act", few["array"], "does not run", line, where)
    elif (active := _ACTIVE.search(line)) and int(active["have"]) < int(active["of"]):
        yield _of_array("watch", active["array"], f"runs with {active['have']} of {active['of']} disks", line, where)
    elif on := _CONTINUES.search(line):
        yield _of_array("watch", on["array"], f"goes on with {on['have']} disks", line, where)


def _of_disk(slug: str, severity: str, disk: str, title: str, advice: str, line: str, where: Where) -> Situation:
    member = where.member(disk)
    return Situation(
        slug, f"{slug}:{where.node}:md:{disk}", where.node, "act" if severity == "act" else "watch", title,
        f"{title}. {_NO_POOL} {member.sentence + ' ' if member else ''}{advice} {_NOW}",
        where.evidence(line), subject={"node": where.node, "disk": disk} | (member.subject if member else {}), sure=False,
    )  # fmt: skip


def _of_array(severity: str, array: str, what: str, line: str, where: Where) -> Situation:
    return Situation(
        "disk-missing", f"disk-missing:{where.node}:md:{array}", where.node, "act" if severity == "act" else "watch", f"the md array {array} {what}",
        f"{array} {what}. {_NO_POOL} {_NOW}", where.evidence(line), subject={"node": where.node, "array": array}, sure=False,
    )  # fmt: skip
