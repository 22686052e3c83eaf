"""The rules for the ways through a runbook: what may be passed over, where a step may lead, how a run gets back.

Ways lead forward only, so a run ends. No way leads into the middle of an order or past the look after a destructive one,
and what a run switches on has a step of the way back that switches it off.
"""

from collections.abc import Iterator

from workflows.engine.core import END, ExecuteStep, ManualStep, Runbook, Step, WaitStep

WITH_FACTS = ("DECIDE", "CHECK", "PLAN", "MANUAL", "WAIT", "VERIFY")  # steps that facts finish, so that the next can be judged by them
ORDER_STEPS = ("CONFIRM", "APPROVE", "EXECUTE")


def problems(runbook: Runbook) -> list[str]:
    found = [f"{runbook.slug}: {why}" for why in _of_the_way_back(runbook)]
    if runbook.undo and all(s.slug != runbook.undo for s in runbook.steps):
        return found
    for place, step in enumerate(runbook.steps):
        found += [f"{runbook.slug}/{step.slug}: {why}" for why in _of_a_step(runbook, place, step)]
    return found


def _of_a_step(runbook: Runbook, place: int, step: Step) -> Iterator[str]:
    yield from _fields(step)
    if step.needed is not None:
        before = runbook.steps[place - 1] if place else None
        if step.kind in (*ORDER_STEPS, "VERIFY"):
            yield f"a {step.kind} step cannot be passed over by itself; say of its PLAN when it is needed"
        if before is None or before.kind not in WITH_FACTS:
            yield "a step that may be passed over follows one that facts finish"
    if (
        isinstance(step, ManualStep)
        and step.again
        and (not step.param or step.again not in [s.slug for s in runbook.steps[place + 1 :] if s.kind in ("DECIDE", "WAIT")])
    ):
        yield "an answer that can be corrected is kept, and what is walked again with it is a later DECIDE or WAIT"
    for to in (*filter(None, (step.then,)), *step.branches):
        if why := leads(runbook, place, to):
            yield why
    if step.fails_to:
        if step.destructive:
            yield "fails_to is for EXECUTE steps that are not destructive"
        if why := "it ends the run" if step.fails_to == END else leads(runbook, place, step.fails_to):
            yield f"when it fails, {why}"
    if isinstance(step, ExecuteStep) and bool(step.fails_to) != bool(step.fails_means):
        yield "where a failure leads and what it means are given together"
    if (step.then or step.branches) and (within_an_order(runbook, place) or _awaits_its_look(runbook, place)):
        yield "no way leads out of an order, or past the VERIFY after a destructive one"


def _fields(step: Step) -> Iterator[str]:
    if isinstance(step, ManualStep) and (step.judges or step.param) and not (step.asks and step.judges):
        yield "a MANUAL step that takes an answer says what it asks for and who judges it"
    learner = step.learns if isinstance(step, ExecuteStep) else step.keeps if isinstance(step, (WaitStep, ManualStep)) else None
    if bool(learner) != bool(step.learned) and step.kind != "DECIDE":
        yield "what a step learns is named in `learned`"


def ahead(runbook: Runbook, slug: str) -> frozenset[str]:
    """Every step that may still come once a run stands at this one, whatever is chosen and whatever fails."""
    found: set[str] = set()
    todo = [runbook.step(slug)]
    while todo:
        step = todo.pop()
        after = runbook.following(step)
        to = [*([after.slug] if after else []), *step.branches, *([step.fails_to] if step.fails_to else [])]
        new = [one for one in to if one != END and one not in found]
        found.update(new)
        todo += [runbook.step(one) for one in new]
    return frozenset(found)


def leads(runbook: Runbook, place: int, to: str) -> str:
    """Why a step may not lead there; "" when it may."""
    if to == END:
        return ""
    target = next((i for i, s in enumerate(runbook.steps) if s.slug == to), None)
    if target is None:
        return f"it leads to {to}, which is no step"
    if target <= place:
        return f"it leads back to {to}; ways lead forward"
    if runbook.steps[target].kind in ORDER_STEPS or within_an_order(runbook, target):
        return f"it leads into the middle of an order, to {to}"
    if runbook.undo and (target >= runbook.place(runbook.undo)) != (place >= runbook.place(runbook.undo)):
        return f"it leads to {to} on the way back, which is entered only when a run ends"
    return ""


def within_an_order(runbook: Runbook, place: int) -> bool:
    """Between a PLAN and its EXECUTE, the EXECUTE included."""
    before = [s.kind for s in runbook.steps[:place] if s.kind in ("PLAN", "EXECUTE")]
    after = [s.kind for s in runbook.steps[place:] if s.kind in ("PLAN", "EXECUTE")]
    return bool(before and after) and before[-1] == "PLAN" and after[0] == "EXECUTE"


def _awaits_its_look(runbook: Runbook, place: int) -> bool:
    """Whether a destructive command was given and the VERIFY after it is still to come."""
    for step in reversed(runbook.steps[:place]):
        if step.kind == "VERIFY":
            return False
        if step.kind == "EXECUTE":
            return step.destructive and runbook.steps[place].kind != "VERIFY"
    return False


def _of_the_way_back(runbook: Runbook) -> Iterator[str]:
    opened = set(runbook.loops)
    slugs = [s.opens.slug for s in runbook.steps if s.opens]
    if runbook.undo and all(s.slug != runbook.undo for s in runbook.steps):
        yield f"the way back begins at {runbook.undo}, which is no step"
        return
    if bool(opened) != bool(runbook.undo):
        yield "a runbook that opens a loop has a way back, and no other has one"
        return
    back = runbook.steps[runbook.place(runbook.undo) :] if runbook.undo else ()
    if len(set(slugs)) != len({id(s.opens) for s in runbook.steps if s.opens}):
        yield "two loops have one slug"
    if any(s.opens for s in back) or any(s.undoes and s not in back for s in runbook.steps):
        yield "the way back opens nothing, and only its steps undo"
    if missing := sorted(opened - {slug for s in back for slug in s.closes}):
        yield f"no step of the way back closes {', '.join(missing)}"
    if strange := sorted({slug for s in runbook.steps for slug in (*s.closes, *filter(None, (s.undoes,)))} - opened):
        yield f"{', '.join(strange)} is no loop of this runbook"
    if unsaid := [s.slug for s in back if s.kind in ("PLAN", "WAIT", "VERIFY", "MANUAL") and not s.undoes]:
        yield f"{', '.join(unsaid)}: a step of the way back says what it undoes"
    if any(s.unattended and (s not in back or (isinstance(s, ExecuteStep) and s.effect != "idempotent")) for s in runbook.steps):
        yield "only what may be repeated, and only on the way back, is done without anybody"
    if any(s.destructive for s in back):
        yield "nothing on the way back is destructive"
