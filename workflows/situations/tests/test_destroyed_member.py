"""destroyed-member is found where it is so, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from twin.scenarios import destroyed, superseded, tiny
from workflows.facts import ImportableFacts, Unknown
from workflows.facts.model import NO_AGES
from workflows.situations import destroyed_member as situation
from workflows.situations import detect_all
from workflows.tests.stage import Stage

UNREAD = Unknown("It was not read.")


@pytest.fixture
def facts(tmp_path):
    return Stage(tmp_path, {"oss01": destroyed()}).facts()


def with_node(facts, **changes):
    return replace(facts, nodes={"oss01": replace(facts.nodes["oss01"], **changes)})


def with_labels(facts, of=lambda disk: True, **changes):
    disks = tuple(
        replace(disk, labels=tuple(replace(label, **changes) if label.state == 2 else label for label in disk.labels)) if of(disk) else disk
        for disk in facts.nodes["oss01"].disks
    )
    return with_node(facts, disks=disks)


def test_it_names_each_disk_and_offers_the_runbook(facts):
    found = situation.detect(facts)
    assert [(one.severity, one.title[:4]) for one in found] == [("info", "sdg "), ("info", "sdh ")]
    (answer,) = found[0].answers
    disk = next(one for one in facts.nodes["oss01"].disks if one.wwid == answer.params["wwid"])
    assert (answer.runbook, answer.params["serial"], answer.params["pool"]) == ("wipe-destroyed-member", disk.serial, "scratch")
    assert answer.params["vdev_guid"] == str(disk.labels[0].guid)
    assert found[0].cures[0].argv == (("zpool", "import", "-D", answer.params["pool_guid"]),)


def test_nothing_else_is_found_on_that_node(facts):
    assert {one.slug for one in detect_all(facts)} == {situation.SLUG}


def test_of_two_nodes_that_see_the_disks_each_disk_is_named_once(tmp_path):
    found = situation.detect(Stage(tmp_path, {"oss01": destroyed(), "oss02": destroyed()}).facts())
    assert [one.node for one in found] == ["oss01", "oss01"]


def test_members_former_members_and_blank_disks_are_none(tmp_path):
    assert situation.detect(Stage(tmp_path, {"oss01": tiny()}).facts()) == ()
    assert situation.detect(Stage(tmp_path / "two", {"oss01": superseded()}).facts()) == ()


@pytest.mark.parametrize("state", [0, 1, 3, 4])
def test_a_label_that_says_otherwise_is_none(facts, state):
    assert situation.detect(with_labels(facts, state=state)) == ()


def test_a_pool_of_which_one_label_says_otherwise_has_none(facts):
    """It was brought back while the other disk was away."""
    assert situation.detect(with_labels(facts, lambda disk: disk.names == ("sdh",), state=0)) == ()


def test_a_pool_that_is_imported_again_has_none(facts):
    guid = facts.nodes["oss01"].disks[6].labels[0].pool_guid
    pools = tuple(replace(pool, guid=guid) for pool in facts.nodes["oss01"].pools)
    assert situation.detect(with_node(facts, pools=pools)) == ()


@pytest.mark.parametrize(("listed_as_destroyed", "count"), [(False, 0), (True, 2)])
def test_a_pool_that_is_listed_for_import_has_none_unless_as_destroyed(facts, listed_as_destroyed, count):
    guid = facts.nodes["oss01"].disks[6].labels[0].pool_guid
    listed = ImportableFacts("scratch", guid, "ONLINE", "", "", (), destroyed=listed_as_destroyed)
    assert len(situation.detect(with_node(facts, importable=(listed,)))) == count


def test_a_text_that_a_person_brought_is_none(facts):
    assert situation.detect(with_node(facts, ages=NO_AGES)) == ()


def test_labels_that_were_not_read_are_none(facts):
    disks = tuple(replace(disk, labels=UNREAD) for disk in facts.nodes["oss01"].disks)
    assert situation.detect(with_node(facts, disks=disks)) == ()


@pytest.mark.parametrize("changes", [{"serial": UNREAD}, {"wwid": UNREAD}, {"doubt": "two disks have one name"}])
def test_a_disk_that_cannot_be_named_for_sure_is_shown_and_nothing_is_offered(facts, changes):
    disks = tuple(replace(disk, **changes) for disk in facts.nodes["oss01"].disks)
    found = situation.detect(with_node(facts, disks=disks))
    assert len(found) == 2
    assert all(one.answers == () for one in found)
