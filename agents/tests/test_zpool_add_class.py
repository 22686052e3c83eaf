"""zpool_add_class makes one mirror of several blank disks: every question is asked of each, and what zpool does not compare the node compares itself."""

from __future__ import annotations

import pytest

from agents.operations import _dry_run
from agents.operations import zpool_add_class as operation
from agents.tests.test_zpool_add import DATA, HEAD, LOGS, POOL, SPARES, SPECIAL
from agents.zfs_releases import ruling
from twin import scenarios
from workflows.runbooks.add_special import rehearsal

MIXED = "The data of ost_0 is protected as by mirrors of"


def host_of(tmp_path, node):
    return scenarios.host(tmp_path, node, scenarios.Clock())


def params(host, role="special", count=3, **more):
    node = host.view().node
    blank = [disk.wwid for disk in node.disks if not disk.partitions]
    fields = {"pool": "ost_0", "pool_guid": str(node.pool("ost_0").guid), "role": role, "ashift": "12"}
    return {**fields, "wwids": " ".join(blank[:count]), **more}


def against(host, given):
    lines = operation.guards(operation.preconditions(host, given), given)
    return " ".join(reason for outcome, reason in lines if outcome != "pass")


def raidz(parity):
    return lambda: rehearsal.beside_a_raidz(parity)


@pytest.mark.parametrize("role", operation.ROLES)
@pytest.mark.parametrize(
    ("node", "count"), [(raidz(1), 2), (raidz(2), 3), (raidz(3), 4), (lambda: rehearsal.beside_mirrors(2), 2), (lambda: rehearsal.beside_mirrors(3), 3)]
)  # fmt: skip
def test_the_disks_are_one_mirror_in_their_section(tmp_path, role, node, count):
    host = host_of(tmp_path, node())
    given = params(host, role, count)
    pre = operation.preconditions(host, given)
    assert (pre["pool.tree_after"], pre["pool.mirrors"], against(host, given)) == ("as meant", str(count), "")
    assert operation.probe(host, given, pre).result == "did_not"
    assert host.run(operation.argv(given), 5.0).exit_code == 0
    assert operation.probe(host, given, pre).result == "did"
    top = host.view().node.pool("ost_0").tops[-1]
    assert (top.cls, top.type, top.ashift, len(top.children)) == (role, "mirror", 12, count)


def test_a_second_one_stands_beside_the_first(tmp_path):
    host = host_of(tmp_path, rehearsal.beside_a_raidz(1))
    assert host.run(operation.argv(params(host, count=2)), 5.0).exit_code == 0
    second = params(host, count=2)
    assert operation.preconditions(host, second)["pool.tree_after"] == "as meant"


@pytest.mark.parametrize("count", [2, 4])
def test_too_few_and_too_many_are_refused_by_the_node_and_by_zpool(tmp_path, count):
    host = host_of(tmp_path, rehearsal.beside_a_raidz(2))
    given = params(host, count=count)
    assert f"{MIXED} 3, and the plan makes one of {count}" in against(host, given)
    assert "mismatched replication level" in operation.preconditions(host, given)["pool.tree_after"]


def test_where_zpool_compares_nothing_the_node_does(tmp_path):
    """A single disk beside the raidz: then `zpool add -n` takes a mirror of any width."""
    node = rehearsal.beside_a_raidz(2)
    rehearsal.add_single(node, node.disks[-1])
    host = host_of(tmp_path, node)
    given = params(host, count=2)
    assert operation.preconditions(host, given)["pool.tree_after"] == "as meant"
    assert MIXED in against(host, given)


def test_beside_single_disks_zpool_refuses_a_mirror(tmp_path):
    host = host_of(tmp_path, rehearsal.beside_mirrors(1))
    assert "pool uses disk and new vdev is mirror" in operation.preconditions(host, params(host, count=2))["pool.tree_after"]


def carries_a_label(node, disk):
    scenarios.add_foreign_pool(node, disk, "old_0", "oss09", 4711)


def is_held(node, disk):
    disk.holders = ["dm-9"]


def is_offline(node, disk):
    disk.paths[0].state = "offline"


def has_larger_blocks(node, disk):
    disk.logical_block_bytes = 4096


def has_another_size(node, disk):
    disk.size_bytes += 32 * 1024 * 1024


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (carries_a_label, "carries a ZFS label"),
        (is_held, "is held by dm-9"),
        (is_offline, "The kernel calls the disk"),
        (has_larger_blocks, "The disks have blocks of different sizes"),
        (has_another_size, "contains devices of different sizes"),
    ],
)
def test_each_disk_is_asked_everything(tmp_path, number, change, words):
    node = rehearsal.beside_a_raidz(2)
    host = host_of(tmp_path, node)
    given = params(host)
    wwid = given["wwids"].split(" ")[number - 1]
    with host.store.changing() as changed:
        change(changed, changed.disk(wwid))
    assert words in against(host, given)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_disk_that_is_not_there_is_not_known(tmp_path, number):
    host = host_of(tmp_path, rehearsal.beside_a_raidz(2))
    given = params(host)
    with host.store.changing() as node:
        scenarios.take_away(node, given["wwids"].split(" ")[number - 1])
    pre = operation.preconditions(host, given)
    assert pre[f"disk_{number}.wwid"].startswith("unknown: ")
    assert pre["disks.blocks"].startswith("unknown: ")
    assert pre["pool.tree_after"].startswith("unknown: ")
    assert operation.probe(host, given, pre).result == "cannot_tell"


