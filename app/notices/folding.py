"""Which happenings are told together, on one channel. Pure.

What follows from one cause is one notice. What comes in a flood without a common cause is one notice too, because nobody reads the
hundredth message at 3 a.m.; the page it leads to has them all.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from app.fleet.severity import rank
from app.notices.kinds import Said

FLOOD = 5  # more than so many messages at once become one
LISTED = 12  # so many of them are named in it


@dataclass(frozen=True)
class Told:
    """A happening that was read."""

    kind: str
    key: str
    node: str
    run: int | None
    said: Said


@dataclass(frozen=True)
class Message:
    """What one channel is to be told. `carried` messages are told with this one; `into` names an earlier notice that told of it."""

    kind: str
    key: str
    fold: str
    severity: str
    urgent: bool
    title: str
    lines: tuple[str, ...]
    path: str
    node: str = ""
    run: int | None = None
    carried: tuple["Message", ...] = ()
    into: int | None = None
    daily: bool = False


Before = Callable[[str], tuple[int, str] | None]  # fold -> the notice that told of it, and how severe it was then


def messages(told: Iterable[Told], before: Before) -> list[Message]:
    groups: dict[tuple[str, str], list[Told]] = {}
    for one in told:
        groups.setdefault((one.kind, one.said.fold), []).append(one)
    made = [message for (kind, fold), group in groups.items() if (message := _of_group(kind, group, before(fold)))]
    return _flood(made)


def _of_group(kind: str, group: list[Told], before: tuple[int, str] | None) -> Message | None:
    """One message for what has one cause; None for the end of what nobody was told of."""
    if kind == "situation-closed" and before is None:
        return None
    led = sorted(group, key=lambda one: (not one.said.leads, rank(one.said.severity)))
    message = _of_one(led[0], led[1:])
    known = before is not None and (kind == "situation-closed" or rank(message.severity) >= rank(before[1]))
    return replace(message, into=before[0]) if known and not led[0].said.leads else message


def _of_one(lead: Told, others: list[Told]) -> Message:
    said = lead.said
    title = f"{said.title} (and {len(others)} more with the same cause)" if others else said.title
    lines = (*said.lines, *_listed("With the same cause:", [one.said.title for one in others]))
    severity = min((one.said.severity for one in (lead, *others)), key=rank)
    return Message(lead.kind, lead.key, said.fold, severity, said.urgent, title, lines, said.path, lead.node, lead.run, daily=said.daily)


def _flood(made: list[Message]) -> list[Message]:
    new = [message for message in made if message.into is None and not message.daily]
    return [*(m for m in made if m.into is not None or m.daily), *([together(new, "at once")] if len(new) > FLOOD else new)]


def together(carried: list[Message], how: str) -> Message:
    """One message for many."""
    worst = min(carried, key=lambda message: rank(message.severity))
    nodes = {message.node for message in carried if message.node}
    where = f" on {next(iter(nodes))}" if len(nodes) == 1 else f" on {len(nodes)} nodes" if nodes else ""
    path = f"/nodes/{next(iter(nodes))}/" if len(nodes) == 1 else "/"
    lines = _listed(f"The worst of them is “{worst.title}”.", [message.title for message in carried])
    title = f"{len(carried)} notices {how}{where}: {worst.title}"
    urgent = any(message.urgent for message in carried)
    return Message(
        "many", f"many:{carried[0].key}", "", worst.severity, urgent, title, lines, path, *_one_place(nodes), carried=tuple(carried)
    )


def _one_place(nodes: set[str]) -> tuple[str]:
    return (next(iter(nodes)) if len(nodes) == 1 else "",)


def _listed(head: str, titles: list[str]) -> tuple[str, ...]:
    if not titles:
        return ()
    more = (f"- and {len(titles) - LISTED} more",) if len(titles) > LISTED else ()
    return (head, *(f"- {title}" for title in titles[:LISTED]), *more)
