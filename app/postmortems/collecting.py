"""The story of an incident, put together from what was kept: ledger, captures, ZFS's own events and history, situations.

Every entry names its source and, where something was kept, the event or the evidence behind it. What could not be known is
collected too: when nothing was reported, which sources did not answer, by how much clocks may differ, what was left out for length.
The result is plain JSON (see docs/guide/postmortems.md); it is kept as evidence, so that a copy of it can be checked.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from typing import Any

from agents.collectors import zpool_events, zpool_history
from agents.collectors.base import Unparsed
from agents.collectors.zpool_history import Entry as Command
from app.fleet.models import LeafHistory, Situation
from app.ledger.forms import in_words, moment
from app.ledger.models import LedgerEvent
from app.ledger.words import sentence
from app.postmortems import captures, trees
from app.postmortems.captures import NewCapture, NodeCaptures
from app.postmortems.clocks import clock
from app.postmortems.models import Postmortem
from app.runs.models import Order, Run

SHAPE = "slotlight.postmortem/1"
PER_SOURCE_MAX = 500  # entries
PARSED_MAX = 40  # captures of one source
SILENCE = timedelta(minutes=5)
LEDGER, CAPTURE, ZFS, HISTORY, SITUATION = "ledger", "capture", "zpool events", "zpool history", "situation"
BEFORE, AFTER = timedelta(minutes=15), timedelta(minutes=15)
FOLDED = 3


@dataclass(frozen=True)
class Entry:
    """One thing that happened. `at` is by the portal's clock, or by the node's where `clock` says so."""

    at: str
    source: str
    text: str
    node: str = ""
    clock: str = "portal"
    event: str = ""  # row of the ledger event behind it
    digest: str = ""  # of the evidence behind it
    run: str = ""
    count: int = 1
    until: str = ""  # of several alike: the last


def window(runs: Iterable[Run], situation: Situation | None, now: datetime) -> tuple[datetime, datetime]:
    """From before the first sign of trouble until after the last step; later reports still show it."""
    runs = list(runs)
    keys = [run.situation_key for run in runs if run.situation_key]
    first = Situation.objects.filter(key__in=keys).order_by("opened_at").values_list("opened_at", flat=True)
    begins = [run.created_at for run in runs] + list(first[:1]) + ([situation.opened_at] if situation else [])
    ends = [run.ended_at or now for run in runs] + ([situation.closed_at or now] if situation else [])
    return min(begins) - BEFORE, max(ends) + AFTER


def collect(postmortem: Postmortem, now: datetime) -> dict[str, Any]:
    runs = list(postmortem.runs.order_by("created_at"))
    nodes = sorted({run.node for run in runs} | ({postmortem.situation.node.name} if postmortem.situation else set()))
    until = min(postmortem.until, now)
    by_node = {node: captures.of_node(node, postmortem.since, until) for node in nodes}
    orders = {node: Order.objects.filter(node=node, sealed_at__gte=postmortem.since, sealed_at__lt=until) for node in nodes}
    clocks = [clock(node, orders[node]) for node in nodes]
    left_out: list[str] = []
    entries = [entry for part in _parts(runs, by_node, postmortem, until) for entry in _bounded(part, left_out)]
    return {
        "shape": SHAPE,
        "collected_at": moment(now),
        "since": moment(postmortem.since),
        "until": moment(until),
        "nodes": nodes,
        "runs": [_run(run) for run in runs],
        "timeline": [asdict(entry) | {"count": str(entry.count)} for entry in _folded(sorted(entries, key=lambda entry: entry.at))],
        "states": [state for node in nodes for state in trees.before_and_after(node, runs, postmortem, until)],
        "clocks": [one.words for one in clocks],
        "gaps": [gap for each in by_node.values() for gap in _gaps(each, postmortem.since, until)] + left_out,
    }


def _run(run: Run) -> dict[str, str]:
    ended = moment(run.ended_at) if run.ended_at else ""
    return {
        "run": str(run.pk),
        "runbook": run.runbook,
        "node": run.node,
        "status": run.status,
        "began": moment(run.created_at),
        "ended": ended,
    }


def _parts(runs: list[Run], by_node: dict[str, NodeCaptures], postmortem: Postmortem, until: datetime) -> Iterator[tuple[str, list[Entry]]]:
    for run in runs:
        found = LedgerEvent.objects.filter(run=str(run.pk)).order_by("run_seq")[: PER_SOURCE_MAX + 1]
        yield f"The ledger of run {run.pk}", [_event(event) for event in found]
    for node, node_captures in by_node.items():
        yield f"The ledger of {node}", [_event(event) for event in node_captures.other if event.type != "evidence.looked"]
        yield f"The situations of {node}", list(_situations(node, postmortem.since, until))
        yield f"The pool states of {node}", list(_leaves(node_captures, postmortem.since, until))
        yield f"What failed to answer on {node}", [_failed(node, one, why) for one, why in captures.failed(node_captures.new)]
        yield f"`zpool events` of {node}", list(_kernel(node_captures, postmortem.since, until))
        yield f"`zpool history` of {node}", list(_history(node_captures, postmortem.since, until))


def _bounded(part: tuple[str, list[Entry]], left_out: list[str]) -> list[Entry]:
    name, entries = part
    if len(entries) > PER_SOURCE_MAX:
        left_out.append(f"{name}: of {len(entries)} entries the last {PER_SOURCE_MAX} are shown.")
    return entries[-PER_SOURCE_MAX:]


def _event(event: LedgerEvent) -> Entry:
    text = sentence(event.type, event.actor, event.parsed["body"])
    return Entry(event.at, LEDGER, text, event.node, event=str(event.pk), run=event.run)


def _situations(node: str, since: datetime, until: datetime) -> Iterator[Entry]:
    rows = Situation.objects.filter(node__name=node)
    for row in rows.filter(opened_at__gte=since, opened_at__lt=until):
        yield Entry(
            moment(row.opened_at), SITUATION, f"Opened: {row.opened_as or f'{row.title} (as it reads now)'}", node, digest=_proof(row)
        )
    for row in rows.filter(closed_at__gte=since, closed_at__lt=until):
        assert row.closed_at is not None  # it was asked for
        yield Entry(moment(row.closed_at), SITUATION, f"No longer so: {row.title}", node)


def _proof(row: Situation) -> str:
    return next((evidence["digest"] for evidence in row.data.get("evidence") or () if evidence.get("digest")), "")


def _leaves(node_captures: NodeCaptures, since: datetime, until: datetime) -> Iterator[Entry]:
    """Members that changed their state. Those that a first report brings all at once are counted."""
    found = LeafHistory.objects.filter(node__name=node_captures.node, since__gte=since, since__lt=until).order_by(
        "since", "pool", "before", "state"
    )
    for _, group in groupby(found[: PER_SOURCE_MAX + 1], key=lambda row: (row.since, row.pool, row.before, row.state)):
        rows = list(group)
        if rows[0].before or len(rows) < FOLDED:
            yield from (_leaf(node_captures, row, row.name) for row in rows)
        else:
            yield _leaf(node_captures, rows[0], f"{len(rows)} members")


def _leaf(node_captures: NodeCaptures, row: LeafHistory, name: str) -> Entry:
    at = moment(row.since)
    change = f"from {row.before} to {row.state}" if row.before else f"first seen, {row.state}"
    shown = node_captures.at("zpool_status", at)
    event, digest = (str(shown.event), shown.digest) if shown else ("", "")
    return Entry(at, CAPTURE, f"{row.pool}: {name} {change}", node_captures.node, event=event, digest=digest)


def _failed(node: str, capture: NewCapture, why: str) -> Entry:
    return Entry(capture.at, CAPTURE, f"{capture.place} did not answer: {why}", node, event=str(capture.event), digest=capture.digest)


def _kernel(node_captures: NodeCaptures, since: datetime, until: datetime) -> Iterator[Entry]:
    """Records of all captures of the time, each once: the list forgets its oldest."""
    seen: set[tuple[int, int]] = set()
    for capture in node_captures.of("zpool_events")[-PARSED_MAX:]:
        events = captures.parsed(capture, zpool_events.parse)
        for event in () if isinstance(events, Unparsed) else events:
            at = datetime.fromtimestamp(event.at, UTC) + timedelta(microseconds=event.nanoseconds // 1000)
            if since <= at < until and (event.eid, event.at) not in seen:
                seen.add((event.eid, event.at))
                about = [word for name in ("pool", "vdev_path", "vdev_guid", "vdev_state") if (word := event.text(name))]
                yield Entry(
                    moment(at), ZFS, f"{event.kind}: {', '.join(about)}", node_captures.node, "node", str(capture.event), capture.digest
                )


def _history(node_captures: NodeCaptures, since: datetime, until: datetime) -> Iterator[Entry]:
    newest = {item.place: item for item in node_captures.of("zpool_history")}
    for capture in newest.values():
        history = captures.parsed(capture, zpool_history.parse)
        if isinstance(history, Unparsed):
            continue
        for entry in history.entries:
            at = datetime.strptime(entry.at, "%Y-%m-%d.%H:%M:%S").replace(tzinfo=UTC)
            if since <= at < until:
                yield Entry(
                    moment(at), HISTORY, _command(history.pool, entry), node_captures.node, "node", str(capture.event), capture.digest
                )


def _command(pool: str, entry: Command) -> str:
    by = f" [{entry.who}]" if entry.who else ""
    return f"{pool}: {entry.text}{by}" if entry.kind == "command" else f"{pool} ({entry.kind}): {entry.text}{by}"


def _folded(entries: list[Entry]) -> Iterator[Entry]:
    """Several that are alike but for their time, one after the other, become one line that says how many."""
    for _, group in groupby(entries, key=lambda entry: (entry.source, entry.text, entry.node)):
        alike = list(group)
        if len(alike) < FOLDED:
            yield from alike
        else:
            first, last = alike[0], alike[-1]
            yield Entry(**asdict(first) | {"count": len(alike), "until": last.at})


def _gaps(node_captures: NodeCaptures, since: datetime, until: datetime) -> Iterator[str]:
    if node_captures.cut_at:
        yield f"Of {node_captures.node}, what it reported before {in_words(node_captures.cut_at)} was not read: there is too much of it. Narrow the time."
    times = [datetime.fromisoformat(at) for at in node_captures.received_at]
    for earlier, later in pairwise([since, *times, until]):
        if later - earlier > SILENCE:
            minutes = (later - earlier).total_seconds() / 60
            yield (
                f"From {in_words(moment(earlier))} to {in_words(moment(later))}, {minutes:.0f} min, {node_captures.node} reported nothing new: "
                "it was silent, or nothing changed. The ledger does not show which."
            )
    for source in ("zpool_events", "zpool_history"):
        captured = node_captures.of(source)
        if not captured:
            yield f"{node_captures.node} reported nothing new by `{source.replace('_', ' ')}` in this time, so its entries are missing here."
        else:
            yield f"{node_captures.node} was last asked for `{source.replace('_', ' ')}` with something new at {in_words(captured[-1].at)}; what came later is missing."
