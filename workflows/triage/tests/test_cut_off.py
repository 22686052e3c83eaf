"""Records that were cut at an end: each is read as far as it goes, marked as a part, and never good for what was cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from workflows.triage import triage

CASES = Path(__file__).parent / "cases" / "cut"

LISTED = (CASES / "import.txt").read_text()
LABEL = (CASES / "label.txt").read_text()
CONFIG = (CASES / "config.txt").read_text()
BUCKETS = [f"{2 ** (i + 1) - 1}ns" for i in range(37)]
WAITS = (
    "tank         total_wait     disk_wait    syncq_wait    asyncq_wait\nlatency      read  write   read  write   read  write   read  write  scrub   trim\n"
    + "".join(f"{bucket:12} {'0  ' * 10}\n" for bucket in BUCKETS)
)


def begun(text: str, least: str) -> list[str]:
    """The text cut behind each line, from the first one of this beginning on; the whole is not among them."""
    lines = text.split("\n")[:-1]
    first = next(i for i, line in enumerate(lines) if line.startswith(least))
    return ["\n".join(lines[:n]) + "\n" for n in range(first + 1, len(lines))]


@pytest.mark.parametrize(("whole", "least"), [(LABEL, "    guid: "), (CONFIG, "    pool_guid: "), (WAITS, "1ns")])
def test_what_is_cut_at_its_end_is_a_part_and_is_not_good(whole, least):
    for text in begun(whole, least):
        found = triage([("p", text)])
        (read,) = found.reads
        features = whole is CONFIG and "features_for_read:" in text
        assert read.outcome == ("read" if features else "partly"), text
        assert not found.good, text


def test_the_whole_records_are_read():
    for whole in (LABEL, CONFIG, WAITS):
        (read,) = triage([("p", whole)]).reads
        assert read.outcome == "read"


def test_a_label_whose_tree_was_cut_still_tells_whose_it_is():
    (text,) = [one for one in begun(LABEL, "    guid: ") if one.endswith("        children[1]:\n")]
    node = triage([("p", f"# zdb -l /dev/sda1\n{text}")]).fleet.nodes["pasted"]
    (copies,) = node.unplaced
    (label,) = copies.labels
    assert (label.pool_name, label.guid) == ("tank", 4234567890123456789)


def test_a_label_without_the_rule_above_its_title_is_read():
    found = triage([("p", LABEL.split("\n", 1)[1])])
    assert [(read.source, read.outcome) for read in found.reads] == [("zdb_label", "read")]


def test_of_a_second_pool_that_was_cut_the_first_one_stays():
    second = CONFIG.replace("tank", "dozer").replace("1234567890123456789", "2234567890123456789")
    for text in begun(second, "    version: "):
        node = triage([("p", f"# zdb -C\n{CONFIG}{text}")]).fleet.nodes["pasted"]
        assert "tank" in [pool.name for pool in node.cached], text


@pytest.mark.parametrize("first", range(1, 8))
def test_a_listing_for_import_without_its_first_lines_is_no_imported_pool(first):
    found = triage([("p", LISTED.split("\n", first)[first])])
    assert not found.good
    assert "import-blocked" in {s.slug for s in found.situations}
    assert {"pool-down", "disk-missing"}.isdisjoint({s.slug for s in found.situations})
    assert not found.fleet.nodes["pasted"].pools_read


@pytest.mark.parametrize("first", range(8, 14))
def test_rows_of_a_listing_without_anything_above_them_are_not_good(first):
    assert not triage([("p", LISTED.split("\n", first)[first])]).good


def test_rows_of_a_tree_without_anything_above_them_are_read():
    rows = "\t  mirror-0  DEGRADED     0     0     0\n\t    sda     ONLINE       0     0     0\n\t    sdb     FAULTED      5     0     0  too many errors\n\nerrors: No known data errors\n"
    found = triage([("p", rows)])
    assert [read.outcome for read in found.reads] == ["partly"]
    assert {s.slug for s in found.situations} == {"vdev-degraded", "disk-faulted"}
    well = triage([("p", rows.replace("DEGRADED", "ONLINE").replace("FAULTED      5", "ONLINE       0").replace("  too many errors", ""))])
    assert not well.situations
    assert not well.good


def test_a_part_of_waits_is_named():
    for text in (WAITS.split("\n", 1)[1], WAITS.split("\n", 5)[5]):
        found = triage([("p", text)])
        assert "zpool iostat -w" in found.reads[0].reason
        assert not found.good


RECORD = """\
Jun 04 2024 10:21:34.123456789 ereport.fs.zfs.checksum
        class = "ereport.fs.zfs.checksum"
        pool = "tank"
        vdev_guid = 0x3f2504e04f8911d3
        vdev_path = "/dev/sdb1"
        time = 0x665eeb6e 0x75bcd15
        eid = 0x2

"""
OF_FMDUMP = """\
TIME                           CLASS
Jun 04 2024 10:21:34.123456789 ereport.fs.zfs.io
nvlist version: 0
        class = ereport.fs.zfs.io
        detector = (embedded nvlist)
        nvlist version: 0
                scheme = zfs
                pool = 0x9a0c0305e82c3301
        (end detector)

        pool = tank
        vdev_guid = 0x3f2504e04f8911d3
        vdev_path = /dev/dsk/c0t5000C500A1B2C3D4d0s0
        zio_err = 5
        __ttl = 0x1
        __tod = 0x665eeb6e 0x75bcd15

Jun 04 2024 10:21:35.123456789 ereport.io.scsi.cmd.disk.dev.rqs.derr
nvlist version: 0
        class = ereport.io.scsi.cmd.disk.dev.rqs.derr
        driver-assessment = fatal
        __ttl = 0x1
        __tod = 0x665eeb6f 0x75bcd15
"""


def test_events_that_were_cut_at_an_end_are_read_as_far_as_they_go():
    lines = (RECORD * 3).split("\n")
    for text, outcome in (("\n".join(lines[3:]), "read"), ("\n".join(lines[:-4]), "partly"), ("\n".join(lines[3:-4]), "partly")):
        found = triage([("p", text)])
        assert [read.outcome for read in found.reads if read.source] == [outcome]
        assert [s.slug for s in found.situations] == ["zfs-events"]
        assert not found.good


def test_the_error_log_of_illumos_is_read_as_events():
    found = triage([("p", f"# fmdump -eV\n{OF_FMDUMP}")])
    assert [(read.source, read.outcome) for read in found.reads if read.source] == [("zpool_events", "read")]
    assert {s.slug for s in found.situations} >= {"zfs-events"}


def test_a_disk_that_freebsd_has_lost_is_no_line_of_camcontrol():
    found = triage([("p", "da3 at mpr0 bus 0 scbus0 target 11 lun 0\nda3: <SEAGATE ST4000NM0023 0004> s/n Z1Z12345 detached\n")])
    assert [(s.slug, s.severity) for s in found.situations] == [("kernel-errors", "act")]
