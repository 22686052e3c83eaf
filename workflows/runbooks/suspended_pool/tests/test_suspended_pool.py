"""A pool that multihost suspended, on twins of both hosts: resumed where that is safe, rebooted elsewhere, never written by two."""

from dataclasses import replace

import pytest

from agents.operations import zpool_clear
from twin.scenarios import take_away
from twin.stories import SICK, multihost, partner, rebooted
from workflows.engine import events as ev
from workflows.engine.core import blockers
from workflows.engine.decide import Decision
from workflows.facts import FleetFacts, Unknown
from workflows.facts.tests.played import fleet
from workflows.guards import suspended, tuning
from workflows.guards.releases import released
from workflows.runbooks import RUNBOOKS
from workflows.runbooks.suspended_pool import disks_that_may_have_begun_it, intervals_there_are, kinds_there_are, ways_there_are
from workflows.situations import pool_suspended
from workflows.tests.stage import Run, Stage, reasons

RUNBOOK = RUNBOOKS["suspended-pool"]
SDE = "naa:5000c500a65b204b"
FAIL = "/sys/module/zfs/parameters/zfs_multihost_fail_intervals"
FORWARD = [s.slug for s in RUNBOOK.steps[: RUNBOOK.place(RUNBOOK.undo)]]
OLD, NEW = "2.1.15-1", "2.3.2-1"


def staged(folder, release=NEW):
    node = multihost(0.0, release)
    return Stage(folder, {"oss01": node, "oss02": partner(node)})


@pytest.fixture
def stage(tmp_path):
    return staged(tmp_path)


def answer(stage):
    (found,) = [s for s in pool_suspended.detect(stage.facts()) if s.node == "oss01"]
    return dict(found.answers[0].params)


def pull(stage):
    def out(node):
        if any(d.wwid == SDE for d in node.disks):
            take_away(node, SDE)
            leaf = node.pool("ost_0").leaves()[SICK]
            leaf.state, leaf.aux = "UNAVAIL", "open_failed"

    for name in ("oss01", "oss02"):
        stage.change(name, out)


def run(stage, **answers):
    walk = Run(
        stage,
        RUNBOOK,
        answer(stage),
        **{
            "find": "ZA20004X",
            "pull": "ZA20004X",
            "attest": "oss02",
            "others": "none",
            "tune": "keep",
            "alike": "none",
            "alike-again": "none",
            **answers,
        },
    )
    walk.meanwhile["pull"] = lambda: pull(stage)
    walk.meanwhile["reboot"] = lambda: stage.change("oss01", rebooted)
    walk.meanwhile["import"] = lambda: stage.change("oss01", lambda node: setattr(node.pool("ost_0"), "imported", True))
    return walk


def intervals(stage, name="oss01"):
    return stage.node(name).parameters.get("zfs_multihost_fail_intervals", "10")


def test_where_the_kernel_looks_first_it_is_resumed(stage):
    walk = run(stage, way="clear").end()
    assert walk.state.status == "done"
    assert stage.node().pool("ost_0").suspended == ""
    assert stage.written() == [["zpool", "clear", "ost_0"]]
    assert walk.state.params["sick"] == SDE


def test_where_it_does_not_the_node_is_rebooted(tmp_path):
    stage = staged(tmp_path, OLD)
    walk = run(stage, way="reboot").end()
    assert walk.state.status == "done"
    assert stage.written() == []
    assert "rebooted" in [f.step for f in walk.state.finished]


def test_it_names_the_disk_with_bay_and_reasons(stage):
    (first, none) = disks_that_may_have_begun_it(stage.facts(), answer(stage))
    assert (first.value, "bay 5 of enclosure 0x500605b0000272bf" in first.title) == (SDE, True)
    assert "lines of the kernel's log; the HBA aborted its commands." in first.detail
    assert blockers(none.verdicts)


def raising(stage, **answers):
    def alike(value):
        return lambda: stage.change("oss02", lambda node: node.parameters.update(zfs_multihost_fail_intervals=value))

    walk = run(stage, way="clear", tune="20", hold="1", **answers)
    walk.meanwhile |= {"alike": alike("20"), "alike-again": alike("10")}
    return walk


def test_raised_intervals_are_an_open_loop_and_come_back_by_themselves(stage):
    walk = raising(stage).to("held")
    assert (intervals(stage), intervals(stage, "oss02")) == ("20", "20")
    assert walk.state.loops[0].what == "zfs_multihost_fail_intervals on oss01 is 20; before it was 10."
    walk.end()
    assert (walk.state.status, walk.state.loops, intervals(stage)) == ("done", (), "10")
    assert [argv for argv in stage.written() if argv[0] == "write"] == [["write", FAIL, "20"], ["write", FAIL, "10"]]


