"""A node in a folder, for snippets: its tools are small scripts that answer from files and write down what they were asked."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from workflows.by_hand.snippet import SECONDS, Paths

NONCE = "0123456789abcdef0123456789abcdef"
HOSTID, BOOT_ID = "007f0101", "11111111-2222-3333-4444-555555555555"
POOL_GUID, VDEV_GUID, OTHER_GUID = "4120362104831742401", "9223372036854775809", "9223372036854775810"
WWID = "naa:5000c500a65b207b"
DISK = "/dev/disk/by-id/wwn-0x5000c500a65b207b"
TAB = "\t"
NO_LABEL = "failed to unpack label 0\nfailed to unpack label 1\nfailed to unpack label 2\nfailed to unpack label 3\n"
STATUS = f"""\
  pool: tank
 state: DEGRADED
config:

{TAB}NAME                      STATE     READ WRITE CKSUM
{TAB}{POOL_GUID}       DEGRADED     0     0     0
{TAB}  1722                    DEGRADED     0     0     0
{TAB}    {VDEV_GUID}   UNAVAIL      0     0     0
{TAB}    {OTHER_GUID}   ONLINE       0     0     0
"""
ZPOOL = """\
#!/bin/sh
case "$1 $2" in
  "get -Hpo") cat "$NODE/guid" ;;
  "status -g") cat "$NODE/status" ;;
  "list -H") cat "$NODE/imported" ;;
  *) printf '%s\\n' "$*" >>"$NODE/ran"; cat "$NODE/answer"; exit "$(cat "$NODE/code")" ;;
esac
"""


def until() -> int:
    """A snippet's end that lies ahead now: in a long run of tests this module was loaded an hour ago."""
    return int(time.time()) + SECONDS


def plan(**changes):
    return {
        "operation": "zpool_replace",
        "params": {"pool": "tank", "pool_guid": POOL_GUID, "vdev_guid": VDEV_GUID, "wwid": WWID},
        "argv": ["zpool", "replace", "tank", VDEV_GUID, DISK],
        "preconditions": {"pool.guid": POOL_GUID, "target.state": "UNAVAIL", "disk.labels": "none"},
        "by_hand": {
            "hostid": HOSTID,
            "boot_id": BOOT_ID,
            "imported": "yes",
            "members": [[VDEV_GUID, "UNAVAIL"]],
            "disks": [[DISK, WWID, "none"]],
        },
        **changes,
    }


@dataclass(frozen=True)
class FakeNode:
    """What it answers stands in files of `folder`, so that a test may change one thing."""

    folder: Path

    @classmethod
    def build(cls, folder: Path) -> FakeNode:
        node = cls(folder)
        tools = folder / "bin"
        tools.mkdir(parents=True)
        (folder / "device" / "sdq" / "device").mkdir(parents=True)
        for name, text in {
            "guid": f"{POOL_GUID}\n",
            "status": STATUS,
            "imported": "17\n",
            "answer": "",
            "code": "0",
            "label": NO_LABEL,
            "uid": "0",
            "hostid": f"{HOSTID}\n",
            "boot_id": f"{BOOT_ID}\n",
            "link": "/dev/sdq\n",
        }.items():
            (folder / name).write_text(text)
        node.set_wwid("naa.5000c500a65b207b")
        node.tool("zpool", ZPOOL)
        node.tool("zdb", '#!/bin/sh\ncat "$NODE/label"\n')
        node.tool("id", '#!/bin/sh\ncat "$NODE/uid"\n')
        node.tool("hostid", '#!/bin/sh\ncat "$NODE/hostid"\n')
        node.tool("readlink", '#!/bin/sh\ncat "$NODE/link"\n')
        node.tool("lsblk", "#!/bin/sh\nexit 1\n")
        return node

    def tool(self, name: str, text: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(text.replace("$NODE", str(self.folder)))
        path.chmod(0o755)

    def set_wwid(self, wwid: str) -> None:
        (self.folder / "device" / "sdq" / "device" / "wwid").write_text(f"{wwid}\n")

    def paths(self, shell: str = "sh") -> Paths:
        return Paths(
            f"{self.folder}/bin:{os.defpath}:/usr/bin:/bin",
            shell,
            str(self.folder / "run"),
            str(self.folder / "boot_id"),
            str(self.folder / "no-file"),
            str(self.folder / "device"),
        )

    def run(self, snippet: str, pasted_into: tuple[str, ...] = ("sh",)) -> subprocess.CompletedProcess[str]:
        """As somebody pastes it. What /dev/disk holds here is not asked: the path is taken for one that is there."""
        text = snippet.replace('[ -e "$1" ] &&', "")
        return subprocess.run(pasted_into, input=text, capture_output=True, text=True, timeout=60, check=False)

    @property
    def ran(self) -> str:
        path = self.folder / "ran"
        return path.read_text() if path.exists() else ""
