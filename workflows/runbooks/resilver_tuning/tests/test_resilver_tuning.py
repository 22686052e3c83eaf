"""Tuning a crawling resilver on a twin: to the good end, put back by itself, and every reason not to."""

from dataclasses import replace

import pytest

from agents.domain.tunables import SCAN_KNOBS, TUNABLES, by_hand_on_illumos
from agents.operations import set_tunable
from twin.stories import crawling
from workflows.analysis import scan_speed
from workflows.engine.core import blockers
from workflows.facts import Unknown, known
from workflows.guards import tuning
from workflows.runbooks import RUNBOOKS
from workflows.tests.stage import Run, Stage, reasons

RUNBOOK = RUNBOOKS["resilver-tuning"]
NAME = "zfs_vdev_scrub_max_active"
PATH = f"/sys/module/zfs/parameters/{NAME}"
GENTLE = f"{NAME} 3 6"


@pytest.fixture
def stage(tmp_path):
    stage = Stage(tmp_path, {"oss01": crawling(1795248315.0)})
    stage.facts()
    stage.clock.sleep(1700)  # the portal has watched it for a while
    return stage


def params(stage):
    pool = stage.node().pool("ost_0")
    return {"node": "oss01", "pool": "ost_0", "pool_guid": str(pool.guid)}


def run(stage, **answers) -> Run:
    return Run(stage, RUNBOOK, params(stage), **{"choose": GENTLE, "window": "3600", **answers})


def value(stage) -> str:
    return stage.node().parameters.get(NAME, "3")


def test_it_walks_to_the_good_end_and_is_as_it_was(stage):
    walk = run(stage).to("keep")
    assert value(stage) == "6"
    assert walk.state.progress is None or "before" in walk.state.progress.text
    assert walk.state.loops[0].what == f"{NAME} on oss01 is 6; before it was 3."
    walk.end()
    assert (walk.state.status, walk.state.loops, value(stage)) == ("done", (), "3")
    assert stage.written() == [["write", PATH, "6"], ["write", PATH, "3"]]
    assert [name for name in walk.types() if name.startswith("loop")] == ["loop.opened", "loop.closed"]


def test_it_measures_what_it_gained_and_what_others_pay(stage):
    walk = run(stage).to("keep")
    before = scan_speed.read(walk.state.params["baseline"])
    shown = RUNBOOK.step("keep").progress(stage.facts(), walk.state.params)
    assert known(before)
    assert "(+" in shown.text
    assert "before" in shown.text


def test_nobody_is_needed_to_put_it_back(stage):
    walk = run(stage).to("plan-back")
    assert walk.state.ending == "done"
    assert walk.by == ""
    walk.end()
    assert [f.by for f in walk.state.finished if f.step in ("plan-back", "put-back", "verify-back")] == ["", "", ""]


def test_it_is_put_back_when_the_scan_ends(stage):
    walk = run(stage, window="28800").to("keep")
    stage.change("oss01", lambda node: setattr(node.pool("ost_0").scan, "state", "canceled"))
    walk.end()
    assert value(stage) == "3"
    assert any("nothing to speed up" in f.note for f in walk.state.finished if f.step == "keep")


def test_it_is_put_back_when_others_wait_too_long(stage):
    walk = run(stage).to("compare")
    stage.change("oss01", lambda node: setattr(node.pool("ost_0").leaves()[0], "wait_ms", 400.0))
    walk.end()
    assert value(stage) == "3"
    assert any("Put the tunable back" in f.note for f in walk.state.finished)


def test_it_is_put_back_when_it_gains_too_little(stage):
    """The scan goes on as before: what costs others something and brings nothing does not stay."""
    walk = run(stage).to("compare")
    stage.change("oss01", lambda node: setattr(node.pool("ost_0").scan, "speed", 1.0))
    walk.end()
    assert value(stage) == "3"
    (kept,) = [f for f in walk.state.finished if f.step == "keep"]
    assert (kept.passed_over, "20 % is the least" in kept.note) == (True, True)


def test_whoever_ends_the_way_back_leaves_an_open_loop_on_record(stage):
    walk = run(stage).to("plan-back")
    walk.abort()
    assert walk.state.status == "aborted"
    assert walk.state.loops[0].loop == "raised"
    assert "loop.left" in walk.types()


