"""The vocabulary of situations and runbooks. Pure: no Django, no clock, no subprocess."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, ClassVar, Literal, TypeAlias

from agents.operations.base import needs_approval
from workflows.facts import FleetFacts, NotKnown

Outcome = Literal["pass", "refuse", "unknown"]
Severity = Literal["act", "watch", "info"]
SEVERITIES: tuple[Severity, ...] = ("act", "watch", "info")  # the worst first


@dataclass(frozen=True)
class Verdict:
    """What a guard concluded, in words an operator can act on. Only "pass" lets a step run."""

    outcome: Outcome
    reason: str
    guard: str = ""  # the guard's name, filled in by `ask`
    costs: bool = False  # it passes, and what it says is a loss: shown as one, never as a reason why the step is safe
    by_hand: bool = False  # it refuses the order only: a person may give the command, under all the other guards


def ok(reason: str) -> Verdict:
    return Verdict("pass", reason)


def at_a_cost(reason: str) -> Verdict:
    """It may be done, and something is lost by it."""
    return Verdict("pass", reason, costs=True)


def refuse(reason: str) -> Verdict:
    return Verdict("refuse", reason)


def unknown(reason: str) -> Verdict:
    return Verdict("unknown", reason)


Params = Mapping[str, str]  # a run's parameters: text only, guids as decimal strings
Guard = Callable[[FleetFacts, Params], Verdict]
Warns = Callable[
    [FleetFacts, Params], str
]  # what a person must know before going on, and what forbids nothing: a line each; "" when there is nothing


@dataclass(frozen=True)
class Evidence:
    """A line that a person can look up: which node, which source, which capture (SHA-256), which words."""

    node: str
    source: str  # "zpool_status", "zdb_label/sda1"
    digest: str
    line: str


@dataclass(frozen=True)
class Answer:
    """A runbook that answers a situation, with its parameters filled in."""

    runbook: str
    params: Mapping[str, str]
    why: str = ""


CureKind = Literal[
    "wait", "look", "reseat", "online", "clear", "detach", "export-import", "zgenhostid", "import-without-log", "import", "remove",
    "attach", "add", "scrub", "resilver", "replace", "restore", "upgrade", "cooling", "other",
]  # fmt: skip


@dataclass(frozen=True)
class Cure:
    """One thing that helps, in the order in which to try it. `argv` names vdevs by guid and disks by a stable path, never by sdX."""

    kind: CureKind
    text: str  # one or two sentences: what to do and what it does
    argv: tuple[tuple[str, ...], ...] = ()  # the commands, where no runbook types them
    releases: str = ""  # the OpenZFS releases the commands are right for: "0.8 and newer"; "" is all of them
    needs: str = ""  # what must hold before
    save_first: str = ""  # what is lost by it and must be written down before: "clear wipes the error counters"
    runbook: str = ""  # slug of the runbook that does it

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON, as docs/guide/triage-json.md has it; what there is not is null."""
        return {
            "kind": self.kind,
            "text": self.text,
            "commands": [list(argv) for argv in self.argv],
            "releases": self.releases or None,
            "needs": self.needs or None,
            "save_first": self.save_first or None,
            "runbook": self.runbook or None,
        }


@dataclass(frozen=True)
class Situation:
    """Something wrong, detected from facts. `key` is stable while the same thing stays wrong."""

    slug: str  # "wwid-mismatch"
    key: str  # "wwid-mismatch:<node>:<vdev guid>"
    node: str
    severity: Severity
    title: str  # one line for the fleet page
    meaning: str  # one paragraph for a tired reader
    evidence: tuple[Evidence, ...]
    answers: tuple[Answer, ...] = ()
    subject: Mapping[str, str] = field(default_factory=dict)  # pool, pool_guid, vdev_guid, wwid ...
    sure: bool = True
    cause: str = ""  # key of the open situation that explains this one
    cures: tuple[Cure, ...] = ()  # what helps, first things first
    gate: bool = False  # while it stands, no member of its pool is to be replaced
    vdevs: tuple[str, ...] = ()  # guids, or names where those are not known, of every vdev it explains; () is its `subject` alone


