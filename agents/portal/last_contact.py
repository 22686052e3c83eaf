"""How the last talk with the portal went, in a small file for `status`. It is no record: it is written over, and never synced."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass

FILE = "pulse.json"


@dataclass(frozen=True)
class Pulse:
    """Unix times in seconds; 0 when it never happened. `trouble` is why the portal did not take the last report."""

    taken_at: float = 0.0  # the portal took a report
    tried_at: float = 0.0
    trouble: str = ""
    kept: int = 0  # reports that wait on disk
    failing: tuple[str, ...] = ()  # sources that gave nothing when they were asked last


def write(folder: str, pulse: Pulse) -> None:
    path = os.path.join(folder, FILE)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(asdict(pulse), file)
    os.replace(f"{path}.new", path)


def read(folder: str) -> Pulse | None:
    """None when no agent has reported from here yet, or the file is not one of ours."""
    try:
        with open(os.path.join(folder, FILE), encoding="utf-8") as file:
            document = json.load(file)
        return Pulse(
            float(document["taken_at"]),
            float(document["tried_at"]),
            str(document["trouble"]),
            int(document["kept"]),
            tuple(document["failing"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