def test_both_hosts_must_be_set_alike(stage):
    walk = raising(stage)
    walk.meanwhile.pop("alike")
    walk.to("alike")
    assert "zfs_multihost_fail_intervals is 20 on oss01 and 10 on oss02. Set it alike on both" in reasons(walk.go_on())


def test_zero_is_never_set(stage):
    options = {o.value: o for o in intervals_there_are(stage.facts(), answer(stage))}
    assert "fenced by power" in options["0"].verdicts[0].reason
    assert set(options) == {"keep", "20", "40", "60", "0"}


# release -> whether `zpool clear` may be tried, and why not
CLEARS = {
    "0.7.13": "resumes without looking whether another host has the pool by now",
    "0.8.6": "refuses after any suspension, by I/O errors too",
    "2.1.15": "refuses after any suspension, by I/O errors too",
    "2.2.3": "refuses after any suspension, by I/O errors too",
    "2.2.4": "",
    "2.3.2": "",
    "2.4.4": "",
}


@pytest.mark.parametrize("release", CLEARS)
def test_each_release_means_something_else_by_clear(stage, release):
    facts = stage.facts()
    node = replace(facts.nodes["oss01"], zfs_module=f"{release}-1", zfs_userland=f"{release}-1")
    verdict = released(zpool_clear)(FleetFacts({"oss01": node}), answer(stage))
    assert (verdict.outcome == "pass") == (CLEARS[release] == "")
    assert CLEARS[release] in verdict.reason


def test_clear_is_not_offered_while_the_sick_disk_is_there(stage):
    walk = run(stage, way="clear")
    walk.meanwhile.pop("pull")
    walk.to("way")
    assert "is still there. Pull it" in reasons(walk.go_on())


def test_io_errors_go_to_the_cables(stage):
    stage.change("oss01", lambda node: setattr(node.pool("ost_0"), "suspended", "io"))
    (found,) = [s for s in pool_suspended.detect(stage.facts()) if s.node == "oss01"]
    assert found.answers[0].runbook == "many-disks-offline"
    walk = Run(stage, RUNBOOK, dict(found.answers[0].params), kind="io").end()
    assert (walk.state.status, walk.state.step) == ("done", "kind")
    assert "many-disks-offline" in {o.value: o for o in kinds_there_are(stage.facts(), walk.state.params)}["io"].detail


def imported_there(node):
    node.pool("ost_0").imported = True


ATTESTED = {
    "nobody was named": ("none", lambda stage: None, "oss02 sees the same disks and was not named"),
    "itself": ("oss01 oss02", lambda stage: None, "is the node itself"),
    "the partner has it": ("oss02", lambda stage: stage.change("oss02", imported_there), "oss02 has ost_0 imported. Do nothing here"),
}


@pytest.mark.parametrize("which", ATTESTED)
def test_the_partners_are_answered_for(stage, which):
    typed, how, reason = ATTESTED[which]
    walk = run(stage, attest=typed).to("attest")
    how(stage)
    assert reason in reasons(walk.go_on())


def test_a_host_without_an_agent_is_answered_for_by_a_person(stage):
    walk = run(stage, attest="oss02 oss77").to("proof")
    assert "By their word only: oss77." in walk.records[-1][1]["verdicts"][-1][2]


def test_a_partner_that_took_it_over_stops_everything(stage):
    walk = run(stage).to("proof")
    stage.change("oss02", imported_there)
    assert "oss02 has ost_0 imported. Do nothing here: fence this node" in reasons(walk.go_on())


def test_a_partner_that_is_silent_stops_everything(stage):
    walk = run(stage).to("proof")
    facts = stage.facts()
    silent = FleetFacts({**facts.nodes, "oss02": replace(facts.nodes["oss02"], age_seconds=900.0)})
    assert "oss02 sees disks of ost_0. oss02 last reported 900 s ago" in reasons(walk.send(ev.CheckAsked, by="ann", facts=silent))


def test_a_pool_that_cannot_do_without_the_disk_needs_help(stage):
    walk = run(stage).to("proof")
    stage.change("oss01", lambda node: [setattr(leaf, "state", "UNAVAIL") for leaf in node.pool("ost_0").leaves()[:2]])
    assert "cannot do without the sick disk" in reasons(walk.go_on())


def test_it_is_not_cleared_when_it_is_not_suspended_any_more(stage):
    walk = run(stage, way="clear").to("plan-clear")
    stage.change("oss01", lambda node: setattr(node.pool("ost_0"), "suspended", ""))
    assert "ost_0 is not suspended" in reasons(walk.go_on())


