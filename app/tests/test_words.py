"""Every kind of event that any code records has words, and its sentence reads as one."""

import ast
import re

import pytest

from app.ledger.words import MORE, WORDS, sentence
from tests.test_architecture import ROOT, sources

RECORDERS = {"record", "_record", "record_if_possible", "Record", "record_event"}
KIND = re.compile(r"[a-z]+(?:-[a-z]+)*\.[a-z]+(?:-[a-z]+)*")
BEGINNINGS = {kind.partition(".")[0] for kind in WORDS} - {"demo"}
# What looks like a kind in these words and is none: permissions, settings, names of files and of modules.
NO_KINDS = re.compile(
    r"runs\.|nodes\.|run\.(start|bundle)$|loop\.close$|.*\.(key|json|html|md|py|run|plan|situation|group|permission|node|next)$"
)
MADE_OF_PARTS = {"run.done", "run.aborted", "ledger.key-rotated", "order.key-rotated"}  # made of two parts: f"run.{status}"


def literals(tree: ast.AST):
    """Strings that are handed to a recorder, and all that begin like a kind."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in RECORDERS and node.args:
            for part in ast.walk(node.args[0]):
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and KIND.fullmatch(part.value):
                    yield part.value, True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and KIND.fullmatch(node.value):
            yield node.value, False


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))


def recorded() -> set[str]:
    found = set(MADE_OF_PARTS)
    for folder in ("app", "workflows"):
        for path in sources(folder):
            if path.name in ("words.py", "settings.py", "verify.py") or "migrations" in path.parts:
                continue
            for text, sure in literals(ast.parse((ROOT / path).read_text())):
                if sure or (text.partition(".")[0] in BEGINNINGS and not NO_KINDS.match(text)):
                    found.add(text)
    return found


def test_every_kind_that_is_recorded_has_words():
    """A new kind of event needs one line in app/ledger/words.py."""
    assert recorded() - set(WORDS) == set()


def test_no_words_are_kept_for_what_nobody_records():
    assert set(WORDS) - recorded() == set()
    assert set(MORE) <= set(WORDS)


@pytest.mark.parametrize("kind", sorted(WORDS))
def test_each_gives_a_sentence_even_of_an_empty_body(kind):
    text = sentence(kind, "node:oss01", {})
    assert text.startswith("oss01 ")
    assert text.endswith(".")
    assert ":." not in text


def test_it_says_what_completes_it():
    assert sentence("run.planned", "node:oss01", {"argv": ["zpool", "replace"]}) == "oss01 answered with its plan: zpool replace."
    assert sentence("run.denied", "bob", {"reason": "Not now."}) == "bob denied the plan: Not now."
    assert sentence("report.changed", "node:a", {"changed": {"x": "1"}, "opened": []}) == "a reported something new: 1 capture changed."
    assert sentence("who.knows", "portal", {}) == "The portal who knows."
