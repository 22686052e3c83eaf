"""Plays a runbook on twins: the real engine decides, the operations themselves carry out, and no real node is asked anything.

What an agent asks before it runs an order is asked here too: the same argv, the same facts, the operation's own guards. Where hands
or a second person are needed, the rehearsal says so and takes it for done. Where a person has to choose and has not, it ends and asks.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from agents.collectors.base import decode
from agents.operations import OPERATIONS, base
from twin.host import TwinHost
from twin.model import Node
from workflows.analysis.rewind_points import timeline
from workflows.engine import events as ev
from workflows.engine import plan_losses
from workflows.engine.core import (
    ApproveStep,
    CheckStep,
    ConfirmStep,
    DecideStep,
    ExecuteStep,
    ManualStep,
    Option,
    PlanStep,
    Runbook,
    Step,
    Verdict,
    VerifyStep,
    WaitStep,
    blockers,
    warnings,
)
from workflows.engine.decide import Decision, Refused, decide
from workflows.engine.state import ENDED, Finished, RunState
from workflows.facts import FleetFacts
from workflows.rehearsal import fidelity
from workflows.rehearsal.assumptions import Supposition, suppositions
from workflows.rehearsal.hand import ASSUMED_DONE, CannotSuppose, Hand
from workflows.rehearsal.known_facts import Stage
from workflows.rehearsal.simulated_technician import every_hand
from workflows.rehearsal.story import Act, Choice, Ending, Line, Rehearsed

LOOKS = 12  # at a waiting step
LOOK_SECONDS_MAX = 1800.0
STEPS_MAX = 120  # no runbook comes near it; ways lead forward only
RESILVER_SECONDS = 600.0
SUPPOSE = "suppose"  # no step: what whoever rehearses takes for so
OPERATOR, APPROVER = "the operator", "the approver"
WHO = {
    "DECIDE": "an operator chooses",
    "CHECK": "an operator asks",
    "PLAN": "the node plans",
    "CONFIRM": "an operator types",
    "APPROVE": "another person approves",
    "EXECUTE": "the node does it",
    "WAIT": "the portal waits",
    "VERIFY": "the node looks again",
    "MANUAL": "a person does it by hand",
}
# What the twin makes up where a real node has its own mind.
MADE_UP = {
    "zpool_replace": "That no other content is found on the new disk, how long the resilver takes, and how much it writes.",
    "zpool_add_class": "That no other content is found on the new disks.",
    "zpool_replace_partition": "That no other content is found on the new partition, how long the resilver takes, and how much it writes.",
    "partition_copy": "That the new disk takes the table.",
    "proxmox_boot_init": "That the boot files fit on the partition. Whether the node boots from it no rehearsal shows.",
    "zpool_scrub_pause": "How far the scrub is by then.",
    "zpool_remove_vdev": "That every block can be read, and how long the copy takes.",
    "zpool_scrub_stop": "How far the scrub is by then, and what it found.",
    "zfs_destroy_snapshot": "That nothing else in the pool needs the snapshot.",
    "zpool_scrub": "That the scrub finds nothing, and how long it takes.",
    "zpool_resilver": "That the resilver ends without errors, and how long it takes.",
    "set_tunable": "How much faster it gets and how much longer others wait.",
    "set_drive_mode": "That the disk takes the mode.",
    "smart_self_test": "That the self-test ends as this disk's last one.",
    "zpool_import_readonly": "That what the labels lead to can be read.",
    "zpool_import_dry_run": "What it would discard.",
    "zpool_import_rewind": "That what the labels lead to can be read.",
    "zpool_import_txg": "Which point can be loaded. That is what was supposed at the beginning, and nothing the node has said.",
    "zpool_import_ordinary": "That what the labels lead to can be read.",
    "zpool_import_without_log": "That what the labels lead to can be read. What is lost with the log is not in any node's report.",
    "zpool_import_writable": "That what the labels lead to can be read.",
    "zpool_import_fenced": "That what the labels lead to can be read, and that ZFS finds no other host.",
    "zpool_rewind": "Which point can be loaded, and how fast the pool is used and writes past what it left behind.",
    "disk_rescan": "That no disk comes up that the node did not show before.",
    "zdb_without": "Whether zdb opens the pool. That follows from what was supposed at the beginning.",
    "zpool_set_path": "That the disk answers under its new name.",
    "zpool_clear": "That the disks answer afterwards.",
}


class Over(Exception):
    """The rehearsal ends here."""

    def __init__(self, ending: Ending, reason: str) -> None:
        super().__init__(reason)
        self.ending, self.reason = ending, reason


@dataclass(frozen=True)
class Asked:
    """What is rehearsed. `choices` is what a person picked, by step; `late` says that the time for it is up."""

    runbook: Runbook
    params: Mapping[str, str]
    choices: Mapping[str, str]
    late: Callable[[], bool] = lambda: False


def rehearse(asked: Asked, stage: Stage) -> Rehearsed:
    """Walk the runbook as far as it can be foretold. Nothing but the stage's twins is touched."""
    play = Play(asked, stage)
    try:
        play.to_the_end()
    except Over as over:
        play.rehearsed.ending, play.rehearsed.reason = over.ending, over.reason
    except CannotSuppose as why:
        play.rehearsed.ending, play.rehearsed.reason = "stops", str(why)
    return play.closed()


