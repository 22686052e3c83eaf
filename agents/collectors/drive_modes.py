"""Two switches of a disk that decide about data and speed: WCE (volatile write cache) and EN_BMS (background medium scan).

`sdparm` gives the current and the saved value; the kernel's own belief (`cache_type`) stands beside it. A write cache that the
kernel does not know of is never flushed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors import _disks, _power, sg_logs
from agents.collectors._lines import torn_end
from agents.collectors._sysfs import attribute
from agents.collectors.base import Capture, Unparsed, ask
from agents.host.host import Host

NAME = "drive_modes"
EVERY_SECONDS = 3600
TIMEOUT_SECONDS = 15
WAKES = sg_logs.WAKES
FIELDS = ("WCE", "EN_BMS")
NOT_SUPPORTED = (5, 9, 97, 99)  # the disk knows no such page, or sdparm found no such field in it


@dataclass(frozen=True)
class Mode:
    """One bit. `saved` is None when the disk keeps no saved value."""

    current: bool
    changeable: bool | None
    default: bool | None
    saved: bool | None


@dataclass(frozen=True)
class DriveModes:
    """None where the disk has no such field."""

    wce: Mode | None
    en_bms: Mode | None
    cache_type: str | None  # "write back", "write through": what the kernel assumes


keys = sg_logs.keys


def collect_one(host: Host, key: str) -> Capture:
    asleep = _power.not_awake(host, NAME, key)
    if asleep:
        return asleep
    texts, seconds = [], 0.0
    for field in FIELDS:
        asked = ask(host, NAME, ("sdparm", f"--get={field}", f"/dev/{key}"), TIMEOUT_SECONDS, key=key, data_exits=(0, *NOT_SUPPORTED))
        seconds += asked.seconds
        if asked.outcome != "data":
            return asked
        texts.append(f"# sdparm --get={field}: exit {asked.exit_code}\n{asked.text.rstrip(chr(10))}\n")
    kernel = [line for path in host.list(f"/sys/block/{key}/device/scsi_disk/*") for line in attribute(host, f"{path}/cache_type")]
    return Capture(NAME, key, "data", "".join(texts) + "".join(f"{line}\n" for line in kernel), seconds=seconds)


collect = _disks.every(collect_one, keys)


_FIELD = re.compile(rf"({'|'.join(FIELDS)}) +([01])(?:  \[(.*)\])?(?:  .*)?")
_PARTS = re.compile(r"(?:cha: ([yn]))?(?:,? ?def: +([01]|-1))?(?:, sav: +([01]|-1))?")
_CACHE = re.compile(r"/sys/block/\w+/device/scsi_disk/[0-9:]+/cache_type:(.*)")
_BITS = {"0": False, "1": True, "y": True, "n": False}


def parse(text: str) -> DriveModes | Unparsed:
    """Both switches and the kernel's belief, or the first line that made no sense. Never raises."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    modes: dict[str, Mode] = {}
    cache = None
    if not any(line.startswith("# sdparm --get=") or _FIELD.fullmatch(line) for line in text.split("\n")):
        return Unparsed("sdparm did not print this", text[:80])
    for line in text.split("\n"):
        found, kernel = _FIELD.fullmatch(line), _CACHE.fullmatch(line)
        if found and found.group(1) not in modes:
            parts = _PARTS.fullmatch(found.group(3) or "")
            if parts is None:
                return Unparsed("a mode field cannot be read", line)
            modes[found.group(1)] = Mode(found.group(2) == "1", *(_BITS.get(part or "") for part in parts.groups()))
        elif kernel:
            cache = kernel.group(1).strip()
        elif line.startswith(FIELDS):
            return Unparsed("a mode field cannot be read, or stands there twice", line)
    return DriveModes(modes.get("WCE"), modes.get("EN_BMS"), cache or None)
