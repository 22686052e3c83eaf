"""What is true when a run has ended: by the node's last words, beside what its first plan found. An old plan says what was to be."""

from typing import Any

from app.runs import services
from app.runs.models import Plan, Run
from workflows.analysis import redundancy
from workflows.engine.state import ENDED, RunState
from workflows.facts import PoolFacts, VdevFacts, known
from workflows.guards.subject import the_pool


def truth(run: Run, state: RunState) -> dict[str, Any] | None:
    """None while it is under way, and where it was about no pool."""
    if state.status not in ENDED or not state.params.get("pool_guid"):
        return None
    facts, first = services.facts_for(run), Plan.objects.filter(run=run).order_by("round").first()
    node, pool = facts.nodes.get(run.node), the_pool(facts, state.params)
    before = first.body if first else {}
    result = state.params.get("result", "").splitlines()
    shown: dict[str, Any] = {
        "result": result,
        "age": round(node.age_seconds) if node else None,
        "before": before.get("topology_before") or [],
    }
    if not known(pool):
        return shown | {"not_known": pool.reason}
    return shown | {"pool": f"{pool.name} is {pool.state}", "is_well": pool.state == "ONLINE", "vdevs": _vdevs(pool, _concerned(before))}


def _concerned(plan: dict[str, Any]) -> str:
    """The vdev that the run was about, as its first plan names it; "" is every one."""
    outgoing = plan.get("outgoing")
    return str(outgoing.get("top", "")) if isinstance(outgoing, dict) else ""


def _vdevs(pool: PoolFacts, name: str) -> list[dict[str, Any]]:
    tops = [top for _, top in pool.tops] if known(pool.tops) else []
    return [_vdev(pool, top) for top in ([top for top in tops if top.name == name] or tops)]


def _vdev(pool: PoolFacts, top: VdevFacts) -> dict[str, Any]:
    margin = redundancy.top_margin(pool, top)
    words = redundancy.survival(margin) if known(margin) else f"its redundancy is not known: {margin.reason}"
    return {"words": f"{top.name} is {top.state}: {words}", "leaves": [f"{leaf.name} {leaf.state}" for leaf in top.leaves()]}
