"""Which mutants the tests kill. Each is one fork of a process that has imported all but the mutated module.

Its own tests run first; what survives them meets the slow ones. A mutant that makes the tests hang is killed by the time it takes of
the processor: on a busy machine the clock on the wall would kill mutants that nobody noticed.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutate import Mutant, mutants

ROOT = Path(__file__).resolve().parents[2]
SECONDS_MAX = 60  # of the processor
WALL_SECONDS_MAX = 20.0 * SECONDS_MAX  # for a mutant that waits and does nothing
BYTES_MAX = 2 << 30  # a mutant that never stops may also never stop asking for memory
PRELOADED = ("pytest", "hypothesis", "hypothesis.stateful", "sqlite3", "decimal", "unittest.mock")


@dataclass(frozen=True)
class Target:
    """A file and the tests that must notice what goes wrong in it, the quick ones first."""

    path: str
    tests: tuple[str, ...]
    slow: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        return self.path.removesuffix(".py").replace("/", ".")

    @property
    def source(self) -> str:
        return (ROOT / self.path).read_text()

    def mutants(self) -> list[Mutant]:
        return mutants(self.source)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the mutant in place of the module."""

    def __init__(self, name: str, code) -> None:
        self.name, self.code = name, code

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, origin=self.code.co_filename) if name == self.name else None

    def exec_module(self, module) -> None:
        module.__file__ = self.code.co_filename
        exec(self.code, module.__dict__)  # noqa: S102  our own source with one change


class _Absent(importlib.abc.MetaPathFinder):
    """As if there were no such module."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find_spec(self, name, path=None, target=None):
        if name == self.name:
            raise ModuleNotFoundError(f"{name} is left out.", name=name)


def preload(target: Target) -> None:
    """Import whatever can be imported without the mutated module, once for all mutants."""
    absent = _Absent(target.module)
    sys.meta_path.insert(0, absent)
    for name in (*PRELOADED, *_modules("agents"), *_modules("workflows")):
        with contextlib.suppress(ImportError):  # it needs the module that is left out
            importlib.import_module(name)
    sys.meta_path.remove(absent)
    assert target.module not in sys.modules, f"{target.module} is imported already, so its mutants would never run."


def _modules(folder: str) -> list[str]:
    """Shipped modules and what tests stand on; the tests themselves belong to pytest, which rewrites them."""
    paths = (path.relative_to(ROOT).with_suffix("") for path in sorted((ROOT / folder).rglob("*.py")))
    return [".".join(path.parts) for path in paths if not path.name.startswith(("test_", "__", "conftest"))]


def is_killed(target: Target, mutant: Mutant) -> bool:
    return any(_fails(target, mutant, tests) for tests in (target.tests, target.slow) if tests)


def _fails(target: Target, mutant: Mutant, tests: Sequence[str]) -> bool:
    child = os.fork()
    if child == 0:
        os._exit(_run(target, mutant, tests))
    deadline = time.monotonic() + WALL_SECONDS_MAX
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) != 0
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def _run(target: Target, mutant: Mutant, tests: Sequence[str]) -> int:
    import pytest

    resource.setrlimit(resource.RLIMIT_AS, (BYTES_MAX, BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MAX, SECONDS_MAX))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    try:
        os.chdir(ROOT)
        sys.meta_path.insert(0, _Finder(target.module, mutant.code(target.source, str(ROOT / target.path))))
        return int(pytest.main(["-x", "-q", "-p", "no:django", "-p", "no:cacheprovider", "-p", "no:warnings", *tests]))
    except BaseException:  # noqa: BLE001  a mutant that cannot even be imported is noticed
        return 1


def survivors(target: Target, chosen: Sequence[Mutant]) -> Iterator[Mutant]:
    """Those the tests do not notice, as they are found."""
    preload(target)
    unhurt = Mutant(0, "as it is", 0, lambda node: node)
    assert not is_killed(target, unhurt), f"The tests of {target.path} fail without any mutant, so they prove nothing."
    yield from (mutant for mutant in chosen if not is_killed(target, mutant))


PURE = "workflows/tests/"
GUARDS = tuple(
    Target(
        f"workflows/guards/{name}.py",
        (f"{PURE}test_guard_edges.py", f"{PURE}test_guard_edges_of_pools.py", f"{PURE}test_guards.py", f"{PURE}test_fresh.py"),
    )
    for name in ("candidate", "fresh", "healthy", "replaced", "subject", "target", "__init__")
)
TARGETS = (
    *GUARDS,
    Target("workflows/runbooks/wwid_mismatch_replace.py", (f"{PURE}test_wwid_mismatch_replace.py", f"{PURE}test_registry.py")),
    Target("workflows/engine.py", (f"{PURE}test_engine.py",), (f"{PURE}test_engine_machine.py",)),
    Target("workflows/walk.py", (f"{PURE}test_engine.py",), (f"{PURE}test_engine_machine.py",)),
    Target("workflows/outcomes.py", (f"{PURE}test_engine.py",), (f"{PURE}test_engine_machine.py",)),
    Target(
        "workflows/turning.py",
        (f"{PURE}test_engine.py", f"{PURE}test_ways.py", f"{PURE}test_windows.py"),
        (f"{PURE}test_engine_machine.py",),
    ),
    Target("workflows/glass.py", (f"{PURE}test_glass.py",)),
    Target("workflows/lint.py", (f"{PURE}test_lint.py", f"{PURE}test_engine_machine.py::test_together_they_use_every_kind_of_step")),
    Target("workflows/plans.py", (f"{PURE}test_engine.py", f"{PURE}test_wwid_mismatch_replace.py")),
    Target("agents/orders.py", ("agents/tests/test_orders.py", "agents/tests/test_executor.py")),
    Target("agents/policy.py", ("agents/tests/test_policy.py",)),
    Target("agents/proofs.py", ("agents/tests/test_proofs.py",)),
    Target("app/ledger/verify.py", ("tests/verifier/test_verify.py",), ("tests/verifier/test_trees.py",)),
    Target("app/ledger/merkle.py", ("tests/verifier/test_trees.py",)),
    Target("agents/backing.py", ("agents/tests/test_backing.py",)),
    Target("agents/operations/zpool_replace.py", ("agents/tests/test_zpool_replace.py", "agents/tests/test_operations.py")),
)
