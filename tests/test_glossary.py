"""The glossary names modules that are there, and its banned names stay out of the folders that no longer use them."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs/glossary.md").read_text()
FOLDERS = ("agents", "twin", "workflows", "app")
RENAMED = ("agents",)
# A field of a parsed line; its readers are in other folders.
BINDS_OLD_WORD = {f"agents/collectors/{name}.py" for name in ("_log_stamps", "_smart_json", "sg_logs")}


def test_every_module_it_names_is_there():
    named = {name for name in re.findall(r"`([a-z_]+(?:/[a-z_]+)+(?:\.py)?)`", TEXT) if name.partition("/")[0] in (*FOLDERS, "facts")}
    paths = {name: ROOT / ("workflows" if name.startswith("facts/") else "") / name for name in named}
    assert len(paths) > 40
    assert {name for name, path in paths.items() if not path.exists()} == set()


def test_no_term_has_two_rows():
    rows = [line.split("|")[1].strip() for line in TEXT.partition("## Words that are not used")[0].splitlines() if line.startswith("| ")]
    terms = [term for row in rows if row not in ("term", "---") for term in row.split(", ")]
    assert len(terms) == len(set(terms))


def bound(path: Path) -> set[str]:
    """The names that the functions of a module bind as a parameter or a local variable."""
    nodes = [node for node in ast.walk(ast.parse(path.read_text()))]
    return {node.arg for node in nodes if isinstance(node, ast.arg)} | {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def test_no_variable_of_these_folders_is_called_said():
    paths = [path for folder in RENAMED for path in sorted((ROOT / folder).rglob("*.py")) if "tests" not in path.parts]
    assert len(paths) > 100
    assert {str(path.relative_to(ROOT)) for path in paths if "said" in bound(path)} == BINDS_OLD_WORD
