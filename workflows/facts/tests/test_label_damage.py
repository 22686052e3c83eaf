"""Labels that are damaged, on genuine texts with something changed; and labels that only look damaged."""

from dataclasses import replace

import pytest

from agents.collectors.base import Capture
from workflows.facts import FleetFacts, node_facts
from workflows.facts.fleet.label_damage import damages
from workflows.facts.tests.played import captures, fleet, played

HEALTHY, BLOCKED = "healthy-raidz2", "import-blocked-labels/2-all-labels-garbage"
UNPACKED = "".join(f"failed to unpack label {n}\n" for n in range(4))


def with_label(text, name=HEALTHY, where="zdb_label/sda1"):
    source, _, key = where.partition("/")
    node = node_facts("oss01", captures(name) | {where: Capture(source, key, "data", text)}, 1.0, ())
    return FleetFacts({"oss01": node})


def text(name=HEALTHY, where="zdb_label/sda1"):
    return captures(name)[where].text


def kinds(facts):
    return [(d.kind, d.pool, d.disk.names) for d in damages(facts)]


def label(copies, body=None):
    """One label of `text()` under the copies we say."""
    lines = (body or text()).split("\n")
    body = [line for line in lines[3:] if not line.startswith("    labels = ")]
    return "\n".join([*lines[:1], f"LABEL {copies[0]}", lines[2], *body]).rstrip() + f"\n    labels = {' '.join(map(str, copies))} \n"


def test_a_whole_pool_has_none():
    assert damages(fleet(HEALTHY)) == ()


def test_a_member_in_service_without_any_label_is_lost_to_the_next_import():
    (found,) = damages(with_label(UNPACKED))
    assert (found.kind, found.pool, found.leaf.state) == ("gone", "ost_0", "ONLINE")


def test_a_blank_disk_is_no_damage():
    assert kinds(fleet("disk-removed/3-new-disk-in-slot")) == []


def test_copies_that_are_gone():
    facts = with_label("failed to unpack label 0\nfailed to unpack label 1\n" + label((2, 3)))
    assert kinds(facts) == [("few", "ost_0", ("sda",))]


def test_a_disk_that_gives_errors_is_unread_and_not_blank():
    facts = with_label("".join(f"failed to read label {n}\n" for n in (2, 3)) + label((0, 1)))
    assert kinds(facts) == [("unread", "ost_0", ("sda",))]


def test_copies_of_two_pools_contradict_each_other():
    other = {"name: 'ost_0'": "name: 'older'", "pool_guid: 7": "pool_guid: 6", "12993330246094236820": "77", "    txg: 4": "    txg: 99"}
    body = text()
    for ours, theirs in other.items():
        body = body.replace(ours, theirs)
    older = label((2, 3), body)
    assert kinds(with_label(label((0, 1)) + older)) == [("differ", "ost_0", ("sda",))]


@pytest.mark.parametrize(("copies", "kind"), [(((0, 2), (1, 3)), "torn"), (((0, 1), (2, 3)), "differ")])
def test_copies_of_two_ages(copies, kind):
    """The even copies are written first; the front and the end of a disk never differ for that reason."""
    newer = label(copies[0], text().replace("    txg: 4", "    txg: 5"))
    assert kinds(with_label(newer + label(copies[1]))) == [(kind, "ost_0", ("sda",))]


def test_two_nodes_and_two_damages_of_one_disk_are_said_once_each():
    one = played("import-blocked-labels/1-labels-0-1-garbage")
    assert [d.kind for d in damages(FleetFacts({"oss01": one, "oss02": replace(one, node="oss02")}))] == ["few"]


def test_remains_of_a_pool_that_lost_most_of_its_disks_expect_nobody():
    """One label of six is left; the other disks were given new work."""
    node = played(BLOCKED)
    left = tuple(d for d in node.disks if d.names in (("sda",), ("sdb",), ("sdg",)))
    assert damages(FleetFacts({"oss01": replace(node, disks=left)})) == ()


def test_a_destroyed_pool_expects_nobody():
    node = played(BLOCKED)
    over = tuple(replace(e, label_state=2) for e in node.expected)
    assert damages(FleetFacts({"oss01": replace(node, expected=over)})) == ()


def test_a_member_replaced_since_the_label_was_read_is_not_expected():
    facts = with_label(UNPACKED)
    node = facts.nodes["oss01"]
    pool = node.pools[0]
    top = pool.tops[0][1]
    without = replace(pool, tops=(("data", replace(top, children=top.children[1:])),))
    assert damages(FleetFacts({"oss01": replace(node, pools=(without,))})) == ()
