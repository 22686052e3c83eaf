"""Queries that are asked with every request. Django writes their SQL once; writing it takes longer than asking it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from django.db import DatabaseError, connection
from django.db.backends.utils import CursorWrapper
from django.db.models import BooleanField, Expression, Field, Model, QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.query import RelatedPopulator, get_related_populators
from django.db.models.sql.compiler import SQLCompiler

M = TypeVar("M", bound=Model)
Row: TypeAlias = tuple[Any, ...]
AnyField: TypeAlias = "Field[Any, Any]"
Converters: TypeAlias = dict[int, tuple[list[Callable[..., Any]], Expression]]


class _Query:
    """What `build(value, ...)` asks, with its SQL written once.

    While that is written, stand-ins take the places of the values; so `build` may compare them, by `among` with many, and nothing else.
    `count` is how many values there are, where `build` takes any number.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Any]], count: int | None = None) -> None:
        self._build = build
        self._count = build.__code__.co_argcount if count is None else count

    def _rows(self, values: Row) -> list[Row]:
        with self.asked(values) as cursor:
            rows: list[Row] = cursor.fetchall()
        return rows

    def asked(self, values: Row) -> CursorWrapper:
        """A cursor that gives the rows; for `together`."""
        sql, places = self._written
        cursor = connection.cursor()
        cursor.execute(sql, [values[place.number] if isinstance(place, _Place) else place for place in places])
        return cursor

    @property
    def _written(self) -> tuple[str, Row]:
        return self._compiled[1:]

    @cached_property
    def _compiled(self) -> tuple[SQLCompiler, str, Row]:
        compiler = self._build(*(RawSQL("%s", [_Place(number)]) for number in range(self._count))).query.get_compiler(connection=connection)
        return compiler, *compiler.as_sql()


class WrittenOnce(_Query):
    """`WrittenOnce(build)(value, ...)` gives the rows of `build(value, ...)`, a `values_list` that takes its values as they are.
    What JSON columns hold comes as text.
    """

    def __call__(self, *values: Any) -> list[Row]:
        return self._rows(values)


class ConvertedWrittenOnce(_Query):
    """The same with values as Django gives them: what JSON columns hold comes as dicts and lists."""

    def __call__(self, *values: Any) -> list[Row]:
        rows = self._rows(values)
        return [tuple(row) for row in self._compiled[0].apply_converters(rows, self._converters)] if self._converters else rows

    @cached_property
    def _converters(self) -> Converters:
        compiler, *_ = self._compiled
        return compiler.get_converters([column for column, *_ in compiler.select])


class ModelsWrittenOnce(_Query, Generic[M]):
    """The same for a queryset of models, with those that `select_related` brings and what `annotate` adds: they are made as Django makes them."""

    def __init__(self, build: Callable[..., QuerySet[M]], count: int | None = None) -> None:
        super().__init__(build, count)

    def __call__(self, *values: Any) -> list[M]:
        return [self._made(row) for row in self._converted(self._rows(values))]

    def _converted(self, rows: list[Row]) -> Sequence[Sequence[Any]]:
        compiler, *_ = self._compiled
        return list(compiler.apply_converters(rows, self._how.converters)) if self._how.converters else rows

    def _made(self, row: Sequence[Any]) -> Any:
        how = self._how
        one = how.model.from_db(connection.alias, how.names, row[how.first : how.last + 1])
        for related in how.related:
            related.populate(row, one)
        for name, place in how.added.items():
            setattr(one, name, row[place])
        return one

    @cached_property
    def _how(self) -> "_How":
        compiler, *_ = self._compiled
        about = compiler.klass_info
        first, last = about["select_fields"][0], about["select_fields"][-1]
        names = [column.target.attname for column, *_ in compiler.select[first : last + 1]]
        converters = compiler.get_converters([column for column, *_ in compiler.select])
        related = get_related_populators(about, compiler.select, connection.alias)  # type: ignore[call-arg]  # typed as of Django 6.1
        return _How(about["model"], names, first, last, converters, related, compiler.annotation_col_map)


class _How(NamedTuple):
    """How a row becomes a model."""

    model: type[Model]
    names: list[str]
    first: int
    last: int
    converters: Converters
    related: list[RelatedPopulator]
    added: dict[str, int]


@contextmanager
def in_one_go() -> Iterator[None]:
    """What is sent to the database here waits for no answer until one is read. What went wrong is raised there, or at the end."""
    connection.ensure_connection()
    with connection.wrap_database_errors, connection.connection.pipeline():
        yield


def together(*asked: tuple[WrittenOnce, Row]) -> list[list[Row]]:
    """The rows of several queries, each with its values, for one wait."""
    with in_one_go():
        cursors = [query.asked(values) for query, values in asked]
        return [cursor.fetchall() for cursor in cursors]


def add(row: Model) -> None:
    """Like `row.save(force_insert=True)`, without signals; for a row whose key is set. Raises IntegrityError when the key is taken."""
    sql, fields = _insert(type(row))
    values = [field.get_db_prep_save(field.pre_save(row, True), connection) for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
    row._state.adding, row._state.db = False, connection.alias


@cache
def _insert(model: type[Model]) -> tuple[str, tuple[AnyField, ...]]:
    fields = tuple(model._meta.local_concrete_fields)
    columns, places = ", ".join(_column(field) for field in fields), ", ".join("%s" for _ in fields)
    return f"INSERT INTO {connection.ops.quote_name(model._meta.db_table)} ({columns}) VALUES ({places})", fields


def save(row: Model, *names: str) -> None:
    """Like `row.save(update_fields=names)`, without signals. Raises DatabaseError when the row is gone."""
    sql, key, fields = _update(type(row), names)
    values = [field.get_db_prep_save(field.pre_save(row, False), connection) for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(sql, [*values, getattr(row, key)])
        if cursor.rowcount != 1:
            raise DatabaseError(f"{row!r} was not saved: its row is gone.")


@cache
def _update(model: type[Model], names: tuple[str, ...]) -> tuple[str, str, tuple[AnyField, ...]]:
    about = model._meta
    fields = tuple(own_field(model, name) for name in names)
    assigned = ", ".join(f"{_column(field)} = %s" for field in fields)
    return f"UPDATE {connection.ops.quote_name(about.db_table)} SET {assigned} WHERE {_column(about.pk)} = %s", about.pk.attname, fields


def own_field(model: type[Model], name: str) -> AnyField:
    """Raises TypeError when it stands in another model's table."""
    field = model._meta.get_field(name)
    if not isinstance(field, Field):
        raise TypeError(f"{model.__name__}.{name} is not a field of its own table.")
    return field


def _column(field: AnyField) -> str:
    """In quotes, for SQL. Raises TypeError when the field has none."""
    if field.column is None:
        raise TypeError(f"{field!r} has no column.")
    return connection.ops.quote_name(field.column)


def among(column: str, values: RawSQL) -> RawSQL:
    """For `filter`: the column is one of a list of values, which goes to the server as one parameter."""
    return RawSQL(f"{column} = ANY({values.sql})", values.params, BooleanField())


class _Place:
    def __init__(self, number: int) -> None:
        self.number = number
