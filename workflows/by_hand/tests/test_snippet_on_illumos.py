"""The snippet for illumos under every shell that is here: it asks illumos' own tools, runs once on this boot with this disk, or says what differs."""

from __future__ import annotations

import pytest

from workflows.by_hand import snippet
from workflows.by_hand.tests.illumos_node import BOOT_ID, LINK, MEMBER, MEMBER_NAME, MEMBER_UNIT, NAME, PROC, IllumosNode, plan
from workflows.by_hand.tests.node import NONCE, POOL_GUID, STATUS, VDEV_GUID, until
from workflows.by_hand.tests.other_system import compares_the_label_of_a_member, differs, run_again, run_once

REPLACE = f"replace tank {VDEV_GUID} {LINK}\n"


@pytest.fixture
def node(tmp_path):
    return IllumosNode.build(tmp_path)


def made(node, shell="sh", **changes):
    return snippet.make(plan(**changes), NONCE, until(), node.paths(shell))


def test_it_checks_runs_and_records(node, shell):
    printed = run_once(node, made(node, shell), shell, BOOT_ID)
    assert node.lines("ran") == REPLACE
    assert "tried nowhere on it" in printed
    assert node.lines("zdb-asked") == ""


def test_a_second_run_runs_nothing(node, shell):
    run_again(node, made(node, shell), shell, REPLACE)


ROW = "SCSI\t{}\tSEAGATE\tST10000NM0256\tZA20008X\t536871424\t----\t0,-1\n"
DIFFERENCES = {
    "another host": ("hostid", "deadbeef\n", "hostid: 'deadbeef'"),
    "another boot": ("proc", PROC.replace("21:04:11", "23:59:59"), "boot id: '20261129-2359-5912-3456-789654321098'"),
    "another boot at the same second by the clock": ("proc", PROC.replace(".654321098", ".654321099"), "boot id: '20261129-2104-1112-3456-789654321099'"),
    "a clock that had lost its time": ("proc", PROC.replace("2026-11-29", "1987-01-01"), "boot id: ''"),
    "a time without a fraction": ("proc", PROC.replace(".123456789", ".000000000"), "boot id: ''"),
    "a time in another zone": ("proc", PROC.replace("+0000", "+0100"), "boot id: ''"),
    "an ls without -E": ("proc", "", "boot id: ''"),
    "not the global zone": ("zone", "web\n", "boot id: ''"),
    "Oracle's Solaris": ("kind", "Solaris\n", "boot id: ''"),
    "not root": ("uid", "1000", "user"),
    "another pool of that name": ("guid", f"{int(POOL_GUID) + 1}\n", "pool guid of tank"),
    "the member is back": ("status", STATUS.replace("UNAVAIL", "ONLINE "), f"member {VDEV_GUID}: 'ONLINE'"),
    "the disk does not answer": ("disks", ROW.format(MEMBER_NAME), "diskinfo does not list it"),
    "diskinfo does not answer": ("disks", "", "diskinfo does not list it"),
    "zfs has it open": ("users", "[zfs,dev=(83,128)]\n", f"users of {NAME}: ' [zfs,dev=(83,128)]'"),
    "a process has it open": ("users", "   412o\n", f"users of {NAME}"),
    "fuser does not answer": ("fuser-code", "1", "fuser does not answer"),
    "COMSTAR exports it": ("units", f"    Data File         : /dev/rdsk/{NAME}p0\n", f"users of {NAME}: 'COMSTAR'"),
    "stmfadm does not answer": ("stmfadm-code", "1", "stmfadm does not answer"),
    "something stands at its beginning": ("front", "x", f"ends of {NAME}: 'data"),
    "its end is not read whole": ("tail", "512", f"ends of {NAME}: 'zeros to 4194304 zeros to 512 '"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "expected"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_it_says_what_differs_and_runs_nothing(node, shell, name, text, expected):
    (node.folder / name).write_text(text)
    differs(node, made(node, shell), shell, expected)


LEADS = {
    "to another unit": {f"{NAME}{part}": f"scsi_vhci/disk@g{MEMBER_UNIT}:a" for part in ("p0", "s0", "s15")},
    "to two units": {f"{NAME}s0": f"scsi_vhci/disk@g{MEMBER_UNIT}:a"},
    "to a port": {f"{NAME}{part}": "pci@0,0/pci15d9,808@0/iport@f/disk@w5000c500a65b207b,0:a" for part in ("p0", "s0", "s15")},
}


@pytest.mark.parametrize("leads", LEADS.values(), ids=LEADS)
def test_a_name_that_leads_elsewhere_is_seen(node, shell, leads):
    for name, target in leads.items():
        node.lead(name, target)
    differs(node, made(node, shell), shell, f"device of {NAME}")


def test_the_label_of_a_member_is_read_on_its_own_slice(node, shell):
    path = f"/dev/dsk/{MEMBER_NAME}s0"
    compares_the_label_of_a_member(node, plan, path, MEMBER, shell)
    assert node.lines("zdb-asked") == f"-l {node.folder}/rdsk/{MEMBER_NAME}s0\n" * 2


@pytest.mark.parametrize(
    "path",
    [
        "/dev/dsk/c2d0",
        "/dev/dsk/c3t2d0",
        "/dev/dsk/c3t2d0s0",
        "c3t2d0",
        "/dev/rdsk/c0t5000C500A65B207Bd0p0",
        "/dev/disk/by-id/wwn-0x5000c500a65b207b",
    ],
)
def test_no_command_names_a_disk_by_what_may_move(node, path):
    with pytest.raises(snippet.CannotMake):
        made(node, argv=["zpool", "replace", "tank", VDEV_GUID, path])


@pytest.mark.parametrize("operation", ["disk_wipe", "zpool_import_ordinary", "set_tunable", "locate_led", "zpool_clear", "partition_copy"])
def test_what_is_another_command_there_is_not_shown(node, operation):
    with pytest.raises(snippet.CannotMake, match="not given by hand on illumos"):
        made(node, operation=operation)
