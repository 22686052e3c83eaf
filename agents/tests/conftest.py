"""A schedule over sources of a test's own, a machine that answers or hangs, and a clock that stands until it is moved."""

import pytest

from agents.reporting.schedule import Schedule
from agents.tests.questions import Clock, Machine, source


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def machine(clock):
    return Machine(clock)


@pytest.fixture
def make(machine, clock, monkeypatch):
    made = []

    def make(*modules):
        modules = {module.NAME: module for module in (source("zdb_label"), *modules)}
        monkeypatch.setattr("agents.reporting.schedule.COLLECTORS", modules)
        made.append(Schedule(machine, clock))
        return made[-1]

    monkeypatch.setattr("agents.reporting.schedule.PATIENCE_SECONDS", 0.3)
    monkeypatch.setattr("agents.host.worker_pool.SLOW_SECONDS", 0.1)
    monkeypatch.setattr("agents.reporting.schedule.LOOK_SECONDS", 0.02)
    yield make
    for schedule in made:
        schedule.close()
