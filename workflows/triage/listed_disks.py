"""What `lsscsi` lists, made into what the kernel's list of block devices would say, so that it joins like an agent's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from agents.collectors.lsscsi import ScsiDevice
from agents.domain.wwid import normalise, strip_partition
from workflows.pasted.base import Sight


def completed(now: list[ScsiDevice], before: Iterable[ScsiDevice]) -> tuple[ScsiDevice, ...]:
    """Devices with the columns of another column set, if both list the same devices at the same addresses."""
    earlier = {(d.hctl, d.node): d for d in before}
    if earlier.keys() != {(d.hctl, d.node) for d in now}:
        return tuple(now)
    return tuple(_filled(d, earlier[d.hctl, d.node]) for d in now)


def _filled(now: ScsiDevice, before: ScsiDevice) -> ScsiDevice:
    empty = [f.name for f in fields(now) if getattr(now, f.name) in (None, "", ()) and getattr(before, f.name)]
    return replace(now, **{name: getattr(before, name) for name in empty})


def block(devices: Iterable[Any], labelled: Iterable[str]) -> tuple[str, Mapping[str, str]]:
    """What lsscsi told, in the grammar of the block source, so that it joins like an agent's. Its size is rounded and left out.

    A label that was asked for by a by-id link is put to the disk with that WWID; the second value says under which name.
    """
    disks = [d for d in devices if d.type == "disk" and (d.node or "").startswith("/dev/")]
    named = {d.node.removeprefix("/dev/"): d for d in disks}
    by_wwid = {_wwid(d): name for name, d in reversed(named.items()) if _wwid(d)}
    lines, renamed = [f"/sys/block:{' '.join(named)}"], {}
    for name, d in named.items():
        base = f"/sys/block/{name}"
        lines.append(f"{base}/device -> /sys/devices/{d.hctl}")
        words = (("wwid", _dotted(_wwid(d))), ("vendor", d.vendor), ("model", d.model), ("rev", d.rev))
        lines += [f"{base}/device/{field}:{value}" for field, value in words if value]
        if (d.transport or "").startswith("sas:0x"):
            lines.append(f"{base}/device/sas_address:{d.transport.removeprefix('sas:')}")
    for asked in labelled:
        base, number = strip_partition(asked)
        disk = base if base in named else by_wwid.get(normalise(base))
        if disk is None:
            continue
        partition = disk if number is None else f"{disk}{'p' if disk[-1].isdigit() else ''}{number}"
        if number is not None:
            lines.append(f"/sys/block/{disk}/{partition}/partition:{number}")
        if partition != asked:
            renamed[asked] = partition
    return "\n".join(lines) + "\n", renamed


def _wwid(device: ScsiDevice) -> str | None:
    """By whichever column set told it; -t tells the port's address, which is not the disk's name."""
    lu_name = f"0x{device.lu_name}" if device.lu_name and re.fullmatch("[0-9a-f]{16}|[0-9a-f]{32}", device.lu_name) else None
    return next((wwid for raw in (device.scsi_id, device.wwn, lu_name) if raw and (wwid := normalise(raw))), None)


def _dotted(wwid: str | None) -> str:
    """The kernel's own spelling of a WWID: "naa.5000…"."""
    return wwid.replace(":", ".", 1) if wwid and wwid.startswith(("naa:", "eui:")) else ""


def seen(listed: Iterable[Any], sights: Iterable[Sight]) -> tuple[ScsiDevice, ...]:
    """Disks that were named by other tools than lsscsi, one entry a kernel name: each text adds what the others do not say."""
    nodes = {device.node for device in listed if isinstance(device, ScsiDevice)}
    found: dict[str, dict[str, str | None]] = {}
    for sight in sights:
        if f"/dev/{sight.name}" not in nodes and re.fullmatch("[a-z0-9]+", sight.name):
            values = found.setdefault(sight.name, {})
            values.update(
                {name: value for name in ("wwid", "vendor", "model", "hctl") if (value := getattr(sight, name)) and not values.get(name)}
            )
    return tuple(_device(name, values) for name, values in found.items() if values.get("wwid"))  # a name alone says nothing of what it is


def _device(name: str, values: Mapping[str, str | None]) -> ScsiDevice:
    hctl, vendor, model = values.get("hctl") or "", values.get("vendor") or "", values.get("model") or ""
    return ScsiDevice(hctl, "disk", vendor, model, "", f"/dev/{name}", None, None, None, wwn=values.get("wwid"))
