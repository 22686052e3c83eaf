"""`metastat` of Solaris: mirrors, stripes and RAID-5 of its Volume Manager, which is no ZFS, and the slices that they have given up.

d4: Mirror
    Submirror 1: d24
      State: Needs maintenance

d24: Submirror of d4
    State: Needs maintenance
    Invoke: metareplace d4 c1t1d0s4 <new device>
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agents.collectors.base import Unparsed
from workflows.engine.core import Cure, Situation
from workflows.pasted.base import Reader, Where, refused

NO_POOL = "The Volume Manager of Solaris makes it and it is no pool: ZFS knows nothing of it."
LOST = ("maintenance", "last erred", "unavailable", "broken")  # what a slice is that gets no more I/O
_HEAD = re.compile(
    r"(\w[\w/.-]{0,60}): (Mirror|Submirror of \S{1,60}|RAID|Soft Partition|Concat/Stripe|Trans|Logging device for .{1,60}|Hot spare pool|[0-9]{1,3} hot spares?)\s*$"
)
_STATE = re.compile(r"(?:State|Status): (\S.{0,40})$")
_SLICE = re.compile(r"(?:/dev/dsk/)?(c[0-9]{1,4}(?:t\w{1,32})?d[0-9]{1,4})(s[0-9]{1,2}) ([^\n]{1,120})$")
_WORD = re.compile(r"\b(Okay|Maintenance|Last Erred|Resyncing|Unavailable|Available|In use|Broken|Initializing)\b", re.IGNORECASE)


_NAME = re.compile(r"[a-z]\w{0,30}(?:/[dr]?\w{1,30})?")
_OF_MADE = re.compile(r"-[a-z]|[0-9]{1,6}[a-z]?|[a-z][\w./-]{1,60}")


@dataclass
class Piece:
    """One metadevice, by its own heading."""

    name: str
    what: str
    line: str
    state: str = ""
    state_line: str = ""
    slices: list[tuple[str, str, str, str]] = field(default_factory=list)  # disk, slice, state, line


@dataclass(frozen=True)
class Volumes:
    pieces: tuple[Piece, ...]


def parse(lines: Sequence[str]) -> Volumes | Unparsed:
    pieces: list[Piece] = []
    for line in map(str.strip, lines):
        head, state, one = _HEAD.match(line), _STATE.match(line), _SLICE.match(line)
        if head:
            pieces.append(Piece(head.group(1), head.group(2), line))
        elif state and pieces and pieces[-1].what != "Mirror" and not pieces[-1].state:
            pieces[-1].state, pieces[-1].state_line = state.group(1).strip(), line
        elif one and pieces:
            word = _WORD.search(one.group(3))
            pieces[-1].slices.append((one.group(1), one.group(1) + one.group(2), word.group(1) if word else "", line))
    pieces = pieces or [made for line in lines if (made := _made(line)) is not None]
    return Volumes(tuple(pieces)) if pieces else refused("metastat", next(iter(lines), ""))


def _made(line: str) -> Piece | None:
    """A line of `metastat -p`, in the form of md.tab: how a metadevice is made, and nothing of how it is."""
    name, *words = line[:1000].split() or [""]
    if not words or not _NAME.fullmatch(name) or not all(map(_OF_MADE.fullmatch, words)):
        return None
    return Piece(name, " ".join(words), line.strip())


def situations(value: Volumes, where: Where) -> tuple[Situation, ...]:
    return (*_slices(value, where), *_states(value, where))


def _slices(value: Volumes, where: Where) -> Iterator[Situation]:
    """Each disk once, whichever of its slices were given up."""
    by_disk: dict[str, list[tuple[str, str, str, str]]] = {}
    for piece in value.pieces:
        for disk, name, state, line in piece.slices:
            if state.lower() in LOST:
                by_disk.setdefault(disk, []).append((name, piece.name, state, line))
    for disk, found in by_disk.items():
        names = ", ".join(f"{name} of {piece}" for name, piece, _, _ in found)
        member = where.member(disk)
        yield Situation(
            "disk-failing", f"disk-failing:{where.node}:svm:{disk}", where.node, "act",
            f"{disk} is out of use in the Volume Manager ({names})",
            f"metastat says {found[0][2]} of {names}: a read or write of it failed, so it gets no more. {NO_POOL} {member.sentence + ' ' if member else ''}"
            "Last Erred means that its data stands nowhere else: take a copy of it first.",
            where.evidence(*(line for *_, line in found)),
            subject={"node": where.node, "disk": disk} | (member.subject if member else {}),
            cures=(
                Cure("look", "Ask the disk itself: `iostat -En` and `smartctl -x`, and the log for its cable and port."),
                Cure("other", "Where the disk is well again, `metareplace -e` brings it back in place; else replace it by metareplace as the line Invoke says. In a pool nothing is to be replaced for it."),
            ),
        )  # fmt: skip


def _states(value: Volumes, where: Where) -> Iterator[Situation]:
    lost = {piece.name for piece in value.pieces for _, _, state, _ in piece.slices if state.lower() in LOST}
    mirrors = {of for piece in value.pieces if piece.name in lost and (of := piece.what.rpartition(" of ")[2]) != piece.what}
    for piece in value.pieces:
        if piece.state.lower() in ("", "okay", "resyncing", "initializing", "available") or piece.name in lost | mirrors:
            continue
        yield Situation(
            "disk-missing", f"disk-missing:{where.node}:svm:{piece.name}", where.node, "act",
            f"{piece.name} of the Volume Manager: {piece.state}",
            f"metastat says of {piece.name} ({piece.what}): {piece.state}. {NO_POOL} The rows of its slices show which disk it is.",
            where.evidence(piece.line, piece.state_line),
            subject={"node": where.node, "array": piece.name},
            sure=False,
            cures=(Cure("look", "Run `metastat` without a name: it shows every slice; `iostat -En` shows which disk has errors."),),
        )  # fmt: skip


def notes(value: Volumes) -> tuple[str, ...]:
    busy = [piece.name for piece in value.pieces if piece.state.lower() in ("resyncing", "initializing")]
    return (
        *((f"{', '.join(busy)}: until that has ended its copies are not all the same.",) if busy else ()),
        f"{len(value.pieces)} volumes of the Volume Manager were read; they are no pools, and `zpool status` shows these.",
    )


READER = Reader(
    name="metastat",
    first=r"\w[\w/.-]{0,60}: (?:Mirror|Submirror of \S{1,60}|Soft Partition|Concat/Stripe)\s*$",
    tools=("metastat",),
    goes_on=r"\s*(?:\w[\w/.-]{0,60}: (?:Mirror|Submirror|RAID|Soft|Concat|Trans|Hot|[0-9])|State|Status|Submirror|Pass|Read option|Write option|Size|Stripe|Component|Device|Invoke|Hot spare|Resync|Interlace|Original|Extent|(?:/dev/dsk/)?c[0-9])",
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="metastat",
)
