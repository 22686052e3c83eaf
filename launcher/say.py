"""Output of the launcher: plain sentences, colour only on a terminal, one way to stop."""

import os
import sys


class Stop(Exception):
    """The launcher cannot go on. The message is the whole explanation, for a person."""


def coloured() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def paint(text: str, code: int | str) -> str:
    """`text` in an ANSI colour when the output is a terminal."""
    return f"\x1b[{code}m{text}\x1b[0m" if coloured() else text


def write(text: str) -> None:
    """Prints it. When `| head` has read enough, the rest is dropped, and the command ends as it would have."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
