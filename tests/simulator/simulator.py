"""One seed, one schedule: people, portal, agents, network and clock in one process, and what must hold whatever happens.

A schedule is a list of (action, seed of its own luck), drawn before anything runs. So any part of it can be left out and
the rest stays what it was: that is how `smallest` turns a failing schedule into a short one. Every schedule ends with
the faults gone and people who do what is asked; then every run must come to its end.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from agents.portal.wire import fingerprint
from tests.simulator import people
from tests.simulator.agent import Agent, note
from tests.simulator.portal import Order, Portal, PortalDied, read
from tests.simulator.world import Given, World
from workflows.engine.state import ENDED, ORDER_MOVES, PURE_ORDER_MOVES

ACTIONS = 130
TRACE_MAX = 80  # lines of a failure that are shown
NODES = ("n1", "n2")
KEYS = {node: bytes([i]) * 32 for i, node in enumerate(NODES)}
# How often what is done. The names are methods of Simulation.
WEIGHTS = {
    "someone_acts": 70,
    "someone_begins": 12,
    "agent_turns": 40,
    "agent_polls": 12,
    "agent_works": 16,
    "agent_sends": 6,
    "agent_starts": 16,
    "agent_is_killed": 2,
    "node_reports": 24,
    "report_comes_late": 2,
    "child_ends": 4,
    "worker_ticks": 12,
    "beat_sweeps": 5,
    "late_message_comes": 4,
    "time_passes": 8,
    "its_end_is_lost": 16,
    "clock_jumps": 3,
    "node_clock_jumps": 3,
    "disk_fills_or_empties": 4,
    "journal_is_saved": 2,
    "journal_is_put_back": 3,
    "rights_change": 4,
    "someone_takes_over": 3,
    "portal_is_saved": 2,
    "portal_is_put_back": 2,
}
# Most schedules know only a few of these, so that the others have room to go deep.
SOMETIMES = (
    "clock_jumps",
    "node_clock_jumps",
    "disk_fills_or_empties",
    "journal_is_put_back",
    "rights_change",
    "someone_takes_over",
    "portal_is_put_back",
)
Action = tuple[str, int]
Schedule = Sequence[Action]


class Violation(AssertionError):
    """Something that must hold did not."""


def schedule(seed: int, actions: int = ACTIONS) -> list[Action]:
    rng = random.Random(seed)
    absent = {name for name in SOMETIMES if rng.random() < 0.6}
    weights = {name: weight for name, weight in WEIGHTS.items() if name not in absent}
    names = rng.choices(list(weights), list(weights.values()), k=actions)
    if actions >= 50 and rng.random() < 0.6:  # the faults begin when runs are well on their way
        names = ["someone_begins", "someone_begins", *["all_is_calm"] * rng.randint(2, 6), *names]
    return [(name, rng.getrandbits(32)) for name in names]


class Simulation:
    """`trace` tells what happened, for the one who reads a failure."""

    def __init__(self, shared: Path, own: Path) -> None:
        self.shared, self.own = shared, own
        self.world = World(
            homes={"p1": "n1", "p2": "n2"},
            members={("p1", "v1"): "", ("p1", "v2"): "", ("p2", "v3"): ""},
            disks={"d1": "", "d2": "", "d3": "", "d4": "", "old": "p1/v9"},
        )
        self.rng = random.Random(0)
        self.calm = False
        self.trace: list[str] = []
        self.seen: Counter[str] = Counter()  # how often what happened, for the figures
        self.portal_skew = 0.0
        self.depth = self.counted = 0
        self.acting: Agent | None = None
        self.late: list[tuple[str, str, str, dict]] = []
        self.old_reports: list[tuple[str, int, str, float]] = []
        self.no_longer_may: set[str] = set()
        self.epoch = self.world.clock
        self.portal = self.make_portal()
        self.saved = self.portal.tables.copy()
        self.put_back = 0  # how often an old database or journal was put back
        self.history: list[dict] = []  # every event the portal ever committed, also those lost with a database
        self.sealed: dict[str, Order] = {}
        self.done: set[str] = set()
        self.agents = {node: Agent(self, node, KEYS[node], own) for node in NODES}
        self.crowd = people.Crowd(self)

    def make_portal(self):
        return Portal(self, {node: fingerprint(KEYS[node]) for node in NODES})

    # --- luck, time and telling

    def luck(self, odds: float) -> bool:
        return not self.calm and self.rng.random() < odds

    def log(self, line: str) -> None:
        self.trace.append(f"{self.world.clock - self.epoch:9.1f}  {line}")

    def count(self) -> int:
        self.counted += 1
        return self.counted

    def secret(self, size: int) -> bytes:
        """Nobody guesses here, and the same seed must give the same bytes."""
        return self.count().to_bytes(size, "big")

    def sleep(self, seconds: float) -> None:
        self.world.clock += seconds
        if self.luck(0.2) or self.calm:
            self.child_ends()

    def may(self, person: str, right: str) -> bool:
        return f"{person}:{right}" not in self.no_longer_may and right in people.RIGHTS.get(person, ())

    def meanwhile(self) -> None:
        """While one waits for an answer, others go on."""
        if self.depth:
            return
        self.depth += 1
        outer, acting = self.rng, self.acting
        for name, seed in schedule(self.rng.getrandbits(32), self.rng.randint(1, 4)):
            self.do(name, seed, busy=acting)
        self.rng = outer
        self.depth -= 1

    def agent_dies(self, where: str, odds: float) -> bool:
        return self.luck(odds)

    def portal_dies(self, when: str) -> bool:
        return self.luck(0.01)

    def portal_may_die(self, when: str) -> None:
        if self.portal_dies(when):
            self.log(f"the portal dies {when}")
            raise PortalDied(f"The portal died {when}.")

    # --- a schedule

    def play(self, actions: Schedule) -> None:
        for name, seed in actions:
            self.do(name, seed)
        self.comes_to_an_end()

    def do(self, name: str, seed: int, busy: Agent | None = None) -> None:
        self.rng = random.Random(seed)
        self.busy = busy
        try:
            getattr(self, name)()
        except PortalDied:
            pass  # whoever asked got no answer; the trace says so
        self.check()

    def _agent(self) -> Agent | None:
        agent = self.agents[self.rng.choice(NODES)]
        return None if agent is self.busy else agent

    def someone_begins(self) -> None:
        self.crowd.begin()

    def someone_acts(self) -> None:
        self.crowd.act()

    def someone_takes_over(self) -> None:
        self.crowd.take_over()

    def agent_polls(self) -> None:
        if (agent := self._agent()) and agent.alive:
            agent.poll()

    def agent_works(self) -> None:
        if agent := self._agent():
            at = self.rng.randrange(8) if self.rng.random() < 0.3 else 0
            agent.guarded(lambda: agent.work(at))

    def all_is_calm(self) -> None:
        """Once around for everybody, without a fault."""
        if not self.depth:
            self.calm = True
            self._everybody_works()
            self.calm = False

    def its_end_is_lost(self) -> None:
        """A command was started, and its node falls silent for longer than a command may take."""
        started = [o for o in self.portal.tables.orders.values() if o.status == "STARTED" and not self.agents[o.node].alive]
        if started:
            self.world.clock += 400
            self.portal.sweep()

    def agent_turns(self) -> None:
        """Once around its loop."""
        if agent := self._agent():
            agent.start()
            agent.guarded(agent.poll)
            for _ in range(len(agent.inbox)):
                agent.guarded(lambda: agent.work(0))
            agent.guarded(agent.send_receipts)
            self.node_reports()

    def agent_sends(self) -> None:
        if agent := self._agent():
            agent.guarded(agent.send_receipts)

    def agent_starts(self) -> None:
        if agent := self._agent():
            agent.start()

    def agent_is_killed(self) -> None:
        if (agent := self._agent()) and agent.alive:
            self.log(f"{agent.node}: the agent is killed")
            agent.die()

    def node_reports(self) -> None:
        if (agent := self._agent()) and agent.alive:
            report = (agent.node, self.count(), self.world.text(agent.node), self.portal.now)
            if self.luck(0.1):
                self.old_reports.append(report)
            else:
                self.portal.report(*report)

    def report_comes_late(self) -> None:
        if self.old_reports:
            self.portal.report(*self.old_reports.pop(self.rng.randrange(len(self.old_reports))))

    def child_ends(self) -> None:
        running = [command for node in NODES for command in self.world.running(node)]
        if running:
            command = self.rng.choice(running)
            self.log(f"{command.node}: a command that outlived its agent ends")
            self.world.act(command)

    def worker_ticks(self) -> None:
        for run_id in self.rng.sample(sorted(self.portal.tables.runs), min(2, len(self.portal.tables.runs))):
            for _ in range(self.rng.choice((1, 1, 2))):
                self.portal.tick(run_id)

    def beat_sweeps(self) -> None:
        for _ in range(self.rng.choice((1, 1, 2))):
            self.portal.sweep()

    def late_message_comes(self) -> None:
        if self.late:
            node, order_id, word, body = self.late.pop(self.rng.randrange(len(self.late)))
            self.log(f"{node}: a late {word} {order_id} -> {self.received_by_portal(node, order_id, word, body) or 'go'}")

    def time_passes(self) -> None:
        self.world.clock += self.rng.choice((1, 5, 20, 50, 200))

    def clock_jumps(self) -> None:
        self.portal_skew += self.rng.choice((-3600, -60, 60, 400, 3600))
        self.log(f"the portal's clock jumps; it is off by {self.portal_skew:g} s")

    def node_clock_jumps(self) -> None:
        if agent := self._agent():
            agent.host.skew = self.rng.choice((-3600, -60, 0, 60, 3600))
            self.log(f"{agent.node}: its clock is off by {agent.host.skew} s")

    def disk_fills_or_empties(self) -> None:
        if agent := self._agent():
            agent.disk_full = not agent.disk_full
            self.log(f"{agent.node}: its disk is {'full' if agent.disk_full else 'empty again'}")

    def journal_is_saved(self) -> None:
        if agent := self._agent():
            agent.back_up()

    def journal_is_put_back(self) -> None:
        if agent := self._agent():
            agent.restore()

    def rights_change(self) -> None:
        self.no_longer_may ^= {f"{self.rng.choice(people.PEOPLE)}:{self.rng.choice(('operate', 'approve'))}"}

    def portal_is_saved(self) -> None:
        if not self.depth:
            self.saved = self.portal.tables.copy()

    def portal_is_put_back(self) -> None:
        if not self.depth and self.saved.ledger != self.portal.tables.ledger:
            self.portal.tables = self.saved.copy()
            self.portal.known = len(self.saved.ledger)
            self.put_back += 1
            self.log(f"the portal's database of {len(self.saved.ledger)} events is put back")

    # --- what connects them

    def received_by_portal(self, node: str, order_id: str, word: str, body: dict) -> str:
        if word == "receipt":
            return self.portal.receipt(node, order_id, body)
        return self.portal.go(node, order_id, body["digest"], word)

    def proofs(self, offer: dict) -> dict:
        """What goes with an order that destroys: its approvals and its sealing, each with its path to the newest root."""
        order = json.loads(offer["order"])
        if not order["plan_digest"]:
            return {}
        tables, tree = self.portal.tables, self.portal.tree()
        wanted = self.portal.approved_at(order["plan_digest"]) + self.portal.sealed_at(offer["digest"])
        events = [{"body": tables.ledger[i].decode(), "index": str(i), "path": [h.hex() for h in tree.path(i)]} for i in wanted]
        return {"checkpoint": note(*self.portal.checkpoint()), "events": events}

    def committed(self) -> None:
        """The portal's transaction is durable: keep what it wrote, for the account."""
        tables = self.portal.tables
        self.sealed |= {order.id: order for order in tables.orders.values() if order.id not in self.sealed}
        for body in tables.ledger[self.portal.known :]:
            event = read(body)
            self.history.append(event)
            self.event_holds(event)
        self.portal.known = len(tables.ledger)

    # --- what must hold

    def broken(self, what: str) -> None:
        raise Violation(what)

    def need(self, fact: object, otherwise: str) -> None:
        if not fact:
            self.broken(otherwise)

    def event_holds(self, event: dict) -> None:
        self.seen[event["type"]] += 1
        if event["type"] == "order.moved":
            body = event["body"]
            if self.sealed[body["order"]].effect != "pure":
                self.seen[f"order {body['after']}"] += 1
            moves = PURE_ORDER_MOVES if self.sealed[body["order"]].effect == "pure" else ORDER_MOVES
            again = body["before"] == body["after"]  # the node says so too
            self.need(again or body["after"] in moves[body["before"]], f"An order went from {body['before']} to {body['after']}.")

    def command_given(self, agent: Agent, command: Given) -> None:
        """A destructive command is about to run: everything that must have come before has."""
        self.log(f"{agent.node}: runs {' '.join(command.argv)} for {command.order}")
        self.seen["command"] += 1
        self.seen["command amid faults"] += not self.calm
        others = [given for given in self.world.given if given is not command]
        order = self.sealed.get(command.order)
        self.need(order, "A command ran without an order.")
        held = agent.standing.reasons()
        self.need(not held, f"{order.id} ran although: {held}")
        self.need(all(given.order != order.id for given in others), f"{order.id} ran a second time.")
        plans = {self.sealed[given.order].plan for given in others}
        self.need(order.plan not in plans, f"The plan of {order.id} has had its command.")
        self.need(self._approved(order), f"{order.id} ran without an approval in the ledger by somebody who had no hand in it.")
        self.need(not [g for g in others if g.pool == command.pool and g.fence > command.fence], f"{order.id} ran with an old fence.")
        overlapping = [g for g in others if not g.ended and (g.pool == command.pool or g.disk == command.disk)]
        self.need(not overlapping, f"{order.id} ran while another command on the same pool or disk was still running.")
        self.need(self.world.members[command.pool, command.vdev] == "", f"{order.id} replaced a member that is there.")
        self.need(self.world.disks[command.disk] == "", f"{order.id} overwrote {command.disk}, which is in use.")
        now = self.portal.tables.orders.get(order.id)
        if not self.put_back:
            self.need(now.status in ("STARTED", "UNKNOWN"), f"{order.id} ran and the portal has it as {now.status}.")
            held = self.portal.tables.locks.get(f"pool:{command.pool}")
            self.need(now.status == "UNKNOWN" or held == (order.run, order.fence), f"{order.id} ran without holding its pool.")

    def _approved(self, order: Order) -> bool:
        shaped = {"run.started", "run.chosen", "run.plan-asked", "run.confirmed", "run.ordered", "run.went-back"}
        now = [read(body) for body in self.portal.tables.ledger]
        mine = [e for e in now if e["run"] == order.run]
        hands = {e["actor"] for e in mine if e["type"] in shaped}
        sealed = next((i for i, e in enumerate(mine) if e["type"] == "order.sealed" and e["body"]["order"] == order.id), 0)
        judges = {e["actor"] for e in mine[:sealed] if e["type"] == "run.approved" and e["body"]["plan_digest"] == order.plan}
        return bool(judges - hands)

    def check(self) -> None:
        tables = self.portal.tables
        self.need(len(set(tables.ledger)) <= len(tables.ledger), "The ledger forked.")
        for run in tables.runs.values():
            state = run.state
            if state.status == "done" and run.id not in self.done:
                self.done.add(run.id)
                place = (state.params["pool_guid"], state.params["vdev_guid"])
                self.need(self.world.members[place] == state.params["wwid"], f"{run.id} is done and its disk is not in its place.")
            if state.order_is_out and state.order.status not in ENDED:
                held = {key for key, (holder, _) in tables.locks.items() if holder == run.id}
                self.need(held, f"{run.id} has an order out and holds nothing.")
            if state.status in ("unknown", "stopped", "aborted"):
                self.need(state.note.strip(), f"{run.id} is {state.status} and does not say why.")

        for order in tables.orders.values():
            if order.status == "UNKNOWN" and not order.receipt:
                self.need(self._open_or_settled(order), f"Nobody has said what became of {order.id}, and {order.run} went on.")

    def _open_or_settled(self, order: Order) -> bool:
        if self.portal.tables.runs[order.run].state.status == "unknown":
            return True
        events = (e for e in map(read, self.portal.tables.ledger) if e["type"] == "run.settled")
        return len({e["actor"] for e in events if e["body"]["plan_digest"] == order.plan}) >= 2

    def comes_to_an_end(self) -> None:
        """The faults are over. Every run comes to an end, and what the account says is so."""
        self.calm, self.busy = True, None
        self.log("the faults are over")
        self.no_longer_may.clear()
        self.portal_skew = max(self.portal_skew, 0.0)
        for agent in self.agents.values():
            agent.disk_full, agent.host.skew = False, self.portal_skew
        for round in range(150):
            if round == 100:
                self._the_clock_catches_up()
            self._everybody_works()
            if all(run.ended for run in self.portal.tables.runs.values()) and not self._unsent():
                break
        self._nothing_is_stuck()
        self._check_agreement()

    def _the_clock_catches_up(self) -> None:
        """A run may wait for a clock that was set back, if it says so."""
        for run in self.portal.tables.runs.values():
            self.need(
                run.state.status != "waiting" or "clock" in run.state.note, f"{run.id} waits at {run.state.step} and does not say why."
            )
        self.world.clock += 10_000

    def _everybody_works(self) -> None:
        self.rng = random.Random(self.rng.getrandbits(32))
        for agent in self.agents.values():
            agent.start()
            agent.poll()
            while agent.inbox:
                agent.guarded(lambda agent=agent: agent.work(0))
            agent.guarded(agent.send_receipts)
            agent.guarded(agent.is_looked_after)
            with suppress(PortalDied):
                self.portal.report(agent.node, self.count(), self.world.text(agent.node), self.portal.now)
        while self.late:
            self.late_message_comes()
        self.child_ends()
        with suppress(PortalDied):
            self.portal.sweep()
        for run_id in sorted(self.portal.tables.runs):
            with suppress(PortalDied):
                self.portal.tick(run_id)
        self.crowd.do_what_is_asked()
        self.world.clock += 10
        self.check()

    def _unsent(self) -> bool:
        return any(not a.alive or any(e.order_id not in a.not_taken for e in a.journal.unsent()) for a in self.agents.values())

    def _nothing_is_stuck(self) -> None:
        for run in self.portal.tables.runs.values():
            state = run.state
            self.need(run.ended, f"{run.id} is stuck at {state.step}, {state.status}: {state.note or self.crowd.why(run.id)}")
            self.seen[f"run {state.status}"] += 1
        self.need(not self.portal.tables.locks, f"Ended runs hold {self.portal.tables.locks}.")

    def _check_agreement(self) -> None:
        """What became of every command is in the ledger, and an order that is said to have had no effect has none."""
        self.seen["effect"] += sum(command.took_effect for command in self.world.given)
        for command in self.world.given:
            order = self.portal.tables.orders.get(command.order)
            if order is None:
                self.need(self.put_back, f"{command.order} ran and the portal has no such order.")
                continue
            lines = [e for e in self.history if e["body"].get("order") == order.id and e["type"].startswith("order.receipt")]
            forgot = self.put_back or self.agents[command.node].forgot
            self.need(lines or forgot, f"{order.id} ran and no word of it is in the ledger.")
            if command.took_effect and not self.put_back:
                self.need(order.status not in ("REFUSED", "EXPIRED", "FAILED"), f"{order.id} took effect and is {order.status}.")


# --- running
