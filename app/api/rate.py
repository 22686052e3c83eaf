"""How often one token may ask: so many requests a minute, counted in Valkey for all processes. Without Valkey no request is turned away."""

import logging
import time

import redis
from django.conf import settings

from app.core.valkey import valkey

WINDOW_SECONDS = 60
log = logging.getLogger(__name__)


def wait_seconds(prefix: str) -> int:
    """0 when this request may go on, else in how many seconds the next may."""
    now = time.time()
    window = int(now // WINDOW_SECONDS)
    key = f"api-rate:{prefix}:{window}"
    try:
        line = valkey().pipeline(transaction=False)
        line.incr(key)
        line.expire(key, 2 * WINDOW_SECONDS)
        count, _ = line.execute()
    except redis.RedisError as error:
        log.warning("Requests of tokens are not counted: Valkey reports %s.", error)
        return 0
    return 0 if count <= settings.API_PER_MINUTE else max(1, round((window + 1) * WINDOW_SECONDS - now))
