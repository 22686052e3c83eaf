"""Looking for what a text may mean. Each finder asks one question of one index; none reads the fleet.

A hit is exact when the whole name was given, and then it is the thing itself. What something was called before is found too, and says
until when.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from django.contrib.postgres.search import SearchQuery, SearchVector
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from app.fleet import unexplained_reviews
from app.fleet.models import NOW, Disk, LabelSeen, LeafHistory, Node, PoolNow, Sighting, Situation, Standing
from app.fleet.pages import judging, overview
from app.fleet.pages.disk_search import RUN, holding, runs
from app.fleet.severity import WORST_FIRST
from app.runs.models import Run
from app.search.parse import Question, parse
from workflows.runbooks import RUNBOOKS

SHOWN = 50  # of each kind; who wants more narrows it
FORMER_SHOWN = 10
KINDS = ("disk", "node", "pool", "situation", "run")


@dataclass(frozen=True)
class Match:
    """What of a thing holds the part that was asked for."""

    what: str  # "WWID", "serial number", "vdev guid", "pool guid"
    text: str
    part: str

    @property
    def pieces(self) -> tuple[str, str, str]:
        """The text before, in and after the part."""
        at = self.text.lower().find(self.part.lower())
        end = at + len(self.part)
        return self.text[:at], self.text[at:end], self.text[end:]


@dataclass(frozen=True)
class Hit:
    """One thing found, and by what."""

    kind: str
    title: str
    detail: str
    url: str
    exact: bool = False
    by: Match | None = None  # None: by its name, or by all of what was asked for
    state: str = ""  # how it is, in the words of its list; "" where nothing that is written down says it
    tone: str = ""


def find(text: str) -> list[Hit]:
    """Everything the text may mean: what is exactly that first, each thing once. Whoever lists it gives it to `with_states`."""
    hits = [hit for question in parse(text) for hit in FINDERS[question.kind](question)]
    exact_first = sorted(hits, key=lambda hit: not hit.exact)
    return list({hit.url: hit for hit in reversed(exact_first)}.values())[::-1]


def the_one(hits: Iterable[Hit]) -> Hit | None:
    """The only thing that is exactly what was asked for."""
    exact = [hit for hit in hits if hit.exact]
    return exact[0] if len(exact) == 1 else None


def _wwid(asked: Question) -> Iterator[Hit]:
    yield from _disks(Disk.objects.filter(wwid=asked.value), exact=True)


def _serial(asked: Question) -> Iterator[Hit]:
    yield from _disks(Disk.objects.filter(serial__in={asked.value, asked.value.upper()}), exact=True)


def _part(asked: Question) -> Iterator[Hit]:
    """A part of a WWID or of a serial number, of now or of before."""
    maybe = Disk.objects.filter(parts__contains=sorted(runs(asked.value)))
    for hit, disk in _found_disks(maybe.filter(Q(wwid__icontains=asked.value) | Q(serial__icontains=asked.value))):
        own = ("serial number", disk.serial) if asked.value.lower() in disk.serial.lower() else ("WWID", disk.wwid)
        yield replace(hit, by=Match(*own, asked.value))
    before = maybe.exclude(former_serials=[]).exclude(Q(wwid__icontains=asked.value) | Q(serial__icontains=asked.value))
    for disk in before[:FORMER_SHOWN]:
        for former in disk.former_serials:
            if asked.value.lower() in former["serial"].lower():
                where = f"was {former['serial']} until {former['until'][:16].replace('T', ' ')} UTC, as {former['node']} reported it"
                yield replace(_disk(disk, where), by=Match("former serial number", former["serial"], asked.value))


def _disks(found: QuerySet[Disk], exact: bool = False) -> Iterator[Hit]:
    return (hit for hit, _ in _found_disks(found, exact))


def _found_disks(found: QuerySet[Disk], exact: bool = False) -> Iterator[tuple[Hit, Disk]]:
    disks = list(found[:SHOWN])
    places = _places(disks)
    for disk in disks:
        yield _disk(disk, places.get(disk.pk, "not seen now"), exact), disk


def with_states(hits: list[Hit]) -> list[Hit]:
    """Disks with what is open about them. That nothing is open does not make a disk well: its page judges that by its facts."""
    wanted = {hit.title for hit in hits if hit.kind == "disk"}
    nodes = Sighting.objects.filter(NOW, disk__wwid__in=wanted).values("node")
    found = Situation.objects.filter(closed_at=None, node__in=nodes).order_by(*WORST_FIRST) if wanted else ()
    worst: dict[str, Situation] = {}
    for open_one in sorted(unexplained_reviews.voice(found), key=lambda one: one.reviewed is not None):
        for wwid in judging.concern(open_one).wwids & wanted:
            worst.setdefault(wwid, open_one)
    return [replace(hit, state=one.title, tone=one.tone) if hit.kind == "disk" and (one := worst.get(hit.title)) else hit for hit in hits]


def _disk(disk: Disk, where: str, exact: bool = False) -> Hit:
    text = " ".join(part for part in (disk.vendor, disk.model, disk.serial) if part)
    return Hit("disk", disk.wwid, " · ".join(part for part in (text, where) if part), disk.get_absolute_url(), exact)


def _places(disks: list[Disk]) -> dict[int, str]:
    """Where each of them is seen now, on however many nodes."""
    found: dict[int, list[str]] = {}
    for row in Sighting.objects.filter(NOW, disk__in=disks).select_related("node").order_by("node__name", "name"):
        found.setdefault(row.disk_id, []).append(_place(row))
    return {pk: "; ".join(where[:4]) for pk, where in found.items()}


def _place(row: Sighting) -> str:
    bay = f", bay {row.slot} of {row.enclosure_id}" if row.slot is not None else ""
    return f"{row.name} on {row.node.name}{bay}{f', {row.pool}' if row.pool else ''}"


def _kernel(asked: Question) -> Iterator[Hit]:
    yield from _sighted(Sighting.objects.filter(name=asked.value), asked)


def _hctl(asked: Question) -> Iterator[Hit]:
    yield from _sighted(Sighting.objects.filter(hctl=asked.value), asked)


def _port(asked: Question) -> Iterator[Hit]:
    yield from _sighted(Sighting.objects.filter(sas_address=asked.value), asked, exact=True)


def _bay(asked: Question) -> Iterator[Hit]:
    rows = Sighting.objects.filter(slot=int(asked.value))
    if asked.enclosure:
        rows = rows.filter(enclosure_id=asked.enclosure)
    found = list(_sighted(rows, asked, exact=bool(asked.node or asked.enclosure)))  # every shelf has a bay 12: then the first are shown
    yield from found
    if not any(hit.exact for hit in found):
        for node in Node.objects.filter(name=asked.node):
            yield Hit("node", node.name, f"no disk is seen in a bay {asked.value} there", node.get_absolute_url())


def _sighted(rows: QuerySet[Sighting], asked: Question, exact: bool = False) -> Iterator[Hit]:
    """The disks of these sightings. Earlier ones are listed only where they are few: of a node, or by an address that is one disk's."""
    rows = rows.select_related("disk", "node")
    if asked.node:
        rows = rows.filter(node__name=asked.node)
    now = list(rows.filter(NOW).order_by("node__name", "name")[:SHOWN])
    for row in now:
        yield _disk(row.disk, _place(row), exact or bool(asked.node) or len(now) == 1)
    if asked.node or exact:
        for row in rows.exclude(NOW).order_by("-until")[:FORMER_SHOWN]:
            yield _disk(row.disk, f"was {_place(row)} until {row.until:%Y-%m-%d %H:%M} UTC")


