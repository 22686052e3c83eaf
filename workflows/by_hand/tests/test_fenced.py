"""A pool taken over by hand: the snippet proves the same as the node does, and forces nothing where it is not so."""

from __future__ import annotations

import time

import pytest

from agents.operations import zpool_import_fenced
from agents.tests.test_operations import GOOD
from workflows.by_hand import snippet
from workflows.by_hand.tests.node import BOOT_ID, HOSTID, NONCE, POOL_GUID, FakeNode, plan, until

LABEL = """\
------------------------------------
LABEL 0
------------------------------------
    pool_guid: {pool}
    hostid: {hostid}
    hostname: '{host}'
    guid: {guid}
    vdev_tree:
        guid: 77
    Uberblock[4]
\ttxg = {txg}
    labels = 0 1 2 3
"""
ZDB = '#!/bin/sh\n[ "$1" = -lu ] && cat "$NODE/zdb-${2##*/}" 2>/dev/null\n'
SLEEPS = '#!/bin/sh\nprintf "%s\\n" "$1" >>"$NODE/slept"\nif [ -e "$NODE/wakes" ]; then cp "$NODE/wakes" "$NODE/zdb-sdr1"; fi\n'


def label(**changes: object) -> str:
    return LABEL.format(**{"pool": POOL_GUID, "hostid": int("5b2f9c02", 16), "host": "oss02", "guid": 1, "txg": 4, **changes})


@pytest.fixture
def node(tmp_path):
    found = FakeNode.build(tmp_path)
    for name, text in {"sdq1": label(guid=1), "sdr1": label(guid=2), "sds1": label(guid=2), "sdt1": label(guid=3, pool=99)}.items():
        (tmp_path / "device" / name).mkdir()
        (tmp_path / f"zdb-{name}").write_text(text)
    found.tool("zdb", ZDB)
    found.tool("sleep", SLEEPS)
    return found


def run(node, **changes: str):
    params = {**GOOD["zpool_import_fenced"], "pool_guid": POOL_GUID, "fenced_at": str(int(time.time()) - 100)}
    params |= {"rings": "txg 4 of 5 on 2 members, ab", **changes}
    grounds = {"hostid": HOSTID, "boot_id": BOOT_ID, "imported": "no", "members": [], "disks": []}
    made = plan(operation="zpool_import_fenced", params=params, argv=list(zpool_import_fenced.argv(params)), by_hand=grounds)
    return node.run(snippet.make(made, NONCE, until(), node.paths()))


def test_it_looks_twice_a_minute_apart_and_imports(node):
    ended = run(node)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert node.ran == f"import -f -N -o cachefile=none -d /dev/disk/by-id {POOL_GUID}\n"
    assert (node.folder / "slept").read_text() == "60\n"


def test_a_head_that_writes_meanwhile_has_nothing_imported(node):
    (node.folder / "wakes").write_text(label(guid=2, txg=5))
    ended = run(node)
    assert (ended.returncode, node.ran) == (1, "")
    assert "some host writes to the pool" in ended.stdout


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"host": "oss03"}, "a label names another host"),
        ({"hostid": "5b2f9c03"}, "a label names another host"),
        ({"rings": "txg 4 of 5 on 3 members, ab"}, "not 3 members can be read"),
        ({"fenced_at": str(int(time.time()) - 601)}, "have it shown again"),
    ],
)
def test_it_forces_nothing_where_it_is_not_so(changes, expected, node):
    ended = run(node, **changes)
    assert (ended.returncode, node.ran) == (1, ""), ended.stdout
    assert expected in ended.stdout


def test_what_the_kernel_remembers_is_no_look_at_the_disk(node):
    (node.folder / "zdb-sdq1").write_text("failed to invalidate cache '/dev/sdq1' : Input/output error\n" + label(guid=1))
    ended = run(node)
    assert (ended.returncode, node.ran) == (1, "")
    assert "not the disk" in ended.stdout
