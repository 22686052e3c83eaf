import pytest

from agents.collectors import lsscsi
from agents.collectors.base import Unparsed
from agents.collectors.lsscsi import ScsiDevice, ScsiHost, parse
from agents.tests.scenarios import step, texts
from twin.captured_host import CapturedHost

GENUINE = [item for name in ("lsscsi.txt", "lsscsi-i.txt", "lsscsi-g-w.txt", "lsscsi-g-s-w.txt") for item in texts(name)]


@pytest.mark.parametrize(("name", "text"), GENUINE, ids=[name for name, _ in GENUINE])
def test_it_reads_a_genuine_capture(name, text):
    devices = parse(text)
    assert not isinstance(devices, Unparsed), devices
    assert len(devices) == text.count("\n")
    assert {(d.type, d.vendor, d.model, d.rev) for d in devices} == {("disk", "SEAGATE", "ST10000NM0256", "TT54")}


def test_it_reads_the_identity_of_a_disk():
    (capture,) = lsscsi.collect(CapturedHost(step("wwid-drift/4-import-d-dev")))
    first = parse(capture.text)[0]
    assert (first.hctl, first.node, first.scsi_id) == ("2:0:0:0", "/dev/sda", "35000c500a65b201b")


@pytest.mark.parametrize(
    ("line", "device"),
    [
        (
            "[6:0:176:0] disk SEAGATE ST10000NM0256 TT54 /dev/sdfl 35000c500a6754abb /dev/sg176 9.79TB",
            ScsiDevice("6:0:176:0", "disk", "SEAGATE", "ST10000NM0256", "TT54", "/dev/sdfl", "35000c500a6754abb", "/dev/sg176", "9.79TB"),
        ),
        (
            "[6:0:89:0]   enclosu SEAGATE  4U84             0410  -  -  /dev/sg90       -",
            ScsiDevice("6:0:89:0", "enclosu", "SEAGATE", "4U84", "0410", None, None, "/dev/sg90", None),
        ),
        (
            "[0:2:0:0]    disk    DELL     PERC H730P Adp   4.30  /dev/sda   36d09466012345600abcdef0123456789  /dev/sg0   239GB",
            ScsiDevice(
                "0:2:0:0", "disk", "DELL", "PERC H730P Adp", "4.30", "/dev/sda", "36d09466012345600abcdef0123456789", "/dev/sg0", "239GB"
            ),
        ),
        (
            "[N:0:4:1]    disk    Samsung SSD 980 PRO 1TB__1                 /dev/nvme0n1  -  -  1.00TB",
            ScsiDevice("N:0:4:1", "disk", "", "Samsung SSD 980 PRO 1TB__1", "", "/dev/nvme0n1", None, None, "1.00TB"),
        ),
    ],
)
def test_it_reads_lines_of_the_field(line, device):
    assert parse(line + "\n") == (device,)


def test_it_refuses_a_line_without_address():
    assert isinstance(parse("disk SEAGATE ST10000NM0256 TT54 /dev/sdfl\n"), Unparsed)


@pytest.mark.parametrize(("name", "text"), texts("lsscsi-t.txt"))
def test_it_tells_a_port_address_from_a_disk_name(name, text):
    for device in parse(text):
        assert (device.model, device.lu_name) == ("", None)
        assert device.transport.startswith("sas:0x5000c500a65b2")


@pytest.mark.parametrize(("name", "text"), texts("lsscsi-g-s-u.txt"))
def test_it_reads_lu_names(name, text):
    for device in parse(text):
        assert device.lu_name.startswith("5000c500a65b")
        assert (device.transport, device.size_text[-2:]) == (None, "MB")


@pytest.mark.parametrize(("name", "text"), texts("lsscsi-l.txt"))
def test_it_reads_the_long_form(name, text):
    devices = parse(text)
    assert len(devices) == text.count("[")
    assert {dict(device.attributes)["timeout"] for device in devices} <= {"30", "600"}


@pytest.mark.parametrize(("name", "text"), texts("lsscsi-v-t.txt"))
def test_it_reads_where_sysfs_keeps_a_device(name, text):
    for device in parse(text):
        assert device.folder.endswith(f"/{device.hctl}")


@pytest.mark.parametrize(("name", "text"), texts("lsscsi-H.txt"))
def test_it_reads_hosts(name, text):
    hosts = parse(text)
    assert hosts[:2] == (ScsiHost(0, "ata_piix"), ScsiHost(1, "ata_piix"))
    assert {host.driver for host in hosts[2:]} <= {"mptsas"}


def test_no_column_is_taken_for_another():
    """As printed for an enclosure: nothing in the place of a name, dashes for what it lacks."""
    (by_name,) = parse("[6:0:89:0]   enclosu                                   -          -  /dev/sg90       -\n")
    (by_port,) = parse("[6:0:89:0]   enclosu sas:0x50050cc11ac016e2          -          /dev/sg90\n")
    assert (by_name.node, by_name.sg, by_name.lu_name, by_name.size_text) == (None, "/dev/sg90", None, None)
    assert (by_port.node, by_port.sg, by_port.transport) == (None, "/dev/sg90", "sas:0x50050cc11ac016e2")
    (wide,) = parse("[6:0:1:0]    disk    SEAGATE  ST10000NM0256    TT54  0x5000c500a65b207b                  /dev/sdfl  /dev/sg3\n")
    assert (wide.wwn, wide.node, wide.sg) == ("0x5000c500a65b207b", "/dev/sdfl", "/dev/sg3")
