"""The one forced import, as the node itself judges it: what it reads again immediately before, and what it then refuses."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from agents.operations import _uberblocks
from agents.operations import zpool_import_fenced as fenced
from agents.operations.base import act
from twin import scenarios
from twin.scenarios import Clock

HOST, HOSTID = "oss02", "5b2f9c02"


@pytest.fixture
def twin(tmp_path):
    """Its pool was used last by another host, which never let go of it."""
    node = scenarios.not_imported()
    pool = node.pool("ost_0")
    pool.hostname, pool.hostid = HOST, int(HOSTID, 16)
    return scenarios.host(tmp_path, node, Clock())


def params(twin, **changes: str) -> dict[str, str]:
    guid = str(twin.view().node.pool("ost_0").guid)
    now = twin.now()
    good = {
        **{"pool": "ost_0", "pool_guid": guid, "host": HOST, "hostid": HOSTID, "fence": "unplugged, chassis C8470LJ12P30033"},
        **{"fenced_at": str(int(now) - 90), "looked_at": str(int(now) - 61)},
        "rings": _uberblocks.fingerprint(_uberblocks.rings_by_guid(twin, {"pool_guid": guid})),
    }
    return {**good, **changes}


def against(twin, params) -> str:
    return " ".join(reason for outcome, reason in fenced.guards(fenced.preconditions(twin, params), params) if outcome != "pass")


def written(node, txgs: int = 1, disks: slice = slice(None)) -> None:
    """Somebody wrote to the pool meanwhile: its newest uberblock is a later one."""
    pool = node.pool("ost_0")
    pool.txg += txgs
    for disk in node.disks[disks]:
        for partition in disk.partitions:
            if partition.label is not None:
                partition.label.txg = pool.txg


def test_it_has_nothing_against_a_pool_whose_host_is_fenced(twin):
    good = params(twin)
    assert against(twin, good) == ""
    assert act(fenced, twin, good).exit_code == 0
    assert fenced.probe(twin, good, {}).result == "did"


def test_its_facts_are_those_it_judges(twin):
    assert set(fenced.preconditions(twin, params(twin))) == set(fenced.FACTS)


@pytest.mark.parametrize("name", fenced.FACTS)
def test_knowing_less_never_opens_it(name, twin):
    good = params(twin)
    pre = fenced.preconditions(twin, good)
    for less in ({k: v for k, v in pre.items() if k != name}, {**pre, name: "unknown: no answer"}):
        assert any(outcome != "pass" and name in reason for outcome, reason in fenced.guards(less, good)), name


@pytest.mark.parametrize("disks", [slice(None), slice(0, 1)])
def test_a_head_that_writes_meanwhile_is_noticed_on_any_one_member(disks, twin):
    good = params(twin)
    with twin.store.changing() as node:
        written(node, disks=disks)
    assert "Some host has it. Import it nowhere." in against(twin, good)


def test_a_pool_that_multihost_sees_in_use_is_refused_whatever_was_fenced(twin):
    good = params(twin)
    with twin.store.changing() as node:
        node.pool("ost_0").active_on = f"{HOST} {HOSTID}"
    assert "imported elsewhere now" in against(twin, good)
    assert act(fenced, twin, good).exit_code == 1


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"host": "oss03"}, "The labels of ost_0 name oss02 (5b2f9c02); oss03 (5b2f9c02) was fenced"),
        ({"hostid": "5b2f9c03"}, "oss02 (5b2f9c03) was fenced"),
        ({"rings": "txg 3 of 5 on 6 members, 00"}, "was written to since the first look"),
    ],
)
def test_it_refuses_another_host_or_other_rings(changes, expected, twin):
    assert expected in against(twin, params(twin, **changes))


def test_it_refuses_by_its_own_clock(twin):
    now = int(twin.now())
    assert "600 s or more old" in against(twin, params(twin, fenced_at=str(now - 600)))
    assert "clock of this node" in against(twin, params(twin, fenced_at=str(now + 200)))
    assert "not 60 s old" in against(twin, params(twin, looked_at=str(now - 59)))


def test_it_refuses_a_pool_that_this_host_used_last_or_that_was_exported(twin):
    with twin.store.changing() as node:
        node.pool("ost_0").state = 1
    assert "ZFS asks for that" in against(twin, params(twin))
    with twin.store.changing() as node:
        pool = node.pool("ost_0")
        pool.state, pool.hostid = 0, int(node.hostid, 16)
    assert "has the hostid" in against(twin, params(twin, hostid=twin.view().node.hostid))


def test_a_label_of_a_third_host_refuses(twin):
    good = params(twin)
    with twin.store.changing() as node:
        node.disks[2].partitions[0].label.writer = "oss07 5b2f9c07"
    assert "oss07 (5b2f9c07)" in against(twin, good)


def test_a_member_that_cannot_be_read_or_is_not_here_refuses(twin):
    good = params(twin)
    with twin.store.changing() as node:
        away = copy.deepcopy(node.disks[1])
        node.disks.remove(node.disks[1])
    assert away.wwid[-8:] in against(twin, good) or "not every member is here" in against(twin, good)
    with twin.store.changing() as node:
        node.disks.append(away)
        node.faults.hangs.append(away.wwid)
    assert against(twin, good)


def test_a_look_at_what_the_kernel_remembers_is_none(twin):
    good, real = params(twin), twin.run

    def run(argv, *rest, **more):
        ran = real(argv, *rest, **more)
        cached = b"failed to invalidate cache '/dev/sda1' : Input/output error\n" if argv[:2] == ("zdb", "-lu") else b""
        return replace(ran, stdout=cached + ran.stdout)

    twin.run = run
    assert "what the kernel remembers" in against(twin, good)
