"""The arrows point one way, every registry is whole, no file runs away, and agents run on Python 3.9."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests import architecture, house

ROOT = Path(__file__).resolve().parent.parent
LINES_MAX = 500
REGISTRIES = ("agents/collectors", "agents/operations", "workflows/situations", "workflows/runbooks")
STDLIB = frozenset(sys.stdlib_module_names)
# What would give `workflows` a clock, a network, or luck. The same facts must give the same answer tomorrow.
IMPURE = frozenset(
    {"asyncio", "http", "multiprocessing", "random", "secrets", "socket", "sqlite3", "subprocess", "threading", "time", "urllib", "uuid"}
)
# app -> the other apps it may know. Who is not listed may know none.
APPS = {
    "accounts": {"ledger"},
    "ledger": {"accounts"},
    "fleet": {"accounts", "ledger"},
    "runs": {"accounts", "fleet", "ledger"},
    "nodes": {"accounts", "fleet", "ledger", "runs"},
    "snapshots": {"accounts", "fleet", "ledger", "runs"},
    "postmortems": {"accounts", "fleet", "ledger", "runs"},
    "api": {"accounts", "fleet", "ledger", "nodes", "notices", "runs", "snapshots"},  # and nothing knows it
    "rehearsals": {"accounts", "fleet", "ledger"},  # and never runs: nothing of a rehearsal reaches an order or a lock
    "notices": {"accounts", "fleet", "ledger", "nodes", "runs"},  # what the others put into app/core/outbox.py reaches it through settings
    "guide": set(),
}


def is_test(path: Path) -> bool:
    return "tests" in path.parts or path.name == "conftest.py"


@cache
def sources(folder: str) -> tuple[Path, ...]:
    """Every Python file under `folder` that is shipped, relative to the root."""
    found = (path.relative_to(ROOT) for path in (ROOT / folder).rglob("*.py"))
    return tuple(sorted(path for path in found if not is_test(path)))


@cache
def imports(path: Path) -> tuple[tuple[str, int], ...]:
    """What a file imports anywhere in it, as (dotted name, line)."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = ".".join(path.parent.parts[: len(path.parent.parts) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (package, node.module or "") if part)
            yield module, node.lineno
            yield from ((f"{module}.{alias.name}", node.lineno) for alias in node.names)


def breaches(folder: str, allowed) -> list[str]:
    return [f"{path}:{line} imports {name}" for path in sources(folder) for name, line in imports(path) if not allowed(path, name)]


def top(name: str) -> str:
    return name.partition(".")[0]


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def test_agents_import_the_standard_library_only():
    assert not breaches("agents", lambda path, name: top(name) in STDLIB or top(name) == "agents")


def test_the_twin_imports_agents_and_the_standard_library():
    assert not breaches("twin", lambda path, name: top(name) in STDLIB or top(name) in {"agents", "twin"})


def test_the_twin_serves_rehearsals_alone():
    """Of what judges, only rehearsals play on it: their own room, and `rehearsal.py` in the folder of a runbook."""
    assert not breaches("workflows", lambda path, name: "rehearsal" in (path.parts[1], path.stem) or top(name) != "twin")


def test_the_agent_does_not_know_the_twin():
    """The file that goes to a storage node is built without it."""
    assert not breaches("agents", lambda path, name: top(name) != "twin")


@pytest.mark.parametrize("folder", ["agents/collectors", "agents/operations"])
def test_the_host_is_the_only_door_to_the_machine(folder):
    assert not breaches(folder, lambda path, name: top(name) not in {"subprocess", "socket", "glob", "shutil"})


def test_workflows_import_agents_and_pure_parts_of_the_standard_library():
    """And `typing_extensions` in one place, where only the type checker reads it. A command has a clock; what it calls is given the time."""

    def allowed(path: Path, name: str) -> bool:
        if name == "time" and path == Path("workflows/rehearsal/__main__.py"):
            return True
        typed = top(name) == "typing_extensions" and path == Path("workflows/facts/unknown.py")
        return typed or top(name) in {"agents", "twin", "workflows"} or top(name) in STDLIB - IMPURE

    assert not breaches("workflows", allowed)


def test_limits_on_a_process_need_the_standard_library_only():
    """And themselves: an interpreter of its own is begun as `python -m confined`."""
    assert not breaches("confined", lambda path, name: top(name) in STDLIB | {"confined"})


def test_the_launcher_needs_nothing_installed():
    """It installs what the rest needs. `prepare` is the one part that runs inside the result; the agent, its twin and `triage` are our own code and need nothing either."""
    own = {"triage": {"launcher", "workflows", "confined"}, "commands": {"launcher", "agents", "lab", "cli"}}
    own |= {"rack": {"launcher", "twin"}, "up": {"launcher", "workflows"}}
    assert not breaches("launcher", lambda path, name: path.stem == "prepare" or top(name) in STDLIB | own.get(path.stem, {"launcher"}))


