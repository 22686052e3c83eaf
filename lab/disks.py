"""The disks: each has its own identity and a sparse image, and keeps them wherever it is put.

A SAS disk has a WWN and sits in a bay of a shelf; two adapters may lead to it. NVMe and SATA disks sit in the machine itself, where no enclosure tells a
bay, and are known by model and serial number: Linux ignores the identifiers of QEMU's namespaces ("Ignoring bogus Namespace Identifiers"), and the SATA
disks have no WWN.
"""

import subprocess
from pathlib import Path
from typing import Any, NamedTuple

BAYS = 8  # of a shelf: as many as the emulated LSI 1068 has phys
FIRST_WWN = 0x5000C50000000003  # the vendor's part, and the last digit that its disks have
SAS, NVME, SATA = "sas", "nvme", "sata"
SATA_MODEL = "SLOTLAB SSD 512"
NVME_VENDOR, NVME_MODEL = "1b36", "QEMU NVMe Ctrl"  # as the controller reports them


class Disk(NamedTuple):
    """`lot` tells the disks of one rack from those of another: no two disks of a fleet have a name or a serial number in common."""

    number: int
    folder: Path
    lot: int = 0
    kind: str = SAS

    @property
    def wwn(self) -> int:
        return FIRST_WWN + (self.lot << 16) + (self.number << 4)

    @property
    def _nvme(self) -> str:
        """The kernel's name of a namespace without identifiers of its own."""
        return f"{NVME_VENDOR}-{self.serial.encode().hex()}-{NVME_MODEL.encode().hex()}-00000001"

    @property
    def wwid(self) -> str:
        """As the product writes it."""
        if self.kind == NVME:
            return f"nvme:{self._nvme}"
        if self.kind == SATA:
            return f"ata:{SATA_MODEL.replace(' ', '_')}:{self.serial}"
        return f"naa:{self.wwn:016x}"

    @property
    def by_id(self) -> str:
        """The link that udev makes of its name."""
        if self.kind == NVME:
            return f"/dev/disk/by-id/nvme-nvme.{self._nvme}"
        if self.kind == SATA:
            return f"/dev/disk/by-id/ata-{SATA_MODEL.replace(' ', '_')}_{self.serial}"
        return f"/dev/disk/by-id/wwn-0x{self.wwn:016x}"

    @property
    def serial(self) -> str:
        return f"Z{self.lot:04X}{self.number:02d}X"

    @property
    def image(self) -> Path:
        return self.folder / f"disk{self.number}.img"

    @property
    def id(self) -> str:
        return f"disk{self.number}"

    @property
    def node(self) -> str:
        """QEMU's name of its content; the disk device sits on top."""
        return f"content{self.number}"

    def make(self, size: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self.image.exists():
            subprocess.run(["truncate", "-s", size, str(self.image)], check=True)

    def lose(self, offset: int, length: int) -> None:
        """What was written there never reached the medium, though the disk said so: only a checksum finds it."""
        with self.image.open("r+b") as image:
            image.seek(offset)
            image.write(bytes(length))

    def blockdev(self) -> dict[str, Any]:
        """Without flushes, because nobody cuts this machine's power; without locks, because two nodes may share a shelf."""
        file = {"driver": "file", "filename": str(self.image), "locking": "off"}
        return {"driver": "raw", "node-name": self.node, "cache": {"no-flush": True}, "file": file, "discard": "unmap"}

    def built_in(self) -> list[dict[str, Any]]:
        """The devices of a disk that sits in the machine itself."""
        if self.kind == NVME:
            return [{"driver": "nvme", "id": self.id, "serial": self.serial, "drive": self.node}]
        words = {"serial": self.serial, "model": SATA_MODEL, "drive": self.node, "rotation_rate": 1}
        return [{"driver": "ahci", "id": f"ahci{self.number}"}, {"driver": "ide-hd", "id": self.id, "bus": f"ahci{self.number}.0", **words}]

    def device(self, bay: int, block: int = 512, second: bool = False) -> dict[str, Any]:
        """In a bay, behind the shelf's adapter; with `second` behind the other adapter that leads to the shelf, by the disk's other port."""
        return {
            "driver": "scsi-hd",
            "id": f"{self.id}b" if second else self.id,
            "bus": f"sas{bay // BAYS}{'b' if second else ''}.0",
            "scsi-id": bay % BAYS,
            "drive": self.node,
            "wwn": self.wwn,
            "port_wwn": self.wwn + (1 if second else 2),
            "serial": self.serial,
            "vendor": "SEAGATE",
            "product": "ST10000NM0256",
            "ver": "TT54",
            "logical_block_size": block,
            "physical_block_size": block,
            "rotation_rate": 7200,
            "rerror": "report",
            "werror": "report",
            "share-rw": True,
        }
