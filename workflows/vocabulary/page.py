"""docs/vocabulary.md: every word of every source with its meaning, written from the tables."""

from collections.abc import Iterator
from pathlib import Path

from workflows.analysis.judgement import WATCHES
from workflows.facts.read.source_states import MISSED_MAX
from workflows.vocabulary import VOCABULARIES
from workflows.vocabulary._words import Meaning, Vocabulary

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "vocabulary.md"
OF_THE_PAST = "over once the pool or member it names is well again by its own rows; until then "


def text() -> str:
    """The whole page."""
    return "\n".join([*_head(), *(line for words in VOCABULARIES for line in _table(words))]) + "\n"


def _head() -> Iterator[str]:
    yield "# What each word means"
    yield ""
    yield "Written by `./run manage vocabulary_docs` from `workflows/vocabulary/`; change it there."
    yield ""
    yield "A word is **good**, **neutral** (it says nothing of how the thing is), or explained by one of the situations named. That is checked"
    yield "each time: where none of them is found for the same pool and vdev, and for every word that is not in the table, the situation"
    yield "`unexplained` is raised: to act on where a pool or a top-level vdev is not ONLINE, else to watch. Numbers, such as counters and"
    yield "temperatures, have thresholds and stand with the situations that judge them."
    yield ""
    yield "A pool, disk or node is called good only when all that answered is good, and none of these sources failed or is late (after"
    yield f"{MISSED_MAX} missed times of asking). What is not watched there, as no such tool, hardware or right exists, is shown grey:"
    yield ""
    yield from (f"- `{source}`: {what}" for source, what in WATCHES.items())
    yield ""


def _table(words: Vocabulary) -> Iterator[str]:
    yield f"## {words.source}: {words.position}"
    yield ""
    if words.note:
        yield f"{words.note[0].upper()}{words.note[1:]}."
        yield ""
    yield "| word | meaning |"
    yield "|---|---|"
    yield from (f"| {_cell(name)} | {_words(meaning)} |" for name, meaning in words.rows())
    yield "| any other | `unexplained` |"
    yield ""


def _cell(name: str) -> str:
    return f"`{name.replace('|', '/')}`" if name else "nothing"


def _words(meaning: Meaning) -> str:
    if meaning.is_well:
        return meaning.kind
    return f"{OF_THE_PAST if meaning.past else ''}{', '.join(f'`{slug}`' for slug in sorted(meaning.slugs))}, else `unexplained`"
