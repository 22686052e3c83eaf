"""The readable outputs of one node as an agent would hand them over: what other texts tell of its disks stands for what it reads of the kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents.collectors.base import Capture
from agents.collectors.lsscsi import ScsiDevice
from workflows import pasted
from workflows.pasted import Said
from workflows.triage import listed_disks

OF_DISKS = frozenset(("zdb_label", "zdb_uberblocks", "smart", "sg_logs", "drive_modes"))


def captures(read: Mapping[str, Capture], listed: Sequence[Any], outputs: Sequence[Said]) -> dict[str, Capture]:
    """As an agent would hand them over: with what other texts tell of the disks in place of what it reads of the kernel."""
    found: dict[str, Capture] = dict(read)
    if "zpool_status" not in found and "zpool_status_guid" in found:  # then guids are the only names there are
        found["zpool_status"] = replace(found["zpool_status_guid"], source="zpool_status")
    devices = (*listed, *_seen(listed, outputs))
    if "block" not in found and devices:
        of_disks = [where for where in found if where.partition("/")[0] in OF_DISKS]
        text, renamed = listed_disks.block(devices, dict.fromkeys(where.partition("/")[2] for where in of_disks))
        found["block"] = Capture("block", "", "data", text)
        for where in of_disks:
            source, _, old = where.partition("/")
            if old in renamed:
                found[f"{source}/{renamed[old]}"] = replace(found.pop(where), key=renamed[old])
    links = pasted.links(outputs)
    if "disk_links" not in found and links:
        found["disk_links"] = Capture("disk_links", "", "data", "".join(f"{link} -> /dev/{name}\n" for link, name in links))
    return found


def _seen(devices: Sequence[Any], outputs: Sequence[Said]) -> tuple[ScsiDevice, ...]:
    """Disks that were named by other tools than lsscsi, one entry a kernel name: each text adds what the others do not say."""
    listed = {d.node for d in devices if isinstance(d, ScsiDevice)}
    found: dict[str, dict[str, str | None]] = {}
    for sight in pasted.sights(outputs):
        if f"/dev/{sight.name}" not in listed and re.fullmatch("[a-z0-9]+", sight.name):
            fields = found.setdefault(sight.name, {})
            fields.update(
                {name: value for name in ("wwid", "vendor", "model", "hctl") if (value := getattr(sight, name)) and not fields.get(name)}
            )
    return tuple(_device(name, fields) for name, fields in found.items() if fields.get("wwid"))  # a name alone says nothing of what it is


def _device(name: str, fields: Mapping[str, str | None]) -> ScsiDevice:
    hctl, vendor, model = fields.get("hctl") or "", fields.get("vendor") or "", fields.get("model") or ""
    return ScsiDevice(hctl, "disk", vendor, model, "", f"/dev/{name}", None, None, None, wwn=fields.get("wwid"))
