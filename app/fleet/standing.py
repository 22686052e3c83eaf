"""How each node stands in the list of the fleet, written down when its situations are settled: the list itself reads rows only.

That a node is silent is the one thing that follows from the clock, so `SILENT` is asked when the list is read.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from app.fleet import rows
from app.fleet.models import Node, PoolNow, Situation, Standing
from app.fleet.severity import SEVERITY_TONES
from workflows.facts import FleetFacts, NodeFacts, Unknown, known

TONES = ("bad", "watch", "idle", "info", "good")  # the worst first
SHOWN = ("rank", "tone", "why", "disks", "hostname", "restless")
POOL_SHOWN = ("name", "guid", "state", "tone", "left", "left_tone", "percent")


def silent(now: datetime | None = None) -> Q:
    """Nodes that have reported, and not lately."""
    return Q(last_report_at__lt=(now or timezone.now()) - timedelta(seconds=rows.STALE_SECONDS))


def keep(fleet: FleetFacts, at: datetime, moved: Iterable[int]) -> None:
    """Write down how the nodes of `fleet` stand now that their situations are settled. Of the nodes `moved`, some situation changed."""
    nodes = {node.name: node for node in Node.objects.filter(name__in=fleet.nodes)}
    situations = _open_by_node(nodes.values())
    facts = {nodes[name]: one for name, one in fleet.nodes.items() if name in nodes}
    changed = {*_keep_pools(facts), *moved}
    _keep_lines({node: _line(one, situations.get(node.pk, [])) for node, one in facts.items()}, changed, at)


def _open_by_node(nodes: Iterable[Node]) -> dict[int, list[Situation]]:
    found: dict[int, list[Situation]] = {}
    rows_ = Situation.objects.filter(closed_at=None, node__in=list(nodes)).only("node_id", "severity", "title", "rank", "opened_at")
    for one in rows_.order_by("rank", "opened_at"):
        found.setdefault(one.node_id, []).append(one)
    return found


def _line(facts: NodeFacts, own: list[Situation]) -> dict[str, object]:
    tone, why = reason(facts, own)
    return {
        "rank": TONES.index(tone),
        "tone": tone,
        "why": why,
        "disks": len(facts.disks) if known(facts.disks) else None,
        "hostname": facts.hostname if known(facts.hostname) else "",
        "restless": bool(own) or _is_under_way(facts),
    }


def reason(facts: NodeFacts, own: list[Situation]) -> tuple[str, str]:
    """The one reason a node that is heard stands where it stands in the list."""
    if own:
        more = f" and {len(own) - 1} more" if len(own) > 1 else ""
        return SEVERITY_TONES[own[0].severity], f"{own[0].title}{more}"
    if isinstance(facts.pools, Unknown):
        return "watch", f"pools not known: {facts.pools.reason}"
    unread = [pool.tops for pool in facts.pools if isinstance(pool.tops, Unknown)]
    if unread:
        return "watch", f"vdevs not known: {unread[0].reason}"
    return "good", "nothing wrong is known"


def _is_under_way(facts: NodeFacts) -> bool:
    scans = [scan for pool in (facts.pools if known(facts.pools) else ()) for scan in (pool.scans if known(pool.scans) else ())]
    return any(scan.state == "running" for scan in scans) or bool(known(facts.leaf_changes) and facts.leaf_changes)


def _keep_lines(lines: Mapping[Node, dict[str, object]], changed: set[int], at: datetime) -> None:
    have = Standing.objects.in_bulk([node.pk for node in lines])
    fresh, touched = [], []
    for node, line in lines.items():
        row = have.get(node.pk)
        if row is None:
            fresh.append(Standing(node=node, settled_at=at, changed_at=at, **line))
        elif node.pk in changed or any(getattr(row, name) != line[name] for name in SHOWN):
            for name in SHOWN:
                setattr(row, name, line[name])
            row.settled_at = row.changed_at = at
            touched.append(row)
    Standing.objects.bulk_create(fresh)
    if touched:
        Standing.objects.bulk_update(touched, [*SHOWN, "settled_at", "changed_at"])


def _keep_pools(facts: Mapping[Node, NodeFacts]) -> set[int]:
    """Write down the pools; returns the nodes where that changed anything. A node whose pools cannot be read keeps what it said last."""
    told = {node: _pools(one) for node, one in facts.items() if known(one.pools)}
    have: dict[int, list[PoolNow]] = {}
    for row in PoolNow.objects.filter(node__in=list(told)).order_by("place"):
        have.setdefault(row.node_id, []).append(row)
    differ = {node: said for node, said in told.items() if [_said(row) for row in have.get(node.pk, [])] != said}
    if differ:
        PoolNow.objects.filter(node__in=list(differ)).delete()
        fresh = [
            PoolNow(node=node, place=place, **dict(zip(POOL_SHOWN, one, strict=True)))
            for node, said in differ.items()
            for place, one in enumerate(said)
        ]
        PoolNow.objects.bulk_create(fresh)
    return {node.pk for node in differ}


def _said(row: PoolNow) -> tuple[str, ...]:
    return tuple(getattr(row, name) for name in POOL_SHOWN)


def _pools(facts: NodeFacts) -> list[tuple[str, ...]]:
    return [
        (
            row.pool.name,
            str(row.pool.guid) if known(row.pool.guid) else "",
            row.pool.state,
            row.tone,
            row.left,
            row.left_tone,
            row.percent or "",
        )
        for row in rows.pool_rows(facts)
    ]
