"""A generated fleet, for measuring: twins asked by the real collectors, their reports taken in as every agent's are.

Nothing is written past the intake, so a generated fleet is what the same nodes would have left behind.
"""

import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agents.collectors import COLLECTORS
from agents.collectors.base import Capture
from agents.domain.times import iso
from agents.orders.receipts import listed
from agents.reporting.capture_set import place, set_digest, spoken
from app.fleet.ingest import intake
from app.fleet.models import Node
from twin.many import PREFIX, kind_of, name_of, pattern, renamed
from twin.scenarios import Clock, host

OUTAGE_SECONDS = 60  # ago, the node was whole
VERSION = "generated"  # what such a node says its agent is; by this a generated fleet is distinguished from a real one


class RealFleet(Exception):
    """The database holds nodes that are not generated. The message names one."""


def refuse_on_a_real_fleet() -> None:
    real = Node.objects.exclude(version=VERSION, name__startswith=PREFIX).order_by("name").first()
    if real is not None:
        raise RealFleet(
            f"This database holds the node {real.name}, which is not generated. A generated fleet would stand among real disks. "
            "Take another data folder: ./run manage load_fleet --data DIR, or SLOTLIGHT_DATA=DIR."
        )


def load(numbers: Iterable[int], disks: int) -> int:
    """Take in a first report of each of these nodes; returns how many. One that is there already is left as it is."""
    there = set(Node.objects.filter(version=VERSION).values_list("name", flat=True))
    found = [number for number in numbers if name_of(number) not in there]
    for number in found:
        load_one(number, disks)
    return len(found)


def load_one(number: int, disks: int) -> None:
    now = time.time()
    Node.objects.create(name=name_of(number), state=Node.State.ENROLLED, version=VERSION)
    if kind_of(number) == "outage":  # only a node that was seen whole can lose a dozen disks at once
        _take_in(number, captures_of(number, disks, now, kind=""), now - OUTAGE_SECONDS)
    _take_in(number, captures_of(number, disks, now), now)


def _take_in(number: int, captures: list[Capture], at: float) -> None:
    intake.receive(name_of(number), report(name_of(number), captures, at), datetime.fromtimestamp(at, UTC))


def captures_of(number: int, disks: int, now: float, kind: str | None = None) -> list[Capture]:
    """What every collector says of the node."""
    lines = _pattern(kind_of(number) if kind is None else kind, disks, int(now // 3600))
    return [replace(capture, text=renamed(capture.text, number)) for capture in lines]


@lru_cache(maxsize=16)
def _pattern(kind: str, disks: int, hour: int) -> tuple[Capture, ...]:
    """What the real collectors say of the one node of this kind."""
    clock = Clock()
    clock.at = float(hour * 3600)
    with TemporaryDirectory(prefix="slotlight-load-") as folder:
        asked = host(Path(folder), pattern(kind, disks, clock.at), clock)
        return tuple(capture for module in COLLECTORS.values() for capture in module.collect(asked))


def report(name: str, captures: list[Capture], now: float) -> dict[str, Any]:
    """A first report, as an agent words it."""
    about = {"boot_id": f"generated-{name}", "version": VERSION, "mode": "observe"}
    places = {place(c.source, c.key): c.digest for c in captures}
    ages = spoken(dict.fromkeys(sorted({c.source for c in captures}), 0.0))
    fields = {"v": "2", "node": name, "taken_at": iso(now), "set": set_digest(captures=places, **about), "ages": ages}
    return fields | about | {"captures": listed(captures), "bodies": {c.digest: c.body() for c in captures}}
