"""A FreeBSD node in a folder, for snippets: `geom`, `sysctl` and the others are small scripts that answer from files."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from workflows.by_hand.snippet import Paths
from workflows.by_hand.tests.node import BOOT_ID, HOSTID, NO_LABEL, OTHER_GUID, POOL_GUID, STATUS, VDEV_GUID, ZPOOL
from workflows.by_hand.tests.node import plan as linux_plan

UNIT, IDENT = "5000c500a65b207b", "0012345678"  # a serial number that a tool could take for the number 12345678
WWID, LINK = f"geom:{UNIT}:{IDENT}", f"/dev/diskid/DISK-{IDENT}"
MEMBER_UNIT, MEMBER_IDENT = "5000c500a65b208b", "ZA20008X"
MEMBER = f"geom:{MEMBER_UNIT}:{MEMBER_IDENT}"
CONFTXT = f"""\
0 DISK da3 536870912 512 hd 255 sc 63
1 LABEL diskid/DISK-{IDENT} 536870912 512 i 0 o 0
0 DISK da4 536870912 512 hd 255 sc 63
1 PART da4p2 536854528 512 i 2 o 20480 ty freebsd-zfs xs GPT xt 516e7cba-6ecf-11d6-8ff8-00022d09712b
2 LABEL gpt/tank4 536854528 512 i 0 o 0
"""
SYSCTL = """\
#!/bin/sh
case "$*" in
  "-n kern.hostid") cat "$NODE/hostid" ;;
  "-nx kern.boot_id") cat "$NODE/boot_id" ;;
  "-n kern.geom.conftxt") cat "$NODE/conftxt" ;;
  *) exit 1 ;;
esac
"""
ZDB = """\
#!/bin/sh
printf '%s\\n' "$*" >>"$NODE/zdb-asked"
case "$2" in /dev/da4p2) cat "$NODE/member-label" ;; *) cat "$NODE/label" ;; esac
"""


def disk(name: str, unit: str, ident: str, mode: str = "r0w0e0") -> str:
    return (
        f"Geom name: {name}\nProviders:\n1. Name: {name}\n   Mediasize: 536870912 (512M)\n   Sectorsize: 512\n   Mode: {mode}\n"
        f"   descr: SEAGATE ST10000NM0256\n   lunid: {unit}\n   ident: {ident}\n   rotationrate: 7200\n   fwsectors: 63\n   fwheads: 255\n\n"
    )


def plan(**changes):
    there = linux_plan()["by_hand"] | {"system": "FreeBSD", "disks": [[LINK, WWID, "none"]]}
    return linux_plan() | {
        "params": linux_plan()["params"] | {"wwid": WWID},
        "argv": ["zpool", "replace", "tank", VDEV_GUID, LINK],
        "by_hand": there | changes.pop("by_hand", {}),
        **changes,
    }


@dataclass(frozen=True)
class FreeBSDNode:
    folder: Path

    @classmethod
    def build(cls, folder: Path) -> FreeBSDNode:
        node = cls(folder)
        (folder / "bin").mkdir()
        member = f"    guid: {OTHER_GUID}\n    pool_guid: {POOL_GUID}\n        guid: 77\n"
        for name, text in {
            "guid": f"{POOL_GUID}\n", "status": STATUS, "imported": "17\n", "answer": "all is well\n", "code": "0", "label": NO_LABEL, "uid": "0",
            "member-label": member, "hostid": f"{int(HOSTID, 16)}\n", "boot_id": f"Format: Length:16 Dump:0x{BOOT_ID.replace('-', '')}\n",
            "conftxt": CONFTXT, "geom": disk("da3", UNIT, IDENT) + disk("da4", MEMBER_UNIT, MEMBER_IDENT, "r1w1e2"),
        }.items():  # fmt: skip
            (folder / name).write_text(text)
        (folder / "device").touch()
        for name, text in {
            "zpool": ZPOOL, "sysctl": SYSCTL, "zdb": ZDB, "geom": '#!/bin/sh\ncat "$NODE/geom"\n', "id": '#!/bin/sh\ncat "$NODE/uid"\n',
            "sha256": "#!/bin/sh\nsha256sum | cut -d' ' -f1\n",
        }.items():  # fmt: skip
            (folder / "bin" / name).write_text(text.replace("$NODE", str(folder)))
            (folder / "bin" / name).chmod(0o755)
        for name in ("hostid", "lsblk", "readlink", "sha256sum-of-linux"):  # of Linux alone: none of them may be asked
            (folder / "bin" / name).write_text(f'#!/bin/sh\necho {name} >>"{folder}/of-linux"\nexit 1\n')
            (folder / "bin" / name).chmod(0o755)
        return node

    def paths(self, shell: str = "sh") -> Paths:
        return Paths(f"{self.folder}/bin:{os.defpath}:/usr/bin:/bin", shell, marks_without_run=str(self.folder / "run"))

    def run(self, snippet: str, pasted_into: tuple[str, ...] = ("sh",)) -> subprocess.CompletedProcess[str]:
        """As somebody pastes it. Whether /dev/diskid has the name is asked of a file that stands for it."""
        text = snippet.replace('[ -e "$1" ]', f'[ -e "{self.folder}/device" ]')
        return subprocess.run(pasted_into, input=text, capture_output=True, text=True, timeout=60, check=False)

    def lines(self, name: str) -> str:
        path = self.folder / name
        return path.read_text() if path.exists() else ""
