"""Native multipath of NVMe: `nvme list-subsys`, `nvme show-topology`, and files of /sys: which paths a namespace has, and how each is.

States of a controller by Linux drivers/nvme/host/sysfs.c (nvme_sysfs_show_state), of a path by its multipath.c (nvme_ana_state_names);
layout by nvme-cli, nvme-print-stdout.c (stdout_subsys_config, stdout_subsystem_topology) and nvme-print-json.c. `multipath -ll` shows the same
of its `nvme` maps (multipath-tools, libmultipath/foreign/nvme.c), and is judged here, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted.base import Reader, Where, document_or_list, plural, refused, unread

STATES: Mapping[str, bool] = {  # of the controller -> whether its path can serve
    "live": True,
    "new": False,
    "resetting": False,
    "connecting": False,
    "reconnecting": False,  # before 4.16
    "deleting": False,
    "deleting (no IO)": False,
    "dead": False,
}
ANA: Mapping[str, bool] = {  # asymmetric access of this namespace by this controller -> whether I/O goes that way now
    "optimized": True,
    "non-optimized": True,
    "inaccessible": False,  # as a standby controller reports it: it takes over when the other one fails
    "persistent-loss": False,
    "change": False,
}
STANDBY = "inaccessible"
DISCOVERY = "nqn.2014-08.org.nvmexpress.discovery"  # a subsystem that only lists others


@dataclass(frozen=True)
class Path:
    """One way to a namespace or a subsystem. `state` and `ana` are "" where they are not printed, `odd` is a word that is not known here."""

    name: str  # of the controller or the path: "nvme1", "nvme1c2n1"
    state: str
    ana: str
    line: str
    transport: str = ""
    odd: str = ""

    @property
    def serves(self) -> bool | None:
        if self.odd or not (self.state or self.ana):
            return None
        return STATES.get(self.state, True) and ANA.get(self.ana, True)

    @property
    def is_standby(self) -> bool:
        """Whether it is as the second controller of an active and passive pair should be."""
        return not self.odd and self.ana == STANDBY and STATES.get(self.state, True)

    @property
    def words(self) -> str:
        return " ".join(filter(None, (self.state, self.ana, self.odd))) or "no state"


@dataclass(frozen=True)
class Subsystem:
    """What several paths lead to: a subsystem, or one namespace of it."""

    name: str
    nqn: str
    paths: tuple[Path, ...]
    line: str


@dataclass(frozen=True)
class Subsystems:
    systems: tuple[Subsystem, ...]
    unread: tuple[str, ...] = ()


@dataclass
class _Group:
    name: str
    nqn: str
    line: str
    paths: list[Path] = field(default_factory=list)

    def whole(self) -> Subsystem:
        return Subsystem(self.name, self.nqn, tuple(self.paths), self.line)


_HEADING = re.compile(r" {0,4}(nvme-subsys[0-9]{1,6}) - NQN=(\S{1,255})(?: .{0,200})?$")
_DETAIL = re.compile(r" *(?:hostnqn|iopolicy|model|serial|firmware|type)=|\s*\\\s*$|-{3,}|={3,}")
_SPACE = re.compile(r" {0,8}\+- (?:ns ([0-9]{1,9})|(nvme[0-9]{1,6}n[0-9]{1,9}) \(ns [0-9]{1,9}\))$")
_BARE_SPACE = re.compile(r" {0,8}\+- nvme[0-9]{1,6}n[0-9]{1,9}$")  # below each path, as a form that was tried prints it
_PATH = re.compile(r" {0,8}\+- (nvme[0-9]{1,6}(?:c[0-9]{1,6}(?:n[0-9]{1,9})?|n[0-9]{1,9})?) (.{1,600})$")
_TRANSPORTS = frozenset(("pcie", "tcp", "rdma", "fc", "loop", "apple-nvme"))
_ADDRESS = re.compile(r"[=:,]|^[0-9]+$")  # somewhere in a word
_FILE = re.compile(
    r"/sys/\S{0,200}?/(nvme[0-9]{1,6}(?:c[0-9]{1,6}n[0-9]{1,9})?)/(state|ana_state|transport|address|numa_node|queue_depth): ?(\S.{0,200})$"
)


def parse(lines: Sequence[str]) -> Subsystems | Unparsed:
    """Every subsystem, or namespace, with its paths; Unparsed when there is none."""
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith(("{", "[")):
        return _of_json("\n".join(lines), first)
    groups: list[_Group] = []
    stray: list[str] = []
    heading: _Group | None = None
    for raw in filter(str.strip, lines):
        line = raw.rstrip().replace("**", "")
        found, space, path = _HEADING.match(line), _SPACE.match(line), _PATH.match(line)
        if found:
            heading = _Group(found.group(1), found.group(2), line.strip())
            groups.append(heading)
        elif space and heading is not None:
            own = _Group(space.group(2) or f"{heading.name}, namespace {space.group(1)}", heading.nqn, line.strip())
            groups.append(own)
        elif _BARE_SPACE.match(line) and groups:
            continue
        elif path and groups:
            groups[-1].paths.append(_path(path.group(1), path.group(2), raw))
        elif not _DETAIL.match(line) and not _FILE.match(line):
            stray.append(raw)
    groups = [group for group in groups if group.paths or not _is_divided(group, groups)]
    systems = (*(group.whole() for group in groups), *_of_files(lines))
    ways = [path for system in systems for path in system.paths]
    if any(path.state for path in ways):
        stray += [path.line for path in ways if not path.state and not path.ana]  # cut in the middle of its line
    return Subsystems(systems, tuple(stray)) if systems else refused("nvme list-subsys", first)


def _is_divided(group: _Group, groups: Sequence[_Group]) -> bool:
    """Whether its paths are listed below its namespaces."""
    return any(other is not group and other.nqn == group.nqn and other.paths for other in groups)


def _path(name: str, rest: str, line: str) -> Path:
    text = rest.replace("deleting (no IO)", "deleting_(no_IO)")
    words = [word.replace("_", " ") if word.startswith("deleting_") else word for word in text.replace("*", "").strip("_ ").split()]
    words = [word.strip("_") for word in words]
    transport = next((word for word in words if word in _TRANSPORTS), "")
    state = next((word for word in words if word in STATES), "")
    ana = next((word for word in words if word in ANA), "")
    odd = next((w for w in words if w not in (transport, state, ana) and not _ADDRESS.search(w) and w not in ("ns", "none", "n/a")), "")
    return Path(name, state, ana, line, transport, odd)


def of_map(name: str, states: Sequence[str], line: str) -> Path:
    """A path of an `nvme` map of `multipath -ll`."""
    return _path(name, " ".join(states), line)


def _of_json(text: str, first: str) -> Subsystems | Unparsed:
    """nvme-cli 1 lists subsystems, version 2 hosts with their subsystems."""
    try:
        top = document_or_list(text)
        hosts = top if isinstance(top, list) else [top]
        found = tuple(_system(each) for host in hosts for each in host.get("Subsystems", ()) if "NQN" in each)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Unparsed("the JSON of nvme list-subsys is not complete", first)
    return Subsystems(found) if found else refused("nvme list-subsys", first)


def _system(fields: Mapping[str, Any]) -> Subsystem:
    paths = tuple(
        _path(str(one["Name"]), f"{one.get('Transport', '')} {one.get('State', '')} {one.get('ANAState', '')}", f'"Name":"{one["Name"]}"')
        for one in fields.get("Paths", ())
    )
    return Subsystem(str(fields.get("Name", "")), str(fields["NQN"]), paths, f'"NQN":"{fields["NQN"]}"')


def _of_files(lines: Sequence[str]) -> Iterator[Subsystem]:
    """Of `grep . /sys/class/nvme/*/state /sys/block/nvme*/ana_state`: paths of one namespace are named alike but for the controller."""
    files = [(match.groups(), line.strip()) for line in lines if (match := _FILE.match(line.strip()))]
    states = {name: value for (name, file, value), _ in files if file == "state"}
    ways = [(name, value, line) for (name, file, value), line in files if file == "ana_state"]
    spaces: dict[str, list[Path]] = {}
    for name, value, line in ways:
        instance, _, rest = name.partition("c")
        controller, _, number = rest.partition("n")
        state = states.get(f"nvme{controller}", "")
        spaces.setdefault(f"{instance}n{number}" if number else name, []).append(_path(name, f"{state} {value}", line))
    for space, paths in spaces.items():
        yield Subsystem(space, "", tuple(paths), paths[0].line)
    if not ways:
        yield from (Subsystem(name, "", (_path(name, value, line),), line) for (name, file, value), line in files if file == "state")


def situations(value: Subsystems, where: Where) -> tuple[Situation, ...]:
    return of_systems(value.systems, where)


def of_systems(systems: Sequence[Subsystem], where: Where) -> tuple[Situation, ...]:
    """What is lost of the ways to each; a subsystem that only lists others is no disk."""
    disks = [system for system in systems if not system.nqn.startswith(DISCOVERY)]
    return (*(found for system in disks for found in _of_system(system, where)), *_short(disks, where))


def _of_system(system: Subsystem, where: Where) -> Iterator[Situation]:
    lost = [path for path in system.paths if path.serves is False and not path.is_standby]
    standby = [path for path in system.paths if path.is_standby]
    serving = sum(path.serves is True for path in system.paths)
    unsure = sum(path.serves is None for path in system.paths)
    if not lost and (serving > 1 or unsure or not (standby or not system.paths)):
        return
    listed = ", ".join(f"{path.name}: {path.words}" for path in (*lost, *standby)) or "none is listed"
    left = (
        "No path serves it now: I/O to it waits until one is back, or fails."
        if not serving and not unsure
        else f"{plural(serving, 'path')} of {len(system.paths)} {'serves' if serving == 1 else 'serve'} it."
    )
    rest = (
        f" {plural(len(standby), 'path')} {'is' if len(standby) == 1 else 'are'} on standby (inaccessible) and should take over when the serving one fails; that was not tried."
        if standby and serving
        else ""
    )
    yield Situation(
        "path-lost", f"path-lost:{where.node}:{system.nqn or system.name}", where.node,
        "act" if not serving or (lost and serving <= 1) else "watch",
        _title(system, lost, serving, unsure),
        f"NVMe {system.name}{f' ({system.nqn})' if system.nqn else ''}: {listed}. {left}{rest} All these paths lead to one disk: replace nothing for a "
        "path. Look at the link, the switch and the other controller, and at what the kernel's log says of that controller.",
        where.evidence(*(path.line for path in (*lost, *standby)) if lost or standby else (system.line,)),
        subject={"node": where.node, "disk": system.name},
        sure=bool(lost) or not serving,
    )  # fmt: skip


def _title(system: Subsystem, lost: Sequence[Path], serving: int, unsure: int) -> str:
    if not serving and not unsure:
        return f"{system.name} has no path that serves it"
    if lost:
        return f"{system.name} has lost {plural(len(lost), 'path')} of {len(system.paths)}"
    return f"{system.name} is served by one path, the other is on standby"


def _short(disks: Sequence[Subsystem], where: Where) -> Iterator[Situation]:
    """Subsystems over a network with one path where the others have more."""
    remote = [each for each in disks if any(path.transport and path.transport != "pcie" for path in each.paths)]
    counts = [len(each.paths) for each in remote]
    usual = max(counts, key=counts.count, default=1)
    alone = [each for each in remote if len(each.paths) == 1 < usual and each.paths[0].serves]
    if alone and 2 * len(alone) <= len(counts):
        yield Situation(
            "path-lost", f"path-lost:{where.node}:single-nvme", where.node, "watch",
            f"{plural(len(alone), 'NVMe subsystem has', 'NVMe subsystems have')} one path where the others have {usual}",
            f"{', '.join(each.name for each in alone[:8])}: only one path is known, and the others have {usual}. The missing one is not listed as "
            "lost: it was never connected, or was given up. The next fault of that way takes the disk. Look at `nvme connect-all` and its log.",
            where.evidence(*(each.line for each in alone[:8])),
            subject={"node": where.node},
        )  # fmt: skip


def notes(value: Subsystems) -> tuple[str, ...]:
    odd = sorted({path.odd for system in value.systems for path in system.paths if path.odd})
    silent = sum(path.serves is None and not path.odd for system in value.systems for path in system.paths)
    counts = sum(len(system.paths) for system in value.systems)
    return (
        *unread(value.unread),
        *((f"These states are not known here: {', '.join(odd)}.",) if odd else ()),
        *((f"Of {plural(silent, 'path')} it does not say whether they work.",) if silent else ()),
        f"It lists {plural(counts, 'path')} to {plural(len(value.systems), 'subsystem or namespace', 'subsystems or namespaces')}, and says nothing of "
        "their health (`nvme smart-log` does).",
    )


def is_silent(value: Subsystems) -> bool:
    """Whether no path of it says how it is."""
    return all(path.serves is None for system in value.systems for path in system.paths)


JSON_LOOKED_AT = 16  # lines


def _lists_paths(text: str) -> bool:
    """Whether a JSON text is of `nvme list-subsys`; that of `nvme list` has subsystems as well, below its devices."""
    return '"Subsystems"' in text and '"Paths"' in text and '"Devices"' not in text


READER = Reader(
    name="nvme_subsys",
    first=r" {0,4}nvme-subsys[0-9]+ - NQN=|/sys/\S{0,200}/nvme[0-9]+(?:c[0-9]+n[0-9]+)?/(?:state|ana_state): ?\S|[\[{]\s*$",
    confirm=lambda lines, i: lines[i].strip() not in ("[", "{") or _lists_paths("".join(lines[i : i + JSON_LOOKED_AT])),
    tools=("nvme",),
    asks=lambda tool, rest: any(word in ("list-subsys", "show-topology") for word in rest),
    open_ended=True,
    goes_on=r" {0,4}nvme-subsys[0-9]+ - NQN=|\s*\\\s*$| *(?:\+- |[a-z]+=)|/sys/\S{0,200}/nvme|[\s\[{}\]\"]",
    strict=True,
    parse=parse,
    situations=situations,
    silent=is_silent,
    notes=notes,
    again="nvme list-subsys",
)
