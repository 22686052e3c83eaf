"""Questions about a slow member: is there enough to judge by, may its disk be tested, and what do the numbers say?"""

from workflows.analysis import slowness
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, Known, Unknown, derived, known, lookup, need
from workflows.guards.candidate import asked_past_a_map
from workflows.guards.fresh import stale
from workflows.guards.modes import SERVING, the_disk_meant, the_leaf
from workflows.guards.subject import name_of
from workflows.situations import slow_disk

SOURCES = ("zpool_status", "zpool_iostat", "zpool_status_slow", "zpool_events", "kernel_log", "block", "zdb_label")
SAS_SOURCES = ("sas_phys", "sas_topology", "sg_logs")
RUNNING = 15  # result of a self-test that has not ended


@guard
def what_triage_reads_is_fresh(facts: FleetFacts, params: Params) -> Verdict:
    node = need(lookup.node(facts, params.get("node", "")))
    sas = SAS_SOURCES if known(node.fabric) else ()
    if why := stale(node, (*SOURCES, *sas)):
        return unknown(why)
    return ok(f"{node.node} reported {node.age_seconds:.0f} s ago, and no source is older than it may be.")


@derived
def the_subject(facts: FleetFacts, params: Params) -> Known[slowness.Subject]:
    found, disk = need(the_leaf(facts, params)), need(the_disk_meant(facts, params))
    pool, _, leaf = found
    latency = need(pool.latency, f"How long I/O waits on {pool.name} is not known")
    one = next((x for x in latency.leaves if x.leaf.guid == leaf.guid), None)
    if one is None:
        return Unknown(f"How long I/O waits on {leaf.guid} is not known.")
    return slowness.Subject(facts.nodes[params["node"]], pool, latency, one, disk)


@guard
def the_member_serves_and_has_peers(facts: FleetFacts, params: Params) -> Verdict:
    subject = need(the_subject(facts, params))
    if subject.leaf.state not in SERVING:
        return refuse(f"{subject.leaf.guid} is {subject.leaf.state} and serves nothing, so there is nothing to compare.")
    peers = len(subject.latency.peers(subject.one))
    if peers < 2:
        return refuse(f"{subject.leaf.guid} has {peers} peers in service. Two at least are needed to call a disk slow.")
    return ok(f"{subject.leaf.guid} on {name_of(subject.disk)} is compared with {peers} peers.")


@guard
def the_pool_answers(facts: FleetFacts, params: Params) -> Verdict:
    found = need(the_leaf(facts, params))
    if need(found[0].suspended):
        return refuse(f"{found[0].name} is suspended. Look into that first; nothing can be measured meanwhile.")
    return ok(f"{found[0].name} is not suspended.")


@guard
def there_are_enough_samples(facts: FleetFacts, params: Params) -> Verdict:
    subject, taken = need(the_subject(facts, params)), slowness.read_samples(params.get("samples", ""))
    if len(taken) < slowness.SAMPLES_MIN:
        now = slowness.sample(subject, 0)
        why = "" if known(now) else f" {now.reason}"
        return refuse(f"{len(taken)} of {slowness.SAMPLES_MIN} looks were taken.{why}")
    return ok(f"{len(taken)} looks were taken: {'; '.join(s.words for s in taken[-slowness.SAMPLES_MIN :])}.")


@guard
def the_disk_may_be_tested(facts: FleetFacts, params: Params) -> Verdict:
    """A self-test slows a serving disk: one per vdev at a time, and only where the vdev can lose that disk."""
    subject = need(the_subject(facts, params))
    if not known(subject.disk.condition) or not known(subject.disk.condition.self_tests):
        return unknown(f"Whether {name_of(subject.disk)} keeps a log of self-tests is not known, so its result could not be read.")
    if subject.disk.doubt:
        return refuse(f"A command could reach another disk than {name_of(subject.disk)}: {subject.disk.doubt}.")
    if against := asked_past_a_map(subject.disk, "smartctl -t short"):
        return against
    members = {leaf.wwid for leaf in subject.one.top.leaves() if known(leaf.wwid)}
    for disk in subject.node.disks if known(subject.node.disks) else ():
        tests = disk.condition.self_tests if known(disk.condition) else ()
        if disk.wwid in members and known(tests) and tests and tests[0].result == RUNNING:
            return refuse(f"A self-test runs on {name_of(disk)} of the same vdev already. One at a time: wait until it ends.")
    return ok(f"No self-test runs in {subject.one.top.name}.")


@guard
def the_self_test_has_ended(facts: FleetFacts, params: Params) -> Verdict:
    """The newest entry of its log has the disk's present power-on hours and a result."""
    subject = need(the_subject(facts, params))
    condition = subject.disk.condition
    if not known(condition) or not known(condition.self_tests) or not known(condition.power_on_hours):
        return unknown(f"The self-test log of {name_of(subject.disk)} cannot be read now.")
    newest = condition.self_tests[0] if condition.self_tests else None
    if newest is None or newest.hours is None or newest.hours < condition.power_on_hours - 1:
        return refuse(f"{name_of(subject.disk)} shows no self-test of this hour yet.")
    if newest.result == RUNNING:
        return refuse(f"The self-test of {name_of(subject.disk)} runs.")
    return ok(f"The self-test of {name_of(subject.disk)} ended: {newest.status}.")


@guard
def it_alone_is_slow_in_its_vdev(facts: FleetFacts, params: Params) -> Verdict:
    """Where two members of one vdev are slow, latency alone does not decide which to take out."""
    subject = need(the_subject(facts, params))
    members = {leaf.guid for leaf in subject.one.top.leaves()}
    found = slow_disk.slow_leaves(subject.node, subject.pool, subject.latency)
    others = [slow.one.leaf for slow in found if slow.one.leaf.guid in members and slow.one.leaf.guid != subject.leaf.guid]
    if others:
        names = ", ".join(leaf.name.rsplit("/", 1)[-1] for leaf in others)
        return refuse(
            f"{names} of the same vdev is slow, too. With more than one, a person decides: keep the logs of both, ask the vendor, and take none "
            "out by this run."
        )
    return ok(f"No other disk of {subject.one.top.name} stands out.")


TRIAGE_GUARDS = (what_triage_reads_is_fresh, the_pool_answers, the_member_serves_and_has_peers)