def test_it_never_undoes_what_somebody_else_set_meanwhile(stage):
    walk = run(stage).to("plan-back")
    stage.change("oss01", lambda node: node.parameters.update({NAME: "8"}))
    assert "it was changed from outside this run" in reasons(walk.go_on())
    assert value(stage) == "8"


def no_scan(node):
    node.pool("ost_0").scan = None


def one_slow(node):
    node.pool("ost_0").leaves()[4].wait_ms = 900.0


WRONG = {
    "the pool is suspended": (lambda n: setattr(n.pool("ost_0"), "suspended", "io"), "is suspended"),
    "no scan": (no_scan, "nothing to speed up"),
    "one disk holds it up": (one_slow, "It sets the pace, whatever is tuned"),
    "scans are stopped": (lambda n: n.parameters.update(zfs_scan_suspend_progress="1"), "no scrub and no resilver gets any further"),
    "somebody tunes already": (lambda n: n.parameters.update(zfs_vdev_nia_credit="20"), "another run or person has changed it already"),
    "an unknown release": (lambda n: setattr(n, "zfs_module", "3.1.0-1"), "OpenZFS 3.1.0 is not among the releases that were read"),
    "a release before": (lambda n: setattr(n, "zfs_module", "0.6.4-1"), "OpenZFS 0.6.4 is not among"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_it_refuses(stage, wrong):
    how, expected = WRONG[wrong]
    stage.change("oss01", how)
    assert expected in reasons(run(stage).go_on())


def test_nothing_is_known_of_a_silent_node(stage):
    walk = run(stage)
    for guard in (*tuning.SET_GUARDS, *tuning.PUT_BACK_GUARDS, tuning.the_tunable_is_back, tuning.the_scan_gained):
        for field in ("pools", "tunables", "ages", "zfs_module"):
            less = stage.facts(lambda node, field=field: replace(node, **{field: Unknown("not read")}))
            given = {**walk.state.params, "setting": GENTLE, "baseline": "rate=1 wait=1 worst=1"}
            full = guard(stage.facts(), given)
            assert full.outcome == "pass" or guard(less, given).outcome != "pass"


def test_a_value_set_between_choice_and_plan_is_not_overwritten(stage):
    walk = run(stage).to("plan")
    stage.change("oss01", lambda node: node.parameters.update({NAME: "5"}))
    assert "Another run or person set it meanwhile" in reasons(walk.go_on())


def test_a_value_set_between_plan_and_order_is_not_overwritten(stage):
    walk = run(stage).to("set")
    facts = stage.facts()
    stage.change("oss01", lambda node: node.parameters.update({NAME: "5"}))
    walk.facts = lambda: facts  # the portal has not heard of it yet
    walk.go_on()
    assert (walk.state.status, value(stage)) == ("stopped", "5")
    assert "tunable.value changed. Plan again." in walk.state.note


def offered(stage):
    return {option.value: option for option in RUNBOOK.step("choose").options(stage.facts(), params(stage))}


def test_it_offers_the_gentlest_first_and_names_every_tunable(stage):
    options = offered(stage)
    assert next(iter(options)) == f"{NAME} 3 4"
    assert {value.split(" ")[0] for value in options} == set(TUNABLES)
    fit = {value for value, option in options.items() if not blockers(option.verdicts)}
    assert {value.split(" ")[0] for value in fit} <= set(SCAN_KNOBS)


def test_it_shows_what_people_pay_for_non_interactive_io(stage):
    for value in ("zfs_vdev_nia_credit 5 20", "zfs_vdev_nia_delay 5 1"):
        option = offered(stage)[value]
        assert "2 to 4 s at worst" in option.detail
        assert not blockers(option.verdicts)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("zfs_scrub_delay", "zfs_vdev_nia_credit"),
        ("zfs_resilver_delay", "zfs_vdev_scrub_max_active"),
        ("zfs_top_maxinflight", "zfs_scan_vdev_limit"),
        ("zfs_scan_min_time_ms", "zfs_scrub_min_time_ms"),
    ],
)
def test_it_sends_who_asks_for_an_old_name_to_the_new_one(stage, old, new):
    (refused,) = blockers(offered(stage)[old].verdicts)
    assert "ignore the setting and print no error" in refused.reason
    assert new in refused.reason


