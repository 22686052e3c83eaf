"""What QEMU is started with."""

from lab.disks import NVME, SATA
from lab.machine import Machine, Settings


def words_of(**settings: str) -> list[str]:
    machine = Machine("that-never-runs")
    machine.settings = Settings(image="/nowhere", **settings)
    return machine._qemu()


def test_its_firmware_reports_the_serial_number_of_its_chassis_where_it_has_one():
    words = words_of(serial="C8470LAB")
    assert words[words.index("-smbios") + 1 :][:3] == ["type=1,serial=C8470LABP", "-smbios", "type=3,serial=C8470LAB"]
    assert "-smbios" not in words_of()


def parts_of(**settings) -> list[tuple[str, dict]]:
    machine = Machine("that-never-runs")
    machine.settings = Settings(image="/nowhere", **settings)
    return list(machine._parts())


def test_two_adapters_lead_to_one_disk_by_two_ports_and_its_one_content():
    parts = parts_of(bays={0: 0, 1: 1}, paths=2)
    disks = [device for kind, device in parts if kind == "device_add" and device["driver"] == "scsi-hd"]
    assert [device["id"] for device in disks] == ["disk0", "disk0b", "disk1", "disk1b"]
    first, second = disks[:2]
    assert (first["wwn"], first["serial"], first["drive"]) == (second["wwn"], second["serial"], second["drive"])
    assert first["bus"] != second["bus"]
    assert first["port_wwn"] != second["port_wwn"]
    assert len([device for kind, device in parts if kind == "blockdev-add" and device["node-name"].startswith("content")]) == 2


def test_disks_in_the_machine_itself_have_the_names_of_their_kind():
    parts = [device for kind, device in parts_of(lot=7, built_in={10: NVME, 20: SATA}) if kind == "device_add"]
    space, drive = (next(one for one in parts if one["driver"] == name) for name in ("nvme", "ide-hd"))
    assert "wwn" not in drive
    machine = Machine("that-never-runs")
    machine.settings = Settings(lot=7, built_in={10: NVME, 20: SATA})
    assert space["serial"].encode().hex() in machine.disk(10).by_id
    assert machine.disk(20).wwid == f"ata:SLOTLAB_SSD_512:{drive['serial']}"
    assert len({machine.disk(number).serial for number in (10, 20)}) == 2
