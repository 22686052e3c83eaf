"""The glossary names modules that are there, and its banned names stay out of the folders that no longer use them."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs/glossary.md").read_text()
FOLDERS = ("agents", "twin", "workflows", "app")
OLD_WORDS = {"said", "told", "heard", "tells", "says", "nobody", "somebody"}
STORED = {
    "tells_alloc",  # a field of a twin that stories give
    "no_disk_tells_another_story",  # from here on guards
    "it_alone_tells_another_story",
    "every_disk_told_its_uberblocks",
    "the_log_says_where_it_came_in",
    "this_release_of_openzfs_does_more_than_the_command_says",
}
PERSONIFIED = re.compile(
    r"\b(nobody|somebody|tells?|telling|told|speaks?|spoke|heard|believe[sd]?|another story|without a word|in silence|of its own word|sees? to it|(?:come|came) by(?! itself)|narrowed it)\b",
    re.I,
)
KEPT_TEXTS = {
    "active, by a host that nobody knows: no proof that another has it, nor that none has",  # a precondition: its bytes are hashed into plans
    "told with another notice",  # the label of a state, which a migration holds
}
TEXTS_LEFT = {"agents": 0, "app": 0, "cli": 0, "docs/guide": 0, "launcher": 0, "templates": 0, "twin": 0, "workflows": 84}
LEFT = {"agents": 0, "app": 0, "bench": 0, "cli": 0, "confined": 0, "lab": 0, "launcher": 0, "tests": 8, "twin": 0, "workflows": 0}


def test_every_module_it_names_is_there():
    named = {name for name in re.findall(r"`([a-z_]+(?:/[a-z_]+)+(?:\.py)?)`", TEXT) if name.partition("/")[0] in (*FOLDERS, "facts")}
    paths = {name: ROOT / ("workflows" if name.startswith("facts/") else "") / name for name in named}
    assert len(paths) > 40
    assert {name for name, path in paths.items() if not path.exists()} == set()


def test_no_term_has_two_rows():
    rows = [line.split("|")[1].strip() for line in TEXT.partition("## Words that are not used")[0].splitlines() if line.startswith("| ")]
    terms = [term for row in rows if row not in ("term", "---") for term in row.split(", ")]
    assert len(terms) == len(set(terms))


def identifiers(tree: ast.AST) -> Iterator[str]:
    """Every name of a module, wherever it stands; tests are named by the sentence that they prove, and do not count."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name
            case ast.keyword(arg=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) if not name.startswith("test_"):
                yield name
            case ast.alias(name=name, asname=alias):
                yield from (name.rpartition(".")[2], alias or "")


def test_old_words_are_no_identifiers():
    """The counts only fall. What stays is stored, or is the name of a guard."""
    paths = [path for folder in LEFT for path in sorted((ROOT / folder).rglob("*.py"))]
    assert len(paths) > 1000
    found = {folder: Counter() for folder in LEFT}
    for path in paths:
        names = (
            name for name in identifiers(ast.parse(path.read_text())) if name not in STORED and OLD_WORDS & set(name.lower().split("_"))
        )
        found[path.relative_to(ROOT).parts[0]].update(names)
    more = {folder: names for folder, names in found.items() if names.total() > LEFT[folder]}
    assert not more, "These are named by what they hold: text, output, reported ..."


def literals(tree: ast.AST) -> Iterator[str]:
    """Each string of a module that holds more than one word and is no docstring; of an f-string each part between the braces."""
    bodies = (node.body for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef))
    docstrings = {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings and " " in node.value.strip():
            yield node.value


def texts_of(path: Path) -> Iterator[str]:
    """What people may read of a module, a page or a template; of a template without its tags, variables and comments."""
    if path.suffix == ".py":
        yield from literals(ast.parse(path.read_text()))
    elif path.suffix == ".md":
        yield from path.read_text().splitlines()
    else:
        yield from re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}", "\n", path.read_text(), flags=re.DOTALL).splitlines()


def test_texts_for_people_do_not_personify():
    """The counts only fall. A machine reports, shows or has no value; a person is named by the role, or the sentence is passive."""
    found = {}
    for folder in TEXTS_LEFT:
        paths = [
            path
            for path in sorted((ROOT / folder).rglob("*.*"))
            if path.suffix in (".py", ".html", ".md") and not {"tests", "migrations"} & set(path.parts)
        ]
        assert paths
        found[folder] = [
            f"{path.relative_to(ROOT)}: {text.strip()}"
            for path in paths
            for text in texts_of(path)
            if text not in KEPT_TEXTS and PERSONIFIED.search(text)
        ]
    assert {folder: texts for folder, texts in found.items() if len(texts) > TEXTS_LEFT[folder]} == {}


def test_every_kept_text_is_there():
    modules = [path for folder in TEXTS_LEFT for path in (ROOT / folder).rglob("*.py") if "migrations" not in path.parts]
    assert KEPT_TEXTS - {text for path in modules for text in literals(ast.parse(path.read_text()))} == set()


def test_every_stored_name_is_there():
    names = {name for folder in LEFT for path in (ROOT / folder).rglob("*.py") for name in identifiers(ast.parse(path.read_text()))}
    assert STORED - names == set()
