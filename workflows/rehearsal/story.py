"""The record of a rehearsal: every step with its answers and commands, how the pool stands afterwards, and where it ended. Values only."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Ending = Literal[
    "done",  # the run comes to its good end
    "asks",  # a person has to choose first
    "refused",  # a step of the run is refused
    "stops",  # what comes next cannot be foretold
]


@dataclass(frozen=True)
class Line:
    """One guard's answer."""

    outcome: str
    reason: str


@dataclass(frozen=True)
class Choice:
    """One option of the step that asks."""

    value: str
    title: str
    detail: str
    against: tuple[str, ...]


@dataclass
class Act:
    """One step of the rehearsal."""

    step: str
    title: str
    kind: str
    who: str
    lines: list[Line] = field(default_factory=list)
    supposed: str = ""  # what is taken for done without anybody having done it
    note: str = ""  # what came of it
    argv: tuple[str, ...] = ()
    exit_code: int | None = None
    printed: str = ""
    pool: str = ""  # `zpool status` of the pool after a command
    warned: tuple[str, ...] = ()  # what forbids nothing and must be known
    lost: tuple[str, ...] = ()  # by carrying out the plan, the worst first


@dataclass
class Rehearsed:
    """A whole rehearsal. `loops` is what stands open at its end."""

    runbook: str
    ending: Ending = "stops"
    reason: str = ""
    acts: list[Act] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    commands: list[list[str]] = field(default_factory=list)
    pool: str = ""
    loops: list[str] = field(default_factory=list)
    asks: str = ""  # the step whose choice is missing
    choices: list[Choice] = field(default_factory=list)

    def to_json(self) -> Mapping[str, Any]:
        return asdict(self)
