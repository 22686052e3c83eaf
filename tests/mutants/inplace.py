"""Mutants tried where the tests already stand: a process collects one file of tests, and each mutant is a fork of it.

A fork changes only the code of the functions the mutant is in, and runs only the tests that come by these functions, first those that
killed their mutants before. The unhurt tests run once, to see which come by where; the forks of that process find their walks walked
("warm"). What survives there is tried again from before that, walks and all ("cold"). It errs to one side: a mutant that outlives the
seconds it is given lives, and one that cannot be put in place (a constant, a list) lives until everything is imported anew for it.
"""

from __future__ import annotations

import gc
import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from tests.mutants.mutate import Mutant
from tests.mutants.targets import ROOT, Target

BUDGET_SECONDS = float(os.environ.get("SLOTLIGHT_MUTANTS_SECONDS", "15"))  # of the processor, for one mutant in one file of tests
TELL_EVERY = 100  # mutants
STILL_SECONDS_MAX = 300.0  # for a mutant that waits and does nothing
LOOK_SECONDS = 1.0  # between two looks whether it does
BYTES_MAX = 2 << 30  # a mutant that never stops may also never stop asking for memory
UNTOLD = -1  # the fork ended without a word, as one that takes too long does
FOLDERS_DEEP = 2  # where tests put what they make below pytest's own folder

Key = tuple[str, str, int]  # file, qualified name and first line of a function


@dataclass(frozen=True)
class Hurt:
    target: Target
    mutant: Mutant

    def code(self) -> CodeType:
        return self.mutant.code(self.target.source, str(ROOT / self.target.path))


@dataclass
class Tried:
    """What one file of tests made of the mutants, by their numbers."""

    killed: set[int] = field(default_factory=set)
    came_by: dict[Key, list[int]] = field(default_factory=dict)  # the tests that come by a function, the quickest first
    at_import: set[Key] = field(default_factory=set)  # functions that ran before any test did
    wide: bool = False  # tests share what one of them made
    seconds: list[float] = field(default_factory=list)


