"""`sg_map`, with -i and -x: which /dev/sg node is which disk."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.pasted.base import Reader, refused, unread

_ROW = re.compile(r"(/dev/sg[0-9]+)(?: +([0-9]+) ([0-9]+) ([0-9]+) ([0-9]+) +[0-9]+)?(?: +(/dev/[a-z0-9]+))?(?: +(\S.*))?$")


@dataclass(frozen=True)
class Node:
    sg: str
    hctl: str | None  # with -x
    disk: str | None  # None: no block device; an enclosure, or a disk that the kernel took away
    inquiry: str | None  # with -i
    line: str


@dataclass(frozen=True)
class Nodes:
    nodes: tuple[Node, ...]
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Nodes | Unparsed:
    found, stray = [], []
    for line in filter(str.strip, lines):
        row = _ROW.match(line.strip())
        if row is None:
            stray.append(line)
            continue
        sg, host, channel, target, lun, disk, inquiry = row.groups()
        hctl = f"{host}:{channel}:{target}:{lun}" if host is not None else None
        found.append(Node(sg, hctl, disk, inquiry, line))
    return Nodes(tuple(found), tuple(stray)) if found else refused("sg_map", (stray or [""])[0])


def notes(value: Nodes) -> tuple[str, ...]:
    alone = [
        node.sg
        for node in value.nodes
        if node.disk is None and not re.search("enclosu|encl|expander|SAS3x|SES", node.inquiry or "", re.IGNORECASE)
    ]
    note = (
        (f"{', '.join(alone[:8])} have no block device: enclosures, or disks that the kernel does not use (`lsscsi -g` tells which).",)
        if alone
        else ()
    )
    return (*unread(value.unread), *note, "sg_map lists devices; it says nothing of their health.")


READER = Reader(
    name="sg_map",
    first=r"/dev/sg[0-9]+(?:$| +/dev/[a-z0-9]+| +[0-9]+ [0-9]+ [0-9]+ [0-9]+)",
    tools=("sg_map",),
    strict=True,
    goes_on=r"/dev/sg",
    parse=parse,
    notes=notes,
    again="lsscsi -i -g -s",
)
