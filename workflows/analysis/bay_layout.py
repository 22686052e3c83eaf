"""How the bays of an enclosure lie, by the model that its expander or its own inquiry names: where a slot number is to be looked for.

An invented place would lead a person to the wrong disk. So a drawing states its source: on a source that is named with the model,
or on nothing but what is usual (`sure` is False, and the page says so above the drawing). Bays of any other model are drawn as a plain grid,
in the order of their numbers.

Sources, both read in November 2026:

- H4102-J, H4060-J: the layouts of the shelves ES102 and ES60G2 in truenas/webui (view-enclosure/classes/hardware/es102.ts, es60g2.ts), which
  truenas/middleware finds by exactly these names (plugins/enclosure_/identification.py); that the rows of 14 are at the front is also what Western
  Digital says of the Ultrastar Data102 (front half 3 x 14 and 12, rear half 4 x 12).
- 5U84: that there are two drawers of 42 is in IBM's manual of the same chassis (Cloud Object Storage, "Components"); where a number lies in them,
  no source that we could read says. MD1220, MD1420 and DS424x: none at all.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

PLAIN_COLUMNS = 12
PLAIN_COLUMNS_FEW = 6  # for a dozen bays and fewer
GO_BY = "Go by the number at the bay, its light and the serial number."


@dataclass(frozen=True)
class Block:
    """One drawer or one face, as seen by a person in front of the chassis. Rows are listed from the top of the drawing down."""

    title: str  # "upper drawer"; "" for a chassis that is one block
    rows: tuple[tuple[int | None, ...], ...]  # slot numbers from left to right; None is a place without a bay

    @property
    def columns(self) -> int:
        return max(len(row) for row in self.rows)


@dataclass(frozen=True)
class Geometry:
    """`known`: the places are meant as those of the chassis. `sure`: a source says that they are."""

    known: bool
    words: str
    blocks: tuple[Block, ...]
    top_loaded: bool = False  # the disks are reached from above; then the last row of a block is the one at the front
    sure: bool = False


@dataclass(frozen=True)
class Model:
    """`name` is what the enclosure calls itself; `source` where its numbering was read, "" where it is only supposed."""

    name: re.Pattern[str]
    count: int
    words: str
    blocks: tuple[Block, ...]
    top_loaded: bool = False
    source: str = ""


def _lines(first: int, counts: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    """Lines of ascending numbers, one after the other."""
    found = []
    for count in counts:
        found.append(tuple(range(first, first + count)))
        first += count
    return tuple(found)


def _from_the_front(first: int, counts: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    """The lowest numbers at the front, which is the lower edge of a drawing from above."""
    return tuple(reversed(_lines(first, counts)))


def _around_the_middle(row: tuple[int, ...], width: int) -> tuple[int | None, ...]:
    """A shorter row of a chassis whose modules take the middle."""
    left = len(row) // 2
    return (*row[:left], *[None] * (width - len(row)), *row[left:])


SEAGATE_84 = (Block("upper drawer", _from_the_front(0, [14] * 3)), Block("lower drawer", _from_the_front(42, [14] * 3)))
WD_102 = (Block("", tuple(_around_the_middle(row, 14) for row in _from_the_front(0, (14, 14, 14, 12, 12, 12, 12, 12)))),)
WD_60 = (Block("", _from_the_front(0, [12] * 5)),)
DELL_24 = (Block("", _lines(0, [24])),)
NETAPP_24 = (Block("", _lines(0, [4] * 6)),)

TRUENAS = "truenas/webui"
MODELS: tuple[Model, ...] = (
    Model(
        re.compile(r"\b5U84\b", re.I),
        84,
        "84 bays in two drawers, 14 in a row, the lowest numbers at the front",
        SEAGATE_84,
        top_loaded=True,
    ),
    Model(
        re.compile(r"\bH4102-J\b", re.I),
        102,
        "102 bays reached from above, rows of 14 and of 12, the lowest numbers at the front",
        WD_102,
        top_loaded=True,
        source=TRUENAS,
    ),
    Model(
        re.compile(r"\bH4060-J\b", re.I),
        60,
        "60 bays reached from above, 12 in a row, the lowest numbers at the front",
        WD_60,
        top_loaded=True,
        source=TRUENAS,
    ),
    Model(re.compile(r"\bMD1[24]20\b", re.I), 24, "24 upright bays side by side, the lowest number on the left", DELL_24),
    Model(re.compile(r"\bDS424", re.I), 24, "six rows of four, from the upper left", NETAPP_24),
)


def geometry(model: str, slots: Iterable[int]) -> Geometry:
    """Where these slots lie. A model that we know with bays that it does not have is one we do not know."""
    numbers = sorted(set(slots))
    for one in MODELS:
        if one.name.search(model) and fits(numbers, one.count):
            sure = bool(one.source)
            return Geometry(True, _words(model, one.words, sure), _shifted(one.blocks, numbers, one.count), one.top_loaded, sure)
    return Geometry(False, _plain_words(model), (Block("", _plain(numbers)),))


def fits(numbers: list[int], count: int) -> bool:
    """Whether these are the numbers of such a chassis, counted from 0 or, where its firmware does so, from 1; some may be missing."""
    return bool(numbers) and numbers[0] >= 0 and numbers[-1] <= count and (numbers[-1] < count or numbers[0] > 0)


def _shifted(blocks: tuple[Block, ...], numbers: list[int], count: int) -> tuple[Block, ...]:
    """The same places, counted from 1 where this enclosure does."""
    by = 1 if numbers[-1] == count else 0
    return tuple(Block(b.title, tuple(tuple(None if n is None else n + by for n in row) for row in b.rows)) for b in blocks)


def _plain(numbers: list[int]) -> tuple[tuple[int, ...], ...]:
    columns = PLAIN_COLUMNS_FEW if len(numbers) <= PLAIN_COLUMNS else PLAIN_COLUMNS
    return tuple(tuple(numbers[i : i + columns]) for i in range(0, len(numbers), columns))


def _words(model: str, words: str, sure: bool) -> str:
    if sure:
        return f"{model}: {words}. {GO_BY}"
    return f"{model} is drawn as we suppose such a chassis to be: {words}. No source that we could read says so; the numbers may lie elsewhere. {GO_BY}"


def _plain_words(model: str) -> str:
    what = f"How the bays of a {model} lie" if model else "Which model this enclosure is, and so how its bays lie,"
    return f"{what} is not known. They are drawn in the order of their numbers, which is no picture of the chassis. {GO_BY}"
