"""What a pool's page says beyond its tree: what the next loss would do, its earlier scans, what happened to it, and who carries its labels."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from agents.collectors.zpool_events import Event
from app.fleet.pages import chassis, rows
from app.fleet.pages.judging import OfDisks
from workflows.analysis import next_loss, scan_history
from workflows.analysis.eta import moment
from workflows.analysis.pool_fate import Fate
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, census, known
from workflows.facts.fleet.label_roll import roll

EVENTS_SHOWN, DEEDS_SHOWN, SCANS_SHOWN, LOSSES_SHOWN = 30, 15, 12, 8
SEEN_AT_ONCE = 12  # rows of a tree that need no way to the sick ones; and as many ways it has at most
WELL = ("ONLINE", "AVAIL", "INUSE")
WORDS = {
    "ereport.fs.zfs.io": "an I/O failed",
    "ereport.fs.zfs.checksum": "data did not match its checksum",
    "ereport.fs.zfs.delay": "an I/O took too long",
    "ereport.fs.zfs.deadman": "an I/O hangs",
    "ereport.fs.zfs.probe_failure": "a disk did not answer when it was probed",
    "ereport.fs.zfs.data": "data could not be read or mended",
    "ereport.fs.zfs.io_failure": "the pool was suspended: I/O failed",
    "ereport.fs.zfs.log_replay": "the log could not be replayed",
    "resource.fs.zfs.statechange": "a vdev changed its state",
    "resource.fs.zfs.removed": "a disk went away",
    "resource.fs.zfs.autoreplace": "a new disk was found in the place of a lost one",
    "sysevent.fs.zfs.config_sync": "the configuration was written",
    "sysevent.fs.zfs.pool_import": "the pool was imported",
    "sysevent.fs.zfs.pool_export": "the pool was exported",
    "sysevent.fs.zfs.resilver_start": "a resilver began",
    "sysevent.fs.zfs.resilver_finish": "a resilver came to its end",
    "sysevent.fs.zfs.scrub_start": "a scrub began",
    "sysevent.fs.zfs.scrub_finish": "a scrub came to its end",
    "sysevent.fs.zfs.vdev_attach": "a disk was attached",
    "sysevent.fs.zfs.vdev_remove": "a vdev was removed",
    "sysevent.fs.zfs.vdev_online": "a vdev was brought online",
}
STATES = {1: "CLOSED", 2: "OFFLINE", 3: "REMOVED", 4: "UNAVAIL", 5: "FAULTED", 6: "DEGRADED", 7: "ONLINE"}  # vdev_state_t


@dataclass(frozen=True)
class EventRow:
    """Equal events one after the other are one row. `at` is the newest of them, `since` the oldest."""

    at: datetime
    since: datetime
    times: int
    what: str
    kind: str
    vdev: str
    wwid: str
    tone: str


def more(fleet: FleetFacts, node: NodeFacts, pool: PoolFacts, verdict: Fate, rule: OfDisks) -> dict[str, Any]:
    losses = next_loss.of_pool(pool, verdict)
    by_leaf = next_loss.by_leaf(losses) if known(losses) else {}
    tree = list(rows.vdev_rows(pool, node, rule))
    return {
        "tree": [(row, by_leaf.get(id(row.vdev))) for row in tree],
        **_sick(tree),
        **_losses(losses if known(losses) else ()),
        "losses_unknown": rows.why_unknown(losses),
        "enclosure_of": enclosures(node, pool),
        **_history(node, pool),
        **_events(node, pool),
        **_roll(fleet, pool),
    }


def _sick(tree: list[rows.VdevRow]) -> dict[str, Any]:
    """Ways to what is not well in a tree too long to be seen at once."""
    found = (
        [row for row in tree if row.anchor and (row.vdev.state not in WELL or row.vdev.gone is True)] if len(tree) > SEEN_AT_ONCE else []
    )
    return {"sick": found[:SEEN_AT_ONCE], "sick_more": len(found[SEEN_AT_ONCE:])}


def _losses(found: tuple[next_loss.TopLoss, ...]) -> dict[str, Any]:
    """The vdevs where a loss costs most stand open; a pool of a hundred mirrors says the rest when it is asked."""
    order = sorted(found, key=lambda one: list(next_loss.SHORT).index(one.worst.kind))
    first = [one for one in order if one.worst.kind == order[0].worst.kind or one.worst.tone == "watch"][:LOSSES_SHOWN]
    return {"losses_first": first, "losses_rest": [one for one in order if one not in first]}


def enclosures(node: NodeFacts, pool: PoolFacts) -> list[tuple[str, list[tuple[str, str]]]]:
    """Where this pool's vdevs can be pointed out: (enclosure, [(vdev, guid)])."""
    found: dict[str, dict[str, str]] = {}
    disks = {disk.wwid: disk for disk in (node.disks if known(node.disks) else ()) if known(disk.wwid)}
    for wwid, place in chassis.places_of(node).items():
        disk = disks.get(wwid)
        if place.pool is pool and disk is not None and known(disk.bay) and known(place.top.guid):
            found.setdefault(disk.bay.enclosure_id, {})[place.title.removeprefix(f"{pool.name} ")] = str(place.top.guid)
    return [(enclosure, list(vdevs.items())) for enclosure, vdevs in sorted(found.items())]


