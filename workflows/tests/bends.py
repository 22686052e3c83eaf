"""Facts made worse on purpose: a fact that is bad, or one that is not known. What a refusal is walked with.

A bend takes the facts a walk really had at some moment, changes one thing in them, and leaves all else. It never says what a
guard answers; it only changes what the guard is asked of. A bend that finds nothing to change changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from workflows.engine.core import Params
from workflows.facts import DiskFacts, FleetFacts, ImportableFacts, LeafChange, PoolFacts, Unknown, VdevFacts, known
from workflows.facts.read.fabric import Growth
from workflows.facts.read.tunables import TunableFacts
from workflows.tests.incident import disk as a_disk
from workflows.tests.incident import label as a_label

UNREAD = Unknown("It was not read.")
ELSEWHERE = "oss09"  # a node that sees what the node of the run sees
LONG_AGO = 90_000.0
A_LABEL = a_label("sdzz1", 4711, 777, "scratch9", 1)
A_STRANGER = a_disk("sdzz", "naa:5000c500a65bfff7", slot=99)

Bend = Callable[[FleetFacts, Params], FleetFacts]


@dataclass(frozen=True)
class Bad:
    """One way in which a guard says no or does not know: what is changed, and a phrase of what it answers then."""

    guard: str
    expected: str
    bend: Bend


def put(thing: Any, **changes: Any) -> Any:
    """`replace`, where a function is given what is known there now. What is not known, no function makes worse.

    The thing itself where nothing of it changes, so that what was derived of it need not be derived anew.
    """
    now = {name: getattr(thing, name) for name in changes}
    after = {name: worse for name, value in changes.items() if not _is_same(now[name], worse := _worse(now[name], value))}
    return replace(thing, **after) if after else thing


def _is_same(now: Any, after: Any) -> bool:
    if isinstance(now, tuple) and isinstance(after, tuple):
        return len(now) == len(after) and all(map(_is_same, now, after))
    return after is now or (type(after) is type(now) and isinstance(now, str | int | float) and after == now)


def _worse(now: Any, value: Any) -> Any:
    if not callable(value):
        return value
    return value(now) if known(now) else now


def each(**changes: Any) -> Callable[[tuple], tuple]:
    """The same change to every one of them."""
    return lambda things: tuple(put(thing, **changes) for thing in things)


def as_it_is(facts: FleetFacts, params: Params) -> FleetFacts:
    """Nothing is changed: the walk itself stood before this, and waited."""
    return facts


def no_nodes(facts: FleetFacts, params: Params) -> FleetFacts:
    return FleetFacts({})


def both(*bends: Bend) -> Bend:
    def bent(facts: FleetFacts, params: Params) -> FleetFacts:
        for bend in bends:
            facts = bend(facts, params)
        return facts

    return bent


def node(**changes: Any) -> Bend:
    def bent(facts: FleetFacts, params: Params) -> FleetFacts:
        here = facts.nodes.get(params.get("node", ""))
        worse = here and put(here, **changes)
        return facts if worse is here else replace(facts, nodes={**facts.nodes, here.node: worse})

    return bent


def beside(**changes: Any) -> Bend:
    """Another node that sees the same disks, has imported nothing, and is heard as well as this one."""

    def bent(facts: FleetFacts, params: Params) -> FleetFacts:
        here = facts.nodes.get(params.get("node", ""))
        if here is None:
            return facts
        other = put(replace(here, node=ELSEWHERE, hostname=ELSEWHERE, hostid="00000909", pools=(), importable=(), cached=()), **changes)
        return replace(facts, nodes={**facts.nodes, ELSEWHERE: other})

    return bent


def has_it_too(facts: FleetFacts, params: Params) -> FleetFacts:
    """The other node has the pool imported."""
    return beside(pools=(a_pool(params),))(facts, params)


def a_pool(params: Params, **changes: Any) -> PoolFacts:
    whole = PoolFacts(name=params.get("pool", ""), guid=int(params.get("pool_guid", 0)), state="ONLINE", suspended=False, scans=(), tops=())
    return put(whole, **changes)


def in_a_node(here: str, which: Callable[[Any, Params], bool], **changes: Any) -> Bend:
    """The things in this tuple of the node's that are meant."""

    def bent(facts: FleetFacts, params: Params) -> FleetFacts:
        def worse(things: Any) -> Any:
            return tuple(put(thing, **changes) if which(thing, params) else thing for thing in things)

        return node(**{here: worse})(facts, params)

    return bent


def pool(**changes: Any) -> Bend:
    def meant(one: PoolFacts, params: Params) -> bool:
        return str(one.guid) == params.get("pool_guid") if known(one.guid) else one.name == params.get("pool")

    return in_a_node("pools", meant, **changes)


def listed(**changes: Any) -> Bend:
    """What `zpool import` lists."""

    def meant(one: ImportableFacts, params: Params) -> bool:
        return str(one.guid) == params.get("pool_guid")

    return in_a_node("importable", meant, **changes)


def disk(*keys: str, **changes: Any) -> Bend:
    """The disk that one of these parameters of the run names."""

    def meant(one: DiskFacts, params: Params) -> bool:
        return known(one.wwid) and one.wwid in {params.get(key) for key in keys or ("wwid",)}

    return in_a_node("disks", meant, **changes)


def every_disk(**changes: Any) -> Bend:
    return in_a_node("disks", lambda one, params: True, **changes)


def bay(**changes: Any) -> Bend:
    return in_a_node("bays", _is_meant, **changes)


def other_bay(**changes: Any) -> Bend:
    return in_a_node("bays", lambda one, params: not _is_meant(one, params), **changes)


def _is_meant(one: Any, params: Params) -> bool:
    return (one.enclosure_id, str(one.slot)) == (params.get("enclosure"), params.get("slot"))


