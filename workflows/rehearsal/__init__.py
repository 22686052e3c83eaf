"""Rehearsals: a runbook walked on twins made from what nodes reported last. Nothing leaves, nothing is locked, nothing is kept."""

from workflows.rehearsal.known_facts import Report, Stage
from workflows.rehearsal.play import Asked, rehearse
from workflows.rehearsal.story import Act, Choice, Line, Rehearsed
from workflows.rehearsal.twin_of_node import CannotRebuild

__all__ = ["Act", "Asked", "CannotRebuild", "Choice", "Line", "Rehearsed", "Report", "Stage", "rehearse"]
