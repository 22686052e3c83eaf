"""What the agent's collectors read on real nodes of the lab, step by step: one body for each source and key. `captures/README.md` says what was done.

body("2.1.11", "busy", "kstat_txgs", "ost_4")["text"]
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

RELEASES = ("2.1.11", "2.3.2")
CAPTURES = Path(__file__).parent / "captures"

Place = tuple[str, str]  # source, key


@cache
def _steps(release: str) -> dict[str, dict[Place, dict[str, Any]]]:
    found: dict[str, dict[Place, dict[str, Any]]] = {}
    with tarfile.open(CAPTURES / f"lab-{release}.tar.xz") as pack:
        for member in pack.getmembers():
            step, _, name = member.name.rpartition("/")
            member_file = pack.extractfile(member)
            if member_file is not None:
                source, _, key = name[: -len(".json")].partition("--")
                found.setdefault(step, {})[source, key] = json.load(member_file)
    return found


def node(release: str, step: str) -> dict[Place, dict[str, Any]]:
    """Every body of one step."""
    return _steps(release)[step]


def body(release: str, step: str, source: str, key: str = "") -> dict[str, Any]:
    return node(release, step)[source, key]


def everything() -> Iterator[tuple[Place, dict[str, Any]]]:
    """The bodies of all steps of all nodes that have data."""
    for release in RELEASES:
        for bodies in _steps(release).values():
            yield from ((place, one) for place, one in bodies.items() if one["outcome"] == "data")
