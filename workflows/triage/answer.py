"""From pasted texts to situations, by the same parsers, facts and detectors as for a node with an agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agents.collectors.base import Capture, Unparsed
from agents.wwid import normalise, strip_partition
from workflows.core import Situation
from workflows.facts import FleetFacts, NodeFacts, node_facts
from workflows.situations import detect_all
from workflows.triage import clean, mend
from workflows.triage.cut import Piece, cut

NAMELESS = "pasted"  # the node of outputs whose prompt names none
TEXT_CHARACTERS_MAX = 4_000_000


@dataclass(frozen=True)
class Read:
    """What became of some consecutive lines. `outcome` is "read", "not read" or "left out" (nothing we can use)."""

    name: str  # of the file or the paste
    first: int
    last: int
    outcome: str
    source: str = ""
    key: str = ""
    node: str = ""
    command: str = ""
    reason: str = ""
    line: str = ""  # the line the parser stumbled over
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Triage:
    """`reads` covers every line; `fleet` holds the facts, one node for each prompt's host name."""

    reads: tuple[Read, ...]
    fleet: FleetFacts
    situations: tuple[Situation, ...]

    @property
    def understood(self) -> bool:
        return any(read.outcome == "read" for read in self.reads)


@dataclass
class _Said:
    """The readable captures of one node, and what the parsers made of them."""

    captures: dict[str, Capture]
    values: dict[str, Any]


def triage(texts: Iterable[tuple[str, str]]) -> Triage:
    """Read (name, text) pairs, e.g. one for each file. Never raises for what the texts hold."""
    reads: list[Read] = []
    nodes: dict[str, _Said] = {}
    for name, text in texts:
        if len(text) > TEXT_CHARACTERS_MAX:
            reads.append(Read(name, 1, text.count("\n") + 1, "not read", reason=f"It is longer than {TEXT_CHARACTERS_MAX} characters."))
            continue
        for piece in cut(clean.lines(text)):
            reads.append(_take(name, piece, nodes))
    fleet = FleetFacts({node: _facts(node, said) for node, said in nodes.items()})
    return Triage(tuple(reads), fleet, tuple(_renamed(found) for found in detect_all(fleet)))


def _take(name: str, piece: Piece, nodes: dict[str, _Said]) -> Read:
    read = Read(name, piece.first, piece.last, "left out", piece.source, piece.key, piece.node or NAMELESS, piece.command)
    if not piece.source:
        why = f"Nothing here reads the output of {piece.command.split()[0]}." if piece.command else "This is no output we know."
        return replace(read, reason=why)
    if not piece.lines:
        return replace(read, outcome="not read", reason="The command stands here without its output.")
    mended = mend.read(piece.source, piece.lines)
    if isinstance(mended.value, Unparsed):
        return replace(read, outcome="not read", reason=mended.value.reason, line=mended.value.line, notes=mended.notes)
    source = "zpool_status_guid" if piece.source == "zpool_status" and _by_guid(mended.value) else piece.source
    said = nodes.setdefault(read.node, _Said({}, {}))
    key = piece.key if source != "zdb_label" or piece.key else f"label{sum(where.startswith(source) for where in said.captures)}"
    where = f"{source}/{key}" if key else source
    notes = mended.notes
    if where in said.captures:
        notes = (*notes, "An earlier output of the same command is superseded by this one.")
    said.captures[where], said.values[where] = Capture(source, key, "data", mended.text), mended.value
    return replace(read, outcome="read", source=source, key=key, notes=notes)


def _by_guid(pools: tuple) -> bool:
    """Whether `zpool status` was asked with -g: then even a vdev that is there is named by digits."""
    interior = [top for pool in pools for top in pool.vdevs.children]
    return bool(interior) and all(top.name.isdigit() and len(top.name) > 9 for top in interior)


def _facts(node: str, said: _Said) -> NodeFacts:
    captures: dict[str, Capture] = dict(said.captures)
    if "zpool_status" not in captures and "zpool_status_guid" in captures:  # then guids are the only names there are
        captures["zpool_status"] = replace(captures["zpool_status_guid"], source="zpool_status")
    if "block" not in captures and "lsscsi" in said.values:
        text, renamed = _block(said.values["lsscsi"], [where.partition("/")[2] for where in captures if where.startswith("zdb_label/")])
        captures["block"] = Capture("block", "", "data", text)
        for old, new in renamed.items():
            captures[f"zdb_label/{new}"] = replace(captures.pop(f"zdb_label/{old}"), key=new)
    return node_facts(node, captures, 0.0, ())


def _block(devices: Iterable[Any], labelled: Iterable[str]) -> tuple[str, Mapping[str, str]]:
    """What lsscsi told, in the grammar of the block source, so that it joins like an agent's. Its size is rounded and left out.

    A label that was asked for by a by-id link is put to the disk with that WWID; the second value says under which name.
    """
    disks = [d for d in devices if d.type == "disk" and d.node and d.node.startswith("/dev/")]
    named = {d.node.removeprefix("/dev/"): d for d in disks}
    by_wwid = {normalise(d.scsi_id): name for name, d in reversed(named.items()) if d.scsi_id and normalise(d.scsi_id)}
    lines, renamed = [f"/sys/block:{' '.join(named)}"], {}
    for name, d in named.items():
        base = f"/sys/block/{name}"
        lines.append(f"{base}/device -> /sys/devices/{d.hctl}")
        words = (("wwid", _dotted(d.scsi_id)), ("vendor", d.vendor), ("model", d.model), ("rev", d.rev))
        lines += [f"{base}/device/{field}:{value}" for field, value in words if value]
    for asked in labelled:
        base, number = strip_partition(asked)
        disk = base if base in named else by_wwid.get(normalise(base))
        if disk is None:
            continue
        partition = disk if number is None else f"{disk}{'p' if disk[-1].isdigit() else ''}{number}"
        if number is not None:
            lines.append(f"/sys/block/{disk}/{partition}/partition:{number}")
        if partition != asked:
            renamed[asked] = partition
    return "\n".join(lines) + "\n", renamed


def _dotted(scsi_id: str | None) -> str:
    """The kernel's own spelling of a WWID: "naa.5000…"."""
    name = normalise(scsi_id) if scsi_id else None
    return name.replace(":", ".", 1) if name and name.startswith(("naa:", "eui:")) else ""


def _renamed(found: Situation) -> Situation:
    """Evidence names what was pasted: here the block devices are what lsscsi told."""
    return replace(found, evidence=tuple(replace(e, source="lsscsi") if e.source == "block" else e for e in found.evidence))
