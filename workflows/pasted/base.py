"""What every reader of a pasted output shares: how it is recognised, what it says, and where it was pasted.

A reader stands for the output of one tool that no agent asks for. It reads row by row: a field is a value or None, a row that cannot be
read is kept as a line and hides no other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from typing import Any, TypeVar

from agents.collectors.base import Unparsed
from agents.domain.wwid import normalise, scheme, strip_partition
from workflows.engine.core import Evidence, Situation
from workflows.facts import DiskFacts, NodeFacts, PoolFacts, VdevFacts, known


@dataclass(frozen=True)
class Where:
    """Which text it was: node, reader and digest for the evidence, and what else is known of that node."""

    node: str
    source: str
    digest: str
    facts: NodeFacts | None = None

    def evidence(self, *lines: str) -> tuple[Evidence, ...]:
        """The lines that bear it out, as they were pasted."""
        return tuple(Evidence(self.node, self.source, self.digest, line.strip()) for line in lines)

    def member(self, *names: str | None) -> Member | None:
        """The pool's member that is the disk with one of these kernel names, WWIDs, links or serial numbers; None when none is."""
        return _member(self.facts, [name for name in names if name]) if self.facts is not None else None


@dataclass(frozen=True)
class Member:
    """A leaf of an imported pool, as the tree of `zpool status` names it."""

    pool: PoolFacts
    leaf: VdevFacts

    @property
    def subject(self) -> dict[str, str]:
        fields = {"pool": self.pool.name, "vdev_guid": str(self.leaf.guid) if known(self.leaf.guid) else self.leaf.name}
        return fields | ({"pool_guid": str(self.pool.guid)} if known(self.pool.guid) else {})

    @property
    def sentence(self) -> str:
        guid = f" (guid {self.leaf.guid})" if known(self.leaf.guid) else ""
        return f"It is the member {self.leaf.name}{guid} of pool {self.pool.name}."


@dataclass(frozen=True)
class Sight:
    """What one line says of one disk: enough to join it with the others by WWID. None where the text does not say."""

    name: str  # kernel name: "sda", "nvme0n1", "da3"
    wwid: str | None = None
    serial: str | None = None
    vendor: str | None = None
    model: str | None = None
    hctl: str | None = None


def no_situations(value: Any, where: Where) -> tuple[Situation, ...]:
    """Of a reader whose tool only lists: it judges nothing."""
    return ()


@dataclass(frozen=True)
class Reader:
    """The reader of one tool's output."""

    name: str
    first: str  # a pattern of the line it begins with; anchored at the line's start by `match`
    parse: Callable[[Sequence[str]], Any]  # value or Unparsed; never raises
    tools: tuple[str, ...] = ()  # the commands whose output this is
    asks: Callable[[str, Sequence[str]], bool] = lambda tool, rest: True  # whether a command of those, with these words, prints it
    confirm: Callable[[Sequence[str], int], bool] = lambda lines, i: True  # whether it is sure, seen with the lines that follow
    goes_on: str = ""  # a pattern of every line that may follow an empty line; "" lets everything follow
    strict: bool = False  # whether each line must match it, and not only one after an empty line
    situations: Callable[[Any, Where], tuple[Situation, ...]] = no_situations
    silent: Callable[[Any], bool] = lambda value: False  # whether this one only lists, and says of nothing whether it is well
    doubt: Callable[[Any], str] = lambda value: ""  # what keeps it from being good, though no state in it is bad; "" where nothing does
    notes: Callable[[Any], tuple[str, ...]] = lambda value: ()  # what was read and is judged by nobody, for the reader to know
    sights: Callable[[Any], tuple[Sight, ...]] = lambda value: ()  # disks that it names
    links: Callable[[Any], tuple[tuple[str, str], ...]] = lambda value: ()  # (link below /dev/disk/by-id, kernel name)
    inside: frozenset[str] = frozenset()  # sources within whose output a line like `first` is no beginning
    again: str = ""  # what to run where it cannot be read
    open_ended: bool = False  # whether nothing that the tool prints shows where its list ends: more lines may have stood behind it
    always: tuple[
        str, ...
    ] = ()  # patterns of lines that the tool prints each time, the first or the last of all: without them a part is missing


REMEMBERED = 2048  # lines; whoever undoes wrappers and cuts a text asks several times about the same one
REMEMBERED_LENGTH = 1000  # characters; a longer line is worked out anew each time
Found = TypeVar("Found")


