"""What people paste of disks and shelves, in texts of our own making: read as far as they go, and told of the right disk."""

from pathlib import Path

import pytest

from workflows.engine.core import Situation
from workflows.triage.answer import Triage, triage

CASES = Path(__file__).parent / "cases/disks"


def triaged(name: str) -> Triage:
    return triage([(name, (CASES / f"{name}.txt").read_text())])


def one(name: str, slug: str) -> Situation:
    (found,) = (s for s in triaged(name).situations if s.slug == slug)
    return found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sata-failing", [("act", "disk-failing")]),
        ("sas-failing", [("act", "disk-failing")]),
        ("prediction-alone", [("act", "disk-failing")]),
        ("self-test-alone", [("act", "disk-failing")]),
        ("nvme-warns", [("act", "disk-failing"), ("watch", "disk-worn")]),
        ("nvme-json", [("act", "disk-failing"), ("watch", "disk-worn")]),
        ("attributes-alone", [("watch", "disk-failing"), ("watch", "link-crc")]),
        ("worn-and-hot", [("watch", "disk-hot"), ("watch", "disk-worn")]),
        ("member-failing", [("act", "disk-failing")]),
        ("pending-without-redundancy", [("act", "disk-failing")]),
        ("shelf-status", [("act", "enclosure-fault")]),
        ("healthy-through-usb", []),
        ("no-answer", []),
    ],
)
def test_each_text_is_read_and_told(name, expected):
    read = triaged(name)
    ours = ("disk-failing", "disk-worn", "disk-hot", "link-crc", "enclosure-fault", "path-lost")
    assert {each.outcome for each in read.reads} == {"read"}
    assert [(s.severity, s.slug) for s in read.situations if s.slug in ours] == expected


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("sata-failing", ("sdd (", "HB7K01QX", "naa:5000c5007f3a1b22", "Reallocated_Sector_Ct", "sector 2214718032", "120 of its sectors")),
        ("sas-failing", ("data channel impending failure: data error rate too high", "asc 0x5d, ascq 0x32", "29,064 hours", "1,874 grown")),
        ("nvme-warns", ("nvme2n1", "QN22A0001177", "eui:0c7a150000c1d2e3", "reliability is degraded", "sector 90123776")),
        ("nvme-json", ("nvme3", "QN22A0001178", "read-only")),
        ("prediction-alone", ("a disk that the report does not name", "asc 0x5d, ascq 0xfd", "the vendor's own")),
        ("self-test-alone", ("29,064 hours", "Failed in segment")),
    ],
)
def test_the_disk_and_what_it_says_are_named(name, words):
    meaning = one(name, "disk-failing").meaning
    assert [word for word in words if word not in meaning] == []


def test_a_disk_behind_a_raid_controller_is_not_called_by_the_name_of_the_volume():
    assert one("sas-failing", "disk-failing").subject["disk"] == "megaraid,11"


def test_a_report_finds_its_member_by_the_serial_number_in_its_name():
    found = one("member-failing", "disk-failing")
    assert (found.subject["pool"], found.subject["top"]) == ("vault", "mirror-0")
    assert [cure.kind for cure in found.cures] == ["scrub", "replace"]


def test_while_the_pool_is_down_no_replacement_is_told():
    found = one("member-failing-pool-down", "disk-failing")
    assert "replace" not in {cure.kind for cure in found.cures}
    assert (found.answers, "Replace nothing now" in found.meaning) == ((), True)


def test_sectors_that_no_other_disk_holds_are_saved_first():
    assert one("pending-without-redundancy", "disk-failing").cures[0].kind == "restore"


def test_why_a_disk_says_nothing_is_told_and_raises_nothing():
    notes = [note for read in triaged("no-answer").reads for note in read.notes]
    assert [word for word in ("it sleeps", "USB bridge", "it has no SMART") if not any(word in note for note in notes)] == []


def test_two_reports_through_one_device_are_two_disks():
    both = (CASES / "sas-failing.txt").read_text().replace("-d megaraid,11 ", "")
    other = both.replace("HS9A44210000C0DE", "HS9A44210000BEEF").replace("0x5000c5004a2b9913", "0x5000c5004a2b9917")
    found = [s.subject["serial"] for s in triage([("x", both + other)]).situations if s.slug == "disk-failing"]
    assert sorted(found) == ["HS9A44210000BEEF", "HS9A44210000C0DE"]


def test_the_parts_of_a_shelf_are_named_and_those_not_there_are_not():
    meaning = one("shelf-status", "enclosure-fault").meaning
    assert "Power supply element 1 is Critical (Fail, AC fail, DC fail)" in meaning
    assert "51 °C" in meaning
    assert "Not installed" not in meaning
    assert "Unknown" not in meaning


def test_a_table_whose_rows_stand_further_in_than_its_heading_is_one_report():
    table = """ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  5 Reallocated_Sector_Ct   0x0033   197   197   140    Pre-fail  Always       -       88
197 Current_Pending_Sector  0x0032   200   200   000    Old_age   Always       -       24
"""
    found = triage([("paste", table)])
    assert [(read.source, read.first, read.last) for read in found.reads] == [("smart", 1, 3)]
    assert [one.slug for one in found.situations] == ["disk-failing"]
