"""Which disk is it, by quorum: everything that says something about a disk is heard, and who is alone is stale.

Four kinds of witness: the WWID, the serial number, the label's guid, and the place (bay and SAS port). Some witnesses speak of
now: the kernel, udev, the disk itself, the pool. Others are strings of the past, such as the device id stored in a label: they
may be stale without any harm, and are hints. Two witnesses of now that contradict each other are a disagreement, and a
disagreement refuses: not knowing which disk it is was how wrong disks got pulled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from workflows.facts import lookup
from workflows.facts.model import DiskFacts, FleetFacts, NodeFacts
from workflows.facts.unknown import Known, derived, known, need

KINDS = {
    "wwid": "WWID",
    "serial": "serial number",
    "label": "label guid",
    "bay": "bay",
    "port": "SAS port",
}
SERIALS_REMEMBERED = 65536  # each is asked for with every report
SERIAL_DIGITS_MIN = 8  # a serial number cut to so many digits still distinguishes disks of one model


@dataclass(frozen=True)
class Statement:
    """One source saying one thing about one disk."""

    kind: str  # a key of KINDS
    value: str  # canonical, so that equal means the same
    source: str  # the capture: "block", "zdb_label/sda1"; "history" is the portal's own
    by: str  # who speaks, for a sentence: "the kernel (sda)"
    origin: str  # who it goes back to; sources of one origin have one vote: "kernel", "udev", "disk", "label", "pool", "history"
    hint: bool = False
    node: str = ""  # when another node says it

    @property
    def why_stale(self) -> str:
        """How this source comes to say something old."""
        return _WHY.get((self.origin, self.kind)) or _WHY.get((self.origin, ""), "It is older than the others.")


_WHY = {
    ("kernel", ""): "The kernel keeps what it read when the disk was attached; another disk may be in its place since. Rescan the device.",
    ("udev", ""): "udev has not renewed its links since another disk had this name. Run `udevadm trigger` and have the node look again.",
    ("disk", ""): "The report is up to an hour old; the name may have been another disk's then. Have the node look again.",
    ("label", "wwid"): "The device id in a label is as old as the last import that found the disk.",
    ("label", "bay"): "The slot in a label is as old as the last import; the disk was moved or the enclosure was renumbered since.",
    ("label", "port"): "The path in a label is as old as the last import; the disk is on another port or cable since.",
    ("label", "label"): "It is the label of an earlier use that was never overwritten.",
    ("pool", ""): "The pool and the labels were read at different moments, or the pool holds another disk open under this name.",
    ("history", "serial"): "The portal heard another serial number from this WWID. Two disks may carry one WWID: compare the sticker.",
    ("history", "bay"): "The disk was moved since.",
    ("node", ""): "The other node said so in its own last report, which may be older.",
}


@dataclass(frozen=True)
class Witness:
    """Everything said of one kind. `value` is what the quorum says, empty when nobody says anything or nobody prevails."""

    kind: str
    value: str
    statements: tuple[Statement, ...]
    stale: tuple[Statement, ...] = ()
    contradicted: bool = False  # by a source that speaks of now

    @property
    def name(self) -> str:
        return KINDS[self.kind]

    @property
    def sure(self) -> tuple[Statement, ...]:
        return tuple(s for s in self.statements if s not in self.stale)


@dataclass(frozen=True)
class Identity:
    """What all witnesses together say, and in words why."""

    verdict: Literal["agreed", "disagree", "unknown"]
    reason: str
    witnesses: tuple[Witness, ...]

    @property
    def statements(self) -> tuple[Statement, ...]:
        return tuple(s for witness in self.witnesses for s in witness.statements)

    def witness(self, kind: str) -> Witness:
        return next(w for w in self.witnesses if w.kind == kind)


@dataclass(frozen=True)
class Remembered:
    """What the portal has on record of a disk: serial numbers that it no longer reports, and the bay it was in."""

    serials: tuple[tuple[str, str], ...] = ()  # (serial number, who told it until when)
    bays: tuple[tuple[str, str], ...] = ()  # ("<enclosure id>/<slot>", where and until when)


def weigh(named: Iterable[Statement]) -> Identity:
    """The quorum of `said`."""
    statements = tuple(dict.fromkeys(named))
    witnesses = tuple(_witness(kind, [s for s in statements if s.kind == kind]) for kind in KINDS)
    verdict, reason = _verdict({w.kind: w for w in witnesses})
    return Identity(verdict, reason, witnesses)


def _witness(kind: str, statements: list[Statement]) -> Witness:
    statements = _same_serials(statements) if kind == "serial" else statements
    votes: dict[str, set[str]] = {}
    for statement in statements:
        if not statement.hint:
            votes.setdefault(statement.value, set()).add(statement.origin)
    value = _prevails(votes, statements)
    stale = tuple(s for s in statements if value and s.value != value)
    return Witness(kind, value, tuple(statements), stale, contradicted=len(votes) > 1)


def _prevails(votes: dict[str, set[str]], statements: list[Statement]) -> str:
    """The value with the most origins behind it; hints decide only where nothing else speaks. A draw is nobody's."""
    if not votes:
        values = {s.value for s in statements}
        return values.pop() if len(values) == 1 else ""
    most = max(len(origins) for origins in votes.values())
    ahead = [value for value, origins in votes.items() if len(origins) == most]
    return ahead[0] if len(ahead) == 1 else ""


