"""Which mutants the tests kill. First all of a group in place (`inplace.py`); a mutant that cannot be put in place, or that is in what
runs before the tests do, is a fork of a process that has imported all but the mutated module, and imports the rest.

A mutant that makes the tests hang is killed by the time it takes of the processor: on a busy machine the clock on the wall would kill
mutants that nobody noticed.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence

from tests.mutants.inplace import BYTES_MAX, Hurt, Tried, _wait, changed, in_child, tried
from tests.mutants.mutate import Mutant
from tests.mutants.targets import ROOT, Target

SECONDS_MAX = 120  # of the processor
COLD = os.environ.get("SLOTLIGHT_MUTANTS_COLD", "yes") != "no"
PRELOADED = ("pytest", "hypothesis", "hypothesis.stateful", "sqlite3", "decimal", "unittest.mock")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the mutant in place of the module."""

    def __init__(self, name: str, code) -> None:
        self.name, self.code = name, code

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        spec = importlib.machinery.ModuleSpec(name, self, origin=self.code.co_filename)
        folder, file = os.path.split(self.code.co_filename)
        spec.submodule_search_locations = [folder] if file == "__init__.py" else None
        return spec

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
    for name in (*PRELOADED, *_modules("agents"), *_modules("twin"), *_modules("workflows")):
        with contextlib.suppress(ImportError):  # it needs the module that is left out
            importlib.import_module(name)
    sys.meta_path.remove(absent)
    assert target.module not in sys.modules, f"{target.module} is imported already, so its mutants would never run."


def _modules(folder: str) -> list[str]:
    """Shipped modules and what tests stand on; the tests themselves belong to pytest, which rewrites them."""
    paths = (path.relative_to(ROOT).with_suffix("") for path in sorted((ROOT / folder).rglob("*.py")))
    return [".".join(path.parts) for path in paths if not path.name.startswith(("test_", "__", "conftest"))]


def is_killed(hurt: Hurt) -> bool:
    """Whether its tests fail when everything is imported with the mutant in it."""
    target = hurt.target
    return any(_fails(hurt, tests) for tests in ((target.own,) if target.own else (target.tests, target.slow)) if tests)


def _fails(hurt: Hurt, tests: Sequence[str]) -> bool:
    folder = tempfile.mkdtemp(prefix="mutant-")
    child = os.fork()
    if child == 0:
        os._exit(_run(hurt, tests, folder))
    failed = _wait(child) != 0
    shutil.rmtree(folder, ignore_errors=True)
    return failed


def _run(hurt: Hurt, tests: Sequence[str], folder: str) -> int:
    import pytest

    resource.setrlimit(resource.RLIMIT_AS, (BYTES_MAX, BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MAX, SECONDS_MAX))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    try:
        os.chdir(ROOT)
        sys.meta_path.insert(0, _Finder(hurt.target.module, hurt.code()))
        plain = ["-x", "-q", "-p", "no:django", "-p", "no:cacheprovider", "-p", "no:warnings", f"--basetemp={folder}/tests"]
        return int(pytest.main([*plain, *tests]))
    except BaseException:  # noqa: BLE001  a mutant that cannot even be imported is noticed
        return 1


UNHURT = Mutant(0, "as it is", 0, lambda node: node)


def _killed_anew(target: Target, hurts: Sequence[Hurt], numbers: Sequence[int]) -> set[int]:
    preload(target)
    assert not is_killed(Hurt(target, UNHURT)), f"The tests of {target.path} fail without any mutant, so they prove nothing."
    return {number for number in numbers if is_killed(hurts[number])}


def survivors(
    targets: Sequence[Target], hurts: Sequence[Hurt], report: Callable[[str], None] = lambda line: None, anew: bool = True
) -> list[Hurt]:
    """Those that the tests of their targets do not notice. A file of tests is run once for all targets that name it."""
    tests = dict.fromkeys(name for part in ("tests", "slow") for target in targets for name in getattr(target, part))
    alive, known = set(range(len(hurts))), {}
    for hurt in hurts:  # once, for all forks
        changed(hurt)

    def facing(name: str) -> set[int]:
        return {number for number in alive if name in hurts[number].target.tests + hurts[number].target.slow}

    for name in (name for name in tests if facing(name)):
        known[name] = tried(name, hurts, facing(name))
        alive -= known[name].killed
        report(f"{name}: {len(known[name].killed)} killed, {len(alive)} alive")
    for name in (name for name in known if COLD and known[name].wide and facing(name)):
        killed = tried(name, hurts, facing(name), known[name]).killed
        alive -= killed
        report(f"{name}, from its beginning: {len(killed)} killed, {len(alive)} alive")
    for target in targets if anew else ():
        numbers = sorted(number for number in alive if hurts[number].target is target and _needs_all_anew(hurts[number], known.values()))
        killed = in_child(lambda target=target, numbers=numbers: _killed_anew(target, hurts, numbers)) if numbers else set()
        alive -= killed
        report(f"{target.path}, all imported anew: {len(killed)} of {len(numbers)} killed, {len(alive)} alive")
    return [hurts[number] for number in sorted(alive)]


def _needs_all_anew(hurt: Hurt, known: Sequence[Tried]) -> bool:
    places = changed(hurt).keys()
    return not places or any(key in each.at_import for key in places for each in known)
