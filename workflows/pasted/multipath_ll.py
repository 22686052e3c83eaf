"""`multipath -ll` (and -l, -v2): each disk behind several paths, and the state of each path in the kernel's and in the checker's words.

States by multipath-tools, libmultipath/print.c and checkers.c: the kernel's is active, failed or undef; the checker's one of `CHECKER`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from agents.domain.wwid import normalise
from workflows.engine.core import Situation
from workflows.pasted import nvme_subsys
from workflows.pasted.base import Reader, Sight, Where, plural, refused, unread

CHECKER: Mapping[str, bool | None] = {  # word -> whether the path serves; None: it says nothing of it
    "ready": True,
    "ghost": True,  # a standby path of an active/passive array, as it should be
    "faulty": False,
    "shaky": False,
    "timeout": False,
    "i/o timeout": False,
    "removed": False,
    "orphan": False,
    "delayed": None,
    "pending": None,
    "i/o pending": None,
    "undef": None,
    "unknown": None,
    "wild": None,
}
DM: Mapping[str, bool | None] = {"active": True, "failed": False, "undef": None}
ONLINE: Mapping[str, bool | None] = {
    "running": True,
    "live": True,
    "offline": False,
    "transport-offline": False,
    "blocked": False,
    "dead": False,
    "unknown": None,
    "created": None,
    "connecting": False,
    "deleting": False,
}
NO_PRODUCT = "##,##"  # libmultipath/print.c, of a map without a path
TOGETHER_MIN = 3  # disks that lost the same HBA's path: one cause


@dataclass(frozen=True)
class Path:
    """One path. `hctl` and `device` are None where multipath prints # or -: the device is gone. A state is None where it is not printed."""

    hctl: str | None
    device: str | None
    dm: str | None
    checker: str | None
    online: str | None
    line: str
    odd: str = ""  # a word that this reader does not know

    @property
    def serves(self) -> bool | None:
        """False as soon as one says so; True when one says so and none denies it; None when nobody knows."""
        lines = [
            table.get(word)
            for table, word in ((DM, self.dm), (CHECKER, self.checker), (ONLINE, self.online))
            if word is not None and word in table
        ]
        if self.device is None or False in lines:
            return False
        if self.odd:
            return None
        return CHECKER[self.checker] if self.checker not in (None, "undef") else (True if True in lines else None)

    @property
    def words(self) -> str:
        return " ".join(word for word in (self.dm, self.checker, self.online, self.odd) if word)


@dataclass(frozen=True)
class Disk:
    """One multipath map."""

    name: str  # "mpatha", or the WWID where it has no other name
    wwid: str | None
    dm: str | None
    product: str | None
    paths: tuple[Path, ...]
    line: str


@dataclass(frozen=True)
class Maps:
    """`namespaces` are maps that the kernel's own multipath of NVMe made; multipath only lists them."""

    disks: tuple[Disk, ...]
    unread: tuple[str, ...] = ()
    namespaces: tuple[nvme_subsys.Subsystem, ...] = ()
    loose: tuple[Path, ...] = ()  # paths of disks whose lines are not here, as grep leaves them


# A WWID of the form t10 or of iSCSI may have blanks: "1IET     00080001".
_MAP = re.compile(
    r"(?:[a-z]+: )?(\S+(?: {1,12}[0-9A-F]{8})?) (?:\(([^)]{1,120})\) ?)?(dm-[0-9]+|undef)?(?: (uninitialized|[^,]{0,64},.{0,64}))?$"
)
_PATH = re.compile(r"[ |`\\+_*-]*([0-9#]+:[0-9#]+:[0-9#]+:[0-9#]+) +(\S+) +[0-9#]+:[0-9#]+(?![0-9#]) *(?! )(.*)$")
_OTHER = re.compile(
    r"[ |`\\+_*-]*(?:policy=|round-robin|queue-length|service-time|historical)|\[?(?:size|features)=|[A-Z][a-z]{2} [0-9 ]{1,2} [0-9:]{8} \||-{3,}"
)
_OLD_PATH = re.compile(r"\[([a-z/ ]+)\]")


