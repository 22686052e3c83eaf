"""Runbooks as puppets: the steps and their order are the definition's own, and a test says what each guard answers.

So the engine is tried on every runbook of the registry, on the synthetic ones below, which together use every kind of
step in every place it may have, and on whatever else lint lets through.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from hypothesis import strategies as st

from agents.collectors import COLLECTORS
from agents.operations import OPERATIONS
from workflows.engine import lint
from workflows.engine.core import (
    ApproveStep,
    CheckStep,
    ConfirmStep,
    DecideStep,
    ExecuteStep,
    ManualStep,
    Option,
    PlanStep,
    Progress,
    Runbook,
    Step,
    Verdict,
    VerifyStep,
    WaitStep,
    ok,
    refuse,
)
from workflows.facts import FleetFacts
from workflows.runbooks import RUNBOOKS
from workflows.tests import cast

NODE, HOSTID, BOOT_ID = "oss01", "007f0101", "0b0e1c52-9f3a-4f6e-8a54-3b1f2a6d7c90"
HAND = "hand"  # a guard turned so refuses the order alone
# What a snippet of any operation names.
NAMED = {
    **{"pool": "ost_0", "pool_guid": "1", "wwid": "naa:5000c50056100083", "enclosure": "0x500605b5610272bf", "slot": "4", "light": "on"},
    **{"from_wwid": "naa:5000c50056100093", "partition": "3", "esp": "2", "mode": "uefi", "vdev_guid": "2"},
    **{"snapshot": "ost_0/data@monday", "snapshot_guid": "77", "createtxg": "1200"},
    **{"host": "oss02", "hostid": "5b2f9c02", "fence": "no power", "fenced_at": "1795252000", "looked_at": "1795252000"},
    **{"role": "special", "ashift": "12", "wwids": "naa:5000c50056100083 naa:5000c50056100097"},
    "rings": "txg 4 of 1795252000 on 6 members, 8ab375720a94cb4990a7756a3dc0b24f",
}
CATALOGUE = {
    **OPERATIONS,
    "label": SimpleNamespace(EFFECT="idempotent", DESTRUCTIVE=False),
    "clear": SimpleNamespace(EFFECT="at_most_once", DESTRUCTIVE=False, probe=lambda host, params, pre: None),
    "wipe": SimpleNamespace(EFFECT="at_most_once", DESTRUCTIVE=True, probe=lambda host, params, pre: None),
    "replace": cast.OPERATIONS["replace"],
}


def facts(age_seconds: float = 1.0, source_age: float | None = None, **turned: str) -> FleetFacts:
    """Every guard passes, but those turned, and all of them when `every` is turned.

    The node was heard `age_seconds` ago and each of its sources was asked `source_age` ago: as long, unless told otherwise.
    """
    ages = dict.fromkeys(COLLECTORS, age_seconds if source_age is None else source_age)
    node = cast.facts(age_seconds, **turned).nodes[NODE]
    return FleetFacts({NODE: replace(node, ages=ages, hostid=HOSTID, boot_id=BOOT_ID)})


def answers(guard: str, facts: FleetFacts) -> str:
    failures = facts.nodes[NODE].failures
    return failures.get(guard, failures.get("every", "pass"))


def turned(name: str):
    def guard(facts, params):
        reported = answers(name, facts)
        return Verdict("refuse" if reported == HAND else reported, f"{name} was asked.", name, by_hand=reported == HAND)

    guard.__name__ = name
    return guard


def options(facts, params):
    return (Option("good", "The good one", "", (ok("It is fit."),)), Option("bad", "The bad one", "", (refuse("It is not fit."),)))


def phrase(params, plan) -> str:
    return f"{params['node']} {plan['round']}"


def locks(facts, params):
    return () if answers("locks", facts) not in ("pass", HAND) else ("pool:1", f"disk:{'-'.join(params.values())}")


# Ways, open loops, alarms and answers that are judged: the stories (`walks.py`) go through those. A puppet goes straight on.
STRAIGHT = {
    "needed": None, "then": "", "branches": (), "judges": None, "alarm": None, "learns": None, "learned": (), "fails_to": "", "fails_means": "",
    "opens": None, "closes": (), "keeps": None, "lasts": None, "unattended": False, "undoes": "",
}  # fmt: skip


def puppet(runbook: Runbook) -> Runbook:
    """`runbook` with strings on it, up to where it ends well."""
    known: dict[int, object] = {}
    there = runbook.steps[: runbook.place(runbook.undo)] if runbook.undo else runbook.steps

    def stringed(step: Step) -> Step:
        """PLAN and EXECUTE share one function for their parameters, and so must the puppets."""
        params = getattr(step, "params", None)
        if params is not None and id(params) not in known:
            known[id(params)] = lambda facts, params, of=step.operation: {**NAMED, "of": of, **params}
        strings = dict(
            STRAIGHT,
            guards=tuple(turned(guard.__name__) for guard in step.guards),
            options=options,
            params=known.get(id(params)),
            phrase=phrase,
            agrees=(lambda facts, params, plan: (turned("agrees")(facts, params),)) if getattr(step, "agrees", None) else None,
            adds=(lambda facts, params, plan: {"redundancy": {"margin_now": "1"}}) if getattr(step, "adds", None) else None,
            until=turned("until"),
            progress=(lambda facts, params: Progress("12 %", 12.0)) if getattr(step, "progress", None) else None,
        )
        return replace(step, **{name: value for name, value in strings.items() if name in vars(step)})

    return replace(runbook, steps=tuple(map(stringed, there)), undo="", locks=locks if runbook.locks else None)


def plan_for(state, **over) -> dict:
    """What an honest node answers to what was asked last."""
    asked = state.asked
    params = dict(asked.params) if asked else {}
    plan = {"operation": asked.operation if asked else "", "params": params, "argv": ["tool", "word"], "preconditions": {"fact": "so"}}
    return {**plan, **over}


KINDS = {
    "CHECK": CheckStep,
    "DECIDE": DecideStep,
    "MANUAL": ManualStep,
    "WAIT": WaitStep,
    "VERIFY": VerifyStep,
    "CONFIRM": ConfirmStep,
    "APPROVE": ApproveStep,
}


def step(number: int, kind: str, **over) -> Step:
    given = {
        "CHECK": {"guards": (turned("sound"), turned("fresh"))},
        "DECIDE": {"param": f"choice_{number}", "options": options, "guards": (turned("fresh"),)},
        "MANUAL": {"guards": (turned("shown"),)},
        "WAIT": {"until": turned("until"), "deadline_seconds": 3600, "sources": ("zpool_status",) if number % 2 else ()},
        "VERIFY": {"guards": (turned("afterwards"),), "sources": ("zpool_status",)},
        "CONFIRM": {"phrase": phrase, "phrase_hint": "Type the node and the round."},
        "APPROVE": {},
    }
    return KINDS[kind](f"{kind.lower()}-{number}", f"{kind.title()} {number}", "Why.", **{**given.get(kind, {}), **over})


def order(number: int, operation: str, between: tuple[Step, ...]) -> tuple[Step, ...]:
    """PLAN, what stands between, EXECUTE."""
    of = CATALOGUE[operation]
    same = {"operation": operation, "params": lambda facts, params: {**NAMED, "of": operation, **params}, "guards": (turned("sound"),)}
    plan = PlanStep(f"plan-{number}", f"Plan {number}", "Why.", **same)
    last = ExecuteStep(f"execute-{number}", f"Execute {number}", "Why.", effect=of.EFFECT, destructive=of.DESTRUCTIVE, **same)
    return (plan, *between, last)


def runbook(slug: str, *steps: Step) -> Runbook:
    no_return = next((s.slug for s in steps if s.destructive), "")
    return Runbook(slug, "A synthetic one", "To try the engine.", "a -> b", no_return, steps, {"node": "the node"}, locks)


SYNTHETIC = (
    runbook("by-hand", step(1, "MANUAL"), step(2, "DECIDE"), step(3, "CHECK"), step(4, "WAIT"), step(5, "VERIFY"), step(6, "MANUAL")),
    runbook("unapproved", step(1, "CHECK"), *order(2, "label", ()), step(3, "MANUAL")),
    runbook(
        "two-orders",
        step(1, "DECIDE"),
        *order(2, "clear", (step(3, "APPROVE", approvals=2), step(4, "MANUAL"), step(5, "CONFIRM"))),
        step(6, "WAIT"),
        step(7, "DECIDE"),
        *order(8, "wipe", (step(9, "CONFIRM"), step(10, "APPROVE"), step(11, "CHECK"), step(12, "APPROVE"))),
        step(13, "VERIFY"),
        step(14, "CHECK"),
    ),
)
EVERY = {r.slug: r for r in (*map(puppet, RUNBOOKS.values()), puppet(cast.RUNBOOK), *SYNTHETIC)}

_PLAIN = st.sampled_from(["CHECK", "DECIDE", "MANUAL", "WAIT", "VERIFY"])
_BETWEEN = st.lists(st.sampled_from(["CHECK", "MANUAL", "CONFIRM", "APPROVE", "APPROVE2"]), max_size=4)


@st.composite
def runbooks(draw) -> Runbook:
    """Any runbook that lint lets through."""
    steps: list[Step] = []
    for _ in range(draw(st.integers(1, 4))):
        here = len(steps) * 10
        operation = draw(st.sampled_from(["", "", "label", "clear", "wipe"]))
        if not operation:
            steps.append(step(here, draw(_PLAIN)))
            continue
        kinds = draw(_BETWEEN) + (["APPROVE"] if operation != "label" else [])
        between = tuple(step(here + i + 1, kind[:7], **({"approvals": 2} if kind == "APPROVE2" else {})) for i, kind in enumerate(kinds))
        steps += (*order(here, operation, between), *((step(here + 9, "VERIFY"),) if operation == "wipe" else ()))
    made = runbook("any", *steps)
    found = lint.problems(made, CATALOGUE)
    assert not found, found
    return made
