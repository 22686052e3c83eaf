"""mypy, strict, finds nothing in any room; ruff finds nothing; every suppressed type error has its reason."""

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from pathlib import Path

import pytest

from tests.house import modules

ROOT = Path(__file__).resolve().parent.parent


FORGETFUL = """
from workflows.engine.core import Params, Verdict, ok, refuse, unknown
from workflows.facts import FleetFacts, known
from workflows.guards.subject import the_pool

def the_pool_has_vdevs(facts: FleetFacts, params: Params) -> Verdict:
    pool = the_pool(facts, params)
    if not known(pool):
        return unknown(pool.reason)
    {}
    return ok("It has.") if len(pool.tops) else refuse("It has none.")
"""
GUARDS = {"forgotten.py": "pass", "asked.py": "if not known(pool.tops):\n        return unknown(pool.tops.reason)"}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The errors that mypy finds in the product and in two guards beside it. One run tells all: each takes many seconds to load what it knows."""
    folder = tmp_path_factory.mktemp("guards")
    for name, text in GUARDS.items():
        (folder / name).write_text(FORGETFUL.format(text))
    floors = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["files"]
    argv = [sys.executable, "-m", "mypy", *floors, *(str(folder / name) for name in GUARDS)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert bool(errors) == bool(done.returncode), done.stdout + done.stderr
    of_guards = {name: [line for line in errors if f"{folder.name}/{name}:" in line] for name in GUARDS}
    return {"product": [line for line in errors if f"{folder.name}/" not in line], **of_guards}


def test_mypy_finds_nothing(found):
    assert found["product"] == []


def test_a_guard_that_forgets_the_unknown_case_is_a_type_error(found):
    assert found["forgotten.py"], "It asks for the length of what may be unknown."
    assert found["asked.py"] == []


@pytest.mark.parametrize("words", [("check",), ("format", "--check")])
def test_ruff_finds_nothing(words):
    done = subprocess.run([sys.executable, "-m", "ruff", *words, "."], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


MENTIONED = re.compile(r"type: *ignore|mypy: |\bcast\(")
SUPPRESSED = re.compile(r"# *(?:type: *ignore|mypy: )")
IGNORE_WITH_REASON = re.compile(r"# type: ignore\[[a-z, -]+\]  # \S+ \S")
REASON = re.compile(r"# \S+ \S")


def unexplained(text: str) -> list[int]:
    """Lines on which a type error is suppressed, or a type asserted by `cast`, without a comment on the line that says why."""
    if not MENTIONED.search(text):
        return []
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    casts = {node.lineno for node in calls if ast.unparse(node.func).rpartition(".")[2] == "cast"}
    ignores = {line for line, comment in comments.items() if SUPPRESSED.match(comment)}
    bare = {line for line in ignores if not IGNORE_WITH_REASON.match(comments[line])}
    return sorted(bare | {line for line in casts - ignores if not REASON.match(comments.get(line, ""))})


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("f(x)  # type: ignore", [1]),
        ("f(x)  # type: ignore[arg-type]", [1]),
        ("f(x)  # type: ignore  # the stubs of g leave it out", [1]),
        ("f(x)  # type: ignore[arg-type]  # the stubs of g leave it out", []),
        ("# mypy: ignore-errors", [1]),
        ("a = cast(int, x)", [1]),
        ("a = typing.cast(int, x)", [1]),
        ("a = cast(int, x)  # the column holds numbers alone", []),
        ("a = Cast(x, BigIntegerField())", []),
        ("a = '# type: ignore'", []),
    ],
)
def test_a_suppressed_type_error_without_a_reason_is_found(line, expected):
    assert unexplained(f"{line}\n") == expected


def test_every_suppressed_type_error_and_every_cast_has_its_reason():
    found = [f"{module.path.relative_to(ROOT)}:{line}" for module in modules(ROOT) for line in unexplained(module.text)]
    assert not found, "Give it the real type, or write why it stays behind it: " + ", ".join(found)
