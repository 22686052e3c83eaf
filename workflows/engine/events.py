"""What can happen to a run, and what a decision asks the portal to do. Values only.

Every event carries `at`, the portal's clock in seconds, because the engine has none. `by` is the user name of the
person, or empty when no person acted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from workflows.facts import FleetFacts


@dataclass(frozen=True, kw_only=True)
class Event:
    at: float
    by: str = ""


@dataclass(frozen=True, kw_only=True)
class Start(Event):
    """The run begins."""


@dataclass(frozen=True, kw_only=True)
class Chosen(Event):
    """A person picks one option of a DECIDE step. `by_hand`: not empty where that goes on by hand, as no order is made here."""

    value: str
    facts: FleetFacts
    by_hand: str = ""


@dataclass(frozen=True, kw_only=True)
class CheckAsked(Event):
    """A person asks the guards of a CHECK step. `by_hand`: as in `Chosen`."""

    facts: FleetFacts
    by_hand: str = ""


@dataclass(frozen=True, kw_only=True)
class HandsDone(Event):
    """A person did what a MANUAL step asks, and states what shows it: a scanned serial, the bay that lit."""

    evidence: str
    facts: FleetFacts


@dataclass(frozen=True, kw_only=True)
class Corrected(Event):
    """A person answers an earlier MANUAL step anew, wherever the run stands."""

    step: str
    evidence: str
    facts: FleetFacts


@dataclass(frozen=True, kw_only=True)
class PlanAsked(Event):
    """A person asks the node for a plan; from a later step this throws the old plan away."""

    facts: FleetFacts


@dataclass(frozen=True, kw_only=True)
class PlanByHandAsked(Event):
    """As PlanAsked, where the portal may not order it: of a command that a person will give."""

    facts: FleetFacts


@dataclass(frozen=True, kw_only=True)
class PlanArrived(Event):
    number: int  # which ask it answers
    plan: Mapping[str, Any]
    facts: FleetFacts


@dataclass(frozen=True, kw_only=True)
class PlanFailed(Event):
    number: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class LookFailed(Event):
    """The node did not look again when a VERIFY step asked it to."""

    number: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Confirmed(Event):
    text: str


@dataclass(frozen=True, kw_only=True)
class Approved(Event):
    """`accepted` is what the plan takes away, as the person was shown it; see `workflows.engine.plan_losses`."""

    plan_digest: str
    accepted: str = ""


@dataclass(frozen=True, kw_only=True)
class Denied(Event):
    plan_digest: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class GlassBroken(Event):
    """A person goes on alone, without the approvals that are missing, and says why. Whether that is allowed the portal asks first."""

    plan_digest: str
    reason: str
    accepted: str = ""


@dataclass(frozen=True, kw_only=True)
class ExecuteAsked(Event):
    facts: FleetFacts
    accepted: str = ""


@dataclass(frozen=True, kw_only=True)
class ByHandAsked(Event):
    """A person asks for the snippet of a plan that is carried out by hand. `nonce` is the portal's, and of this showing alone."""

    facts: FleetFacts
    nonce: str
    accepted: str = ""


@dataclass(frozen=True, kw_only=True)
class ByHandLookAsked(Event):
    """A person has the node look whether what was shown was run, and what came of it."""


@dataclass(frozen=True, kw_only=True)
class ByHandSeen(Event):
    """What the node shows of it, by its operation `probe_by_hand`. `evidence` holds the digests of the captures that rests on.

    `taken_after`: all of it was read after this moment of the portal's clock.
    """

    number: int
    taken_after: float
    result: Mapping[str, Any]
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OrderMoved(Event):
    """The order of this plan moved. `evidence` holds the digests of the captures a probe rests on."""

    plan_digest: str
    status: str
    reason: str = ""
    probe: str = ""
    evidence: tuple[str, ...] = ()
    output: str = ""  # what the command printed; only some steps have a use for it


@dataclass(frozen=True, kw_only=True)
class FactsArrived(Event):
    """The node said something new, or it is time to look again.

    `taken_after`: every capture that matters was taken after this moment of the portal's clock; 0 when the
    portal cannot vouch for that. `number` is the ask this answers, 0 for an ordinary report.
    """

    facts: FleetFacts
    taken_after: float = 0.0
    number: int = 0


@dataclass(frozen=True, kw_only=True)
class Settled(Event):
    """A person says what became of an order of unknown outcome: "did" or "did_not"."""

    outcome: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class WentBack(Event):
    """A person returns to an earlier step. Plan, confirmation and approvals are void."""

    step: str


@dataclass(frozen=True, kw_only=True)
class Aborted(Event):
    """A person ends the run; over an open loop that begins the way back, and once more ends it there."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class LoopClosed(Event):
    """A run has ended over an open loop, and it is closed by now: the facts show it, or a person vouches for it."""

    loop: str
    facts: FleetFacts
    evidence: str = ""


def misfit(event: Event) -> str:
    """Which field is not of the kind it must be; "" when all are. What comes from outside may be anything."""
    return next((f.name for f in fields(event) if not _FITS[str(f.type)](getattr(event, f.name))), "")


def can_be_kept(text: Any) -> bool:
    """Whether it is text that the database and the ledger can both hold: no NUL, no half of a character."""
    if not isinstance(text, str) or "\0" in text:
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


# By the annotation of the field. A time that is no number would be neither early nor late, and so pass for both.
_FITS: Mapping[str, Callable[[Any], bool]] = {
    "float": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "bool": lambda value: isinstance(value, bool),
    "str": can_be_kept,
    "tuple[str, ...]": lambda value: isinstance(value, tuple) and all(map(can_be_kept, value)),
    "Mapping[str, Any]": lambda value: isinstance(value, Mapping),
    "FleetFacts": lambda value: isinstance(value, FleetFacts),
}


# Effects. The portal applies them in the order given, all in the transaction that stores the new state.


@dataclass(frozen=True)
class Record:
    """One ledger event. Text only."""

    type: str
    body: Mapping[str, Any]


@dataclass(frozen=True)
class AskNode:
    """Seal a pure order; its answer comes back with `number`."""

    operation: str
    params: Mapping[str, str]
    number: int


@dataclass(frozen=True)
class Lock:
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Unlock:
    """Give back every lock this run holds."""


@dataclass(frozen=True)
class Seal:
    """Seal the one order of this plan."""

    step: str
    operation: str
    effect: str
    params: Mapping[str, str]
    argv: tuple[str, ...]
    preconditions: Mapping[str, str]
    plan_digest: str


@dataclass(frozen=True)
class Show:
    """Show the snippet of this plan. It is kept as evidence, and all that an order would need must be behind it."""

    step: str
    operation: str
    effect: str
    plan_digest: str
    snippet: str


@dataclass(frozen=True)
class Ring:
    """Come back after so many seconds, whatever happens in between."""

    due_seconds: int


Effect = Record | AskNode | Lock | Unlock | Seal | Show | Ring
