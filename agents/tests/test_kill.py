"""kill -9 at every point of a replace: the command runs at most once, and the next agent says what is true.

A real process runs the real agent on a twin; the twin's log, written before a command acts, counts the commands.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import agents
from agents import failpoints
from agents.tests import rig

SCRIPT = """
import sys
from agents.__main__ import work
from agents.service.agent import Agent
from twin.host import TwinHost
work(Agent(TwinHost(sys.argv[1]), sys.argv[2], sys.argv[2] + "/policy.json"))
"""


class Stage:
    script = SCRIPT

    def __init__(self, folder: Path, **knobs: float) -> None:
        self.stub = rig.StubPortal()
        self.host = rig.twin(folder, **knobs)
        self.folder = rig.agent_folder(folder / "agent", self.stub.url)
        self.processes: list[subprocess.Popen] = []

    def start(self, failpoint: str = "") -> subprocess.Popen:
        environment = {**os.environ, "SLOTLIGHT_FAILPOINT": failpoint}
        argv = [sys.executable, "-c", self.script, str(self.host.store.path), str(self.folder)]
        process = subprocess.Popen(argv, env=environment, cwd=str(Path(agents.__file__).parent.parent), stderr=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def end(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait(5)
        self.stub.close()

    def receipt(self) -> dict:
        self.stub.wait(lambda: self.stub.receipts, 20)
        return self.stub.receipts[0]


@pytest.fixture
def stage(tmp_path):
    stage = Stage(tmp_path)
    yield stage
    stage.end()


# failpoint -> outcome, probe, how often the command ran
TRUTH = {
    "after_claim": ("refused", None, 0),
    "before_intent": ("refused", None, 0),
    "after_intent": ("unknown", "did_not", 0),
    "after_exec": ("unknown", "did", 1),
    "after_result": ("succeeded", None, 1),
}


@pytest.mark.parametrize("name", failpoints.NAMES)
def test_it_runs_at_most_once_and_tells_the_truth(stage, name):
    outcome, probe, times = TRUTH[name]
    stage.stub.offer(rig.replace_order(stage.host))
    assert stage.start(name).wait(20) == failpoints.EXIT_CODE
    assert stage.stub.receipts == []

    second = stage.start()
    receipt = stage.receipt()
    assert (receipt["outcome"], receipt["probe"] and receipt["probe"]["result"]) == (outcome, probe), receipt["reason"]
    assert len(rig.replaces(stage.host)) == times

    second.send_signal(signal.SIGTERM)
    assert second.wait(10) == 0
    assert len(rig.replaces(stage.host)) == times


def test_it_dies_twice_and_still_runs_at_most_once(stage):
    """The agent that settles what was left can die too."""
    stage.stub.answer_with = lambda path: (503, {}) if path.endswith("/receipt") else None
    stage.stub.offer(rig.replace_order(stage.host))
    assert stage.start("after_exec").wait(20) == failpoints.EXIT_CODE
    second = stage.start()
    stage.stub.wait(lambda: any(word.endswith("/receipt") for word in stage.stub.asked), 20)
    second.kill()
    second.wait(5)
    stage.stub.answer_with = lambda path: None
    stage.start()
    receipt = stage.receipt()
    assert (receipt["outcome"], receipt["probe"]["result"]) == ("unknown", "did")
    assert len(rig.replaces(stage.host)) == 1


def test_killed_in_the_middle_of_the_command_it_says_unknown(tmp_path):
    stage = Stage(tmp_path, replace_seconds=2.0)
    try:
        stage.stub.offer(rig.replace_order(stage.host))
        first = stage.start()
        deadline = time.monotonic() + 20
        while not rig.replaces(stage.host) and time.monotonic() < deadline:
            time.sleep(0.05)
        first.kill()
        first.wait(5)
        stage.start()
        receipt = stage.receipt()
        assert (receipt["outcome"], receipt["probe"]["result"]) == ("unknown", "did_not")
        assert len(rig.replaces(stage.host)) == 1
    finally:
        stage.end()


def test_every_failpoint_has_its_truth():
    assert set(TRUTH) == set(failpoints.NAMES)
