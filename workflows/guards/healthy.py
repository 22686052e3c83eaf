"""Is the chosen disk well: by its own verdict, its self-tests, the errors it could not mend, and the rate of its link?"""

from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import ConditionFacts, DiskFacts, FleetFacts, HealthFacts, NodeFacts, known, need
from workflows.guards.subject import name_of, the_disk


@guard
def the_disk_is_healthy(facts: FleetFacts, params: Params) -> Verdict:
    disk = need(the_disk(facts, params))
    health = need(disk.health, f"The health of {name_of(disk)} is not known")
    if not health.passed:
        return refuse(f"{name_of(disk)} says of itself: {health.text}. Choose another disk.")
    condition = need(disk.condition, f"What {name_of(disk)} logged is not known")
    return _by_its_logs(disk, health, condition)


def _by_its_logs(disk: DiskFacts, health: HealthFacts, condition: ConditionFacts) -> Verdict:
    """Many healthy disks keep no list of pending defects, so its absence does not refuse. The log of self-tests must be readable."""
    name = name_of(disk)
    if not known(condition.pending_defects):
        return unknown(f"Whether {name} has defects that it has not replaced yet is not known: {condition.pending_defects.reason}")
    pending = condition.pending_defects or dict(condition.attributes).get("pending", 0)
    if pending:
        return refuse(f"{name} has {pending} places it could not read and has not replaced yet. Choose another disk.")
    if condition.uncorrected:
        return refuse(f"{name} counts {condition.uncorrected} errors it could not correct. Choose another disk.")
    if not known(condition.self_tests):
        return unknown(
            f"Whether {name} passes its self-test is not known: {condition.self_tests.reason} Run `smartctl -t short` on it and look again."
        )
    test = condition.last_test
    if test is not None and test.failed:
        return refuse(f"The last self-test of {name} failed: {test.said}. Choose another disk.")
    tested = f"its last self-test says: {test.said}" if test is not None else "no self-test was ever run on it"
    return ok(f"{name} says of itself: {health.text}; {tested}.")


@guard
def the_disk_link_is_as_fast_as_others(facts: FleetFacts, params: Params) -> Verdict:
    """A link that is slower than those of like disks has a bad lane, and the load of a resilver may break it."""
    disk = need(the_disk(facts, params))
    if not any(path.sas_address for path in disk.paths):
        return ok(f"{name_of(disk)} is no SAS disk, so it has no SAS link.")
    node = facts.nodes[params["node"]]
    rate = _rate(node, disk)
    if rate is None:
        return unknown(f"How fast the link of {name_of(disk)} is, is not known. Check that the node collects sas_phys, and look again.")
    others = [_rate(node, other) for other in (node.disks if known(node.disks) else ()) if other.model == disk.model]
    best = max((each for each in others if each is not None), default=rate)
    if rate < best:
        return refuse(
            f"The link of {name_of(disk)} came up at {rate:g} Gbit/s, those of its model at {best:g}. Check its bay, or choose another disk."
        )
    return ok(f"The link of {name_of(disk)} runs at {rate:g} Gbit/s, as others of its model.")


def _rate(node: NodeFacts, disk: DiskFacts) -> float | None:
    """The slowest of its links that are up, by the disk itself and by the phys on our side."""
    rates = [link.gbit for link in disk.condition.links] if known(disk.condition) else []
    rates += [phy.gbit for phy in node.fabric.phys if known(disk.wwid) and phy.wwid == disk.wwid] if known(node.fabric) else []
    return min((rate for rate in rates if rate is not None), default=None)