def test_the_command_line_needs_python_and_the_portals_address():
    """What packs it is no part of it."""
    assert not breaches("cli", lambda path, name: top(name) in STDLIB | {"cli"} or (path.stem == "packaging" and top(name) == "agents"))


def test_the_lab_looks_at_the_product_from_outside():
    """It knows the launcher's way of speaking, and nothing of the portal, the workflows or the agent."""
    assert not breaches("lab", lambda path, name: "tests" in path.parts or top(name) in STDLIB | {"launcher", "lab"})


def test_nothing_imports_the_tests_ground_or_the_launcher():
    for folder in ("agents", "twin", "workflows", "app", "cli", "confined"):
        assert not breaches(folder, lambda path, name: top(name) not in {"tests", "launcher", "bench", "lab"})


@pytest.mark.parametrize("app", sorted(APPS))
def test_apps_know_only_those_below_them(app):
    others = {name for name in APPS if name != app} - APPS[app]
    assert not breaches(f"app/{app}", lambda path, name: not any(within(name, f"app.{other}") for other in others))


def test_every_app_is_in_the_table_of_arrows():
    assert {path.parent.name for path in (ROOT / "app").glob("*/apps.py")} == set(APPS)


@pytest.mark.parametrize("app", sorted(APPS))
def test_inside_an_app_models_stand_below_services_and_services_below_views(app):
    def allowed(path: Path, name: str) -> bool:
        if path.stem == "models" or "migrations" in path.parts:
            return not within(name, f"app.{app}") or name.rpartition(".")[0] == f"app.{app}.models" or within(name, f"app.{app}.models")
        return path.stem in {"urls", "views"} or not within(name, f"app.{app}.views")

    known_below = breaches(f"app/{app}", allowed)
    assert not known_below


@pytest.mark.parametrize("folder", REGISTRIES)
def test_no_file_of_a_registry_is_forgotten(folder):
    lists = [path for name in ("__init__.py", "catalogue.py") if (path := ROOT / folder / name).exists()]
    tree = ast.parse("\n".join(path.read_text() for path in lists))
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    renamed = {
        alias.name: alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    found = (*(ROOT / folder).glob("*.py"), *(path.parent for path in (ROOT / folder).glob("*/__init__.py")))
    modules = {path.stem for path in found if not path.stem.startswith("_") and path.stem not in {"base", "catalogue", "tests"}}
    forgotten = {module for module in modules if renamed.get(module) not in named}
    assert modules
    assert not forgotten


def test_no_file_runs_away():
    kinds = ("*.py", "*.html", "*.css", "*.js", "*.sql")
    folders = ("agents", "twin", "workflows", "app", "cli", "confined", "templates", "static", "launcher", "tests", "bench", "lab")
    files = (
        path
        for folder in folders
        for kind in kinds
        for path in (ROOT / folder).rglob(kind)
        if not {"migrations", "node_modules"} & set(path.parts)
    )
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in files}
    assert not {name: lines for name, lines in lengths.items() if lines > LINES_MAX}


@pytest.mark.parametrize("path", sources("agents"), ids=str)
def test_agents_are_written_in_python_3_9(path):
    text = (ROOT / path).read_text()
    ast.parse(text, filename=str(path), feature_version=(3, 9))
    assert "slots=True" not in text


def test_no_module_imports_in_a_circle():
    """Imports inside functions count as well; those for the type checker alone do not."""
    assert not house.cycles(
        [module for module in house.modules(ROOT) if top(module.name) != "lab"]
    )  # its node boots one of its own to sleep


def test_the_picture_of_the_architecture_is_that_of_the_code():
    """When this is red: `python -m tests.architecture`."""
    assert architecture.PAGE.read_text() == architecture.page(architecture.PAGE.read_text())


def test_no_command_goes_through_a_shell():
    found = []
    for folder in ("agents", "twin", "workflows", "app", "cli", "confined", "launcher"):
        for path in sources(folder):
            for node in ast.walk(ast.parse((ROOT / path).read_text())):
                if isinstance(node, ast.keyword) and node.arg == "shell":
                    found.append(f"{path}:{node.value.lineno}")
        found += breaches(folder, lambda path, name: name not in {"os.system", "os.popen", "commands", "pty"})
    assert not found


def test_errors_are_swallowed_nowhere():
    """`except Exception` stands only in outermost loops, and what it catches there is logged."""
    found = []
    for folder in ("agents", "twin", "workflows", "app", "cli", "confined", "launcher"):
        for path in sources(folder):
            for node in ast.walk(ast.parse((ROOT / path).read_text())):
                if isinstance(node, ast.ExceptHandler) and _is_broad(node) and not _logs(node):
                    found.append(f"{path}:{node.lineno}")
    assert not found


def _is_broad(node: ast.ExceptHandler) -> bool:
    kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in {"Exception", "BaseException"}) for kind in kinds)


def _logs(node: ast.ExceptHandler) -> bool:
    names = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    return bool(names & {"exception", "error", "warning"}) or any(isinstance(part, ast.Raise) for part in ast.walk(node))
