"""`zdb -u`: the uberblock from which a pool would be opened. It says which txg is the newest and when it was written, and nothing of a disk."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.pasted.base import Reader, refused, unread

_HEAD = re.compile(r" *Uberblock(?:\[[0-9]{1,3}\])?:? *")
_FIELD = re.compile(r"[ \t>]*([a-z_]{1,40}) = (\S.{0,200})")
_TIME = re.compile(r"[0-9]{1,20} UTC = (.{1,80})")


@dataclass(frozen=True)
class Newest:
    txg: str
    written: str  # as printed, in the zone of that host; "" where it does not stand there
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Newest | Unparsed:
    blocks: list[dict[str, str]] = [{}]  # a label keeps the last of them, in no order
    stray: list[str] = []
    for line in filter(str.strip, lines):
        if found := _FIELD.fullmatch(line.rstrip()):
            blocks[-1].setdefault(found.group(1), found.group(2))
        elif _HEAD.fullmatch(line):
            blocks.append({})
        else:
            stray.append(line)
    fields = max(blocks, key=lambda block: int(txg) if (txg := block.get("txg", "")).isdigit() else -1)
    if not fields.get("txg", "").isdigit():
        return refused("zdb -u", lines[0] if lines else "")
    written = _TIME.fullmatch(fields.get("timestamp", ""))
    return Newest(fields["txg"], written.group(1) if written else "", tuple(stray))


def of_labels(lines: Sequence[str]) -> list[str]:
    """The uberblocks of `zdb -ul` of an old release that stand there without the label they are of; none where a label is there as well."""
    begin = next((i for i, line in enumerate(lines) if re.match(r" *Uberblock\[[0-9]{1,3}\]", line)), None)
    of_label = any(re.match(r"LABEL [0-3]|\s+(?:pool_guid|vdev_tree):", line) for line in lines)
    return [line for line in lines[begin:] if not re.match(r"-{5,}|\s+labels = ", line)] if begin is not None and not of_label else []


def notes(value: Newest) -> tuple[str, ...]:
    when = f", written {value.written}" if value.written else ""
    return (
        *unread(value.unread),
        f"The newest txg is {value.txg}{when}. It says nothing of a disk: `zdb -lu DEVICE` of each shows which of them have it.",
    )


READER = Reader(
    name="uberblock",
    first=rf"{_HEAD.pattern}$",
    tools=("zdb",),
    asks=lambda tool, rest: (
        any(re.fullmatch("-[A-Za-z]*u[A-Za-z]*", word) for word in rest)
        and not any(re.fullmatch("-[A-Za-z]*[lC][A-Za-z]*", word) for word in rest)
    ),
    inside=frozenset(("zdb_label", "zdb_uberblocks")),
    goes_on=rf"{_HEAD.pattern}$|{_FIELD.pattern}$",
    strict=True,
    open_ended=True,
    parse=parse,
    silent=lambda value: True,
    notes=notes,
    again="zdb -u POOL",
)
