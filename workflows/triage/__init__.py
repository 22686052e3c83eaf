"""Triage by paste: raw outputs of a node without an agent, in any order and state, and what is wrong there."""

from workflows.triage.answer import NAMELESS, Read, Triage, triage
from workflows.triage.clean import decoded
from workflows.triage.next import MANUALS, manuals

__all__ = ["MANUALS", "NAMELESS", "Read", "Triage", "decoded", "manuals", "triage"]
