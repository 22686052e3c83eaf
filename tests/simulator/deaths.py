"""One replacement, and every single moment at which the portal or the agent can die in it, one after the other.

From the click on “Replace” to the end of the run: each commit of the portal (right before, right after), each write of the agent's
journal, each word between them, each failpoint and the command itself. `python -m tests.simulator.deaths` writes what becomes of it
to docs/transcripts/one-death.md; the tests hold that page to the code.
"""

from __future__ import annotations

import logging
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.simulator.playing import installed, prepare, room
from tests.simulator.portal import read
from tests.simulator.simulator import Simulation
from workflows.engine import events as ev

PAGE = Path(__file__).resolve().parents[2] / "docs/transcripts/one-death.md"
ROUNDS_MAX = 60
HEAD = """\
# One death

A member is replaced: `ann` asks, `bob` approves, the agent of `n1` runs the command. Below, portal or agent die at one moment of it,
once per section, and are started again. Nothing is written by hand: `python -m tests.simulator.deaths` makes this page from the real
engine, executor and journal in the simulator (`tests/simulator`), and a test holds it to the code.

Times are seconds since “Replace” was clicked. Lines that begin with `ledger` are what was recorded for ever; `x` is the death.
"""


@dataclass(frozen=True)
class Place:
    who: str  # "agent" or "portal"
    where: str
    time: int  # the how many-th time it came by there

    def __str__(self) -> str:
        again = "" if self.time == 1 else f", time {self.time}"
        return f"The {self.who} dies {self.where}{again}"


class Dying(Simulation):
    """No luck: everything goes well, but for one death at `place`. Without a place it only finds out which there are."""

    def __init__(self, shared: Path, own: Path, place: Place | None) -> None:
        self.place, self.places, self.armed = place, [], False
        super().__init__(shared, own)
        self.calm = True
        self.began = 0.0
        self.written: tuple[bytes, ...] = ()  # by the portal's last transaction

    def agent_dies(self, where: str, odds: float) -> bool:
        return self._here("agent", where)

    def portal_dies(self, when: str) -> bool:
        """Named by what the transaction writes; one that writes nothing into the ledger loses nothing."""
        new = self.portal.tables.ledger[self.portal.known :] if when.startswith("before") else self.written
        return bool(new) and self._here("portal", f"{when} “{_text_of(new[-1])}”")

    def _here(self, who: str, where: str) -> bool:
        if not self.armed:
            return False
        here = Place(who, where, 1 + sum((p.who, p.where) == (who, where) for p in self.places))
        self.places.append(here)
        if here == self.place:
            self.log(f"x  {str(here)[0].lower()}{str(here)[1:]}")
        return here == self.place

    def committed(self) -> None:
        self.written = self.portal.tables.ledger[self.portal.known :]
        for body in self.written:
            self.log(f"ledger  {_text_of(body)}")
        super().committed()

    def log(self, line: str) -> None:
        if self.armed:
            self.trace.append(f"{self.world.clock - self.began:6.0f}  {line}")

    def play_it(self) -> None:
        self.crowd.rng.seed(0)
        self.portal.begin("ann", {"node": "n1", "pool_guid": "p1", "vdev_guid": "v1"})
        (run_id,) = self.portal.tables.runs
        self.busy = None
        for _ in range(ROUNDS_MAX):
            if self._run(run_id).state.step == "replace":
                break
            self._everybody_works()
        self.armed, self.began = True, self.world.clock
        self.crowd.post("ann", self._run(run_id), ev.ExecuteAsked)
        for _ in range(ROUNDS_MAX):
            self._everybody_works()
            if self._run(run_id).ended and not self._unsent():
                break
        self.armed = False
        self._nothing_is_stuck()
        self._check_agreement()

    def _run(self, run_id: str):
        return self.portal.tables.runs[run_id]


def _text_of(body: bytes) -> str:
    event = read(body)
    answer = event["body"]
    words = [event["type"], *(answer.get(name, "") for name in ("order", "status", "after", "outcome"))]
    probe = f"(probe: {answer['probe']})" if answer.get("probe") else ""
    return " ".join(filter(None, [*words, probe]))


def play(shared: Path, own: Path, place: Place | None) -> Dying:
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir()
    sim = Dying(shared, own, place)
    with installed(sim):
        try:
            sim.play_it()
        finally:
            for agent in sim.agents.values():
                agent.die()
    return sim


def places(shared: Path, own: Path) -> list[Place]:
    return play(shared, own, None).places


def transcript(sim: Dying) -> str:
    commands = f"{len(sim.world.given)} command given, {sum(c.took_effect for c in sim.world.given)} took effect"
    (run,) = sim.portal.tables.runs.values()
    return "\n".join([f"## {sim.place}", "", "```", *sim.trace, "```", "", f"{commands}; the run is {run.state.status}.", ""])


def page() -> Iterator[str]:
    yield HEAD
    with room() as folder:
        folders = prepare(folder)
        for place in places(*folders):
            yield transcript(play(*folders, place))


def main() -> int:
    logging.disable(logging.CRITICAL)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join(page()))
    print(f"{PAGE} is written.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
