"""A FreeBSD node in a folder, for snippets: `geom`, `sysctl` and the others are small scripts that answer from files."""

from __future__ import annotations

import subprocess
from pathlib import Path

from workflows.by_hand.tests.node import BOOT_ID, HOSTID, NO_LABEL, ZPOOL
from workflows.by_hand.tests.other_system import OtherSystemNode, plan_on

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
    return plan_on(LINK, WWID, {"system": "FreeBSD"}, changes)


class FreeBSDNode(OtherSystemNode):
    @classmethod
    def build(cls, folder: Path) -> FreeBSDNode:
        node = cls(folder)
        node.answers({
            "label": NO_LABEL, "hostid": f"{int(HOSTID, 16)}\n", "boot_id": f"Format: Length:16 Dump:0x{BOOT_ID.replace('-', '')}\n",
            "conftxt": CONFTXT, "geom": disk("da3", UNIT, IDENT) + disk("da4", MEMBER_UNIT, MEMBER_IDENT, "r1w1e2"),
        })  # fmt: skip
        (folder / "device").touch()
        node.tools({
            "zpool": ZPOOL, "sysctl": SYSCTL, "zdb": ZDB, "geom": '#!/bin/sh\ncat "$NODE/geom"\n', "id": '#!/bin/sh\ncat "$NODE/uid"\n',
            "sha256": "#!/bin/sh\nsha256sum | cut -d' ' -f1\n",
        })  # fmt: skip
        node.never(("hostid", "lsblk", "readlink", "sha256sum-of-linux"))
        return node

    def run(self, snippet: str, pasted_into: tuple[str, ...] = ("sh",)) -> subprocess.CompletedProcess[str]:
        """Whether /dev/diskid has the name is asked of a file that stands for it."""
        return super().run(snippet.replace('[ -e "$1" ]', f'[ -e "{self.folder}/device" ]'), pasted_into)
