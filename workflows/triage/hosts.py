"""Outputs of several hosts in one paste: whose an output without a prompt is, and one pool that two hosts tell of.

`zpool status` and `zpool list` print no guid, so across hosts only a name is left. Two pools may have one name, and one pool that two hosts have
imported is destroyed: that is asked, and neither is taken for granted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, count
from typing import Protocol

from workflows.engine.core import Cure, Evidence, Severity, Situation
from workflows.facts import FleetFacts, ImportableFacts, NodeFacts, VdevFacts, known
from workflows.facts.read.used_twice import HIDDEN
from workflows.pasted import ReadOutput
from workflows.triage.fields import HEADER, ROW
from workflows.triage.piece import Piece

NAMELESS = "pasted"  # the node of outputs whose prompt names none
SLUG = "foreign-pool-imported-elsewhere"
_TREES = ("zpool_status", "zpool_status_guid")
_KERNEL_NAME = re.compile(
    r"(?:/dev/)?(?:(?:sd|hd|vd|xvd)[a-z]{1,3}|nvme[0-9]{1,3}n[0-9]{1,3}|a?da[0-9]{1,4}|dm-[0-9]{1,4})(?:p?[0-9]{1,3})?"
)
_EXPORT = re.compile(r"(?:\S*/)?zpool export (?:-\S{1,8} )*(\S{1,255})$")


class Command(Protocol):
    """What somebody typed, and on which host."""

    @property
    def node(self) -> str: ...
    @property
    def command(self) -> str: ...


_LABEL = re.compile(r"\W{0,3}(?:[Oo]n )?((?:[Nn]ode|NODE|[Hh]ost|HOST|[Ss]erver|[Hh]ead|[Cc]ontroller)[ _-]?(?:[0-9]{1,3}|[A-D]))\W{0,3}")


def _labelled(pieces: Sequence[Piece]) -> Sequence[Piece]:
    """Where no prompt names a host and somebody wrote "node 1:" above one output and "node 2:" above another, each is of the host that is named so."""
    if any(piece.node for piece in pieces):
        return pieces
    label, found = "", []
    for piece in pieces:
        if not piece.source and not piece.command:
            last = next((line for line in reversed(piece.lines) if line.strip()), "")
            label = named.group(1) if (named := _LABEL.fullmatch(last.strip())) else label
        found.append(replace(piece, node=label) if label and piece.source else piece)
    return found if len({piece.node for piece in found if piece.node}) > 1 else pieces


def of_one_host(pieces: Sequence[Piece]) -> list[Piece]:
    """Where one prompt alone names a host, an output without a prompt about the same pool is of that host, and the others with it."""
    pieces = _labelled(pieces)
    hosts = {piece.node for piece in pieces if piece.node and piece.source}
    nameless = [piece for piece in pieces if not piece.node and piece.source]
    if len(hosts) != 1 or not nameless:
        return list(pieces)
    here = {name for piece in pieces if piece.node for name in _pools(piece)}
    if not here & {name for piece in nameless for name in _pools(piece)}:
        return list(pieces)
    (host,) = hosts
    return [replace(piece, node=host) if piece.source and not piece.node else piece for piece in pieces]


def _pools(piece: Piece) -> Iterator[str]:
    """The pools that a text of `zpool status` shows."""
    if piece.source not in _TREES:
        return
    yield from (line.partition(":")[2].strip() for line in piece.pools if line.startswith("pool: "))
    for above, line in zip(piece.lines, piece.lines[1:], strict=False):
        if HEADER.match(above) and (row := ROW.match(line)):
            yield row.group(1)


def on_two(fleet: FleetFacts, listed: Mapping[str, Sequence[ReadOutput]], asked: Iterable[Command]) -> Iterator[Situation]:
    """A pool that one host lists for import while another one shows a pool of that name, and did not export it in this paste."""
    exported = {(one.node, found.group(1)) for one in asked if (found := _EXPORT.match(one.command))}
    for node in fleet.nodes.values():
        for pool in node.importable_read:
            others = [
                other
                for other in fleet.nodes.values()
                if other.node not in (node.node, NAMELESS)
                and node.node != NAMELESS
                and (other.node, pool.name) not in exported
                and _shows(other, pool, listed.get(other.node, ()))
            ]
            if others and not pool.destroyed:
                yield _situation(node, pool, others[0], pool.name in _names(node, listed.get(node.node, ())))
    yield from _imported_twice(fleet, exported)


def _imported_twice(fleet: FleetFacts, exported: Collection[tuple[str, str]]) -> Iterator[Situation]:
    """A pool that two hosts show as imported, with a disk that both name by what stands on the disk itself."""
    for one, other in combinations([node for name, node in fleet.nodes.items() if name != NAMELESS], 2):
        for ours, theirs in ((ours, theirs) for ours in one.pools_read for theirs in other.pools_read if ours.name == theirs.name):
            both = _given(vdev for _, vdev in ours.tops_read) & _given(vdev for _, vdev in theirs.tops_read)
            own = sorted(filter(_OWN.fullmatch, both))
            by_guid = known(ours.guid) and known(theirs.guid)  # by guid it is told elsewhere
            if (own or len(both) >= GIVEN_MIN) and not by_guid and not {(one.node, ours.name), (other.node, ours.name)} & set(exported):
                yield _twice(one, other, ours.name, own or sorted(both), "act" if own else "watch")


_OWN = re.compile(
    r"(?:/dev/\S{1,40}/)?(?:(?:wwn|ata|scsi|nvme|dm-uuid)-\S{6,}|c[0-9]{1,3}t[0-9A-F]{12,}d[0-9]{1,3}(?:s[0-9]{1,2})?|(?:gptid/)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})"
)


GIVEN_MIN = 2  # names that people gave, as of bays: one alone is often the same on two hosts
_OF_CONTROLLER = re.compile(r"c[0-9]{1,3}(?:t[0-9]{1,3})?d[0-9]{1,3}(?:s[0-9]{1,2})?")


def _given(tops: Iterator[VdevFacts]) -> set[str]:
    """Names of members that another host has not by chance: the disk's own, or a person's. Not those that somebody made unreadable."""
    return {name for name in _lasting(tops) if not _OF_CONTROLLER.fullmatch(name) and not HIDDEN.search(name) and not name.isdigit()}


def _twice(one: NodeFacts, other: NodeFacts, name: str, disks: Sequence[str], severity: Severity) -> Situation:
    here, there = one.node, other.node
    return Situation(
        SLUG, f"{SLUG}:{here}:{name}:twice", here, severity,
        f"{here} and {there} both show the pool {name} imported, on the same disks",
        f"Both trees name the disk {disks[0]}. If both are of one moment, two hosts write to one pool and destroy it within minutes. If the pool was moved from one host to the other "
        "between the two texts, or both prompts are of one host, nothing is wrong.",
        _line(one, name), subject={"node": here, "pool": name, "other_node": there}, gate=True, sure=False,
        cures=(
            Cure("look", "Ask both hosts at this moment whether they have it imported.", (("zpool", "list", name),)),
            Cure("other", "Where both have it imported: switch one of the two hosts off now, by its management controller, without an export. Change nothing of the pool before that.",
                 needs="Both hosts have it imported at this moment."),
        ),
    )  # fmt: skip


def _line(node: NodeFacts, name: str) -> tuple[Evidence, ...]:
    """The line of the tree that names the pool."""
    return (Evidence(node.node, "zpool_status", node.digests.get("zpool_status", ""), f"pool: {name}"),)


def _names(node: NodeFacts, outputs: Sequence[ReadOutput]) -> set[str]:
    return {pool.name for pool in node.pools_read} | {
        pool.space.name for output in outputs if output.reader.name == "zpool_list_text" for pool in output.value.pools
    }


def _shows(other: NodeFacts, pool: ImportableFacts, outputs: Sequence[ReadOutput]) -> bool:
    """Whether it has a pool of this name, and nothing tells that it is another one. By guid it is told elsewhere."""
    trees = [shown for shown in other.pools_read if shown.name == pool.name]
    if any(known(shown.guid) for shown in trees):
        return False
    if trees:
        ours, theirs = _lasting(vdev for _, vdev in pool.tops), _lasting(vdev for shown in trees for _, vdev in shown.tops_read)
        return not ours or not theirs or bool(ours & theirs)
    return pool.name in _names(other, outputs)


def _lasting(tops: Iterator[VdevFacts]) -> set[str]:
    """Names of members that a disk has on every host: links by id, no names of one kernel."""
    found: set[str] = set()
    for vdev in tops:
        found |= _lasting(iter(vdev.children)) if vdev.children else {vdev.name}
    return {name for name in found if not _KERNEL_NAME.fullmatch(name)}


def _situation(node: NodeFacts, pool: ImportableFacts, other: NodeFacts, imported: bool) -> Situation:
    here, there, name = node.node, other.node, pool.name
    both = f"{there} and {here} both show a pool {name}: if it is one pool, two hosts write to it"
    one = f"{here} lists {name} for import, and {there} shows a pool of that name: if it is the same, it must not be imported here"
    guid = f" ({here} printed {pool.guid})" if pool.guid else ""
    return Situation(
        SLUG, f"{SLUG}:{here}:{name}:names", here, "act" if imported else "watch", both if imported else one,
        f"What {there} prints has no guid, so whether it is the pool that {here} lists is not known. Two hosts that write to one pool destroy it within "
        f"minutes, and only multihost=on would stop the second one.",
        (Evidence(here, "zpool_import", node.digests.get("zpool_import", ""), f"pool: {name}"),), subject={"node": here, "pool": name, "other_node": there}, gate=True, sure=False,
        cures=(
            Cure("look", f"Compare the guid on both hosts{guid}. Where they differ, these are two pools, and nothing is to be done.", (("zpool", "get", "-H", "-o", "value", "guid", name),)),
            Cure("other", f"Where they are the same and both have it imported: switch one of the two hosts off now, by its management controller, without an export. Where only {there} has it: "
                 f"import it on {here} only after `zpool export {name}` on {there}.", needs="Both guids are the same."),
        ),
    )  # fmt: skip


def each_by_its_name(texts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Two files of one name are two texts."""
    seen: set[str] = set()
    for name, text in texts:
        other = name if name not in seen else next(each for n in count(2) if (each := f"{name} ({n})") not in seen)
        seen.add(other)
        yield other, text
