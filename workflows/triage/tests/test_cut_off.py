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
