"""The enclosure as shapes with places: the template only writes them down. A shape, a mark or a word stands beside every colour."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.fleet.pages.chassis import Bay, Chassis, Light
from workflows.analysis.bay_layout import Block

WIDTH, HEIGHT, GAP = 44, 62, 4  # of one bay, in the drawing's own units
WIDE_COLUMNS = 16  # more than these are scrolled on a phone, so that a finger hits one bay
COLOURS = 8  # of pools; beyond them the letter alone distinguishes
ALWAYS_MARKED = ("bad", "watch", "moving", "unknown")  # whatever the colours show
TINTS = {"state": "by state", "pool": "by pool"}
UNTOLD = Light("unknown", "no source names this bay")


@dataclass(frozen=True)
class Cell:
    """One bay at its place. `tint` is the class of its colour, `mark` what says the same without it."""

    bay: Bay
    x: int
    y: int
    tint: str
    mark: str
    faded: bool = False

    @property
    def classes(self) -> str:
        faulted = " faulted" if self.bay.kind == "bad" else ""
        return f"sl-slot {self.tint} is-{self.bay.kind}{faulted}{' chosen' if self.bay.chosen else ''}{' faded' if self.faded else ''}"

    @property
    def transform(self) -> str:
        return f"translate({self.x} {self.y})"


@dataclass(frozen=True)
class Sheet:
    """One drawing: a drawer, or the whole face."""

    title: str
    width: int
    height: int
    cells: tuple[Cell, ...]
    wide: bool

    @property
    def label(self) -> str:
        return f"{self.title or 'all bays'}: {len(self.cells)} bays"


def draw(chassis: Chassis, tint: str = "state") -> tuple[Sheet, ...]:
    columns = max(block.columns for block in chassis.geometry.blocks)
    return tuple(_sheet(chassis, block, columns, tint) for block in chassis.geometry.blocks)


def _sheet(chassis: Chassis, block: Block, columns: int, tint: str) -> Sheet:
    width, height = columns * (WIDTH + GAP) + GAP, len(block.rows) * (HEIGHT + GAP) + GAP
    return Sheet(block.title, width, height, tuple(_cells(chassis, block, tint)), columns > WIDE_COLUMNS)


def _cells(chassis: Chassis, block: Block, tint: str) -> Iterator[Cell]:
    colours = {key.letter: key.number for key in chassis.pools}
    for y, row in enumerate(block.rows):
        for x, slot in enumerate(row):
            if slot is not None:
                at = GAP + x * (WIDTH + GAP), GAP + y * (HEIGHT + GAP)
                yield _cell(chassis, slot, at, tint, colours)


def _cell(chassis: Chassis, slot: int, at: tuple[int, int], tint: str, colours: dict[str, int]) -> Cell:
    bay = chassis.bays.get(slot)
    if bay is None:
        return Cell(Bay(slot, "unknown", "no source names this bay", UNTOLD, UNTOLD), *at, "state-unknown", "?")
    faded = chassis.chosen is not None and bool(chassis.chosen.slots) and not bay.chosen
    if tint == "pool" and bay.disk is not None:
        colour = f"pool-{colours[bay.letter] % COLOURS}" if bay.letter else "pool-none"
        return Cell(bay, *at, colour, bay.letter + (bay.mark if bay.kind in ALWAYS_MARKED else ""), faded=faded)
    return Cell(bay, *at, f"state-{bay.kind}", bay.mark, faded=faded)