class Play:
    def __init__(self, asked: Asked, stage: Stage) -> None:
        self.asked, self.runbook, self.stage = asked, asked.runbook, stage
        self.state = RunState(params=dict(asked.params), requester=OPERATOR)
        self.kept: dict[str, Any] = {}  # what hands hold
        self.rehearsed = Rehearsed(self.runbook.slug, gaps=list(stage.gaps))
        self._hand_done: set[str] = set()
        self._effects: tuple[ev.Effect, ...] = ()
        for seen in stage.seen.values():
            with seen.host.store.changing() as node:
                node.knobs.resilver_seconds = RESILVER_SECONDS
            self.rehearsed.gaps += seen.made.gaps
            self.rehearsed.gaps += fidelity.elsewhere(seen.report.facts, seen.at_first)

    @property
    def params(self) -> Mapping[str, str]:
        return self.state.params

    @property
    def host(self) -> TwinHost:
        return self.stage.host(self.params["node"])

    @property
    def node(self) -> Node:
        return self.host.view().node

    @property
    def step(self) -> Step:
        return self.runbook.step(self.state.step)

    def to_the_end(self) -> None:
        self._is_the_node()
        self._suppose()
        self._must(ev.Start, by=OPERATOR)
        for _ in range(STEPS_MAX):
            if self.state.status in ENDED:
                self.rehearsed.ending, self.rehearsed.reason = "done", "The run would come to its end."
                return
            self._on_time()
            before = self.state.finished
            self._do(self.step)
            self._passed_over(before)
        raise Over("stops", "The run takes more steps than any runbook has. Report this as a fault of the runbook.")

    def closed(self) -> Rehearsed:
        self.rehearsed.loops = [open_.what for open_ in self.state.loops]
        self.rehearsed.commands = [line["argv"] for line in self.host.store.logged()]
        self.rehearsed.pool = self._pool()
        return self.rehearsed

    def _is_the_node(self) -> None:
        seen, guid = self.stage.seen[self.params["node"]], self.params.get("pool_guid", "")
        if guid and (against := fidelity.of_the_pool(seen.report.facts, seen.at_first, guid)):
            raise Over("stops", f"A twin made from this report does not show the pool as the node does. {' '.join(against)}")

    def _suppose(self) -> None:
        """Why a pool cannot be read only an import shows, so a person says what is to be supposed."""
        name = self.params.get("pool", "")
        for node, seen in self.stage.seen.items():
            if name in seen.made.damaged:
                pool = seen.host.view().node.pool(name)
                line = timeline(self.stage.facts(), node, pool.guid)
                picked = self._supposed(name, suppositions(pool, seen.made.damaged[name], line))
                with seen.host.store.changing() as twin:
                    picked.applied_to(twin, twin.pool(name))

    def _supposed(self, name: str, offered: tuple[Supposition, ...]) -> Supposition:
        picked = next((one for one in offered if one.choice.value == self.asked.choices.get(SUPPOSE)), None)
        if picked is None:
            self.rehearsed.asks, self.rehearsed.choices = SUPPOSE, [one.choice for one in offered]
            raise Over("asks", f"Why {name} cannot be read only an import shows. Say what is to be supposed, and the rehearsal goes on.")
        text = f"{picked.choice.title}. {picked.choice.detail}"
        self.rehearsed.acts.append(Act(SUPPOSE, "What is supposed", "DECIDE", "whoever rehearses", supposed=text))
        return picked

    # --- one step

    def _do(self, step: Step) -> None:
        act = Act(step.slug, step.title, step.kind, WHO[step.kind])
        self.rehearsed.acts.append(act)
        _STEPS[step.kind](self, step, act)

    def _on_time(self) -> None:
        if self.asked.late():
            raise Over("stops", "The time for this rehearsal is over. What is above holds as far as it goes.")

    def _passed_over(self, before: tuple[Finished, ...]) -> None:
        for finished in self.state.finished[len(before) :]:
            if finished.passed_over:
                step = self.runbook.step(finished.step)
                self.rehearsed.acts.append(Act(step.slug, step.title, step.kind, "passed over", note=finished.note))

    def _send(self, kind: type[ev.Event], **fields: Any) -> Decision | Refused:
        self.stage.clock.sleep(1)
        outcome = decide(self.runbook, self.state, kind(at=self.stage.clock.at, **fields))
        if isinstance(outcome, Decision):
            self.state, self._effects = outcome.state, outcome.effects
        return outcome

    def _must(self, kind: type[ev.Event], **fields: Any) -> Decision:
        outcome = self._send(kind, **fields)
        if isinstance(outcome, Refused):
            self._refused(outcome.reason, outcome.verdicts)
        return outcome

    def _refused(self, reason: str, verdicts: tuple[Verdict, ...]) -> NoReturn:
        if self.rehearsed.acts and verdicts:
            self.rehearsed.acts[-1].lines = _lines(verdicts)
        raise Over("refused", reason)

    def _ask(self, act: Act, kind: type[ev.Event], **fields: Any) -> None:
        """A step that guards answer. Their verdicts are recorded, whatever they are."""
        facts, step = self._facts(), self.step
        before = {earlier_warning for other in self.rehearsed.acts for earlier_warning in other.warned}
        act.warned = tuple(warning for warning in warnings(step, facts, self.params) if warning not in before)
        outcome = self._must(kind, facts=facts, **fields)
        act.lines = _lines(_verdicts_of(outcome))
        act.note = act.note or _note(self.state, act.step)

    def _facts(self) -> FleetFacts:
        self._on_time()
        return self.stage.facts()

    def _by(self, step: Step) -> str:
        return "" if step.unattended else OPERATOR

    # --- steps of people

    def _decide(self, step: DecideStep, act: Act) -> None:
        options = step.options(self._facts(), self.params)
        value = self.asked.choices.get(step.slug, "")
        if not any(option.value == value for option in options):
            value = self._only(options) or self._which(step, options)
        picked = next(option for option in options if option.value == value)
        act.note = f"{picked.title}." if len(options) > 1 else f"{picked.title}. There is no other way."
        self._ask(act, ev.Chosen, by=OPERATOR, value=value)

    @staticmethod
    def _only(options: tuple[Option, ...]) -> str:
        return options[0].value if len(options) == 1 and not blockers(options[0].verdicts) else ""

    def _which(self, step: Step, options: tuple[Option, ...]) -> NoReturn:
        fit = [option for option in options if not blockers(option.verdicts)]
        self.rehearsed.choices = [Choice(o.value, o.title, o.detail, tuple(v.reason for v in blockers(o.verdicts))) for o in options]
        if not fit:
            raise Over("refused", f"{step.title}: nothing can be chosen here. What each is refused for is below.")
        self.rehearsed.asks = step.slug
        raise Over("asks", f"{step.title}: pick one below, and the rehearsal goes on.")

    def _check(self, step: CheckStep, act: Act) -> None:
        self._ask(act, ev.CheckAsked, by=OPERATOR)

    def _manual(self, step: ManualStep, act: Act) -> None:
        answer = self._by_hand(step, act)
        self._ask(act, ev.HandsDone, by=OPERATOR, evidence=answer)

    def _by_hand(self, step: Step, act: Act) -> str:
        hand = every_hand().get((self.runbook.slug, step.slug), Hand("") if step.kind == "WAIT" else Hand("It was done as the step asks."))
        act.supposed = hand.supposes
        return hand.does(self) if hand.supposes else ASSUMED_DONE

    def _confirm(self, step: ConfirmStep, act: Act) -> None:
        phrase = step.phrase(self.params, self.state.plan or {})
        act.note = f"Read off the plan and typed. {step.phrase_hint}"
        self._must(ev.Confirmed, by=OPERATOR, text=phrase)

    def _approve(self, step: ApproveStep, act: Act) -> None:
        needed = max(1, step.approvals)
        act.note = f"{needed} other {'person' if needed == 1 else 'people'} must read and approve the plan. It is taken for approved."
        for number in range(needed):
            self._must(ev.Approved, by=f"{APPROVER} {number + 1}", plan_digest=self.state.plan_digest, accepted=self._accepted(act))

    def _accepted(self, act: Act) -> str:
        """What whoever approves or gives the order must accept by name is taken for accepted, and said."""
        wanted = plan_losses.to_accept(self.state.plan or {})
        act.lost = (wanted,) if wanted else ()
        return wanted

    # --- the node

    def _plan(self, step: PlanStep, act: Act) -> None:
        act.lost = plan_losses.lost(step.adds(self._facts(), self.params, {})) if step.adds else ()
        self._ask(act, ev.PlanAsked, by=self._by(step))
        asked = self.state.asked
        if asked is None:
            raise Over("stops", "The engine asked the node for nothing. Report this as a fault.")
        answer = OPERATIONS["plan"].run(self.host, {"operation": asked.operation, "params": json.dumps(dict(asked.params))})
        if answer.outcome != "succeeded":
            raise Over("refused", f"The node would not plan this: {answer.reason}")
        self._must(ev.PlanArrived, number=asked.number, plan=answer.result, facts=self._facts())
        if self.state.step == step.slug and self.state.status == "open":
            self._refused(self.state.note, self.state.verdicts)
        act.argv, act.lost = tuple((self.state.plan or {}).get("argv", ())), plan_losses.lost(self.state.plan or {})
        act.note = "The node would run this."

    def _execute(self, step: ExecuteStep, act: Act) -> None:
        self._ask(act, ev.ExecuteAsked, by=self._by(step), accepted=self._accepted(act))
        seal = next(effect for effect in self._effects if isinstance(effect, ev.Seal))
        act.argv, act.supposed = seal.argv, MADE_UP.get(seal.operation, "")
        for status in ("OFFERED", "CLAIMED", "STARTED"):
            self._moved(status)
        self._carry_out(seal, act)
        act.pool = self._pool()
        act.note = self.state.note if self.state.status == "stopped" else act.note
        if self.state.status in ("stopped", "unknown"):
            raise Over("refused", self.state.note)

    def _moved(self, status: str, **fields: Any) -> None:
        self._must(ev.OrderMoved, plan_digest=self.state.order.plan_digest if self.state.order else "", status=status, **fields)

    def _carry_out(self, seal: ev.Seal, act: Act) -> None:
        operation, params = OPERATIONS[seal.operation], dict(seal.params)
        if why := _refusal(operation, self.host, params, seal):
            return self._moved("REFUSED", reason=why)
        ran = base.act(operation, self.host, params)
        output = decode(ran.stdout + ran.stderr)
        act.exit_code, act.printed, act.note = ran.exit_code, output, "The command is done." if ran.exit_code is not None else ran.why
        if ran.exit_code is not None and base.went_well(operation, ran):
            operation.aftermath(self.host, params)
            return self._moved("SUCCEEDED", output=output)
        probe = operation.probe(self.host, params, seal.preconditions)
        how = "FAILED" if ran.exit_code is not None and probe.result == "did_not" else "UNKNOWN"
        act.note = f"`{' '.join(ran.argv)}` would exit {ran.exit_code}. {probe.reason}"
        return self._moved(how, reason=act.note, probe=probe.result, evidence=tuple(c.digest for c in probe.evidence), output=output)

    def _wait(self, step: WaitStep, act: Act) -> None:
        self._by_hand(step, act)
        lasts = step.lasts(self.params) if step.lasts else 0
        pause = max(min(LOOK_SECONDS_MAX, step.deadline_seconds / LOOKS), 1.2 * lasts / LOOKS)
        for look in range(LOOKS):
            self.stage.clock.sleep(pause)
            if look >= LOOKS // 2 and not lasts:
                self._to_the_end_of_its_scan()
            self._must(ev.FactsArrived, facts=self._facts())
            if self.state.step != step.slug or self.state.status in ENDED:
                act.note = _note(self.state, step.slug)
                return
        act.lines = _lines(self.state.verdicts)
        why = self.state.alarm or " ".join(verdict.reason for verdict in blockers(self.state.verdicts))
        raise Over("stops", f"This step waits for what only the node can show. {why}".strip())

    def _to_the_end_of_its_scan(self) -> None:
        ends = [pool.scan.ends_at for pool in self.node.pools if pool.scan and pool.scan.state == "running"]
        if ends:
            self.stage.clock.sleep(max(0.0, max(ends) - self.stage.clock.at) + 1)

    def _verify(self, step: VerifyStep, act: Act) -> None:
        self.stage.clock.sleep(2)
        asked = self.state.asked
        if asked is None:
            raise Over("stops", "The engine asked the node for nothing. Report this as a fault.")
        self._must(ev.FactsArrived, facts=self._facts(), number=asked.number, taken_after=self.stage.clock.at)
        act.lines = _lines(self.state.verdicts)
        if self.state.step == step.slug and self.state.status not in ENDED:
            self._refused(f"{step.title}: not everything would be as it should be.", self.state.verdicts)
        act.note = _note(self.state, step.slug)

    def _pool(self) -> str:
        """How the pool of the run stands by the twin: its `zpool status`, or that it is not imported."""
        name = self.params.get("pool", "")
        if not name:
            return ""
        ran = self.host.run(("zpool", "status", name), 30.0)
        return decode(ran.stdout) if ran.exit_code == 0 else f"{name} is not imported.\n"


