"""Ways to disks that are lost while the disks serve, and parts of enclosures that are broken."""

from dataclasses import replace

import pytest

from agents.collectors.ses import SesElement
from workflows.facts import EnclosureFacts, FleetFacts, OnPath, PathFacts, ServiceFacts, Unknown
from workflows.situations import enclosure_fault, path_lost
from workflows.tests.incident import FLEET, NODE

NONE = Unknown("not asked")
WELL, FAILED, GHOST = ("active", "ready"), ("failed", "faulty"), ("active", "ghost")


def serving(paths) -> ServiceFacts:
    return ServiceFacts({name: OnPath(one, *state) for name, (one, state) in paths.items()}, NONE, NONE)


def node(**changes) -> FleetFacts:
    return FleetFacts({"oss01": replace(NODE, **changes)})


def second_path(disk, number, state="running", host="9"):
    one = disk.paths[0]
    return replace(disk, paths=(one, PathFacts(f"sdz{number}", f"{host}:0:{number}:0", state, one.sas_address, (), (), ())))


def test_a_healthy_node_raises_nothing():
    assert path_lost.detect(FLEET) + enclosure_fault.detect(FLEET) == ()


def test_a_failed_path_of_a_map_is_watched():
    (found,) = path_lost.detect(node(service=serving({"sda": ("mpatha", WELL), "sdb": ("mpatha", FAILED)})))
    assert found.severity == "watch"
    assert f"({found.subject['wwid']})" in found.title  # a map may be given another disk
    assert "the map mpatha" in found.meaning
    assert "sdb" in found.meaning
    assert found.cures[0].kind == "reseat"


@pytest.mark.parametrize(
    "paths",
    [
        {"sda": ("mpatha", WELL), "sdb": ("mpatha", GHOST)},  # the standby path of an active/passive array
        {"sda": ("mpatha", FAILED), "sdb": ("mpatha", FAILED)},  # the disk is gone, which its pool tells
        {"sda": ("mpatha", WELL)},
        {"sda": ("mpatha", (None, None)), "sdb": ("mpatha", (None, None))},
    ],
)
def test_what_is_no_lost_path_raises_nothing(paths):
    assert path_lost.detect(node(service=serving(paths))) == ()


def test_a_path_that_the_kernel_has_and_does_not_use_is_told():
    disks = (second_path(NODE.disks[0], 1, "transport-offline"), *NODE.disks[1:])
    (found,) = path_lost.detect(node(disks=disks))
    assert (found.severity, "sdz1" in found.meaning) == ("watch", True)


def test_many_disks_that_lost_one_hba_are_one_thing_and_no_disk_is_to_blame():
    disks = tuple(second_path(disk, i, "offline") for i, disk in enumerate(NODE.disks))
    (found,) = path_lost.detect(node(disks=disks))
    assert (found.severity, found.subject["host"], "no disk is to blame" in found.meaning) == ("act", "host9", True)
    assert "replace" not in {cure.kind for cure in found.cures}


CRITICAL = SesElement("Power supply", "PSU B", "Critical", ("AC fail",))


@pytest.mark.parametrize(
    ("element", "severity"),
    [
        (CRITICAL, "act"),
        (SesElement("Cooling", "Fan 1", "Unrecoverable"), "act"),
        (SesElement("Cooling", "Fan 1", "Noncritical"), "watch"),
        (SesElement("Cooling", "Fan 1", "Non-critical"), "watch"),
        (SesElement("Temperature sensor", "TEMP", "OK", ("OT warning",), degrees=52), "watch"),
        (SesElement("Temperature sensor", "TEMP", "OK", ("OT failure",), degrees=71), "act"),
        (SesElement("Power supply", "PSU A", "OK", predicted=True), "watch"),
        (SesElement("Array device slot", "SLOT 4", "Critical"), "watch"),
        (SesElement("Array device slot", "SLOT 4", "OK", ("Fault sensed",)), "watch"),
        (SesElement("Cooling", "Fan 1", "OK"), None),
        (SesElement("Cooling", "Fan 1", "Not installed", ("Fail",)), None),
        (SesElement("Cooling", "Fan 1", "Unsupported"), None),
        (SesElement("Voltage sensor", "VOLT", "Unknown"), None),
        (SesElement("Voltage sensor", "VOLT", "Not available"), None),
    ],
)
def test_each_status_of_a_part_is_judged(element, severity):
    found = enclosure_fault.detect(node(enclosures=(EnclosureFacts("ses_status/sg9", "0x50050cc11ac0a201", (element,)),)))
    assert [s.severity for s in found] == ([severity] if severity else [])


def test_a_broken_power_supply_says_what_comes_and_what_to_look_at_first():
    (found,) = enclosure_fault.detect(node(enclosures=(EnclosureFacts("ses_status/sg9", "0x50050cc11ac0a201", (CRITICAL,)),)))
    assert "PSU B is Critical (AC fail)" in found.meaning
    assert "every disk in it is gone at once" in found.meaning
    assert "circuit of that power supply first" in found.cures[0].text


def test_a_bay_that_the_kernel_calls_critical_is_watched_and_no_reason_to_replace():
    bays = (replace(NODE.bays[0], status="critical"), *NODE.bays[1:])
    (found,) = enclosure_fault.detect(node(bays=bays))
    assert (found.severity, {cure.kind for cure in found.cures}) == ("watch", {"look"})
