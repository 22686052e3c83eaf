"""What the enclosures say of their own parts: fans, power supplies, temperatures, electronics, and the bays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.collectors import ses, ses_status
from workflows.facts.unknown import known

if TYPE_CHECKING:
    from agents.collectors.ses import SesElement
    from workflows.facts.read.sources import Sources


@dataclass(frozen=True)
class EnclosureFacts:
    """One enclosure, as one page describes it."""

    source: str  # "ses/sg90"
    id: str  # "0x50050cc11ac016e2"; "" where the page does not say
    elements: tuple[SesElement, ...]
    alarms: tuple[str, ...] = ()  # that the head of its status page raises


def read_enclosures(sources: Sources) -> tuple[EnclosureFacts, ...]:
    """Every enclosure once, also where two paths lead to it."""
    return sources.once("enclosures", lambda: _read(sources))


def _read(sources: Sources) -> tuple[EnclosureFacts, ...]:
    found: dict[str, EnclosureFacts] = {}
    for source in (ses_status, ses):
        for key in sources.keys(source.NAME):
            reading = sources.read(source, key)
            if known(reading) and reading.elements:
                one = EnclosureFacts(f"{source.NAME}/{key}", reading.id, reading.elements, reading.alarms)
                found.setdefault(reading.id or one.source, one)
    return tuple(found.values())
