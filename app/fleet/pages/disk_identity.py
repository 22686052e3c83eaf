"""Who a disk is and where it has been, for its page: the witnesses in words, and everything it was ever called in order of time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from app.fleet.models import Disk, LabelSeen, Sighting
from workflows.facts import LABEL_STATES, DiskFacts, FleetFacts, NodeFacts, Remembered, Unknown, identify
from workflows.facts.fleet.identity import Statement, Witness

TONES = {"agreed": "good", "disagree": "bad", "unknown": "watch"}
WORDS = {"agreed": "all sources agree", "disagree": "the sources disagree", "unknown": "not enough is said"}


@dataclass(frozen=True)
class WitnessRow:
    """One kind of witness: what the quorum says, who says so, and who says something else and why that is."""

    name: str
    value: str
    tone: str
    by: str
    stale: tuple[str, ...]


@dataclass(frozen=True)
class Card:
    """The identity card of one disk as one node shows it."""

    node: str
    words: str
    tone: str
    reason: str
    rows: tuple[WitnessRow, ...]


def card(fleet: FleetFacts, node: NodeFacts, disk: DiskFacts, remembered: Remembered) -> Card:
    found = identify(fleet, node.node, disk, remembered)
    if isinstance(found, Unknown):
        return Card(node.node, "not compared", "watch", found.reason, ())
    rows = tuple(_row(witness) for witness in found.witnesses)
    return Card(node.node, WORDS[found.verdict], TONES[found.verdict], found.reason if found.verdict != "agreed" else "", rows)


def _row(witness: Witness) -> WitnessRow:
    value = witness.value or ("disputed" if witness.contradicted else "several" if witness.statements else "not given")
    tone = "bad" if witness.contradicted else "good" if witness.value else "idle"
    return WitnessRow(witness.name, value, tone, _speakers(witness), tuple(_stale(s) for s in _once(witness.stale)))


def _speakers(witness: Witness) -> str:
    if witness.value:
        return ", ".join(s.by for s in _once(witness.sure))
    return "; ".join(f"{s.by}: {s.value}" for s in _once(witness.statements))


def _stale(statement: Statement) -> str:
    where = f" on {statement.node}" if statement.node else ""
    return f"{statement.by}{where} says {statement.value}. {statement.why_stale}"


def _once(statements: Iterable[Statement]) -> list[Statement]:
    return list({(s.by, s.node, s.value): s for s in statements}.values())


@dataclass(frozen=True)
class Stay:
    """One line of the timeline: what held on one node, from when to when."""

    node: str
    what: str
    bay: str
    pool: str
    since: datetime
    until: datetime | None
    kind: str  # "seen" or "label"


def timeline(sightings: Iterable[Sighting], labels: Iterable[LabelSeen]) -> list[Stay]:
    """Everywhere the disk was seen and everything its labels claimed, the latest first."""
    return sorted((*_seen(sightings), *_claimed(labels)), key=lambda stay: (stay.until is None, stay.since, stay.kind), reverse=True)


def _seen(sightings: Iterable[Sighting]) -> Iterator[Stay]:
    for row in sightings:
        bay = f"{row.enclosure_id} slot {row.slot}" if row.enclosure_id else ""
        yield Stay(row.node.name, f"{row.name} [{row.hctl}]" if row.hctl else row.name, bay, row.pool, row.since, row.until, "seen")


def _claimed(labels: Iterable[LabelSeen]) -> Iterator[Stay]:
    for row in labels:
        what = f"label on {row.partition}: vdev {row.vdev_guid}, {LABEL_STATES.get(row.state, f'state {row.state}')}"
        yield Stay(row.node.name, what, "", row.pool, row.since, row.until, "label")


SERIAL_LETTERS_MIN = 6
SAME_SERIAL_MAX = 10


def wwids_of_serial(word: str) -> list[str]:
    """The disks with this serial, for whoever looks for one of them in the ledger, where disks go by their WWID."""
    if len(word) < SERIAL_LETTERS_MIN or not word.isalnum():
        return []
    found = Disk.objects.filter(serial__in={word, word.upper(), word.lower()})
    return list(found.values_list("wwid", flat=True)[:SAME_SERIAL_MAX])
