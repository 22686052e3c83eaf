"""`multipathd show paths raw format …` as the agent asks it, and `multipath -ll`: the maps of the node, and how each path of them is."""

from collections.abc import Iterator, Sequence

from agents.collectors.multipath import FORMAT, PATHS
from twin import disk_names
from twin.blkid import device_number
from twin.figures import nicenum
from twin.model import Disk, MultipathMap, Node, Path

UP, DOWN = ("active", "ready"), ("failed", "faulty")


def daemon(node: Node, args: Sequence[str]) -> str | None:
    """None for what the twin does not answer."""
    if tuple(args) != PATHS[1:]:
        return None
    assert FORMAT == "%d|%w|%t|%T"
    return "".join(f"{path.name}|{_wwid(disk)}|{'|'.join(_state(path))}\n" for disk, _ in _maps(node) for path in disk.paths)


def topology(node: Node, args: Sequence[str]) -> str | None:
    return "".join(_map(disk, one) for disk, one in _maps(node)) if tuple(args) == ("-ll",) else None


def _maps(node: Node) -> Iterator[tuple[Disk, MultipathMap]]:
    for disk in node.disks:
        if disk.map is not None:
            yield disk, disk.map


def _wwid(disk: Disk) -> str:
    return disk_names.map_uuid(disk)[len("mpath-") :]


def _state(path: Path) -> tuple[str, str]:
    return UP if path.runs else DOWN


def _map(disk: Disk, one: MultipathMap) -> str:
    size = nicenum(disk.size_bytes)
    lines = [f"{one.name} ({_wwid(disk)}) {one.dm} {disk.vendor},{disk.model}", f"size={size} features='0' hwhandler='0' wp=rw"]
    for number, path in enumerate(disk.paths):
        last, (dm_state, checker) = number == len(disk.paths) - 1, _state(path)
        lines.append(f"{'`' if last else '|'}-+- policy='service-time 0' prio={int(path.runs)} status={'enabled' if number else 'active'}")
        place = f"{path.hctl} {path.name} {device_number(path.name)}"
        lines.append(f"{' ' if last else '|'} `- {place} {dm_state} {checker} {'running' if path.runs else 'offline'}")
    return "".join(f"{line}\n" for line in lines)
