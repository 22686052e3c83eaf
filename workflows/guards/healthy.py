"""Is the chosen disk well: by its own verdict, its self-tests, the errors it could not mend, and the rate of its link?"""

from collections.abc import Mapping

from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import ConditionFacts, DiskFacts, FleetFacts, HealthFacts, NodeFacts, known, need
from workflows.facts.lookup import once
from workflows.facts.read.disk_health import pending
from workflows.guards.subject import name_of, the_disk

OLD_SMARTCTL = (
    "smartctl reads that log of an NVMe disk since 7.4 (`smartctl --version`; Debian 12 has 7.3, and 7.4 in bookworm-backports): "
    "install a newer one and have the node look again, or take another disk."
)


@guard
def the_disk_is_healthy(facts: FleetFacts, params: Params) -> Verdict:
    disk = need(the_disk(facts, params))
    health = need(disk.health, f"The health of {name_of(disk)} is not known")
    if not health.passed:
        return refuse(f"{name_of(disk)} says of itself: {health.text}. Choose another disk.")
    condition = need(disk.condition, f"What {name_of(disk)} logged is not known")
    return _by_its_logs(disk, health, condition)


def _by_its_logs(disk: DiskFacts, health: HealthFacts, condition: ConditionFacts) -> Verdict:
    """Many healthy disks keep no list of pending defects, and some NVMe disks have no self-test, so their absence does not refuse.

    The log of self-tests must be readable where there is one. What an NVMe disk must keep, its health log, has been asked before:
    its verdict is that of the critical warnings, and what it could not correct is counted there.
    """
    name = name_of(disk)
    if not known(condition.pending_defects):
        return unknown(f"Whether {name} has defects that it has not replaced yet is not known: {condition.pending_defects.reason}")
    if places := pending(condition):
        return refuse(f"{name} has {places} places it could not read and has not replaced yet. Choose another disk.")
    if condition.uncorrected:
        return refuse(f"{name} counts {condition.uncorrected} errors it could not correct. Choose another disk.")
    ill = next((one for one in condition.findings if one.severity == "act" and one.kind == "failing"), None)
    if ill is not None:
        return refuse(f"{name} is not taken: {ill.words}. Choose another disk.")
    if condition.has_no_self_test:
        return ok(f"{name} says of itself: {health.text}; it has no self-test, which is optional for NVMe disks.")
    if not known(condition.self_tests):
        way = OLD_SMARTCTL if disk.is_nvme else "Run `smartctl -t short` on it and look again."
        return unknown(f"Whether {name} passes its self-test is not known: {condition.self_tests.reason} {way}")
    test = condition.last_test
    tested = f"its last self-test says: {test.status}" if test is not None else "no self-test was ever run on it"
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
    best = _fastest(node).get(disk.model, rate)
    if rate < best:
        return refuse(
            f"The link of {name_of(disk)} came up at {rate:g} Gbit/s, those of its model at {best:g}. Check its bay, or choose another disk."
        )
    return ok(f"The link of {name_of(disk)} runs at {rate:g} Gbit/s, as others of its model.")


def _rate(node: NodeFacts, disk: DiskFacts) -> float | None:
    """The slowest of its links that are up, by the disk itself and by the phys on our side."""
    rates = [link.gbit for link in disk.condition.links] if known(disk.condition) else []
    rates += [_slowest(node).get(disk.wwid)] if known(disk.wwid) else []
    return min((rate for rate in rates if rate is not None), default=None)


@once
def _slowest(node: NodeFacts) -> Mapping[str, float]:
    """By WWID: the rate of the slowest phy on our side."""
    rates: dict[str, float] = {}
    for phy in node.fabric.phys if known(node.fabric) else ():
        if phy.wwid is not None and phy.gbit is not None:
            rates[phy.wwid] = min(phy.gbit, rates.get(phy.wwid, phy.gbit))
    return rates


@once
def _fastest(node: NodeFacts) -> Mapping[str, float]:
    """By model: the rate of the disk whose link is the fastest."""
    rates: dict[str, float] = {}
    for disk in node.disks if known(node.disks) else ():
        if (rate := _rate(node, disk)) is not None:
            rates[disk.model] = max(rate, rates.get(disk.model, rate))
    return rates
