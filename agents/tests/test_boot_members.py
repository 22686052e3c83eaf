"""The three operations on boot disks: what they read, what they refuse, and what is known after a crash between two commands.

Texts in captures/sfdisk are those of util-linux 2.38.1 and gdisk 1.0.9 on files: boot (a table), replicated (right after `sgdisk --replicate`), copied
(after `--randomize-guids`), dos (another kind of table) and blank (what is written to standard error where there is no table).
"""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace

import pytest

from agents.collectors import boot_tool, zdb_label
from agents.collectors.block import BlockPartition
from agents.host.host import Ran
from agents.operations import _candidate, _partitions, partition_copy, proxmox_boot_init, zpool_replace_partition
from agents.operations.base import act
from twin import scenarios
from workflows.runbooks.replace_boot_member import rehearsal

TEXTS = {path.stem.partition("--")[2]: path.read_text() for path in (Path(__file__).parent / "captures" / "sfdisk").glob("*.txt")}
HOUR = 3600.0


@pytest.fixture
def host(tmp_path):
    return scenarios.host(tmp_path, rehearsal.lost_one(), scenarios.Clock())


def params(host, **more):
    node = host.view().node
    pool = node.pool("rpool")
    named = {"pool": "rpool", "pool_guid": str(pool.guid), "vdev_guid": str(pool.leaves()[1].guid)}
    return {**named, "wwid": node.disks[-1].wwid, "from_wwid": node.disks[0].wwid, "partition": "3", **more}


def boot_params(host, **more):
    given = params(host)
    return {**{name: given[name] for name in ("pool", "pool_guid", "wwid", "from_wwid")}, "esp": "2", "mode": "uefi", **more}


def against(operation, host, given):
    assert operation.check(given) == ""
    return " ".join(reason for outcome, reason in operation.guards(operation.preconditions(host, given), given) if outcome != "pass")


def table(name):
    found = _partitions.parse(TEXTS[name])
    assert found is not None
    return found


# --- what is read


def test_a_table_is_read():
    read = table("boot")
    assert [(row.number, row.start, row.sectors) for row in read.rows] == [(1, 2048, 2048), (2, 4096, 204800), (3, 208896, 819200)]
    assert read.row(2).kind == _partitions.ESP
    assert _partitions.kind(read) == "gpt"


def test_another_kind_of_table_is_named():
    assert "dos" in _partitions.kind(table("dos"))


def test_a_copy_has_the_ids_of_the_other_disk_until_they_are_its_own():
    assert table("replicated").text() == table("boot").text() == table("copied").text()
    assert table("replicated").ids() == table("boot").ids()
    assert not table("copied").ids() & table("boot").ids()


def test_a_disk_without_a_table_is_told_by_what_sfdisk_writes():
    assert _partitions.NO_TABLE in TEXTS["blank"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"partitiontable": 1}', TEXTS["boot"][:400], TEXTS["boot"].replace("2048", '"2048"')])
def test_what_is_not_understood_is_no_table(text):
    assert _partitions.parse(text) is None


def test_a_table_that_cannot_be_read_is_not_none(host):
    silent = SimpleNamespace(
        run=lambda argv, seconds: SimpleNamespace(
            exit_code=1, stdout=b"", stderr=b"Input/output error", why="", truncated=False, seconds=0.0
        )
    )
    with pytest.raises(_partitions.Unread, match="cannot read the partition table"):
        _partitions.read(silent, "/dev/disk/by-id/wwn-0x1")


def test_labels_are_read_on_every_partition_that_can_be_a_member(host):
    assert zdb_label.keys(host) == ("sda1", "sda2", "sda3", "sdc")


@pytest.mark.parametrize(
    ("size", "looked_at"), [(8 << 20, False), ((64 << 20) - 512, False), (64 << 20, True), (4 << 40, True), (None, True)]
)
def test_the_size_of_a_partition_and_not_its_number_tells_whether_it_can_be_a_member(size, looked_at):
    def read(path):
        if size is None:
            raise OSError
        return f"{size // 512}\n"

    names = ["/sys/block/sda/sda1", "/sys/block/sda/sda9"]
    found = SimpleNamespace(list=lambda pattern: [name for name in names if fnmatch(name, pattern)], read=read)
    assert zdb_label.others(found, "sda") == (("sda9",) if looked_at else ())
    asked = []

    def run(argv, seconds):
        asked.append(argv[-1])
        return Ran(argv, 2, "".join(f"failed to unpack label {n}\n" for n in range(4)).encode(), b"", 0.1)

    path = SimpleNamespace(name="sda", partitions=(BlockPartition("sda9", 9, size, ()),))
    assert _candidate.read_labels(SimpleNamespace(run=run), _candidate.Candidate("naa:5", "/dev/disk/by-id/wwn-0x5", (path,))) == ()
    assert asked == ["/dev/sda", *(["/dev/sda9"] if looked_at else [])]


def test_the_list_of_the_boot_tool_is_read_without_running_it(host):
    read = boot_tool.parse(boot_tool.collect(host)[0].text)
    assert read == boot_tool.BootTool(("1B21-C4A2", "7D3E-0F55"), (("1B21-C4A2", "sda2"),), True)
    assert boot_tool.parse("/etc/kernel/proxmox-boot-uuids:rm -rf\n").line == "/etc/kernel/proxmox-boot-uuids:rm -rf"


