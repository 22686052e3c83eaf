"""What a person does when a step of a rehearsal asks for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workflows.rehearsal.play import Play

ASSUMED_DONE = "Taken for done in a rehearsal."


class CannotSuppose(Exception):
    """What a person at the rack would find is not known here. The message states why."""


@dataclass(frozen=True)
class Hand:
    supposes: str  # "" for a WAIT that needs no person
    does: Callable[[Play], str] = lambda play: ASSUMED_DONE