def _guid(asked: Question) -> Iterator[Hit]:
    """Of a pool or of a vdev; both are found by labels, and by the pools that are imported."""
    yield from _pools(PoolNow.objects.filter(guid=asked.value), exact=True)
    yield from _labelled(LabelSeen.objects.filter(pool_guid=asked.value).exclude(Q(pool="")))
    for row in LabelSeen.objects.filter(vdev_guid=asked.value).select_related("disk").order_by("-since")[:FORMER_SHOWN]:
        yield _carrier(row, exact=row.until is None)
    for leaf in LeafHistory.objects.filter(NOW, vdev_guid=asked.value).select_related("node")[:FORMER_SHOWN]:
        yield _leaf(leaf)
    yield from (hit for hit in _above_the_leaves(asked) if hit.exact)


def _guid_part(asked: Question) -> Iterator[Hit]:
    """A part of the guid of a pool or vdev: pools that are imported, disks that carry or carried such a label, and members without one."""
    for row in holding(PoolNow.objects.select_related("node"), "guid", asked.value)[:SHOWN]:
        yield replace(_imported(row, exact=row.guid == asked.value), by=Match("pool guid", row.guid, asked.value))
    carrying = holding(LabelSeen.objects.select_related("disk"), "vdev_guid", asked.value)
    for seen in (*carrying.filter(NOW).order_by("vdev_guid")[:SHOWN], *carrying.exclude(NOW).order_by("-until")[:FORMER_SHOWN]):
        yield replace(_carrier(seen), by=Match("vdev guid", seen.vdev_guid, asked.value))
    for leaf in holding(LeafHistory.objects.filter(NOW).select_related("node"), "vdev_guid", asked.value).order_by("vdev_guid")[:SHOWN]:
        yield replace(_leaf(leaf), by=Match("vdev guid", leaf.vdev_guid, asked.value))
    yield from _above_the_leaves(asked)
    foreign = holding(LabelSeen.objects.filter(NOW).exclude(pool=""), "pool_guid", asked.value)
    for name, pool, guid in foreign.order_by("node__name").values_list("node__name", "pool", "pool_guid").distinct()[:SHOWN]:
        yield Hit("node", name, f"reads labels of {pool}", reverse("node", args=[name]), by=Match("pool guid", guid, asked.value))


