"""The snippet for FreeBSD under every shell that is here: it asks GEOM and sysctl, runs once on this boot with this disk, or says what differs."""

from __future__ import annotations

import pytest

from workflows.by_hand import snippet
from workflows.by_hand.tests.freebsd_node import CONFTXT, IDENT, LINK, MEMBER, MEMBER_IDENT, MEMBER_UNIT, UNIT, FreeBSDNode, disk, plan
from workflows.by_hand.tests.node import BOOT_ID, NONCE, OTHER_GUID, POOL_GUID, STATUS, VDEV_GUID, until
from workflows.by_hand.tests.other_system import compares_the_label_of_a_member, differs, run_again, run_once

REPLACE = f"replace tank {VDEV_GUID} {LINK}\n"


@pytest.fixture
def node(tmp_path):
    return FreeBSDNode.build(tmp_path)


def made(node, shell="sh", **changes):
    return snippet.make(plan(**changes), NONCE, until(), node.paths(shell))


def test_it_checks_runs_and_records(node, shell):
    run_once(node, made(node, shell), shell, BOOT_ID)
    assert node.lines("ran") == REPLACE
    assert node.lines("zdb-asked") == "-l /dev/da3\n"


def test_a_second_run_runs_nothing(node, shell):
    run_again(node, made(node, shell), shell, REPLACE)


OTHER = disk("da4", MEMBER_UNIT, MEMBER_IDENT, "r1w1e2")
DIFFERENCES = {
    "another host": ("hostid", "3735928559\n", "hostid: 'deadbeef'"),
    "another boot": ("boot_id", f"Format: Length:16 Dump:0x{'2' * 32}\n", "boot id: '22222222-2222"),
    "a release without a boot id": ("boot_id", "", "boot id: ''"),
    "a boot id of another length": ("boot_id", f"Format: Length:8 Dump:0x{'1' * 16}\n", "boot id: ''"),
    "not root": ("uid", "1000", "user"),
    "another pool of that name": ("guid", f"{int(POOL_GUID) + 1}\n", "pool guid of tank"),
    "the member is back": ("status", STATUS.replace("UNAVAIL", "ONLINE "), f"member {VDEV_GUID}: 'ONLINE'"),
    "the disk is gone": ("geom", OTHER, "lists not one disk"),
    "geom does not answer": ("geom", "", "lists not one disk"),
    "another disk of nearly that serial number": ("geom", disk("da3", UNIT, "12345678") + OTHER, "lists not one disk"),
    "another unit name": ("geom", disk("da3", "5000c500ffffffff", IDENT) + OTHER, "lists not one disk"),
    "two disks of one serial number": ("geom", disk("da3", UNIT, IDENT) + disk("da9", UNIT, IDENT), "lists not one disk"),
    "something has it open": ("geom", disk("da3", UNIT, IDENT, "r1w1e1") + OTHER, "openers of da3: 'r1w1e1'"),
    "the name leads to another disk": ("conftxt", CONFTXT.replace(f"LABEL diskid/DISK-{IDENT}", "LABEL x/y") + f"1 LABEL diskid/DISK-{IDENT} 1 512\n", "is a name of"),
    "the name is gone": ("conftxt", CONFTXT.replace("diskid/", "gone/"), "is a name of: ''"),
    "it was partitioned": ("conftxt", CONFTXT.replace("0 DISK da4", "1 PART da3p1 1048576 512 i 1 o 20480\n0 DISK da4"), "made of da3"),
    "it was encrypted": ("conftxt", CONFTXT.replace("0 DISK da4", "1 ELI da3.eli 536866816 4096\n0 DISK da4"), "ELI da3.eli"),
    "the tree does not answer": ("conftxt", "", "made of da3"),
    "it got a label": ("label", f"    guid: {OTHER_GUID}\n    pool_guid: 7\n", "planned as none"),
    "its labels cannot be read": ("label", "cannot open '/dev/da3': Input/output error\n", "does not say that it carries no label"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "expected"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_it_says_what_differs_and_runs_nothing(node, shell, name, text, expected):
    (node.folder / name).write_text(text)
    differs(node, made(node, shell), shell, expected)


def test_a_name_that_is_not_there_is_seen(node, shell):
    (node.folder / "device").unlink()
    differs(node, made(node, shell), shell, f"disk {LINK}: not there")


def test_the_label_of_a_member_is_read_on_its_own_partition(node, shell):
    path = f"/dev/diskid/DISK-{MEMBER_IDENT}p2"
    compares_the_label_of_a_member(node, plan, path, MEMBER, shell)
    assert node.lines("zdb-asked") == "-l /dev/da4p2\n" * 2


@pytest.mark.parametrize(
    "path", ["/dev/da3", "/dev/da3p2", "/dev/ada0", "/dev/nda0p1", "/dev/gpt/tank4", "/dev/disk/by-id/wwn-0x5000c500a65b207b"]
)
def test_no_command_names_a_disk_by_what_may_move(node, path):
    with pytest.raises(snippet.CannotMake):
        made(node, argv=["zpool", "replace", "tank", VDEV_GUID, path])


@pytest.mark.parametrize(
    "operation", ["disk_wipe", "zpool_import_ordinary", "set_tunable", "locate_led", "zpool_set_path", "partition_copy"]
)
def test_what_is_another_command_there_is_not_shown(node, operation):
    with pytest.raises(snippet.CannotMake, match="not given by hand on FreeBSD"):
        made(node, operation=operation)


def test_a_plan_of_linux_is_made_as_before(node):
    from workflows.by_hand.tests.node import plan as of_linux

    text = snippet.make(of_linux(), NONCE, until())
    assert "geom" not in text
    assert "sysctl" not in text
