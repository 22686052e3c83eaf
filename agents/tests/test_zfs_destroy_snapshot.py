"""One snapshot goes, by its name, when guid, txg, holds and clones are as they were planned; names of several are refused."""

from __future__ import annotations

import pytest

from agents.collectors import zfs_snapshots
from agents.collectors.base import Unparsed
from agents.host.host import Ran
from agents.operations import zfs_destroy_snapshot as operation
from twin.host import TwinHost
from twin.memory import MemoryStore
from twin.model import Snapshot
from twin.scenarios import tiny

NAME = "ost_0/archive@monday"


@pytest.fixture
def node():
    node = tiny()
    pool = node.pool("ost_0")
    pool.snapshots = [Snapshot(NAME, 77, 1200, 1_700_000_000, used=5, referenced=9)]
    pool.error_log = [f"{NAME}:/a"]
    return node


@pytest.fixture
def params(node):
    return {"pool": "ost_0", "pool_guid": str(node.pool("ost_0").guid), "snapshot": NAME, "snapshot_guid": "77", "createtxg": "1200"}


def host(node):
    return TwinHost(MemoryStore(node))


@pytest.mark.parametrize(
    "name",
    [
        *("ost_0/archive@a,b", "ost_0/archive@a%b", "ost_0/archive@%", "ost_0/archive", "ost_0@", "@a", "-r", "ost_0/archive@-R x,y"),
        *("other/archive@a", "ost_01@a", "ost_0/a@b@c", "ost_0/a@b\n", "ost_0//a@b", "ost_0/a#b", f"ost_0@{'a' * 255}"),
    ],
)
def test_what_is_not_the_name_of_one_snapshot_of_this_pool_is_no_parameter(name, params):
    assert operation.check({**params, "snapshot": name})


def test_what_it_reads_passes_and_it_is_destroyed_once(node, params):
    there = host(node)
    pre = operation.preconditions(there, params)
    assert {outcome for outcome, _ in operation.guards(pre, params)} == {"pass"}
    assert operation.probe(there, params, pre).result == "did_not"
    assert there.run(operation.argv(params), 10).exit_code == 0
    assert operation.probe(there, params, pre).result == "did"
    assert there.store.view().node.pool("ost_0").error_log == ["<0x8e>:<0x2>"]


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("guid", 78, "another snapshot"),
        ("createtxg", 9, "another snapshot"),
        ("holds", 2, "held 2 times"),
        ("clones", ["ost_0/c"], "clones: ost_0/c"),
    ],
)
def test_what_changed_refuses(node, params, field, value, why):
    setattr(node.pool("ost_0").snapshots[0], field, value)
    against = [reason for outcome, reason in operation.guards(operation.preconditions(host(node), params), params) if outcome != "pass"]
    assert len(against) == 1
    assert why in against[0]


def test_a_snapshot_that_is_gone_is_not_known_and_never_passes(node, params):
    node.pool("ost_0").snapshots.clear()
    outcomes = {outcome for outcome, _ in operation.guards(operation.preconditions(host(node), params), params)}
    assert "unknown" in outcomes


def test_one_made_anew_under_the_name_is_no_proof_of_either(node, params):
    node.pool("ost_0").snapshots[0].guid = 78
    assert operation.probe(host(node), params, {}).result == "cannot_tell"


def test_without_a_damaged_snapshot_nothing_is_asked(node):
    node.pool("ost_0").error_log = ["/ost_0/a"]
    (capture,) = zfs_snapshots.collect(host(node))
    assert capture.outcome == "nothing"


def test_where_the_list_is_not_read_no_snapshot_counts_as_gone(node):
    node.pool("ost_0").suspended = "io"
    (capture,) = zfs_snapshots.collect(host(node))
    assert capture.outcome == "failed"
    assert "could not be read" in capture.reason


@pytest.mark.parametrize("stderr", [b"cannot open 'ost_0@x': pool I/O is currently suspended\n", b"Permission denied\n", b""])
def test_an_error_that_is_not_of_one_that_is_gone_makes_the_answer_fail(node, monkeypatch, stderr):
    there = host(node)
    run = there.run
    monkeypatch.setattr(there, "run", lambda argv, seconds: Ran(argv, 1, b"", stderr, 0.0) if argv[0] == "zfs" else run(argv, seconds))
    (capture,) = zfs_snapshots.collect(there)
    assert capture.outcome == "failed"


def test_one_that_is_gone_hides_no_other(node):
    node.pool("ost_0").error_log.append("ost_0@gone:/b")
    (capture,) = zfs_snapshots.collect(host(node))
    assert [(one.name, one.guid, one.holds, one.clones) for one in zfs_snapshots.parse(capture.text)] == [(NAME, 77, 0, ())]


@pytest.mark.parametrize(
    "text",
    [
        "a@b\tguid\t7\n",  # the other properties are missing
        "a@b\tguid\n",
        "a@b\tguid\t7\na@b\tguid\t8\n",
        "a@b\tguid\t7",
        "a@b\tother\t7\n",
        "".join(f"a\t{key}\t{'filesystem' if key == 'type' else '1'}\n" for key in zfs_snapshots.PROPERTIES),
    ],
)
def test_a_text_that_is_not_whole_is_not_read(text):
    assert isinstance(zfs_snapshots.parse(text), Unparsed)
