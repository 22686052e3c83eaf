"""Reports on the health of disks that the list of block devices does not have: of a paste without such a list, or of a name that moved.

A report names its disk itself; the kernel name it was asked by is only where it was read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.collectors import block as block_source
from agents.collectors import sg_logs as sg_logs_source
from agents.collectors import smart as smart_source
from agents.collectors.block import BlockDisk
from agents.collectors.smart import Smart
from workflows.facts.read.disk_condition import ConditionFacts, condition_of, is_about
from workflows.facts.unknown import known

if TYPE_CHECKING:
    from workflows.facts.read.sources import Sources


@dataclass(frozen=True)
class ReportFacts:
    """One report. Everything that names the disk may be missing."""

    source: str  # "smart/sda"
    asked: str  # the kernel name, or whatever the report was filed under: "sda"
    names: tuple[str, ...]
    wwid: str | None
    serial: str | None
    model: str | None
    condition: ConditionFacts


def read_reports(sources: Sources) -> tuple[ReportFacts, ...]:
    """Every report that is on none of the block devices."""
    return sources.once("loose reports", lambda: tuple(_read(sources)))


def _read(sources: Sources) -> list[ReportFacts]:
    devices = sources.read(block_source)
    listed = {device.name: device for device in devices} if known(devices) else {}
    found: list[ReportFacts] = []
    for key in sources.keys("smart"):
        smart = sources.read(smart_source, key)
        if known(smart) and not _is_listed(smart, key, listed):
            logs = sources.read(sg_logs_source, key)
            found.append(ReportFacts(f"smart/{key}", key, smart.names, smart.wwid, smart.serial, smart.model, condition_of(smart, logs)))
    return found


def _is_listed(smart: Smart, key: str, listed: dict[str, BlockDisk]) -> bool:
    """Whether a disk of the list has it, or will be asked again under its new name."""
    if key in listed and is_about(smart, listed[key]):
        return True
    return any(is_about(smart, device) for device in listed.values())
