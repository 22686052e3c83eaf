"""The tables are whole: each example fits its own pattern, each slug exists, and each class a parser can give has an entry."""

from __future__ import annotations

import time
from importlib import import_module

import pytest

from agents.collectors import kernel_log
from workflows.facts.status_reasons import REASONS
from workflows.situations import SITUATIONS
from workflows.vocabulary import VOCABULARIES, page
from workflows.vocabulary.happenings import KERNEL
from workflows.vocabulary.sentences import STATUS

FORMS = [(one.position, form) for one in VOCABULARIES for form in one.forms]


@pytest.mark.parametrize(("position", "form"), FORMS, ids=[f"{position} {form.example}" for position, form in FORMS])
def test_an_example_fits_its_own_pattern_and_no_earlier_one(position, form):
    words = next(one for one in VOCABULARIES if form in one.forms)
    assert words.meaning(form.example) == form.meaning


def test_the_documentation_says_what_the_tables_say():
    assert page.PAGE.read_text() == page.text(), "run `./run manage vocabulary_docs`"


def test_every_slug_is_a_situation():
    slugs = {slug for one in VOCABULARIES for _, meaning in one.rows() for slug in meaning.slugs}
    assert slugs - set(SITUATIONS) == set()


def test_every_class_of_a_kernel_line_has_an_entry():
    patterns = getattr(kernel_log, "PATTERNS", None) or import_module("agents.collectors._kernel_lines").PATTERNS
    assert set(patterns) <= set(KERNEL.words)


def test_no_word_stands_in_two_tables_of_one_position():
    places = [(one.source, one.position) for one in VOCABULARIES]
    assert len(places) == len(set(places))


@pytest.mark.parametrize(("position", "form"), FORMS, ids=[f"{position} {form.example}" for position, form in FORMS])
def test_no_pattern_is_worse_than_linear(position, form):
    """A text four times as long takes no more than about four times as long."""

    def seconds(length: int) -> float:
        text = (form.example.replace("…", " ") + " in with on ") * (length // (len(form.example) + 12)) + "\n"
        began = time.process_time()
        form.pattern.fullmatch(text)
        return time.process_time() - began

    short, long = min(seconds(20_000) for _ in range(3)), min(seconds(80_000) for _ in range(3))
    assert long < 0.005 or long < 10 * short


@pytest.mark.parametrize("reason", REASONS, ids=lambda reason: reason.name)
def test_every_sentence_of_a_status_is_explained_by_what_its_reason_names(reason):
    for pieces in reason.sentences:
        meaning = STATUS.meaning(f"{' and '.join(pieces).capitalize()} and more.")
        assert meaning is not None
        assert set(reason.slugs) <= meaning.slugs