# --- the whole way


@pytest.mark.parametrize("make", [rehearsal.lost_one, rehearsal.failing_one])
def test_the_three_one_after_the_other(tmp_path, make):
    host = scenarios.host(tmp_path, make(), scenarios.Clock())
    for operation, given in (
        (partition_copy, params(host)),
        (zpool_replace_partition, params(host)),
        (proxmox_boot_init, boot_params(host)),
    ):
        pre = operation.preconditions(host, given)
        assert against(operation, host, given) == ""
        assert operation.probe(host, given, pre).result == "did_not"
        assert act(operation, host, given).exit_code == 0
        assert operation.probe(host, given, pre).result == "did"
        assert against(operation, host, given)  # never twice
    host._clock.at += 2 * HOUR
    names = [leaf.path for leaf in host.view().node.pool("rpool").leaves()]
    assert [name.rpartition("-part")[2] for name in names] == ["3", "3"]


def test_only_the_new_disk_is_written_to(host):
    before = [(p.number, p.start, p.sectors, p.uuid) for p in host.view().node.disks[0].partitions]
    act(partition_copy, host, params(host))
    assert [(p.number, p.start, p.sectors, p.uuid) for p in host.view().node.disks[0].partitions] == before
    new = str(params(host)["wwid"].partition(":")[2])
    assert host.store.logged()[0]["argv"][1].endswith(new)
    assert host.store.logged()[1]["argv"][-1].endswith(new)


def test_a_death_between_the_two_commands_is_not_taken_for_a_copy(host):
    given = params(host)
    pre = partition_copy.preconditions(host, given)
    host.run(partition_copy.commands(given)[0], 5.0)
    probe = partition_copy.probe(host, given, pre)
    assert (probe.result, "still has the GUIDs" in probe.reason) == ("cannot_tell", True)
    assert "still has the GUIDs" in against(zpool_replace_partition, host, given)
    host.run(partition_copy.commands(given)[1], 5.0)
    assert partition_copy.probe(host, given, pre).result == "did"


def test_a_boot_partition_that_was_only_formatted_is_not_taken_for_a_bootable_one(host):
    given = boot_params(host)
    act(partition_copy, host, params(host))
    pre = proxmox_boot_init.preconditions(host, given)
    host.run(proxmox_boot_init.commands(given)[0], 5.0)
    probe = proxmox_boot_init.probe(host, given, pre)
    assert (probe.result, "not on the list" in probe.reason) == ("cannot_tell", True)


def test_the_first_command_that_fails_ends_it(host):
    with host.store.changing() as node:
        node.disks[-1].paths[0].state = "offline"
    ran = partition_copy.perform(host, params(host))
    assert (ran.exit_code, len(host.store.logged())) == (8, 1)


# --- what is refused


def smaller(node):
    node.disks[-1].size_bytes -= 512


def other_sectors(node):
    node.disks[-1].logical_block_bytes = 4096


def has_a_table(node):
    from twin.partitioning import boot_disk

    boot_disk(node.disks[-1])


def source_degraded(node):
    node.pool("rpool").leaves()[0].state = "DEGRADED"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (smaller, "Choose a disk that is not smaller"),
        (other_sectors, "means other places there"),
        (has_a_table, "Choose a blank disk"),
        (source_degraded, "Choose an ONLINE member"),
    ],
)
def test_a_copy_is_refused(host, change, expected):
    given = params(host)
    with host.store.changing() as node:
        change(node)
    assert expected in against(partition_copy, host, given)


def test_another_partition_than_that_of_the_member_is_refused(host):
    reasons = against(partition_copy, host, params(host, partition="2"))
    assert "is or was partition 3 of its disk, and 2 was planned" in reasons
    assert "no member of mirror-0 on partition 2" in reasons


def test_without_the_tool_that_copies_nothing_is_planned(host):
    with host.store.changing() as node:
        node.faults.absent.append("sgdisk")
    assert "node.sgdisk: not known, because there is no sgdisk here to copy a partition table; install gdisk." in against(
        partition_copy, host, params(host)
    )


def test_one_disk_is_not_both():
    given = {
        "pool": "p",
        "pool_guid": "1",
        "vdev_guid": "2",
        "wwid": "naa:5000c500a65b207b",
        "from_wwid": "naa:5000c500a65b207b",
        "partition": "3",
    }
    assert "as the new disk and as the one that is copied" in partition_copy.check(given)


def test_without_a_copy_nothing_is_replaced(host):
    assert "has no partition table" in against(zpool_replace_partition, host, params(host))


def test_what_boots_otherwise_is_not_made_by_the_tool(host):
    given = boot_params(host)
    act(partition_copy, host, params(host))
    assert "which is no EFI partition" in against(proxmox_boot_init, host, boot_params(host, esp="1"))
    with host.store.changing() as node:
        node.efi = False
    assert "without UEFI the mode is grub" in against(proxmox_boot_init, host, given)
    assert against(proxmox_boot_init, host, boot_params(host, mode="grub")) == ""
    with host.store.changing() as node:
        node.boot_uuids = []
    assert "not on the list of proxmox-boot-tool" in against(proxmox_boot_init, host, boot_params(host, mode="grub"))
    with host.store.changing() as node:
        node.boot_uuids = None
    assert "install the boot loader by hand" in against(proxmox_boot_init, host, given)
