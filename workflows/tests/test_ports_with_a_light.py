"""Disks to which the light of a PCIe port leads: which disks these are, and what the guards at the rack answer of that light."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.collectors.enclosure import PORTS
from workflows.facts import FleetFacts, PortFacts, Unknown
from workflows.facts.lookup import NO_BAY, bay_to_light
from workflows.facts.read.ports import of_one_disk, port_of
from workflows.guards import bay
from workflows.rehearsal.twin_of_node import rebuild
from workflows.tests.incident import BLANK_WWID, DISKS, NODE, PARAMS, fleet
from workflows.tests.reports import taken
from workflows.tests.stories_of_disks import BLINK_PORT
from workflows.tests.walks import Walk

OLD = next(disk for disk in DISKS if disk.wwid == BLANK_WWID)
HERE, ELSEWHERE = "0000:00:01.0", "0000:00:02.0"
AT_A_PORT = {**PARAMS, "enclosure": PORTS, "slot": HERE, "old_wwid": OLD.wwid, "old_serial": OLD.serial}


def lights(here: object, elsewhere: object = False) -> FleetFacts:
    ports = (PortFacts(HERE, here), PortFacts(ELSEWHERE, elsewhere))
    disks = (*(disk for disk in DISKS if disk.wwid != OLD.wwid), replace(OLD, port=ports[0]))
    return fleet(replace(NODE, ports=ports, disks=disks))


UNREAD = Unknown("the driver did not answer")
NONE = fleet(replace(NODE, ports=()))
NOT_KNOWN = fleet(replace(NODE, ports=UNREAD))


@pytest.mark.parametrize(
    ("guard", "facts", "outcome"),
    [
        (bay.the_bay_is_dark, lights(False), "pass"),
        (bay.the_bay_is_dark, lights(True), "refuse"),
        (bay.the_bay_is_dark, lights(UNREAD), "unknown"),
        (bay.the_bay_is_dark, NONE, "unknown"),
        (bay.the_bay_is_dark, NOT_KNOWN, "unknown"),
        (bay.the_bay_is_dark, FleetFacts({}), "unknown"),
        (bay.the_bay_is_lit, lights(True), "pass"),
        (bay.the_bay_is_lit, lights(False), "refuse"),
        (bay.the_bay_can_be_lit_and_is_dark, lights(False), "pass"),
        (bay.exactly_this_bay_is_lit, lights(True), "pass"),
        (bay.exactly_this_bay_is_lit, lights(True, True), "refuse"),
        (bay.exactly_this_bay_is_lit, lights(True, UNREAD), "unknown"),
        (bay.exactly_this_bay_is_lit, lights(False), "refuse"),
        (bay.no_other_bay_is_lit, lights(False, True), "refuse"),
        (bay.a_bay_is_known_that_can_be_lit, lights(True), "refuse"),
        (bay.the_disk_is_found_by_its_serial_number, lights(True), "pass"),
        (bay.the_fault_light_is_on, lights(True), "refuse"),
        (bay.the_fault_light_is_off, lights(True), "pass"),
        (bay.the_disk_sits_in_the_bay_meant, lights(True), "pass"),
        (bay.the_disk_sits_in_the_bay_meant, fleet(NODE), "unknown"),
    ],
)
def test_the_light_of_the_port_is_asked_and_the_disk_is_known_by_its_serial_number(guard, facts, outcome):
    assert guard(facts, AT_A_PORT).outcome == outcome


def test_a_disk_below_another_port_is_refused():
    verdict = bay.the_disk_sits_in_the_bay_meant(lights(True), {**AT_A_PORT, "slot": ELSEWHERE})
    assert (verdict.outcome, HERE in verdict.reason) == ("refuse", True)


def test_a_bay_whose_light_is_shown_comes_first_and_a_port_before_nothing():
    port = PortFacts(HERE, False)
    assert bay_to_light(replace(OLD, port=port))["slot"] == str(OLD.bay.slot)
    elsewhere = replace(OLD, bay=Unknown("no enclosure"))
    assert bay_to_light(replace(elsewhere, port=port)) == {"enclosure": PORTS, "slot": HERE}
    assert bay_to_light(replace(elsewhere, port=PortFacts(HERE, UNREAD)))["slot"] == NO_BAY
    assert bay_to_light(elsewhere)["slot"] == NO_BAY


class Device:
    def __init__(self, port: str, number: int) -> None:
        self.folder = f"/sys/devices/pci0000:00/{port}/0000:0{number}:00.0/nvme/nvme{number}"


def test_a_port_with_two_disks_leads_to_neither():
    one, two, three = Device(HERE, 1), Device(HERE, 2), Device(ELSEWHERE, 3)
    single = of_one_disk([[one], [two], [three]])
    assert single == {ELSEWHERE}
    ports = (PortFacts(HERE, False), PortFacts(ELSEWHERE, False))
    assert port_of(ports, single, [three]) == ports[1]
    for port in (port_of(ports, single, [one]), port_of(UNREAD, single, [three]), port_of(ports[:1], single, [three])):
        assert isinstance(port, Unknown)


def test_the_facts_of_a_node_name_the_port_of_each_disk_and_a_rehearsal_has_it_too():
    walk = Walk(BLINK_PORT)
    facts = walk.facts().nodes["oss01"]
    addresses = [port.address for port in walk.node.ports]
    assert [port.address for port in facts.ports] == addresses
    assert sorted(disk.port.address for disk in facts.disks) == addresses
    bodies = {where: capture.body() for where, capture in taken(walk.host).items()}
    assert rebuild(facts, bodies, {}, walk.clock.at).node.ports == walk.node.ports