StepKind = Literal["CHECK", "PLAN", "CONFIRM", "APPROVE", "EXECUTE", "WAIT", "VERIFY", "MANUAL", "DECIDE"]


@dataclass(frozen=True)
class Option:
    """One thing an operator may pick in a DECIDE step, and what the guards say of it now."""

    value: str
    title: str
    detail: str
    verdicts: tuple[Verdict, ...]
    leads_to: str = ""  # slug of the step that follows this choice; "" is the next one
    fixes: Mapping[str, str] = field(default_factory=dict)  # run parameters that the choice settles too, all named in the step's `learned`


@dataclass(frozen=True)
class Progress:
    """How far a WAIT is: what the node printed, and how much of it is a number."""

    text: str
    percent: float | None = None
    eta: str | None = None
    lines: tuple[str, ...] = ()  # how long it still takes, by each way that is known


Effect = Literal["idempotent", "at_most_once"]

END = "end"  # where `then` and `leads_to` may lead besides a step: the run is done


@dataclass(frozen=True)
class Loop:
    """Something a run switches on that must be switched off again: a lit LED, an OFFLINE disk, a deleted device."""

    slug: str  # "lit"
    what: Callable[[Params], str]  # what is still switched on, for a person who reads it days later: "Bay 68 of 0x5005… is lit."
    undo: str  # how to close it by hand
    over: Guard  # passes when the node shows that it is closed


OperationParams = Callable[[FleetFacts, Params], Mapping[str, str]]  # run params -> operation params
Plan = Mapping[str, Any]  # as the node made it


class _Absent:
    """What the fields hold that every step can be asked for, in the kinds of step that do not declare them."""

    operation: str = ""
    destructive: bool = False
    param: str = ""
    sources: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    learned: tuple[str, ...] = ()
    fails_to: str = ""
    opens: Loop | None = None
    unattended: bool = False
    warns: tuple[Warns, ...] = ()


@dataclass(frozen=True)
class _Step(_Absent):
    """What all nine kinds of step have. A step without `operation` changes nothing on a node."""

    slug: str
    title: str
    why: str  # why it is asked and why it is safe, for the page
    guards: tuple[Guard, ...] = ()
    needed: Guard | None = None  # passes when the step is needed; where it refuses the step is passed over, a PLAN with its whole order
    then: str = ""  # slug of the step that follows, or END; "" is the next one
    closes: tuple[str, ...] = ()  # slugs of the loops that are closed when this step is finished
    undoes: str = ""  # on the way back: the loop this step is about; passed over when that is not open

    @property
    def at_the_rack(self) -> bool:
        """Whether a technician is asked for, or the bays are watched while one works."""
        return False

    @property
    def needs_approval(self) -> bool:
        """Whether this step is not done on one person's word."""
        return False


@dataclass(frozen=True, kw_only=True)
class CheckStep(_Step):
    """Asks its guards."""

    kind: ClassVar[Literal["CHECK"]] = "CHECK"
    warns: tuple[Warns, ...] = ()  # shown before the step; unlike a guard it never stops anybody


@dataclass(frozen=True, kw_only=True)
class PlanStep(_Step):
    """Asks the node, which changes nothing, for the exact command and what it will do."""

    kind: ClassVar[Literal["PLAN"]] = "PLAN"
    operation: str = field()  # name in the agent's catalogue
    params: OperationParams
    agrees: Callable[[FleetFacts, Params, Plan], tuple[Verdict, ...]] | None = None  # is the node's plan what was asked?
    adds: Callable[[FleetFacts, Params, Plan], Mapping[str, Any]] | None = None  # what the portal adds before the digest
    unattended: bool = False  # on the way back: the portal goes on by itself, as there is nothing left to decide
    warns: tuple[Warns, ...] = ()  # shown before the step, and bound into the plan


