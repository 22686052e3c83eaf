"""Who else has the page of a run open now. It lives in Valkey and is forgotten by itself: nothing rests on it, and nothing keeps it."""

import logging
import time

import redis

from app.core.valkey import valkey
from app.realtime.publish import ring

SEEN_SECONDS = 16  # a page looks every five seconds; three looks may be lost
log = logging.getLogger(__name__)


def others(run_id: int, name: str) -> tuple[str, ...]:
    """Note that `name` looks at this run now; the names of those who do besides. Empty when Valkey does not answer."""
    now, key = time.time(), f"looks-at:run:{run_id}"
    try:
        with valkey().pipeline() as asked:
            asked.zremrangebyscore(key, "-inf", now - SEEN_SECONDS)
            asked.zadd(key, {name: now})
            asked.zrange(key, 0, -1)
            asked.expire(key, 2 * SEEN_SECONDS)
            _gone, come, found, _ = asked.execute()
    except redis.RedisError as error:
        log.warning("Who else looks at run %s is not known: Valkey says %s.", run_id, error)
        return ()
    if come:
        ring(f"run:{run_id}")  # those who are there already see it at once
    return tuple(sorted({one.decode() for one in found} - {name}))
