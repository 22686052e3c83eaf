"""Any runbook, walked through the portal from its situation, with the agent's own code on the node's side."""

from collections.abc import Callable

from app.fleet.models import Situation
from app.ledger.models import LedgerEvent
from app.runs import services
from app.runs.models import Run
from app.runs.tests.cast import Played, act
from workflows.engine import events as ev


class Walk:
    """ann asks, bob approves, and somebody stands at the rack."""

    def __init__(self, node: Played, ann, bob, runbook: str) -> None:
        self.node, self.ann, self.bob = node, ann, bob
        answers = [(s, a) for s in Situation.objects.filter(node__name=node.name) for a in s.data["answers"] if a["runbook"] == runbook]
        found, answer = answers[0]
        self.run = services.start_run(ann, runbook, answer["params"], found.key)
        self.choices: dict[str, str] = {}  # at a DECIDE step; else the first that fits
        self.typed: dict[str, str | Callable[[], str]] = {}  # at a MANUAL step
        self.hands: dict[str, Callable[[], object]] = {}  # what somebody does at the rack while a WAIT step waits

    def to(self, step: str = "") -> Run:
        for _ in range(60):
            self.run.refresh_from_db()
            if self.run.step == step or self.run.ended_at:
                return self.run
            self.go()
        raise AssertionError(f"stuck at {self.run.step}: {self.run.here.note} {self.run.here.verdicts}")

    def go(self) -> None:
        state, kind = self.run.here, services.step_of(self.run).kind
        if state.status in ("planning", "ordered"):
            self.node.work()
        elif kind == "WAIT":
            self.hands.get(state.step, lambda: None)()
            self.look()
        elif kind == "VERIFY":
            self.node.work()
        elif kind == "MANUAL":
            typed = self.typed[state.step]
            act(self.run, ev.HandsDone, self.ann, evidence=typed if isinstance(typed, str) else self._typed(typed))
        elif kind == "DECIDE":
            fit = [o.value for o in services.options(self.run) if all(v.outcome == "pass" for v in o.verdicts)]
            act(self.run, ev.Chosen, self.ann, value=self.choices.get(state.step) or fit[0])
        elif kind == "CONFIRM":
            words = services.step_of(self.run).phrase(state.params, state.plan)
            act(self.run, ev.Confirmed, self.ann, text=words)
        elif kind == "APPROVE":
            act(self.run, ev.Approved, self.bob, plan_digest=state.plan_digest)
        else:
            act(self.run, {"CHECK": ev.CheckAsked, "PLAN": ev.PlanAsked, "EXECUTE": ev.ExecuteAsked}[kind], self.ann)

    def _typed(self, doing: Callable[[], str]) -> str:
        words = doing()
        self.node.report()
        return words

    def look(self) -> None:
        self.node.report()
        services.advance_from_facts(self.node.name)
        self.run.refresh_from_db()

    def page(self, client, reader=None) -> str:
        client.force_login(reader or self.ann)
        return " ".join(client.get(self.run.get_absolute_url()).content.decode().split())


def event_types(run: Run) -> list[str]:
    return list(LedgerEvent.objects.filter(run=str(run.pk)).order_by("run_seq").values_list("type", flat=True))
