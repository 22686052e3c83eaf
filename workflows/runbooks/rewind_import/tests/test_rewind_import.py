"""What rewind-import refuses: a pool that comes in otherwise, a point that is not whole, a landing elsewhere, and going too far for good."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.operations import zpool_import_txg, zpool_rewind
from twin import scenarios
from workflows.analysis.rewind_points import date, duration
from workflows.engine.core import blockers
from workflows.facts import FleetFacts, Unknown
from workflows.guards.rewinding import it_has_passed_what_it_left_behind, this_zfs_can_go_back
from workflows.tests.partners import aged, partner
from workflows.tests.stories import STORIES
from workflows.tests.walks import Stages, Walk, stages_of

EVACUATED, GONE_BACK, TOO_FAR = (f"rewind-import, {name}" for name in ("copied out", "gone back for good", "too far back for good"))


@pytest.fixture(scope="module")
def stages():
    def of(title: str) -> Stages:
        return stages_of(STORIES[title])

    return of


def plan_text(walk: Walk) -> str:
    return " | ".join(walk.why_not())


def options(walk: Walk):
    return {o.value: o for o in walk.step.options(walk.facts(), walk.state.params)}


# --- the timeline


def test_each_point_says_what_it_costs_when_it_was_and_who_holds_it(stages):
    points = options(stages(EVACUATED).at("point"))
    assert points["3991"].title == "txg 3991 = lose 45 s"
    assert points["3991"].detail == "Written 2026-11-21 09:05:55 UTC. 6 of 6 disks hold it: sda, sdb, sdc, sdd, sde, sdf."
    assert list(points)[:2] == ["4000", "3999"]
    assert "with that the import fails. Choose an older one." in blockers(points["4000"].verdicts)[0].reason
    assert blockers(points["3991"].verdicts) == ()


def test_a_point_that_too_few_disks_hold_is_refused(stages):
    """Three of six were away while the others wrote on."""
    walk = stages(EVACUATED).at("point")
    with walk.changing() as node:
        for disk in node.disks[:3]:
            disk.partitions[0].label.txg = 3995
    against = blockers(options(walk)["3998"].verdicts)
    assert [v.reason for v in against] == ["Only 3 disks of raidz2-0 hold txg 3998, and 4 are needed. Choose one that more of them hold."]
    assert blockers(options(walk)["3991"].verdicts) == ()


def test_a_point_that_two_systems_wrote_is_refused(stages):
    walk = stages(EVACUATED).at("point")
    facts = walk.facts()
    (line,) = facts.nodes["oss01"].timelines
    first = line.disks[0]
    other = tuple(replace(u, timestamp=u.timestamp + 7) if u.txg == 3991 else u for u in first.uberblocks)
    aged(walk, "oss01", timelines=(replace(line, disks=(replace(first, uberblocks=other), *line.disks[1:])),))
    assert "7 s apart: two systems wrote it. Image the disks" in blockers(options(walk)["3991"].verdicts)[0].reason


def test_what_multihost_wrote_into_its_own_slot_is_no_point_in_time(stages):
    walk = stages(EVACUATED).at("point")
    (line,) = walk.facts().nodes["oss01"].timelines
    first = line.disks[0]
    stamped = replace(first.uberblocks[0], slot=31, multihost=True, timestamp=first.uberblocks[0].timestamp + 3)
    aged(walk, "oss01", timelines=(replace(line, disks=(replace(first, uberblocks=(stamped, *first.uberblocks)), *line.disks[1:])),))
    assert "lose 45 s" in options(walk)["3991"].title


def test_amounts_and_dates_are_for_people():
    assert [duration(s) for s in (0, 41, 2000, 12000)] == ["0 s", "41 s", "33 min 20 s", "3 h 20 min"]
    assert date(2**63) == "second 9223372036854775808, which is no time"


# --- whether it may be done at all


def comes_in(node):
    node.pool("ost_0").rewind_seconds = 0


def used_elsewhere(node):
    node.pool("ost_0").hostid, node.pool("ost_0").hostname = 0x5B2F9C77, "oss77"


def one_disk_ahead(node):
    node.disks[3].partitions[0].label.txg, node.disks[3].partitions[0].label.writer = 4400, "oss07 5b2f9c07"


def active(node):
    node.pool("ost_0").active_on = "oss09 abcdef"


def too_few(node):
    for disk in list(node.disks[:3]):
        scenarios.take_away(node, disk.wwid)


def imported(node):
    comes_in(node)
    node.pool("ost_0").imported = True


def untested(node):
    node.zfs_userland = node.zfs_module = "0.7.13-1"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (comes_in, "so nothing has to be given up. Begin read-only-import instead."),
        (used_elsewhere, "oss77 used ost_0 last and never exported it. Do this on that host; it is not forced here."),
        (one_disk_ahead, "sdd contradicts the other disks. A rewind would follow it; take it away first instead."),
        (active, "is imported on oss09 (hostid=abcdef) right now. Export it there; never force it here."),
        (too_few, "lacks 3 disks"),
        (imported, "ost_0 is imported on oss01 now."),
        (untested, "so what a change rests on cannot be read there exactly. Do it by hand."),
    ],
)
@pytest.mark.parametrize("step", ["check", "plan-import-at", "import-at"])
def test_it_refuses(change, words, step, stages):
    walk = stages(EVACUATED).at(step)
    with walk.changing() as node:
        change(node)
    assert words in plan_text(walk)
    assert walk.commands() == []


def test_a_pool_that_another_node_has_or_may_have_is_refused(stages, tmp_path):
    walk = stages(EVACUATED).at("check")
    partner(walk, tmp_path, imported=True)
    assert "ost_0 is imported on oss02." in plan_text(walk)
    walk = stages(EVACUATED).at("check")
    (tmp_path / "silent").mkdir()
    partner(walk, tmp_path / "silent")
    aged(walk, "oss02", age_seconds=7200.0)
    assert "oss02 sees disks of it. It may have the pool" in plan_text(walk)


def test_a_disk_that_does_not_tell_its_uberblocks_is_waited_for(stages):
    walk = stages(EVACUATED).at("check")
    (line,) = walk.facts().nodes["oss01"].timelines
    mute = replace(line.disks[0], uberblocks=Unknown("zdb did not answer."))
    aged(walk, "oss01", timelines=(replace(line, disks=(mute, *line.disks[1:])),))
    assert "The uberblocks of sda are not known." in plan_text(walk)


def test_a_checkpoint_is_for_people(stages):
    walk = stages(EVACUATED).at("check")
    (line,) = walk.facts().nodes["oss01"].timelines
    marked = tuple(replace(u, checkpoint_txg=3900) for u in line.disks[0].uberblocks)
    aged(walk, "oss01", timelines=(replace(line, disks=(replace(line.disks[0], uberblocks=marked), *line.disks[1:])),))
    assert "ost_0 has a checkpoint of txg 3900" in plan_text(walk)


def test_before_0_8_a_newer_label_stands_in_the_way(stages):
    walk = stages(EVACUATED).at("point")
    node = walk.facts().nodes["oss01"]
    params = {**walk.state.params, "txg": "3991"}
    old = FleetFacts({"oss01": replace(node, zfs_module="0.7.13-1")})
    assert "OpenZFS 0.7.13 cannot go back before a label was written (txg 4000)." in this_zfs_can_go_back(old, params).reason
    assert this_zfs_can_go_back(FleetFacts({"oss01": node}), params).outcome == "pass"


# --- the import at that point


def test_it_is_imported_by_guid_without_writing_and_nothing_is_forced(stages):
    end = stages(EVACUATED).end
    guid = end.state.params["pool_guid"]
    options = ["-N", "-o", "readonly=on", "-o", "cachefile=none", "-R", "/mnt/ro-ost_0", "-d", "/dev/disk/by-id"]
    assert end.commands() == [["zpool", "import", "-T", "3991", *options, guid], ["zpool", "export", "ost_0"]]


def test_a_landing_further_back_than_was_chosen_is_told_with_what_it_costs(stages):
    """-T is an upper bound: 3997 cannot be loaded, and ZFS takes 3991 without a word."""
    walk = stages("rewind-import, it lands further back").at("landed")
    landed = options(walk)
    assert landed["accept"].title == "Look at it as it came in: txg 3991 = lose 45 s"
    assert landed["accept"].fixes == {"took": "3991", "took_loss": "45 s"}
    assert walk.to("compare").state.params["took"] == "3991"
    assert "landed" in [f.step for f in stages(EVACUATED).end.state.finished if f.passed_over]


def test_a_landing_where_no_point_was_is_not_gone_on_with(stages):
    walk = stages("rewind-import, it lands further back").at("landed")
    aged(walk, "oss01", loads={"ost_0": 12})
    assert "came in at txg 12, which was no point that all its disks hold. End this run." in plan_text(walk)


def test_a_pool_that_came_in_elsewhere_by_then_is_not_gone_on_with(stages):
    walk = stages(EVACUATED).at("compare")
    aged(walk, "oss01", loads={"ost_0": 3990})
    assert "ost_0 came in at txg 3990, and 3991 was chosen. What is newer could not be loaded." in plan_text(walk)


def test_where_the_log_does_not_say_the_landing_is_not_known(stages):
    walk = stages(EVACUATED).at("compare")
    aged(walk, "oss01", loads={})
    assert "ZFS's own log does not say any more from which txg ost_0 came in." in plan_text(walk)


def test_the_probe_says_from_which_txg_it_was_taken(stages):
    walk = stages(EVACUATED).at("compare")
    params = {name: walk.state.params[name] for name in zpool_import_txg.PARAMS}
    probe = zpool_import_txg.probe(walk.host, params, {})
    assert (probe.result, probe.reason) == ("did", "ost_0 is imported, read-only. ZFS took it from txg 3991; txg 3991 was asked for.")


def test_the_node_refuses_a_txg_that_no_disk_holds(stages):
    walk = stages(EVACUATED).at("import-at")
    params = {**{name: walk.state.params[name] for name in zpool_import_txg.PARAMS}, "txg": "9999999"}
    against = [r for o, r in zpool_import_txg.guards(zpool_import_txg.preconditions(walk.host, params), params) if o != "pass"]
    assert against == ["No disk holds the txg 9999999. ZFS would silently take another one; choose one that is there."]


# --- going back for good


def test_what_lies_too_far_back_is_a_persons_act(stages):
    against = blockers(options(stages(TOO_FAR).at("after"))["rewind"].verdicts)
    assert [v.reason for v in against] == [
        "Txg 3991 lies 9 behind the newest, and a rewind for good goes back 2. For writing only a person or the vendor goes that far, by "
        "hand and after images of every disk; nothing here does it."
    ]


@pytest.mark.parametrize("words", ["Done.", "The disks are imaged, it is all on nas3.", "All 5 disks are imaged on nas3 by the team."])
def test_nothing_goes_on_before_every_disk_is_imaged(words, stages):
    walk = stages(GONE_BACK).at("image")
    walk.story = replace(walk.story, hands={"image": lambda walk: words})
    assert "6 disks carry a label of the pool. Say that all 6 are imaged" in plan_text(walk)


def test_what_is_lost_is_typed_and_approved_by_somebody_else(stages):
    walk = stages(GONE_BACK).at("confirm-rewind")
    assert walk.step.phrase(walk.state.params, walk.state.plan) == "ost_0 loses 5 s"
    assert walk.state.plan["rewind"] == {"to": "txg 3999", "from": "txg 4000", "left_out": "5 s"}
    assert walk.runbook.step("rewind").needs_approval


def test_it_goes_back_by_guid_once_and_nothing_is_forced(stages):
    end = stages(GONE_BACK).end
    (argv,) = [argv for argv in end.commands() if argv[:2] == ["zpool", "import"] and "readonly=on" not in argv]
    assert argv[2:10] == ["-F", "-N", "-o", "cachefile=none", "-R", "/mnt/rw-ost_0", "-d", "/dev/disk/by-id"]
    assert argv[-1] == end.state.params["pool_guid"]


def test_until_it_has_passed_the_old_end_the_run_is_not_over(stages):
    walk = stages(GONE_BACK).at("passed")
    verdict = it_has_passed_what_it_left_behind(walk.facts(), walk.state.params)
    assert verdict.outcome == "refuse"
    assert verdict.reason.startswith("ost_0 must pass txg 4000 before it may be exported or the node rebooted. It has written txg 4000.")
    assert [open_.loop for open_ in walk.state.loops] == ["young"]
    assert walk.to_the_end().state.loops == ()


def test_a_pool_that_is_gone_before_it_has_passed_raises_the_alarm(stages):
    walk = stages(GONE_BACK).at("passed")
    with walk.changing() as node:
        node.pool("ost_0").imported = False
    walk.look()
    assert "do not import it again before its disks are compared with the images." in walk.state.alarm


def test_the_probe_reads_what_really_happened(stages):
    walk = stages(GONE_BACK).at("rewind")
    params = {name: walk.state.params[name] for name in zpool_rewind.PARAMS}
    pre = zpool_rewind.preconditions(walk.host, params)
    untouched = zpool_rewind.probe(walk.host, params, pre)
    assert (untouched.result, "its newest is still txg 4000" in untouched.reason) == ("did_not", True)
    walk.host.run(zpool_rewind.argv(params), 60)
    assert zpool_rewind.probe(walk.host, params, pre).reason == "ost_0 is imported for writing, taken from txg 3999."
    with walk.changing() as node:
        node.pool("ost_0").imported = False
        for disk in node.disks[:6]:
            disk.partitions[0].label.txg = 4001
    gone = zpool_rewind.probe(walk.host, params, pre)
    assert gone.result == "cannot_tell"
    assert "it was written to and let go of." in gone.reason


def test_nothing_it_shows_advises_to_throw_the_pool_away(stages):
    for title in (EVACUATED, GONE_BACK, "rewind-import, no point can be loaded"):
        walk = stages(title).end
        shown = repr((walk.records, walk.state.to_json(), [vars(step) for step in walk.runbook.steps]))
        assert "re-create" not in shown
        assert "estroy and" not in shown
