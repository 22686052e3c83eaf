"""An illumos node in a folder, for snippets: `diskinfo`, `fuser`, `dd` and the others are small scripts that answer from files."""

from __future__ import annotations

from pathlib import Path

from agents.collectors._boot_of_illumos import boot_id_of
from workflows.by_hand.snippet import Paths
from workflows.by_hand.tests.node import HOSTID, ZPOOL
from workflows.by_hand.tests.other_system import OtherSystemNode, plan_on

UNIT, MEMBER_UNIT = "5000c500a65b207b", "5000c500a65b208b"
NAME, MEMBER_NAME = "c0t5000C500A65B207Bd0", "c0t5000C500A65B208Bd0"
WWID, LINK, MEMBER = f"dsk:{NAME}", f"/dev/dsk/{NAME}", f"dsk:{MEMBER_NAME}"
BOOT_ID = boot_id_of("2026 11 29 21 04 11 123456789", "2026 11 29 21 04 11 654321098")
BYTES = 536870912 + 512
PROC = """\
dr-x--x--x   5 root     root         864 2026-11-29 21:04:11.123456789 +0000 /proc/0
dr-x--x--x   5 root     root         864 2026-11-29 21:04:11.654321098 +0000 /proc/3
"""
SCRIPTS = {
    "zpool": ZPOOL,
    "hostid": '#!/bin/sh\ncat "$NODE/hostid"\n',
    "uname": '#!/bin/sh\n[ "$1" = -o ] && cat "$NODE/kind"\n',
    "zonename": '#!/bin/sh\ncat "$NODE/zone"\n',
    "ls": '#!/bin/sh\nif [ "$1" = -dE ]; then cat "$NODE/proc"; else exec /bin/ls "$@"; fi\n',
    "diskinfo": '#!/bin/sh\n[ "$1" = -Hcp ] && cat "$NODE/disks"\n',
    "fuser": '#!/bin/sh\nprintf \'%s: \' "$2" >&2\ncat "$NODE/users" >&2\nexit "$(cat "$NODE/fuser-code")"\n',
    "stmfadm": '#!/bin/sh\ncat "$NODE/units"\nexit "$(cat "$NODE/stmfadm-code")"\n',
    "dd": '#!/bin/sh\ncase "$*" in *count=4*) cat "$NODE/front"; exec head -c 4194304 /dev/zero ;; *iseek=508*) head -c "$(cat "$NODE/tail")" /dev/zero ;; *) exit 1 ;; esac\n',
    "zdb": '#!/bin/sh\nprintf \'%s\\n\' "$*" >>"$NODE/zdb-asked"\ncat "$NODE/member-label"\n',
    "id": '#!/bin/sh\ncat "$NODE/uid"\n',
    "digest": '#!/bin/sh\nsha256sum "$3" | cut -d" " -f1\n',
}


def plan(**changes):
    return plan_on(LINK, WWID, {"system": "illumos", "boot_id": BOOT_ID}, changes)


class IllumosNode(OtherSystemNode):
    @classmethod
    def build(cls, folder: Path) -> IllumosNode:
        node = cls(folder)
        (folder / "rdsk").mkdir()
        node.answers({
            "kind": "illumos\n", "zone": "global\n",
            "hostid": f"{HOSTID}\n", "proc": PROC, "users": "\n", "fuser-code": "0", "stmfadm-code": "0", "front": "", "tail": str(BYTES - (508 << 20)),
            "units": f"LU Name: 600144F0\n    Data File         : /dev/rdsk/{MEMBER_NAME}s1\n",
            "disks": "".join(f"SCSI\t{name}\tSEAGATE\tST10000NM0256\t{serial}\t{BYTES}\t----\t0,-1\n" for name, serial in ((NAME, "ZA20007X"), (MEMBER_NAME, "ZA20008X"))),
        })  # fmt: skip
        for name, unit in ((NAME, UNIT), (MEMBER_NAME, MEMBER_UNIT)):
            for slice_, minor in (("p0", "q"), ("s0", "a"), ("s15", "p")):
                node.lead(f"{name}{slice_}", f"scsi_vhci/disk@g{unit}:{minor}")
        node.tools(SCRIPTS)
        node.never(("lsblk", "readlink", "sha256sum-of-linux", "geom", "sysctl"))
        return node

    def lead(self, name: str, target: str) -> None:
        link = self.folder / "rdsk" / name
        link.unlink(missing_ok=True)
        link.symlink_to(f"../../devices/{target},raw")

    def paths(self, shell: str = "sh", **more: str) -> Paths:
        return super().paths(shell, rdsk=str(self.folder / "rdsk"), **more)
