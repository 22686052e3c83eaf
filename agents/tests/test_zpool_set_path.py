"""Telling ZFS where a lost member is now: only where the very disk carries its label, and only a ZFS that can be told."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.collectors import zpool_status
from agents.operations import zpool_online, zpool_set_path
from twin import scenarios
from twin.model import Label

WWID = "naa:5000c500a65b202b"
LINK = "/dev/disk/by-id/wwn-0x5000c500a65b202b-part1"


@pytest.fixture
def host(tmp_path):
    return scenarios.host(tmp_path, scenarios.member_back(), scenarios.Clock())


def params(host, wwid=WWID):
    pool = host.view().node.pool("ost_1")
    lost = next(leaf for leaf in pool.leaves() if leaf.not_present)
    return {"pool": "ost_1", "pool_guid": str(pool.guid), "vdev_guid": str(lost.guid), "wwid": wwid}


def against(host, given):
    pre = zpool_set_path.preconditions(host, given)
    return " ".join(reason for outcome, reason in zpool_set_path.guards(pre, given) if outcome != "pass")


def lost(host):
    return next(leaf for leaf in host.view().node.pool("ost_1").leaves() if str(leaf.guid) == given_guid(host))


def given_guid(host):
    return str(scenarios.leaf_on(host.view().node, WWID).guid)


def test_it_names_the_member_by_guid_and_the_disk_by_wwid(host):
    given = params(host)
    assert zpool_set_path.argv(given) == ("zpool", "set", f"path={LINK}", "ost_1", given["vdev_guid"])
    assert against(host, given) == ""


def test_online_alone_finds_nothing_and_after_the_path_it_does(host):
    given = params(host)
    host.run(zpool_online.argv(given), 5.0)
    assert lost(host).state != "ONLINE"
    assert zpool_set_path.probe(host, given, {}).result == "did_not"
    assert host.run(zpool_set_path.argv(given), 5.0).exit_code == 0
    assert (zpool_set_path.probe(host, given, {}).result, lost(host).state) == ("did", "FAULTED")
    host.run(zpool_online.argv(given), 5.0)
    assert (lost(host).state, lost(host).path) == ("ONLINE", LINK)


def test_a_disk_with_another_label_or_none_is_refused(host):
    member, blank = "naa:5000c500a65b203b", "naa:5000c500a65b208b"
    assert "not the label of" in against(host, params(host, member))
    assert "has no partition 1" in against(host, params(host, blank))


def test_a_label_of_the_same_guid_in_another_pool_is_refused(host):
    given = params(host)
    with host.store.changing() as node:
        scenarios.add_foreign_pool(node, scenarios.lab_disk(11, 10), "ost_9", "oss09", 9)
        node.disk(WWID).partitions[0].label = Label("ost_9", node.pool("ost_9").leaves()[0].guid, 9)
    assert "not the label of" in against(host, given)


def test_a_member_that_serves_needs_no_path(host):
    given = params(host)
    with host.store.changing() as node:
        scenarios.leaf_on(node, WWID).state = "ONLINE"
    assert "so it needs no other path" in against(host, given)


@pytest.mark.parametrize(
    ("release", "why"),
    [
        ("0.8.6-1", "members have no property path"),
        ("2.1.11-1", "members have no property path"),
        ("2.5.0-1", "is not among the releases that were read"),
    ],
)
def test_a_zfs_that_cannot_be_told_or_was_never_read_is_refused(host, release, why):
    given = params(host)
    with host.store.changing() as node:
        node.zfs_userland = node.zfs_module = release
    assert why in against(host, given)
    if release < "2.2":
        assert host.run(zpool_set_path.argv(given), 5.0).exit_code != 0, "such a tool does not know the property"


@pytest.mark.parametrize("wwid", ["", "sda", "/dev/sda", "eui.0025385b71b00001", "NAA:5000C500A65B202B"])
def test_it_takes_no_name_that_can_move(host, wwid):
    assert zpool_set_path.check({**params(host), "wwid": wwid})


# What a real node said (OpenZFS 2.3.2): two disks had changed names, and one of them was a member.
CAPTURES_OF_SET_PATH = Path(__file__).parent / "captures" / "zpool_set_path"


def genuine(name):
    """The lost member's row, by what `zpool status -P` printed."""
    (pool,) = zpool_status.parse((CAPTURES_OF_SET_PATH / f"zpool-status-P-2.3.2--{name}.txt").read_text())
    return pool.vdevs.children[0].children[2]


def played(host):
    (pool,) = zpool_status.parse(host.run(("zpool", "status", "-P"), 5.0).stdout.decode())
    return next(leaf for leaf in pool.vdevs.children[0].children if LINK in (leaf.name, leaf.was) or leaf.state != "ONLINE")


def test_the_twin_answers_as_the_real_node_did(host):
    """The tool warns and exits 0; the path alone opens nothing; and then it is ONLINE at once."""
    given, names = params(host), []
    with host.store.changing() as node:
        leaf = scenarios.leaf_on(node, WWID)
        leaf.state, leaf.aux, leaf.not_present = "UNAVAIL", "bad_label", False  # as without a boot in between
        before = leaf.path
    output = host.run(zpool_online.argv(given), 5.0)
    warned = (CAPTURES_OF_SET_PATH / "zpool-online-2.3.2--under-the-old-name.txt").read_text()
    assert (output.exit_code, output.stdout.decode()) == (0, warned.replace("7196827272892909951", given["vdev_guid"]))
    for argv in ((), zpool_set_path.argv(given), zpool_online.argv(given)):
        if argv:
            assert host.run(argv, 5.0).exit_code == 0
        names.append((played(host).name, played(host).state))
    steps = ("lost-under-an-old-name", "path-set", "online-and-not-yet-resilvered")
    real = [(genuine(step).name, genuine(step).state) for step in steps]
    link = "/dev/disk/by-id/wwn-0x5000c500fac90023-part1"
    assert names == [(before if name == "/dev/sdc1" else LINK if name == link else name, state) for name, state in real]
