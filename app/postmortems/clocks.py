"""By how much a node's clock differed from the portal's: bounds that follow from what both wrote down about the same orders.

The portal let an order start before the node reports its start, and received its end after the node reports it. So the node's clock
is ahead by no more than the one and by no less than the other; a narrow pair of bounds is a measurement, a wide one is said as it is.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from agents.portal.wire import SKEW_SECONDS_MAX
from app.runs.models import Order


@dataclass(frozen=True)
class Clock:
    """The node's clock minus the portal's lies between these, in seconds; None when it is not known."""

    node: str
    least: float | None
    most: float | None
    orders: int

    @property
    def words(self) -> str:
        if self.least is None or self.most is None:
            return (
                f"The clock of {self.node} was not compared: no order gives bounds. "
                f"Signed requests are taken only within {SKEW_SECONDS_MAX} s of the portal's clock."
            )
        if self.least > self.most:
            return f"The clock of {self.node} was changed meanwhile: its orders contradict each other about the difference."
        by = f"{self.orders} order{'' if self.orders == 1 else 's'}"
        return f"The clock of {self.node} minus the portal's was between {self.least:+z.1f} s and {self.most:+z.1f} s, by {by}."


def clock(node: str, orders: Iterable[Order]) -> Clock:
    least, most, used = [], [], 0
    for order in orders:
        began, ended = (_time((order.receipt or {}).get(name)) for name in ("started_at", "ended_at"))
        released = order.started_at or order.sealed_at
        most += [(began - released).total_seconds()] if began and released else []
        least += [(ended - order.ended_at).total_seconds()] if ended and order.ended_at else []
        used += bool(began or ended)
    return Clock(node, max(least, default=None), min(most, default=None), used)


def _time(text: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(str(text or ""))
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at
