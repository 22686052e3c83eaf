"""What scrub-due does and refuses, beyond what is asked of every runbook."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.orders.policy import Policy
from twin.model import Scan
from twin.scan import pause
from workflows.engine.core import ask, blockers
from workflows.facts import ScanFacts
from workflows.runbooks import RUNBOOKS
from workflows.runbooks.scrub_due import guards
from workflows.runbooks.scrub_due.tests.stories import FIRST, PAUSED
from workflows.situations import rebuild_unverified, scrub_paused
from workflows.tests.bends import node as node_with
from workflows.tests.incident import PARAMS, with_pool
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import Stuck, stages_of

FOLDER = Path(__file__).resolve().parents[1]
LEFT = [
    f"{path.relative_to(FOLDER)}:{number}: {line.strip()}"
    for path in sorted(FOLDER.rglob("*.py"))
    for number, line in enumerate(path.read_text().splitlines(), 1)
    if "FILL" + " IN" in line
]


def test_nothing_is_left_to_fill_in():
    assert not LEFT, "\n".join(LEFT)


@pytest.fixture(scope="module")
def stages():
    return stages_of(FIRST)


def scan(node):
    return node.pool("ost_0").scan


def test_one_scrub_is_begun_and_found_nothing(stages):
    walk = stages.end
    assert walk.commands() == [["zpool", "scrub", "ost_0"]]
    assert (scan(walk.node).function, scan(walk.node).state, scan(walk.node).errors) == ("scrub", "finished", 0)
    assert scan(walk.node).started_at > NOW


def scrubbed_lately(node):
    scan(node).started_at = NOW - 86400


def scrubbing(node):
    scan(node).state, scan(node).started_at, scan(node).seconds = "running", NOW, 1e6


def resilvering(node):
    scan(node).function = "resilver"
    scrubbing(node)


def suspended(node):
    node.pool("ost_0").suspended = "io"


def one_lost(node):
    node.pool("ost_0").leaves()[2].state = "UNAVAIL"


def one_switched_off(node):
    node.pool("ost_0").leaves()[2].state = "OFFLINE"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (scrubbed_lately, "one is due after 35 days. End this run."),
        (scrubbing, "A scrub of ost_0 is running. Wait until it ends."),
        (resilvering, "A resilver of ost_0 is running. Wait until it ends."),
        (suspended, "ost_0 is suspended"),
        (one_lost, "Members of ost_0 that still do not serve"),
        (one_switched_off, "A scrub does not read an OFFLINE member. Bring it back"),
    ],
)
@pytest.mark.parametrize("step", ["check", "plan-scrub", "scrub"])
def test_it_refuses(change, expected, step, stages):
    walk = stages.at(step)
    with walk.changing() as node:
        change(node)
    assert any(expected in why for why in walk.why_not()), walk.why_not()
    assert walk.commands() == []


def test_a_scrub_during_which_a_member_was_switched_off_proves_not_the_whole_pool(stages):
    walk = stages.at("verify")
    with walk.changing() as node:
        one_switched_off(node)
    why = [verdict.reason for verdict in blockers(ask(walk.step.guards, walk.facts(), walk.state.params))]
    assert any("A scrub does not read an OFFLINE member" in one for one in why), why


def test_a_scrub_that_somebody_began_meanwhile_is_not_begun_again(stages):
    """The node asks once more, after the portal."""
    walk = stages.at("scrub")
    facts = walk.facts()
    with walk.changing() as node:
        scrubbing(node)
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match="scan"):
        walk.go()
    assert walk.commands() == []


@pytest.mark.parametrize("runbook", ["scrub-due", "many-disks-offline"])
@pytest.mark.parametrize(("function", "percent"), [("scrub", 33.08), ("resilver", None)])
def test_a_scrub_that_is_waited_for_shows_how_far_it_is_and_nothing_else_does(runbook, function, percent):
    wait = RUNBOOKS[runbook].step("scrubbed")
    running = ScanFacts(function, "running", f"{function} in progress since …", "33.08", None, "0h12m")
    shown = wait.progress(with_pool(scans=(running,)), PARAMS)
    assert (shown.percent, shown.eta) == (percent, "0h12m" if percent else None)


REBUILT = ScanFacts(
    "rebuild",
    "finished",
    "resilvered (mirror-0) 10.0G in 00:01:00 with 0 errors on Sat Nov 21 09:00:00 2026",
    errors=0,
    ended="2026-11-21T09:00:00",
)
LATELY = "scrub repaired 0B in 00:01:00 with 0 errors on Sat Nov 21 08:01:00 2026"
TO_SCRUB = "One or more devices have been sequentially resilvered, scrubbing\n\tthe pool is recommended."


@pytest.mark.parametrize(
    ("status", "ended", "due"),
    [
        (TO_SCRUB, "2026-11-21T08:01:00", True),
        ("Some device is degraded.", "2026-11-21T08:01:00", True),
        ("", None, True),
        ("", "2026-11-21T09:30:00", False),
    ],
)
def test_after_a_rebuild_one_is_due_however_lately_another_ended(status, ended, due):
    """By the line of ZFS: it compares when both ended (check_status in lib/libzfs/libzfs_status.c)."""
    facts = with_pool(scans=(ScanFacts("scrub", "finished", LATELY, errors=0, ended=ended), REBUILT), status=status)
    verdict = guards.a_scrub_is_due(facts, PARAMS)
    assert (verdict.outcome == "pass", "was rebuilt without" in verdict.reason) == (due, due), verdict
    found = rebuild_unverified.detect(facts)
    assert [[answer.runbook for answer in one.answers] for one in found] == [["scrub-due"]] * due


@pytest.fixture(scope="module")
def of_a_paused_one():
    return stages_of(PAUSED)


def test_a_paused_scrub_goes_on_where_it_stopped(of_a_paused_one):
    walk = of_a_paused_one.end
    assert walk.commands() == [["zpool", "scrub", "ost_0"]]
    assert (scan(walk.node).state, scan(walk.node).started_at < NOW) == ("finished", True)


def test_ending_the_run_pauses_its_scrub_and_a_new_run_is_offered(stages):
    walk = stages.at("scrubbed")
    walk.abort()
    walk.to_the_end()
    assert walk.commands() == [["zpool", "scrub", "ost_0"], ["zpool", "scrub", "-p", "ost_0"]]
    assert (scan(walk.node).state, walk.state.loops) == ("paused", ())
    (found,) = scrub_paused.detect(walk.facts())
    assert [answer.runbook for answer in found.answers] == ["scrub-due", "stop-scrub"]


def test_ending_the_way_back_too_leaves_the_scrub_running_and_says_so(stages):
    walk = stages.at("scrubbed")
    walk.abort()
    walk.to("plan-pause")
    walk.abort()
    assert walk.commands() == [["zpool", "scrub", "ost_0"]]
    assert [open_.what for open_ in walk.state.loops] == ["A scrub of ost_0 runs on oss01."]
    assert "This stays as it is" in walk.state.note


def test_a_scrub_that_somebody_pauses_is_said_to_wait_for_a_person(stages):
    walk = stages.at("scrubbed")
    with walk.changing() as node:
        pause(node.pool("ost_0"), walk.clock.at)
    walk.look()
    assert "was paused by a person or a program" in walk.state.alarm
    assert walk.state.step == "scrubbed"


def with_hours(walk, *hours):
    """The walk goes on with a node whose policy names these hours for scrubs."""
    rule = Policy("operate", ("zpool_scrub", "zpool_scrub_pause"), ("*",), path="policy.json", scrub_hours=hours)
    facts = walk.facts
    walk.facts = lambda: node_with(policy=rule)(facts(), walk.state.params)


def test_when_the_hours_for_scrubs_are_over_the_run_asks_to_be_ended_and_still_sees_the_end(stages):
    walk = stages.at("scrubbed")
    with_hours(walk, "Mon 00:00-00:01")
    walk.look()
    assert "allows scrubs are over" in walk.state.alarm
    with walk.changing() as node:
        ended()(node)
    walk.look()
    assert walk.state.alarm == ""
    assert walk.state.step != "scrubbed"


def test_within_its_hours_the_page_names_their_end(stages):
    walk = stages.at("scrubbed")
    with_hours(walk, "00:00-23:59")
    walk.look()
    assert walk.state.alarm == ""
    assert walk.state.progress.lines[0].startswith("The hours for scrubs last until ")


def test_outside_its_hours_no_scrub_is_planned(stages):
    walk = stages.at("check")
    with_hours(walk, "Mon 00:00-00:01")
    with pytest.raises(Stuck, match="begin on Mon 00:00"):
        walk.go()
    assert walk.commands() == []


def ended(function="scrub", state="finished", errors=0):
    def change(node):
        old = scan(node)
        node.pool("ost_0").scan = Scan(function, state, old.started_at, 60.0, old.to_examine, 0, errors=errors)

    return change


@pytest.mark.parametrize(
    ("change", "refused", "next_"),
    [
        (ended(state="canceled"), "was cancelled, and what it had not read is unchecked", "Find out who cancelled it"),
        (ended("resilver"), "A resilver took the place", "begin a scrub anew"),
        (ended(errors=3), "found 3 errors", "restore or delete what it names, and scrub twice"),
    ],
)
def test_a_scrub_that_did_not_end_well_says_what_became_of_it_and_what_is_next(change, refused, next_, stages):
    walk = stages.at("scrubbed")
    with walk.changing() as node:
        change(node)
    walk.clock.at += 300
    walk.look()
    assert walk.state.step == "verify"
    assert next_ in walk.state.params["result"]
    why = [verdict.reason for verdict in blockers(ask(walk.step.guards, walk.facts(), walk.state.params))]
    assert any(refused in one for one in why), why


def test_the_result_names_the_disk_that_counted_and_no_other(stages):
    walk = stages.at("scrubbed")
    with walk.changing() as node:
        leaf = node.pool("ost_0").leaves()[2]
        leaf.errors = [0, 0, 12]
        node.pool("ost_0").scan.to_write = 96 * 1024
    walk.clock.at += 1000
    walk.look()
    result = walk.state.params["result"]
    assert "scrub repaired 96K in" in result
    (line,) = [one for one in result.splitlines() if "checksum errors" in one]
    assert (str(leaf.guid) in line, "checksum errors 0 → 12" in line) == (True, True)
    assert "replace it while it still serves" in result


def test_a_scrub_that_repaired_nothing_says_that_nothing_is_to_be_done(stages):
    assert "Nothing was repaired and no error remains." in stages.end.state.params["result"]