_NAMESPACE = re.compile(r"(\S{1,255}) \[nvme\]:(nvme[0-9]{1,6}n[0-9]{1,9})(?: .{0,200})?$")
_WAY = re.compile(
    r"[ |`\\+_*-]*(?:[0-9]+:[0-9]+:[0-9]+|\(ERR:\S{1,80}\)) +(nvme[0-9]{1,6}c[0-9]{1,6}n[0-9]{1,9}) +[0-9]+:[0-9]+ (.{1,120})$"
)
_NOT_THE_LAST = re.compile(r"\|| {1,4}\|-")  # how a line begins below which the drawing goes on


def parse(lines: Sequence[str]) -> Maps | Unparsed:
    """Every map with its paths; Unparsed when there is none."""
    found: list[tuple[tuple[str, str, str | None, str | None, str | None], list[Path]]] = []
    spaces: list[tuple[str, str, list[nvme_subsys.Path]]] = []
    stray: list[str] = []
    loose: list[Path] = []
    named = False  # whether the line that names the disk of the next paths was understood
    drawn = [line.rstrip() for line in lines if line.strip()]
    for line in drawn:
        path, heading, space, way = _path(line), _MAP.match(line.strip()), _NAMESPACE.match(line.strip()), _WAY.match(line)
        if space is not None:
            spaces.append((space.group(2), line.strip(), []))
            named = False
        elif way is not None and spaces:
            spaces[-1][2].append(nvme_subsys.of_map(way.group(1), way.group(2).split(), line))
        elif path is not None and named:
            found[-1][1].append(path)
        elif _OTHER.match(line.strip()) or line.strip() in ("$", "#"):
            continue
        elif heading and (heading.group(2) or heading.group(3) or normalise(heading.group(1))):
            name = heading.group(1)
            found.append(((line, name, heading.group(2) or name, heading.group(3), heading.group(4)), []))
            named = True
        else:
            stray.append(line)
            loose += [path] if path is not None else []
            named = named and path is None and line.startswith((" ", "|", "`", "\\"))  # what follows may belong to another disk
    disks = tuple(Disk(name, normalise(raw or ""), dm, product, tuple(paths), line) for (line, name, raw, dm, product), paths in found)
    namespaces = tuple(nvme_subsys.Subsystem(name, "", tuple(ways), line) for name, line, ways in spaces)
    stray += [disk.line for disk in disks[-1:] if not disk.paths and disk.product != NO_PRODUCT]  # cut behind the first lines of a map
    stray += [space.line for space in namespaces[-1:] if not space.paths]
    stray += _unfinished(drawn, disks)
    if not disks and not namespaces:  # rows alone, as grep leaves them, are all that was to be read
        stray = [line for line in stray if _path(line) is None]
    maps = Maps(disks, tuple(stray), namespaces, tuple(loose))
    return maps if disks or namespaces or loose else refused("multipath -ll", lines[0] if lines else "")


def _unfinished(drawn: Sequence[str], disks: Sequence[Disk]) -> list[str]:
    """The last line of each map whose drawing goes on below it: a branch that is not the last one has a bar at its left.

    A path without a state, where the others have one, was cut in the middle of its line.
    """
    ends = [line for line, after in zip(drawn, [*drawn[1:], ""], strict=False) if _is_path(line) and not _is_drawn(after)]
    cut = [line for line in ends if _NOT_THE_LAST.match(line)]
    paths = [path for disk in disks for path in disk.paths]
    bare = [path.line for path in paths if not path.words] if any(path.words for path in paths) else []
    group = [line for line in drawn[-1:] if "policy=" in line]
    return [*cut, *(line for line in bare if line not in cut), *group]


