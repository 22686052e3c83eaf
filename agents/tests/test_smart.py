import json
from pathlib import Path

import pytest

from agents.collectors import smart
from agents.collectors._smart_json import ErrorLine
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
    assert isinstance(parse("everything is well\n"), Unparsed)


class Disks:
    """Two disks, one of them with a partition; answers by the option -j."""

    def __init__(self, *answers: tuple[int, bytes]) -> None:
        self.asked, self.answers = [], list(answers)

    def list(self, pattern):
        return {"/sys/block/sd*": ("/sys/block/sda", "/sys/block/sdb"), "/sys/block/sda/sda[0-9]*": ("/sys/block/sda/sda1",)}.get(
            pattern, ()
        )

    def run(self, argv, timeout_seconds):
        self.asked.append(argv)
        exit_code, stdout = self.answers[min(len(self.asked), len(self.answers)) - 1]
        return Ran(argv, exit_code, stdout, b"", 0.1)


JSON = b'{"smartctl": {"exit_status": 0}}\n'


@pytest.mark.parametrize(("exit_code", "outcome"), [(0, "data"), (4, "data"), (8, "data"), (64, "data"), (1, "failed"), (2, "failed")])
def test_its_exit_code_is_a_set_of_bits(exit_code, outcome):
    assert {capture.outcome for capture in smart.collect(Disks((exit_code, JSON)))} == {outcome}


def test_it_asks_every_disk_and_wakes_none():
    host = Disks((2, b'{"smartctl": {"messages": [{"string": "Device is in STANDBY mode, exit(2)"}]}}\n'))
    captures = smart.collect(host)
    assert sorted(host.asked) == [("smartctl", "-j", "-x", "-n", "standby", f"/dev/{name}") for name in ("sda", "sdb")]
    assert [(c.key, c.outcome, c.reason) for c in captures] == [(n, "nothing", f"{n} sleeps and was not woken") for n in ("sda", "sdb")]


def test_it_asks_for_text_where_smartctl_knows_no_json():
    host = Disks((1, b"=======> UNRECOGNIZED OPTION: j\n"), (0, HEAD.encode()))
    assert smart.collect_one(host, "sda").outcome == "data"
    assert [argv[1] for argv in host.asked] == ["-j", "-x"]


GENUINE_JSON = texts("smartctl-x-j-sda.txt")


@pytest.mark.parametrize(("name", "text"), GENUINE_JSON, ids=[name for name, _ in GENUINE_JSON])
def test_it_reads_a_genuine_report_in_json(name, text):
    """The lab's disks lack SMART: nothing is claimed of them, and 0 degrees is no temperature."""
    said = parse(text)
    assert (said.passed, said.line, said.grown_defects) == (None, "", None)
    assert str(said.wwid).startswith("naa:5000c500a65b2")
    assert (said.details.temperature, said.details.self_tests, said.details.links) == (None, None, ())


def test_it_reads_all_that_a_failing_disk_says():
    """Composed by us."""
    said = parse((Path(__file__).parent / "captures/smart/made-up--sas-failing-json.json").read_text())
    assert (said.passed, said.grown_defects, said.wwid, said.serial) == (False, 1874, "naa:5000c500a670c5fb", "ZA21ABCD")
    assert said.line == "SMART status: failed, FAILURE PREDICTION THRESHOLD EXCEEDED: ascq=0x10"
    about = said.details
    assert (about.temperature, about.temperature_trip, about.power_on_hours, about.pending_defects) == (41, 60, 41211, 3)
    assert about.errors[0] == ErrorLine("read", 1120394896, 2, "650912.300")
    (test,) = about.self_tests
    assert (test.failed, test.hours, test.said) == (True, 40011, "Failed in segment")
    (link,) = about.links
    assert (link.port, link.phy, link.gbit, link.attached, link.counters) == (0, 0, 6.0, "0x50050cc11ac0173f", (3120, 3007, 41, 0))


def test_it_reads_a_sata_disk():
    """Composed by us: its LU name comes in three parts, and its attributes carry the medium errors."""
    said = parse(
        json.dumps(
            {
                "smartctl": {},
                "wwn": {"naa": 5, "oui": 0x1234, "id": 0x12345678F},
                "smart_status": {"passed": True},
                "ata_smart_attributes": {"table": [{"id": 197, "raw": {"value": 8}}, {"id": 1, "raw": {"value": 9}}]},
                "ata_smart_self_test_log": {
                    "standard": {
                        "table": [{"type": {"string": "Short offline"}, "status": {"value": 112, "string": "x"}, "lifetime_hours": 7}]
                    }
                },
            }
        )
    )
    assert (said.wwid, said.passed, said.details.attributes) == ("naa:500123412345678f", True, (("pending", 8),))
    assert said.details.self_tests[0].failed


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', '{"smartctl": []}', '{"smartctl": {}', "{" * 10_000])
def test_it_refuses_json_that_is_torn_or_not_smartctls(text):
    assert isinstance(parse(text), Unparsed)


@pytest.mark.parametrize("value", [1.5, "3", True, -1, None, [3], 2**70])
def test_a_number_in_a_strange_form_counts_as_not_said(value):
    said = parse(json.dumps({"smartctl": {}, "scsi_grown_defect_list": value, "scsi_pending_defects": {"count": value}}))
    assert said.details.pending_defects is None
    assert said.grown_defects is None or value == 2**70
