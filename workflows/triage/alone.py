"""A paste in which nobody reads a line: where it states that a part of storage is in trouble it is an alert, and where it may be one it is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workflows import pasted
from workflows.pasted import statements
from workflows.triage import fragments, talk
from workflows.triage.inquiry import inquiry
from workflows.triage.piece import Piece
from workflows.triage.refused import refusals


def as_alerts(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces, those that are alerts as such. Beside an output that is read, words are what somebody says of it."""
    alone = not any(piece.source or piece.command for piece in pieces)
    for piece in pieces:
        if not alone or _is_known(piece.lines):
            yield piece
        elif statements.is_alert(piece.lines):
            yield replace(piece, source=statements.NAME)
        elif any(map(_is_terse_alert, paragraphs := list(_paragraphs(piece)))):
            yield from (replace(each, source=statements.NAME) if _is_terse_alert(each) else each for each in paragraphs)
        else:
            yield replace(piece, hint=statements.NAMED) if statements.may_be_alert(piece.lines) else piece


def _paragraphs(piece: Piece) -> Iterator[Piece]:
    """What empty lines part of a piece."""
    first = 0
    for i, line in enumerate([*piece.lines, ""]):
        if line.strip():
            continue
        if i > first:
            yield replace(piece, first=piece.first + first, lines=piece.lines[first:i])
        first = i + 1


def _is_terse_alert(piece: Piece) -> bool:
    """Whether a paragraph among somebody's own words is quoted from an alert: it states trouble, in other words than a person's sentences."""
    return statements.is_alert(piece.lines) and not any(map(talk.is_worded, piece.lines))


def _is_known(lines: Sequence[str]) -> bool:
    """Whether it is named, or read by what it holds."""
    rows = fragments.fragments(lines)
    return bool(
        pasted.unreadable(lines, "")
        or refusals(lines)
        or inquiry(lines, "") is not None
        or rows.rows
        or rows.children
        or fragments.is_inside_a_tree(lines)
    )
