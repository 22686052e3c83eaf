"""The kinds of disk, each as what makes a scenario's node one of such disks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from twin import disk_kinds, disk_layouts
from twin.disk_kinds import turned, without_shelf
from twin.model import Node

Change = Callable[[Node], object]


@dataclass(frozen=True)
class Row:
    slug: str
    title: str
    changes: tuple[Change, ...] = ()

    def of(self, node: Node) -> Node:
        for change in self.changes:
            change(node)
        return node


def _all(change: disk_kinds.Change) -> Change:
    return lambda node: turned(node, change)


ROWS = {
    row.slug: row
    for row in (
        Row("sas", "SAS in a shelf, by WWN"),
        Row("sas-no-shelf", "SAS without an enclosure that gives bays", (without_shelf,)),
        Row("sata", "SATA with a WWN, on the mainboard", (_all(disk_kinds.sata), without_shelf)),
        Row("sata-no-wwn", "SATA without a WWN", (_all(disk_kinds.sata_without_wwn), without_shelf)),
        Row("nvme-eui", "NVMe with an EUI-64", (_all(disk_kinds.nvme),)),
        Row("nvme-nguid", "NVMe with an NGUID", (_all(disk_kinds.nvme_nguid),)),
        Row("nvme-serial", "NVMe by serial number alone", (_all(disk_kinds.nvme_by_serial),)),
        Row("multipath", "behind a multipath map", (_all(disk_kinds.multipath),)),
        Row("boot-member", "member on partition 3, beside what boots the system", (disk_layouts.beside_boot,)),
        Row("partuuid", "member on partition 2, known by-partuuid", (disk_layouts.by_partuuid,)),
        Row("by-vdev", "known by a name of vdev_id.conf", (disk_layouts.by_vdev,)),
        Row("luks", "member is an opened LUKS container", (disk_layouts.on_luks,)),
        Row("virtio", "virtio without a serial number", (_all(disk_kinds.virtio),)),
        Row("usb", "behind a USB bridge", (_all(disk_kinds.usb), without_shelf)),
        Row(
            "alike",
            "two disks of one model and serial number",
            (_all(disk_kinds.sata_without_wwn), without_shelf, disk_layouts.with_doubles),
        ),
    )
}
