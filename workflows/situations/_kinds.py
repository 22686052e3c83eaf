"""What decides each kind of situation, how severe it can be, and what is advised where its detector had too few facts for cures of its own.

So no situation is without advice: it says what to do first, or why nothing is to be done. docs/situations.md is made from these tables.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from workflows.engine.core import Cure, CureKind, Severity, Situation

POOL, GUID = "POOL", "GUID"  # stand in a command for the pool's name and the member's guid, as the situation's subject has them
NAMED_BY: Mapping[str, str] = {POOL: "pool", GUID: "vdev_guid"}


@dataclass(frozen=True)
class Kind:
    severities: tuple[Severity, ...]  # that it can have, the worst first
    decides: str  # what in the facts makes it
    advice: tuple[Cure, ...]  # the first thing first
    unattended: str = ""  # what happens if nobody acts, as the rest of a sentence; "" of what is only ever info


Kinds = Mapping[str, Kind]  # by slug


def advice(kind: CureKind, text: str, *argv: str, releases: str = "", needs: str = "", save_first: str = "", runbook: str = "") -> Cure:
    """One cure; each of `argv` is a command as it is typed, its words parted by spaces."""
    return Cure(kind, text, tuple(tuple(line.split(" ")) for line in argv), releases, needs, save_first, runbook)


def advised(found: Iterable[Situation], kinds: Kinds) -> tuple[Situation, ...]:
    """The same situations; those without cures have what is advised of their kind, and each says what happens if nobody acts."""
    return tuple(_with_outcome(kinds[one.slug], one) if one.slug in kinds else one for one in found)


_OUTCOMES = ("if nothing is done", "if nothing is done")


def _with_outcome(kind: Kind, one: Situation) -> Situation:
    cures = one.cures or _of(kind, one)
    words = " ".join((one.meaning, *(cure.text for cure in cures))).lower()
    if one.severity == "info" or not kind.unattended or any(phrase in words for phrase in _OUTCOMES):
        return replace(one, cures=cures)
    return replace(one, cures=cures, meaning=f"{one.meaning.rstrip()} If nothing is done, {kind.unattended}")


def _of(kind: Kind, one: Situation) -> tuple[Cure, ...]:
    return tuple(replace(cure, argv=tuple(filter(None, (_filled(words, one.subject) for words in cure.argv)))) for cure in kind.advice)


def _filled(words: tuple[str, ...], subject: Mapping[str, str]) -> tuple[str, ...]:
    """The command about this subject; none where the subject lacks a name that it needs, as another thing must not be named."""
    named = {word: subject.get(field, "") for word, field in NAMED_BY.items() if word in words}
    if not all(named.values()) or not named.get(GUID, "0").isdigit() or " " in named.get(POOL, ""):
        return ()
    return tuple(named.get(word, word) for word in words)
