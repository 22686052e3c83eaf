import json
import time
from pathlib import Path

import pytest

from agents.collectors import smart
from agents.collectors._smart_json import ErrorLine
from agents.collectors.base import Unparsed
from agents.collectors.smart import parse
from agents.host.host import Ran
from agents.tests.scenarios import texts

GENUINE = texts("smartctl-x-sda.txt")
HEAD = "smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\n"


@pytest.mark.parametrize(("name", "text"), GENUINE, ids=[name for name, _ in GENUINE])
def test_a_disk_without_a_verdict_has_not_passed(name, text):
    """The lab's disks lack SMART; the capture is genuine all the same."""
    parsed = parse(text)
    assert (parsed.passed, parsed.line, parsed.grown_defects) == (None, "", None)
    assert str(parsed.wwid).startswith("naa:5000c500a65b2")


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
    parsed = parse(text)
    assert (parsed.passed, parsed.line, parsed.grown_defects) == (None, "", None)
    assert str(parsed.wwid).startswith("naa:5000c500a65b2")
    assert (parsed.details.temperature, parsed.details.self_tests, parsed.details.links) == (None, None, ())


def test_it_reads_all_that_a_failing_disk_says():
    """Composed by us."""
    parsed = parse((Path(__file__).parent / "captures/smart/made-up--sas-failing-json.json").read_text())
    assert (parsed.passed, parsed.grown_defects, parsed.wwid, parsed.serial) == (False, 1874, "naa:5000c500a670c5fb", "ZA21ABCD")
    assert parsed.line == "SMART status: failed, FAILURE PREDICTION THRESHOLD EXCEEDED: ascq=0x10"
    about = parsed.details
    assert (about.temperature, about.temperature_trip, about.power_on_hours, about.pending_defects) == (41, 60, 41211, 3)
    assert about.errors[0] == ErrorLine("read", 1120394896, 2, "650912.300")
    (test,) = about.self_tests
    assert (test.failed, test.hours, test.text) == (True, 40011, "Failed in segment")
    (link,) = about.links
    assert (link.port, link.phy, link.gbit, link.attached, link.counters) == (0, 0, 6.0, "0x50050cc11ac0173f", (3120, 3007, 41, 0))


def test_it_reads_a_sata_disk():
    """Composed by us: its LU name comes in three parts, and its attributes carry the medium errors."""
    parsed = parse(
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
    assert (parsed.wwid, parsed.passed, parsed.details.attributes) == ("naa:500123412345678f", True, (("pending", 8),))
    assert parsed.details.self_tests[0].failed


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', '{"smartctl": []}', '{"smartctl": {}', "{" * 10_000])
def test_it_refuses_json_that_is_torn_or_not_smartctls(text):
    assert isinstance(parse(text), Unparsed)


@pytest.mark.parametrize("value", [1.5, "3", True, -1, None, [3], 2**70])
def test_a_number_in_a_strange_form_counts_as_not_said(value):
    parsed = parse(json.dumps({"smartctl": {}, "scsi_grown_defect_list": value, "scsi_pending_defects": {"count": value}}))
    assert parsed.details.pending_defects is None
    assert parsed.grown_defects is None or value == 2**70


def test_a_part_of_the_text_without_its_first_lines_is_read():
    parsed = parse("SMART Health Status: FAILURE PREDICTION THRESHOLD EXCEEDED [asc=5d, ascq=10]\nDrive Trip Temperature:      68 C\n")
    assert (parsed.passed, parsed.sense, parsed.details.temperature_trip, parsed.wwid) == (False, (0x5D, 0x10), 68, None)


@pytest.mark.parametrize(
    ("line", "passed"),
    [
        ("SMART overall-health self-assessment test result: UNKNOWN!", None),
        ("SMART Health Status: not available", None),
        ("SMART Health Status: WARNING - ENCLOSURE DEGRADED [asc=b, ascq=2]", False),
        ("SMART Health Status: SOMETHING THAT FREE KNOWS", False),
    ],
)
def test_a_verdict_that_is_none_is_neither_good_nor_bad(line, passed):
    assert parse(HEAD + line + "\n").passed is passed


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            "# 1  Extended offline    Completed: read failure       90%     38990         2214718032\n",
            ("Extended offline", 7, 38990, 2214718032),
        ),
        ("# 2  Short offline       Self-test routine in progress 90%      7         -\n", ("Short offline", 15, 7, None)),
        (
            "# 3  Background long   Failed in segment -->       3   29064        0x1f2e [0x3 0x11 0x0]\n",
            ("Background long", 7, 29064, 0x1F2E),
        ),
        (
            "# 4  Background short  Completed                   -   45342                 - [-   -    -]\n",
            ("Background short", 0, 45342, None),
        ),
        (
            "# 5  Background long   Self test in progress ...   -     NOW                 - [-   -    -]\n",
            ("Background long", 15, None, None),
        ),
        ("# 6  Background long   Aborted (by user command)   -      12                 - [-   -    -]\n", ("Background long", 1, 12, None)),
        ("# 7\tBackground short\tFailed in segment -->\t3\t29064\t-\t[- - -]\n".expandtabs(), ("Background short", 7, 29064, None)),
    ],
)
def test_it_reads_every_row_of_a_self_test_log(row, expected):
    (test,) = parse(row).details.self_tests
    assert (test.what, test.result, test.hours, test.lba) == expected


