"""Every word that a source can print, and what it means: good, neutral, or explained by a situation. A word in no table is unexplained."""

from workflows.vocabulary import devices, happenings, notes, sentences, states
from workflows.vocabulary._words import GOOD, NEUTRAL, Form, Meaning, Vocabulary

VOCABULARIES: tuple[Vocabulary, ...] = (*states.ALL, *notes.ALL, *sentences.ALL, *happenings.ALL, *devices.ALL)

__all__ = ["GOOD", "NEUTRAL", "VOCABULARIES", "Form", "Meaning", "Vocabulary"]
