import pytest

from agents.collectors import smart
from agents.collectors.base import Unparsed
from agents.collectors.smart import parse
from agents.host import Ran
from agents.tests.scenarios import texts

GENUINE = texts("smartctl-x-sda.txt")
HEAD = "smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\n"


@pytest.mark.parametrize(("name", "text"), GENUINE, ids=[name for name, _ in GENUINE])
def test_a_disk_without_a_verdict_has_not_passed(name, text):
    """The lab's disks lack SMART; the capture is genuine all the same."""
    said = parse(text)
    assert (said.passed, said.line, said.grown_defects) == (None, "", None)
    assert str(said.wwid).startswith("naa:5000c500a65b2")


@pytest.mark.parametrize(
    ("lines", "passed", "grown_defects"),
    [
        ("SMART Health Status: OK\nElements in grown defect list: 3\n", True, 3),
        (
            "SMART Health Status: FIRMWARE IMPENDING FAILURE TOO MANY BLOCK REASSIGNS [asc=5d, ascq=64]\nElements in grown defect list: 2048\n",
            False,
            2048,
        ),
        ("SMART overall-health self-assessment test result: PASSED\n", True, None),
        ("SMART overall-health self-assessment test result: FAILED!\n", False, None),
    ],
)
def test_it_reads_the_verdict_of_sas_sata_and_nvme(lines, passed, grown_defects):
    """Made up from smartmontools' format strings."""
    read = parse(HEAD + lines)
    assert (read.passed, read.line, read.grown_defects) == (passed, lines.split("\n")[0], grown_defects)


def test_it_refuses_what_smartctl_did_not_print():
    assert isinstance(parse("SMART Health Status: OK\n"), Unparsed)


class OneBlankDisk:
    def __init__(self, exit_code: int, stdout: bytes) -> None:
        self.asked, self.exit_code, self.stdout = [], exit_code, stdout

    def list(self, pattern):
        return {"/sys/block/sd*": ("/sys/block/sda", "/sys/block/sdb"), "/sys/block/sda/sda[0-9]*": ("/sys/block/sda/sda1",)}.get(
            pattern, ()
        )

    def run(self, argv, timeout_seconds):
        self.asked.append(argv)
        return Ran(argv, self.exit_code, self.stdout, b"", 0.1)


@pytest.mark.parametrize(("exit_code", "outcome"), [(0, "data"), (4, "data"), (8, "data"), (64, "data"), (1, "failed"), (2, "failed")])
def test_its_exit_code_is_a_set_of_bits(exit_code, outcome):
    host = OneBlankDisk(exit_code, HEAD.encode())
    assert [capture.outcome for capture in smart.collect(host)] == [outcome]


def test_it_asks_only_disks_without_partitions_and_wakes_none():
    host = OneBlankDisk(2, HEAD.encode() + b"Device is in STANDBY mode, exit(2)\n")
    (capture,) = smart.collect(host)
    assert host.asked == [("smartctl", "-x", "-n", "standby", "/dev/sdb")]
    assert (capture.key, capture.outcome, capture.reason) == ("sdb", "nothing", "sdb sleeps and was not woken")
