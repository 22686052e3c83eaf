"""Every operation that changes something, and an agent that dies at every phase of its journal: it runs at most once.

Over the registry, so that a new operation is tried the moment it is listed. What the node would say is left out: this is about the
executor and the journal, which are the agent's own, with the argv that the operation builds.
"""

from __future__ import annotations

import json
import os

import pytest

from agents import failpoints
from agents.host.host import Ran
from agents.operations import OPERATIONS
from agents.operations.base import Probe
from agents.orders.journal import Journal
from agents.tests import rig
from agents.tests.stage import Stage
from agents.tests.test_operations import GOOD
from agents.trust import transparency_log

WRITING = tuple(name for name, operation in OPERATIONS.items() if operation.EFFECT != "pure")
PHASES = ("claim", "intend", "result", "amend")
# where it dies -> whether the command was given by then
PLACES = {
    "before claim": False,
    "after claim": False,
    "at after_claim": False,
    "at before_intent": False,
    "before intend": False,
    "after intend": False,
    "at after_intent": False,
    "while it runs": True,
    "at after_exec": True,
    "before result": True,
    "after result": True,
    "before amend": True,
    "after amend": True,
    "at after_result": True,
}
POLICY = {"mode": "operate", "operations": list(WRITING), "pools": ["*"]}


class Killed(BaseException):
    """As kill -9: nothing of ours catches it."""


def order_of(name: str) -> tuple[str, str]:
    operation = OPERATIONS[name]
    argv = list(operation.argv(GOOD[name]))
    return rig.seal(operation=name, effect=operation.EFFECT, params=GOOD[name], argv=argv, preconditions={"fact": "as planned"})


@pytest.fixture(autouse=True)
def _each_signature_is_checked_once(monkeypatch):
    """The node's openssl answers the same of the same bytes, and its answer is not what is tried here: it is asked once in each test."""
    monkeypatch.setattr(transparency_log, "_openssl", checked_once(transparency_log._openssl))


def checked_once(check):
    found = {}

    def checked(host, *of):
        if of not in found:
            found[of] = check(host, *of)
        return found[of]

    return checked


class Node:
    """One operation on a node that does what it is told, or dies at `place`; counts what it was told."""

    def __init__(self, folder, name: str, monkeypatch, sealed=None) -> None:
        self.operation, self.given, self.place, self.monkeypatch = OPERATIONS[name], [], "", monkeypatch
        self.stage = Stage(folder)
        with open(os.path.join(self.stage.folder, "policy.json"), "w") as file:
            json.dump(POLICY, file)
        monkeypatch.setattr(self.operation, "preconditions", lambda host, params: {"fact": "as planned"})
        monkeypatch.setattr(self.operation, "guards", lambda pre, params: (("pass", "fine"),))
        monkeypatch.setattr(self.operation, "aftermath", lambda host, params: ())
        monkeypatch.setattr(
            self.operation, "probe", lambda host, params, pre: Probe("did" if self.given else "did_not", (), "as it shows.")
        )
        if hasattr(self.operation, "perform"):
            monkeypatch.setattr(self.operation, "perform", lambda host, params: self.run(self.operation.argv(params)))
        else:
            run = self.stage.host.run
            monkeypatch.setattr(
                self.stage.host, "run", lambda argv, *more: self.run(argv) if tuple(argv) == self.argv else run(argv, *more)
            )
        monkeypatch.setattr(failpoints, "hit", lambda point: self.pass_by(f"at {point}"))
        for phase in PHASES:
            self.watch(phase)
        self.sealed = sealed or order_of(name)

    @property
    def argv(self) -> tuple[str, ...]:
        return tuple(self.operation.argv(GOOD[self.operation.NAME]))

    def run(self, argv) -> Ran:
        self.given.append(tuple(argv))
        self.pass_by("while it runs")
        return Ran(tuple(argv), 0, b"", b"", 0.1)

    def watch(self, phase: str) -> None:
        real = getattr(Journal, phase)

        def watched(journal, *args, **more):
            self.pass_by(f"before {phase}")
            answer = real(journal, *args, **more)
            self.pass_by(f"after {phase}")
            return answer

        self.monkeypatch.setattr(Journal, phase, watched)

    def pass_by(self, place: str) -> None:
        if place == self.place:
            self.place = ""
            raise Killed(place)

    def hand_over(self) -> None:
        self.stage.executor.handle(self.stage.order(self.sealed))

    def start_again(self) -> None:
        """Another process with the same folder: what the dead one had in its memory is gone."""
        self.stage.journal.close()
        self.stage.journal = Journal(os.path.join(self.stage.folder, "journal.sqlite"))
        self.stage.executor = self.stage.new_executor()
        self.stage.executor.recover()

    @property
    def receipt(self) -> dict:
        return json.loads(self.stage.journal.find("order-1").receipt)


@pytest.mark.parametrize("name", WRITING)
def test_it_runs_once_when_nobody_dies(tmp_path, monkeypatch, name):
    """So that the next test is about dying."""
    node = Node(tmp_path, name, monkeypatch, order_of(name))
    node.hand_over()
    assert node.given == [node.argv]
    assert node.receipt["outcome"] == "succeeded", node.receipt["reason"]


@pytest.mark.parametrize("name", WRITING)
def test_it_runs_at_most_once_wherever_the_agent_dies(tmp_path, monkeypatch, name):
    sealed = order_of(name)
    for number, (place, given) in enumerate(PLACES.items()):
        with monkeypatch.context() as patch:
            node = Node(tmp_path / str(number), name, patch, sealed)
            node.place = place
            with pytest.raises(Killed, match=place):
                node.hand_over()
            assert bool(node.given) == given, place
            node.start_again()
            assert len(node.given) == given, f"{place}: a new agent ran it"
            begun = node.stage.journal.find("order-1") is not None
            for _ in range(2):
                node.hand_over()  # the portal offers again what it has no receipt of
            node.start_again()
            assert len(node.given) == (given if begun else 1), place
            reports_the_truth(node, place, begun)


def reports_the_truth(node: Node, place: str, begun: bool) -> None:
    outcome = node.receipt["outcome"]
    if not begun:
        assert outcome == "succeeded", place  # nothing was written down, so nothing had begun: it was carried out the second time
    elif place in ("after result", "before amend", "after amend", "at after_result"):
        assert outcome == "succeeded", place
    elif place in ("after claim", "at after_claim", "at before_intent", "before intend"):
        assert outcome == "refused", place
    else:
        assert (outcome, node.receipt["probe"]["result"]) == ("unknown", "did" if node.given else "did_not"), place


def test_every_place_is_a_failpoint_or_a_write_of_the_journal():
    assert {place[3:] for place in PLACES if place.startswith("at ")} == set(failpoints.NAMES)
    assert {place for place in PLACES if place.split()[0] in ("before", "after")} == {
        f"{w} {p}" for w in ("before", "after") for p in PHASES
    }
    assert set(WRITING) <= set(GOOD)
