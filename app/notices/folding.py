"""Which happenings are sent together, on one channel. Pure.

What follows from one cause is one notice. What comes in a flood without a common cause is one notice too, because no one reads the
hundredth message at 3 a.m.; the page it leads to has them all.

What was sent under one key is ended under that key. A channel that keeps incidents gets by itself what concerns one it has: an end
wakes no person, and one among many would end nothing there.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from app.fleet.severity import rank
from app.notices.kinds import Content

FLOOD = 5  # more than so many messages at once become one
LISTED = 12  # so many of them are named in it


@dataclass(frozen=True)
class Entry:
    """A happening that was read."""

    kind: str
    key: str
    node: str
    run: int | None
    content: Content


@dataclass(frozen=True)
class Message:
    """What one channel is to be sent. `carried` messages are sent with this one; `into` names an earlier notice that reported it."""

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
    ends: bool = False
    incident: str = ""  # the stable key it is sent under
    members: tuple[str, ...] = ()  # the stable keys of all that it reports
    is_known: bool = False  # the channel was sent something under this key before


class Before(NamedTuple):
    """A notice that reported the same."""

    pk: int
    severity: str
    incident: str


class Book(Protocol):
    """What one channel was sent before."""

    alone: bool

    @property
    def known(self) -> Mapping[str, str]: ...  # stable key -> the key it was sent under

    @property
    def lasts(self) -> Collection[str]: ...  # the keys under which something stands

    def folded(self, fold: str) -> Before | None: ...

    def last(self, incident: str) -> Before | None: ...


def messages(entries: Iterable[Entry], book: Book) -> list[Message]:
    groups: dict[tuple[str, str], list[Entry]] = {}
    for one in entries:
        if not one.content.ends:
            groups.setdefault((one.kind, one.content.fold), []).append(one)
        elif one.content.about in book.known:  # else its beginning was not sent
            groups.setdefault((one.kind, book.known[one.content.about]), []).append(one)
    made = [_of_end(key, group, book) if group[0].content.ends else _of_group(key, group, book) for (_, key), group in groups.items()]
    return _flood([message for message in made if message], book.alone)


def _of_group(fold: str, group: list[Entry], book: Book) -> Message:
    """One message for what has one cause."""
    led = _led(group)
    message = _of_one(led[0], led[1:])
    before = book.folded(fold) if not led[0].content.leads else None
    if before is not None and rank(message.severity) >= rank(before.severity):
        return replace(message, into=before.pk, incident=before.incident or message.incident, is_known=True)
    incident = book.known.get(message.incident)
    return replace(message, incident=incident, is_known=True) if incident else message


def _of_end(incident: str, group: list[Entry], book: Book) -> Message | None:
    """One message for what was sent under one key; None for the end of what was only in a digest."""
    led = _led(group)
    message = replace(_of_one(led[0], led[1:]), incident=incident, is_known=True, daily=False)
    before = book.last(incident)
    if led[0].content.daily and not book.alone and (before is None or before.severity != "act"):
        return None
    if before is None or incident not in book.lasts or led[0].content.leads:
        return message
    return replace(message, into=before.pk)


def _led(group: list[Entry]) -> list[Entry]:
    return sorted(group, key=lambda one: (not one.content.leads, rank(one.content.severity)))


def _of_one(lead: Entry, others: list[Entry]) -> Message:
    content = lead.content
    title = f"{content.title} (and {len(others)} more with the same cause)" if others else content.title
    lines = (*content.lines, *_listed("With the same cause:", [one.content.title for one in others]))
    severity = min((one.content.severity for one in (lead, *others)), key=rank)
    members = tuple(dict.fromkeys(member for one in (lead, *others) for member in one.content.members or (one.content.about,) if member))
    first = (lead.kind, lead.key, content.fold, severity, content.urgent, title, lines, content.path, lead.node, lead.run)
    return Message(*first, daily=content.daily, ends=content.ends, incident=content.about, members=members)


def _flood(made: list[Message], alone: bool) -> list[Message]:
    new = [message for message in made if message.into is None and not message.daily and not goes_alone(message, alone)]
    if len(new) <= FLOOD:
        return made
    return [*(message for message in made if message not in new), together(new, "at once")]


def goes_alone(message: Message, alone: bool) -> bool:
    return alone and message.is_known


def together(carried: list[Message], how: str) -> Message:
    """One message for many."""
    worst = min(carried, key=lambda message: rank(message.severity))
    nodes = {message.node for message in carried if message.node}
    where = f" on {next(iter(nodes))}" if len(nodes) == 1 else f" on {len(nodes)} nodes" if nodes else ""
    path = f"/nodes/{next(iter(nodes))}/" if len(nodes) == 1 else "/"
    lines = _listed(f"The worst of them is “{worst.title}”.", [message.title for message in carried])
    title = f"{len(carried)} notices {how}{where}: {worst.title}"
    urgent = any(message.urgent for message in carried)
    key, node = f"many:{carried[0].key}", next(iter(nodes)) if len(nodes) == 1 else ""
    members = tuple(dict.fromkeys(member for message in carried for member in message.members))
    own = tuple(message if message.is_known or not message.incident else replace(message, incident=key) for message in carried)
    first = ("many", key, "", worst.severity, urgent, title, lines, path, node)
    return Message(*first, carried=own, incident=key if members else "", members=members)


def _listed(head: str, titles: list[str]) -> tuple[str, ...]:
    if not titles:
        return ()
    more = (f"- and {len(titles) - LISTED} more",) if len(titles) > LISTED else ()
    return (head, *(f"- {title}" for title in titles[:LISTED]), *more)