NVME_TESTS = "Self-test Log (NVMe Log 0x06, NSID 0xffffffff)\n"


@pytest.mark.parametrize(
    ("row", "result"),
    [
        (" 0   Extended          Completed: failed segments            33310     90123776     1   7   -    -\n", 7),
        (" 0   Short             Aborted: Controller Reset             33310            -     -   -   -    -\n", 2),
        (" 0   Short             Aborted: unknown reason               33310            -     -   -   -    -\n", 1),
        (" 0   Short             Completed without error               33310            -     -   -   -    -\n", 0),
    ],
)
def test_the_results_of_nvme_are_told_as_those_of_scsi(row, result):
    (test,) = parse(NVME_TESTS + row).details.self_tests
    assert (test.result, test.hours) == (result, 33310)


@pytest.mark.parametrize(
    "row",
    [
        "197 Current_Pending_Sector  0x0012   098   098   000    Old_age   Always       -       120",
        "197 Current_Pending_Sector  -O--C-   098   098   000    -    120",
        "197 Total_Pending_Sectors   0x0012   098   098   000    Old_age   Always       -       120 (3 4)",
    ],
)
def test_it_reads_both_forms_of_the_attribute_table(row):
    assert parse(row + "\n").details.attributes == (("pending", 120),)


def test_an_attribute_of_another_vendors_meaning_is_not_counted():
    parsed = parse("197 Current_Pending_ECC_Cnt 0x0032   100   100   000    Old_age   Always       -       1\n")
    assert parsed.details.attributes == ()


def test_what_is_at_its_threshold_is_told_by_what_that_means():
    details = parse(
        "  5 Reallocated_Sector_Ct   0x0033   003   003   010    Pre-fail  Always   FAILING_NOW 64472\n"
        " 12 Power_Cycle_Count       0x0032   001   001   020    Old_age   Always   FAILING_NOW 90112\n"
        "190 Airflow_Temperature_Cel 0x0022   039   039   045    Old_age   Always   FAILING_NOW 61\n"
        "194 Temperature_Celsius     0x0022   061   039   045    Old_age   Always   In_the_past 39\n"
    ).details
    assert (details.failing, details.exhausted, details.too_hot) == (("Reallocated_Sector_Ct",), ("Power_Cycle_Count",), True)


def test_numbers_with_a_comma_are_read_where_they_are_whole():
    details = parse(
        "Power On Hours:                     33,323\nread:          0      941       941       941       1090      47812,883           2\n"
    ).details
    assert (details.power_on_hours, details.errors) == (33323, (ErrorLine("read", 941, 2, "47812.883"),))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("Device is in STANDBY mode, exit(2)", "it sleeps"),
        ("SMART support is:     Unavailable - device lacks SMART capability.", "no SMART"),
        ("/dev/sdl: Unknown USB bridge [0x0bda:0x9210 (0xf200)]", "USB bridge"),
    ],
)
def test_why_a_disk_says_nothing_is_kept(line, why):
    parsed = parse(HEAD + line + "\n")
    assert parsed.passed is None
    assert why in parsed.silent


@pytest.mark.parametrize("hidden", ["[REDACTED]", "XXXXXXXX", "<removed>", "--"])
def test_a_serial_number_that_was_taken_out_is_none(hidden):
    assert parse(f"Serial Number:    {hidden}\n").serial is None


def test_an_nvme_report_names_its_disk_by_eui_and_by_serial_number():
    text = "Model Number:      QUAY QN980\nSerial Number:     QN22A0001177\nNamespace 1 IEEE EUI-64:            0c7a15 0000c1d2e3\n"
    fields = {"smartctl": {}, "model_name": "QUAY QN980", "serial_number": "QN22A0001177"}
    fields["nvme_namespaces"] = [{"eui64": {"oui": 0x0C7A15, "ext_id": 0xC1D2E3}, "nguid": "0c7a150000c1d2e30000000000000001"}]
    names = ("eui:0c7a150000c1d2e3", "ser:QUAY_QN980:QN22A0001177")
    assert parse(text).names == names
    assert parse(json.dumps(fields)).names == (names[0], "eui:0c7a150000c1d2e30000000000000001", names[1])


@pytest.mark.parametrize(
    "line", ["# 1" + " " * 5000, "5 " + "a " * 5000, "read: " + "1 " * 5000, "x" * 100_000, "[" * 5000, "# 1 " + "-->" * 3000]
)
def test_no_line_takes_long(line):
    begun = time.process_time()
    parse((line + "\n") * 50)
    assert time.process_time() - begun < 2