def in_the_bay(**changes: Any) -> Bend:
    """The disk in the bay of the run."""
    return in_a_node("disks", lambda one, params: known(one.bay) and _is_meant(one.bay, params), **changes)


def vdevs(which: Callable[[VdevFacts, Params], bool], **changes: Any) -> Bend:
    def bent(facts: FleetFacts, params: Params) -> FleetFacts:
        def worse(vdev: VdevFacts) -> VdevFacts:
            below = put(vdev, children=lambda children: tuple(map(worse, children)))
            return put(below, **changes) if which(vdev, params) else below

        def trees(tops: Any) -> Any:
            return tuple((role, worse(top)) for role, top in tops)

        return pool(tops=trees, spares=lambda spares: tuple(map(worse, spares)))(facts, params)

    return bent


def leaf(key: str = "vdev_guid", **changes: Any) -> Bend:
    return vdevs(lambda vdev, params: not vdev.children and str(vdev.guid) == params.get(key, ""), **changes)


def on_disk(key: str, **changes: Any) -> Bend:
    """The member that sits on the disk that a parameter names."""
    return vdevs(lambda vdev, params: not vdev.children and known(vdev.wwid) and vdev.wwid == params.get(key), **changes)


def every_leaf(**changes: Any) -> Bend:
    return vdevs(lambda vdev, params: not vdev.children, **changes)


def siblings(**changes: Any) -> Bend:
    """Every member but the one of the run."""
    return vdevs(lambda vdev, params: not vdev.children and str(vdev.guid) != params.get("vdev_guid", ""), **changes)


def one_sibling(**changes: Any) -> Bend:
    def bent(facts: FleetFacts, params: Params) -> FleetFacts:
        guids = [v.guid for top in _tops(facts, params) for v in top.leaves() if str(v.guid) != params.get("vdev_guid", "")]
        return vdevs(lambda vdev, params: bool(guids) and vdev.guid == guids[-1], **changes)(facts, params)

    return bent


def above(key: str = "vdev_guid", **changes: Any) -> Bend:
    """What the member stands right under."""
    return vdevs(lambda vdev, params: any(str(child.guid) == params.get(key, "") for child in vdev.children), **changes)


def over_disk(key: str = "wwid", **changes: Any) -> Bend:
    """What the member on this disk stands right under."""

    def meant(vdev: VdevFacts, params: Params) -> bool:
        return any(not c.children and known(c.wwid) and c.wwid == params.get(key) for c in vdev.children)

    return vdevs(meant, **changes)


def _tops(facts: FleetFacts, params: Params) -> list[VdevFacts]:
    here = facts.nodes.get(params.get("node", ""))
    pools = here.pools if here is not None and known(here.pools) else ()
    return [top for p in pools if str(p.guid) == params.get("pool_guid") and known(p.tops) for _, top in p.tops]


def scans(**changes: Any) -> Bend:
    return pool(scans=each(**changes))


def left_service(count: int) -> Bend:
    """So many members left just now."""

    def bent(facts: FleetFacts, params: Params) -> FleetFacts:
        guid = int(params.get("pool_guid", 0))
        return node(leaf_changes=tuple(LeafChange(guid, 100 + i, "ONLINE", "REMOVED", 60.0) for i in range(count)))(facts, params)

    return bent


def properties(**fields: str) -> Bend:
    return pool(properties=lambda before: {**before, **fields})


def listed_leaves(**changes: Any) -> Bend:
    def worse(vdev: VdevFacts) -> VdevFacts:
        return replace(vdev, children=tuple(map(worse, vdev.children))) if vdev.children else put(vdev, **changes)

    return listed(tops=lambda tops: tuple((role, worse(top)) for role, top in tops))


def phys(**changes: Any) -> Bend:
    return node(fabric=lambda fabric: put(fabric, phys=each(**changes)))


def watched(seconds: float) -> Bend:
    return phys(growth=Growth((0, 0, 0, 0), seconds))


def tunable(name: str | None, value: str) -> Bend:
    """`name` has this value; without a name, the one that the run is about."""

    def bent(facts: FleetFacts, params: Params) -> FleetFacts:
        wanted = name or params.get("setting", "").partition(" ")[0]

        def worse(found: Any) -> Any:
            others = tuple(t for t in found.known_names if t.name != wanted)
            return replace(found, known_names=(*others, TunableFacts(wanted, value, None, (0,))))

        return node(tunables=worse)(facts, params)

    return bent


def add_pool(**changes: Any) -> Bend:
    def bent(facts: FleetFacts, params: Params) -> FleetFacts:
        return node(pools=lambda pools: (*pools, a_pool(params, **changes)))(facts, params)

    return bent


def comes_back(*keys: str) -> Bend:
    """The node sees the disks that these parameters name, in no bay and with no label."""

    def bent(facts: FleetFacts, params: Params) -> FleetFacts:
        found = tuple(replace(A_STRANGER, wwid=params[key], bay=UNREAD) for key in keys if params.get(key))
        return node(disks=lambda disks: (*disks, *found))(facts, params)

    return bent


def is_away(*keys: str) -> Bend:
    """The node does not see the disks that these parameters name."""

    def bent(facts: FleetFacts, params: Params) -> FleetFacts:
        names = {params.get(key) for key in keys}
        return node(disks=lambda disks: tuple(d for d in disks if d.wwid not in names))(facts, params)

    return bent


def stale(facts: FleetFacts, params: Params) -> FleetFacts:
    return node(age_seconds=LONG_AGO)(facts, params)


def long_ago(source: str) -> Bend:
    """The node reports, but this source was not asked again."""
    return node(ages=lambda ages: {**ages, source: LONG_AGO})
