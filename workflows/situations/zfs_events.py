"""Errors that ZFS's own events report of a pool whose tree was not read. Where it was, the tree's states and counters are newer."""

from collections import Counter
from collections.abc import Iterator

from agents.collectors.zpool_events import CLASSES, Event
from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, known
from workflows.situations import _words
from workflows.situations._events import STATECHANGE, lost_by_its_events, tree_read

SLUG = "zfs-events"
MANUALS: tuple[str, ...] = ()
PREFIX = "ereport.fs.zfs."
TERSE = ("resource.fs.zfs.",)  # without -v it is not known whose state changed, and to what; old releases do not say to what
OWN = ("ereport.fs.zfs.io_failure",)  # `pool-suspended` reports it
GRAVE = frozenset(
    PREFIX + name
    for name in (
        *("data", "deadman", "probe_failure", "zpool", "log_replay", "authentication", "vdev.open_failed", "vdev.corrupt_data", "vdev.no_replicas"),
        *("vdev.bad_label", "vdev.bad_guid_sum", "vdev.too_small", "vdev.unknown", "io_failure"),
    )
)  # fmt: skip
MANY = 10  # errors of one kind and member
SHARED = 3  # members
NAMED = 6


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(found for node in fleet.nodes.values() for found in _of(node))


def unexplained(node: NodeFacts) -> tuple[tuple[str, str], ...]:
    """(class, text) of every event whose class OpenZFS did not have when this was written, each class once."""
    events = node.events if known(node.events) else ()
    return tuple(
        {event.kind: (event.kind, f"{event.kind} of {event.text('pool') or 'no pool'}") for event in events if not event.known}.values()
    )


def _of(node: NodeFacts) -> Iterator[Situation]:
    by_pool: dict[tuple[str, int | None], list[Event]] = {}
    for event in node.events if known(node.events) else ():
        if event.known and (not event.fields or event.kind not in OWN) and event.kind.startswith((PREFIX, *TERSE[: _has_no_state(event)])):
            by_pool.setdefault((event.text("pool") or "", event.number("pool_guid")), []).append(event)
    lost = lost_by_its_events(node) if by_pool else frozenset()
    for (pool, guid), events in by_pool.items():
        if tree_read(node, pool, guid) is None and not _of_one_lost(events, lost):
            yield _situation(node, pool, guid, events)


def _has_no_state(event: Event) -> bool:
    return not event.fields or (event.kind == STATECHANGE and not event.state)


def _of_one_lost(events: list[Event], lost: frozenset[str]) -> bool:
    """Whether all of them are of one member that is called lost: it is reported by itself, and these are how it went."""
    members = {_member(event) for event in events}
    return len(members) == 1 and members <= lost


def _situation(node: NodeFacts, pool: str, guid: int | None, events: list[Event]) -> Situation:
    counted = Counter((event.kind, _member(event)) for event in events)
    members = {member for _, member in counted if member}
    grave = any(kind in GRAVE or count >= MANY for (kind, _), count in counted.items())
    shared = len({member for (kind, member), _ in counted.items() if member and kind.endswith((".checksum", ".io"))}) >= SHARED
    named = "; ".join(_counted(kind, member, count) for (kind, member), count in counted.most_common(NAMED))
    more = f", and {len(counted) - NAMED} more kinds" if len(counted) > NAMED else ""
    advice = (
        "Errors on so many members at once have one cause: memory, HBA, cable, expander or power. Replace no disk for them before that is known."
        if shared
        else "Look at the cable, port and HBA of that disk first, then at its SMART. A few errors that do not come back need no new disk."
    )
    terse = all(event.kind.startswith(TERSE) for event in events)
    unseen = (
        "They do not say of which pool they are; with -v they do. They are of the past"
        if not pool and node.pools_read
        else "They are of the past, and no `zpool status` was read"
    )
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{guid or pool or 'none'}",
        node=node.node,
        severity="act" if grave or shared else "watch",
        title=f"{pool or 'A pool'}: {_words.plural(len(events), 'change of state' if terse else 'error', 'changes of state' if terse else '')} in ZFS's events" + (f" of {_words.plural(len(members), 'member')}" if members else ""),
        meaning=f"The events say of {pool or 'a pool'}: {named}{more}. {unseen}, so how it is now is not known. {advice}",
        evidence=tuple(_words.evidence(node, "zpool_events", _line(event)) for event in events[-NAMED:]),
        subject={"node": node.node, "pool": pool} | ({"pool_guid": str(guid)} if guid else {}),
        sure=False,
        cures=(Cure("look", "See how it is today: `zpool status -v -P -p`, and the kernel log at the time of the first of these events."),),
        gate=shared,
        vdevs=tuple(sorted(members)),
    )  # fmt: skip


def _member(event: Event) -> str:
    guid = event.number("vdev_guid")
    return str(guid) if guid is not None else ""


def _counted(kind: str, member: str, count: int) -> str:
    whom = f"of the member {member} " if member else ""
    means = CLASSES[kind] or (
        "it changed its state; the event does not say to what, `zpool status -P -p` does"
        if member
        else "a vdev changed its state; `zpool events -v` shows which one and to what"
    )
    text = f"{kind.removeprefix(PREFIX)} {whom}({means})"
    return f"{text}, {count} times" if count > 1 else text


def _line(event: Event) -> str:
    path = event.text("vdev_path")
    return " ".join(part for part in (event.kind, event.text("pool") or "", _member(event), path or "") if part)
