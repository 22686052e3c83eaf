"""Facts with one of their fields not known, for every field of every class that may be unknown and is known somewhere in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from tests.frozen.names import of_field
from workflows.facts import FleetFacts, Unknown

NOT_READ = Unknown("It was not read.")


@cache
def names_of(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def may_be_unknown(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if str(field.type).startswith("Known["))


def each_unknown(facts: FleetFacts) -> Iterator[tuple[str, FleetFacts]]:
    """(name of the field, the same facts without it), and without each node."""
    for name, nodes in _last.of(facts.nodes):
        yield name, replace(facts, nodes=nodes)


Nodes = Mapping[str, Any]


class _Last:
    """What was made of the nodes that were asked about last: most steps of a story see the same."""

    def __init__(self) -> None:
        self.nodes: Nodes = {}
        self.found: list[tuple[str, Nodes]] = []

    def of(self, nodes: Nodes) -> list[tuple[str, Nodes]]:
        if nodes != self.nodes:
            self.nodes, self.found = nodes, list(_each(nodes))
        return self.found


_last = _Last()


def _each(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    below: dict[type, set[type]] = {}
    for node in nodes.values():
        _kinds(node, below)
    _close(below)
    tried = [(of_field(kind.__name__, name), kind, name) for kind in below for name in may_be_unknown(kind)]
    for shown, kind, name in sorted(tried, key=lambda one: one[0]):  # by the kept name: a renamed class is not tried in another order
        less = {node: _without(held, kind, name, below) for node, held in nodes.items()}
        if any(less[node] is not held for node, held in nodes.items()):
            yield shown, less
    for gone in nodes:
        yield f"node:{gone}", {name: held for name, held in nodes.items() if name != gone}


def _items(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        yield from value
    elif isinstance(value, dict):
        yield from value.values()


def _kinds(value: Any, below: dict[type, set[type]], above: type | None = None) -> None:
    """Which classes stand right below which."""
    if is_dataclass(value):
        kind = type(value)
        if above is not None:
            below[above].add(kind)
        below.setdefault(kind, set())
        for name in names_of(kind):
            _kinds(getattr(value, name), below, kind)
    else:
        for item in _items(value):
            _kinds(item, below, above)


def _close(below: dict[type, set[type]]) -> None:
    """Which stand anywhere below."""
    growing = True
    while growing:
        growing = False
        for kinds in below.values():
            more = set().union(*(below[kind] for kind in kinds)) - kinds if kinds else set()
            kinds |= more
            growing = growing or bool(more)


def _without(value: Any, kind: type, name: str, below: dict[type, set[type]]) -> Any:
    """The same object where nothing changes."""
    here = type(value)
    if here in below:
        return _of_object(value, kind, name, below) if here is kind or kind in below[here] else value
    if here is tuple or here is list:
        found = [_without(item, kind, name, below) for item in value]
        return value if all(new is old for new, old in zip(found, value, strict=True)) else here(found)
    if here is dict:
        held = {key: _without(item, kind, name, below) for key, item in value.items()}
        return value if all(held[key] is item for key, item in value.items()) else held
    return value


def _of_object(value: Any, kind: type, name: str, below: dict[type, set[type]]) -> Any:
    changes = {}
    if kind in below[type(value)]:
        for field in names_of(type(value)):
            old = getattr(value, field)
            new = _without(old, kind, name, below)
            if new is not old:
                changes[field] = new
    if type(value) is kind and not isinstance(getattr(value, name), Unknown):
        changes[name] = NOT_READ
    return replace(value, **changes) if changes else value
