"""Every runbook has a scenario that needs it: its node, looked at twice as the portal does, shows a situation that the runbook answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from twin.host import TwinHost
from twin.scenarios import Clock
from twin.store import Store
from workflows.engine import events as ev
from workflows.engine.decide import Decision, decide
from workflows.engine.state import RunState
from workflows.facts import FleetFacts
from workflows.rehearsal import scenarios
from workflows.runbooks import RUNBOOKS
from workflows.situations import detect_all
from workflows.tests.reports import History

WATCHED_SECONDS = 1700.0  # some things show only in how they change


def seen(name: str, folder) -> FleetFacts:
    clock, history = Clock(), History()
    hosts = {}
    for host, node in scenarios.nodes(name, clock.at).items():
        (folder / host).mkdir()
        Store(folder / host / "state.json").create(node)
        hosts[host] = TwinHost(folder / host / "state.json", clock, clock.sleep)
    for seconds in (0.0, WATCHED_SECONDS):
        clock.at += seconds
        facts = FleetFacts({host: history.seen(history.facts_at(twin, host, clock.at), clock.at) for host, twin in hosts.items()})
    return facts


@pytest.mark.parametrize("slug", RUNBOOKS)
def test_a_scenario_is_called_after_it(slug):
    assert slug in scenarios.names()


@pytest.mark.parametrize("name", scenarios.names())
def test_a_situation_of_its_node_is_answered_by_the_runbook_it_is_called_after(name, tmp_path):
    (slug,) = [slug for slug in RUNBOOKS if name == slug or name.removeprefix(f"{slug}-") != name]
    facts = seen(name, tmp_path)
    found = detect_all(replace(facts, at=Clock().at + WATCHED_SECONDS))
    for answer in (answer for situation in found for answer in situation.answers):
        begun = decide(RUNBOOKS[answer.runbook], RunState(params=dict(answer.params), requester="ann"), ev.Start(at=1.0, by="ann"))
        assert isinstance(begun, Decision), f"{answer.runbook} is offered, and cannot begin: {begun.reason}"
    assert slug in {answer.runbook for situation in found for answer in situation.answers}, [(s.slug, s.title) for s in found]
