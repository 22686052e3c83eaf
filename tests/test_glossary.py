"""The glossary names modules that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs/glossary.md").read_text()
FOLDERS = ("agents", "twin", "workflows", "app")


def test_every_module_it_names_is_there():
    named = {name for name in re.findall(r"`([a-z_]+(?:/[a-z_]+)+(?:\.py)?)`", TEXT) if name.partition("/")[0] in (*FOLDERS, "facts")}
    paths = {name: ROOT / ("workflows" if name.startswith("facts/") else "") / name for name in named}
    assert len(paths) > 40
    assert {name for name, path in paths.items() if not path.exists()} == set()


def test_no_term_has_two_rows():
    rows = [line.split("|")[1].strip() for line in TEXT.partition("## Words that are not used")[0].splitlines() if line.startswith("| ")]
    terms = [term for row in rows if row not in ("term", "---") for term in row.split(", ")]
    assert len(terms) == len(set(terms))
