"""This process's connection to Valkey for short questions. It gives up soon, so that a slow Valkey slows no request."""

from functools import cache

import redis
from django.conf import settings

ANSWER_SECONDS_MAX = 0.5


@cache
def valkey() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=ANSWER_SECONDS_MAX, socket_connect_timeout=ANSWER_SECONDS_MAX)
