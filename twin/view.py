"""One state of the node with the indexes every answer needs, built once per state."""

from dataclasses import dataclass
from functools import cached_property

from twin.disk_names import part_name
from twin.files import build, dev_links
from twin.model import Disk, Node, Partition, Path
from twin.tree import Tree


@dataclass(frozen=True)
class Device:
    """What a path under /dev leads to: a disk, one partition of it, the LUKS container on it, or its multipath map with the path that the map takes."""

    name: str  # "sda1"
    disk: Disk
    path: Path
    partition: Partition | None  # number 0 where the disk is in use without a partition table

    @property
    def is_whole(self) -> bool:
        return self.partition is None or self.partition.number == 0


class View:
    def __init__(self, node: Node) -> None:
        self.node = node

    @cached_property
    def tree(self) -> Tree:
        return build(self.node)

    @cached_property
    def devices(self) -> dict[str, Device]:
        found = {}
        for disk in self.node.disks:
            for path in disk.paths:
                found[path.name] = Device(path.name, disk, path, disk.partition(0))
                for partition in disk.table:
                    name = part_name(path.name, partition.number)
                    found[name] = Device(name, disk, path, partition)
            if disk.inside is not None and disk.holders and disk.paths:
                found[disk.holders[0]] = Device(disk.holders[0], disk, disk.paths[0], disk.inside)
            if disk.map is not None and disk.paths:
                taken = next((path for path in disk.paths if path.runs), disk.paths[0])
                found[disk.map.dm] = Device(disk.map.dm, disk, taken, disk.partition(0))
        return found

    @cached_property
    def links(self) -> dict[str, str]:
        return dev_links(self.node)

    def device(self, path: str) -> Device | None:
        """The device that an absolute path leads to now; None when nothing is there."""
        name = self.links.get(path) or (path[len("/dev/") :] if path.startswith("/dev/") else "")
        return self.devices.get(name)
