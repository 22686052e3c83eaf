"""The people of the simulation: they act on pages that may be old, click twice, change their minds and disagree."""

from __future__ import annotations

from tests.simulator import swap
from tests.simulator.portal import BOOK, PortalDied, Run
from workflows.engine import events as ev
from workflows.engine.core import blockers

PEOPLE = ("ann", "bob", "eve", "dan")
RIGHTS = {"ann": ("operate",), "bob": ("operate", "approve"), "eve": ("operate", "approve"), "dan": ("approve", "operate")}


class Crowd:
    def __init__(self, sim) -> None:
        self.sim = sim
        self.pages: dict[str, Run] = {}  # what each person has open
        self.reasons: dict[str, str] = {}  # run -> the last refusal
        self.rounds: dict[str, int] = {}  # run -> rounds without news, at the end

    @property
    def rng(self):
        return self.sim.rng

    @property
    def portal(self):
        return self.sim.portal

    def why(self, run_id: str) -> str:
        return self.reasons.get(run_id, "")

    def begin(self) -> None:
        lost = sorted(place for place, disk in self.sim.world.members.items() if disk == "")
        if not lost:
            return
        pool, vdev = self.rng.choice(lost)
        person = self.rng.choice(PEOPLE)
        params = {"node": self.sim.world.homes[pool], "pool_guid": pool, "vdev_guid": vdev}
        self.sim.log(f"{person} begins a run for {pool}/{vdev}: {self.portal.begin(person, params) or 'done'}")

    def take_over(self) -> None:
        running = sorted(run.id for run in self.portal.tables.runs.values() if not run.ended)
        if running:
            run_id, person = self.rng.choice(running), self.rng.choice(PEOPLE)
            self.sim.log(f"{person} takes over from {run_id}: {self.portal.take_over(person, run_id) or 'done'}")

    def act(self) -> None:
        """Someone acts on some run, mostly as its page asks; sometimes on an old page, sometimes twice, sometimes oddly."""
        open_runs = sorted((run for run in self.portal.tables.runs.values() if not run.ended), key=lambda run: run.id)
        if not open_runs:
            return
        run = self.rng.choice(open_runs)
        person = self._whose_turn(run) if self.rng.random() < 0.8 else self.rng.choice(PEOPLE)
        page = self.pages.get(person)
        if page is None or page.id != run.id or self.rng.random() < 0.8:
            page = self.pages[person] = run
        kind, fields = self._oddly(page) if self.rng.random() < 0.15 else self._as_asked(page, person)
        if kind is None:
            return
        for _ in range(2 if self.rng.random() < 0.1 else 1):
            self.post(person, page, kind, **fields)

    def post(self, person: str, page: Run, kind, **fields) -> str:
        try:
            reason = self.portal.act(person, page.id, page.version, kind, **fields)
        except PortalDied:
            reason = "no answer; they will load the page again"
        self.sim.log(f"{person}: {kind.__name__} on {page.id} at {page.state.step}: {reason or 'done'}")
        self.reasons[page.id] = reason
        return reason

    def _as_asked(self, run: Run, person: str):
        state = run.state
        if state.status == "unknown":
            return self._settle(run)
        if state.status == "stopped":
            return ev.PlanAsked, {}
        if state.status != "open":
            return None, {}
        return {
            "DECIDE": lambda: (
                ev.Chosen,
                {"value": self.rng.choice(sorted(self._blank() if self.rng.random() < 0.8 else self.sim.world.disks))},
            ),
            "CHECK": lambda: (ev.CheckAsked, {}),
            "PLAN": lambda: (ev.PlanAsked, {}),
            "CONFIRM": lambda: (ev.Confirmed, {"text": state.params["wwid"]}),
            "APPROVE": lambda: (ev.Approved, {"plan_digest": state.plan_digest}),
            "EXECUTE": lambda: (ev.ExecuteAsked, {}),
        }[BOOK.step(state.step).kind]()

    def _blank(self) -> list[str]:
        disks = self.sim.world.disks
        return [disk for disk, use in disks.items() if not use] or list(disks)

    def _whose_turn(self, run: Run) -> str:
        state = run.state
        waits = state.status == "open" and BOOK.step(state.step).kind == "APPROVE"
        return (self._judge(state) if waits else self._hand(state)) or self.rng.choice(PEOPLE)

    def _oddly(self, run: Run):
        return self.rng.choice(
            (
                (ev.PlanAsked, {}),
                (ev.ExecuteAsked, {}),
                (ev.Denied, {"plan_digest": run.state.plan_digest, "reason": "No."}),
                (ev.WentBack, {"step": self.rng.choice(BOOK.steps).slug}),
                (ev.Aborted, {"reason": "Enough."}),
                (ev.Settled, {"outcome": "did", "reason": "I think so."}),
                (ev.Approved, {"plan_digest": "0" * 64}),
            )
        )

    def _settle(self, run: Run):
        """What can be seen on the node; nobody speaks while the command still runs there."""
        commands = [c for c in self.sim.world.given if self.sim.sealed[c.order].plan == run.state.order.plan_digest]
        if any(not command.ended for command in commands):
            return None, {}
        outcome = "did" if any(command.took_effect for command in commands) else "did_not"
        return ev.Settled, {"outcome": outcome, "reason": "I looked at the node."}

    # --- when the faults are over

    def do_what_is_asked(self) -> None:
        for run in sorted(self.portal.tables.runs.values(), key=lambda run: run.id):
            if not run.ended:
                self._lead_on(run)

    def _lead_on(self, run: Run) -> None:
        state = run.state
        self.rounds[run.id] = self.rounds.get(run.id, 0) + 1
        if state.status == "unknown":
            for person in ("bob", "eve"):
                now = self.portal.tables.runs[run.id]
                if now.state.status == "unknown" and (settle := self._settle(now))[0]:
                    self.post(person, now, settle[0], **settle[1])
            return
        kind, fields = self._as_asked(run, "")
        if kind is None or state.status == "planning":
            return
        if kind is ev.Chosen:
            fields = {"value": self._fit(run)}
            if not fields["value"]:
                self.post(state.requester, run, ev.Aborted, reason="No disk is left, or the member is there again.")
                return
        person = self._judge(state) if kind is ev.Approved else self._hand(state)
        if self.post(person, run, kind, **fields):
            self._otherwise(run, kind)

    def _judge(self, state) -> str:
        return next((p for p in PEOPLE if p not in state.hands and "approve" in RIGHTS[p]), "")

    def _hand(self, state) -> str:
        judges = {approval.by for approval in state.approvals}
        return next(p for p in (state.requester, *PEOPLE) if p not in judges)

    def _fit(self, run: Run) -> str:
        facts = self.portal.facts(run.node)
        if swap.the_member_is_absent(facts, run.state.params).outcome == "refuse":
            return ""
        options = BOOK.step("choose").options(facts, run.state.params)
        held = {key for key, (holder, _) in self.portal.tables.locks.items() if holder != run.id}
        return next((o.value for o in options if not blockers(o.verdicts) and f"disk:{o.value}" not in held), "")

    def _otherwise(self, run: Run, kind) -> None:
        """What was asked is refused: a new plan, another disk, or the end, as a person would."""
        now = self.portal.tables.runs[run.id]
        if now.ended or now.state.status not in ("open", "stopped"):
            return
        if kind in (ev.ExecuteAsked, ev.Approved, ev.Confirmed) and "plan" in self.why(run.id).lower():
            if self.post(self._hand(now.state), now, ev.PlanAsked):
                self.post(self._hand(now.state), now, ev.WentBack, step="choose")
        elif kind in (ev.CheckAsked, ev.PlanAsked, ev.ExecuteAsked) and now.state.step != "choose" and "holds" not in self.why(run.id):
            self.post(self._hand(now.state), now, ev.WentBack, step="choose")
        elif kind is ev.Approved:
            self.post(now.state.requester, now, ev.Aborted, reason="Everybody had a hand in it.")