def _is_path(line: str) -> bool:
    return _path(line) is not None or _WAY.match(line) is not None


def _is_drawn(line: str) -> bool:
    return line.startswith((" ", "|", "`", "\\"))


def _path(line: str) -> Path | None:
    found = _PATH.match(line.strip())
    if found is None:
        return None
    hctl, device, rest = found.groups()
    states = [state.strip() for state in _OLD_PATH.findall(rest)] if "[" in rest else rest.replace("i/o ", "i/o_").split()
    states = [state.replace("i/o_", "i/o ") for state in states if state]
    dm = next((state for state in states if state in DM and (state != "undef" or states.index(state) == 0)), None)
    others = [state for i, state in enumerate(states) if dm is None or i != states.index(dm)]
    checker = next((state for state in others if state in CHECKER), None)
    online = next((state for state in others if state in ONLINE and state != checker), None)
    odd = next((state for state in others if state not in CHECKER and state not in ONLINE), "")
    return Path(None if "#" in hctl else hctl, None if device == "-" else device, dm, checker, online, line, odd)


def _is_row(line: str) -> bool:
    """Whether a line is a path with its states, as grep leaves it: of a tree whose left bar somebody took for his own, it has no blank before it."""
    path = _path(line) if line.startswith(("  ", "| ")) else None
    return path is not None and path.dm is not None and not path.odd


def sights(value: Maps) -> tuple[Sight, ...]:
    return tuple(
        Sight(path.device, disk.wwid, None, *_vendor(disk.product), path.hctl) for disk in value.disks for path in disk.paths if path.device
    )


def _vendor(product: str | None) -> tuple[str | None, str | None]:
    vendor, _, model = (product or "").partition(",")
    return vendor.strip() or None, model.strip() or None


def situations(value: Maps, where: Where) -> tuple[Situation, ...]:
    ill = {disk: [path for path in disk.paths if path.serves is False] for disk in value.disks}
    ill = {disk: paths for disk, paths in ill.items() if paths}
    together = dict(_together(ill, value))
    names = {disk.name for disks in together.values() for disk in disks}
    found = [_of_host(host, disks, ill, value, where) for host, disks in together.items()]
    found += [_of_disk(disk, paths, where) for disk, paths in ill.items() if disk.name not in names]
    return (
        *found,
        *_short(value, where),
        *_without_paths(value, where),
        *_loose(value, where),
        *nvme_subsys.of_systems(value.namespaces, where),
    )


def _without_paths(value: Maps, where: Where) -> Iterator[Situation]:
    """Maps below which no path is listed; of the last one they may have been cut off, and of another where paths stand there that no map could be found for, but where multipath names no product: it had none to ask."""
    empty = [
        disk
        for i, disk in enumerate(value.disks, 1)
        if not disk.paths and ((i < len(value.disks) and not value.loose) or disk.product == NO_PRODUCT)
    ]
    if empty:
        yield Situation(
            "path-lost", f"path-lost:{where.node}:empty", where.node, "act",
            f"{plural(len(empty), 'multipath disk has', 'multipath disks have')} no path",
            f"{', '.join(disk.name for disk in empty[:8])}: the map is there and no path is listed below it, so I/O to it waits or fails. Its disks were "
            "taken away, or the kernel lost them. Look at the kernel log and at the cable and power of that shelf, before any disk is replaced.",
            where.evidence(*(disk.line for disk in empty[:8])),
            subject={"node": where.node},
        )  # fmt: skip


