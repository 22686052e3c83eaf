"""Why writers had to wait, counted over all pools since the module was loaded. What matters is how fast a counter grows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors._lines import whole_lines
from agents.collectors._sysfs import attribute
from agents.collectors.base import Capture, Unparsed
from agents.collectors.kstat_pools import ROOT
from agents.host.host import Host

NAME = "kstat_dmu_tx"
EVERY_SECONDS = 60
VOLATILE = True  # counters and rows of every transaction group
PATH = f"{ROOT}/dmu_tx"


@dataclass(frozen=True)
class DmuTx:
    """Counters by their kernel names without `dmu_tx_`: "assigned", "delay", "dirty_delay", "dirty_over_max", "suspended" ..."""

    counters: tuple[tuple[str, int], ...]

    def count(self, name: str) -> int | None:
        return dict(self.counters).get(name)


def collect(host: Host) -> tuple[Capture, ...]:
    lines = attribute(host, PATH)
    if not lines:
        return (Capture(NAME, "", "nothing", "", f"{PATH} is not there"),)
    return (Capture(NAME, "", "data", "".join(f"{line}\n" for line in lines)),)


def parse(text: str) -> DmuTx | Unparsed:
    """Every counter, or the first line that made no sense. Never raises."""
    lines = whole_lines(text)
    if isinstance(lines, Unparsed):
        return lines
    stray = [line for line in lines if not line.startswith(f"{PATH}:")]
    rows = [line[len(PATH) + 1 :] for line in lines]
    if stray or len(rows) < 2 or rows[1].split() != ["name", "type", "data"]:
        return Unparsed("this is not the kernel statistic dmu_tx", (stray or [text[:80]])[0])
    counters: dict[str, int] = {}
    for row in rows[2:]:
        found = re.fullmatch(r"dmu_tx_([a-z_]+) +4 +([0-9]{1,20}) *", row)
        if found is None or found.group(1) in counters:
            return Unparsed("a counter of dmu_tx cannot be read", row)
        counters[found.group(1)] = int(found.group(2))
    return DmuTx(tuple(counters.items()))
