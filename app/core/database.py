"""Which database, as which role."""

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

# In the FROM of an UPDATE that is its own transaction: COMMIT does not wait for the disk. Whatever is committed after it, and waits, takes it
# along there; only a database that dies within the next second forgets it, so it is for what may be forgotten then.
UNHURRIED = "(SELECT set_config('synchronous_commit', 'off', true)) AS unhurried"
CONNECT_SECONDS_MAX = 5
PREPARED_AFTER = 5  # times a connection was asked the same; then it is planned once and for all


def database(url: str, seconds_max: int = 0) -> dict[str, Any]:
    """Django's DATABASES entry for `postgresql://user:password@host:port/name?option=value`.

    A Unix socket is written as `?host=/path`; it wins over the host part. With `seconds_max` no statement takes longer than that: the server
    ends it, and `app.postgresql` ends the waiting where the server itself does not answer. A migration takes as long as it takes.
    """
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    if seconds_max:
        options["options"] = f"{options.get('options', '')} -c statement_timeout={seconds_max}s".strip()
    return {
        "ENGINE": "app.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", parts.hostname or ""),
        "PORT": options.pop("port", parts.port or ""),
        "OPTIONS": {"connect_timeout": CONNECT_SECONDS_MAX, "server_side_binding": True, "prepare_threshold": PREPARED_AFTER, **options},
    }


def unhurried() -> None:
    """The same for all of the transaction that has begun."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = off")


def point_at(url: str) -> None:
    """Let this process continue in another database, or as another role. For tests and for preparing an installation."""
    from django.db import connections

    connections["default"].close()
    connections["default"].settings_dict.update(database(url))
