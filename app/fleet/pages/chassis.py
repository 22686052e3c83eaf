"""An enclosure as a person in front of the rack sees it: every bay, what sits in it, what it is there, and what its lights say.

Pure: facts in, a model of the drawing out. Two nodes on one shelf see one enclosure; what they say of a bay is joined, and where they
do not agree the bay is not known. Nothing is ever drawn as empty that no source reports empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from app.fleet.pages import rows
from app.fleet.pages.judging import About, OfDisks
from workflows.analysis.bay_layout import Geometry, geometry
from workflows.analysis.judgement import Judgement
from workflows.facts import BayFacts, DiskFacts, FleetFacts, Known, NodeFacts, PoolFacts, Unknown, VdevFacts, known
from workflows.facts.read.slots import LEVELS

EMPTY = "not installed"
GUESSED = 4  # witnesses beyond this level are a suggestion and not a place
# kind of a bay -> (mark in the drawing, what it says in the legend, tone of its words)
KINDS = {
    "good": ("", "in service", "good"),
    "moving": ("↻", "being filled", "info"),
    "watch": ("!", "needs a look", "watch"),
    "bad": ("✕", "in trouble", "bad"),
    "noted": ("i", "in service, with something to know", "info"),
    "free": ("+", "no label, not in use", "info"),
    "idle": ("•", "used by something else", "idle"),
    "unknown": ("?", "not known", "watch"),
    "left": ("!", "empty since a disk left it lately", "watch"),
    "empty": ("", "empty", "idle"),
}
WORST_FIRST = ("bad", "watch", "unknown", "moving", "noted", "free", "idle", "good")  # of bays with a disk
OF_TONE = {"bad": "bad", "watch": "watch", "unknown": "unknown", "info": "noted", "good": "good"}
LOOK = ("bad", "watch", "left", "moving")  # kinds that a person must look at, the gravest first


@dataclass(frozen=True)
class Place:
    """What a disk is in an imported pool."""

    node: str
    pool: PoolFacts
    role: str  # "data", "special", "log", "spare", "cache", ...
    top: VdevFacts
    leaf: VdevFacts

    @property
    def title(self) -> str:
        what = (
            self.top.name if self.top.children else {"spare": "hot spare", "cache": "cache"}.get(self.role, f"single-disk {self.role} vdev")
        )
        return f"{self.pool.name} {what}"


@dataclass(frozen=True)
class Light:
    """One light of a bay: "on", "off", or "unknown" with why."""

    state: str
    why: str = ""

    @property
    def words(self) -> str:
        return f"unknown ({self.why})" if self.why else self.state


@dataclass(frozen=True)
class Bay:
    """One bay. `disk` is the one that sits there, when exactly one does."""

    slot: int
    kind: str
    words: str  # what it is, in one line
    locate: Light
    fault: Light
    disk: DiskFacts | None = None
    place: Place | None = None
    notes: tuple[str, ...] = ()
    letter: str = ""  # of its pool, in the legend
    chosen: bool = False  # whether it holds a member of the vdev that is asked for

    @property
    def mark(self) -> str:
        return KINDS[self.kind][0]

    @property
    def tone(self) -> str:
        return KINDS[self.kind][2]

    @property
    def wwid(self) -> str:
        return self.disk.wwid if self.disk is not None and known(self.disk.wwid) else ""

    @property
    def serial(self) -> str:
        return rows.text_of(self.disk.serial) if self.disk is not None else ""

    @property
    def guid(self) -> str:
        return rows.text_of(self.place.leaf.guid) if self.place is not None else ""

    @property
    def title(self) -> str:
        """Everything at once, for a reader who does not see the drawing."""
        what = f"{self.disk.model} serial {self.serial}, {self.words}" if self.disk is not None else self.words
        lights = f"locate light {self.locate.state}, fault light {self.fault.state}"
        chosen = ", member of the chosen vdev" if self.chosen else ""
        return f"Bay {self.slot}: {what}{chosen}; {lights}.{''.join(f' {note}' for note in self.notes)}"


@dataclass(frozen=True)
class PoolKey:
    """One line of the legend of pools."""

    letter: str
    node: str
    name: str
    bays: int

    @property
    def number(self) -> int:
        return ord(self.letter[0]) - ord("A")


@dataclass(frozen=True)
class Chosen:
    """The vdev that is asked for, and where its members sit."""

    guid: str
    place: Place | None  # one of its members in this enclosure
    slots: tuple[int, ...]
    elsewhere: tuple[str, ...]  # its other members, in words

    @property
    def title(self) -> str:
        return self.place.title if self.place else f"vdev {self.guid}"


@dataclass(frozen=True)
class Chassis:
    id: str
    model: str
    nodes: tuple[str, ...]
    geometry: Geometry
    bays: Mapping[int, Bay]
    pools: tuple[PoolKey, ...]
    vdevs: tuple[Place, ...]  # one place for each top-level vdev that has a member here
    chosen: Chosen | None = None
    unseen: tuple[str, ...] = field(default_factory=tuple)  # nodes whose bays are not known, and why

    def of_kind(self, *kinds: str) -> tuple[Bay, ...]:
        return tuple(bay for bay in self.bays.values() if bay.kind in kinds)

    @property
    def troubles(self) -> tuple[Bay, ...]:
        return tuple(sorted(self.of_kind(*LOOK), key=lambda bay: LOOK.index(bay.kind)))

    @property
    def lit(self) -> tuple[Bay, ...]:
        return tuple(bay for bay in self.bays.values() if "on" in (bay.locate.state, bay.fault.state))

    @property
    def legend(self) -> tuple[tuple[str, str, str], ...]:
        """(kind, mark, words) of the kinds that occur."""
        return tuple((kind, *KINDS[kind][:2]) for kind in KINDS if self.of_kind(kind))

    @property
    def summary(self) -> str:
        disks, empty, unknown = (len(found) for found in (self._disks, self.of_kind("empty", "left"), self.of_kind("unknown")))
        parts = [f"{disks} disk{'' if disks == 1 else 's'}", f"{empty} empty"]
        return ", ".join(parts + ([f"{unknown} not known"] if unknown else []))

    @property
    def _disks(self) -> list[Bay]:
        return [bay for bay in self.bays.values() if bay.disk is not None]


def remembering(this: Chassis, past: Mapping[int, str]) -> Chassis:
    """With what bays without a disk held last, by slot: whoever stands there wants to know whose bay it was."""
    bays = {slot: _with_note(bay, past.get(slot, "")) if bay.disk is None else bay for slot, bay in this.bays.items()}
    return replace(this, bays=bays)


def _with_note(bay: Bay, note: str) -> Bay:
    return replace(bay, notes=(*bay.notes, note)) if note and bay.kind != "left" else bay


# --- which enclosures there are


def ids(node: NodeFacts) -> tuple[str, ...]:
    """Logical ids of the enclosures that a node sees, by its bays or by where its disks are said to sit."""
    found = {bay.enclosure_id for bay in (node.bays if known(node.bays) else ())}
    found |= {disk.bay.enclosure_id for disk in (node.disks if known(node.disks) else ()) if known(disk.bay)}
    return tuple(sorted(found))


def of_node(fleet: FleetFacts, name: str, rule: OfDisks) -> tuple[Chassis, ...]:
    return tuple(_chassis(fleet, one, rule) for one in ids(fleet.nodes[name]))


def model_of(bay_reports: Iterable[_BayReports]) -> str:
    """What the enclosure calls itself. Two names for one enclosure are none."""
    names = {bay.model for one in bay_reports for _, bay in one.bays if bay.model}
    return names.pop() if len(names) == 1 else ""


def chassis(fleet: FleetFacts, enclosure_id: str, about: About, vdev: str = "") -> Chassis:
    """The enclosure as all nodes of `fleet` that see it report it. `about` are their open situations.

    `vdev` is the guid of a vdev, or of any member of it, to be pointed out.
    """
    nodes = [node for node in fleet.nodes.values() if enclosure_id in ids(node)]
    return _chassis(fleet, enclosure_id, OfDisks.of(nodes, about), vdev)


def _chassis(fleet: FleetFacts, enclosure_id: str, rule: OfDisks, vdev: str = "") -> Chassis:
    nodes = [node for node in fleet.nodes.values() if enclosure_id in ids(node)]
    places = {wwid: place for node in nodes for wwid, place in places_of(node).items()}
    bay_reports = _reports_by_slot(nodes, enclosure_id)
    bays = {slot: _bay(slot, bay_reports[slot], places, rule, _left(fleet, enclosure_id, slot)) for slot in sorted(bay_reports)}
    pools = _pools(bays.values())
    letters = {(key.node, key.name): key.letter for key in pools}
    chosen = _chosen(vdev, nodes, bays) if vdev else None
    marked = {slot: _marked(bay, letters, chosen) for slot, bay in bays.items()}
    model = model_of(bay_reports.values())
    return Chassis(
        enclosure_id,
        model,
        tuple(node.node for node in nodes),
        geometry(model, marked),
        marked,
        pools,
        _vdevs(nodes, bays.values()),
        chosen,
        tuple(f"{node.node}: {node.bays.reason}" for node in nodes if not known(node.bays)),
    )


def places_of(node: NodeFacts) -> dict[str, Place]:
    """WWID -> what that disk is in a pool of this node; found by label and never by name."""
    found: dict[str, Place] = {}
    for pool in node.pools if known(node.pools) else ():
        tops = (*(pool.tops if known(pool.tops) else ()), *(("spare", v) for v in pool.spares), *(("cache", v) for v in pool.caches))
        for role, top in tops:
            found |= {leaf.wwid: Place(node.node, pool, role, top, leaf) for leaf in top.leaves() if known(leaf.wwid)}
    return found


# --- one bay


@dataclass
class _BayReports:
    """All that is said of one bay, by node."""

    bays: list[tuple[str, BayFacts]] = field(default_factory=list)
    disks: dict[str, list[tuple[NodeFacts, DiskFacts]]] = field(default_factory=dict)  # by WWID: one disk, as each node reports it


def _reports_by_slot(nodes: Iterable[NodeFacts], enclosure_id: str) -> dict[int, _BayReports]:
    found: dict[int, _BayReports] = {}
    for node in nodes:
        linked: dict[str, int] = {}
        for bay in node.bays if known(node.bays) else ():
            if bay.enclosure_id == enclosure_id:
                found.setdefault(bay.slot, _BayReports()).bays.append((node.node, bay))
                linked |= {bay.device: bay.slot} if bay.device else {}
        for disk in node.disks if known(node.disks) else ():
            slot = _slot(disk, enclosure_id, linked)
            if slot is not None:
                key = disk.wwid if known(disk.wwid) else f"{node.node} {disk.names}"
                found.setdefault(slot, _BayReports()).disks.setdefault(key, []).append((node, disk))
    return found


def _slot(disk: DiskFacts, enclosure_id: str, linked: Mapping[str, int]) -> int | None:
    if known(disk.bay):
        return disk.bay.slot if disk.bay.enclosure_id == enclosure_id else None
    return next((linked[name] for name in disk.names if name in linked), None)


def _bay(slot: int, reports: _BayReports, places: Mapping[str, Place], rule: OfDisks, left: str) -> Bay:
    locate, fault = _light(reports, lambda bay: bay.locate), _light(reports, lambda bay: bay.fault)
    if len(reports.disks) > 1:
        names = " and ".join(f"{rows.text_of(disk.serial)} by {node.node}" for [(node, disk), *_] in reports.disks.values())
        return Bay(slot, "unknown", f"{len(reports.disks)} disks are reported here: {names}", locate, fault)
    if not reports.disks:
        kind, words = _without_disk(reports)
        return Bay(slot, "left" if left and kind == "empty" else kind, words, locate, fault, notes=(left,) if left else ())
    seen = next(iter(reports.disks.values()))
    place = places.get(seen[0][1].wwid) if known(seen[0][1].wwid) else None
    node, disk = next((one for one in seen if place is not None and one[0].node == place.node), seen[0])
    kind, words = _by_the_rule(*state_of(disk, place), rule.disk(node, disk, place.pool if place is not None else None))
    return Bay(slot, kind, words, locate, fault, disk, place, tuple(_notes(disk, reports)))


def _by_the_rule(kind: str, words: str, judged: Judgement) -> tuple[str, str]:
    """Drawn as well only where the rule of all pages calls the disk good."""
    worst = min(kind, OF_TONE[judged.tone], key=WORST_FIRST.index)
    return worst, words if judged.tone == "good" else f"{words}; {judged.words}"


def _light(reports: _BayReports, of: Callable[[BayFacts], Known[bool]]) -> Light:
    lights: list[tuple[str, Known[bool]]] = [(node, of(bay)) for node, bay in reports.bays]
    states = {value for _, value in lights if known(value)}
    if len(states) > 1:
        return Light("unknown", "; ".join(f"{node} reads {'on' if value else 'off'}" for node, value in lights if known(value)))
    if states:
        return Light("on" if states.pop() else "off")
    return Light(
        "unknown",
        next((value.reason.rstrip(".") for _, value in lights if isinstance(value, Unknown)), "no enclosure driver shows this bay"),
    )


def _without_disk(reports: _BayReports) -> tuple[str, str]:
    """Empty only when everybody who sees it says so."""
    statuses = {rows.text_of(bay.status) for _, bay in reports.bays}
    device = next((bay.device for _, bay in reports.bays if bay.device), "")
    if device:
        return "unknown", f"{device} is linked to it, which no node knows as a disk"
    if statuses == {EMPTY}:
        return "empty", "empty"
    if len(statuses) > 1:
        return "unknown", "what is in it is not known: " + "; ".join(
            f"{node} says {rows.text_of(bay.status)}" for node, bay in reports.bays
        )
    return "unknown", f"what is in it is not known: the enclosure says {statuses.pop()}, and no disk names this bay"


def state_of(disk: DiskFacts, place: Place | None) -> tuple[str, str]:
    """The kind of a bay with a disk in it, and what that disk is."""
    if place is None:
        words, tone = rows.use_of(disk, None)
        return ("free" if tone == "info" else tone), words
    leaf = place.leaf
    what = f"{place.title}, {leaf.state}"
    if leaf.resilvering or leaf.awaiting_resilver:
        return "moving", f"{what}, {'resilvering' if leaf.resilvering else 'awaiting resilver'}"
    tone = rows.tone_of(leaf)
    if errors := rows.errors_of(leaf):
        what = f"{what}, {errors}"
    if tone in ("good", "info"):
        ill = rows.illness(disk)
        if ill is not None:
            return ill[1], f"{what}, but says of itself: {ill[0]}"
    return ("good" if tone == "info" else tone), what


def _notes(disk: DiskFacts, reports: _BayReports) -> Iterator[str]:
    if known(disk.bay) and disk.bay.conflict:
        yield f"The sources disagree where it sits: {disk.bay.conflict}."
    if known(disk.bay) and disk.bay.evidence > GUESSED:
        yield f"That it sits here is a guess: {LEVELS[disk.bay.evidence]}."
    for node, bay in reports.bays:
        if known(bay.status) and bay.status not in ("OK", "unsupported"):
            yield f"{node} reads the bay's status as {bay.status}."


def _left(fleet: FleetFacts, enclosure_id: str, slot: int) -> str:
    """What was in this bay until lately."""
    gone = [one for one in fleet.gone.values() if (one.enclosure_id, one.slot) == (enclosure_id, slot)]
    return f"A disk left it within the last half hour: serial {gone[0].serial or 'not known'}." if gone else ""


# --- what holds all bays together


def _pools(bays: Iterable[Bay]) -> tuple[PoolKey, ...]:
    counts: dict[tuple[str, str], int] = {}
    for place in (bay.place for bay in bays if bay.place is not None):
        counts[place.node, place.pool.name] = counts.get((place.node, place.pool.name), 0) + 1
    return tuple(PoolKey(_letter(i), node, name, counts[node, name]) for i, (node, name) in enumerate(sorted(counts)))


def _vdevs(nodes: Iterable[NodeFacts], bays: Iterable[Bay]) -> tuple[Place, ...]:
    """One place for each top-level vdev that has a member here, in the order of the pools' own trees."""
    here = {id(place.top): place for bay in bays if (place := bay.place)}
    pools = [pool for node in nodes for pool in (node.pools if known(node.pools) else ())]
    return tuple(here[id(top)] for pool in pools for top in _tops(pool) if id(top) in here)


