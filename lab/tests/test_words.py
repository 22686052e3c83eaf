"""What the walks look for on the portal's pages is what the product still prints: they run seldom, and a changed text would be found by a red walk alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.house import ROOT

PRODUCT = ("agents", "app", "templates", "workflows")
WORDS = 3
LEAST = 0.6  # of the runs of three words
_STATE = re.compile(r"\b(?:FAULTED|DEGRADED|ONLINE|OFFLINE|REMOVED|UNAVAIL|SUSPENDED)\b")  # filled in
_PAGE = re.compile(r"\b(?:page|text|current)\b")
_JOINT = re.compile(r"""["']\s*\n\s*f?["']""")  # one string on two lines of source
_FILLED = re.compile(r"\{\{?[^{}]*\}?\}")


@cache
def printed() -> str:
    """The sources of the product in one line, with a blank for what is filled in."""
    files = [path for top in PRODUCT for ending in ("*.py", "*.html") for path in (ROOT / top).rglob(ending) if "tests" not in path.parts]
    return " ".join(_FILLED.sub(" ", _JOINT.sub("", "\n".join(path.read_text("utf-8") for path in files))).split())


def looked_for(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each `assert "a text" in page.text` and its kind, where the text stands there as it is."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Assert) or not isinstance(node.test, ast.Compare) or not isinstance(node.test.left, ast.Constant):
            continue
        text = node.test.left.value
        if isinstance(text, str) and isinstance(node.test.ops[0], ast.In) and _PAGE.search(ast.unparse(node.test.comparators[0])):
            yield node.lineno, text


CASES = [
    pytest.param(text, id=f"{path.stem}-{line}")
    for path in sorted((ROOT / "lab" / "tests").glob("test_node_*.py"))
    for line, text in looked_for(path)
    if len(text.split()) >= WORDS
]


def test_there_are_some():
    assert len(CASES) > 10


@pytest.mark.parametrize("text", CASES)
def test_a_text_that_a_walk_looks_for_is_printed(text):
    """Where something is filled in within the text, the words around it are."""
    words = _STATE.sub(" ", text).split()
    runs = [" ".join(words[place : place + WORDS]) for place in range(len(words) - WORDS + 1)]
    found = [run for run in runs if run in printed()]
    assert len(found) >= LEAST * len(runs), f"of {text!r} the product prints only {found}"
