"""A fact that is not known, and how a function ends where one is: refuse before unknown, and never a guess."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeAlias, TypeVar

if TYPE_CHECKING:
    from typing_extensions import TypeIs  # in `typing` from Python 3.13 on; nothing is installed where this runs

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Unknown:
    """Why a fact is not known, in words for the operator."""

    reason: str

    def __bool__(self) -> bool:
        raise TypeError(f"an unknown fact is neither true nor false: {self.reason}")


Known: TypeAlias = T | Unknown


def known(value: T | Unknown) -> TypeIs[T]:
    return not isinstance(value, Unknown)


class NotKnown(Exception):
    """Raised by `need`, and never seen outside of the function that is marked for it."""

    def __init__(self, why: Unknown) -> None:
        super().__init__(why.reason)
        self.why = why


def need(value: T | Unknown, otherwise: str = "") -> T:
    """The value. Where it is not known, the function ends: one marked `derived` returns why, one marked `guard` answers "unknown" with it.

    `otherwise` is what is not known for that reason, and comes before it.
    """
    if not known(value):
        raise NotKnown(Unknown(f"{otherwise}: {value.reason}") if otherwise else value)
    return value


def derived(asks: Callable[P, T | Unknown]) -> Callable[P, T | Unknown]:
    """Marks a function of facts that uses `need`: what it returns is not known where one of those is not, for the same reason."""

    @wraps(asks)
    def answer(*args: P.args, **named: P.kwargs) -> T | Unknown:
        try:
            return asks(*args, **named)
        except NotKnown as missing:
            return missing.why

    return answer
