"""One odd disk is brought in line with its model on a twin: to the good end, and every reason not to."""

from dataclasses import replace

import pytest

from agents.operations import set_drive_mode
from twin.model import Scan
from twin.stories import odd_modes
from workflows.engine.core import blockers
from workflows.facts import Unknown
from workflows.facts.fleet.mode_drift import Usual
from workflows.guards import modes
from workflows.runbooks import RUNBOOKS
from workflows.situations import drive_mode_drift
from workflows.tests.stage import Run, Stage, reasons

RUNBOOK = RUNBOOKS["drive-mode-audit"]
SDB, SDE, SPARE = "naa:5000c500a65b201b", "naa:5000c500a65b204b", "naa:5000c500a65b206b"
FORWARD = [s.slug for s in RUNBOOK.steps[: RUNBOOK.place(RUNBOOK.undo)]]


@pytest.fixture
def stage(tmp_path):
    return Stage(tmp_path, {"oss01": odd_modes(0.0)})


def answer(stage, wwid=SDB):
    (found,) = [s for s in drive_mode_drift.detect(stage.facts()) if s.subject["wwid"] == wwid]
    return dict(found.answers[0].params)


def run(stage, wwid=SDB, change="EN_BMS 1", **answers):
    return Run(stage, RUNBOOK, answer(stage, wwid), change=change, **answers)


def leaf(stage, number=1):
    return stage.node().pool("ost_0").leaves()[number]


def test_it_brings_one_member_in_line_and_back_into_service(stage):
    walk = run(stage).end()
    assert (walk.state.status, walk.state.loops) == ("done", ())
    assert stage.node().disk(SDB).en_bms is True
    assert leaf(stage).state == "ONLINE"
    guid = walk.state.params["vdev_guid"]
    assert stage.written() == [
        ["zpool", "offline", "ost_0", guid],
        ["sdparm", "--set=EN_BMS", "--save", "/dev/disk/by-id/wwn-0x5000c500a65b201b"],
        ["zpool", "online", "ost_0", guid],
    ]
    assert all(s.subject["wwid"] != SDB for s in drive_mode_drift.detect(stage.facts()))


def test_a_write_cache_that_is_never_flushed_is_switched_off(stage):
    walk = run(stage, SDE, "WCE 0").end()
    assert walk.state.status == "done"
    assert stage.node().disk(SDE).wce is False


def test_a_hot_spare_needs_not_be_taken_out_of_service(stage):
    walk = run(stage, SPARE).end()
    assert [argv[0] for argv in stage.written()] == ["sdparm"]
    assert [f.step for f in walk.state.finished if f.passed_over][:1] == ["plan-offline"]


def lose(*numbers):
    def how(node):
        for number in numbers:
            node.pool("ost_0").leaves()[number].state = "OFFLINE"

    return how


def scrub(node):
    node.pool("ost_0").scan = Scan("scrub", "running", 1795248000.0, 90000.0, 1 << 30, 0)


