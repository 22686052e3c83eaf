"""What a disk's page says beyond its names: what went wrong with it and when, how it stands beside its peers, and its life as bars."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from app.fleet.models import Disk, LabelSeen, LeafHistory
from app.fleet.pages import chassis, rows
from app.fleet.pages.disk_identity import Stay
from app.fleet.pages.pool import event_rows
from workflows.analysis import peers
from workflows.facts import BayFacts, DiskFacts, NodeFacts, known

TROUBLES_SHOWN, STAYS_SHOWN = 40, 80
SPAN = 1000  # width of the bars, in units of their drawing
SHORTEST = 6  # that an hour of a year is still seen

Seen = Iterable[tuple[NodeFacts, DiskFacts]]


@dataclass(frozen=True)
class Trouble:
    """Something that went wrong with the disk as a member of a pool, or that it came back."""

    at: datetime
    what: str
    where: str
    tone: str


@dataclass(frozen=True)
class Bar:
    """One stay, and where it lies between the disk's first sighting and now."""

    stay: Stay
    x: int
    width: int

    @property
    def open(self) -> bool:
        return self.stay.until is None


def more(disk: Disk, seen: Seen, stays: list[Stay], now: datetime) -> dict[str, Any]:
    seen = list(seen)
    return {
        "bays": [_bay(node, one, one.bay) for node, one in seen if known(one.bay)],
        "peers": [group for node, one in seen for group in peers.of_disk(node, one)],
        "bars": bars(stays[:STAYS_SHOWN], now),
        "stays_left_out": max(0, len(stays) - STAYS_SHOWN),
        "troubles": troubles(disk, seen)[:TROUBLES_SHOWN],
        "events_unknown": [f"{node.node}: {node.events.reason}" for node, _ in seen if not known(node.events)],
    }


def _bay(node: NodeFacts, disk: DiskFacts, bay: BayFacts) -> dict[str, Any]:
    place = chassis.places_of(node).get(disk.wwid) if known(disk.wwid) else None
    return {"node": node.node, "enclosure": bay.enclosure_id, "slot": bay.slot, "place": place, "guid": _guid(place)}


def _guid(place: chassis.Place | None) -> str:
    return rows.text_of(place.leaf.guid) if place is not None and known(place.leaf.guid) else ""


def bars(stays: Iterable[Stay], now: datetime) -> list[Bar]:
    stays = list(stays)
    if not stays:
        return []
    first = min(stay.since for stay in stays)
    whole = max(now - first, timedelta(seconds=1))
    return [_bar(stay, first, whole, now) for stay in stays]


def _bar(stay: Stay, first: datetime, whole: timedelta, now: datetime) -> Bar:
    begin, end = ((at - first) / whole * SPAN for at in (stay.since, stay.until or now))
    width = max(SHORTEST, round(end - begin))
    return Bar(stay, min(round(begin), SPAN - width), width)


def troubles(disk: Disk, seen: Seen) -> list[Trouble]:
    """Newest first: the states that its vdevs had while it carried their labels, and the kernel's events of the leaf it is today."""
    found = [*_states(disk), *(trouble for node, one in seen for trouble in _events(node, one))]
    return sorted(found, key=lambda trouble: trouble.at, reverse=True)


def _states(disk: Disk) -> Iterator[Trouble]:
    labels = list(LabelSeen.objects.filter(disk=disk).values_list("node", "vdev_guid", "since", "until"))
    guids = {guid for _, guid, _, _ in labels}
    changes = (
        LeafHistory.objects.filter(node__in={node for node, *_ in labels}, vdev_guid__in=guids).exclude(before="").select_related("node")
    )
    for change in changes:
        if any(guid == change.vdev_guid and (until is None or change.since <= until) for _, guid, _, until in labels):
            what = f"{change.before} → {change.state}"
            yield Trouble(change.since, what, f"vdev {change.vdev_guid} of {change.pool} on {change.node.name}", rows.tone(change.state))


def _events(node: NodeFacts, disk: DiskFacts) -> Iterator[Trouble]:
    place = chassis.places_of(node).get(disk.wwid) if known(disk.wwid) else None
    if place is None or not known(place.leaf.guid) or not known(node.events):
        return
    own = [event for event in node.events if event.number("vdev_guid") == place.leaf.guid]
    for row in event_rows(own, place.pool):
        times = f", {row.times} times since {row.since:%Y-%m-%d %H:%M:%S}" if row.times > 1 else ""
        yield Trouble(row.at, f"{row.what}{times}", f"{place.title} on {node.node}: {row.kind}", row.tone)