def test_a_clear_that_the_kernel_refuses_goes_on_with_the_reboot_and_is_not_tried_twice(stage):
    walk = run(stage, way="clear").to("clear")
    stage.change("oss01", lambda node: setattr(node.pool("ost_0"), "active_on", "oss07 5b2f9c07"))
    walk.go_on()
    assert (walk.state.step, walk.state.status) == ("others", "open")
    stage.change("oss01", lambda node: setattr(node.pool("ost_0"), "active_on", ""))
    walk.end()
    assert walk.state.status == "done"
    assert stage.written().count(["zpool", "clear", "ost_0"]) == 1


def test_without_the_old_boot_id_no_boot_is_a_new_one(stage):
    assert suspended.the_node_has_rebooted(stage.facts(), {"node": "oss01", "pool": "ost_0"}).outcome == "unknown"


def test_nothing_is_cleared_while_members_are_lost_together(stage):
    walk = run(stage, way="clear").to("plan-clear")
    stage.change("oss01", lambda node: [setattr(leaf, "state", "UNAVAIL") for leaf in node.pool("ost_0").leaves()])
    assert "Mend that first" in reasons(walk.go_on())


def test_what_else_lives_on_the_node_must_be_named(tmp_path):
    stage = staged(tmp_path, OLD)
    walk = run(stage, way="reboot", others="none").to("others")

    def second(node):
        import copy

        other = copy.deepcopy(node.pool("ost_0"))
        other.name, other.guid, other.suspended = "ost_9", 99, ""
        node.pools.append(other)

    stage.change("oss01", second)
    assert "What else lives on oss01 is: ost_9. Inform their owners" in reasons(walk.go_on())
    walk.answers["others"] = "ost_9"
    assert isinstance(walk.go_on(), Decision)


def test_an_import_elsewhere_is_not_taken_for_ours(tmp_path):
    stage = staged(tmp_path, OLD)
    walk = run(stage, way="reboot")
    walk.meanwhile["import"] = lambda: stage.change("oss02", imported_there)
    walk.to("import")
    assert "oss02 has ost_0 imported" in reasons(walk.go_on())


def test_a_second_suspension_is_an_alarm(stage):
    walk = run(stage, way="clear").to("steady")
    stage.change("oss01", lambda node: setattr(node.pool("ost_0"), "suspended", "mmp"))
    walk.go_on()
    assert "is suspended again. Stop here" in walk.state.alarm
    assert walk.state.step == "steady"


@pytest.mark.parametrize("field", ["pools", "ages", "disks", "zfs_module"])
def test_not_knowing_never_opens_the_clear(stage, field):
    walk = run(stage, way="clear").to("clear")
    guards = RUNBOOK.step("clear").guards
    assert blockers(tuple(guard(stage.facts(), walk.state.params) for guard in guards)) == ()
    less = stage.facts(lambda node: replace(node, **{field: Unknown("not read")}))
    assert blockers(tuple(guard(less, walk.state.params) for guard in guards))
    assert tuning.the_tunable_is_back(less, walk.state.params).outcome != "pass"


def test_the_lab_was_suspended_like_this():
    """Genuine words of 2.1: what the twin shows is what a node showed."""
    facts = fleet("mmp-suspended/2-suspended")
    (found,) = pool_suspended.detect(facts)
    assert found.answers[0].runbook == "suspended-pool"
    params = dict(found.answers[0].params)
    assert suspended.multihost_suspended_it(facts, params).outcome == "pass"
    assert "refuses after any suspension" in released(zpool_clear)(facts, params).reason
    (clear, _) = ways_there_are(facts, {**params, "sick": "none"})
    assert "Reboot the node" in blockers(clear.verdicts)[0].reason


def test_the_twin_refuses_a_clear_in_the_words_of_the_lab(tmp_path):
    stage = staged(tmp_path, "2.1.11-1")
    output = stage.hosts["oss01"].run(("zpool", "clear", "ost_0"), 5.0)
    assert (output.exit_code, output.stderr.decode()) == (1, "cannot clear errors for ost_0: invalid argument for this pool operation\n")


def test_the_sick_disk_is_scanned_in_its_bay_before_a_pull_is_asked_for(stage):
    """Another member that is pulled from a suspended pool cannot be told from one that was lost."""
    walk = run(stage, way="clear", find=stage.node().disks[0].serial)
    walk.to("find")
    assert "which stays. Pull nothing" in reasons(walk.go_on())
    assert walk.state.step == "find"
    assert [walk.state.params[name] for name in ("old_wwid", "old_serial", "slot")] == [SDE, "ZA20004X", "5"]


def test_where_no_disk_was_named_the_cable_is_mended_and_nothing_is_pulled(stage):
    walk = run(stage, mend="The cable of the shelf was loose.")
    walk.to("proof")
    params = {**walk.state.params, "sick": suspended.NO_DISK}
    asked = {step.slug: step.needed(walk.facts(), params).outcome for step in RUNBOOK.steps if step.slug in ("find", "pull", "mend")}
    assert asked == {"find": "refuse", "pull": "refuse", "mend": "pass"}
