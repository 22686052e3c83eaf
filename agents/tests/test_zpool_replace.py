"""zpool_replace on twin nodes and on genuine captures: what it reads, what it refuses, what its probe concludes."""

from __future__ import annotations

import copy
import dataclasses
import json
import re

import pytest

from agents.collectors.base import Capture
from agents.host.host import Ran
from agents.operations import OPERATIONS, _candidate, _history, _tree
from agents.operations import zpool_replace as op
from agents.operations.base import Unread
from agents.portal.wire import canonical
from agents.tests import rig
from agents.tests.scenarios import STEPS, step
from twin.captured_host import CapturedHost
from twin.host import TwinHost
from twin.model import Partition

PLAN = OPERATIONS["plan"]
HISTORY = "History for 'ost_0':\n2026-11-20.10:00:00 zpool create ost_0 raidz2 a b c d\n"
COMMAND = "2026-11-21.08:37:20 zpool replace ost_0 17 /dev/disk/by-id/wwn-0x5\n"
MEMBER = "naa:5000c500a65b200b"


@pytest.fixture
def host(tmp_path) -> TwinHost:
    return rig.twin(tmp_path)


def disk(node, wwid=rig.BLANK):
    return next(d for d in node.disks if d.wwid == wwid)


def pool(node):
    return node.imported[0]


def against(host, given=None):
    given = given or rig.params(host)
    return " ".join(reason for outcome, reason in op.guards(op.preconditions(host, given), given) if outcome != "pass")


def change(host, do):
    with host.store.changing() as node:
        do(node)


def test_its_plan_says_what_goes_and_what_comes(host):
    given = rig.params(host)
    answer = PLAN.run(host, {"operation": op.NAME, "params": json.dumps(given)})
    plan = answer.result
    assert (answer.outcome, answer.reason) == ("succeeded", "")
    assert canonical(plan)
    assert plan["argv"] == ["zpool", "replace", "ost_0", given["vdev_guid"], "/dev/disk/by-id/wwn-0x5000c500a65b206b"]
    assert (plan["outgoing"]["was"], plan["outgoing"]["state"], plan["outgoing"]["top"]) == ("/dev/sdc1", "FAULTED", "raidz2-0")
    assert (plan["incoming"]["serial"], plan["incoming"]["bay"]) == ("ZA20006X", "0x500605b0000272bf/7")
    assert len(plan["topology_after"]) == len(plan["topology_before"]) + 2
    assert "replacing-2" in plan["topology_after"][4]
    assert set(plan) == {
        *("operation", "params", "argv", "outgoing", "incoming", "topology_before", "topology_after", "preconditions"),
    }


def test_reading_twice_says_the_same(host):
    assert op.preconditions(host, rig.params(host)) == op.preconditions(host, rig.params(host))


def test_what_moves_by_itself_is_no_precondition(host):
    """A kernel name, the time, error counters and a scrub may change between plan and execution."""
    before = op.preconditions(host, rig.params(host))
    change(host, lambda node: setattr(disk(node).paths[0], "name", "sdzz"))
    assert op.preconditions(host, rig.params(host)) == before
    assert "sdzz" not in json.dumps(before)


def second_path(node):
    path = copy.deepcopy(disk(node).paths[0])
    path.name, path.hctl, path.sg = "sdzz", "3:0:7:0", 99
    disk(node).paths.append(path)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (lambda node: disk(node).holders.append("dm-3"), "held by dm-3"),
        (lambda node: disk(node).partitions.append(Partition(1, 2048, 1000, mountpoint="/srv", filesystem="ext4")), "mounted on /srv"),
        (lambda node: disk(node).partitions.append(Partition(1, 2048, 1000, swap=True)), "in use: swap"),
        (lambda node: disk(node).partitions.append(Partition(1, 2048, 1000, filesystem="xfs")), "holds xfs"),
        (lambda node: setattr(disk(node).paths[0], "state", "offline"), "calls the disk naa:5000c500a65b206b offline"),
        (lambda node: node.disks.remove(disk(node)), "leads nowhere"),
        (lambda node: [setattr(bay, "wwid", "") for bay in node.enclosures[0].bays], "no enclosure reports"),
        (lambda node: setattr(pool(node), "suspended", True), "SUSPENDED"),
        (lambda node: setattr(node, "zfs_module", "2.2.0-1"), "the kernel module is 2.2.0. Reboot"),
        (lambda node: node.faults.hangs.append(rig.BLANK), "not known"),
    ],
)
def test_it_refuses(host, wrong, why, monkeypatch):
    monkeypatch.setattr(host, "_sleep", lambda seconds: None)
    change(host, wrong)
    assert why in against(host)


