"""What enclosures and disks say of themselves: SES pages, log pages, mode pages, designators."""

from pathlib import Path

import pytest

from agents.collectors import block, drive_modes, ses, ses_status, sg_logs
from agents.collectors._designators import Designator, designators
from agents.collectors.base import Unparsed
from agents.collectors.ses import SesSlot
from agents.host.host import Ran
from agents.tests import lab_nodes

CAPTURES = Path(__file__).parent / "captures"


def text(source: str, what: str) -> str:
    (path,) = (CAPTURES / source).glob(f"*--{what}.txt")
    return path.read_text()


@pytest.mark.parametrize("what", ["four-bays-one-empty", "four-bays-joined"])
def test_it_reads_bays_whichever_way_sg_ses_prints_them(what):
    enclosure = ses.parse(text("ses", what))
    expander = "0x50050cc11ac0173f"
    assert enclosure.id == "0x50050cc11ac016e2"
    assert enclosure.slots == (
        SesSlot(0, True, ("0x5000c500a6754ab9",), expander),
        SesSlot(1, True, ("0x5000cca273a7d9e9",), expander),
        SesSlot(2, False, (), expander),
        SesSlot(3, True, ("0x50050cc11ac01743",), expander),
    )


def test_it_refuses_an_enclosure_that_numbers_two_bays_alike():
    same = text("ses", "four-bays-one-empty").replace("device slot number: 3", "device slot number: 1")
    assert isinstance(ses.parse(same), Unparsed)


@pytest.mark.parametrize(
    ("old", "new"), [("SAS address: 0x5000c500a6754ab9", "SAS address: 0x5000c500a6754ab"), ("slot number: 1", "slot number: ")]
)
def test_it_refuses_a_torn_bay(old, new):
    assert isinstance(ses.parse(text("ses", "four-bays-one-empty").replace(old, new, 1)), Unparsed)


LOGS = text("sg_logs", "corrected-reads-and-a-failed-self-test")


def test_it_reads_every_page_to_the_byte():
    logs = sg_logs.parse(LOGS)
    assert (logs.read.corrected, logs.read.uncorrected, logs.read.processed_bytes) == (1120394896, 2, 650912300118016)
    assert (logs.write.corrected, logs.verify.uncorrected, logs.non_medium) == (3, 0, 41)
    assert [(test.hours, test.result, test.failed) for test in logs.self_tests] == [(41211, 0, False), (40011, 7, True)]
    assert (logs.background.status, logs.background.scans, logs.background.findings) == ("background medium scan is active", 91, 1)


def test_it_reads_the_headings_of_a_newer_version():
    newer = LOGS.replace("counter page  [", "counter log page  [").replace("results page  [", "results log page  [")
    newer = newer.replace("self-test code", "Self-test code").replace("self-test result", "Self-test result")
    assert sg_logs.parse(newer) == sg_logs.parse(LOGS)


def test_a_page_the_disk_lacks_is_none_and_an_empty_log_is_empty():
    logs = sg_logs.parse(
        "# sg_logs --page=0x02: exit 5\n    SEAGATE   X  1\n# sg_logs --page=0x10: exit 0\nSelf-test results page  [0x10]\n"
    )
    assert (logs.write, logs.read, logs.self_tests) == (None, None, ())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Total uncorrected errors = 2", "Total uncorrected errors = 2K"),
        ("Total uncorrected errors = 2", "Total uncorrected errors = 2 G"),
        ("Non-medium error count = 41", "Non-medium error count = 4.1K"),
        ("[7]", "[]"),
    ],
)
def test_it_refuses_rounded_and_torn_numbers(old, new):
    assert isinstance(sg_logs.parse(LOGS.replace(old, new)), Unparsed)


def test_it_reads_both_switches_and_what_the_kernel_believes():
    modes = drive_modes.parse(text("drive_modes", "write-cache-off-scan-on"))
    assert (modes.wce.current, modes.wce.saved, modes.wce.default) == (False, False, True)
    assert (modes.en_bms.current, modes.cache_type) == (True, "write through")
    behind = drive_modes.parse(text("drive_modes", "cache-on-behind-the-kernel"))
    assert (behind.wce.current, behind.wce.saved, behind.en_bms, behind.cache_type) == (True, False, None, "write through")


def test_it_refuses_a_switch_that_stands_there_twice():
    twice = text("drive_modes", "write-cache-off-scan-on") + "WCE           1  [cha: y, def:  1, sav:  1]\n"
    assert isinstance(drive_modes.parse(twice), Unparsed)


class OfAnotherDriver:
    """A disk whose HBA's driver adds no sas_address to it, as mptsas and the drivers on libsas."""

    def __init__(self, vendor: bytes, device: str) -> None:
        self.vendor, self.device = vendor, device

    def list(self, pattern):
        return {"/sys/block/sd*": ("/sys/block/sda",)}.get(pattern, ())

    def read(self, path):
        if path.endswith("/vendor"):
            return self.vendor
        raise FileNotFoundError(path)

    def link(self, path):
        return f"/sys/devices/pci0000:00/0000:00:05.0/host2/{self.device}/target2:0:1/2:0:1:0"


@pytest.mark.parametrize(
    ("vendor", "device", "asked"),
    [
        (b"SEAGATE ", "port-2:1/end_device-2:1", ("sda",)),
        (b"ATA     ", "port-2:1/end_device-2:1", ()),  # a SATA disk behind a SAS HBA
        (b"SEAGATE ", "session1", ()),  # iSCSI
    ],
)
def test_a_sas_disk_is_known_by_what_it_hangs_on(vendor, device, asked):
    assert sg_logs.keys(OfAnotherDriver(vendor, device)) == asked