WRONG = {
    "no redundancy": (lose(0, 2), "cannot do without another disk for a mode"),
    "a scrub runs": (scrub, "A scrub of ost_0 is running"),
    "suspended": (lambda n: setattr(n.pool("ost_0"), "suspended", "io"), "is suspended"),
    "a release that was not read": (
        lambda n: (setattr(n, "zfs_module", "2.5.0-1"), setattr(n, "zfs_userland", "2.5.0-1")),
        "Do it by hand.",
    ),
    "another serial": (lambda n: setattr(n.disk(SDB), "serial", "ZZZZ"), "has the serial number ZZZZ, not ZA20001X"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_it_refuses(stage, wrong):
    how, expected = WRONG[wrong]
    walk = run(stage)
    stage.change("oss01", how)
    assert expected in reasons(walk.go_on())


CHOICES = {
    "the cache on": (SDB, "WCE 1", "A write cache is not switched on from here"),
    "away from its like": (SDB, "WCE 0", "is off already"),
    "as it is": (SDB, "EN_BMS 0", "is off already"),
}


@pytest.mark.parametrize("which", CHOICES)
def test_it_does_not_switch(stage, which):
    wwid, change, expected = CHOICES[which]
    walk = run(stage, wwid, change).to("change")
    assert expected in reasons(walk.go_on())


def test_it_does_not_make_another_policy(stage):
    """A disk that is as its like cannot be switched, whatever is passed to the run."""
    params = answer(stage) | {"old_wwid": "naa:5000c500a65b202b", "old_serial": "ZA20002X"}
    verdict = modes.judged(stage.facts(), params, "EN_BMS", False)
    assert "A policy is changed for the whole model" in verdict.reason


@pytest.mark.parametrize(("on", "off", "value"), [(2, 0, None), (2, 2, None), (3, 1, True), (1, 3, False), (0, 0, None)])
def test_there_is_a_majority_or_nothing(on, off, value):
    assert Usual(on, off).value is value


def test_a_disk_that_serves_is_never_switched(stage):
    walk = run(stage).to("rests")
    stage.change("oss01", lambda node: setattr(node.pool("ost_0").leaves()[1], "state", "ONLINE"))
    assert "take it offline first" in reasons(walk.go_on())


def test_what_the_firmware_does_not_take_stops_the_run(stage):
    stage.change("oss01", lambda node: setattr(node.disk(SDB), "mode_fixed", True))
    walk = run(stage).to("plan-switch")
    walk.go_on()
    assert "cannot be changed" in walk.state.note
    assert [argv[0] for argv in stage.written()] == ["zpool"]


def test_what_is_not_saved_is_not_as_wanted(stage):
    walk = run(stage).to("read-back")
    stage.change("oss01", lambda node: node.disk(SDB).saved.update(EN_BMS=False))
    walk.go_on()
    assert walk.state.step == "read-back"
    assert any("off after a power cut" in v.reason for v in blockers(walk.state.verdicts))


@pytest.mark.parametrize("field", ["pools", "disks", "ages"])
def test_not_knowing_never_opens_a_guard(stage, field):
    walk = run(stage).to("switch")
    less = stage.facts(lambda node: replace(node, **{field: Unknown("not read")}))
    for guard in RUNBOOK.step("switch").guards:
        full = guard(stage.facts(), walk.state.params)
        assert full.outcome == "pass", full
    assert blockers(tuple(guard(less, walk.state.params) for guard in RUNBOOK.step("switch").guards))


GOOD = {"pool": "p", "pool_guid": "1", "vdev_guid": "2", "wwid": SDB, "mode": "EN_BMS", "value": "0"}


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ({"mode": "WCE", "value": "1"}, "A write cache is not switched on by an order"),
        ({"mode": "DRA"}, "no mode that is switched"),
        ({"value": "2"}, "switched to 0 or 1"),
        ({"wwid": "sdb"}, "no WWID a disk can be named by"),
        ({}, ""),
    ],
)
def test_the_operation_takes_only_these(over, expected):
    assert expected in set_drive_mode.check({**GOOD, **over})


@pytest.mark.parametrize("name", set_drive_mode.FACTS)
@pytest.mark.parametrize("how", ["unknown", "missing"])
def test_the_operation_does_not_act_without_a_fact(stage, name, how):
    walk = run(stage).to("switch")
    params = dict(RUNBOOK.step("switch").params(stage.facts(), walk.state.params))
    pre = set_drive_mode.preconditions(stage.hosts["oss01"], params)
    assert all(outcome == "pass" for outcome, _ in set_drive_mode.guards(pre, params)), pre
    less = {k: v for k, v in pre.items() if k != name} if how == "missing" else {**pre, name: "unknown: no answer"}
    assert any(outcome == "unknown" and name in reason for outcome, reason in set_drive_mode.guards(less, params))


def test_the_operation_is_done_on_no_disk_in_service(stage):
    params = {**GOOD, "pool": "ost_0", "pool_guid": answer(stage)["pool_guid"], "vdev_guid": answer(stage)["vdev_guid"], "value": "1"}
    pre = set_drive_mode.preconditions(stage.hosts["oss01"], params)
    assert any("Only a disk that serves nothing" in reason for outcome, reason in set_drive_mode.guards(pre, params) if outcome == "refuse")