@pytest.mark.parametrize(
    ("fact", "value", "refused"),
    [("pool.expansion", "running", False), ("pool.removal", "running", True), ("pool.checkpoint", "exists", True)],
)
def test_an_expansion_waits_for_the_replacement_and_a_removal_or_a_checkpoint_does_not(host, fact, value, refused):
    pre = {**op.preconditions(host, rig.params(host)), fact: value}
    verdicts = [outcome for outcome, _ in op.guards(pre, rig.params(host))]
    assert (verdicts.count("refuse") == 1) == refused
    assert set(verdicts) <= {"pass", "refuse"}


def test_empty_partitions_speak_against_nothing(host):
    change(host, lambda node: disk(node).partitions.append(Partition(1, 2048, 1000)))
    assert against(host) == ""


def test_a_node_without_blkid_cannot_know_what_is_on_the_disk(host, monkeypatch):
    real = host.run
    none = lambda argv, seconds: Ran(argv, None, b"", b"", 0.0, "not found") if argv[0] == "blkid" else real(argv, seconds)  # noqa: E731
    monkeypatch.setattr(host, "run", none)
    assert "no blkid here" in against(host)


def test_a_member_is_refused_with_the_vdev_it_is(host):
    reason = against(host, rig.params(host, MEMBER))
    guid = next(str(leaf.guid) for leaf in pool(host.store.view().node).leaves() if "200b" in leaf.path)
    assert f"already a member: {guid} of ost_0" in reason
    assert "carries a ZFS label" in reason


def test_another_pools_guid_is_refused(host):
    given = {**rig.params(host), "pool_guid": "42"}
    assert "not 42" in against(host, given)


def test_an_unknown_vdev_or_pool_is_refused(host):
    assert "has no vdev 42" in against(host, {**rig.params(host), "vdev_guid": "42"})
    assert "0 pools named tank" in against(host, {**rig.params(host), "pool": "tank"})


def test_a_member_that_is_there_is_not_replaced(host):
    online = str(pool(host.store.view().node).leaves()[0].guid)
    assert "only an absent member" in against(host, {**rig.params(host), "vdev_guid": online})


def test_every_path_is_asked(host):
    change(host, second_path)
    assert op.preconditions(host, rig.params(host))["disk.paths"] == "2"
    change(host, lambda node: setattr(disk(node).paths[1], "state", "offline"))
    assert "paths to the disk disagree" in against(host)


def test_while_it_resilvers_nothing_else_is_replaced(host):
    given = rig.params(host)
    assert host.run(op.argv(given), 10).exit_code == 0
    reason = against(host, {**given, "wwid": "naa:5000c500a65b207b"})
    assert "raidz2-0 of ost_0 is being rebuilt" in reason
    assert "replacing, oldest child" in reason


def test_its_probe_tells_before_from_after(host):
    given = rig.params(host)
    pre = op.preconditions(host, given)
    before = op.probe(host, given, pre)
    assert before.result == "did_not"
    assert before.reason.endswith("`zpool history` does not have the command.")
    host.run(op.argv(given), 10)
    during = op.probe(host, given, pre)
    assert during.result == "did"
    assert "replacing-2" in during.reason
    assert re.search(r"`zpool history` has the command once, at [0-9.:-]+ UTC\.$", during.reason)
    assert {capture.source for capture in during.evidence} == {"zpool_status", "zpool_status_guid", "zdb_label", "zpool_history"}
    now = host.now() + 60
    host._clock = lambda: now
    after = op.probe(host, given, pre)
    assert after.result == "did"
    assert "is gone" in after.reason


@pytest.mark.parametrize(
    "blind",
    [
        lambda node: node.disks.remove(disk(node)),
        lambda node: setattr(pool(node), "name", "other"),
        lambda node: setattr(pool(node), "guid", 42),
        lambda node: node.faults.hangs.append(rig.BLANK),
    ],
)
def test_its_probe_does_not_guess(host, blind, monkeypatch):
    monkeypatch.setattr(host, "_sleep", lambda seconds: None)
    given = rig.params(host)
    change(host, blind)
    assert op.probe(host, given, {}).result == "cannot_tell"


def test_a_disk_that_joined_elsewhere_is_not_called_ours(host):
    given = rig.params(host)
    other = str(pool(host.store.view().node).leaves()[0].guid)
    host.run(op.argv(given), 10)
    assert op.probe(host, {**given, "vdev_guid": other}, {}).result == "cannot_tell"


