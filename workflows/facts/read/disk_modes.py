"""The two switches of a disk that decide about data: its write cache, and its background scan. And what the kernel and ZFS assume of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.collectors import drive_modes as drive_modes_source
from agents.collectors.block import BlockDisk
from agents.collectors.drive_modes import Mode
from workflows.facts.unknown import Known, Unknown, derived, known, need

if TYPE_CHECKING:
    from workflows.facts.read.sources import Sources


@dataclass(frozen=True)
class Switch:
    """One bit; `saved` is what it will be after a power cut, None when the disk saves none."""

    on: bool
    saved: bool | None

    @property
    def words(self) -> str:
        now = "on" if self.on else "off"
        if self.saved is None:
            return f"{now}, nothing saved"
        return now if self.saved == self.on else f"{now}, {'on' if self.saved else 'off'} after a power cut"


@dataclass(frozen=True)
class ModeFacts:
    write_cache: Known[Switch]
    background_scan: Known[Switch]
    kernel_believes: Known[str]  # "write back", "write through"

    @property
    def is_never_flushed(self) -> bool:
        """The disk caches writes and the kernel does not know: a power cut loses what was acknowledged."""
        return known(self.write_cache) and self.write_cache.on and known(self.kernel_believes) and self.kernel_believes == "write through"


@derived
def read_modes(sources: Sources, devices: list[BlockDisk]) -> Known[ModeFacts]:
    """By the first of its devices that has a value."""
    asked = [device for device in devices if sources.has(f"drive_modes/{device.name}")] or devices  # one path is enough
    readings = [sources.read(drive_modes_source, device.name) for device in asked]
    parsed = need(next((each for each in readings if known(each)), readings[0]))
    believed = parsed.cache_type or next((device.write_cache for device in devices if device.write_cache), None)
    return ModeFacts(
        _switch(parsed.wce, "write cache"),
        _switch(parsed.en_bms, "background scan"),
        believed or Unknown("The kernel does not report its assumption about the cache."),
    )


def _switch(mode: Mode | None, what: str) -> Known[Switch]:
    return Unknown(f"The disk has no switch for its {what}.") if mode is None else Switch(mode.current, mode.saved)
