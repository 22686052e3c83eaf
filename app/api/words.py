"""The forms of what goes in and comes out: text without NUL, numbers that fit the database, pages with a cursor."""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Generic, TypeAlias, TypeVar

from ninja import Field, Schema
from pydantic import StringConstraints

from app.api.problems import STATUSES, ProblemOut

T = TypeVar("T")
Answer: TypeAlias = dict[str, Any]
PAGE, PAGE_MAX = 50, 200
NUMBER_MAX = 2**53 - 1  # what every reader of JSON keeps exactly
NO_NUL = r"^[^\x00]*$"  # PostgreSQL has no place for it

Words = Annotated[str, StringConstraints(max_length=500, pattern=NO_NUL)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=120, pattern=NO_NUL)]
Number = Annotated[int, Field(ge=0, le=NUMBER_MAX)]
Limit = Annotated[int, Field(ge=1, le=PAGE_MAX)]
Cursor = Annotated[str, StringConstraints(max_length=120, pattern=NO_NUL)]


class Page(Schema, Generic[T]):
    items: list[T]
    next: str = Field(description="The cursor of the next page; empty on the last one")


def answers(model: Any, status: int = 200) -> Mapping[int | frozenset[int], Any]:
    """What an operation may answer: `model`, or a problem."""
    return {status: model, STATUSES: ProblemOut}


def paged(found: Iterable[T], limit: int, cursor_of: Callable[[T], object]) -> tuple[list[T], str]:
    """`found` holds one more than asked for when there is more."""
    listed = list(found)
    return listed[:limit], str(cursor_of(listed[limit - 1])) if len(listed) > limit else ""


def number(cursor: str) -> int:
    """A cursor that is a number; 0 when it is none, which is the first page."""
    return int(cursor) if cursor.isascii() and cursor.isdigit() and len(cursor) < 19 else 0
