"""Who says where a disk sits: every level, the best first, and contradictions aloud. Bays by hand, addresses as sysfs writes them."""

from dataclasses import dataclass, replace

import pytest

from agents.collectors import COLLECTORS
from agents.collectors._designators import Designator
from agents.tests.scenarios import STEPS
from twin import demo
from twin.host import TwinHost
from workflows.facts import BayFacts, BayWitness, PathFacts, Unknown, known, node_facts
from workflows.facts.read.slots import Map, addresses_of, read_map, settled, with_only_one_left, witnesses_of
from workflows.facts.read.sources import Sources
from workflows.facts.tests.played import played
from workflows.tests.incident import disk

SHELF, OTHER_SHELF = "0x50050cc11ac016e2", "0x50050cc11ac01f4a"
PORT = "0x5000c500a6754ab9"
NO_ENCLOSURE = Unknown("No enclosure names this disk.")


def bay(slot, device=None, status="OK"):
    return BayFacts(SHELF, "6:0:89:0", slot, str(slot), status, False, False, device)


BAYS = (bay(68),)


def where(linked=NO_ENCLOSURE, bays=BAYS, **levels):
    places = Map({int(level[1:]): {PORT: place} for level, place in levels.items()})
    witnesses = witnesses_of(linked, places, (PORT,))
    return settled(linked, witnesses, bays)


@pytest.mark.parametrize("level", [2, 3, 4])
def test_each_witness_alone_is_enough_and_says_its_level(level):
    found = where(**{f"l{level}": (SHELF, 68)})
    assert (found.enclosure_id, found.slot, found.evidence, found.conflict, found.status) == (SHELF, 68, level, "", "OK")


def test_the_best_witness_counts_and_the_other_is_heard():
    found = where(bay(68), l2=(SHELF, 68), l3=(SHELF, 67))
    assert (found.slot, found.evidence) == (68, 1)
    assert found.conflict == f"the enclosure's own page says bay 67 of {SHELF}"


def test_witnesses_that_agree_leave_no_dispute():
    assert where(bay(68), l2=(SHELF, 68), l3=(SHELF, 68), l4=(SHELF, 68)).conflict == ""


def test_two_places_at_the_best_level_are_no_place():
    places = Map({3: {PORT: (SHELF, 68), "0x5000c500a6754aba": (OTHER_SHELF, 2)}})
    found = settled(NO_ENCLOSURE, witnesses_of(NO_ENCLOSURE, places, (PORT, "0x5000c500a6754aba")), ())
    assert not known(found)
    assert "bay 68" in found.reason
    assert "bay 2" in found.reason


def test_without_the_enclosure_driver_the_place_is_known_and_the_lights_are_not():
    found = where(bays=NO_ENCLOSURE, l3=(SHELF, 68))
    assert (found.slot, found.evidence) == (68, 3)
    assert not known(found.status)
    assert not known(found.locate)


def test_the_only_bay_left_is_a_suggestion():
    lost, seated = disk("sdq", "naa:5000c500a65b2f2b", bay=NO_ENCLOSURE), disk("sda", "naa:5000c500a65b3a1b", slot=1)
    found = with_only_one_left((lost, seated), (bay(1), bay(68), bay(69, status="not installed")))
    assert [d.bay.slot for d in found] == [68, 1]
    assert (found[0].bay.evidence, found[0].bay_witnesses) == (7, (BayWitness(7, SHELF, 68),))
    assert with_only_one_left((lost, seated), (bay(1), bay(68), bay(69)))[0].bay == NO_ENCLOSURE
    assert with_only_one_left((lost, replace(lost, wwid="naa:5000c500a65b2f3b")), (bay(68),))[0].bay == NO_ENCLOSURE


@dataclass
class Device:
    sas_address: str | None
    designators: tuple[Designator, ...] | None = None


def test_a_disk_is_asked_for_under_the_addresses_of_all_its_ports():
    one = Device(PORT, (Designator("unit", "naa", "5000c500a6754abb"), Designator("port", "naa", "5000c500a6754ab9")))
    assert addresses_of([one, Device("0x5000c500a6754aba")]) == (PORT, "0x5000c500a6754aba")
    assert addresses_of([Device(None)]) == ()


@pytest.mark.parametrize("name", [step for step in STEPS if step.startswith("healthy-raidz2")])
def test_an_hba_that_gives_every_disk_bay_0_is_no_witness(name):
    """Genuine: mptsas says bay 0 for all and names no enclosure."""
    facts = played(name)
    assert all(d.bay_witnesses == () and not known(d.bay) for d in facts.disks)


def test_an_hba_that_gives_one_bay_to_two_disks_is_no_witness():
    text = "sas_topology\n" + "".join(
        f"/sys/class/sas_device/end_device-6:{n} -> /sys/devices/pci0000:00/0000:00:05.0/host6/port-6:{n}/end_device-6:{n}\n"
        f"/sys/class/sas_device/end_device-6:{n}/sas_address:0x5000c500a6754ab{n}\n"
        f"/sys/class/sas_device/end_device-6:{n}/enclosure_identifier:{SHELF}\n"
        f"/sys/class/sas_device/end_device-6:{n}/bay_identifier:{bay_number}\n"
        for n, bay_number in ((1, 4), (2, 4), (3, 5))
    )
    sources = Sources({"sas_topology": {"outcome": "data", "text": text, "reason": "", "exit_code": None, "stderr": ""}})
    assert read_map(sources).by_address[2] == {}


def test_on_the_demo_shelf_three_witnesses_agree(tmp_path):
    demo.make(tmp_path)
    host = TwinHost(demo.state_path(tmp_path, "oss01"))
    taken = [capture for collector in COLLECTORS.values() for capture in collector.collect(host)]
    facts = node_facts("oss01", {f"{c.source}/{c.key}" if c.key else c.source: c for c in taken}, 1.0, ())
    seated = [d for d in facts.disks if known(d.bay)]
    assert len(seated) == 63
    assert {tuple(w.level for w in d.bay_witnesses) for d in seated} == {(1, 2, 3)}
    assert {(d.bay.evidence, d.bay.conflict) for d in seated} == {(1, "")}


def test_a_path_is_told_by_the_kernel():
    paths = [path for d in played("healthy-raidz2-zfs2.3").disks for path in d.paths]
    assert all(isinstance(path, PathFacts) for path in paths)
    sas = {path.link.host for path in paths if known(path.link) and path.link.end}
    assert sas == {"host2"}