def _same_serials(statements: list[Statement]) -> list[Statement]:
    """Some sources cut a serial number short; a beginning of it is the same number."""

    def whole(value: str) -> str:
        return max((s.value for s in statements if same_serial(s.value, value)), key=len)

    return [replace(s, value=whole(s.value)) for s in statements]


def _verdict(witnesses: dict[str, Witness]) -> tuple[Literal["agreed", "disagree", "unknown"], str]:
    against = [w for w in witnesses.values() if w.contradicted]
    if against:
        return "disagree", " ".join(_contradiction(w) for w in against)
    if not any(not s.hint for s in witnesses["wwid"].statements):
        return "unknown", "No source reports its WWID."
    stale = [s for w in witnesses.values() for s in w.stale]
    count = len({s.source for w in witnesses.values() for s in w.statements} - {s.source for s in stale})
    agreed = f"{count} source{'s agree' if count != 1 else ' speaks'} and none of now contradicts."
    return "agreed", " ".join([agreed, *(f"{_sentence(s)} {s.why_stale}" for s in stale)])


def _contradiction(witness: Witness) -> str:
    if not witness.value:
        each = "; ".join(f"{s.by} says {s.value}" for s in _one_each(witness.statements) if not s.hint)
        return f"Its {witness.name} is disputed, and no side has more witnesses: {each}."
    now = [s for s in _one_each(witness.stale) if not s.hint]
    text = " ".join(f"{_sentence(s)} {s.why_stale}" for s in now)
    return f"Its {witness.name} is {witness.value} by most sources, but not by all. {text}"


def _one_each(statements: Iterable[Statement]) -> list[Statement]:
    return list({(s.origin, s.value): s for s in reversed(tuple(statements))}.values())[::-1]


def _sentence(statement: Statement) -> str:
    by = statement.by[:1].upper() + statement.by[1:]
    return f"{by} says {statement.value}{f' on {statement.node}' if statement.node else ''}."


@derived
def identify(fleet: FleetFacts, node: str, disk: DiskFacts, remembered: Remembered | None = None) -> Known[Identity]:
    """What this node, the other nodes, the pools and the portal's history say together of one disk."""
    identity = need(disk.identity)
    if not known(disk.wwid):
        return identity
    remembered = remembered if remembered is not None else fleet.remembered.get(disk.wwid)
    beside = [*_by_pools(fleet, node, disk.wwid), *_by_others(fleet, node, disk.wwid), *_by_history(remembered)]
    return weigh((*identity.statements, *beside)) if beside else identity


def _by_pools(fleet: FleetFacts, node: str, wwid: str) -> Iterable[Statement]:
    """Which vdev the pools of this node have open on it. They opened a name; the label says what the disk is."""
    here = fleet.nodes.get(node)
    return () if here is None else _of_open_vdevs(here).get(wwid, ())


@lookup.once
def _of_open_vdevs(here: NodeFacts) -> Mapping[str, list[Statement]]:
    found: dict[str, list[Statement]] = {}
    for member in lookup.members(FleetFacts({here.node: here})):
        serves = member.vdev.state in lookup.IN_SERVICE  # the name of a lost member may be another disk's by now
        if serves and known(member.vdev.guid):
            statement = Statement("label", str(member.vdev.guid), "zpool_status", f"the pool {member.pool}", "pool")
            for wwid in lookup.wwids_called(here, member.vdev.name):
                found.setdefault(wwid, []).append(statement)
    return found


def _by_others(fleet: FleetFacts, node: str, wwid: str) -> Iterable[Statement]:
    for name in fleet.nodes:
        found = lookup.disk(fleet, name, wwid) if name != node else None
        if not known(found) or found is None:
            continue
        if known(found.serial):
            yield Statement("serial", plain(found.serial), "block", "the other node's kernel", "node", node=name)
        if known(found.bay):
            where = f"{found.bay.enclosure_id}/{found.bay.slot}"
            yield Statement("bay", where, "enclosure", "the other node", "node", hint=True, node=name)


def _by_history(remembered: Remembered | None) -> Iterable[Statement]:
    if remembered is not None:
        yield from (
            Statement("serial", plain(serial), "history", f"the portal's history ({when})", "history")
            for serial, when in remembered.serials
        )
        yield from (
            Statement("bay", bay, "history", f"the portal's history ({when})", "history", hint=True) for bay, when in remembered.bays
        )


@lru_cache(maxsize=SERIALS_REMEMBERED)
def plain(serial: str) -> str:
    """A serial number as it is compared: udev writes underscores for blanks."""
    return "".join(serial.replace("_", " ").split())


def same_serial(one: str, other: str) -> bool:
    """Whether two serial numbers are one: equal, or one is the other cut short."""
    short, long = sorted((plain(one), plain(other)), key=len)
    return short == long or (len(short) >= SERIAL_DIGITS_MIN and long.startswith(short))
