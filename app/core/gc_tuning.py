"""Collecting garbage in a process that remembers facts by the hundred thousand: they have no cycles, and go when nothing holds them.

Looking all of them through stops every page and every stream for a third of a second and more. So that is done after ten million new
objects, not after seventy thousand; and what it finds in use is set aside and not looked through the next time. What was set aside and
became a cycle of garbage later waits for the look through everything, which comes one time in twenty.
"""

import gc
from itertools import count
from typing import Any

THRESHOLDS = (
    10_000,
    5,
    200,
)  # the young are looked at as they come, fifty thousand at a time: that stops everybody for 15 ms, four times as many for 60 to 160
EVERYTHING_EVERY = 20

_looks = count(1)


def settle() -> None:
    """When all is imported: that is no garbage, and looking it through again and again is a tenth of all work."""
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    if _set_aside not in gc.callbacks:
        gc.callbacks.append(_set_aside)


def _set_aside(phase: str, info: dict[str, Any]) -> None:
    if info["generation"] < 2:
        return
    if phase == "stop":
        gc.freeze()
    elif next(_looks) % EVERYTHING_EVERY == 0:
        gc.unfreeze()
