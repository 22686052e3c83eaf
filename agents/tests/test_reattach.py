"""kill -9 of the agent while a real child does the work: it runs once, and the next agent knows how it ended.

A real process runs the real agent on a twin whose `zpool replace` is a process of its own.
"""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from agents import failpoints
from agents.host.command_supervisor import mark_of
from agents.tests import rig
from agents.tests.test_kill import Stage as InsideStage

SCRIPT = """
import sys
from agents.__main__ import work
from agents.service.agent import Agent
from agents.tests.rig import OutsideTwin
work(Agent(OutsideTwin(sys.argv[1]), sys.argv[2], sys.argv[2] + "/policy.json"))
"""


class Stage(InsideStage):
    script = SCRIPT

    def until(self, what, seconds=20.0):
        deadline = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < deadline, "it did not happen"
            time.sleep(0.02)

    @property
    def left(self):
        return list((self.folder / "running").glob("*"))


@pytest.fixture
def stage(request, tmp_path):
    stage = Stage(tmp_path, replace_seconds=getattr(request, "param", 0.0))
    yield stage
    stage.end()


# failpoint -> outcome, exit code, probe, how often the command ran
TRUTH = {
    "after_claim": ("refused", None, None, 0),
    "before_intent": ("refused", None, None, 0),
    "after_intent": ("unknown", None, "did_not", 0),
    "after_exec": ("succeeded", "0", None, 1),
    "after_result": ("succeeded", "0", None, 1),
}


@pytest.mark.parametrize("name", failpoints.NAMES)
def test_it_runs_at_most_once_and_knows_more_than_a_probe(stage, name):
    outcome, exit_code, probe, times = TRUTH[name]
    stage.stub.offer(rig.replace_order(stage.host))
    assert stage.start(name).wait(20) == failpoints.EXIT_CODE
    stage.start()
    receipt = stage.receipt()
    reported = (receipt["outcome"], receipt["exit_code"], receipt["probe"] and receipt["probe"]["result"])
    assert reported == (outcome, exit_code, probe), receipt["reason"]
    assert len(rig.replaces(stage.host)) == times
    stage.until(lambda: not stage.left)


@pytest.mark.parametrize("stage", [3.0], indirect=True)
def test_killed_while_the_command_runs_the_next_agent_waits_for_it_and_says_how_it_ended(stage):
    stage.stub.offer(rig.replace_order(stage.host))
    first = stage.start()
    stage.until(lambda: rig.replaces(stage.host))
    first.kill()
    first.wait(5)
    stage.start()
    receipt = stage.receipt()
    assert (receipt["outcome"], receipt["exit_code"], receipt["probe"]) == ("succeeded", "0", None), receipt["reason"]
    assert receipt["reason"].startswith("The agent was restarted while it ran.")
    assert {c["source"] for c in receipt["captures"]} == {"zpool_status", "zpool_status_guid", "zdb_label"}
    assert len(rig.replaces(stage.host)) == 1


@pytest.mark.parametrize("stage", [3.0], indirect=True)
def test_stopped_in_good_order_while_it_waits_for_an_old_command_it_leaves_it_to_the_next(stage):
    stage.stub.offer(rig.replace_order(stage.host))
    first = stage.start()
    stage.until(lambda: rig.replaces(stage.host))
    first.kill()
    first.wait(5)
    seen = stage.stub.asked.count("GET /agent/v1/orders")
    second = stage.start()
    stage.stub.wait(lambda: stage.stub.asked.count("GET /agent/v1/orders") > seen)
    second.send_signal(signal.SIGTERM)
    assert second.wait(10) == 0
    stage.start()
    assert stage.receipt()["outcome"] == "succeeded"
    assert len(rig.replaces(stage.host)) == 1


@pytest.mark.parametrize("stage", [4.0], indirect=True)
def test_when_everything_is_killed_it_says_unknown_and_probes(stage):
    """As after a power cut, when no process is left."""
    stage.stub.offer(rig.replace_order(stage.host))
    first = stage.start()
    stage.until(lambda: rig.replaces(stage.host) and (stage.left[0] / "child").exists())
    first.kill()
    first.wait(5)
    place = stage.left[0]
    for pid in processes_at(place):
        os.kill(pid, signal.SIGKILL)
    stage.until(lambda: not processes_at(place))
    stage.start()
    receipt = stage.receipt()
    assert (receipt["outcome"], receipt["probe"]["result"]) == ("unknown", "did_not")
    assert len(rig.replaces(stage.host)) == 1


def processes_at(place):
    """The minder and its child."""
    child = json.loads((place / "child").read_text())["mark"]
    minders = [int(p.parent.name) for p in Path("/proc").glob("[0-9]*/cmdline") if str(place) in _text(p)]
    return [*(minders), *([int(child.split(" ")[0])] if mark_of(int(child.split(" ")[0])) == child else [])]


def _text(path):
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def test_every_failpoint_has_its_truth():
    assert set(TRUTH) == set(failpoints.NAMES)