def _above_the_leaves(asked: Question) -> Iterator[Hit]:
    """Pools by the guid of a raidz or mirror of theirs, or by a part of one."""
    if len(asked.value) < RUN:
        return
    for row in holding(PoolNow.objects.select_related("node"), "vdevs", asked.value)[:SHOWN]:
        for guid in (guid for guid in row.vdevs.split() if asked.value in guid):
            yield replace(_imported(row, exact=guid == asked.value), by=Match("vdev guid", guid, asked.value))


def _carrier(row: LabelSeen, exact: bool = False) -> Hit:
    gone = f", until {row.until:%Y-%m-%d %H:%M} UTC" if row.until else ""
    return _disk(row.disk, f"{'was' if row.until else 'is'} vdev {row.vdev_guid} of {row.pool or 'no pool'}{gone}", exact)


def _leaf(leaf: LeafHistory) -> Hit:
    return Hit("pool", f"{leaf.pool} on {leaf.node.name}", f"its vdev {leaf.name} is {leaf.state}", _pool_url(leaf.node.name, leaf.pool))


def _pool(asked: Question) -> Iterator[Hit]:
    pools, labels = PoolNow.objects.filter(name=asked.value), LabelSeen.objects.filter(pool=asked.value)
    if asked.node:
        pools, labels = pools.filter(node__name=asked.node), labels.filter(node__name=asked.node)
    yield from _pools(pools, exact=True)
    yield from _labelled(labels)


def _pools(found: QuerySet[PoolNow], exact: bool = False) -> Iterator[Hit]:
    for row in found.select_related("node")[:SHOWN]:
        yield _imported(row, exact)


