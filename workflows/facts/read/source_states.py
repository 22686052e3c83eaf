"""What became of each source of a node: it answered, it failed or is late, or it is not watched there.

A source that is not watched (no such tool, hardware or right) raises nothing and vouches for nothing. One that failed or is late leaves
unknown what it would have shown; it is late after three missed times of asking, and not before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from agents.collectors import COLLECTORS
from workflows.facts.model import NodeFacts
from workflows.facts.unknown import known

SILENT_SECONDS = 90  # a node that missed six reports
BROUGHT_SECONDS = 900  # how long what was brought of a node without an agent counts as what is so
MISSED_MAX = 3
JITTER = 0.1  # as `agents.reporting.schedule` spreads its questions
DELAY_SECONDS = 60  # what a question, its report and the portal may take together
NO_RIGHT = re.compile(r"[Pp]ermission denied|[Oo]peration not permitted|must be root|[Aa]re you root|only root")

State = Literal["answered", "failed", "late", "not watched"]


@dataclass(frozen=True)
class SourceState:
    """`place` is "source" or "source/key"; `why` is a sentence, "" where it answered."""

    place: str
    state: State
    why: str = ""

    @property
    def source(self) -> str:
        return self.place.partition("/")[0]

    @property
    def is_unknown(self) -> bool:
        """Whether it should have answered by now and did not."""
        return self.state in ("failed", "late")


def late_after_seconds(source: str) -> float:
    """How old the answer of a source may be: three times of asking were missed, with what the way takes."""
    return MISSED_MAX * float(COLLECTORS[source].EVERY_SECONDS) * (1 + JITTER) + DELAY_SECONDS


def source_states(node: NodeFacts) -> tuple[SourceState, ...]:
    """The state of every source, in the order of the collectors; of one that is asked of each disk, what is not answered each by itself."""
    by_source: dict[str, list[str]] = {}
    for place in node.digests:
        by_source.setdefault(place.partition("/")[0], []).append(place)
    return tuple(state for source in COLLECTORS for state in _states(node, source, by_source.get(source, [])))


def _states(node: NodeFacts, source: str, places: list[str]) -> Iterator[SourceState]:
    if not places:
        yield SourceState(source, "not watched", "The node says nothing of it.")
        return
    failed = [place for place in places if place in node.failures]
    yield from (_failed(place, node.failures[place]) for place in failed)
    age = node.ages.get(source) if known(node.ages) else None
    if age is not None and age > (BROUGHT_SECONDS if node.brought else late_after_seconds(source)):
        every = (
            f"what is brought counts for {_ago(BROUGHT_SECONDS)}"
            if node.brought
            else f"it should be every {_ago(COLLECTORS[source].EVERY_SECONDS)}"
        )
        yield SourceState(source, "late", f"It was asked {_ago(age)} ago; {every}.")
        return
    absent = [place for place in places if place in node.absent]
    if len(failed) < len(places) - len(absent):
        yield SourceState(source, "answered")
    elif not failed:
        yield SourceState(source, "not watched", node.absent[absent[0]])


def _failed(place: str, why: str) -> SourceState:
    return SourceState(place, "not watched" if NO_RIGHT.search(why) else "failed", why)


def _ago(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