@pytest.mark.parametrize("name", ["zfs_no_scrub_io", "zfs_scan_suspend_progress", "zio_dva_throttle_enabled", "zfs_prefetch_disable"])
def test_it_never_sets_what_is_no_knob(stage, name):
    (refused,) = blockers(offered(stage)[name].verdicts)
    assert "is not set from here" in refused.reason
    given = {"pool": "p", "pool_guid": "1", "platform": "linux", "name": name, "before": "0", "value": "1"}
    assert "is not set by an order" in set_tunable.check(given)


# release -> which knob of the scan it has, and one it has not
RELEASES = {
    "0.6.5": ("zfs_resilver_delay", "zfs_scan_vdev_limit"),
    "0.7.13": ("zfs_top_maxinflight", "zfs_vdev_nia_credit"),
    "0.8.6": ("zfs_scan_vdev_limit", "zfs_vdev_nia_delay"),
    "2.0.0": ("zfs_scan_vdev_limit", "zfs_vdev_nia_delay"),
    "2.0.7": ("zfs_vdev_nia_delay", "zfs_resilver_defer_percent"),
    "2.1.11": ("zfs_vdev_scrub_max_active", "zfs_scrub_delay"),
    "2.2.9": ("zfs_scan_vdev_limit", "zfs_resilver_delay"),
    "2.4.4": ("zfs_resilver_min_time_ms", "zfs_scan_idle"),
}


@pytest.mark.parametrize("release", RELEASES)
def test_each_release_has_its_own(stage, release):
    there, absent = RELEASES[release]
    numbers = tuple(map(int, release.split(".")))
    node = replace(stage.facts().nodes["oss01"], zfs_module=f"{release}-1")
    assert TUNABLES[there].is_in(numbers)
    tunable = TUNABLES[absent]
    verdict = tuning.judged(node, node.tunables, tuning.Setting(tunable, 1, 1))
    assert (verdict.outcome, f"OpenZFS {release} has no {absent}" in verdict.reason) == ("refuse", True)


def test_on_illumos_it_says_what_a_person_types(stage):
    tunables = replace(stage.facts().nodes["oss01"].tunables, platform="illumos")
    verdict = tuning.judged(stage.facts().nodes["oss01"], tunables, tuning.Setting(TUNABLES["zfs_scrub_delay"], 4, 0))
    assert verdict.outcome == "refuse"
    assert "echo zfs_scrub_delay/W0t0 | mdb -kw" in verdict.reason
    assert by_hand_on_illumos("zfs_scrub_delay", 4) in verdict.reason


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        (
            "zfs_vdev_nia_credit",
            20,
            "zfs_vdev_nia_credit is not known to be there, so there is no line to type for it. Ask who knows that release.",
        ),
        ("zfs_scan_idle", 10, "zfs_scan_idle is not set from here: no safe range is known for it."),
        ("zfs_top_maxinflight", 1000, "zfs_top_maxinflight may be set from 32 to 128 I/Os per top-level vdev; 1000 is outside."),
        ("zfs_scrub_delay", 0, "still shows it and makes no use of it."),
        ("zfs_scan_vdev_limit", 16 * 1024 * 1024, "Capital W: the small one writes half of the value."),
    ],
)
def test_on_illumos_no_line_to_type_is_shown_for_what_should_not_be_typed(stage, name, value, text):
    node = stage.facts().nodes["oss01"]
    verdict = tuning.judged(node, replace(node.tunables, platform="illumos"), tuning.Setting(TUNABLES[name], 1, value))
    assert verdict.outcome == "refuse"
    assert verdict.reason.endswith(text)


def test_a_value_it_could_not_put_back_is_not_touched(stage):
    stage.change("oss01", lambda node: node.parameters.update({NAME: "400"}))
    stage.change("oss01", lambda node: node.modprobe.append(f"options zfs {NAME}=400"))
    node = stage.facts().nodes["oss01"]
    verdict = tuning.judged(node, node.tunables, tuning.Setting(TUNABLES[NAME], 400, 8))
    assert "no order could put it back" in verdict.reason


def test_without_an_earlier_look_there_is_no_measure(tmp_path):
    stage = Stage(tmp_path, {"oss01": crawling(1795248315.0)})
    walk = run(stage).to("measure")
    assert "was looked at 2 s ago only" in reasons(walk.go_on())


@pytest.mark.parametrize("text", ["", "rate=1", "rate=x wait=1 worst=1", "rate=1 wait=1 worst=1 more"])
def test_what_is_no_measure_is_not_known(text):
    assert not known(scan_speed.read(text))
