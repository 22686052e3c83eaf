"""The disks: each has a WWN, a serial number and a sparse image, and keeps them wherever it is put."""

import subprocess
from pathlib import Path
from typing import Any, NamedTuple

BAYS = 8  # of a shelf: as many as the emulated LSI 1068 has phys
FIRST_WWN = 0x5000C50000000003  # the vendor's part, and the last digit that its disks have


class Disk(NamedTuple):
    """`lot` tells the disks of one rack from those of another: no two disks of a fleet have a WWN or a serial number in common."""

    number: int
    folder: Path
    lot: int = 0

    @property
    def wwn(self) -> int:
        return FIRST_WWN + (self.lot << 16) + (self.number << 4)

    @property
    def wwid(self) -> str:
        """As the product writes it."""
        return f"naa:{self.wwn:016x}"

    @property
    def by_id(self) -> str:
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

    def device(self, bay: int, block: int = 512) -> dict[str, Any]:
        return {
            "driver": "scsi-hd",
            "id": self.id,
            "bus": f"sas{bay // BAYS}.0",
            "scsi-id": bay % BAYS,
            "drive": self.node,
            "wwn": self.wwn,
            "port_wwn": self.wwn + 2,
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
