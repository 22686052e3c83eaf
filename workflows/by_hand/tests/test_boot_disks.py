"""What a person gives on a boot disk: the table is copied only onto a disk without one, and what was written is compared, as the agent does.

Tried with util-linux 2.38.1 and gdisk 1.0.9 on files in dash, bash and busybox; here their answers stand in files.
"""

from __future__ import annotations

import shutil
import subprocess

import pytest

from agents.operations import partition_copy, proxmox_boot_init
from agents.tests.test_operations import GOOD
from workflows.by_hand import commands, grounds

NEW, OLD = "/dev/disk/by-id/wwn-0x5000c500a65b207b", "/dev/disk/by-id/wwn-0x5000c500a65b208b"
DUMP = """\
label: gpt
label-id: {id}-0000-4000-8000-000000000001
device: {device}
unit: sectors
first-lba: 2048
last-lba: 1228766
sector-size: 512

{device}-part2 : start=        4096, size=      {size}, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B, uuid={id}-0000-4000-8000-000000000002
"""
SFDISK = """\
#!/bin/sh
case "$1" in
  --json) if [ -e "$NODE/table" ]; then cat "$NODE/table"; else echo "sfdisk: $2: does not contain a recognized partition table" >&2; exit 1; fi ;;
  -d) cat "$NODE/dump-${2##*-}" ;;
esac
"""
WRITES = '#!/bin/sh\nprintf "%s\\n" "${0##*/} $*" >>"$NODE/ran"\n[ ! -e "$NODE/fails" ]\n'
BLKID = '#!/bin/sh\nfor last; do :; done\ncat "$NODE/uuid-${last##*-0x}" 2>/dev/null\n'
SHELLS = [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)]


@pytest.fixture
def node(tmp_path):
    (tmp_path / "bin").mkdir()
    for name, text in {"sfdisk": SFDISK, "sgdisk": WRITES, "proxmox-boot-tool": WRITES, "blkid": BLKID}.items():
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "dump-0x5000c500a65b208b").write_text(DUMP.format(id="AAAAAAAA", device=OLD, size=204800))
    (tmp_path / "dump-0x5000c500a65b207b").write_text(DUMP.format(id="BBBBBBBB", device=NEW, size=204800))
    return tmp_path


def given(node, operation, shell):
    params = GOOD[operation.NAME]
    body = "\n".join(commands.lines(operation.NAME, params, operation.argv(params)))
    body = body.replace("/etc/kernel/proxmox-boot-uuids", str(node / "uuids"))
    argv = [shell, *(("sh",) if shell == "busybox" else ()), "-c", f"command_of_the_plan() {{\n{body}\n}}\ncommand_of_the_plan\n"]
    environment = {"PATH": f"{node / 'bin'}:/usr/bin:/bin", "NODE": str(node), "LC_ALL": "C"}
    ended = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=30, check=False)
    ran = (node / "ran").read_text().splitlines() if (node / "ran").exists() else []
    return ended, ran


@pytest.mark.parametrize("shell", SHELLS)
def test_the_new_disk_is_written_and_the_other_read(node, shell):
    ended, ran = given(node, partition_copy, shell)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ran == [f"sgdisk --replicate={NEW} {OLD}", f"sgdisk --randomize-guids {NEW}"]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_disk_that_has_a_table_is_not_written_to(node, shell):
    (node / "table").write_text('{"partitiontable": {}}\n')
    ended, ran = given(node, partition_copy, shell)
    assert (ended.returncode, ran) == (1, [])
    assert "has a partition table, or it cannot be read" in ended.stdout


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("changes", "expected"),
    [({"size": 102400}, "the copy differs"), ({"id": "AAAAAAAA"}, "the copy has the id")],
)
def test_a_copy_that_is_none_ends_badly(node, shell, changes, expected):
    text = DUMP.format(**{"id": "BBBBBBBB", "device": NEW, "size": 204800, **changes})
    (node / "dump-0x5000c500a65b207b").write_text(text)
    ended, _ = given(node, partition_copy, shell)
    assert (ended.returncode, expected in ended.stdout) == (1, True)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_first_command_that_fails_is_the_last(node, shell):
    (node / "fails").touch()
    ended, ran = given(node, partition_copy, shell)
    assert (ended.returncode, len(ran)) == (1, 1)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("listed", "code", "count"), [("AAAA-0001\nBBBB-0002\n", 0, 2), ("AAAA-0001\n", 1, 2), ("BBBB-0002\n", 1, 0), ("", 1, 0)]
)
def test_a_boot_partition_is_made_where_the_tool_keeps_the_other_and_is_listed_then(node, shell, listed, code, count):
    (node / "uuids").write_text(listed)
    (node / "uuid-5000c500a65b208b-part2").write_text("AAAA-0001\n")
    (node / "uuid-5000c500a65b207b-part2").write_text("BBBB-0002\n")
    ended, ran = given(node, proxmox_boot_init, shell)
    assert (ended.returncode, len(ran)) == (code, count)


def test_both_disks_are_looked_for_by_their_identity_before():
    plan = {"operation": "partition_copy", "params": GOOD["partition_copy"], "preconditions": {"disk.labels": "none"}}
    found = grounds._disks(None, "partition_copy", plan["preconditions"], plan["params"], ())
    assert [(disk.path, disk.label) for disk in found] == [(NEW, "none"), (OLD, "any")]