def remembered(of_line: Callable[[str], Found]) -> Callable[[str], Found]:
    """For what is asked of a line alone, and its answer is never changed by who asks: the answers for the lines that were asked last are kept."""
    kept = lru_cache(maxsize=REMEMBERED)(of_line)

    @wraps(of_line)
    def asked(line: str) -> Found:
        return kept(line) if len(line) <= REMEMBERED_LENGTH else of_line(line)

    return asked


def unread(lines: Sequence[str]) -> tuple[str, ...]:
    """A note on rows that no form fits; none when there are none."""
    if not lines:
        return ()
    count = f"{len(lines)} lines were" if len(lines) > 1 else "One line was"
    return (f"{count} not understood, the first is: {lines[0].strip()[:120]}",)


def whole(text: str | None) -> int | None:
    """A whole number as printed, else None. Never a rounded one."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 20 else None


def number(text: str | None) -> float | None:
    """A decimal number with a point or a comma, else None."""
    return float(text.replace(",", ".")) if text and _NUMBER.fullmatch(text) else None


_NUMBER = re.compile(r"-?[0-9]{1,15}(?:[.,][0-9]{1,12})?")


def columns(heading: str) -> tuple[tuple[str, int], ...]:
    """Each word of a heading with the place where it begins."""
    return tuple((found.group(), found.start()) for found in re.finditer(r"\S+", heading))


def pairs(line: str, separator: str = ":") -> tuple[str, str] | None:
    """Name and value of "Name   : value"; None of any other line. Both are stripped, and the value may be empty."""
    name, found, value = line.partition(separator)
    return (name.strip(), value.strip()) if found and name.strip() else None


def document(text: str) -> Any:
    """The first JSON value of a text; what stands after it is somebody's own. Raises ValueError, or RecursionError where it nests too deep."""
    return json.JSONDecoder().raw_decode(text[text.find("{") :] if "{" in text else text)[0]


def document_or_list(text: str) -> Any:
    """The first JSON value of a text, an object or a list. Raises as `document` does."""
    start = re.search(r"[\[{]", text)
    return json.JSONDecoder().raw_decode(text[start.start() :] if start else text)[0]


# Of outputs in which nearly any line may follow an empty one: all but the beginning of a sentence, five words without a figure or a sign between
NOT_PROSE = r"(?!\s{0,8}[A-Za-z']{1,20},?(?: [a-z']{1,20},?){4})"


def plural(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def median(values: Sequence[float]) -> float:
    """The middle value; of an even number the lower one. Raises IndexError for none."""
    return sorted(values)[(len(values) - 1) // 2]


def _member(facts: NodeFacts, names: Sequence[str]) -> Member | None:
    wanted = {key for name in names for key in _keys(name)}
    disk = _disk(facts, wanted)
    wanted |= {key for name in _names_of(disk) for key in _keys(name)} if disk else set()
    for pool in facts.pools_read if known(facts.pools_read) else ():
        for _, top in pool.tops_read if known(pool.tops_read) else ():
            for leaf in top.walk():
                if not leaf.children and wanted & _keys_of_leaf(leaf):
                    return Member(pool, leaf)
    return None


def _disk(facts: NodeFacts, wanted: set[str]) -> DiskFacts | None:
    disks = facts.disks if known(facts.disks) else ()
    return next((disk for disk in disks if wanted & {key for name in _names_of(disk) for key in _keys(name)}), None)


def _names_of(disk: DiskFacts) -> tuple[str, ...]:
    names = [value for value in (disk.wwid, disk.serial) if known(value)]
    return (*disk.names, *names, *(link for path in disk.paths for link in path.by_id))


def _keys_of_leaf(leaf: VdevFacts) -> set[str]:
    keys = {leaf.wwid} if known(leaf.wwid) and leaf.wwid else set()
    return _keys(leaf.name) | keys


def _keys(name: str) -> set[str]:
    """A name in every spelling by which another text may call the same disk."""
    base, _ = strip_partition(name)
    short = base.rsplit("/", 1)[-1]
    wwid = normalise(short)
    return {key for key in (short, wwid, serial_in(wwid or "")) if key}


def serial_in(wwid: str) -> str:
    """The serial number with which an identity by model and serial number ends; "" of any other."""
    return wwid.rpartition(":")[2] if scheme(wwid) in ("ata", "ser") else ""


@dataclass(frozen=True)
class ReadOutput:
    """One pasted output that was read: which reader, from which capture, and what it holds."""

    reader: Reader
    digest: str
    value: Any
    lines: Sequence[str] = field(default_factory=tuple)


def refused(reader: str, line: str = "") -> Unparsed:
    """Nothing of it is as this tool prints it."""
    return Unparsed(f"nothing here is as {reader} prints it", line)