def _imported(row: PoolNow, exact: bool = False) -> Hit:
    url, now = _pool_url(row.node.name, row.name), timezone.now()
    row = overview.pool_now(row, row.node, now)
    words = "its node is silent; what is shown is old" if overview.is_silent(row.node, now) else row.state
    detail = f"{row.state}, {row.left}, guid {row.guid or 'not known'}"
    return Hit("pool", f"{row.name} on {row.node.name}", detail, url, exact, state=words, tone=row.tone)


def _labelled(labels: QuerySet[LabelSeen]) -> Iterator[Hit]:
    """Nodes that read labels of a pool, whether or not they have it imported."""
    for name, pool in labels.filter(NOW).order_by("node__name").values_list("node__name", "pool").distinct()[:SHOWN]:
        yield Hit("node", name, f"reads labels of {pool}", reverse("node", args=[name]))
    for name, pool, until in labels.exclude(NOW).order_by("-until").values_list("node__name", "pool", "until")[:1]:
        yield Hit("node", name, f"read labels of {pool} until {until:%Y-%m-%d %H:%M} UTC", reverse("node", args=[name]))


def _pool_url(node: str, pool: str) -> str:
    return reverse("pool", args=[node, pool])


def _node(asked: Question) -> Iterator[Hit]:
    same = {asked.value, asked.value.lower()}
    for node in Node.objects.filter(name__in=same).select_related("standing"):
        yield _found_node(node, True)
    for row in Standing.objects.filter(hostname__in=same).select_related("node"):
        yield _found_node(row.node, True)
    for node in Node.objects.filter(name__startswith=asked.value).exclude(name=asked.value).select_related("standing")[:SHOWN]:
        yield _found_node(node)


def _found_node(node: Node, exact: bool = False) -> Hit:
    stands = overview.line(node, timezone.now())
    detail = f"{node.get_state_display()}, {stands['last_report']}"
    return Hit("node", node.name, detail, node.get_absolute_url(), exact, state=stands["why"], tone=stands["tone"])


def _run(asked: Question) -> Iterator[Hit]:
    for run in Run.objects.filter(pk=int(asked.value)):
        title = RUNBOOKS[run.runbook].title if run.runbook in RUNBOOKS else run.runbook
        yield Hit("run", f"Run {run.pk}", f"{title} on {run.node}, {run.status}", reverse("run", args=[run.pk]), True)


def _situation(asked: Question) -> Iterator[Hit]:
    yield from _situations(Situation.objects.filter(pk=int(asked.value)), exact=True)


def _words(asked: Question) -> Iterator[Hit]:
    """Open situations whose title holds these words."""
    open_now = Situation.objects.filter(closed_at=None).annotate(found=SearchVector("title", config="simple"))
    yield from _situations(open_now.filter(found=SearchQuery(asked.value, config="simple")).order_by(*WORST_FIRST))


def _situations(found: QuerySet[Situation], exact: bool = False) -> Iterator[Hit]:
    for one in unexplained_reviews.voice(found.select_related("node")[:SHOWN]):
        over = f", over since {one.closed_at:%Y-%m-%d %H:%M} UTC" if one.closed_at else ""
        detail = f"{one.node.name}, seen since {one.opened_at:%Y-%m-%d %H:%M} UTC{over}"
        urgency, tone = ("over", "idle") if one.closed_at else (one.urgency, one.tone)
        yield Hit("situation", one.title, detail, one.get_absolute_url(), exact, state=urgency, tone=tone)


FINDERS: dict[str, Callable[[Question], Iterator[Hit]]] = {
    "wwid": _wwid,
    "serial": _serial,
    "part": _part,
    "kernel": _kernel,
    "hctl": _hctl,
    "port": _port,
    "bay": _bay,
    "guid": _guid,
    "guid-part": _guid_part,
    "pool": _pool,
    "node": _node,
    "run": _run,
    "situation": _situation,
    "words": _words,
}