def _loose(value: Maps, where: Where) -> Iterator[Situation]:
    lost = [path for path in value.loose if path.serves is False]
    if lost:
        hosts = sorted({path.hctl.partition(":")[0] for path in lost if path.hctl})
        yield Situation(
            "path-lost", f"path-lost:{where.node}:loose", where.node, "act",
            f"{plural(len(lost), 'path')} of multipath disks {'has' if len(lost) == 1 else 'have'} failed",
            f"{', '.join(path.device or path.hctl or 'a device that is gone' for path in lost[:8])}: the lines that name their disks are not here, so how "
            f"many paths each has left is not known. SCSI host {', '.join(hosts) or 'not known'}. Several paths of one host have one cause: its port, "
            "cable, switch or shelf. Replace no disk for it; `multipath -ll` without a filter shows what is left.",
            where.evidence(*(path.line for path in lost[:8])),
            subject={"node": where.node} | ({"host": hosts[0]} if len(hosts) == 1 else {}),
        )  # fmt: skip


def _together(ill: Mapping[Disk, Sequence[Path]], value: Maps) -> Iterator[tuple[str, list[Disk]]]:
    """SCSI hosts behind which several disks lost their path, each with those disks, if the disks go on by another way."""
    by_host: dict[str, list[Disk]] = {}
    for disk, paths in ill.items():
        hosts = {path.hctl.partition(":")[0] for path in paths if path.hctl}
        if len(hosts) == 1 and any(path.serves for path in disk.paths):
            by_host.setdefault(hosts.pop(), []).append(disk)
    yield from ((host, disks) for host, disks in by_host.items() if len(disks) >= TOGETHER_MIN)


def _of_host(host: str, disks: Sequence[Disk], ill: Mapping[Disk, Sequence[Path]], value: Maps, where: Where) -> Situation:
    names = ", ".join(disk.name for disk in disks[:8]) + (" …" if len(disks) > 8 else "")
    return Situation(
        "path-lost", f"path-lost:{where.node}:host{host}", where.node, "act",
        f"{len(disks)} disks have lost their path through SCSI host {host}",
        f"{names}: each has lost the path through host {host}, and is served through another. That is no fault of the disks: one HBA port, "
        f"cable, expander or I/O module. ZFS sees nothing of it yet. If the other way fails too, all {len(disks)} disks go at once. Look at "
        f"the kernel log for host{host}, then reseat the cable and look at the I/O module. Replace no disk for it.",
        where.evidence(*(path.line for disk in disks[:8] for path in ill[disk])),
        subject={"node": where.node, "host": host},
    )  # fmt: skip


def _of_disk(disk: Disk, paths: Sequence[Path], where: Where) -> Situation:
    serving, unsure = sum(path.serves is True for path in disk.paths), sum(path.serves is None for path in disk.paths)
    names = [path.device for path in disk.paths if path.device]
    member = where.member(*names, disk.name, disk.wwid)
    which = f" ({disk.wwid})" if disk.wwid and disk.wwid != disk.name else ""
    lost = ", ".join(f"{path.device or 'a device that is gone'} ({path.hctl or 'no address'}): {path.words}" for path in paths)
    left = (
        "No path is left: I/O to this disk fails or waits."
        if not serving and not unsure
        else f"{plural(serving, 'path')} of {len(disk.paths)} still {'serves' if serving == 1 else 'serve'} it."
    )
    then = (
        "Look at the power, slot and cable of this disk, and at the kernel log, before it is replaced."
        if not serving and not unsure
        else "If that fails too the disk is gone for ZFS. Look at the cable, HBA port and I/O module of the lost path first; the disk itself answers."
    )
    return Situation(
        "path-lost", f"path-lost:{where.node}:{disk.wwid or disk.name}", where.node, "act" if serving <= 1 else "watch",
        f"{disk.name} has lost {plural(len(paths), 'path')} of {len(disk.paths)}",
        f"Multipath disk {disk.name}{which}: {lost}. {left} {member.sentence + ' ' if member else ''}{then}",
        where.evidence(*(path.line for path in paths)),
        subject={"node": where.node, "disk": disk.name}
        | ({"wwid": disk.wwid} if disk.wwid else {})
        | (member.subject if member else {}),
    )  # fmt: skip


