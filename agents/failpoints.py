"""Named places where the agent can be made to die or wait, for tests: SLOTLIGHT_FAILPOINT=name[:sleep=SECONDS].

Without that variable `hit` does nothing. Dying is `os._exit`, which like kill -9 flushes and closes nothing.
"""

from __future__ import annotations

import os
import time

NAMES = ("after_claim", "before_intent", "after_intent", "after_exec", "after_result")
EXIT_CODE = 137


def hit(name: str) -> None:
    wanted, _, action = os.environ.get("SLOTLIGHT_FAILPOINT", "").partition(":")
    if wanted != name:
        return
    if action.startswith("sleep="):
        time.sleep(float(action[len("sleep=") :]))
    else:
        os._exit(EXIT_CODE)
