"""Deleting a disk's kernel device and finding it again by a rescan. The disk stays in its bay and spins on."""

from twin.build import sd_name
from twin.files import device_folder
from twin.model import Disk, Node

DELETE, SCAN = "delete", "scan"


def attribute_at(node: Node, real: str) -> str:
    """ "delete" or "scan", when `real` is such an attribute; "" for any other path."""
    folder, _, name = real.rpartition("/")
    if name == DELETE and _disk_at(node, folder) is not None:
        return DELETE
    return SCAN if name == SCAN and "/scsi_host/" in folder else ""


def write(node: Node, real: str) -> None:
    """Whatever is written deletes; only the three wildcards are ever written to `scan`."""
    folder, _, name = real.rpartition("/")
    if name == DELETE:
        _delete(node, folder)
    else:
        _scan(node, folder.rpartition("/host")[2])


def _disk_at(node: Node, folder: str) -> Disk | None:
    return next((d for d in node.disks if any(device_folder(node, p) == folder for p in d.paths)), None)


def _delete(node: Node, folder: str) -> None:
    """One path goes; the disk goes with its last one."""
    disk = _disk_at(node, folder)
    if disk is None:
        return
    here = [p for p in disk.paths if device_folder(node, p) == folder]
    if len(disk.paths) == len(here):
        node.disks.remove(disk)
        node.deleted.append(disk)
        return
    disk.paths = [p for p in disk.paths if p not in here]


def _scan(node: Node, host: str) -> None:
    """Disks behind this host come back, under the next free name."""
    for disk in [d for d in node.deleted if any(p.hctl.split(":")[0] == host for p in d.paths)]:
        taken = {p.name for d in node.disks for p in d.paths}
        free = (sd_name(i) for i in range(1000))
        for path in disk.paths:
            path.name = next(name for name in free if name not in taken)
        node.deleted.remove(disk)
        node.disks.append(disk)
