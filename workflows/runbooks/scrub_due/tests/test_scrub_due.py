"""What scrub-due does and refuses, beyond what is asked of every runbook."""

from __future__ import annotations

from pathlib import Path

import pytest

from workflows.engine.core import ask, blockers
from workflows.facts import ScanFacts
from workflows.runbooks import RUNBOOKS
from workflows.runbooks.scrub_due.tests.stories import FIRST
from workflows.tests.incident import PARAMS, with_pool
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import Stages, Stuck

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
def stages(tmp_path_factory):
    return Stages(FIRST, tmp_path_factory.mktemp("scrub"))


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
