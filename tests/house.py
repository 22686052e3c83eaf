"""Figures of the code base: `python -m tests.house [FOLDER] [--json]`, for this checkout or another one in FOLDER.

Product code is every Python file of the folders below that is no test. A logical statement is a statement of the syntax tree, docstrings not
counted. A private function is one whose name begins with an underscore; it is used once where its name stands in one other place.
An import cycle is a group of modules of which each reaches each through imports.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("agents", "twin", "workflows", "app", "cli", "confined", "launcher", "lab")
SHORT_LINES = 40
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Module:
    name: str
    path: Path
    text: str
    tree: ast.Module = field(repr=False)

    @property
    def folder(self) -> str:
        return self.name.rpartition(".")[0]

    @cached_property
    def statements(self) -> int:
        documented = (ast.Module, ast.ClassDef, *FUNCTION)
        docstrings = sum(ast.get_docstring(node, clean=False) is not None for node in ast.walk(self.tree) if isinstance(node, documented))
        return sum(isinstance(node, ast.stmt) for node in ast.walk(self.tree)) - docstrings

    @cached_property
    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        return [node for node in ast.walk(self.tree) if isinstance(node, FUNCTION)]

    @cached_property
    def lines(self) -> int:
        return len(self.text.splitlines())


def modules(root: Path) -> list[Module]:
    found = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            if "tests" in parts or parts[-1] == "conftest" or "node_modules" in parts:
                continue
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            text = path.read_text()
            found.append(Module(name, path, text, ast.parse(text)))
    return found


def p90(values: Iterable[int]) -> int:
    ordered = sorted(values)
    return ordered[int(len(ordered) * 0.9)] if ordered else 0


# --- names


def identifiers(module: Module) -> Iterator[str]:
    """Every place where a name stands, whatever it is there."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg) or (isinstance(node, ast.keyword) and node.arg):
            yield node.arg
        elif isinstance(node, (*FUNCTION, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2]


def used_once(module: Module) -> int:
    places = Counter(identifiers(module))
    return sum(f.name.startswith("_") and not f.name.startswith("__") and places[f.name] == 2 for f in module.functions)


# --- imports


def imported(module: Module, known: frozenset[str], types: bool = False) -> Iterator[str]:
    """The modules that this one imports when it is loaded or when one of its functions runs; with `types` for the type checker too."""
    for node in ast.walk(module.tree) if types else _running(module.tree):
        if isinstance(node, ast.Import):
            yield from (name for alias in node.names if (name := _module(alias.name, known)))
        elif isinstance(node, ast.ImportFrom):
            base = _base(module, node)
            for alias in node.names:
                if found := _module(f"{base}.{alias.name}", known):
                    yield found


def _running(node: ast.AST) -> Iterator[ast.AST]:
    waiting = [node]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            yield child
            waiting.append(child)


def _base(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = module.name.split(".") if module.path.stem == "__init__" else module.name.split(".")[:-1]
    return ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])


def _module(name: str, known: frozenset[str]) -> str:
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def cycles(found: list[Module], types: bool = False) -> list[tuple[str, ...]]:
    """Groups of more than one module, by Tarjan's algorithm without recursion."""
    known = frozenset(module.name for module in found)
    arrows = {module.name: sorted({name for name in imported(module, known, types) if name != module.name}) for module in found}
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups = []
    for root in arrows:
        work = [(root, iter(arrows[root]))] if root not in number else []
        if work:
            number[root] = low[root] = len(number)
            stack.append(root)
        while work:
            here, ahead = work[-1]
            step = next(ahead, None)
            if step is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[here])
                if low[here] == number[here]:
                    group = stack[stack.index(here) :]
                    del stack[stack.index(here) :]
                    groups += [tuple(sorted(group))] if len(group) > 1 else []
            elif step not in number:
                number[step] = low[step] = len(number)
                stack.append(step)
                work.append((step, iter(arrows[step])))
            elif step in stack:
                low[here] = min(low[here], number[step])
    return sorted(groups)


def by_folder(groups: list[tuple[str, ...]]) -> Counter[str]:
    """How many modules of each folder stand in a cycle."""
    return Counter(".".join(name.split(".")[:2]) for group in groups for name in group)


# --- the table


def figures(root: Path) -> dict[str, int | str]:
    found = modules(root)
    lengths = [(node.end_lineno or 0) - node.lineno + 1 for module in found for node in module.functions]
    files_of_said = [module for module in found if "said" in identifiers(module)]
    groups, typed = cycles(found), cycles(found, types=True)
    return {
        "logical statements": sum(module.statements for module in found),
        **{f"logical statements, {top}": count for top, count in _by_top(found).items()},
        "files": len(found),
        "functions": len(lengths),
        "lines of a function, 90th percentile": p90(lengths),
        "lines of a file, 90th percentile": p90(module.lines for module in found),
        f"modules under {SHORT_LINES} lines": sum(0 < module.lines < SHORT_LINES for module in found),
        "private functions used once": sum(map(used_once, found)),
        "import cycles": len(groups),
        "modules in an import cycle": sum(map(len, groups)),
        "modules in a cycle, by folder": ", ".join(f"{name} {count}" for name, count in sorted(by_folder(groups).items())) or "none",
        "the same, imports for types counted": ", ".join(f"{name} {count}" for name, count in sorted(by_folder(typed).items())) or "none",
        "`said` as an identifier": sum(list(identifiers(module)).count("said") for module in found),
        "files with `said` as an identifier": len(files_of_said),
    }


def _by_top(found: list[Module]) -> Counter[str]:
    count: Counter[str] = Counter()
    for module in found:
        count[module.name.partition(".")[0]] += module.statements
    return count


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.house", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT, help="another checkout")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    found = figures(options.folder.resolve())
    if options.json:
        print(json.dumps(found, indent=1))
        return 0
    width = max(map(len, found))
    for name, value in found.items():
        print(f"{name:<{width}}  {value:>7,}" if isinstance(value, int) else f"{name:<{width}}  {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
