"""The picture in docs/architecture.md, made from the imports of the code: `python -m tests.architecture` writes it, a test says when it is old."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from tests.house import imported, modules

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- made by python -m tests.architecture -->\n", "<!-- end -->\n"
FLOORS = ("app", "workflows", "twin", "agents")  # from the top


def picture() -> str:
    """Mermaid: one box for each room (a package, or an app of Django), and an arrow from each room to the rooms of its own floor and to the floors it imports."""
    found = [module for module in modules(ROOT) if module.name.partition(".")[0] in FLOORS]
    names = frozenset(module.name for module in found)
    arrows: dict[tuple[str, str], int] = defaultdict(int)
    rooms: dict[str, set[str]] = defaultdict(set)
    for module in found:
        here = _room(module.name)
        rooms[here.partition(".")[0]].add(here)
        for other in imported(module, names):
            there = _room(other) if _floor(other) == _floor(here) else _floor(other)
            if there != here:
                arrows[here, there] += 1
    lines = ["```mermaid", "flowchart TD"]
    for floor in FLOORS:
        lines.append(f"  subgraph {floor}")
        lines += [f"    {_id(room)}[{room.partition('.')[2] or room}]" for room in sorted(rooms[floor])]
        lines.append("  end")
    floors = sorted({(_floor(here), there) for here, there in arrows if _floor(here) != there and there in FLOORS})
    lines += [f"  {here} ==> {there}" for here, there in floors if here != there]
    lines += [f"  {_id(here)} --> {_id(there)}" for here, there in sorted(arrows) if "." in here and "." in there]
    return "\n".join([*lines, "```", ""])


def _floor(name: str) -> str:
    return name.partition(".")[0]


def _room(name: str) -> str:
    """The package below the floor that a module stands in; a module beside those packages stands on the floor itself."""
    parts = name.split(".")
    return ".".join(parts[:2]) if len(parts) > 2 or ((ROOT / "/".join(parts)).is_dir() and len(parts) > 1) else parts[0]


def _id(room: str) -> str:
    return room.replace(".", "_") if "." in room else f"{room}_itself"


def page(text: str) -> str:
    """The page with the picture of now in the place of the one it has."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + picture() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