def test_two_disks_that_are_shown_in_one_bay_are_refused(tmp_path):
    host = host_of(tmp_path, rehearsal.beside_a_raidz(1))
    given = params(host, count=2)
    pre = operation.preconditions(host, given)
    pre |= {"disks.bays": f"{pre['disk_1.bay']}, {pre['disk_1.bay']}"}
    assert any(outcome == "refuse" and "are shown in one bay" in why for outcome, why in operation.guards(pre, given))


def test_without_the_feature_it_is_refused_and_the_kernel_refuses_too(tmp_path):
    node = rehearsal.beside_a_raidz(2)
    node.pool("ost_0").classes = False
    host = host_of(tmp_path, node)
    given = params(host)
    assert "`zpool set feature@allocation_classes=enabled ost_0`" in against(host, given)
    pre = operation.preconditions(host, given)
    ran = host.run(operation.argv(given), 5.0)
    assert (ran.exit_code, b"pool must be upgraded" in ran.stderr) == (1, True)
    assert operation.probe(host, given, pre).result == "did_not"


def test_another_ashift_than_that_of_the_data_is_refused(tmp_path):
    host = host_of(tmp_path, rehearsal.beside_a_raidz(2))
    assert "has the ashift 12, and the plan gives 9" in against(host, params(host, ashift="9"))


def test_some_of_the_disks_in_the_pool_is_neither_did_nor_did_not(tmp_path):
    node = rehearsal.beside_a_raidz(2)
    host = host_of(tmp_path, node)
    given = params(host)
    pre = operation.preconditions(host, given)
    with host.store.changing() as changed:
        rehearsal.add_single(changed, changed.disk(given["wwids"].split(" ")[1]))
    probe = operation.probe(host, given, pre)
    assert (probe.result, "1 of 3 disks are in ost_0" in probe.reason) == ("cannot_tell", True)


@pytest.mark.parametrize("name", sorted({*operation.FACTS, "disk_1.labels", "disk_2.state", "disk_3.bay", "disks.blocks", "zfs.module"}))
def test_no_fact_may_be_missing(tmp_path, name):
    host = host_of(tmp_path, rehearsal.beside_a_raidz(2))
    given = params(host)
    pre = {key: value for key, value in operation.preconditions(host, given).items() if key != name}
    assert any(outcome != "pass" and name in why for outcome, why in operation.guards(pre, given))


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("role", "data", "A mirror is added as special or dedup"),
        ("role", "log", "A mirror is added as special or dedup"),
        ("ashift", "17", "is no ashift"),
        ("wwids", "naa:5000c500a65b207b", "of 2 to 4 disks"),
        ("wwids", "naa:5000c500a65b207b naa:5000c500a65b207b", "none of them twice"),
        ("wwids", "naa:5000c500a65b207b /dev/sdb", "is no WWID"),
        ("wwids", "naa:5000c500a65b207b -f", "is no WWID"),
        ("wwids", "naa:5000c500a65b207b  naa:5000c500a65b207c", "is no WWID"),
    ],
)
def test_what_is_no_such_mirror_is_not_taken(field, value, words):
    good = {"pool": "p", "pool_guid": "1", "role": "special", "ashift": "12", "wwids": "naa:5000c500a65b207b naa:5000c500a65b207c"}
    assert operation.check(good) == ""
    assert words in operation.check({**good, field: value})


@pytest.mark.parametrize(("release", "outcome"), [("0.8.6", "refuse"), ("2.0.1", "refuse"), ("2.0.2", "pass"), ("2.4.4", "pass")])
def test_where_the_tree_is_not_printed_whole_it_is_not_ordered(release, outcome):
    assert ruling("zpool_add_class", release, release).outcome == outcome


# --- the tree that -n prints

NEW = ("/dev/new", "/dev/newer")
MIRROR = "\t  mirror\n\t    /dev/new\n\t    /dev/newer\n"


def verdict(text, role="special"):
    return _dry_run.compared(_dry_run.parse(text, "tank"), _dry_run.tree(POOL, role, *NEW))


def test_the_mirror_at_the_end_of_its_section_is_as_meant():
    assert verdict(HEAD + DATA + SPECIAL + MIRROR + LOGS + SPARES) == "as meant"
    assert verdict(HEAD + DATA + "\tdedup\n" + MIRROR + SPECIAL + LOGS + SPARES, "dedup") == "as meant"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + DATA + MIRROR + SPECIAL + LOGS + SPARES,  # among the data
        HEAD + DATA + SPECIAL + LOGS + SPARES,
        HEAD + DATA + SPECIAL + "\t  /dev/new\n\t  /dev/newer\n" + LOGS + SPARES,  # no mirror: each by itself
        HEAD + DATA + SPECIAL + "\t  mirror\n\t    /dev/new\n" + LOGS + SPARES,
        HEAD + DATA + SPECIAL + "\t  mirror\n\t    /dev/newer\n\t    /dev/new\n" + LOGS + SPARES,
        HEAD + DATA + SPECIAL + "\t  raidz1\n\t    /dev/new\n\t    /dev/newer\n" + LOGS + SPARES,
        HEAD + DATA + SPECIAL + MIRROR.rstrip("\n") + "\n\t    /dev/more\n" + LOGS + SPARES,
        HEAD + DATA + SPECIAL + LOGS + MIRROR + SPARES,
    ],
)
def test_any_difference_is_named(text):
    assert "row" in verdict(text)