def _letter(number: int) -> str:
    return chr(ord("A") + number % 26) * (1 + number // 26)


def _chosen(guid: str, nodes: Iterable[NodeFacts], bays: Mapping[int, Bay]) -> Chosen:
    """The top-level vdev with this guid or with a member of this guid, also where that member is on no disk at all."""
    for node in nodes:
        for pool in node.pools if known(node.pools) else ():
            for top in _tops(pool):
                if guid in {rows.text_of(vdev.guid) for vdev in top.walk()}:
                    return _chosen_top(guid, pool, top, bays)
    return Chosen(guid, None, (), ())


def _tops(pool: PoolFacts) -> tuple[VdevFacts, ...]:
    return (*(top for _, top in (pool.tops if known(pool.tops) else ())), *pool.spares, *pool.caches)


def _chosen_top(guid: str, pool: PoolFacts, top: VdevFacts, bays: Mapping[int, Bay]) -> Chosen:
    here = {slot: bay.place for slot, bay in bays.items() if bay.place and bay.place.pool is pool and bay.place.top is top}
    found = {rows.text_of(place.leaf.guid) for place in here.values()}
    missing = (leaf for leaf in top.leaves() if rows.text_of(leaf.guid) not in found)
    elsewhere = tuple(f"{rows.short_name(leaf.name)} ({leaf.note or leaf.state})" for leaf in missing)
    return Chosen(guid, next(iter(here.values()), None), tuple(here), elsewhere)


def _marked(bay: Bay, letters: Mapping[tuple[str, str], str], chosen: Chosen | None) -> Bay:
    letter = letters[bay.place.node, bay.place.pool.name] if bay.place else ""
    return replace(bay, letter=letter, chosen=chosen is not None and bay.slot in chosen.slots)
