"""What is lost by carrying a plan out, in words for whoever gives the order and whoever approves it, and what both must accept by name.

The facts are bound into the plan when it is made, so that what was accepted is what was shown.
"""

from collections.abc import Mapping
from typing import Any

from workflows.analysis import redundancy
from workflows.engine.core import Params
from workflows.facts import FleetFacts, Known, NodeFacts, PoolFacts, VdevFacts, known, lookup

NOT_KNOWN = "unknown"
FOR_GOOD = "zpool_rewind"  # of the rewinds, the one that writes
Plan = Mapping[str, Any]


def redundancy_of(pool: PoolFacts, top: VdevFacts, leaf: VdevFacts, node: NodeFacts, now: int, during: int, more: str = "") -> Plan:
    """What a plan says of the vdev it touches: how many losses it survives now and while the work is under way, and what was lost before."""
    return {
        "margin_now": str(now),
        "margin_during": str(during),
        "why": f"{redundancy.explain(top, pool.scans)} {more}".strip(),
        "vdev": top.name,
        "pool": pool.name,
        "first": "; ".join(_called(other, node) for other in redundancy.not_counting(top, pool.scans) if other != leaf),
    }


def not_known(reason: str, params: Params) -> Plan:
    fields = {"margin_now": NOT_KNOWN, "margin_during": NOT_KNOWN, "why": reason, "vdev": "", "first": ""}
    return fields | {"pool": params.get("pool", "")}


def taken_out(facts: FleetFacts, params: Params, found: Known[tuple[PoolFacts, VdevFacts, VdevFacts]]) -> Plan:
    """Of a plan that takes the leaf of (pool, top, leaf) out of service."""
    if not known(found):
        return not_known(found.reason, params)
    pool, top, leaf = found
    margin = redundancy.top_margin(pool, top)
    if not known(margin):
        return not_known(margin.reason, params)
    return redundancy_of(pool, top, leaf, facts.nodes[params["node"]], margin, margin - redundancy.leaf_counts(leaf))


def _called(leaf: VdevFacts, node: NodeFacts) -> str:
    """A member with its bay, where that is known."""
    wwid = lookup.wwid_of(leaf)
    disk = next((one for one in node.disks if known(one.wwid) and one.wwid == wwid), None) if wwid and known(node.disks) else None
    bay = f"bay {disk.bay.slot}, " if disk is not None and known(disk.bay) and disk.bay is not None else ""
    return f"{leaf.name} ({bay}{leaf.state})"


def lost(plan: Plan) -> tuple[str, ...]:
    """The worst first; empty when the plan takes nothing away."""
    return tuple(filter(None, (to_accept(plan) or _nothing_left(plan), _first(plan), _rewound(plan), str(plan.get("given_up", "")))))


def to_accept(plan: Plan) -> str:
    """What the giver of the order and each approver must accept by name, word by word; "" when nothing of that weight is lost."""
    if named := plan.get("accept"):
        return str(named)  # words of the runbook's own
    margins = _margins(plan)
    if not margins:
        return ""
    vdev, pool = margins.get("vdev") or "the vdev", margins.get("pool") or "the pool"
    if margins["margin_during"] == NOT_KNOWN:
        return f"It is not known how many more losses {vdev} survives meanwhile: the loss of 1 more disk may lose {pool}."
    now, during = int(margins["margin_now"]), int(margins["margin_during"])
    if during > 0 or now <= during:
        return ""
    return f"This step takes the last redundancy of {vdev}: until it is whole again, the loss of 1 more disk in {vdev} loses {pool}."


def not_accepted(plan: Plan, accepted: str) -> str:
    """Why this cannot be given or approved as it was asked; "" when it can."""
    wanted = to_accept(plan)
    if not wanted or accepted == wanted:
        return ""
    return f"Whoever gives this order and whoever approves it must each accept by name what is lost: “{wanted}”"


def on_record(plan: Plan) -> dict[str, str]:
    """For the ledger: what whoever gave or approved this plan accepted, where there was anything."""
    accepts = to_accept(plan)
    return {"accepts": accepts} if accepts else {}


def _nothing_left(plan: Plan) -> str:
    margins = _margins(plan)
    if not margins or margins["margin_during"] == NOT_KNOWN or int(margins["margin_during"]) > 0:
        return ""
    vdev, pool = margins.get("vdev") or "The vdev", margins.get("pool") or "the pool"
    return f"{vdev} has no redundancy left until this is finished: the loss of 1 more disk in it loses {pool}."


def _first(plan: Plan) -> str:
    """Another lost member of the same vdev comes before one that still serves."""
    margins = _margins(plan)
    if not margins or not margins.get("first") or not to_accept(plan):
        return ""
    return f"Repair the other one first: {margins['first']} does not hold its share of {margins['vdev']}."


def _rewound(plan: Plan) -> str:
    """A rewind that only reads leaves what is newer on the disks: nothing is lost by it."""
    rewind = plan.get("rewind") if plan.get("operation") == FOR_GOOD else None
    left_out = rewind.get("left_out") if isinstance(rewind, Mapping) else ""
    return f"What was written last is lost for good: {left_out}" if left_out else ""


def _margins(plan: Plan) -> Mapping[str, str]:
    margins = plan.get("redundancy")
    return margins if isinstance(margins, Mapping) and {"margin_now", "margin_during"} <= set(margins) else {}
