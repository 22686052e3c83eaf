"""Triage by paste: raw outputs of a node without an agent, in any order and state, and what is wrong there."""

from workflows.triage.answer import Read, Triage, triage
from workflows.triage.hosts import NAMELESS
from workflows.triage.next import MANUALS, manuals
from workflows.triage.unwrap import decoded

__all__ = ["MANUALS", "NAMELESS", "Read", "Triage", "decoded", "manuals", "triage"]
