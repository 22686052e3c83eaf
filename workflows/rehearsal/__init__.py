"""Rehearsals: a runbook walked on twins made from what nodes reported last. Nothing leaves, nothing is locked, nothing is kept."""

from workflows.rehearsal.looking import Report, Stage
from workflows.rehearsal.play import Asked, rehearse
from workflows.rehearsal.rebuilt import CannotRebuild
from workflows.rehearsal.told import Act, Choice, Line, Rehearsed

__all__ = ["Act", "Asked", "CannotRebuild", "Choice", "Line", "Rehearsed", "Report", "Stage", "rehearse"]
