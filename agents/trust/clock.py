"""What time it may be: this node's clock, what has passed since it started, and what the portal last said.

A wall clock can be set by anybody, a steady one cannot, and the portal's word arrives late. Where they disagree nothing expires
in doubt: `latest` is for asking whether something is over, `earliest` for whether it has begun. A clock that jumped refuses until
the portal has said the time once more and both agree.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple, Optional, Tuple

from agents.domain.times import iso, seconds_of

JUMP_SECONDS = 5.0  # a time service slews slower than this between two looks
AGREE_SECONDS = 60.0  # how far this node's clock may be off the portal's for an order to run
PORTAL_TIME_SECONDS_MAX = 300.0  # the portal's word is too old after this


def boottime() -> float:
    """Seconds since this machine started, asleep or awake."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class _PortalTime(NamedTuple):
    """What the portal sent, and the steady moments at which it was asked and had answered."""

    seconds: float
    begun: float
    ended: float

    def at(self, steady: float) -> Tuple[float, float]:
        """Between which times the portal's clock is at a steady moment."""
        return self.seconds + steady - self.ended, self.seconds + steady - self.begun


class Clock:
    """Safe to share between threads. Without `steady` the wall clock is used, as a simulation's must be."""

    def __init__(self, now: Callable[[], float], steady: Optional[Callable[[], float]] = None) -> None:
        self._now, self._steady = now, steady
        self._lock = threading.Lock()
        self._offset = now() - steady() if steady else 0.0
        self._jumped = ""
        self._portal_time: Optional[_PortalTime] = None
        self._has_portal_time = threading.Event()

    def begun(self) -> float:
        """The steady moment at which a request is sent; it is passed to `take_portal_time`."""
        return self._steady() if self._steady else 0.0

    def take_portal_time(self, at: object, begun: float) -> None:
        """The portal's signed answer to a request that was sent at `begun` gives the time. What is no time is ignored."""
        if self._steady is None or not isinstance(at, str):
            return
        try:
            seconds = seconds_of(at)
        except ValueError:
            return
        with self._lock:
            self._look(self._now() - self._steady())
            self._portal_time = _PortalTime(seconds, begun, self._steady())
            if not self._apart(self._portal_time.at(self._steady())):
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
            self._look(self._now() - self._steady())
            if self._jumped:
                return f"{self._jumped} It is not trusted until the portal's time agrees with it."
            if self._portal_time is None:
                return "The portal has not sent the time yet, so this node's clock cannot be checked."
            steady = self._steady()
            age = steady - self._portal_time.ended
            if age > PORTAL_TIME_SECONDS_MAX:
                return f"The portal last sent the time {age:.0f} s ago, so this node's clock cannot be checked."
            return self._apart(self._portal_time.at(steady))

    def latest(self) -> float:
        """No later moment can be now."""
        with self._lock:
            portal = self._portal()
            return max(self._now(), portal[1]) if portal else self._now()

    def earliest(self) -> float:
        """No earlier moment can be now."""
        with self._lock:
            portal = self._portal()
            return min(self._now(), portal[0]) if portal else self._now()

    def _portal(self) -> Optional[Tuple[float, float]]:
        """Between which times the portal's clock is now; None until it has sent its time."""
        return self._portal_time.at(self._steady()) if self._steady and self._portal_time else None

    def _look(self, offset: float) -> None:
        jump, self._offset = offset - self._offset, offset
        if abs(jump) > JUMP_SECONDS:
            where = "forward" if jump > 0 else "back"
            self._jumped = f"This node's clock jumped {abs(jump):.0f} s {where}, to {iso(self._now())}."

    def _apart(self, portal: Tuple[float, float]) -> str:
        """How far the two clocks are apart, when that is too far."""
        first, last = portal
        off = max(first - self._now(), self._now() - last)
        if off <= AGREE_SECONDS:
            return ""
        where = "behind" if self._now() < first else "ahead of"
        return f"This node's clock is {off:.0f} s {where} the portal's. Let a time service set it (chrony, systemd-timesyncd)."
