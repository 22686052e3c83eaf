"""The executor on a twin node: each gate refuses, and the command runs at most once."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest

from agents.domain.times import iso
from agents.host.host import Ran
from agents.operations.base import Probe
from agents.orders import order as orders
from agents.orders import policy
from agents.orders.executor import conclude, difference
from agents.orders.journal import JournalError
from agents.portal.transport import PortalDown, Reply
from agents.portal.wire import sha256_hex
from agents.tests import rig
from agents.tests.stage import Stage


@pytest.fixture
def stage(tmp_path):
    stage = Stage(tmp_path)
    yield stage
    stage.journal.close()


def test_it_replaces_once_and_says_so(stage):
    receipt = stage.do()
    assert (receipt["outcome"], receipt["exit_code"], receipt["probe"]) == ("succeeded", "0", None)
    assert stage.ran == [receipt["argv"]]
    assert [word for word, _ in stage.portal.asked] == ["claim", "start"]
    assert {c["source"] for c in receipt["captures"]} == {"zpool_status", "zpool_status_guid", "zdb_label"}
    assert {c["digest"] for c in receipt["captures"]} == set(receipt["bodies"])
    status = next(c for c in receipt["captures"] if c["source"] == "zpool_status")
    assert "replacing-2" in receipt["bodies"][status["digest"]]["text"]


def test_it_answers_a_repeated_order_from_the_journal(stage):
    sealed = rig.replace_order(stage.host)
    first = stage.do(sealed)
    assert stage.do(sealed) == first
    assert stage.new_executor().recover() is None
    assert len(stage.ran) == 1


def test_it_refuses_another_order_by_a_known_id(stage):
    first = stage.do()
    stage.executor.handle(stage.order(rig.replace_order(stage.host, fence="9")))
    word, receipt = stage.portal.asked[-1]
    assert (word, receipt["outcome"]) == ("receipt", "refused")
    assert json.loads(stage.journal.find("order-1").receipt) == first
    assert len(stage.ran) == 1


def hold(disk, node):
    disk.holders.append("dm-3")


@pytest.mark.parametrize(
    ("fact", "change"),
    [
        ("disk.holders", lambda node: hold(next(d for d in node.disks if d.wwid == rig.BLANK), node)),
        ("disk.serial", lambda node: setattr(next(d for d in node.disks if d.wwid == rig.BLANK), "serial", "OTHER")),
        ("target.members", lambda node: setattr(node.imported[0].leaves()[0], "state", "OFFLINE")),
        ("disk.bay", lambda node: setattr(next(b for b in node.enclosures[0].bays if b.wwid == rig.BLANK), "number", 12)),
        ("disk.by_id", lambda node: node.disks.remove(next(d for d in node.disks if d.wwid == rig.BLANK))),
        ("zfs.module", lambda node: setattr(node, "zfs_module", "2.2.0-1")),
        ("pool.state", lambda node: setattr(node.imported[0], "suspended", True)),
    ],
)
def test_it_refuses_when_a_fact_changed_and_names_it(stage, fact, change):
    sealed = rig.replace_order(stage.host)
    stage.change(change)
    receipt = stage.do(sealed)
    assert receipt["outcome"] == "refused"
    assert fact in receipt["reason"]
    assert stage.ran == []
    assert stage.portal.asked == []


def test_it_looks_once_more_after_the_portal_said_start(stage):
    """Between the first look and the start somebody may take the disk."""
    blank = lambda node: next(d for d in node.disks if d.wwid == rig.BLANK)  # noqa: E731
    stage.portal.on["start"] = lambda: stage.change(lambda node: hold(blank(node), node))
    receipt = stage.do()
    assert (receipt["outcome"], stage.ran) == ("refused", [])
    assert "disk.holders was 'none' and is 'dm-3'" in receipt["reason"]


def test_it_refuses_what_the_plan_already_knew_to_be_wrong(stage):
    stage.change(lambda node: hold(next(d for d in node.disks if d.wwid == rig.BLANK), node))
    receipt = stage.do()
    assert receipt["outcome"] == "refused"
    assert "is held by dm-3" in receipt["reason"]


@pytest.mark.parametrize("word", ["claim", "start"])
@pytest.mark.parametrize(
    "reply", [Reply(409, {"reason": "The run was stopped."}), Reply(200, {}), Reply(200, {"go": "yes"}), PortalDown("gone")]
)
def test_nothing_runs_without_the_portals_go(stage, word, reply, monkeypatch):
    monkeypatch.setattr("agents.orders.executor.time.sleep", lambda seconds: None)
    stage.portal.replies[word] = reply
    receipt = stage.do()
    assert receipt["outcome"] == "refused"
    assert word in receipt["reason"]
    assert stage.ran == []


def test_an_order_that_expires_while_waiting_does_not_run(stage):
    soon = iso(stage.host.now() + 100)
    real = stage.host._clock
    stage.portal.on["start"] = lambda: setattr(stage.host, "_clock", lambda: real() + 200)
    receipt = stage.do(expires_at=soon)
    assert (receipt["outcome"], stage.ran) == ("refused", [])
    assert "expired" in receipt["reason"]


def test_an_order_refused_by_policy_is_remembered(stage):
    os.remove(os.path.join(stage.folder, "policy.json"))
    receipt = stage.do()
    assert "observed" in receipt["reason"]
    rig.agent_folder(Path(stage.folder), "http://127.0.0.1:1")
    assert stage.do() == receipt
    assert stage.ran == []


def test_a_newer_fence_shuts_out_the_older(stage):
    stage.portal.replies["claim"] = Reply(409, {"reason": "no"})
    stage.do(fence="5", id="newer")
    stage.portal.replies.clear()
    receipt = stage.do(fence="4", id="older")
    assert "seen 5" in receipt["reason"]
    assert stage.ran == []


def test_one_order_a_pool_at_a_time(stage):
    folder = os.path.join(stage.folder, "run", "locks")
    os.makedirs(folder)
    with open(os.path.join(folder, f"pool-{rig.params(stage.host)['pool_guid']}"), "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        receipt = stage.do()
    assert "Another order" in receipt["reason"]
    assert stage.ran == []


def test_a_full_disk_refuses_before_anything_runs(stage):
    order = stage.order(rig.replace_order(stage.host))
    stage.portal.on["start"] = lambda: stage.journal._db.execute("PRAGMA query_only = ON")
    stage.executor.handle(order)
    assert stage.ran == []
    word, receipt = stage.portal.asked[-1]
    assert (word, receipt["outcome"]) == ("receipt", "refused")
    assert "could not be written" in receipt["reason"]


def test_a_result_that_cannot_be_written_stops_the_agent(stage):
    """Going on would mean forgetting it; the next agent probes and says "unknown"."""
    real = stage.host.run

    def run(argv, timeout_seconds):
        ran = real(argv, timeout_seconds)
        if argv[:2] == ("zpool", "replace"):
            stage.journal._db.execute("PRAGMA query_only = ON")
        return ran

    stage.host.run = run
    with pytest.raises(JournalError):
        stage.executor.handle(stage.order(rig.replace_order(stage.host)))
    stage.journal._db.execute("PRAGMA query_only = OFF")
    stage.new_executor().recover()
    receipt = json.loads(stage.journal.find("order-1").receipt)
    assert (receipt["outcome"], receipt["probe"]["result"], len(stage.ran)) == ("unknown", "did", 1)


def end_replace_with(stage, ran, really=False):
    real = stage.host.run

    def run(argv, timeout_seconds):
        if argv[:2] != ("zpool", "replace"):
            return real(argv, timeout_seconds)
        if really:
            real(argv, timeout_seconds)
        return ran

    stage.host.run = run


def test_it_says_failed_when_exit_code_and_probe_agree(stage):
    end_replace_with(stage, Ran(("zpool", "replace"), 1, b"", b"cannot replace", 0.1))
    receipt = stage.do()
    assert (receipt["outcome"], receipt["exit_code"], receipt["probe"]["result"]) == ("failed", "1", "did_not")
    assert receipt["stderr"] == "cannot replace"


def test_it_says_unknown_when_they_do_not(stage):
    end_replace_with(stage, Ran(("zpool", "replace"), 1, b"", b"", 0.1), really=True)
    receipt = stage.do()
    assert (receipt["outcome"], receipt["probe"]["result"]) == ("unknown", "did")


@pytest.mark.parametrize(("really", "result"), [(True, "did"), (False, "did_not")])
def test_it_says_unknown_when_the_command_did_not_end(stage, really, result):
    end_replace_with(stage, Ran(("zpool", "replace"), None, b"", b"", 600.0, "timeout"), really)
    receipt = stage.do()
    assert (receipt["outcome"], receipt["probe"]["result"], receipt["exit_code"]) == ("unknown", result, None)
    assert receipt["captures"]


def test_it_never_runs_what_an_earlier_agent_left(stage):
    for phase in ("claimed", "intended"):
        text, digest = rig.replace_order(stage.host, id=phase)
        stage.journal.claim(phase, digest, text, iso(1), "1", 1)
    stage.journal.intend("intended", iso(2))
    stage.new_executor().recover()
    left = {name: json.loads(stage.journal.find(name).receipt) for name in ("claimed", "intended")}
    assert left["claimed"]["outcome"] == "refused"
    assert left["claimed"]["reason"] == "The agent restarted before anything ran."
    assert left["intended"]["outcome"] == "unknown"
    assert left["intended"]["probe"]["result"] == "did_not"
    assert left["intended"]["bodies"]
    assert stage.ran == []


@pytest.mark.parametrize("text", ["{}", rig.seal(operation="zpool_gone", effect="at_most_once", params={}, argv=[])[0]])
def test_what_another_version_left_is_reported_and_not_run(stage, text):
    stage.journal.claim("order-1", sha256_hex(text.encode()), text, iso(1), "1", 1)
    stage.journal.intend("order-1", iso(2))
    stage.new_executor().recover()
    receipt = json.loads(stage.journal.find("order-1").receipt)
    assert (receipt["outcome"], receipt["probe"]["result"]) == ("unknown", "cannot_tell")


def test_it_waits_for_a_command_that_outlived_its_agent(stage, monkeypatch):
    waits = []
    monkeypatch.setattr("agents.orders.executor.time.sleep", waits.append)
    monkeypatch.setattr("agents.host.running_commands.still_running", lambda host, argv: "4711")
    text, digest = rig.replace_order(stage.host)
    stage.journal.claim("order-1", digest, text, iso(1), "1", 1)
    stage.journal.intend("order-1", iso(2))
    stage.new_executor().recover()
    receipt = json.loads(stage.journal.find("order-1").receipt)
    assert receipt["probe"]["result"] == "cannot_tell"
    assert "still running as process 4711" in receipt["reason"]
    assert waits


def test_it_names_each_difference():
    assert difference({"a": "1", "b": "2"}, {"a": "1", "c": "3"}) == (
        "b was '2' and is 'not read here'",
        "c was 'not in the plan' and is '3'",
    )


@pytest.mark.parametrize(
    ("exit_code", "why", "probe", "outcome"),
    [
        (0, "", None, "succeeded"),
        (1, "", "did_not", "failed"),
        (1, "", "did", "unknown"),
        (1, "", "cannot_tell", "unknown"),
        (None, "timeout", "did", "unknown"),
        (None, "timeout", "did_not", "unknown"),
        (None, "stuck", "cannot_tell", "unknown"),
        (None, "not found", "did_not", "failed"),
    ],
)
def test_it_concludes_no_more_than_it_knows(exit_code, why, probe, outcome):
    ran = Ran(("zpool", "replace"), exit_code, b"", b"", 1.0, why)
    assert conclude(ran, probe and Probe(probe, (), ""))[0] == outcome


def test_a_command_that_failed_is_told_with_its_own_first_words():
    ran = Ran(("zpool", "import"), 1, b"Destroy and re-create the pool from\n", b"\ncannot import 'ost_5': I/O error\n\tmore\n", 1.0, "")
    assert conclude(ran, Probe("did_not", (), "")) == ("failed", "`zpool import` exited 1. Its output: cannot import 'ost_5': I/O error")


def test_a_look_needs_no_claim_and_no_journal(stage):
    text, captures = stage.executor.pure(orders.read(*rig.look_order("zpool_status,node")))
    receipt = json.loads(text)
    assert (receipt["outcome"], [c.source for c in captures]) == ("succeeded", ["zpool_status", "node"])
    assert (stage.portal.asked, stage.journal.pending()) == ([], ())


def test_a_plan_for_the_wrong_disk_comes_back_refused_with_its_reasons(stage):
    member = "naa:5000c500a65b200b"
    inner = json.dumps(rig.params(stage.host, member))
    text, _ = stage.executor.pure(
        orders.read(*rig.seal(operation="plan", effect="pure", params={"operation": "zpool_replace", "params": inner}, argv=[]))
    )
    receipt = json.loads(text)
    assert receipt["outcome"] == "refused"
    assert "already a member" in receipt["reason"]
    assert receipt["result"]["incoming"]["wwid"] == member


def test_policy_is_read_again_for_every_order(stage):
    path = os.path.join(stage.folder, "policy.json")
    assert policy.load(path).mode == "operate"
    os.remove(path)
    assert "observed" in stage.do()["reason"]