def in_child(work: Callable[[], Any]) -> Any:
    """What `work` returns in a fork of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            with os.fdopen(writing, "wb") as out:
                pickle.dump(work(), out)
            os._exit(0)
        except BaseException:  # noqa: BLE001  told here, and by the exit code
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        raw = pipe.read()
    _, status = os.waitpid(child, 0)
    if status:
        raise AssertionError(f"A child of the hunt ended with {os.waitstatus_to_exitcode(status)}; what it said stands above.")
    return pickle.loads(raw)


def functions(code: CodeType, path: str) -> Iterator[tuple[Key, CodeType]]:
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield (path, const.co_qualname, const.co_firstlineno), const
            yield from functions(const, path)


@cache
def changed(hurt: Hurt) -> dict[Key, CodeType]:
    """The functions that differ. Empty when there is no telling them apart, or what differs is outside of any."""
    path = str(ROOT / hurt.target.path)
    before, after = (list(functions(code, path)) for code in (compile(hurt.target.source, path, "exec"), hurt.code()))
    if [key for key, _ in before] != [key for key, _ in after]:
        return {}
    pairs = zip(before, after, strict=True)
    found = {key: new for (key, old), (_, new) in pairs if old != new and new.co_flags & CO_OPTIMIZED}  # the body of a class ran already
    keys = [key for key, _ in before]
    return {} if any(keys.count(key) > 1 for key in found) else found


class _Hunt:
    """A plugin of pytest in place of its loop over the tests."""

    def __init__(self, hurts: Sequence[Hurt], alive: set[int], known: Tried | None) -> None:
        self.hurts, self.alive, self.known = hurts, alive, known
        self.places = {number: changed(hurts[number]) for number in alive}
        self.paths = {str(ROOT / hurt.target.path) for hurt in hurts}
        self.patience = 10.0 if known is None else 60.0  # a cold test may be the first of its file, and walks for all
        self.tried = Tried()
        self.seen: set[Key] = set()
        self.first: dict[Key, list[int]] = defaultdict(list)

    def go(self, tests: str, folder: Path) -> Tried:
        import hypothesis
        import pytest

        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)  # that it fails is enough; why is for whoever mends it
        hypothesis.settings.register_profile("mutants", database=None, derandomize=True, phases=phases)
        hypothesis.settings.load_profile("mutants")
        self.folder = folder
        self.stderr, silent = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        sys.settrace(self._trace)
        plain = ["-qq", "-p", "no:django", "-p", "no:cacheprovider", "-p", "no:warnings", f"--basetemp={folder / 'tests'}"]
        code = pytest.main([*plain, tests], plugins=[self])
        os.dup2(self.stderr, 2)
        assert code == 0, f"{tests}: pytest ended with {code}"
        return self.tried

    def pytest_runtestloop(self, session) -> bool:
        sys.settrace(None)
        self.items, self.tried.at_import = session.items, self.seen
        self.wide = any(_is_wide(item) for item in self.items)
        gc.collect()
        self.live = self._live()
        gc.freeze()  # what is collected in a fork would be copied for it
        if self.known is None:
            self._baseline()
        else:
            self.tried.came_by, self.tried.seconds = self.known.came_by, self.known.seconds
        self._try_all()
        self.tried.wide = self.wide
        return True

    # --- the unhurt tests

    def _trace(self, frame, event: str, arg) -> None:
        code = frame.f_code
        if code.co_filename in self.paths:
            self.seen.add((code.co_filename, code.co_qualname, code.co_firstlineno))

    def _baseline(self) -> None:
        came_by: dict[Key, list[int]] = defaultdict(list)
        for number, item in enumerate(self.items):
            self.seen, begun = set(), time.process_time()
            sys.settrace(self._trace)
            failed = _failed(self._protocol(item))
            sys.settrace(None)
            assert not failed, f"{item.nodeid} fails without any mutant: {failed}"
            self.tried.seconds.append(time.process_time() - begun)
            for key in self.seen:
                came_by[key].append(number)
        self.tried.came_by = {key: sorted(numbers, key=self.tried.seconds.__getitem__) for key, numbers in came_by.items()}

    def _protocol(self, item) -> list:
        """The test, and nothing torn down that others of its file share."""
        from _pytest.runner import runtestprotocol

        other = self.items[0] if item is not self.items[0] else self.items[-1]
        return runtestprotocol(item, nextitem=other if other is not item else None, log=False)

    # --- the hurt ones

    def _live(self) -> dict[Key, list[FunctionType]]:
        found = defaultdict(list)
        for each in gc.get_objects():
            if type(each) is FunctionType and each.__code__.co_filename in self.paths:
                found[each.__code__.co_filename, each.__code__.co_qualname, each.__code__.co_firstlineno].append(each)
        return found

    def _try_all(self) -> None:
        killers: set[int] = set()
        for count, number in enumerate(sorted(self.alive), 1):
            if count % TELL_EVERY == 0:
                os.write(self.stderr, f"{count} of {len(self.alive)} tried, {len(self.tried.killed)} killed\n".encode())
            places = {key: code for key, code in self.places[number].items() if key in self.live}
            tests = self._tests_for(places)
            if tests and (killer := self._kills(places, tests)) is not None:
                self.tried.killed.add(number)
                killers |= {killer} - {UNTOLD}
                self._put_first(killer, places)
        if killers and (wrong := self._kills({}, sorted(killers))) is not None:
            raise AssertionError(f"{self.items[wrong].nodeid} fails in a fork without any mutant, so what it killed proves nothing.")

    def _put_first(self, killer: int, places: dict[Key, CodeType]) -> None:
        for key in places if killer != UNTOLD else ():
            self.first[key] = [killer, *(other for other in self.first[key] if other != killer)]

    def _tests_for(self, places: dict[Key, CodeType]) -> list[int]:
        first = [number for key in places for number in self.first[key]]
        others = {number for key in places for number in self.tried.came_by.get(key, ())}
        return [*dict.fromkeys(first), *sorted(others - set(first), key=self.tried.seconds.__getitem__)]

    def _kills(self, places: dict[Key, CodeType], tests: list[int]) -> int | None:
        """The number of the test that fails, or UNTOLD; None when none does."""
        before = set(_folders(self.folder))
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            self._run(places, tests, writing)
        os.close(writing)
        code = _wait(child)
        raw = os.read(reading, 16)
        os.close(reading)
        for made in set(_folders(self.folder)) - before:
            shutil.rmtree(made, ignore_errors=True)
        return None if code == 0 else int(raw) if raw else UNTOLD

    def _run(self, places: dict[Key, CodeType], tests: list[int], writing: int) -> None:
        number = UNTOLD
        try:
            resource.setrlimit(resource.RLIMIT_AS, (BYTES_MAX, BYTES_MAX))
            for key, code in places.items():
                for function in self.live[key]:
                    function.__code__ = code
            for number in tests:
                signal.setitimer(signal.ITIMER_PROF, max(self.patience, 20 * self.tried.seconds[number]))
                if _failed(self._protocol(self.items[number])):
                    os.write(writing, str(number).encode())
                    os._exit(1)
                if places and time.process_time() > BUDGET_SECONDS:
                    break
        except BaseException:  # noqa: BLE001  whatever it is, it is noticed
            os.write(writing, str(number).encode())
            os._exit(1)
        os._exit(0)


def _is_wide(item) -> bool:
    found = item._fixtureinfo.name2fixturedefs
    return any(each.scope != "function" and each.baseid for name in item.fixturenames for each in found.get(name, ()))


def _failed(reports: list) -> str:
    return next((str(report.longrepr)[-2000:] for report in reports if report.failed), "")


def _folders(folder: Path, deep: int = FOLDERS_DEEP + 1) -> Iterator[Path]:
    if deep and folder.is_dir():
        for each in folder.iterdir():
            if each.is_dir() and not each.is_symlink():
                yield each
                yield from _folders(each, deep - 1)


def _wait(child: int) -> int:
    """Its exit code; 1 when it and all that it started slept for too long. Whoever is only kept from the processor is waited for."""
    done, moved, looked = -1, time.monotonic(), time.monotonic()
    while time.monotonic() - moved < STILL_SECONDS_MAX:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
        if time.monotonic() - looked > LOOK_SECONDS:
            looked, (sleeps, ticks) = time.monotonic(), _standing(child)
            if not sleeps or ticks != done:
                done, moved = ticks, looked
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 1


def _standing(child: int) -> tuple[bool, int]:
    """Whether the process and all below it sleep, and how much of the processor they have had."""
    rows = {pid: row for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if (row := _stat(pid))}
    family, size = {child}, 0
    while len(family) > size:
        size = len(family)
        family |= {pid for pid, (_, parent, _) in rows.items() if parent in family}
    found = [rows[pid] for pid in family if pid in rows]
    return all(state in "SZ" for state, _, _ in found), sum(ticks for _, _, ticks in found)


def _stat(pid: int) -> tuple[str, int, int] | None:
    """State, parent and ticks of a process; None when it has gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return fields[0], int(fields[1]), int(fields[11]) + int(fields[12])


def tried(tests: str, hurts: Sequence[Hurt], alive: set[int], known: Tried | None = None) -> Tried:
    """What this file of tests makes of those alive: warm, or cold when it is known already which tests come by where."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        return in_child(lambda: _Hunt(hurts, alive, known).go(tests, Path(folder)))
