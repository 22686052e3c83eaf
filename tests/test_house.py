"""The figures count what their names say."""

import ast
import subprocess
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.house import ROOT, Module, cycles, figures, used_once

CODE = '''"""A docstring."""

import os


def _once(x):
    """Another."""
    return x


def shown():
    said = _once(os.sep)
    return said
'''


def module(name: str, text: str) -> Module:
    return Module(name, Path(f"{name.replace('.', '/')}.py"), text, ast.parse(text))


def test_statements_are_counted_without_docstrings_and_lines():
    assert module("app.a", CODE).statements == 6  # import, two functions, one assignment, two returns


def test_a_private_function_with_one_use_is_found():
    assert used_once(module("app.a", CODE)) == 1
    assert used_once(module("app.a", CODE + "\n\nother = _once(1)\n")) == 0


def test_a_cycle_is_found_through_packages_and_inside_functions_and_not_through_types():
    found = [
        module("app.a", "from app import b"),
        module("app.b", "def f():\n    from app.c import x"),
        module("app.c", "import app.a"),
        module("app.d", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import app.e"),
        module("app.e", "import app.d"),
    ]
    assert cycles(found) == [("app.a", "app.b", "app.c")]


def test_it_counts_this_checkout(tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "a.py").write_text(CODE)
    found = figures(tmp_path)
    assert (found["files"], found["functions"], found["logical statements"], found["`said` as an identifier"]) == (1, 2, 6, 2)
    assert figures(Path(__file__).resolve().parents[1])["files"] > 500


def test_the_top_folder_holds_what_belongs_there():
    """A note that somebody left there would otherwise stay: no other test reads it."""
    files = {
        *(".dockerignore", ".gitignore", ".pre-commit-config.yaml", "Dockerfile", "docker-compose.yml"),
        *("CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"),
        *("conftest.py", "manage.py", "pyproject.toml", "requirements-dev.lock", "requirements.lock", "run"),
    }
    git = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    tracked = {name for name in git.stdout.splitlines() if "/" not in name}
    if not tracked:
        pytest.skip("this is no checkout of git")
    assert tracked == files


def test_every_row_of_a_table_in_the_documents_stands_under_its_headings():
    """A blank line between two rows ends the table, and what follows is shown as one paragraph full of bars."""
    markdown = MarkdownIt("commonmark").enable("table")
    documents = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    assert len(documents) > 20
    loose = [
        (str(path.relative_to(ROOT)), token.map[0] + 1, token.content[:40])
        for path in documents
        for token in markdown.parse(path.read_text("utf-8"))
        if token.type == "inline" and token.map and token.content.startswith("|")
    ]
    assert not loose
