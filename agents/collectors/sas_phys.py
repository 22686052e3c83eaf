"""Every SAS phy of the HBAs and expanders: error counters since its last reset, and the rate its link came up with.

The kernel asks expanders for the counters, one SMP request each, so a shelf is asked at a slow pace and within a budget.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from agents.collectors._lines import torn_end
from agents.collectors._sysfs import attribute
from agents.collectors.base import Capture, Unparsed
from agents.host.host import Host

NAME = "sas_phys"
EVERY_SECONDS = 300
BUDGET_SECONDS = 60
HISTORY_SECONDS = 3600  # growth is given over about an hour
ROOT = "/sys/class/sas_phy"

COUNTERS = ("invalid_dword_count", "running_disparity_error_count", "loss_of_dword_sync_count", "phy_reset_problem_count")
_OTHERS = ("negotiated_linkrate", "maximum_linkrate", "sas_address", "device_type")


@dataclass(frozen=True)
class SasPhy:
    """One end of a lane. A counter is None where the phy did not say; `rate` is as printed: "12.0 Gbit", "Unknown"."""

    name: str  # "phy-2:0" of an HBA, "phy-6:0:12" of an expander
    invalid_dword: int | None
    disparity: int | None
    sync_loss: int | None
    reset_problem: int | None
    rate: str | None
    rate_max: str | None
    address: str | None  # its own or its partner's: drivers differ, so it is not used as an identity
    device_type: str | None

    @property
    def counters(self) -> tuple[int | None, int | None, int | None, int | None]:
        return (self.invalid_dword, self.disparity, self.sync_loss, self.reset_problem)

    @property
    def gbit(self) -> float | None:
        return gigabits(self.rate)


@lru_cache(maxsize=64)  # a hundred phys run at two or three rates
def gigabits(rate: str | None) -> float | None:
    """ "12.0 Gbit" -> 12.0; None for a link that is down or says nothing."""
    found = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,2})?) Gbit", rate or "")
    return float(found.group(1)) if found else None


def collect(host: Host) -> tuple[Capture, ...]:
    phys = host.list(f"{ROOT}/phy-*")
    if not phys:
        return (Capture(NAME, "", "nothing", "", f"{ROOT} has no phys; the kernel sees no SAS HBA"),)
    begun = host.now()
    lines: list[str] = []
    for path in sorted(phys, key=_order):
        if host.now() - begun > BUDGET_SECONDS:
            reason = f"an expander answers too slowly: stopped before {path.rsplit('/', 1)[1]} after {BUDGET_SECONDS} s"
            return (Capture(NAME, "", "failed", "\n".join(lines) + "\n", reason, seconds=host.now() - begun),)
        for name in (*COUNTERS, *_OTHERS):
            lines += [line[len(ROOT) + 1 :] for line in attribute(host, f"{path}/{name}")]
    return (Capture(NAME, "", "data", "\n".join(lines) + "\n", seconds=host.now() - begun),)


def _order(path: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]+", path)]


_LINE = re.compile(rf"(?:{ROOT}/)?(phy-[0-9]{{1,6}}(?::[0-9]{{1,6}}){{1,2}})/([a-z_]+):(.*)")
_COUNT = re.compile(r"[0-9]{1,10}")


def parse(text: str) -> tuple[SasPhy, ...] | Unparsed:
    """Every phy in `text` (lines `phy-2:0/invalid_dword_count:0`, as `grep -H .` prints them), or the first line that made no sense."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    attributes: dict[str, dict[str, str]] = {}
    for line in filter(None, text.split("\n")):
        found = _LINE.fullmatch(line)
        if found is None:
            return Unparsed("a line of the SAS phys cannot be read", line)
        name, attribute_name, value = found.group(1), found.group(2), found.group(3).strip()
        known = attributes.setdefault(name, {})
        if attribute_name in known or (attribute_name in COUNTERS and not _COUNT.fullmatch(value)):
            return Unparsed("a counter of a SAS phy is no whole number, or stands there twice", line)
        known[attribute_name] = value
    if not attributes:
        return Unparsed("there is no SAS phy in it")
    return tuple(_phy(name, values) for name, values in attributes.items())


def _phy(name: str, values: dict[str, str]) -> SasPhy:
    invalid_dword, disparity, sync_loss, reset_problem = (int(values[counter]) if counter in values else None for counter in COUNTERS)
    rate, rate_max, address, device_type = (values.get(other) or None for other in _OTHERS)
    return SasPhy(name, invalid_dword, disparity, sync_loss, reset_problem, rate, rate_max, address, device_type)
