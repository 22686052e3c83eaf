"""How history is kept: the open row of a thing is closed when it no longer holds, and a new one opened."""

from collections.abc import Mapping
from datetime import datetime
from typing import TypeVar

from django.db.models import Field, Model, Q

from app.core.compiled_queries import save
from app.fleet.models import NOW, Node

Key = TypeVar("Key", bound=tuple[object, ...])
Values = Mapping[str, object]
FEW = 8  # as many are sooner written one by one than in one statement, which has to be made for them
KEPT = object()  # a value that is not known now: what the open row says of the same thing stays, and is no change


def record(
    model: type[Model],
    node: Node,
    key: tuple[str, ...],
    current: Mapping[Key, Values],
    at: datetime,
    *,
    passing: tuple[str, ...] = (),
    before: str = "",
    same: tuple[str, ...] = (),
    among: tuple[Q, ...] = (),
) -> int:
    """Make the open rows of `model` on `node` that are `among` these say `current` and nothing else; returns how many rows were opened.

    `key` names the fields of the mapping's keys. A change in a `passing` field is written into the open row and makes
    no history. With `before` a new row keeps the value that field had in the row it follows. A value may be `KEPT`; `same`
    names the fields that must be equal for the open row to be about the same thing.
    """
    was = {tuple(getattr(row, name) for name in key): row for row in model._default_manager.filter(NOW, *among, node=node)}
    filled: dict[tuple[object, ...], Values] = {k: _filled(model, values, was.get(k), same) for k, values in current.items()}
    ended = {row.pk for k, row in was.items() if k not in filled or _differs(row, filled[k], passing)}
    touched = [_touch(row, filled[k]) for k, row in was.items() if row.pk not in ended and _differs(row, filled[k], ())]
    fresh = [
        model(node=node, since=at, **dict(zip(key, k, strict=True)), **values, **_follows(was.get(k), before))
        for k, values in filled.items()
        if k not in was or _differs(was[k], values, passing)
    ]
    model._default_manager.filter(pk__in=ended).update(until=at)
    if len(touched) > FEW:
        model._default_manager.bulk_update(touched, passing)
    else:
        for row in touched:
            save(row, *passing)
    model._default_manager.bulk_create(fresh)
    return len(fresh)


def _nothing(model: type[Model], name: str) -> object:
    field = model._meta.get_field(name)
    return field.get_default() if isinstance(field, Field) else None


def _filled(model: type[Model], values: Values, row: Model | None, same: tuple[str, ...]) -> Values:
    """The values with each `KEPT` replaced: by the open row's, or by nothing when that row is about something else."""
    follows = row is not None and all(getattr(row, name) == values[name] for name in same)
    return {
        name: value if value is not KEPT else getattr(row, name) if follows else _nothing(model, name) for name, value in values.items()
    }


def _differs(row: Model, values: Values, passing: tuple[str, ...]) -> bool:
    return any(getattr(row, name) != value for name, value in values.items() if name not in passing)


def _touch(row: Model, values: Values) -> Model:
    for name, value in values.items():
        setattr(row, name, value)
    return row


def _follows(row: Model | None, field: str) -> dict[str, object]:
    return {"before": getattr(row, field)} if field and row is not None else {}
