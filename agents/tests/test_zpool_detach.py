"""Detaching a half: the node reads in the labels what the half that stays misses, and tells afterwards which of them went."""

from __future__ import annotations

import pytest

from agents.operations import zpool_detach, zpool_detach_new_half
from twin import scenarios
from workflows.runbooks.finish_replacement import rehearsal

NOW = scenarios.Clock().at


def host_of(tmp_path, node):
    return scenarios.host(tmp_path, node, scenarios.Clock())


def params(host, pool="ost_0", goes=0, stays=-1):
    """By place in the `replacing` or `spare` vdev."""
    found = host.view().node.pool(pool)
    holder = next(vdev for vdev in found.walk() if vdev.type in ("replacing", "spare"))
    guids = {"vdev_guid": str(holder.children[goes].guid), "keeps_guid": str(holder.children[stays].guid)}
    return {"pool": pool, "pool_guid": str(found.guid), **guids}


def against(operation, host, given):
    pre = operation.preconditions(host, given)
    found: dict[str, str] = {}
    for outcome, reason in operation.guards(pre, given):
        if outcome != "pass":
            found[outcome] = f"{found.get(outcome, '')} {reason}".strip()
    return found


def test_a_half_that_misses_nothing_may_stay(tmp_path):
    host = host_of(tmp_path, rehearsal.old_one_lost(NOW))
    given = params(host)
    pre = zpool_detach.preconditions(host, given)
    assert (pre["keeps.missing"], against(zpool_detach, host, given)) == ("nothing", {})
    assert host.run(zpool_detach.argv(given), 5.0).exit_code == 0
    assert zpool_detach.probe(host, given, pre).result == "did"


def test_a_half_that_no_resilver_filled_may_not_though_the_last_scan_was_clean(tmp_path):
    node = scenarios.replacement(old="REMOVED", ended="finished", now=NOW)
    host = host_of(tmp_path, node)
    found = against(zpool_detach, host, params(host))
    assert "misses data from before txg" in found["refuse"]
    assert "Only a resilver that ends without errors fills it" in found["refuse"]


def test_where_no_label_can_be_read_it_is_not_known(tmp_path):
    node = rehearsal.old_one_lost(NOW)
    node.faults.absent = ["zdb"]
    host = host_of(tmp_path, node)
    found = against(zpool_detach, host, params(host))
    assert "keeps.missing" in found["unknown"]


@pytest.mark.parametrize("operation", [zpool_detach, zpool_detach_new_half])
def test_with_both_lost_neither_is_detached(operation, tmp_path):
    host = host_of(tmp_path, rehearsal.both_lost(NOW))
    for goes, stays in ((0, -1), (-1, 0)):
        assert "refuse" in against(operation, host, params(host, goes=goes, stays=stays))


def test_the_new_half_goes_while_it_is_lost_and_the_old_one_serves(tmp_path):
    host = host_of(tmp_path, rehearsal.new_one_lost(NOW))
    given = params(host, goes=-1, stays=0)
    assert against(zpool_detach_new_half, host, given) == {}
    assert "refuse" in against(zpool_detach_new_half, host, params(host))  # the old half never, by this one


def test_a_disk_that_becomes_a_vdev_by_itself_is_known_by_its_name(tmp_path):
    """It takes the guid of the vdev that held both (vdev_remove_parent)."""
    host = host_of(tmp_path, rehearsal.by_itself(NOW))
    given = params(host, "scratch", goes=-1, stays=0)
    pre = zpool_detach_new_half.preconditions(host, given)
    assert zpool_detach_new_half.probe(host, given, pre).result == "did_not"
    assert host.run(zpool_detach_new_half.argv(given), 5.0).exit_code == 0
    assert str(host.view().node.pool("scratch").tops[0].guid) != given["keeps_guid"]
    assert zpool_detach_new_half.probe(host, given, pre).result == "did"


def test_of_two_spares_a_lost_one_goes_while_the_other_is_whole(tmp_path):
    host = host_of(tmp_path, rehearsal.two_spares(NOW))
    given = params(host, goes=1, stays=2)
    assert against(zpool_detach, host, given) == {}
    assert "refuse" in against(zpool_detach, host, params(host, goes=2, stays=1))


@pytest.mark.parametrize(
    ("fact", "value", "refused"),
    [("pool.expansion", "running", False), ("pool.removal", "running", True), ("pool.checkpoint", "exists", True)],
)
def test_an_expansion_waits_for_the_detach_and_a_removal_or_a_checkpoint_does_not(fact, value, refused, tmp_path):
    host = host_of(tmp_path, rehearsal.old_one_lost(NOW))
    for operation, goes, stays in ((zpool_detach, 0, -1), (zpool_detach_new_half, -1, 0)):
        asked = params(host, goes=goes, stays=stays)
        pre = {**operation.preconditions(host, asked), fact: value}
        before = {**pre, fact: "none"}
        more = [one for one in operation.guards(pre, asked) if one not in operation.guards(before, asked) and one[0] != "pass"]
        assert bool(more) == refused, (operation.NAME, more)
