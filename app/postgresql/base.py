"""Django's PostgreSQL backend, with an end to waiting: a server that was stopped, or whose disk hangs, keeps its connections open and answers
nothing, and the server's own statement_timeout ends nothing there."""

from types import ModuleType
from typing import Any

import psycopg
from django.conf import settings
from django.db.backends.postgresql import base
from psycopg import errors
from psycopg.abc import RV, PQGen

GRACE_SECONDS = 5.0  # the server's own limit comes first, and leaves a connection that can be used


class Connection(psycopg.Connection):
    """One that gives up, and is closed then: what the server does with the statement is not known."""

    answer_seconds_max: float | None = None

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        try:
            return super().wait(gen, interval, self.answer_seconds_max if timeout is None else timeout)
        except errors._WaitTimeout:
            if timeout is not None:
                raise
            self.close()
            raise psycopg.OperationalError(f"The database gave no answer for {self.answer_seconds_max:.0f} s.") from None


PSYCOPG = ModuleType(psycopg.__name__)
vars(PSYCOPG).update(vars(psycopg) | {"connect": Connection.connect})


class DatabaseWrapper(base.DatabaseWrapper):
    Database = PSYCOPG

    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection:
        connection: Connection = super().get_new_connection(conn_params)
        if "statement_timeout" in self.settings_dict["OPTIONS"].get("options", ""):
            connection.answer_seconds_max = settings.STATEMENT_SECONDS_MAX + GRACE_SECONDS
        return connection
