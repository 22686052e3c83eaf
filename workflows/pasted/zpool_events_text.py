"""`zpool events` without -v: when something was noticed and of which class, but not of which disk."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.pasted.base import Reader, refused, unread

_ROW = re.compile(r"([A-Z][a-z]{2} [ 0-9]?[0-9] [0-9]{4} [0-9:]{8}\.[0-9]{1,9}) +([a-z][a-zA-Z0-9_.]{2,80})$")


@dataclass(frozen=True)
class Events:
    """(time as printed, class), oldest first as printed."""

    events: tuple[tuple[str, str], ...]
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Events | Unparsed:
    found, stray = [], []
    for line in filter(str.strip, lines):
        row = _ROW.match(line.strip())
        if row:
            found.append(row.groups())
        elif not re.match(r"TIME +CLASS$", line.strip()):
            stray.append(line)
    return Events(tuple(found), tuple(stray)) if found else refused("zpool events", (stray or [""])[0])


def notes(value: Events) -> tuple[str, ...]:
    errors = Counter(name.rpartition(".")[2] for _, name in value.events if name.startswith("ereport."))
    said = ", ".join(f"{count} x {name}" for name, count in errors.most_common(6))
    span = f" from {value.events[0][0]} to {value.events[-1][0]}"
    told = f"{len(value.events)} events{span}, errors among them: {said or 'none'}."
    return (*unread(value.unread), told, "Without -v they do not say of which pool and disk; `zpool events -v` does, and is judged.")


READER = Reader(
    name="zpool_events_text",
    first=r"TIME +CLASS$",
    confirm=lambda lines, i: not any(line.startswith("  ") for line in lines[i + 1 : i + 4]),  # with -v the fields of each stand below it
    tools=("zpool",),
    asks=lambda tool, rest: tuple(rest[:1]) == ("events",) and not any(re.fullmatch(r"-\w*v\w*", word) for word in rest),
    inside=frozenset(("zpool_events",)),
    strict=True,
    goes_on=r"TIME|[A-Z][a-z]{2} [ 0-9]?[0-9] [0-9]{4} ",
    parse=parse,
    notes=notes,
    again="zpool events -v",
)
