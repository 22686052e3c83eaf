"""Members that were lost together are brought back on a twin: cause, quiet, order, scrub; and every step that would make it worse."""

from dataclasses import replace

import pytest

from agents.operations import OPERATIONS, zpool_bring_back, zpool_clear, zpool_scrub
from twin.model import Scan
from twin.stories import backplane_lost, reconnected, shelf_lost
from workflows.engine.core import blockers
from workflows.facts import Unknown
from workflows.guards import mass
from workflows.runbooks import RUNBOOKS
from workflows.runbooks.many_disks_offline import causes_there_are
from workflows.situations import detect_all
from workflows.tests.stage import Run, Stage, reasons

RUNBOOK = RUNBOOKS["many-disks-offline"]
SHELF, BACKPLANE = shelf_lost, backplane_lost


def staged(folder, build):
    return Stage(folder, {"oss01": build(0.0)})


@pytest.fixture
def shelf(tmp_path):
    return staged(tmp_path, SHELF)


@pytest.fixture
def backplane(tmp_path):
    return staged(tmp_path, BACKPLANE)


def answer(stage):
    (found,) = [s for s in detect_all(stage.facts()) if s.slug == RUNBOOK.slug]
    return dict(found.answers[0].params)


def run(stage, **answers):
    walk = Run(stage, RUNBOOK, answer(stage), **{"mend": "SAS cable to port 0, HBA end", **answers})
    walk.meanwhile["mend"] = lambda: stage.change("oss01", reconnected)
    return walk


def states(stage):
    return {leaf.state for leaf in stage.node().pool("ost_0").leaves()}


def test_a_suspended_pool_is_resumed_and_scrubbed(shelf):
    walk = run(shelf).end()
    assert (walk.state.status, states(shelf), shelf.node().pool("ost_0").suspended) == ("done", {"ONLINE"}, "")
    assert shelf.written() == [["zpool", "clear", "ost_0"], ["zpool", "scrub", "ost_0"]]
    assert [f.step for f in walk.state.finished if f.passed_over] == ["plan-online", "online"]


def test_a_pool_that_still_serves_gets_its_members_back_in_order(backplane):
    walk = run(backplane).end()
    leaves = backplane.node().pool("ost_0").leaves()
    assert (walk.state.status, states(backplane)) == ("done", {"ONLINE"})
    assert backplane.written() == [["zpool", "online", "ost_0", *(str(leaf.guid) for leaf in leaves[:3])], ["zpool", "scrub", "ost_0"]]


def test_it_names_what_they_share(shelf):
    options = causes_there_are(shelf.facts(), answer(shelf))
    assert [o.value for o in options] == ["HBA 0000:00:05.0", "expander expander-2:0", "enclosure 0x500605b0000272bf"]
    assert "the cable to the first shelf" in options[0].detail


def test_the_weakest_vdev_comes_back_first(backplane):
    facts = backplane.facts()
    backplane.change("oss01", reconnected)
    node = backplane.facts().nodes["oss01"]
    pool = facts.nodes["oss01"].pools[0]
    ((role, top),) = pool.tops
    strong = replace(top, name="raidz3-0", children=top.children[:1] + top.children[3:])
    weak = replace(top, name="raidz1-1", guid=77, parity=1, children=(top.children[1], top.children[2], *top.children[3:]))
    assert mass.bring_back_order(node, replace(pool, tops=((role, strong), (role, weak)))) == tuple(
        c.guid for c in (*top.children[1:3], top.children[0])
    )


def test_nothing_is_done_before_the_disks_are_back(shelf):
    walk = run(shelf)
    walk.meanwhile.clear()
    walk.to("back")
    for _ in range(3):
        walk.go_on()
    assert walk.state.step == "back"
    assert "6 members of ost_0 have no running disk with their label yet" in walk.state.verdicts[0].reason
    assert shelf.written() == []


def test_what_flaps_is_not_quiet(shelf):
    walk = run(shelf).to("back")
    walk.go_on()
    shelf.change("oss01", lambda node: node.phys.update({"phy-2:1": [7, 0, 0, 0]}))
    walk.go_on()
    assert walk.state.step == "back"
    assert "are quiet for 0 s" in walk.state.verdicts[0].reason