@dataclass(frozen=True, kw_only=True)
class ConfirmStep(_Step):
    """Has a person type a phrase of the plan."""

    kind: ClassVar[Literal["CONFIRM"]] = "CONFIRM"
    phrase: Callable[[Params, Plan], str]  # what must be typed
    phrase_hint: str


@dataclass(frozen=True, kw_only=True)
class ApproveStep(_Step):
    """Has other people approve the plan."""

    kind: ClassVar[Literal["APPROVE"]] = "APPROVE"
    approvals: int = 1  # how many people, none of whom had a hand in the run


@dataclass(frozen=True, kw_only=True)
class ExecuteStep(_Step):
    """Gives the node one order, of the operation that was planned."""

    kind: ClassVar[Literal["EXECUTE"]] = "EXECUTE"
    operation: str = field()  # name in the agent's catalogue
    effect: Effect  # what changes nothing is asked for by PLAN and VERIFY
    params: OperationParams
    destructive: bool = False
    learns: Callable[[str], Mapping[str, str]] | None = None  # output of the command -> run parameters, all named in `learned`
    learned: tuple[str, ...] = ()
    fails_to: str = ""  # the step that follows when the command failed without effect; "" stops the run there
    fails_means: str = ""  # what that failure means for what comes, in a sentence; wherever `fails_to` is
    opens: Loop | None = None  # from now on this stands open
    unattended: bool = False  # on the way back: the portal goes on by itself

    @property
    def needs_approval(self) -> bool:
        """What destroys, and what must not happen twice, is not done on one person's word. The database holds the same rule."""
        return needs_approval(self.effect, self.destructive)


@dataclass(frozen=True, kw_only=True)
class WaitStep(_Step):
    """Waits until a fact holds."""

    kind: ClassVar[Literal["WAIT"]] = "WAIT"
    until: Guard  # done when it passes
    deadline_seconds: int
    progress: Callable[[FleetFacts, Params], Progress] | None = None
    sources: tuple[str, ...] = ()  # what must be newer than the command
    alarm: Guard | None = None  # asked all along; while it does not pass, its reason stands above everything and nothing is done
    keeps: Callable[[FleetFacts, Params, float], Mapping[str, str]] | None = None  # what each look adds to the parameters in `learned`
    learned: tuple[str, ...] = ()
    lasts: Callable[[Params], int] | None = None  # over after so many seconds, whatever the facts are
    takes_out: str = ""  # the run parameter with the serial number of the disk that is taken out of the bay here
    puts_in: str = ""  # and of the one that is put in

    @property
    def at_the_rack(self) -> bool:
        """Whether the bays are watched while a technician works at them."""
        return "enclosure" in self.sources


@dataclass(frozen=True, kw_only=True)
class VerifyStep(_Step):
    """Asks its guards of captures that were taken after the command ended."""

    kind: ClassVar[Literal["VERIFY"]] = "VERIFY"
    sources: tuple[str, ...] = field()  # what the node must look at again


@dataclass(frozen=True, kw_only=True)
class ManualStep(_Step):
    """A technician does something at the rack."""

    kind: ClassVar[Literal["MANUAL"]] = "MANUAL"
    asks: str = ""  # what must be typed or scanned; `judges` decides whether it is right, and `param` keeps it
    judges: Callable[[FleetFacts, Params, str], tuple[Verdict, ...]] | None = None
    reads: Callable[[str], str] | None = None  # how what is typed or scanned is kept
    param: str = ""
    keeps: Callable[[FleetFacts, Params, str, float], Mapping[str, str]] | None = (
        None  # what a pasted text adds to the parameters in `learned`
    )
    learned: tuple[str, ...] = ()
    again: str = ""  # its answer may be corrected until a command after this step, which is then walked again
    takes_out: str = ""  # the run parameter with the serial number of the disk that is taken out of the bay here
    puts_in: str = ""  # and of the one that is put in
    finds: str = ""  # the run parameter with the serial number of the disk that is looked for here, and left where it is
    opens: Loop | None = None  # from now on this stands open
    warns: tuple[Warns, ...] = ()  # shown before the step, as at a CHECK

    @property
    def at_the_rack(self) -> bool:
        return True

    @property
    def takes_a_text(self) -> bool:
        """Whether what a command printed is pasted, of many lines; else one line is typed or scanned."""
        return self.keeps is not None