@pytest.mark.parametrize("release", lab_nodes.RELEASES)
def test_a_genuine_disk_without_logs_has_none_and_its_cache_is_known(release):
    """QEMU's: `sdparm --get=WCE` exits 5 and prints the field all the same, because it has no saved value."""
    modes = drive_modes.parse(lab_nodes.body(release, "healthy", "drive_modes", "sda")["text"])
    assert (modes.wce.current, modes.wce.saved, modes.en_bms, modes.cache_type) == (True, None, None, "write back")
    logs = sg_logs.parse(lab_nodes.body(release, "healthy", "sg_logs", "sda")["text"])
    assert (logs.read, logs.self_tests, logs.background) == (None, None, None)


class Sleeper:
    """One SAS disk in standby. Whatever else is run on it would wake it."""

    def __init__(self, smartctl: Ran) -> None:
        self.asked, self.smartctl = [], smartctl

    def list(self, pattern):
        return {"/sys/block/sd*": ("/sys/block/sda",)}.get(pattern, (pattern,) if pattern.endswith("sas_address") else ())

    def read(self, path):
        return b"SEAGATE \n"

    def run(self, argv, timeout_seconds):
        self.asked.append(argv[0])
        return self.smartctl


@pytest.mark.parametrize("module", [sg_logs, drive_modes])
@pytest.mark.parametrize(
    ("ran", "outcome"),
    [
        (Ran((), 2, b"Device is in STANDBY mode, exit(2)\n", b"", 0.1), "nothing"),
        (Ran((), None, b"", b"", 0.0, "not found"), "nothing"),
        (Ran((), None, b"", b"", 15.0, "timeout"), "failed"),
        (Ran((), 2, b"Smartctl open device: /dev/sda failed\n", b"", 0.1), "failed"),
    ],
)
def test_a_disk_that_may_sleep_is_left_alone(module, ran, outcome):
    host = Sleeper(ran)
    (capture,) = module.collect(host)
    assert (capture.outcome, host.asked) == (outcome, ["smartctl"])


class Awake(Sleeper):
    def run(self, argv, timeout_seconds):
        self.asked.append(tuple(argv))
        return self.smartctl


def test_it_never_opens_a_disk_for_writing():
    """As it would without --readonly: udev tells of a disk that was open for writing as changed, and ZED reopens its pool."""
    host = Awake(Ran((), 0, b"Power mode is: ACTIVE\n", b"", 0.1))
    sg_logs.collect_one(host, "sda")
    asked = [argv for argv in host.asked if argv[0] == "sg_logs"]
    assert asked == [("sg_logs", "--readonly", f"--page={page}", "/dev/sda") for page in sg_logs.PAGES]


UNIT = "010300085000c500a65b201b"
PORT = "619300085000c500a65b201d"
RELATIVE = "6194000400000001"


def page(body: str) -> str:
    return f"0083{len(body) // 2:04x}{body}"


def test_it_tells_the_disks_name_from_its_ports():
    """The two names of a genuine lab disk, as its `sg_vpd -p di` shows them; the bytes are put together by us."""
    assert designators(page(UNIT + PORT + RELATIVE)) == (
        Designator("unit", "naa", "5000c500a65b201b"),
        Designator("port", "naa", "5000c500a65b201d"),
        Designator("port", "relative port", "1"),
    )


@pytest.mark.parametrize("bad", [None, "", "zz", "0083", page(UNIT)[:-2], page(UNIT[:-2]), "0080" + page(UNIT)[4:]])
def test_a_torn_page_names_nothing(bad):
    assert designators(bad) is None


def test_a_block_device_carries_them():
    (disk,) = block.parse(f"/sys/block:sda\n/sys/block/sda/device/vpd_pg83:{page(UNIT)}\n/sys/block/sda/device/timeout:30\n")
    assert disk.designators == (Designator("unit", "naa", "5000c500a65b201b"),)
    assert (disk.timeout_seconds, disk.rotational, disk.write_cache) == (30, None, None)


PART = """    Element type: Cooling, subenclosure id: 0 [ti=2]
      Overall descriptor:
        Predicted failure=0, Disabled=0, Swap=0, status: Critical
      Element 0 descriptor:
        Predicted failure=1, Disabled=0, Swap=0, status: {}
        Ident=0, Do not remove=0, Hot swap=1, Fail=1, Requested on=1
        Off=0, Actual speed={} rpm, Fan {}
"""


def test_the_status_of_each_part_is_read_and_the_overall_one_is_of_none():
    (fan,) = ses_status.parse(PART.format("Noncritical", 0, "stopped")).elements
    assert (fan.type, fan.name, fan.status, fan.flags, fan.predicted) == ("Cooling", "element 0", "Noncritical", ("Fail",), True)


def test_a_sensor_that_moves_changes_nothing_lasting_and_a_fan_that_stops_does():
    fast, slow = (PART.format("OK", speed, "at intermediate speed") for speed in (5120, 4870))
    assert ses_status.lasting(fast) == ses_status.lasting(slow) != ses_status.lasting(PART.format("OK", 0, "stopped"))


def test_a_page_without_a_part_is_refused():
    assert isinstance(ses_status.parse("  Primary enclosure logical identifier (hex): 50050cc11ac016e2\n"), Unparsed)
