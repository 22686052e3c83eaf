"""Small wrong versions of guards, runbooks, engine, operations and proofs: how many the tests notice, and which they do not.

SLOTLIGHT_MUTANTS names the files to hurt, by parts of their paths with commas between; without it all are. Every core takes its share;
SLOTLIGHT_MUTANTS_CORES sets another number. SLOTLIGHT_MUTANTS_EVERY=N takes every N-th mutant of a file, and says so.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from tests.mutants.hunt import ROOT, TARGETS, Target, survivors

WANTED_PERCENT = 90
CHOSEN = os.environ.get("SLOTLIGHT_MUTANTS", "").split(",")
EVERY = max(int(os.environ.get("SLOTLIGHT_MUTANTS_EVERY", "1")), 1)
CORES = int(os.environ.get("SLOTLIGHT_MUTANTS_CORES", "0")) or os.cpu_count() or 1


def main() -> int:
    targets = [target for target in TARGETS if any(part in target.path for part in CHOSEN)]
    if EVERY > 1:
        print(f"A sample: every {EVERY}th mutant of each file.")
    print(f"{'file':46} {'mutants':>8} {'killed':>7} {'%':>6} {'seconds':>8}")
    made = lived = 0
    for target in targets:
        begun, number = time.perf_counter(), len(target.mutants()[::EVERY])
        left = _shared_out(target)
        made, lived = made + number, lived + len(left)
        percent = 100 * (number - len(left)) / max(number, 1)
        print(f"{target.path:46} {number:8} {number - len(left):7} {percent:6.1f} {time.perf_counter() - begun:8.0f}", flush=True)
        for line in left:
            print(f"    lives: {line}", flush=True)
    percent = 100 * (made - lived) / max(made, 1)
    print(f"{made} mutants, {made - lived} killed, {lived} live: {percent:.1f} %, at least {WANTED_PERCENT} % wanted")
    return 0 if percent >= WANTED_PERCENT else 1


def _shared_out(target: Target) -> list[str]:
    """The survivors of one file, as lines; each process takes every n-th mutant."""
    argv = [sys.executable, "-m", "bench.bench_mutants", "--share", target.path]
    children = [subprocess.Popen([*argv, str(i), str(CORES)], cwd=ROOT, stdout=subprocess.PIPE, text=True) for i in range(CORES)]
    said = [child.communicate()[0] for child in children]
    codes = [child.returncode for child in children]
    assert not any(codes), f"{target.path} could not be hurt to the end: {codes}, {said}"
    return sorted((line for text in said for line in text.splitlines()), key=lambda line: int(line.split(":")[1].split()[0]))


def _share(path: str, share: int, shares: int) -> None:
    target = next(target for target in TARGETS if target.path == path)
    source = target.source.splitlines()
    for mutant in survivors(target, target.mutants()[::EVERY][share::shares]):
        print(f"line: {mutant.line} {mutant.what} | {source[mutant.line - 1].strip()[:90]}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--share"]:
        _share(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        sys.exit(main())
