"""What a runbook must be before it is loaded. A definition that breaks a rule is refused, not warned about."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agents.portal.wire import canonical
from workflows.engine import lint_paths
from workflows.engine.core import ExecuteStep, Loop, Runbook, Step

Operations = Mapping[str, Any]  # the agent's catalogue: name -> module


def problems(runbook: Runbook, operations: Operations) -> tuple[str, ...]:
    """Every rule this definition breaks; empty when it may be loaded."""
    found = list(_of_the_whole(runbook))
    for step in runbook.steps:
        found += [f"{runbook.slug}/{step.slug}: {why}" for why in _of_a_step(runbook, step, operations)]
    found += lint_paths.problems(runbook)
    return tuple(found)


def load(runbooks: tuple[Runbook, ...], operations: Operations) -> dict[str, Runbook]:
    """The registry. Raises ValueError that names every broken rule."""
    found = [why for runbook in runbooks for why in problems(runbook, operations)]
    slugs = [runbook.slug for runbook in runbooks]
    found += [f"two runbooks are called {slug}" for slug in sorted({s for s in slugs if slugs.count(s) > 1})]
    if found:
        raise ValueError("; ".join(found))
    return {runbook.slug: runbook for runbook in runbooks}


def _of_the_whole(runbook: Runbook) -> Iterator[str]:
    slugs = [step.slug for step in runbook.steps]
    if not (runbook.slug and runbook.title and runbook.purpose and runbook.states and runbook.steps and runbook.params):
        yield f"{runbook.slug or 'a runbook'}: slug, title, purpose, states, params and steps are all needed"
    if len(set(slugs)) != len(slugs):
        yield f"{runbook.slug}: two steps have one slug"
    if runbook.point_of_no_return and runbook.point_of_no_return not in slugs:
        yield f"{runbook.slug}: the point of no return {runbook.point_of_no_return} is no step"
    if any(step.destructive for step in runbook.steps) and not runbook.point_of_no_return:
        yield f"{runbook.slug}: a destructive runbook names its point of no return"
    if any(step.kind == "EXECUTE" for step in runbook.steps) and not runbook.locks:
        yield f"{runbook.slug}: a runbook with an EXECUTE step names its locks"
    chosen = [step.param for step in runbook.steps if step.param]
    if twice := sorted({name for name in chosen if chosen.count(name) > 1 or name in runbook.params}):
        yield f"{runbook.slug}: {', '.join(twice)} is given already, so no DECIDE step can choose it"
    if "node" not in runbook.params:
        yield f"{runbook.slug}: a run needs the parameter node"


def _of_a_step(runbook: Runbook, step: Step, operations: Operations) -> Iterator[str]:
    if not (step.slug and step.title and step.why):
        yield "slug, title and why are all needed"
    if step.kind in ("CHECK", "PLAN", "EXECUTE", "VERIFY") and not step.guards:
        yield f"a {step.kind} step needs guards"
    if (name := _NEEDS.get(step.kind)) and not getattr(step, name):
        yield f"a {step.kind} step needs {name}"
    if step.kind in ("CONFIRM", "APPROVE") and not any(s.kind == "PLAN" for s in _since(_before(runbook, step), "EXECUTE")):
        yield f"a {step.kind} step follows a PLAN, with no EXECUTE between them"
    if step.kind in ("PLAN", "EXECUTE") and step.operation not in operations:
        yield f"the agent has no operation {step.operation!r}"
    elif step.kind == "EXECUTE":
        yield from _of_an_execute(runbook, step, operations[step.operation])


_NEEDS = {"CONFIRM": "phrase_hint", "APPROVE": "approvals", "WAIT": "deadline_seconds", "VERIFY": "sources", "DECIDE": "param"}


def _of_an_execute(runbook: Runbook, step: ExecuteStep, operation: Any) -> Iterator[str]:
    after = _until(runbook.steps[runbook.place(step.slug) + 1 :], "EXECUTE")
    since_last = _since(_before(runbook, step), "EXECUTE")
    plans = [s for s in since_last if s.kind == "PLAN"]
    if (step.effect, step.destructive) != (operation.EFFECT, operation.DESTRUCTIVE):
        yield f"the agent's catalogue says {operation.EFFECT}, destructive {operation.DESTRUCTIVE}"
    if step.effect == "at_most_once" and not callable(getattr(operation, "probe", None)):
        yield "an at_most_once operation needs a probe"
    if not plans or plans[-1].operation != step.operation or plans[-1].params is not step.params:
        yield "an EXECUTE step follows a PLAN of the same operation with the same params"
    if step.needs_approval and not any(s.kind == "APPROVE" and s.approvals >= 1 for s in _since(since_last, "PLAN")):
        yield "a destructive or at_most_once EXECUTE step follows an APPROVE that follows its PLAN"
    if step.destructive and not any(s.kind == "VERIFY" for s in after):
        yield "a destructive EXECUTE step is followed by a VERIFY before anything else is executed"


def _before(runbook: Runbook, step: Step) -> tuple[Step, ...]:
    return runbook.steps[: runbook.place(step.slug)]


def _since(steps: tuple[Step, ...], kind: str) -> tuple[Step, ...]:
    """The steps after the last one of this kind; all of them when there is none."""
    last = max((i for i, s in enumerate(steps) if s.kind == kind), default=-1)
    return steps[last + 1 :]


def _until(steps: tuple[Step, ...], kind: str) -> tuple[Step, ...]:
    """The steps before the next one of this kind; all of them when there is none."""
    return steps[: next((i for i, s in enumerate(steps) if s.kind == kind), len(steps))]


def definition_digest(runbook: Runbook) -> str:
    """Names the definition a run was begun with: everything declared, and functions by their names."""
    declared = {
        "slug": runbook.slug,
        "title": runbook.title,
        "purpose": runbook.purpose,
        "states": runbook.states,
        "point_of_no_return": runbook.point_of_no_return,
        "params": dict(runbook.params),
        "locks": _name(runbook.locks),
        "undo": runbook.undo,
        "steps": [_declared(step) for step in runbook.steps],
    }
    return hashlib.sha256(canonical(declared)).hexdigest()


# What a kind of step declares for the fields it does not have. It is hashed, so it stays as it is.
_TEXTS = ("operation", "effect", "param", "phrase_hint", "asks", "again", "takes_out", "puts_in", "fails_to", "fails_means")
_FUNCTIONS = ("params", "options", "phrase", "agrees", "adds", "until", "progress", "judges", "reads", "alarm", "learns", "keeps", "lasts")
_NOT_DECLARED: dict[str, Any] = {
    **dict.fromkeys(_TEXTS, ""),
    **dict.fromkeys((*_FUNCTIONS, "deadline_seconds", "opens"), None),
    **dict.fromkeys(("sources", "branches", "learned", "warns"), ()),
    **dict.fromkeys(("destructive", "unattended"), False),
    "approvals": 1,
}
_LEFT_OUT = ("finds",)  # added later: declared where it has a value, so that the digests of steps without it stay as they are


def _declared(step: Step) -> dict[str, Any]:
    declared = {**_NOT_DECLARED, **vars(step), "kind": step.kind}
    return {name: _plain(value) for name, value in declared.items() if value or name not in _LEFT_OUT}


def _plain(value: Any) -> Any:
    if isinstance(value, Loop):
        return {name: _plain(inner) for name, inner in vars(value).items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if callable(value):
        return _name(value)
    return value if value is None or isinstance(value, (str, bool)) else str(value)


def _name(function: Callable[..., Any] | None) -> str:
    return function.__qualname__ if function else ""
