"""Playing a schedule, and what becomes of one that fails: the smallest that still does, and what a person needs to see of it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from agents.collectors import COLLECTORS
from agents.operations import OPERATIONS
from agents.operations.catalogue import CHANGING
from tests.simulator import swap
from tests.simulator.simulator import ACTIONS, TRACE_MAX, Action, Schedule, Simulation, schedule


@contextmanager
def installed(sim: Simulation) -> Iterator[None]:
    """The catalogue knows the simulation's operation, and sleeping and dying go through the simulation."""
    hit = lambda name: sim.acting.may_die(f"at {name}") if sim.acting else None  # noqa: E731  two words of code
    with (
        mock.patch.dict(OPERATIONS, {swap.OPERATION.NAME: swap.OPERATION}),
        mock.patch.dict(CHANGING, {swap.OPERATION.NAME: swap.OPERATION}),
        mock.patch.dict(COLLECTORS, {swap.SOURCE: swap.COLLECTOR}),
        mock.patch("agents.failpoints.hit", hit),
        mock.patch("time.sleep", sim.sleep),
        mock.patch("secrets.token_bytes", sim.secret),
    ):
        yield


def simulate(actions: Schedule, shared: Path, own: Path) -> Simulation:
    """Play it; raises Violation, or whatever else broke, with `.simulation` on it."""
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir()
    sim = Simulation(shared, own)
    with installed(sim):
        try:
            sim.play(actions)
        except Exception as error:
            error.simulation = sim
            raise
        finally:
            for agent in sim.agents.values():
                agent.die()
    return sim


def prepare(folder: Path) -> tuple[Path, Path]:
    """The folder all agents share (policy and locks) and the one of this schedule (journals)."""
    shared, own = folder / "shared", folder / "own"
    for made in (shared, own):
        made.mkdir(parents=True, exist_ok=True)
    (shared / "policy.json").write_text(json.dumps({"mode": "operate", "operations": [swap.OPERATION.NAME], "pools": ["*"]}))
    return shared, own


@contextmanager
def room() -> Iterator[Path]:
    """A folder in memory where there is one: the journals commit thousands of times, and no power fails here."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="slotlight-simulator-", dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


def failure(actions: Schedule, shared: Path, own: Path) -> Exception | None:
    try:
        simulate(actions, shared, own)
    except Exception as error:  # noqa: BLE001  whatever it is, it is what we look for
        return error
    return None


def smallest(actions: Schedule, shared: Path, own: Path) -> list[Action]:
    """The failing schedule with everything left out that it fails without."""
    kept, size = list(actions), max(1, len(actions) // 2)
    kind = type(failure(kept, shared, own))
    while size:
        at = 0
        while at < len(kept):
            fewer = kept[:at] + kept[at + size :]
            if type(failure(fewer, shared, own)) is kind:
                kept = fewer
            else:
                at += size
        size //= 2
    return kept


def report(seed: int, shared: Path, own: Path, length: int = ACTIONS) -> str:
    """What a person needs to see why this seed fails."""
    actions = smallest(schedule(seed, length), shared, own)
    error = failure(actions, shared, own)
    lines = [f"Seed {seed} fails: {type(error).__name__}: {error}", f"{len(actions)} actions are enough: {actions}"]
    trace = error.simulation.trace if hasattr(error, "simulation") else []
    cut = [f"    ... {len(trace) - TRACE_MAX} lines ..."] if len(trace) > TRACE_MAX else []
    return "\n".join([*lines, *trace[: TRACE_MAX - 10], *cut, *trace[TRACE_MAX - 10 :][-10:]])