_STEPS: dict[str, Callable[[Play, Any, Act], None]] = {  # each takes the kind of step it is listed for
    "DECIDE": Play._decide,
    "CHECK": Play._check,
    "PLAN": Play._plan,
    "CONFIRM": Play._confirm,
    "APPROVE": Play._approve,
    "EXECUTE": Play._execute,
    "WAIT": Play._wait,
    "VERIFY": Play._verify,
    "MANUAL": Play._manual,
}


def _lines(verdicts: tuple[Verdict, ...]) -> list[Line]:
    return [Line(verdict.outcome, verdict.reason) for verdict in verdicts]


def _verdicts_of(decision: Decision) -> tuple[Verdict, ...]:
    """What the guards said, as the ledger would have it."""
    for effect in decision.effects:
        if isinstance(effect, ev.Record) and "verdicts" in effect.body:
            return tuple(Verdict(outcome, reason, guard) for guard, outcome, reason in effect.body["verdicts"])
    return ()


def _note(state: RunState, step: str) -> str:
    return next((finished.note for finished in reversed(state.finished) if finished.step == step), "")


def _refusal(operation: Any, host: TwinHost, params: Mapping[str, str], seal: ev.Seal) -> str:
    """What the agent has against the order, as its executor asks; empty when nothing."""
    bad: str = operation.check(params)
    if bad:
        return bad
    if tuple(operation.argv(params)) != seal.argv:
        return "The order's argv is not what this agent would run."
    pre = operation.preconditions(host, params)
    changed = sorted(name for name in {*pre, *seal.preconditions} if pre.get(name) != seal.preconditions.get(name))
    if changed:
        return f"The node is not as it was planned: {', '.join(changed)} changed. Plan again."
    return " ".join(reason for outcome, reason in operation.guards(pre, params) if outcome != "pass")