def test_what_flapped_since_it_was_quiet_stops_the_order(shelf):
    walk = run(shelf).to("clear")
    shelf.change("oss01", lambda node: node.phys.update({"phy-2:1": [7, 0, 0, 0]}))
    assert "Since they were quiet a phy counted an error, or a disk came or went." in reasons(walk.go_on())
    assert shelf.written() == []


def test_what_was_mended_must_be_said(shelf):
    walk = run(shelf, mend="done").to("mend")
    assert "Name what was changed and where" in reasons(walk.go_on())


def test_no_disk_is_replaced_meanwhile(backplane):
    others = [s for s in detect_all(backplane.facts()) if s.slug == "disk-missing"]
    assert len(others) == 3
    assert all(s.answers == () and s.cause for s in others)


def test_one_lost_disk_is_another_runbooks_matter(backplane):
    params = answer(backplane)
    backplane.change("oss01", lambda node: [setattr(leaf, "state", "ONLINE") for leaf in node.pool("ost_0").leaves()[1:3]])
    verdict = mass.many_were_lost_together(backplane.facts(), params)
    assert (verdict.outcome, "another runbook's matter" in verdict.reason) == ("refuse", True)


def test_a_multihost_suspension_is_not_cleared_here(shelf):
    walk = run(shelf).to("plan-clear")
    shelf.change("oss01", lambda node: setattr(node.pool("ost_0"), "suspended", "mmp"))
    assert "Go on with suspended-pool" in reasons(walk.go_on())


def test_a_clear_that_hits_missing_disks_fails_in_zfs_own_words(shelf):
    walk = run(shelf).to("clear")
    shelf.change("oss01", lambda node: [setattr(d.paths[0], "state", "offline") for d in node.disks])
    facts = shelf.facts
    walk.stage.facts = lambda bend=None: facts(bend)
    assert "have no running disk with their label" in reasons(walk.go_on())


def test_an_unknown_release_is_not_cleared(shelf):
    walk = run(shelf).to("plan-clear")
    shelf.change("oss01", lambda node: setattr(node, "zfs_module", "3.0.0-1"))
    assert "the kernel module is 3.0.0. Reboot into the new module" in reasons(walk.go_on())


def test_a_scrub_with_errors_raises_an_alarm_and_does_not_end_well(shelf):
    walk = run(shelf).to("scrubbed")
    shelf.change("oss01", lambda node: setattr(node.pool("ost_0").scan, "errors", 4))
    for _ in range(4):
        walk.go_on()
    assert walk.state.step == "scrubbed"
    assert "found 4 errors. Read `zpool status -v`" in walk.state.alarm


def test_a_scrub_that_was_canceled_proves_nothing(shelf):
    walk = run(shelf).to("scrubbed")
    shelf.change("oss01", lambda node: setattr(node.pool("ost_0").scan, "state", "canceled"))
    walk.go_on()
    assert "Nothing is proven" in walk.state.alarm


def test_damaged_data_is_not_passed_over(shelf):
    walk = run(shelf).to("verify")
    shelf.change("oss01", lambda node: setattr(node.pool("ost_0"), "data_errors", 3))
    walk.go_on()
    assert any("Restore what" in v.reason for v in blockers(walk.state.verdicts))


def test_what_cannot_be_rebuilt_is_not_scrubbed(shelf):
    facts = shelf.facts()
    assert "lost more disks than it can rebuild" in mass.no_vdev_is_beyond_rebuilding(facts, answer(shelf)).reason


@pytest.mark.parametrize("field", ["pools", "disks", "ages", "zfs_module"])
@pytest.mark.parametrize("slug", ["clear", "scrub"])
def test_not_knowing_never_opens_an_order(shelf, field, slug):
    walk = run(shelf).to(slug)
    guards = RUNBOOK.step(slug).guards
    assert blockers(tuple(guard(shelf.facts(), walk.state.params) for guard in guards)) == ()
    less = shelf.facts(lambda node: replace(node, **{field: Unknown("not read")}))
    against = blockers(tuple(guard(less, walk.state.params) for guard in guards))
    assert against or (field, slug) in {("zfs_module", "scrub"), ("disks", "scrub")}


