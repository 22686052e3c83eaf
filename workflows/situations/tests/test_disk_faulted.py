"""A sick disk that is there is `disk-faulted`; one that is away stays what it was."""

from dataclasses import replace

import pytest

from workflows.facts import Unknown
from workflows.situations import detect_all
from workflows.tests.incident import DISKS, LOST, NODE, SPARE_WWID, by_id, disk, fleet, label, leaf, vdev, with_leaf, with_pool

SICK = replace(leaf(LOST, f"{by_id(SPARE_WWID)}-part1", "FAULTED", wwid=SPARE_WWID, note="too many errors"), errors=(3, 108, 0))
CARRIER = disk("sdq", SPARE_WWID, label("sdq1", LOST))


def with_sick(lost, carrier=CARRIER):
    node = with_leaf(lost).nodes["oss01"]
    return fleet(replace(node, disks=(*DISKS, carrier)))


def test_a_faulted_disk_that_answers_is_faulted_and_not_missing():
    (found,) = detect_all(with_sick(SICK))
    assert (found.slug, found.severity, found.answers[0].params["vdev_guid"]) == ("disk-faulted", "act", str(LOST))
    for words in ("read 3, write 108, checksum 0", f"sdq ({SPARE_WWID})", "too many errors", "survives 1 more loss"):
        assert words in found.meaning


@pytest.mark.parametrize(
    "changed",
    [
        {"state": "REMOVED"},
        {"note": "corrupted data"},
        {"was": "/dev/sdzz1", "name": str(LOST)},
        {"wwid": Unknown("No disk carries its label.")},
    ],
)
def test_what_is_not_a_sick_disk_in_its_place_is_something_else(changed):
    assert "disk-faulted" not in {s.slug for s in detect_all(with_sick(replace(SICK, **changed)))}


def test_a_disk_that_zfs_only_degraded_still_serves_and_taking_it_out_is_said_to_cost():
    (found,) = detect_all(with_sick(replace(SICK, state="DEGRADED")))
    assert (found.slug, found.severity) == ("disk-faulted", "watch")
    assert "leave it in" in found.meaning
    assert [answer.runbook for answer in found.answers] == ["replace-in-place", "blink-and-replace"]
    assert "no redundancy is spent" in found.answers[0].why
    assert "beside the old one where a bay is free" in found.answers[1].why


def test_a_faulted_disk_that_is_being_replaced_is_watched():
    new = leaf(3, f"{by_id('naa:5000c500a65b2aab')}-part1", wwid="naa:5000c500a65b2aab", resilvering=True)
    found = [s for s in detect_all(with_sick(vdev(9, "replacing-0", "replacing", 0, SICK, new))) if s.slug == "disk-faulted"]
    assert [(s.severity, [answer.runbook for answer in s.answers]) for s in found] == [("watch", ["begin-resilver", "finish-replacement"])]


@pytest.mark.parametrize("field", ["pools", "disks", "bays"])
def test_an_unknown_source_does_not_raise(field):
    detect_all(fleet(replace(NODE, **{field: Unknown("timeout")})))


def test_a_healthy_pool_has_none():
    assert detect_all(with_pool(state="ONLINE", tops=())) == ()
