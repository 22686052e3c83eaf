"""Where a run stands: one frozen value that goes to JSON and back.

The state says where we are; facts only say whether we may move. Facts cannot do both: once the new disk is in,
no trace of the old one's absence is left. Times are seconds of the portal's clock and come with the events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from workflows.engine.core import Progress, Verdict

Status = Literal[
    "new",  # not begun
    "open",  # a person is asked for this step
    "planning",  # the node is making the plan
    "ordered",  # an order is sealed and has not ended
    "unknown",  # it is not known whether the order took effect
    "waiting",  # facts decide when this step is done
    "stopped",  # the order ended without effect; only a new plan leads on
    "done",
    "aborted",
]
ENDED = ("done", "aborted")
Ending = Literal["", "done", "aborted"]

# The life of an order. Silence may end an order only before it was started: the agent needs our word to start,
# so one that was not started never will be.
ORDER_MOVES: Mapping[str, tuple[str, ...]] = {
    "SEALED": ("OFFERED", "REFUSED", "EXPIRED"),
    "OFFERED": ("CLAIMED", "REFUSED", "EXPIRED"),
    "CLAIMED": ("STARTED", "REFUSED", "EXPIRED"),
    "STARTED": ("SUCCEEDED", "FAILED", "REFUSED", "UNKNOWN"),
    "UNKNOWN": ("SUCCEEDED", "FAILED", "REFUSED"),  # by the node's own journal, however late it comes
    "SUCCEEDED": (),
    "FAILED": (),
    "REFUSED": (),
    "EXPIRED": (),
}
# A pure order changes nothing, so the node answers it without claiming or starting it.
PURE_ORDER_MOVES: Mapping[str, tuple[str, ...]] = {
    "SEALED": ("OFFERED", "EXPIRED"),
    "OFFERED": ("SUCCEEDED", "FAILED", "REFUSED", "EXPIRED"),
    "SUCCEEDED": (),
    "FAILED": (),
    "REFUSED": (),
    "EXPIRED": (),
}
ORDER_IS_OUT = ("SEALED", "OFFERED", "CLAIMED", "STARTED", "UNKNOWN")
ORDER_HAD_NO_EFFECT = ("FAILED", "REFUSED", "EXPIRED")


@dataclass(frozen=True)
class Finished:
    """A step that is behind us, and whose doing that was."""

    step: str
    by: str
    at: float
    note: str
    passed_over: bool = False  # it was not needed, and nothing was done
    failed: bool = False  # its order failed, and the run went on from there another way


@dataclass(frozen=True)
class OpenLoop:
    """Something this run switched on and has not switched off. It outlives the run."""

    loop: str
    what: str
    undo: str
    step: str  # that opened it
    by: str
    at: float


@dataclass(frozen=True)
class Approval:
    by: str
    plan_digest: str
    at: float


@dataclass(frozen=True)
class Asked:
    """A pure order we are waiting for. The number keeps an old answer from being taken for a new one."""

    number: int
    operation: str
    params: Mapping[str, str]
    by_hand: bool = False  # of a plan: a person will give its command


@dataclass(frozen=True)
class Shown:
    """The one showing of the snippet of a plan that is carried out by hand. What became of it is not known until the node shows it."""

    plan_digest: str
    nonce: str
    by: str
    at: float
    until: float  # the snippet runs nothing after it


@dataclass(frozen=True)
class OrderSeen:
    """What we know of the one order of this plan."""

    plan_digest: str
    status: str
    reason: str = ""
    probe: str = ""  # "", "did", "did_not", "cannot_tell"
    at: float = 0.0  # when we learnt it
    by: str = ""  # who gave it; empty where the portal did


@dataclass(frozen=True)
class Statement:
    """What one person says became of an order of unknown outcome."""

    by: str
    outcome: str
    reason: str


@dataclass(frozen=True)
class Glass:
    """Who went on with which plan without another person's approval, and why."""

    by: str
    plan_digest: str
    reason: str
    at: float


@dataclass(frozen=True)
class RunState:
    """One walk through one runbook, as far as it has come."""

    params: Mapping[str, str]
    requester: str
    step: str = ""
    status: Status = "new"
    since: float = 0.0  # when this step was entered
    note: str = ""  # why it stands as it stands, for the page
    finished: tuple[Finished, ...] = ()
    hands: tuple[str, ...] = ()  # everybody who shaped this run; none of them may approve it
    verdicts: tuple[Verdict, ...] = ()  # the last answers of this step's guards
    rounds: int = 0  # plans made so far
    plan: Mapping[str, Any] | None = None
    plan_digest: str = ""
    planned_at: float = 0.0
    approvals: tuple[Approval, ...] = ()
    glass: Glass | None = None
    asks: int = 0
    asked: Asked | None = None
    order: OrderSeen | None = None
    statements: tuple[Statement, ...] = ()
    progress: Progress | None = None
    overdue: bool = False
    sealed: tuple[str, ...] = ()  # digests of every plan that ever had an order: one each, for ever
    loops: tuple[OpenLoop, ...] = ()
    ending: Ending = ""  # "done" or "aborted" while the way back is walked: what the run will be then
    ended_by: str = ""  # who ended the run, while the way back of an ended run is walked
    alarm: str = ""  # the reason to stop waiting, in words to act upon at once
    shown: Shown | None = None
    not_taken: str = ""  # the EXECUTE step whose last order the node refused, or never took; kept when its plan is void
    asked_at: float = 0.0  # when the node was asked last what became of what was shown

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunState:
        return cls(
            **{
                **data,
                "finished": tuple(Finished(**x) for x in data["finished"]),
                "hands": tuple(data["hands"]),
                "verdicts": tuple(Verdict(**x) for x in data["verdicts"]),
                "approvals": tuple(Approval(**x) for x in data["approvals"]),
                "glass": Glass(**data["glass"]) if data.get("glass") else None,
                "asked": Asked(**data["asked"]) if data["asked"] else None,
                "order": OrderSeen(**data["order"]) if data["order"] else None,
                "statements": tuple(Statement(**x) for x in data["statements"]),
                "progress": _progress(data["progress"]),
                "sealed": tuple(data["sealed"]),
                "loops": tuple(OpenLoop(**x) for x in data.get("loops", ())),
                "shown": Shown(**data["shown"]) if data.get("shown") else None,
            }
        )

    @property
    def is_by_hand(self) -> bool:
        """Whether its snippet was shown and its outcome is not known yet."""
        return self.status == "unknown" and self.shown is not None and self.shown.plan_digest == self.plan_digest

    @property
    def order_is_out(self) -> bool:
        return self.order is not None and self.order.status in ORDER_IS_OUT and self.status in ("ordered", "unknown")


def _progress(data: Mapping[str, Any] | None) -> Progress | None:
    return Progress(**{**data, "lines": tuple(data.get("lines", ()))}) if data else None
