"""`zdb -e POOL`: the pool as the labels of the disks describe it that zdb found, and why it could not be opened.

It is put together from labels, so it says which top-level vdevs no disk was found of ("missing"), and of none of the others whether it is well.
The module puts it together the same way for an import (vdev_tree of pool_config in lib/libzutil/zutil_import.c).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Cure, Situation
from workflows.pasted.base import Reader, Where, plural, refused

_HEAD = r" {0,8}Configuration for import:\s*$"
_FIELD = re.compile(r"(\s{0,80})([a-z_]{1,40}(?:\[[0-9]{1,4}\])?):(?: (?:'([^']{0,300})'|([0-9]{1,20})))?\s{0,8}")
_FAILED = re.compile(r"spa_load\([^()]{1,300}\): FAILED: (.{1,300})")
_STATES = {
    "0": "its labels say that it was not exported: it is imported on some host, or was when that host went down",
    "1": "it was exported",
    "2": "it was destroyed",
}


@dataclass(frozen=True)
class ForImport:
    name: str
    guid: str
    state: str  # as the label has it, "0" to "7"; "" where it does not stand there
    hostname: str
    vdevs: int | None  # how many top-level vdevs the pool has
    missing: tuple[str, ...]  # those of which no disk was found
    failure: str  # the last reason that ZFS's own log gives; "" for none
    line: str


def parse(lines: Sequence[str]) -> ForImport | Unparsed:
    """The fields of the pool and the kind of each top-level vdev. What stands deeper is the disks', and is read as pieces of labels."""
    begin = next((i for i, line in enumerate(lines) if re.match(_HEAD, line)), None)
    if begin is None:
        return refused("zdb -e", lines[0] if lines else "")
    own: dict[str, str] = {}
    missing: list[str] = []
    depths: list[int] = []
    child = ""
    for line in lines[begin + 1 :]:
        found = _FIELD.fullmatch(line)
        if not found:
            continue
        depth, key, value = len(found.group(1)), found.group(2), found.group(3) or found.group(4) or ""
        if not depths:
            depths.append(depth)
        if depth <= depths[0]:
            own.setdefault(key, value)
        elif key.startswith("children[") and (len(depths) == 1 or depth <= depths[1]):
            depths[1:] = [depth]
            child = key[len("children[") : -1]
        elif key == "type" and value == "missing" and child and len(depths) > 1 and _is_below(depth, depths[1]):
            missing.append(child)
    if "name" not in own and "pool_guid" not in own:
        return refused("zdb -e", lines[begin])
    failures = [found.group(1).strip() for line in lines if (found := _FAILED.search(line[:1000]))]
    count = own.get("vdev_children", "")
    return ForImport(
        own.get("name", ""), own.get("pool_guid", ""), own.get("state", ""), own.get("hostname", ""),
        int(count) if count else None, tuple(missing), failures[-1] if failures else "", lines[begin].strip(),
    )  # fmt: skip


CHILD_DEPTH = 8  # a tab, or two levels of four


def _is_below(depth: int, of: int) -> bool:
    """Whether a field at this depth is of the child itself and not of one of its own children."""
    return of < depth < of + CHILD_DEPTH


def situations(value: ForImport, where: Where) -> tuple[Situation, ...]:
    return tuple(_blocked(value, where)) if value.missing or value.failure else ()


def _blocked(value: ForImport, where: Where) -> Iterator[Situation]:
    name = value.name or value.guid
    which = ", ".join(value.missing)
    title = (
        f"{name}: no disk was found of {plural(len(value.missing), 'top-level vdev')}"
        if value.missing
        else f"ZFS could not load {name}: {value.failure[:120]}"
    )
    of_all = f" of its {value.vdevs}" if value.vdevs else ""
    sentences = [
        f"zdb put {name} together from the labels that it found. Of the top-level vdev {which}{of_all} it found no disk, and the pool cannot be imported without "
        "each of its vdevs. Their disks are away, hidden below other names, or their labels cannot be read. Nothing is lost by waiting."
        if value.missing
        else f"zdb put {name} together from the labels that it found, and the load failed.",
        f"ZFS's own log says: {value.failure}." if value.failure else "",
        "Create nothing on these disks, clear no label, replace none of them, and force nothing until the missing ones were looked for.",
        "If nothing is done, the pool stays out of service. Its data is as it was while nothing is written to its disks.",
    ]
    yield Situation(
        "import-blocked", f"import-blocked:{where.node}:zdb:{name}", where.node, "act", title,
        " ".join(filter(None, sentences)), where.evidence(value.line),
        subject={"node": where.node, "pool": value.name, "why": "missing" if value.missing else "load-failed"}
        | ({"pool_guid": value.guid} if value.guid else {}),
        sure=False,
        gate=True,
        cures=(
            Cure("look", "See what ZFS finds by stable names; that only reads.", (("zpool", "import", "-d", "/dev/disk/by-id"),)),
            Cure("look", "See which disks the node has, and what the kernel says of those that it lost.", (("lsscsi", "-i", "-g", "-s"), ("dmesg",))),
            Cure("reseat", "Bring the missing disks back: power, cable, HBA, shelf, multipath."),
        ),
    )  # fmt: skip


def notes(value: ForImport) -> tuple[str, ...]:
    state = _STATES.get(value.state, "")
    last = f"; the last host that had it is {value.hostname}" if value.hostname and value.state == "0" else ""
    return (
        f"The pool {value.name or value.guid} as the labels describe it{': ' if state else ''}{state}{last}.",
        "Whether its disks are well it does not say: `zpool import -d /dev/disk/by-id` shows the state of each.",
    )


def _asks(tool: str, rest: Sequence[str]) -> bool:
    letters = "".join(word[1:] for word in rest if word.startswith("-"))
    return "e" in letters and not set(letters) & set("luiLmORhbcD") and ("C" in letters or "d" not in letters)


READER = Reader(
    name="zdb_import",
    first=_HEAD,
    tools=("zdb",),
    asks=_asks,
    goes_on=r"\s|zdb: |ZFS_DBGMSG|\S+\.c:[0-9]+:|Configuration for import:",
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="zdb -e POOL",
)
