"""Small wrong versions of guards, runbooks, engine, operations and proofs: how many the tests notice, and which they do not.

SLOTLIGHT_MUTANTS names the files to hurt, by parts of their paths with commas between; without it all are. Every core takes its share;
SLOTLIGHT_MUTANTS_CORES sets another number. SLOTLIGHT_MUTANTS_EVERY=N takes every N-th mutant of a file, and says so.
SLOTLIGHT_MUTANTS_WHERE=functions leaves out constants and lists of guards, for each of which everything is imported anew: that is dear.
SLOTLIGHT_MUTANTS_TESTS=quick leaves out the slow tests, so more mutants live than need to.
SLOTLIGHT_MUTANTS_SECONDS says how long one mutant may take of the processor in one file of tests. SLOTLIGHT_MUTANTS_AGAIN=FILE takes only those
that lived when this bench wrote FILE. SLOTLIGHT_MUTANTS_COLD=no does not try survivors again from before what tests share was made.
A survivor is told as `file:line what was changed | the line`; how far it has come goes to standard error.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from tests.mutants.hunt import COLD, survivors
from tests.mutants.inplace import Hurt, changed
from tests.mutants.mutate import Mutant
from tests.mutants.targets import ROOT, TARGETS, Target

WANTED_PERCENT = 90
CHOSEN = os.environ.get("SLOTLIGHT_MUTANTS", "").split(",")
EVERY = max(int(os.environ.get("SLOTLIGHT_MUTANTS_EVERY", "1")), 1)
FUNCTIONS_ONLY = os.environ.get("SLOTLIGHT_MUTANTS_WHERE", "") == "functions"
QUICK_ONLY = os.environ.get("SLOTLIGHT_MUTANTS_TESTS", "") == "quick"
AGAIN = os.environ.get("SLOTLIGHT_MUTANTS_AGAIN", "")
LIVED = {line.strip().partition(" | ")[0] for line in Path(AGAIN).read_text().splitlines() if "lives: " in line} if AGAIN else set()
CORES = int(os.environ.get("SLOTLIGHT_MUTANTS_CORES", "0")) or os.cpu_count() or 1


def groups() -> list[list[Target]]:
    """Files whose first tests are the same are hurt together, since those tests then run once for all of them."""
    found = [target for target in TARGETS if any(part in target.path for part in CHOSEN)]
    found = [target for target in found if not AGAIN or chosen(target)]
    faced = [replace(target, slow=()) for target in found] if QUICK_ONLY else found
    return [list(group) for _, group in groupby(faced, key=lambda target: target.tests)]


def chosen(target: Target) -> list[Mutant]:
    every = target.mutants()[::EVERY]
    if AGAIN:
        return [mutant for mutant in every if f"lives: {target.path}:{mutant.line} {mutant.what}" in LIVED]
    return [mutant for mutant in every if changed(Hurt(target, mutant))] if FUNCTIONS_ONLY else every


def main() -> int:
    if FUNCTIONS_ONLY:
        print("Only what stands in functions.")
    if QUICK_ONLY:
        print("Only the quick tests.")
    if AGAIN:
        print(f"Only those that lived in {AGAIN}.")
    if not COLD:
        print("Where tests share what one of them made, it was made without a mutant.")
    if EVERY > 1:
        print(f"A sample: every {EVERY}th mutant of each file.")
    print(f"{'file':46} {'mutants':>8} {'killed':>7} {'%':>6}", flush=True)
    made, lived, begun = Counter(), Counter(), time.perf_counter()
    for group in groups():
        left = _shared_out(group)
        for target in group:
            path, lines = target.path, [line for line in left if line.startswith(f"{target.path}:")]
            made[path], lived[path] = len(chosen(target)), len(lines)
            print(f"{path:46} {made[path]:8} {made[path] - lived[path]:7} {_percent(made[path], lived[path]):6.1f}", flush=True)
            for line in lines:
                print(f"    lives: {line}", flush=True)
    percent, seconds = _percent(made.total(), lived.total()), time.perf_counter() - begun
    print(f"{made.total()} mutants, {made.total() - lived.total()} killed, {lived.total()} live in {seconds:.0f} s: ", end="")
    print(f"{percent:.1f} %, at least {WANTED_PERCENT} % wanted")
    return 0 if percent >= WANTED_PERCENT else 1


def _percent(made: int, lived: int) -> float:
    return 100 * (made - lived) / max(made, 1)


def _shared_out(group: list[Target]) -> list[str]:
    """The survivors of these files, as lines; each process takes every n-th mutant of each."""
    argv = [sys.executable, "-m", "bench.bench_mutants", "--share", group[0].path]
    children = [subprocess.Popen([*argv, str(i), str(CORES)], cwd=ROOT, stdout=subprocess.PIPE, text=True) for i in range(CORES)]
    outputs = [child.communicate()[0] for child in children]
    codes = [child.returncode for child in children]
    assert not any(codes), f"{group[0].path} and its like could not be hurt to the end: {codes}, {outputs}"
    return sorted((line for text in outputs for line in text.splitlines()), key=_place)


def _place(line: str) -> tuple[str, int]:
    path, number = line.split(" ", 1)[0].split(":")
    return path, int(number)


def _share(path: str, share: int, shares: int) -> None:
    group = next(group for group in groups() if group[0].path == path)
    hurts = [Hurt(target, mutant) for target in group for mutant in chosen(target)[share::shares]]
    for hurt in survivors(group, hurts, lambda text: print(text, file=sys.stderr, flush=True), anew=not FUNCTIONS_ONLY):
        line = hurt.target.source.splitlines()[hurt.mutant.line - 1].strip()[:90]
        print(f"{hurt.target.path}:{hurt.mutant.line} {hurt.mutant.what} | {line}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--share"]:
        _share(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        sys.exit(main())
