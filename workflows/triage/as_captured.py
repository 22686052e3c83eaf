"""The readable outputs of one node as an agent would hand them over: what other texts tell of its disks stands for what it reads of the kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents.collectors.base import Capture
from workflows import pasted
from workflows.pasted import ReadOutput
from workflows.triage import listed_disks

OF_DISKS = frozenset(("zdb_label", "zdb_uberblocks", "smart", "sg_logs", "drive_modes"))


def captures(read: Mapping[str, Capture], listed: Sequence[Any], outputs: Sequence[ReadOutput]) -> dict[str, Capture]:
    """As an agent would hand them over: with what other texts tell of the disks in place of what it reads of the kernel."""
    found: dict[str, Capture] = dict(read)
    if "zpool_status" not in found and "zpool_status_guid" in found:  # then guids are the only names there are
        found["zpool_status"] = replace(found["zpool_status_guid"], source="zpool_status")
    devices = (*listed, *listed_disks.seen(listed, pasted.sights(outputs)))
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
