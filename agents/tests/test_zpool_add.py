"""zpool_add puts a blank disk into one section that holds no data: what `zpool add -n` prints is compared row by row, and any difference refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agents.operations import _dry_run
from agents.operations import zpool_add as operation
from agents.operations._tree import Member, PoolTree
from agents.operations.base import Unread
from agents.zfs_releases import ruling
from twin import scenarios
from workflows.runbooks.remove_auxiliary import rehearsal

BLANK = 7


def host_of(tmp_path, node):
    return scenarios.host(tmp_path, node, scenarios.Clock())


def params(host, role, disk=BLANK):
    node = host.view().node
    return {"pool": "ost_0", "pool_guid": str(node.pool("ost_0").guid), "role": role, "wwid": node.disks[disk].wwid}


def against(host, given):
    lines = operation.guards(operation.preconditions(host, given), given)
    return " ".join(reason for outcome, reason in lines if outcome != "pass")


@pytest.mark.parametrize("role", operation.ROLES)
@pytest.mark.parametrize("beside", ["cache", "log", "spare", ""])
def test_the_pool_lists_it_in_its_role_and_nowhere_else(tmp_path, role, beside):
    node = rehearsal.with_one(beside, False) if beside else scenarios.tiny()
    host = host_of(tmp_path, node)
    given = params(host, role)
    data = len([top for top in node.pool("ost_0").tops if top.cls == "data"])
    pre = operation.preconditions(host, given)
    assert (pre["pool.tree_after"], against(host, given)) == ("as meant", "")
    assert operation.probe(host, given, pre).result == "did_not"
    assert host.run(operation.argv(given), 5.0).exit_code == 0
    assert operation.probe(host, given, pre).result == "did"
    assert len([top for top in host.view().node.pool("ost_0").tops if top.cls == "data"]) == data
    assert host.run(("zpool", "status", "-P", "-p"), 5.0).stdout.decode().count(given["wwid"].removeprefix("naa:")) == 1


def test_a_disk_that_has_a_label_is_refused_by_the_node_and_by_zpool(tmp_path):
    host = host_of(tmp_path, scenarios.tiny())
    given = params(host, "spare", disk=0)
    assert "is already a member" in against(host, given)
    assert "zpool add -n refuses" in operation.preconditions(host, given)["pool.tree_after"]


def test_with_a_checkpoint_nothing_is_added(tmp_path):
    host = host_of(tmp_path, scenarios.tiny())
    given = params(host, "log")
    pre = operation.preconditions(host, given) | {"pool.checkpoint": "exists"}
    assert any(outcome == "refuse" and "cannot be removed while it stands" in why for outcome, why in operation.guards(pre, given))


def test_as_data_a_disk_is_never_added():
    assert "is added as spare, log, cache" in operation.check(
        {"pool": "p", "pool_guid": "1", "role": "data", "wwid": "naa:5000c500a65b207b"}
    )


@pytest.mark.parametrize(("release", "outcome"), [("0.8.6", "refuse"), ("2.0.1", "refuse"), ("2.0.2", "pass"), ("2.4.4", "pass")])
def test_where_the_tree_is_not_printed_whole_it_is_not_ordered(release, outcome):
    assert ruling("zpool_add", release, release).outcome == outcome


# --- the tree that -n prints


def leaf(name, role="data"):
    return Member("1", name, "ONLINE", None, (), role=role)


POOL = PoolTree(
    "tank",
    "ONLINE",
    (),
    "",
    "",
    "",
    (
        Member("2", "mirror-0", "ONLINE", None, (leaf("/dev/a-part1"), leaf("/dev/b-part1"))),
        Member("3", "mirror-2", "ONLINE", None, (leaf("/dev/c-part1"), leaf("/dev/d-part1")), role="special"),
        leaf("/dev/e-part1", "log"),
        leaf("/dev/f-part1", "spare"),
    ),
)
HEAD = "would update 'tank' to the following configuration:\n\n"
DATA = "\ttank\n\t  mirror-0\n\t    /dev/a-part1\n\t    /dev/b-part1\n"
SPECIAL = "\tspecial\n\t  mirror\n\t    /dev/c-part1\n\t    /dev/d-part1\n"
LOGS, SPARES = "\tlogs\n\t  /dev/e-part1\n", "\tspares\n\t  /dev/f-part1\n"


def verdict(text, role="spare", path="/dev/new"):
    return _dry_run.compared(_dry_run.parse(text, "tank"), _dry_run.tree(POOL, role, path))


def test_the_new_disk_at_the_end_of_its_section_is_as_meant():
    assert verdict(HEAD + DATA + SPECIAL + LOGS + SPARES + "\t  /dev/new\n") == "as meant"
    assert verdict(HEAD + DATA + SPECIAL + LOGS + "\t  /dev/new\n" + SPARES, "log") == "as meant"
    assert verdict(HEAD + DATA + SPECIAL + LOGS + "\tcache\n\t  /dev/new\n" + SPARES, "cache") == "as meant"
    left = "\t  indirect-1\n"  # what is left of a removed vdev
    assert verdict(HEAD + DATA + left + SPECIAL + LOGS + SPARES + "\t  /dev/new\n") == "as meant"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            HEAD + DATA + "\t  /dev/new\n" + SPECIAL + LOGS + SPARES,
            "row 5 would be '/dev/new' at depth 1, and 'special' at depth 0 is meant",
        ),
        (HEAD + DATA + SPECIAL + LOGS + "\t  /dev/new\n" + SPARES, "row 11 would be '/dev/new' at depth 1"),
        (HEAD + DATA + SPECIAL + LOGS + SPARES + "\t  /dev/other\n", "row 13 would be '/dev/other' at depth 1, and '/dev/new'"),
        (HEAD + DATA + SPECIAL + LOGS + SPARES, "12 rows would be printed, and 13 are meant"),
        (HEAD + DATA + SPECIAL + LOGS + SPARES + "\t  /dev/new\n\t  /dev/more\n", "14 rows would be printed"),
        (HEAD + DATA.replace("b-part1", "x-part1") + SPECIAL + LOGS + SPARES + "\t  /dev/new\n", "row 4 would be '/dev/x-part1'"),
    ],
)
def test_any_difference_is_named(text, words):
    assert words in verdict(text)


@pytest.mark.parametrize("text", ["", "invalid vdev specification\n", HEAD.replace("tank", "other") + DATA, HEAD + DATA + "not a row\n"])
def test_what_is_not_understood_is_not_known(text):
    with pytest.raises(Unread):
        _dry_run.parse(text, "tank")


def test_a_section_that_is_not_known_here_is_not_compared():
    with pytest.raises(Unread, match="section other"):
        _dry_run.tree(PoolTree("t", "ONLINE", (), "", "", "", (leaf("/dev/x", "other"),)))


CAPTURES = Path(__file__).parent / "captures" / "zpool_add"
MEMBER, NEW = "/dev/disk/by-id/wwn-0x5000c50088f000{}3-part1", "/dev/disk/by-id/wwn-0x5000c50088f000{}3"
REAL = PoolTree(
    "tank",
    "ONLINE",
    (),
    "",
    "",
    "",
    (
        Member("2", "raidz1-0", "ONLINE", None, tuple(leaf(MEMBER.format(number)) for number in range(3))),
        leaf(MEMBER.format(4), "log"),
        leaf(MEMBER.format(5), "cache"),
        leaf(MEMBER.format(3), "spare"),
    ),
)
DATA_ALONE = replace(REAL, tops=REAL.tops[:1])


@pytest.mark.parametrize(
    ("name", "pool", "role", "new"),
    [("first-log", DATA_ALONE, "log", 3), ("second-log", REAL, "log", 6), ("second-spare", REAL, "spare", 6)],
)
def test_what_a_real_node_prints_is_as_meant_and_as_nothing_else(name, pool, role, new):
    rows = _dry_run.parse((CAPTURES / f"zpool-add-n-2.1.11--{name}.txt").read_text(), "tank")
    assert _dry_run.compared(rows, _dry_run.tree(pool, role, NEW.format(new))) == "as meant"
    for other in {"spare", "log", "cache", ""} - {role}:
        assert _dry_run.compared(rows, _dry_run.tree(pool, other, NEW.format(new))) != "as meant"
    assert _dry_run.compared(rows, _dry_run.tree(pool, role, NEW.format(0))) != "as meant"
