"""Triage by paste: raw outputs of a node without an agent, in any order and state, and what is wrong there."""

from workflows.triage.answer import Read, Triage, triage

__all__ = ["Read", "Triage", "triage"]