@dataclass(frozen=True, kw_only=True)
class DecideStep(_Step):
    """Has the operator choose one of several options."""

    kind: ClassVar[Literal["DECIDE"]] = "DECIDE"
    param: str = field()  # which run parameter is chosen
    options: Callable[[FleetFacts, Params], tuple[Option, ...]]
    learned: tuple[str, ...] = ()  # the parameters that its options fix
    branches: tuple[str, ...] = ()  # every step that an option may lead to, for the linter and the docs


Step: TypeAlias = CheckStep | PlanStep | ConfirmStep | ApproveStep | ExecuteStep | WaitStep | VerifyStep | ManualStep | DecideStep


@dataclass(frozen=True)
class Runbook:
    """A declarative list of steps for one kind of situation."""

    slug: str
    title: str
    purpose: str
    states: str  # the state line of the module docstring
    point_of_no_return: str  # slug of the step from which there is only forward; "" when there is none
    steps: tuple[Step, ...]
    params: Mapping[str, str]  # name -> what it is; all are needed to begin, and a DECIDE step adds its own
    locks: Callable[[FleetFacts, Params], tuple[str, ...]] | None = None  # "pool:<guid>", "disk:<wwid>", "bay:<enclosure id>/<slot>"
    undo: str = ""  # slug of the first step of the way back, which stands last and is entered when a run ends over an open loop

    def step(self, slug: str) -> Step:
        return next(s for s in self.steps if s.slug == slug)

    def place(self, slug: str) -> int:
        """Where a step stands, counted from 0."""
        return next(i for i, s in enumerate(self.steps) if s.slug == slug)

    def following(self, step: Step, leads_to: str = "") -> Step | None:
        """The step after this one; None where the run ends. The way back does not follow from anything but its own steps."""
        to = leads_to or step.then
        if to:
            return None if to == END else self.step(to)
        after = self.steps[self.place(step.slug) + 1 :]
        return after[0] if after and after[0].slug != self.undo else None

    def order_of(self, step: Step) -> tuple[Step, ...]:
        """A PLAN with all that belongs to its order, up to the EXECUTE; any other step alone."""
        steps = self.steps[self.place(step.slug) :]
        if step.kind != "PLAN":
            return (step,)
        return steps[: next((i for i, s in enumerate(steps) if s.kind == "EXECUTE"), 0) + 1]

    @property
    def loops(self) -> dict[str, Loop]:
        return {step.opens.slug: step.opens for step in self.steps if step.opens}


def guard(asks: Guard) -> Guard:
    """Marks a guard that uses `need`. It is as total as any other: wherever it is called it returns a verdict."""

    @wraps(asks)
    def answer(facts: FleetFacts, params: Params) -> Verdict:
        try:
            return asks(facts, params)
        except NotKnown as missing:
            return unknown(str(missing))

    return answer


def ask(guards: tuple[Guard, ...], facts: FleetFacts, params: Params) -> tuple[Verdict, ...]:
    """Every guard's answer, so the operator sees the whole list at once."""
    return tuple(replace(one(facts, params), guard=one.__name__) for one in guards)


def warnings(step: Step, facts: FleetFacts, params: Params) -> tuple[str, ...]:
    """What whoever takes this step must have read."""
    return tuple(line for warns in step.warns for line in warns(facts, params).splitlines())


def blockers(verdicts: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    return tuple(v for v in verdicts if v.outcome != "pass")


def goes_by_hand(verdicts: tuple[Verdict, ...]) -> bool:
    """Whether something refuses an order, and nothing refuses the command itself."""
    against = blockers(verdicts)
    return bool(against) and all(verdict.by_hand for verdict in against)
