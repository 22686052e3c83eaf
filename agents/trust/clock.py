"""What time it may be: this node's clock, what has passed since it started, and what the portal last said.

A wall clock can be set by anybody, a steady one cannot, and the portal's word arrives late. Where they disagree nothing expires
in doubt: `latest` is for asking whether something is over, `earliest` for whether it has begun. A clock that jumped refuses until
the portal has said the time once more and both agree.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Optional, Tuple

from agents.domain.times import iso, seconds_of

JUMP_SECONDS = 5.0  # a time service slews slower than this between two looks
AGREE_SECONDS = 60.0  # how far this node's clock may be off the portal's for an order to run
PORTAL_TIME_SECONDS_MAX = 300.0  # the portal's word is too old after this


def boottime() -> float:
    """Seconds since this machine started, asleep or awake."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Clock:
    """Safe to share between threads. Without `steady` the wall clock is used, as a simulation's must be."""

    def __init__(self, now: Callable[[], float], steady: Optional[Callable[[], float]] = None) -> None:
        self._now, self._steady = now, steady
        self._lock = threading.Lock()
        self._offset = now() - steady() if steady else 0.0
        self._jumped = ""
        self._portal_time: Optional[Tuple[float, float, float]] = None  # portal's time, and between which steady moments it was so
        self._has_portal_time = threading.Event()

    def begun(self) -> float:
        """The steady moment at which a request is sent; it is passed to `take_portal_time`."""
        return self._steady() if self._steady else 0.0

    def take_portal_time(self, at: object, begun: float) -> None:
        """The portal's signed answer to a request that was sent at `begun` gives the time. What is no time is ignored."""
        if self._steady is None or not isinstance(at, str):
            return
        try:
            portal_time = seconds_of(at)
        except ValueError:
            return
        with self._lock:
            self._look()
            self._portal_time = (portal_time, begun, self._steady())
            if not self._apart():
                self._jumped = ""
        self._has_portal_time.set()

    def wait_for_portal_time(self, seconds: float) -> None:
        """Until the portal has said the time once, or not."""
        if self._steady is not None:
            self._has_portal_time.wait(seconds)

    def doubt(self) -> str:
        """Why no time of this node is to be trusted now; "" when it is."""
        with self._lock:
            if self._steady is None:
                return ""
            self._look()
            if self._jumped:
                return f"{self._jumped} It is not trusted until the portal's time agrees with it."
            if self._portal_time is None:
                return "The portal has not sent the time yet, so this node's clock cannot be checked."
            age = self._steady() - self._portal_time[2]
            if age > PORTAL_TIME_SECONDS_MAX:
                return f"The portal last sent the time {age:.0f} s ago, so this node's clock cannot be checked."
            return self._apart()

    def latest(self) -> float:
        """No later moment can be now."""
        with self._lock:
            return max(self._now(), self._portal()[1]) if self._portal_time else self._now()

    def earliest(self) -> float:
        """No earlier moment can be now."""
        with self._lock:
            return min(self._now(), self._portal()[0]) if self._portal_time else self._now()

    def _portal(self) -> Tuple[float, float]:
        """Between which moments the portal's clock stands now."""
        reported, begun, ended = self._portal_time  # type: ignore[misc]
        steady = self._steady()  # type: ignore[misc]
        return reported + steady - ended, reported + steady - begun

    def _look(self) -> None:
        offset = self._now() - self._steady()  # type: ignore[misc]
        jump, self._offset = offset - self._offset, offset
        if abs(jump) > JUMP_SECONDS:
            where = "forward" if jump > 0 else "back"
            self._jumped = f"This node's clock jumped {abs(jump):.0f} s {where}, to {iso(self._now())}."

    def _apart(self) -> str:
        """How far the two clocks are apart, when that is too far."""
        first, last = self._portal()
        off = max(first - self._now(), self._now() - last)
        if off <= AGREE_SECONDS:
            return ""
        where = "behind" if self._now() < first else "ahead of"
        return f"This node's clock is {off:.0f} s {where} the portal's. Let a time service set it (chrony, systemd-timesyncd)."
