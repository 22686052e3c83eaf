"""The demo fleet through the real collectors: what the facts show, and which disks the runbook would let somebody choose."""

from __future__ import annotations

import pytest

from agents.collectors import COLLECTORS
from twin import demo
from twin.host import TwinHost
from twin.scenarios import Clock
from workflows.analysis.redundancy import pool_margin
from workflows.engine.core import ask, blockers
from workflows.facts import FleetFacts, NodeFacts, known, node_facts
from workflows.guards import CANDIDATE_GUARDS, REPLACED_GUARDS, TARGET_GUARDS
from workflows.situations import detect_all


@pytest.fixture(scope="module")
def fleet(tmp_path_factory) -> FleetFacts:
    folder = tmp_path_factory.mktemp("demo")
    demo.make(folder)
    return FleetFacts({name: facts_of(TwinHost(demo.state_path(folder, name)), name) for name in demo.node_names()})


def facts_of(host: TwinHost, name: str) -> NodeFacts:
    taken = [capture for collector in COLLECTORS.values() for capture in collector.collect(host)]
    ages = dict.fromkeys(COLLECTORS, 1.0)
    return node_facts(name, {f"{c.source}/{c.key}" if c.key else c.source: c for c in taken}, 1.0, (), ages=ages)


@pytest.fixture
def params(fleet) -> dict[str, str]:
    (incident,) = [s for s in detect_all(fleet) if s.slug == "wwid-mismatch"]
    return dict(incident.answers[0].params)


def test_it_shows_each_story_and_no_other(fleet):
    assert {(s.node, s.slug, s.severity) for s in detect_all(fleet)} == {
        ("oss01", "wwid-mismatch", "act"),
        ("oss01", "disk-failing", "watch"),  # of no pool
        ("oss02", "disk-missing", "watch"),
        ("oss02", "resilver-running", "info"),
        ("oss03", "disk-missing", "act"),
    }


def test_nothing_in_it_is_unknown_that_a_node_can_say(fleet):
    for node in fleet.nodes.values():
        assert dict(node.failures) == {}
        assert all(known(pool.guid) and known(pool_margin(pool)) for pool in node.pools)
        assert all(known(disk.labels) and known(disk.in_use) for disk in node.disks)


def test_the_incident_is_ready_to_be_answered(fleet, params):
    assert params["vdev_guid"] == str(demo.LOST_GUID)
    assert params["was"] == "/dev/sdfl1"
    assert blockers(ask(TARGET_GUARDS, fleet, params)) == ()


def test_only_the_blank_disk_that_fits_can_be_chosen(fleet, params):
    disks = [d for d in fleet.nodes["oss01"].disks if known(d.wwid)]
    free = [d.wwid for d in disks if not blockers(ask(CANDIDATE_GUARDS, fleet, params | {"wwid": d.wwid}))]
    assert len(disks) > 60
    assert free == [f"naa:{demo.BLANK_WWN}"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sdcw", f"is already member {demo.SDCW_GUID} of ost_0. Choose a disk without a label."),
        ("sdfl", "is already member "),
        ("sdcy", "carries a label of the pool scratch9 of oss77 (exported)"),
        ("sdcz", "Choose a larger disk."),
        ("sdda", "FAILURE PREDICTION"),
        ("sda", "mounted on /"),
    ],
)
def test_it_says_why_another_disk_is_wrong(fleet, params, name, expected):
    (disk,) = [d for d in fleet.nodes["oss01"].disks if name in d.names]
    refused = blockers(ask(CANDIDATE_GUARDS, fleet, params | {"wwid": disk.wwid}))
    assert any(name in v.reason and expected in v.reason for v in refused), refused


def test_no_disk_of_another_node_stands_in_the_way(fleet):
    """The nodes of the demo share no shelf, so each answers for itself."""
    seen = [d.wwid for node in fleet.nodes.values() for d in node.disks if known(d.wwid)]
    assert len(seen) == len(set(seen))


# The replacement, seen from the facts before, while and after it runs.


@pytest.fixture
def oss01(tmp_path) -> TwinHost:
    demo.make(tmp_path, now=Clock().at)
    clock = Clock()
    return TwinHost(demo.state_path(tmp_path, "oss01"), clock, clock.sleep)


def replace_the_lost_member(host: TwinHost) -> None:
    ran = host.run(("zpool", "replace", "ost_0", str(demo.LOST_GUID), f"/dev/disk/by-id/wwn-0x{demo.BLANK_WWN}"), 60.0)
    assert ran.exit_code == 0, ran.stderr


def alone(host: TwinHost) -> FleetFacts:
    return FleetFacts({"oss01": facts_of(host, "oss01")})


def margin_of_the_lost(fleet: FleetFacts):
    return pool_margin(fleet.nodes["oss01"].pools[0])


def chosen(params) -> dict[str, str]:
    return params | {"wwid": f"naa:{demo.BLANK_WWN}"}


def test_while_the_new_disk_fills_nothing_is_gained_and_nothing_else_may_begin(oss01, params):
    before = margin_of_the_lost(alone(oss01))
    replace_the_lost_member(oss01)
    during = alone(oss01)
    assert {(s.slug, s.severity, s.answers) for s in detect_all(during)} == {
        ("wwid-mismatch", "watch", ()),
        ("disk-failing", "watch", ()),
        ("resilver-running", "info", ()),
    }
    assert margin_of_the_lost(during) == before == 1
    refused = {v.guard for v in blockers(ask(TARGET_GUARDS, during, params))}
    assert {"the_lost_member_is_not_being_replaced", "no_resilver_touches_the_vdev"} <= refused
    assert blockers(ask(REPLACED_GUARDS, during, chosen(params))) != ()


def test_when_the_resilver_is_over_the_vdev_is_whole(oss01, params):
    replace_the_lost_member(oss01)
    oss01._sleep(7 * 24 * 3600)
    after = alone(oss01)
    assert [s.slug for s in detect_all(after)] == ["disk-failing", "kernel-names"]
    assert margin_of_the_lost(after) == 2
    assert blockers(ask(REPLACED_GUARDS, after, chosen(params))) == ()
    refused = blockers(ask(CANDIDATE_GUARDS, after, chosen(params)))
    assert any("is already member" in v.reason or "no vdev" in v.reason for v in refused)
