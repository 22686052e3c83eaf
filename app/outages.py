"""When the database did not answer, and for how long: kept in Valkey, because the database cannot hold it just then.

Every process that asks the database writes it down, and the worker reports it when the database answers again.
"""

import time
from datetime import UTC, datetime
from typing import NamedTuple

import redis

from app.core.valkey import valkey

KEY = "database:outage"
KEPT_SECONDS = 7 * 24 * 3600


class Outage(NamedTuple):
    began: datetime  # when the database was first asked and did not answer
    last: datetime  # when that was so for the last time

    @property
    def seconds(self) -> float:
        return (self.last - self.began).total_seconds()


def note() -> None:
    """The database was asked just now and did not answer. Without Valkey it is not written down."""
    now = f"{time.time():.3f}"
    try:
        with valkey().pipeline() as together:
            together.hsetnx(KEY, "began", now)
            together.hset(KEY, "last", now)
            together.expire(KEY, KEPT_SECONDS)
            together.execute()
    except redis.RedisError:
        pass  # /readyz names Valkey itself


def noted() -> Outage | None:
    """The one that was not reported yet; None when there was none, or when Valkey does not say."""
    try:
        began, last = valkey().hmget(KEY, "began", "last")
    except redis.RedisError:
        return None
    return Outage(_moment(began), _moment(last)) if began and last else None


def forget() -> None:
    try:
        valkey().delete(KEY)
    except redis.RedisError:
        pass  # what is found again is reported once: its key is the time at which it began


def _moment(seconds: bytes | str) -> datetime:
    return datetime.fromtimestamp(float(seconds), UTC)
