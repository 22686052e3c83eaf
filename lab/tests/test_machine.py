"""What QEMU is started with."""

from lab.machine import Machine, Settings


def words_of(**settings: str) -> list[str]:
    machine = Machine("that-never-runs")
    machine.settings = Settings(image="/nowhere", **settings)
    return machine._qemu()


def test_its_firmware_reports_the_serial_number_of_its_chassis_where_it_has_one():
    words = words_of(serial="C8470LAB")
    assert words[words.index("-smbios") + 1 :][:3] == ["type=1,serial=C8470LABP", "-smbios", "type=3,serial=C8470LAB"]
    assert "-smbios" not in words_of()
