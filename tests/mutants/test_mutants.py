"""The mutator makes what it says, spares what is only words, and a guard that is left out of a step is noticed."""

import ast
import os
import signal
import subprocess
import sys
import time
from threading import Timer

import pytest

from tests.mutants import inplace
from tests.mutants.inplace import Hurt, changed
from tests.mutants.mutate import mutants
from tests.mutants.targets import ROOT, TARGETS, Target

SOURCE = '''
"""Words."""
LIMIT = 60
GUARDS = (first, second)

def guard(facts: tuple[int, str] = None) -> Verdict:
    """Words, and 1 number."""
    if not facts.known and facts.age > LIMIT:
        return unknown(f"It is {facts.age:.0f} s old.")
    return ok("Fine.") if any(x for x in facts if x) else refuse("Not so.")
'''
MADE = {
    "60 is 61",
    "without first",
    "without second",
    "the condition never holds",
    "the condition always holds",
    "and is or",
    "without operand 1",
    "without operand 2",
    "not is left out",
    "Gt is LtE",
    "Gt is GtE",
    "unknown is ok",
    "ok is refuse",
    "refuse is ok",
    "any is all",
    "nothing is filtered out",
}


def test_it_makes_every_kind_and_touches_no_words():
    found = mutants(SOURCE)
    assert {mutant.what for mutant in found} == MADE
    assert all(mutant.line for mutant in found)


def test_each_mutant_differs_in_one_place_and_compiles():
    before = ast.dump(ast.parse(SOURCE))
    for mutant in mutants(SOURCE):
        mutant.code(SOURCE, "x.py")
        assert ast.dump(ast.parse(SOURCE)) == before


def test_a_mutant_does_what_it_says():
    source = "def f(a, b):\n    return a < b\n"
    results = {}
    for mutant in mutants(source):
        space = {}
        exec(mutant.code(source, "x.py"), space)  # noqa: S102
        results[mutant.what] = [space["f"](*pair) for pair in ((1, 2), (1, 1), (2, 1))]
    assert results == {"Lt is GtE": [False, True, True], "Lt is LtE": [True, True, False]}


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.path)
def test_every_target_and_its_tests_exist(target):
    assert target.mutants()
    for path in (*target.tests, *target.slow):
        assert (ROOT / path.partition("::")[0]).is_file(), path


TOY = Target("tests/mutants/toy.py", ("tests/mutants/toy_checks.py",))


def test_a_mutant_is_put_in_place_in_its_functions_and_nowhere_else():
    places = {f"{mutant.line} {mutant.what}": {name for _, name, _ in changed(Hurt(TOY, mutant))} for mutant in TOY.mutants()}
    assert places["3 3 is 4"] == set()
    assert places["8 Lt is GtE"] == {"is_small"}
    assert places["12 without operand 1"] == {"is_odd_or_small"}
    assert (places["24 5 is 6"], places["27 1 is 2"]) == (set(), {"Counter.next"})


def child_that(does) -> int:
    child = os.fork()
    if child == 0:
        does()
        os._exit(0)
    return child


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr(inplace, "STILL_SECONDS_MAX", 0.5)
    monkeypatch.setattr(inplace, "LOOK_SECONDS", 0.05)


def test_a_mutant_that_waits_for_nothing_is_ended(hasty):
    assert inplace._wait(child_that(lambda: time.sleep(600))) == 1


def test_a_mutant_that_does_not_get_the_processor_is_waited_for(hasty):
    """On a busy machine it would be called noticed, and so would the tests without any mutant be called failing."""
    child = child_that(lambda: os.kill(os.getpid(), signal.SIGSTOP))
    os.waitpid(child, os.WUNTRACED)
    Timer(2, os.kill, (child, signal.SIGCONT)).start()
    assert inplace._wait(child) == 0


def test_a_mutant_that_waits_for_a_command_at_work_is_waited_for(hasty):
    busy = "import time\nuntil = time.monotonic() + 2\nwhile time.monotonic() < until: pass"
    assert inplace._wait(child_that(lambda: subprocess.run([sys.executable, "-c", busy], check=True))) == 0


HUNT = """
from tests.mutants.hunt import survivors
from tests.mutants.test_mutants import TOY, Hurt
print(*(f"{hurt.mutant.line} {hurt.mutant.what}" for hurt in survivors([TOY], [Hurt(TOY, mutant) for mutant in TOY.mutants()])), sep="\\n")
"""


def test_the_hunt_tells_whom_no_test_notices():
    """One that no test comes by, one at an edge that none asks about, and a limit that only those that import everything anew notice.

    In a process of its own: its forks have neither the threads nor the memory of the tests that ran before this one.
    """
    output = subprocess.run([sys.executable, "-c", HUNT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert output.returncode == 0, output.stderr[-3000:]
    assert output.stdout.splitlines() == [
        "3 3 is 4",
        "8 Lt is LtE",
        "12 without operand 2",
        "20 not is left out",
    ]
