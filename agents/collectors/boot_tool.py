"""Which EFI partitions proxmox-boot-tool keeps filled, by the UUID of their file system, and where each is now. Files and links only: nothing is mounted.

`proxmox-boot-tool status` would mount each of them. A node without that tool has no such list, and what boots it is not known from here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors._lines import torn_end
from agents.collectors._sysfs import attribute, entries, link
from agents.collectors.base import Capture, Unparsed
from agents.host.host import Host

NAME = "boot_tool"
EVERY_SECONDS = 120
UUIDS = "/etc/kernel/proxmox-boot-uuids"
BY_UUID = "/dev/disk/by-uuid"
EFI = "/sys/firmware/efi"
_UUID = re.compile(r"[0-9A-F]{4}-[0-9A-F]{4}")
_LINE = re.compile(rf"{UUIDS}:(?P<listed>.*)|{BY_UUID}/(?P<uuid>[^/ ]+) -> /dev/(?P<device>[a-z0-9-]+)|{EFI}:(?P<efi>.*)")


@dataclass(frozen=True)
class BootTool:
    """`listed`: UUIDs that are kept filled. `devices`: (UUID, kernel name) of the FAT file systems that are here. `efi`: the node was booted by UEFI."""

    listed: tuple[str, ...]
    devices: tuple[tuple[str, str], ...]
    efi: bool

    def device(self, uuid: str) -> str:
        return dict(self.devices).get(uuid, "")


def collect(host: Host) -> tuple[Capture, ...]:
    if not host.list(UUIDS):
        return (Capture(NAME, "", "nothing", "", f"{UUIDS} is not there"),)
    lines = attribute(host, UUIDS)
    if not lines:
        return (Capture(NAME, "", "failed", "", f"{UUIDS} cannot be read"),)
    lines += [line for path in host.list(f"{BY_UUID}/*") if _UUID.fullmatch(path.rsplit("/", 1)[1]) for line in link(host, path)]
    return (Capture(NAME, "", "data", "".join(f"{line}\n" for line in lines + entries(host, EFI))),)


def parse(text: str) -> BootTool | Unparsed:
    """The list and the links, or the first line that made no sense. Never raises."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    listed: list[str] = []
    devices: list[tuple[str, str]] = []
    efi = False
    for line in filter(None, text.split("\n")):
        found = _LINE.fullmatch(line)
        if found is None or (found["listed"] and _UUID.fullmatch(found["listed"]) is None):
            return Unparsed("a line of the boot tool's list cannot be read", line)
        if found["listed"]:
            listed.append(found["listed"])
        elif found["uuid"]:
            devices.append((found["uuid"], found["device"]))
        efi = efi or found["efi"] is not None
    return BootTool(tuple(listed), tuple(devices), efi)
