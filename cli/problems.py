"""What went wrong, in words, and with which exit code the program ends.

0 done · 1 the portal refused, or there is something to act on · 2 used or set up wrongly · 3 the token is not accepted or not enough ·
4 there is no such thing · 5 the portal, or the host that is collected, cannot be reached or cannot do it now · 6 the run has moved on meanwhile
"""

from typing import Any

DONE, REFUSED, USAGE, NOT_ALLOWED, ABSENT, DOWN, MOVED = range(7)
BY_STATUS = {401: NOT_ALLOWED, 403: NOT_ALLOWED, 404: ABSENT, 400: USAGE, 413: USAGE, 422: USAGE, 429: DOWN}


class Trouble(Exception):
    """What is so, what to do next, and the exit code."""

    def __init__(self, text: str, do: str = "", code: int = REFUSED, verdicts: list[Any] | None = None, kind: str = "") -> None:
        super().__init__(text)
        self.text, self.do, self.code, self.verdicts, self.kind = text, do, code, verdicts or [], kind


def of_answer(status: int, body: dict[str, Any]) -> Trouble:
    """The portal's own problem, as ours."""
    kind = str(body.get("type", "")).rpartition(":")[2]
    code = MOVED if kind == "run-moved" else BY_STATUS.get(status, DOWN if status >= 500 else REFUSED)
    return Trouble(str(body.get("detail") or f"The portal answered {status}."), str(body.get("do", "")), code, body.get("verdicts"), kind)