PARAMS = {"zpool_clear": {"why": "I/O errors"}, "zpool_bring_back": {}, "zpool_scrub": {}}


def planned(stage, operation):
    params = {k: v for k, v in answer(stage).items() if k != "node"} | PARAMS[operation.NAME]
    if operation is zpool_bring_back:
        params["vdev_guids"] = " ".join(str(leaf.guid) for leaf in stage.node().pool("ost_0").leaves()[:3])
    return params


@pytest.mark.parametrize(("operation", "build"), [(zpool_clear, SHELF), (zpool_bring_back, BACKPLANE), (zpool_scrub, BACKPLANE)])
@pytest.mark.parametrize("how", ["unknown", "missing"])
def test_no_operation_acts_without_a_fact(tmp_path, operation, build, how):
    stage = staged(tmp_path, build)
    params = planned(stage, operation)
    stage.change("oss01", reconnected)
    pre = operation.preconditions(stage.hosts["oss01"], params)
    assert set(pre) == set(operation.FACTS)
    assert all(outcome == "pass" for outcome, _ in operation.guards(pre, params)), operation.guards(pre, params)
    for name in operation.FACTS:
        less = {k: v for k, v in pre.items() if k != name} if how == "missing" else {**pre, name: "unknown: no answer"}
        assert any(outcome == "unknown" and name in reason for outcome, reason in operation.guards(less, params))


# release -> what clear does to a multihost suspension
CLEARS = {"0.7.13": "refuse", "0.8.6": "refuse", "2.1.15": "refuse", "2.2.3": "refuse", "2.2.4": "pass", "2.3.2": "pass", "2.4.4": "pass"}


@pytest.mark.parametrize("release", CLEARS)
def test_each_release_clears_a_multihost_suspension_in_its_own_way(release):
    params = {"pool": "p", "pool_guid": "1", "why": "multihost"}
    pre = dict.fromkeys(zpool_clear.FACTS, "none") | {"pool.guid": "1", "pool.suspended": "multihost"}
    pre |= {"zfs.userland": f"zfs-{release}-1", "zfs.module": f"zfs-{release}-1"}
    verdicts = zpool_clear.guards(pre, params)
    assert (CLEARS[release] == "pass") == all(outcome == "pass" for outcome, _ in verdicts), verdicts


def test_a_second_scrub_is_never_begun_by_the_same_order(backplane):
    backplane.change("oss01", lambda node: setattr(node.pool("ost_0"), "scan", None))
    params = planned(backplane, zpool_scrub)
    host = backplane.hosts["oss01"]
    pre = zpool_scrub.preconditions(host, params)
    assert host.run(zpool_scrub.argv(params), 5.0).exit_code == 0
    assert zpool_scrub.preconditions(host, params) != pre
    assert any("scanned already" in reason for _, reason in zpool_scrub.guards(zpool_scrub.preconditions(host, params), params))


def test_the_twin_begins_no_second_scrub_and_none_of_a_suspended_pool(backplane):
    """As a node of 2.3.2 did: it refuses the one, and hangs over the other."""
    host = backplane.hosts["oss01"]
    backplane.change(
        "oss01", lambda node: setattr(node.pool("ost_0"), "scan", Scan("scrub", "running", backplane.clock(), 900.0, 1 << 30, 0))
    )
    output = host.run(("zpool", "scrub", "ost_0"), 5.0)
    assert output.stderr.decode() == "cannot scrub ost_0: currently scrubbing; use 'zpool scrub -s' to cancel scrub\n"
    backplane.change("oss01", lambda node: setattr(node.pool("ost_0"), "suspended", "io"))
    output = host.run(("zpool", "scrub", "ost_0"), 5.0)
    assert (output.exit_code, output.why) == (None, "timeout")
    assert OPERATIONS["zpool_scrub"] is zpool_scrub
