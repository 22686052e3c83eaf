"""Queries that are asked with every request. Django writes their SQL once; writing it takes longer than asking it."""

from collections.abc import Callable
from functools import cached_property

from django.db import connection
from django.db.models import BooleanField, QuerySet
from django.db.models.expressions import RawSQL


class WrittenOnce:
    """`WrittenOnce(build)(value, ...)` gives the rows of `build(value, ...)`, a `values_list` that takes its values as they are.

    While the SQL is written, stand-ins take the places of the values; so `build` may compare them, by `among` with many, and nothing else.
    What JSON columns hold comes as text.
    """

    def __init__(self, build: Callable[..., QuerySet]) -> None:
        self._build = build

    def __call__(self, *values: object) -> list[tuple]:
        sql, places = self._written
        with connection.cursor() as cursor:
            cursor.execute(sql, [values[place.number] if isinstance(place, _Place) else place for place in places])
            return cursor.fetchall()

    @cached_property
    def _written(self) -> tuple[str, tuple]:
        count = self._build.__code__.co_argcount
        return self._build(*(RawSQL("%s", [_Place(number)]) for number in range(count))).query.sql_with_params()


def among(column: str, values: RawSQL) -> RawSQL:
    """For `filter`: the column is one of a list of values, which goes to the server as one parameter."""
    return RawSQL(f"{column} = ANY({values.sql})", values.params, BooleanField())


class _Place:
    def __init__(self, number: int) -> None:
        self.number = number
