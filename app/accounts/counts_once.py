"""What may count once in all web processes together, such as a code of an authenticator app: the database says so, also while Valkey is down.

It is the cache that django-allauth asks, and can do the one thing that allauth asks of it: `add`. Django's own cache in a database unpickles
what it reads there; whoever can write to the database could then make the portal run anything. Here nothing that is read back is more than a count.
"""

from hashlib import sha256
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.db import connection

TAKE = """
INSERT INTO counts_once (key, expires) VALUES (%s, now() + make_interval(secs => %s))
ON CONFLICT (key) DO UPDATE SET expires = EXCLUDED.expires WHERE counts_once.expires <= now()
"""


class CountsOnce(BaseCache):
    """`add` alone; whatever else is asked of a cache raises NotImplementedError."""

    def __init__(self, _location: str, params: dict[str, Any]) -> None:
        super().__init__(params)

    def add(self, key: str, value: object, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Whether it is the first to come by this key in `timeout` seconds."""
        seconds = self.default_timeout if timeout is DEFAULT_TIMEOUT else timeout
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM counts_once WHERE expires <= now()")
            cursor.execute(TAKE, [sha256(self.make_key(key, version).encode()).hexdigest(), seconds])
            return bool(cursor.rowcount == 1)

    def clear(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM counts_once")
