"""What ./run can do, one function per command."""

import os
import sys
from collections.abc import Callable
from typing import NamedTuple

from launcher.bootstrap import DEVELOPMENT, ROOT

HELP = """\
./run test [ARGS]     all tests, on servers of their own; ARGS go to pytest
./run help            this text"""


class Command(NamedTuple):
    call: Callable[[list[str]], int]
    lock: str  # which lock file must be installed; "" when none


def test(args: list[str]) -> int:
    os.chdir(ROOT)
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *args])


COMMANDS = {
    "test": Command(test, DEVELOPMENT),
}