def _short(value: Maps, where: Where) -> Iterator[Situation]:
    """Disks with one path where the others have more: the second one was never found."""
    counts = [len(disk.paths) for disk in value.disks]
    usual = max(counts, key=counts.count, default=1)
    alone = [disk for disk in value.disks if len(disk.paths) == 1 < usual and disk.paths[0].serves]
    if alone and 2 * len(alone) <= len(counts):
        yield Situation(
            "path-lost", f"path-lost:{where.node}:single", where.node, "watch",
            f"{plural(len(alone), 'disk has', 'disks have')} one path where the others have {usual}",
            f"{', '.join(disk.name for disk in alone[:8])}: only one path is known, and the other disks have {usual}. The missing path is not "
            "listed as failed: it was never found, or was removed. The next fault of that way takes the disk. Look which HBA does not see it "
            "(lsscsi), and at its cable and I/O module.",
            where.evidence(*(disk.line for disk in alone[:8])),
            subject={"node": where.node},
        )  # fmt: skip


def notes(value: Maps) -> tuple[str, ...]:
    odd = sorted(set(_odd(value.disks)))
    unsure = [path for disk in value.disks for path in disk.paths if path.serves is None and not path.odd]
    note = (f"These states are not known here: {', '.join(odd)}.",) if odd else ()
    unsure += [path for disk in value.disks for path in disk.paths if path.checker == "undef" and path.serves]
    open_ = (f"Of {plural(len(unsure), 'path')} it does not say whether they work; `multipath -ll` asks them.",) if unsure else ()
    alone = bool(value.disks) and all(len(disk.paths) == 1 for disk in value.disks)
    single = (
        ("No disk has a second path here. Whether one is missing the output does not say: compare it with how the disks are cabled.",)
        if alone
        else ()
    )
    return (*unread(value.unread), *note, *open_, *single)


def silent(value: Maps) -> bool:
    """Whether no path was asked, as `multipath -l` prints it: what the kernel believes of a path that nobody uses says nothing of it.

    Where no disk has a second path nothing says whether one is missing.
    """
    paths = [path for disk in value.disks for path in disk.paths]
    alone = bool(value.disks) and all(len(disk.paths) <= 1 for disk in value.disks)
    return bool(paths) and not value.namespaces and (alone or all(path.checker in (None, "undef") for path in paths))


def _odd(disks: Iterable[Disk]) -> Iterator[str]:
    return (path.odd for disk in disks for path in disk.paths if path.odd)


READER = Reader(
    name="multipath_ll",
    first=r"(?:[a-z]+: )?\S+ (?:\([^)\s]+\) ?)?(?:(?:dm-[0-9]+|undef)(?: .{0,64},.{0,64})?)?$|\S+ \[nvme\]:nvme[0-9]+n[0-9]+ |[ |`+\\_-]{1,12}[0-9#]+:[0-9#]+:[0-9#]+:[0-9#]+ ",
    confirm=lambda lines, i: _is_row(lines[i]) or (any(re.match(r"\[?(?:size|features)=|[ |`\\]*[-_+]+ ", line) for line in lines[i + 1 : i + 3])
    and ("features=" in "".join(lines[i + 1 : i + 3]))),
    tools=("multipath", "multipathd"),
    asks=lambda tool, rest: any(re.fullmatch(r"-(?=\w*l)\w+|-v[23]|-d", word) for word in rest)
    if tool == "multipath"
    else list(rest[:2]) in (["show", "topology"], ["-k"], ["show", "maps"]),
    open_ended=True,
    goes_on=r"(?:[a-z]+: )?\S+ (?:\([^)\s]+\) ?)?(?:dm-[0-9]+|undef)|\S+(?: \([^)\s]+\))?$|\[?(?:size|features)=|[ |`\\]",
    parse=parse,
    situations=situations,
    silent=silent,
    notes=notes,
    sights=sights,
    again="multipath -ll",
)  # fmt: skip
