"""An illumos node in a folder, for snippets: `diskinfo`, `fuser`, `dd` and the others are small scripts that answer from files."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from agents.collectors._boot_of_illumos import boot_id_of
from workflows.by_hand.snippet import Paths
from workflows.by_hand.tests.node import HOSTID, OTHER_GUID, POOL_GUID, STATUS, VDEV_GUID, ZPOOL
from workflows.by_hand.tests.node import plan as linux_plan

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
    there = linux_plan()["by_hand"] | {"system": "illumos", "boot_id": BOOT_ID, "disks": [[LINK, WWID, "none"]]}
    return linux_plan() | {
        "params": linux_plan()["params"] | {"wwid": WWID},
        "argv": ["zpool", "replace", "tank", VDEV_GUID, LINK],
        "by_hand": there | changes.pop("by_hand", {}),
        **changes,
    }


@dataclass(frozen=True)
class IllumosNode:
    folder: Path

    @classmethod
    def build(cls, folder: Path) -> IllumosNode:
        node = cls(folder)
        (folder / "bin").mkdir()
        (folder / "rdsk").mkdir()
        for name, text in {
            "guid": f"{POOL_GUID}\n", "status": STATUS, "imported": "17\n", "answer": "all is well\n", "code": "0", "uid": "0", "kind": "illumos\n", "zone": "global\n",
            "hostid": f"{HOSTID}\n", "proc": PROC, "users": "\n", "fuser-code": "0", "stmfadm-code": "0", "front": "", "tail": str(BYTES - (508 << 20)),
            "units": f"LU Name: 600144F0\n    Data File         : /dev/rdsk/{MEMBER_NAME}s1\n",
            "disks": "".join(f"SCSI\t{name}\tSEAGATE\tST10000NM0256\t{serial}\t{BYTES}\t----\t0,-1\n" for name, serial in ((NAME, "ZA20007X"), (MEMBER_NAME, "ZA20008X"))),
            "member-label": f"    guid: {OTHER_GUID}\n    pool_guid: {POOL_GUID}\n        guid: 77\n",
        }.items():  # fmt: skip
            (folder / name).write_text(text)
        for name, unit in ((NAME, UNIT), (MEMBER_NAME, MEMBER_UNIT)):
            for slice_, minor in (("p0", "q"), ("s0", "a"), ("s15", "p")):
                node.lead(f"{name}{slice_}", f"scsi_vhci/disk@g{unit}:{minor}")
        for name, text in SCRIPTS.items():
            (folder / "bin" / name).write_text(text.replace("$NODE", str(folder)))
            (folder / "bin" / name).chmod(0o755)
        for name in ("lsblk", "readlink", "sha256sum-of-linux", "geom", "sysctl"):  # of other systems: none of them may be asked
            (folder / "bin" / name).write_text(f'#!/bin/sh\necho {name} >>"{folder}/of-others"\nexit 1\n')
            (folder / "bin" / name).chmod(0o755)
        return node

    def lead(self, name: str, target: str) -> None:
        link = self.folder / "rdsk" / name
        link.unlink(missing_ok=True)
        link.symlink_to(f"../../devices/{target},raw")

    def paths(self, shell: str = "sh") -> Paths:
        path = f"{self.folder}/bin:{os.defpath}:/usr/bin:/bin"
        return Paths(path, shell, marks_without_run=str(self.folder / "run"), rdsk=str(self.folder / "rdsk"))

    def run(self, snippet: str, pasted_into: tuple[str, ...] = ("sh",)) -> subprocess.CompletedProcess[str]:
        return subprocess.run(pasted_into, input=snippet, capture_output=True, text=True, timeout=60, check=False)

    def lines(self, name: str) -> str:
        path = self.folder / name
        return path.read_text() if path.exists() else ""
