"""What device-delete-reimport refuses: a guess, one kind of evidence, another suspect, a disk that cannot be spared or is not free."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.operations import disk_delete, disk_rescan
from twin import scenarios
from twin.model import Label
from workflows.analysis import verdict_evidence
from workflows.engine.core import ask, blockers
from workflows.facts import suspects
from workflows.facts.read.pool_loads import FailedLoad
from workflows.guards import suspect
from workflows.guards.answers import the_disk_meant_in_its_place
from workflows.runbooks.device_delete_reimport.choices import delete_params, rescan_params, serial_end_and_pool
from workflows.tests.stories_of_imports import DELETES
from workflows.tests.walks import Stages, Stuck, stages_of

SUSPECT = "naa:5000c500a65b203b"
OTHER = scenarios.diverged_disk().disks[0].serial  # of a member that stays


@pytest.fixture(scope="module")
def stages() -> Stages:
    return stages_of(DELETES)


def label(node, number):
    return node.disks[number].partitions[0].label


def no_disk_stands_out(node):
    label(node, 3).txg, label(node, 3).writer = 4000, ""


def another_suspect(node):
    one, other = label(node, 1), label(node, 3)
    one.txg, one.writer, other.txg, other.writer = other.txg, other.writer, one.txg, one.writer


def two_absent(node):
    for disk in list(node.disks[:2]):
        scenarios.take_away(node, disk.wwid)


def held(node):
    node.disk(SUSPECT).holders.append("dm-3")


def two_pools(node):
    other = scenarios.add_foreign_pool(node, scenarios.lab_disk(20, 20), "scratch9", "oss77", 0x5B2F9C77)
    node.disk(SUSPECT).partitions[1].label = Label(other.name, other.leaves()[0].guid, 5)


def no_bay(node):
    place = node.bay_of(SUSPECT)[1]
    place.wwid = None


def imported(node):
    node.pool("ost_0").blocked_by = []
    node.pool("ost_0").imported = True


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (no_disk_stands_out, "No disk stands out from the others, so taking one away would only be a guess."),
        (another_suspect, "The disk that contradicts the others is sdb (naa:5000c500a65b201b), not naa:5000c500a65b203b."),
        (two_absent, "lacks 2 disks already and can do without 2. Taking another away does not help."),
        (held, "is in use: held by dm-3. It stays."),
        (no_bay, "is not known for certain, and of a disk that the kernel no longer shows nothing else would say whether it is out."),
        (imported, "ost_0 is imported on oss01 now."),
    ],
)
@pytest.mark.parametrize("step", ["check", "plan-delete", "delete"])
def test_it_refuses(change, expected, step, stages):
    walk = stages.at(step)
    with walk.changing() as node:
        change(node)
    why = walk.why_not()
    assert any(expected in each for each in why), why
    assert walk.commands() == []


def test_one_kind_of_evidence_is_not_enough(stages):
    walk = stages.at("plan-try")
    with walk.changing() as node:
        node.faults.absent.append("systemd-run")
    walk.to("check")
    with walk.changing() as node:
        label(node, 3).writer = ""
    assert any("One kind of evidence is not enough." in why for why in walk.why_not())


def test_where_the_pool_does_not_open_without_it_either_it_is_not_taken_away(stages):
    walk = stages.at("plan-try")
    with walk.changing() as node:
        node.pool("ost_0").blocked_by.append(node.disks[0].wwid)
    walk.to("weigh")
    assert walk.state.params["tried"] == "does not open without it either"
    delete, hand_over = walk.step.options(walk.facts(), walk.state.params)
    assert any("It is not this disk, or not this disk alone" in v.reason for v in blockers(delete.verdicts))
    assert blockers(hand_over.verdicts) == ()
    assert walk.to_the_end().state.status == "done"
    assert walk.commands() == []


def test_where_the_kernel_does_not_bring_it_in_after_all_somebody_takes_over_and_the_disk_comes_back(stages):
    walk = stages.at("plan-import")
    with walk.changing() as node:
        node.pool("ost_0").blocked_by.append(node.disks[0].wwid)
    walk.to("hand-over")
    walk.abort().to_the_end()
    assert walk.state.loops == ()
    assert walk.node.disk(SUSPECT)


def test_a_trial_that_opens_it_is_the_second_kind_of_evidence(stages):
    """Of its uberblocks nothing is known; its label and the trial speak alike."""
    walk = stages.at("check")
    facts = walk.facts()
    less = replace(facts, nodes={"oss01": replace(facts.nodes["oss01"], timelines=())})
    params = {**walk.state.params, "wwid": walk.state.params["old_wwid"]}
    with_it, without = (suspect.two_kinds_of_evidence_name_it(less, {**params, "tried": tried}) for tried in (params["tried"], ""))
    assert (with_it.outcome, without.outcome) == ("pass", "refuse")
    assert "a trial without it" in with_it.reason.lower()


def test_zfs_itself_names_the_disk_where_it_followed_what_no_other_holds(stages):
    """What its log says of a txg that all disks hold accuses nobody: somebody has to be the first."""
    walk = stages.at("check")
    node, guid = walk.facts().nodes["oss01"], int(walk.state.params["pool_guid"])
    path = "/dev/disk/by-id/wwn-0x5000c500a65b203b-part1"
    for txg, kinds in ((4400, 1), (4000, 0)):
        text = replace(node, failed_loads=(FailedLoad(path, txg, "couldn't get 'config' value in MOS directory [error=5]"),))
        assert sum("log" in one.kinds for one in suspects(text, guid)) == kinds


def test_a_member_that_answers_nothing_in_time_has_that_said_against_it(stages):
    walk = stages.at("check")
    with walk.changing() as node:
        node.kernel_lines = [f"sd {node.disk(SUSPECT).paths[0].hctl}: attempting task abort! scmd(00000000a2a34a0b)"]
    node = walk.facts().nodes["oss01"]
    (one,) = suspects(node, int(walk.state.params["pool_guid"]))
    assert "slow" in one.kinds


def test_a_trial_that_nobody_could_make_proves_nothing_and_stops_nothing(stages):
    walk = stages.at("plan-try")
    with walk.changing() as node:
        node.faults.absent.append("systemd-run")
    walk.to("delete")
    assert walk.state.params.get("tried", "") == ""


@pytest.mark.parametrize("step", ["check", "delete"])
def test_the_page_answers_as_the_order_will_be_answered(step, stages):
    """Seen on a real node: the page, which notes what is read, counted the one suspect twice and said that nobody may be taken away."""
    walk = stages.at(step)
    facts, params = walk.facts(), walk.state.params
    lines = tuple(one.verdict for one in verdict_evidence.answered(walk.step.guards, facts, params))
    assert lines == ask(walk.step.guards, facts, params)
    assert blockers(lines) == ()


def test_only_the_suspect_can_be_chosen_and_every_member_says_why(stages):
    walk = stages.at("suspect")
    options = walk.step.options(walk.facts(), walk.state.params)
    assert len(options) == 6
    assert [o.value for o in options if not blockers(o.verdicts)] == [SUSPECT]
    assert options[0].value == SUSPECT
    assert "is sdd (naa:5000c500a65b203b), not naa:" in blockers(options[1].verdicts)[0].reason


def test_the_plan_says_in_time_what_would_have_been(stages):
    walk = stages.at("approve-delete")
    assert "Without it the pool ends with txg 4000. It would have gone on to txg 4400, 33 min later" in walk.state.plan["compared"]


def test_both_paths_of_a_disk_are_deleted(stages):
    walk = stages.at("delete")
    with walk.changing() as node:
        path = node.disk(SUSPECT).paths[0]
        node.disk(SUSPECT).paths.append(replace(path, name="sdzz", hctl="3:0:7:0", sg=99))
    params = dict(delete_params(walk.facts(), walk.state.params))
    assert disk_delete.preconditions(walk.host, params)["disk.names"] == "sdd, sdzz"
    assert disk_delete.perform(walk.host, params).exit_code == 0
    assert disk_delete.probe(walk.host, params, {"disk.paths": "2"}).result == "did"


def test_the_node_refuses_a_disk_that_is_in_use_by_now(stages):
    walk = stages.at("delete")
    facts = walk.facts()
    with walk.changing() as node:
        held(node)
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match="disk.holders changed"):
        walk.go()
    assert walk.commands() == []


def test_it_is_not_found_again_under_a_pool_that_does_without_it(stages):
    walk = stages.at("use")
    params = dict(rescan_params(walk.facts(), walk.state.params))
    (verdict,) = disk_rescan.guards(disk_rescan.preconditions(walk.host, params), params)
    assert verdict[0] == "refuse"
    assert "so the disk is still in it. It must not come back under the pool: pull it, or export the pool first." in verdict[1]


def test_the_pool_comes_in_without_exactly_this_disk(stages):
    pool = stages.at("use").facts().nodes["oss01"].pools[0]
    lost = [leaf for _, top in pool.tops for leaf in top.leaves() if leaf.state != "ONLINE"]
    assert [leaf.was for leaf in lost] == ["/dev/disk/by-id/wwn-0x5000c500a65b203b-part1"]
    assert pool.properties["readonly"] == "on"


def test_called_off_while_it_is_imported_the_pool_is_let_go_of_before_the_disk_comes_back(stages):
    walk = stages.at("use")
    walk.abort()
    walk.to_the_end()
    walked = [f.step for f in walk.state.finished if not f.passed_over]
    assert walked.index("undo-import") < walked.index("undo-delete")
    assert walk.node.imported == []
    assert any(disk.wwid == SUSPECT for disk in walk.node.disks)


# --- after the comparison


def plan_text(walk) -> str:
    return " | ".join(walk.why_not())


def test_what_is_given_up_is_shown_in_time_and_typed(stages):
    walk = stages.at("confirm-write")
    assert walk.step.phrase(walk.state.params, walk.state.plan) == "ost_0 loses 33 min 20 s"
    assert "The pool goes on from txg 4000." in walk.state.plan["given_up"]
    options = {o.value: o for o in stages.at("next").step.options(stages.at("next").facts(), walk.state.params)}
    assert "33 min 20 s no other disk knows of" in options["write"].detail


def test_it_is_imported_for_writing_by_its_guid_and_nothing_is_forced(stages):
    argv = next(argv for argv in stages.end.commands() if argv[:2] == ["zpool", "import"] and "readonly=on" not in argv)
    assert argv == ["zpool", "import", "-N", "-o", "cachefile=none", "-d", "/dev/disk/by-id", stages.end.state.params["pool_guid"]]


def came_back(node):
    disk = node.deleted.pop()
    node.disks.append(disk)


def used_elsewhere(node):
    node.pool("ost_0").hostid, node.pool("ost_0").hostname = 0x5B2F9C77, "oss77"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (came_back, "The kernel still shows sdd"),
        (used_elsewhere, "oss77 used ost_0 last and never exported it. Do this on that host; it is not forced here."),
        (imported, "ost_0 is imported on oss01 now."),
    ],
)
@pytest.mark.parametrize("step", ["next", "plan-write", "write"])
def test_it_does_not_write_then(change, words, step, stages):
    walk = stages.at(step)
    before = walk.commands()
    with walk.changing() as node:
        change(node)
    assert words in plan_text(walk)
    assert walk.commands() == before


def test_the_node_does_not_write_to_what_somebody_wrote_to_since_the_plan(stages):
    walk = stages.at("write")
    facts = walk.facts()
    with walk.changing() as node:
        for disk in node.disks[:6]:
            if disk.partitions and disk.partitions[0].label:
                disk.partitions[0].label.txg += 1
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match="uberblocks.newest changed"):
        walk.go()


def test_another_disk_than_the_deleted_one_in_the_hand_is_noticed(stages):
    walk = stages.at("pull")
    walk.story = replace(walk.story, hands={"pull": lambda walk: "ZA20003X"})
    assert "so something is in it. Pull it." in plan_text(walk)
    DELETES.hands["pull"](walk)
    walk.story = replace(walk.story, hands={"pull": lambda walk: "ZA20009X"})
    assert "ZA20009X is not the disk that was to go" in plan_text(walk)


@pytest.mark.parametrize(
    ("scanned", "words"),
    [(OTHER, "which stays. Pull nothing"), ("ZA20009X", "is not the disk that is to come out"), ("4", "Pull nothing")],
)
def test_no_pull_is_asked_for_before_the_disk_meant_in_its_place_was_scanned_in_its_bay(stages, scanned, words):
    """The kernel does not see it, so the node can light no bay for it."""
    walk = stages.at("find")
    walk.story = replace(walk.story, hands={"find": lambda walk: scanned})
    assert words in plan_text(walk)
    assert walk.state.step == "find"


def test_its_wwn_is_as_good_where_its_serial_number_was_never_known_or_is_not_its_own(stages):
    walk = stages.at("find")
    facts, params = walk.facts(), dict(walk.state.params)
    twin_of_it = {**params, "old_serial": OTHER}
    assert "alike" in the_disk_meant_in_its_place(facts, twin_of_it, OTHER)[0].reason
    for about in (twin_of_it, {name: value for name, value in params.items() if name != "old_serial"}):
        assert (
            the_disk_meant_in_its_place(facts, about, f"WWN: {params['old_wwid'].removeprefix('naa.').removeprefix('naa:')}")[0].outcome
            == "pass"
        )


def test_while_it_sits_in_its_bay_the_kernel_does_not_look_for_it_under_the_pool(stages):
    walk = stages.at("rescan")
    facts = walk.facts()
    with walk.changing() as node:
        place = next(bay for bay in node.enclosures[0].bays if str(bay.number) == walk.state.params["slot"])
        place.wwid, place.status = SUSPECT, "OK"
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match="bay.status changed"):
        walk.go()


def test_it_ends_whole_with_a_new_disk_in_its_place(stages):
    end = stages.end
    pool = end.facts().nodes["oss01"].pools[0]
    assert (end.state.status, pool.state, pool.properties["readonly"]) == ("done", "ONLINE", "off")
    assert all(disk.wwid != SUSPECT for disk in end.node.disks)
    assert [argv[1] for argv in end.commands() if argv[0] == "zpool"] == ["import", "export", "import", "replace"]
    assert all("-f" not in argv and "-F" not in argv for argv in end.commands())


def test_called_off_after_it_was_imported_for_writing_the_disk_is_pulled_and_not_brought_back(stages):
    walk = stages.at("pull")
    walk.abort()
    walk.to_the_end()
    walked = [f.step for f in walk.state.finished if not f.passed_over]
    assert walked[-3:] == ["plan-undo-delete", "undo-delete", "verify-undo-delete"]
    assert "pull-after-all" in walked
    assert walk.state.loops == ()
    assert [pool.name for pool in walk.node.imported] == ["ost_0"]
    assert all(disk.wwid != SUSPECT for disk in walk.node.disks)


def test_a_disk_that_reported_no_serial_number_is_confirmed_by_its_wwn():
    params = {"pool": "tank", "old_wwid": "naa:5000c500a65b207b"}
    assert serial_end_and_pool(params, {}) == "5b207b tank"
    assert serial_end_and_pool({**params, "old_serial": "ZA1X2345"}, {}) == "1X2345 tank"
