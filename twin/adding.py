"""`zpool add POOL spare|log|cache DISK`, and what it prints with -n -P: one whole disk by its path, in a section of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from twin import replacing
from twin.answer import Answer, refused
from twin.build import top
from twin.model import Label, Node, Pool, Vdev
from twin.status import SECTIONS, Style, leaf_name, vdev_name
from twin.vdevs import part_path
from twin.view import View

SHOWN = Style(full_paths=True)


@dataclass(frozen=True)
class Wanted:
    pool: str
    role: str  # "spare", "log", "cache"
    path: str


def parse(args: Sequence[str]) -> Wanted | None:
    """None for a command line the twin has no honest answer to."""
    if len(args) != 3 or args[1] not in ("spare", "log", "cache") or not args[2].startswith("/dev/disk/"):
        return None
    return Wanted(*args)


def refused_by_tool(view: View, wanted: Wanted) -> Answer | None:
    """As of a disk that comes as a replacement: the tool asks the same of it."""
    return replacing.refused_by_tool(view, replacing.Wanted(wanted.pool, "", wanted.path, False))


def dry_run(view: View, wanted: Wanted) -> Answer:
    """After zpool_do_add and print_vdev_tree in cmd/zpool/zpool_main.c, as since 2.0.2."""
    refusal = refused_by_tool(view, wanted)
    if refusal:
        return refusal
    pool = view.node.pool(wanted.pool)
    lines = [f"would update '{pool.name}' to the following configuration:\n", f"\t{pool.name}"]
    lines += [f"\t{'  ' * depth}{name}" for depth, name in _rows(view, pool, wanted)]
    return Answer(0, "\n".join(lines) + "\n")


def _rows(view: View, pool: Pool, wanted: Wanted) -> Iterator[tuple[int, str]]:
    yield from _class(view, pool, "data")
    for cls, heading in SECTIONS:
        yield from _section(heading.strip(), list(_class(view, pool, cls)), wanted, cls)
    for listed, heading, role in ((pool.caches, "cache", "cache"), (pool.spares, "spares", "spare")):
        yield from _section(heading, [(1, leaf_name(view, one, SHOWN)) for one in listed], wanted, role)


def _section(heading: str, found: list[tuple[int, str]], wanted: Wanted, role: str) -> Iterator[tuple[int, str]]:
    rows = [*found, *([(1, wanted.path)] if wanted.role == role else [])]
    if rows:
        yield 0, heading
        yield from rows


def _class(view: View, pool: Pool, cls: str) -> Iterator[tuple[int, str]]:
    for index, one in enumerate(pool.tops):
        if one.cls == cls:
            yield from _below(view, one, index, 1)


def _below(view: View, vdev: Vdev, index: int, depth: int) -> Iterator[tuple[int, str]]:
    yield depth, vdev_name(view, vdev, index, SHOWN)
    for number, child in enumerate(vdev.children):
        yield from _below(view, child, number, depth + 1)


def add(node: Node, wanted: Wanted) -> Answer:
    """The tool's own checks are behind us."""
    pool = node.pool(wanted.pool)
    if pool.suspended:
        return refused(1, f"cannot add to '{pool.name}': pool I/O is currently suspended")
    device = View(node).device(wanted.path)
    assert device is not None
    partition = replacing.partitioned(device)
    pool.txg += 1
    leaf = replacing.new_leaf(node, pool, wanted.path, device, pool.txg)
    leaf.path = part_path(wanted.path, 1)
    partition.label = Label(pool.name, leaf.guid, pool.txg)
    if wanted.role == "log":
        pool.tops.append(top("disk", leaf.guid, [leaf], device.disk.size_bytes, cls="log"))
    elif wanted.role == "cache":
        pool.caches.append(leaf)
    else:
        leaf.state = "AVAIL"
        pool.spares.append(leaf)
    return Answer(0)