def test_two_readings_that_differ_are_not_joined(host):
    named, guided = _tree.captures(host)
    with pytest.raises(Unread, match="different"):
        _tree.read((named, dataclasses.replace(guided, text=guided.text.replace("ONLINE", "FAULTED", 2))))
    with pytest.raises(Unread, match="different"):
        _tree.read((named, named))


def test_a_link_that_leads_to_another_disk_is_refused(host, monkeypatch):
    real = host.link
    monkeypatch.setattr(host, "link", lambda path: real(path).replace("sdg", "sda") if path.endswith("206b") else real(path))
    with pytest.raises(Unread, match=f"which is {MEMBER}"):
        _candidate.find(host, rig.BLANK)
    assert f"which is {MEMBER}" in against(host)


@pytest.mark.parametrize(
    ("name", "pool_name", "guid", "leaves"),
    [
        ("healthy-raidz2", "ost_0", "7963212167240562355", 6),
        ("healthy-mixed", "tank", "17530970335740660196", 8),
        ("healthy-mixed-zfs2.3", "tank", "2041595502068262595", 8),
        ("healthy-mixed-cache-draid/2-draid", "dpool", "4712084022277632920", 9),
        ("disk-removed/2-removed", "ost_0", "4384816311869892781", 6),
        ("sixty-disks/1-healthy", "ost_60", "17765414197878632263", 60),
        ("other-host/3-forced", "ost_off", "10694689121425967020", 3),
        ("other-host/3-forced", "ost_on", "9404896043686769858", 3),
    ],
)
def test_it_joins_genuine_texts_by_name_and_by_guid(name, pool_name, guid, leaves):
    host = CapturedHost(step(name))
    found = _tree.read(_tree.captures(host)).pool(pool_name)
    assert _tree.pool_guid(host, found) == guid
    assert len(found.leaves()) == leaves


@pytest.mark.parametrize("name", STEPS)
def test_its_probe_concludes_from_genuine_texts_only_what_they_show(name):
    """The new disk of `disk-removed` took the place of the lost member; a step without labels proves nothing."""
    given = {"pool": "ost_0", "pool_guid": "4384816311869892781", "vdev_guid": "12982808286677577576", "wwid": "naa:5000c500a65b207b"}
    result = op.probe(CapturedHost(step(name)), given, {}).result
    assert result == ("did" if name == "disk-removed/8-resilvered" else "cannot_tell")


def test_a_removed_member_is_absent_in_genuine_texts():
    given = {"pool": "ost_0", "pool_guid": "4384816311869892781", "vdev_guid": "12982808286677577576", "wwid": "naa:5000c500a65b207b"}
    pre = op.preconditions(CapturedHost(step("disk-removed/3-new-disk-in-slot")), given)
    assert (pre["pool.guid"], pre["target.state"], pre["target.parent"]) == ("4384816311869892781", "REMOVED", "raidz2")
    assert (pre["zfs.userland"], pre["zfs.module"]) == ("2.1.11-1+deb12u1", "2.1.11-1+deb12u1")


@pytest.mark.parametrize(
    ("capture", "expected"),
    [
        (
            Capture("zpool_history", "ost_0", "failed", "", "zpool history -l ost_0 took longer than 60 s"),
            "could not be read: zpool history -l ost_0 took",
        ),
        (
            Capture("zpool_history", "ost_0", "data", "no such thing\n", ""),
            "could not be read: the history does not show which pool it is of.",
        ),
        (
            Capture("zpool_history", "ost_0", "data", f"{HISTORY}{COMMAND}2026-11-21.08:40:01 zpool scrub ost_0\n", ""),
            "once, at 2026-11-21.08:37:20 UTC.",
        ),
        (
            Capture("zpool_history", "ost_0", "data", f"{HISTORY}{COMMAND}{COMMAND.replace('37:20', '39:02')}", ""),
            "2 times, the last at 2026-11-21.08:39:02",
        ),
    ],
)
def test_what_the_history_has_is_told_beside_the_probes_answer(monkeypatch, capture, expected):
    monkeypatch.setattr("agents.collectors.zpool_history.collect_one", lambda host, pool: capture)
    kept, history = _history.of(None, "ost_0", ("zpool", "replace", "ost_0", "17", "/dev/disk/by-id/wwn-0x5"))
    assert kept is capture
    assert expected in history
