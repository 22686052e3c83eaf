"""Disks to which a light without a number leads, of a PCIe port or of a tool: which disks these are, and what the guards at the rack answer of that light."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.collectors.enclosure import PORTS
from twin.host import TwinHost
from twin.memory import MemoryStore
from workflows.facts import FleetFacts, LightFacts, Unknown
from workflows.facts.join import node_facts
from workflows.facts.lookup import NO_BAY, bay_to_light
from workflows.facts.read.lights import of_one_disk
from workflows.guards import bay
from workflows.rehearsal.twin_of_node import rebuild
from workflows.runbooks import RUNBOOKS
from workflows.tests.incident import BLANK_WWID, DISKS, NODE, PARAMS, fleet
from workflows.tests.reports import taken
from workflows.tests.stories_of_disks import BLINK_PORT, by_tool
from workflows.tests.walks import Walk

OLD = next(disk for disk in DISKS if disk.wwid == BLANK_WWID)
HERE, ELSEWHERE = "0000:00:01.0", "0000:00:02.0"
AT_A_PORT = {**PARAMS, "enclosure": PORTS, "slot": HERE, "old_wwid": OLD.wwid, "old_serial": OLD.serial}


def lights(here: object, elsewhere: object = False) -> FleetFacts:
    ports = (LightFacts(PORTS, HERE, here), LightFacts(PORTS, ELSEWHERE, elsewhere))
    disks = (*(disk for disk in DISKS if disk.wwid != OLD.wwid), replace(OLD, light=ports[0]))
    return fleet(replace(NODE, lights=ports, disks=disks))


UNREAD = Unknown("the driver did not answer")
NONE = fleet(replace(NODE, lights=()))
NOT_KNOWN = fleet(replace(NODE, lights=UNREAD))


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
    port = LightFacts(PORTS, HERE, False)
    assert bay_to_light(replace(OLD, light=port))["slot"] == str(OLD.bay.slot)
    elsewhere = replace(OLD, bay=Unknown("no enclosure"))
    assert bay_to_light(replace(elsewhere, light=port)) == {"enclosure": PORTS, "slot": HERE}
    assert bay_to_light(replace(elsewhere, light=LightFacts(PORTS, HERE, UNREAD)))["slot"] == NO_BAY
    assert bay_to_light(elsewhere)["slot"] == NO_BAY


class Device:
    def __init__(self, port: str, number: int) -> None:
        self.folder = f"/sys/devices/pci0000:00/{port}/0000:0{number}:00.0/nvme/nvme{number}"


def test_a_port_with_two_disks_leads_to_neither():
    one, two, three = Device(HERE, 1), Device(HERE, 2), Device(ELSEWHERE, 3)
    single = of_one_disk([[one], [two], [three]])
    assert single == {ELSEWHERE}


def test_the_facts_of_a_node_name_the_port_of_each_disk_and_a_rehearsal_has_it_too():
    walk = Walk(BLINK_PORT)
    facts = walk.facts().nodes["oss01"]
    addresses = [port.address for port in walk.node.ports]
    assert [port.place for port in facts.lights] == addresses
    assert sorted(disk.light.place for disk in facts.disks) == addresses
    bodies = {where: capture.body() for where, capture in taken(walk.host).items()}
    assert rebuild(facts, bodies, {}, walk.clock.at).node.ports == walk.node.ports


def tool_light(by: str, place: str, lit: object = False, **changed: object) -> FleetFacts:
    light = LightFacts(by, place, lit)
    disks = (*(disk for disk in DISKS if disk.wwid != OLD.wwid), replace(OLD, light=light))
    return fleet(replace(NODE, **({"lights": (light, LightFacts(by, "VMD/9", False)), "disks": disks} | changed)))


BY_LEDCTL = {**AT_A_PORT, "enclosure": "ledctl", "slot": "VMD/3"}
BY_HBA = {**AT_A_PORT, "enclosure": "sas3ircu", "slot": "0/2:5"}
LEDCTL_LIT, LEDCTL_DARK = tool_light("ledctl", "VMD/3", True), tool_light("ledctl", "VMD/3")
HBA = tool_light("sas3ircu", "0/2:5", UNREAD)


@pytest.mark.parametrize(
    ("guard", "facts", "params", "outcome"),
    [
        (bay.the_bay_is_lit, LEDCTL_LIT, BY_LEDCTL, "pass"),
        (bay.the_bay_is_lit, LEDCTL_DARK, BY_LEDCTL, "refuse"),
        (bay.the_bay_is_dark, LEDCTL_LIT, BY_LEDCTL, "refuse"),
        (bay.the_bay_is_dark, tool_light("ledctl", "VMD/3", UNREAD), BY_LEDCTL, "unknown"),
        (bay.exactly_this_bay_is_lit, LEDCTL_LIT, BY_LEDCTL, "pass"),
        (bay.exactly_this_bay_is_lit, LEDCTL_LIT, {**BY_LEDCTL, "slot": "VMD/9"}, "refuse"),
        (bay.the_disk_sits_in_the_bay_meant, LEDCTL_LIT, BY_LEDCTL, "pass"),
        (bay.the_disk_sits_in_the_bay_meant, LEDCTL_LIT, {**BY_LEDCTL, "slot": "VMD/9"}, "refuse"),
        (bay.the_disk_is_found_by_its_serial_number, LEDCTL_LIT, BY_LEDCTL, "pass"),
        (bay.the_bay_can_be_lit_and_is_dark, HBA, BY_HBA, "pass"),
        (bay.exactly_this_bay_is_lit, HBA, BY_HBA, "pass"),
        (bay.the_bay_is_dark, HBA, BY_HBA, "pass"),
        (bay.the_disk_sits_in_the_bay_meant, HBA, BY_HBA, "pass"),
        (bay.the_disk_sits_in_the_bay_meant, HBA, BY_LEDCTL, "refuse"),
        (bay.the_disk_is_found_by_its_serial_number, HBA, BY_HBA, "pass"),
        (bay.exactly_this_bay_is_lit, FleetFacts({}), BY_HBA, "unknown"),
    ],
)
def test_the_light_of_a_tool_is_asked_where_it_reads_one_back(guard, facts, params, outcome):
    assert guard(facts, params).outcome == outcome


def test_what_no_tool_reads_back_is_not_called_lit():
    for guard in (bay.the_bay_is_lit, bay.exactly_this_bay_is_lit, bay.the_bay_is_dark):
        reason = guard(HBA, BY_HBA).reason
        assert "does not read a light back" in reason
        assert "the disk is scanned before it is pulled" in reason


@pytest.mark.parametrize(
    ("facts", "params", "outcome"),
    [(HBA, BY_HBA, "unknown"), (LEDCTL_LIT, BY_LEDCTL, "refuse"), (LEDCTL_DARK, BY_LEDCTL, "pass"), (lights(False), AT_A_PORT, "pass")],
)
def test_a_light_that_a_run_left_is_over_only_by_what_the_node_shows(facts, params, outcome):
    over = next(step.opens for step in RUNBOOKS["blink-and-replace"].steps if step.opens and step.opens.slug == "lit").over
    assert over(facts, params).outcome == outcome


@pytest.mark.parametrize(
    ("by", "place", "lit"), [("ledctl", "VMD/3", False), ("sas3ircu", "0/2:5", UNREAD), ("storcli", "/c0/e8/s5", UNREAD)]
)
def test_a_run_takes_the_light_of_a_tool_where_no_bay_can_be_lit(by, place, lit):
    elsewhere = replace(OLD, bay=Unknown("no enclosure"), light=LightFacts(by, place, lit))
    assert bay_to_light(elsewhere) == {"enclosure": by, "slot": place}
    assert bay_to_light(replace(OLD, light=elsewhere.light))["slot"] == str(OLD.bay.slot)


@pytest.mark.parametrize("tool", ["ledctl", "sas3ircu", "sas2ircu", "storcli", "perccli"])
def test_the_facts_of_a_node_name_the_place_of_each_disk_by_its_tool_and_a_rehearsal_has_it_too(tool):
    host, at = TwinHost(MemoryStore(by_tool(tool)["oss01"]), lambda: 1e9, lambda seconds: None), 1e9
    bodies = {where: capture.body() for where, capture in taken(host).items()}
    facts = node_facts("oss01", bodies, 0.5, ())
    (shown,) = host.view().node.light_tools
    assert {disk.light.place: disk.wwid for disk in facts.disks} == shown.places
    assert {disk.light.by for disk in facts.disks} == {tool}
    assert facts.light_tools == {tool: ""}
    assert rebuild(facts, bodies, {}, at).node.light_tools == [shown]


def test_a_place_that_two_disks_answer_to_leads_to_neither():
    node = by_tool("storcli")["oss01"]
    node.disks[1].serial = node.disks[0].serial
    bodies = {where: capture.body() for where, capture in taken(TwinHost(MemoryStore(node), lambda: 1e9, lambda seconds: None)).items()}
    facts = node_facts("oss01", bodies, 0.5, ())
    lit = {disk.wwid for disk in facts.disks if not isinstance(disk.light, Unknown)}
    assert lit.isdisjoint({node.disks[0].wwid, node.disks[1].wwid})
    assert len(lit) == len(node.disks) - 2


def test_the_place_of_a_light_is_held_on_its_node_and_a_bay_wherever_it_is_seen():
    here, there = (RUNBOOKS["blink-and-replace"].locks(FleetFacts({}), {**BY_HBA, "node": node}) for node in ("oss01", "oss02"))
    assert [key for key in here if key.startswith("bay:")] == ["bay:oss01/sas3ircu/0/2:5"]
    assert not {key for key in here if key.startswith("bay:")} & set(there)
    shelf = {**BY_HBA, "enclosure": "0x50050cc11ac016e2", "slot": "68"}
    assert "bay:0x50050cc11ac016e2/68" in RUNBOOKS["blink-and-replace"].locks(FleetFacts({}), shelf)
    assert not [
        key for key in RUNBOOKS["blink-and-replace"].locks(FleetFacts({}), {**shelf, "enclosure": NO_BAY, "slot": NO_BAY}) if "bay" in key
    ]