def _history(node: NodeFacts, pool: PoolFacts) -> dict[str, Any]:
    history = node.histories.get(pool.name)
    if history is None:
        return {"history_unknown": f"The history of {pool.name} was not read."}
    if not known(history):
        return {"history_unknown": history.reason}
    deeds = [entry for entry in reversed(history.entries) if entry.kind == "command"]
    return {
        "past_scans": scan_history.past(history)[:SCANS_SHOWN],
        "deeds": [(moment(entry), entry.text, entry.who or "") for entry in deeds[:DEEDS_SHOWN]],
    }


def _events(node: NodeFacts, pool: PoolFacts) -> dict[str, Any]:
    if not known(node.events):
        return {"events_unknown": node.events.reason}
    own = [event for event in node.events if event.text("pool") == pool.name]
    return {"events": list(event_rows(own, pool))[:EVENTS_SHOWN]}


def event_rows(events: list[Event], pool: PoolFacts) -> Iterator[EventRow]:
    """Newest first."""
    leaves: dict[int | None, VdevFacts] = {leaf.guid: leaf for leaf in rows.pool_leaves(pool) if known(leaf.guid)}
    folded: list[list[Event]] = []
    for event in reversed(events):
        if folded and _what(folded[-1][0]) == _what(event):
            folded[-1].append(event)
        else:
            folded.append([event])
    for group in folded:
        leaf = leaves.get(group[0].number("vdev_guid"))
        yield EventRow(
            at=_at(group[0]),
            since=_at(group[-1]),
            times=len(group),
            what=words_of(group[0]),
            kind=group[0].kind,
            vdev=rows.short_name(leaf.name) if leaf else str(group[0].number("vdev_guid") or ""),
            wwid=leaf.wwid if leaf and known(leaf.wwid) else "",
            tone="watch" if group[0].kind.startswith("ereport") else "idle",
        )


def words_of(event: Event) -> str:
    words = WORDS.get(event.kind, event.kind)
    state, last = (STATES.get(event.number(name) or 0, "") for name in ("vdev_state", "vdev_laststate"))
    if event.kind == "resource.fs.zfs.statechange" and state:
        return f"a vdev went {f'from {last} ' if last else ''}to {state}"
    return words


def _what(event: Event) -> tuple[str, int | None, int | None]:
    return event.kind, event.number("vdev_guid"), event.number("vdev_state")


def _at(event: Event) -> datetime:
    return datetime.fromtimestamp(event.at, UTC)


def _roll(fleet: FleetFacts, pool: PoolFacts) -> dict[str, Any]:
    return {"roll": roll(census(fleet), pool)} if known(pool.guid) and known(pool.tops) else {}
