"""How a child process is started so that it never outlives us."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from launcher.servers import Servant

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def _die_with_parent(farewell: int) -> Callable[[], None] | None:
    if LIBC is None:  # macOS has no such wish; there a killed launcher leaves its children behind
        return None
    parent = os.getpid()

    def ask() -> None:
        LIBC.prctl(PR_SET_PDEATHSIG, farewell)
        if os.getppid() != parent:  # the parent died before we could ask
            os._exit(1)

    return ask


def popen_options(user: Servant, farewell: signal.Signals) -> dict[str, Any]:
    """Arguments for `subprocess.Popen` or asyncio's: own session, run as `user`, `farewell` when we are killed.

    The own session keeps Ctrl-C from reaching every child at once; the order of stopping is ours to choose.
    """
    return {"start_new_session": True, "preexec_fn": _die_with_parent(farewell), **user.popen()}
