"""former-member is found where it is so, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from twin.scenarios import superseded, tiny
from workflows.facts import Unknown
from workflows.facts.model import NO_AGES
from workflows.situations import former_member as situation
from workflows.tests.stage import Stage


@pytest.fixture
def facts(tmp_path):
    return Stage(tmp_path, {"oss01": superseded()}).facts()


def with_node(facts, **changes):
    return replace(facts, nodes={"oss01": replace(facts.nodes["oss01"], **changes)})


def with_pool(facts, **changes):
    return with_node(facts, pools=tuple(replace(pool, **changes) for pool in facts.nodes["oss01"].pools))


def test_it_names_the_disk_and_offers_the_runbook(facts):
    (found,) = situation.detect(facts)
    assert (found.severity, found.title[:4]) == ("info", "sdg ")
    (answer,) = found.answers
    disk = next(one for one in facts.nodes["oss01"].disks if one.wwid == answer.params["wwid"])
    assert (answer.runbook, answer.params["serial"]) == ("wipe-disk", disk.serial)
    assert answer.params["vdev_guid"] == str(disk.labels[0].guid)


def test_members_and_blank_disks_are_none(tmp_path):
    assert situation.detect(Stage(tmp_path, {"oss01": tiny()}).facts()) == ()


def test_a_missing_member_is_still_listed_and_is_none(tmp_path):
    node = tiny()
    node.pool("ost_0").tops[0].children[2].state = "OFFLINE"
    assert situation.detect(Stage(tmp_path, {"oss01": node}).facts()) == ()


def test_a_pool_that_is_down_has_no_former_members(tmp_path):
    node = superseded()
    node.pool("ost_0").imported = False
    assert situation.detect(Stage(tmp_path, {"oss01": node}).facts()) == ()


def test_a_text_that_a_person_brought_is_none(facts):
    assert situation.detect(with_node(facts, ages=NO_AGES)) == ()


def test_vdevs_and_labels_that_were_not_read_are_none(facts):
    assert situation.detect(with_pool(facts, tops=Unknown("It was not read."))) == ()
    disks = tuple(replace(disk, labels=Unknown("It was not read.")) for disk in facts.nodes["oss01"].disks)
    assert situation.detect(with_node(facts, disks=disks)) == ()


@pytest.mark.parametrize("state", [1, 2, 3, 4])
def test_a_label_that_says_exported_destroyed_spare_or_cache_is_none(facts, state):
    disks = tuple(replace(disk, labels=tuple(replace(label, state=state) for label in disk.labels)) for disk in facts.nodes["oss01"].disks)
    assert situation.detect(with_node(facts, disks=disks)) == ()


@pytest.mark.parametrize("changes", [{"txg": 4000}, {"txg": 4400}, {"txg": None}, {"top_guid": 4711}])
def test_one_that_is_not_shown_to_be_older_than_its_vdev_is_none(facts, changes):
    here = facts.nodes["oss01"]
    disks = (*here.disks[:6], *(replace(one, labels=tuple(replace(label, **changes) for label in one.labels)) for one in here.disks[6:]))
    assert situation.detect(with_node(facts, disks=disks)) == ()


def test_a_disk_without_a_serial_number_is_shown_and_nothing_is_offered(facts):
    disks = tuple(replace(disk, serial=Unknown("It was not read.")) for disk in facts.nodes["oss01"].disks)
    (found,) = situation.detect(with_node(facts, disks=disks))
    assert found.answers == ()
