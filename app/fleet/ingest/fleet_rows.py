"""How each node stands in the list of the fleet, written down when its situations are settled: the list itself reads rows only.

That a node is silent is the one thing that follows from the clock, so `SILENT` is asked when the list is read.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL
from django.utils import timezone

from app.core.compiled_queries import ModelsWrittenOnce, among, save
from app.fleet.models import NO_POOL, Node, PoolNow, Situation, Standing
from app.fleet.pages import judging, rows
from app.fleet.pages.judging import TONES
from app.fleet.severity import SEVERITY_TONES, worst_first
from workflows.analysis.judgement import judge_node
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, known
from workflows.facts.read.source_states import BROUGHT_SECONDS

SHOWN = ("judged_by", "rank", "margin", "tone", "why", "disks", "hostname", "restless")
POOL_SHOWN = ("name", "guid", "state", "tone", "left", "left_tone", "percent", "vdevs")


def silent(now: datetime | None = None) -> Q:
    """Nodes that have reported, and not lately; of those without an agent, what was brought is old."""
    at = now or timezone.now()
    limits = ((~Q(state=Node.State.BROUGHT), rows.STALE_SECONDS), (Q(state=Node.State.BROUGHT), BROUGHT_SECONDS))
    reporting, brought = (which & Q(last_report_at__lt=at - timedelta(seconds=seconds)) for which, seconds in limits)
    return reporting | brought


def keep(fleet: FleetFacts, at: datetime, nodes: Mapping[str, Node], open_: Iterable[Situation], moved: Iterable[Situation]) -> None:
    """Write down how the nodes of `fleet` stand now that their situations are settled.

    `nodes` are its rows by name; `open_` are all situations that are open on them now, and `moved` those that opened, closed or changed.
    """
    situations = _by_node(open_)
    facts = {nodes[name]: one for name, one in fleet.nodes.items() if name in nodes}
    changed = _keep_pools(facts, situations) | {one.node_id for one in moved}
    for node, one in facts.items():
        _keep_line(node, _line(one, situations.get(node.pk, [])), node.pk in changed, at)


def judged_anew(nodes: Iterable[Node]) -> frozenset[int]:
    """Those that another release judged last."""
    known = ((node.pk, getattr(node, "standing", None)) for node in nodes)
    return frozenset(pk for pk, row in known if row is not None and row.judged_by != judging.rules())


def _by_node(situations: Iterable[Situation]) -> dict[int, list[Situation]]:
    """The worst first."""
    found: dict[int, list[Situation]] = {}
    for one in sorted(situations, key=worst_first):
        found.setdefault(one.node_id, []).append(one)
    return found


def _line(facts: NodeFacts, own: list[Situation]) -> dict[str, object]:
    tone, why = reason(facts, own)
    return {
        "judged_by": judging.rules(),
        "rank": TONES.index(tone),
        "margin": own[0].margin if own else NO_POOL,
        "tone": tone,
        "why": why,
        "disks": len(facts.disks) if known(facts.disks) else None,
        "hostname": facts.hostname if known(facts.hostname) else "",
        "restless": bool(own) or _is_under_way(facts),
    }


def reason(facts: NodeFacts, own: list[Situation]) -> tuple[str, str]:
    """The one reason a node that reports stands where it stands in the list: the worst of its situations, else what is not known."""
    about = judging.concerns(own)
    judged = judge_node(facts, about)
    loud = [one for one, concern in zip(own, about, strict=True) if not concern.is_reviewed]
    if loud and judged.tone == SEVERITY_TONES[loud[0].severity]:
        more = f", and {len(loud) - 1} more" if len(loud) > 1 else ""
        return judged.tone, f"{loud[0].title}{more}"
    return judged.tone, judged.words


def _is_under_way(facts: NodeFacts) -> bool:
    scans = [scan for pool in (facts.pools if known(facts.pools) else ()) for scan in (pool.scans if known(pool.scans) else ())]
    return any(scan.state == "running" for scan in scans) or bool(known(facts.leaf_changes) and facts.leaf_changes)


def _keep_line(node: Node, line: dict[str, object], changed: bool, at: datetime) -> None:
    row = getattr(node, "standing", None)
    if row is None:
        Standing.objects.create(node=node, settled_at=at, changed_at=at, **line)
    elif changed or any(getattr(row, name) != line[name] for name in SHOWN):
        _write(row, settled_at=at, changed_at=at, **line)


def _keep_pools(facts: Mapping[Node, NodeFacts], situations: Mapping[int, list[Situation]]) -> set[int]:
    """Write down the pools; returns the nodes where that changed anything. A node whose pools cannot be read keeps the words it said last."""
    have: dict[int, list[PoolNow]] = {}
    for row in _pools_now([node.pk for node in facts]):
        have.setdefault(row.node_id, []).append(row)
    by_node = {node: _pools(one, situations.get(node.pk, [])) for node, one in facts.items() if known(one.pools)}
    by_node |= {node: [_old(row) for row in have.get(node.pk, [])] for node in facts if node not in by_node}
    return {node.pk for node, pools in by_node.items() if _keep_pools_of(node, have.get(node.pk, []), pools)}


def _old(row: PoolNow) -> tuple[str, ...]:
    """What was said last of a pool that cannot be read now: it is never called good for that."""
    left, left_tone = rows.as_last_read(row.left, row.left_tone)
    old = {"tone": judging.worse(row.tone, "unknown"), "left": left, "left_tone": left_tone}
    return tuple(old.get(name, getattr(row, name)) for name in POOL_SHOWN)


@ModelsWrittenOnce
def _pools_now(nodes: RawSQL) -> QuerySet[PoolNow]:
    return PoolNow.objects.filter(among("fleet_poolnow.node_id", nodes)).order_by("place")


def _keep_pools_of(node: Node, have: list[PoolNow], pools: list[tuple[str, ...]]) -> bool:
    """Whether there was anything to write."""
    differ = [(row, one) for row, one in zip(have, pools, strict=False) if tuple(getattr(row, name) for name in POOL_SHOWN) != one]
    for row, one in differ:
        _write(row, **dict(zip(POOL_SHOWN, one, strict=True)))
    gone, more = have[len(pools) :], pools[len(have) :]
    for row in gone:
        row.delete()
    for place, one in enumerate(more, len(have)):
        PoolNow.objects.create(node=node, place=place, **dict(zip(POOL_SHOWN, one, strict=True)))
    return bool(differ or gone or more)


def _write(row: Standing | PoolNow, **values: object) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    save(row, *values)


def _above_the_leaves(pool: PoolFacts) -> Iterator[str]:
    """The guids of raidz, mirror and what else stands between the pool and its leaves, as far as they are known."""
    vdevs = (vdev for _, top in (pool.tops if known(pool.tops) else ()) for vdev in top.walk())
    return (str(vdev.guid) for vdev in vdevs if vdev.children and known(vdev.guid))


def _pools(facts: NodeFacts, own: list[Situation]) -> list[tuple[str, ...]]:
    return [
        (
            row.pool.name,
            str(row.pool.guid) if known(row.pool.guid) else "",
            row.pool.state,
            row.tone,
            row.left,
            row.left_tone,
            row.percent or "",
            " ".join(_above_the_leaves(row.pool)),
        )
        for row in rows.pool_rows(facts, judging.concerns(own))
    ]
