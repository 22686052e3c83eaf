"""Texts whose first line is missing or stands in two, a field of a development release, and a command that could not ask."""

from __future__ import annotations

import pytest

from workflows.triage import triage

EVENT = (
    '        class = "ereport.fs.zfs.io"\n        ena = 0x3df2665b53d00c01\n        detector = (embedded nvlist)\n                version = 0x0\n'
    '                scheme = "zfs"\n                pool = 0x21\n                vdev = 0x22\n        (end detector)\n        pool = "linden"\n'
    '        pool_guid = 0x21\n        vdev_guid = 0x22\n        vdev_path = "/dev/disk/by-id/wwn-0x5000c500a1b2c3d1-part1"\n'
    "        zio_err = 0x5\n        time = 0x69a5b4f2 0x427378 \n        eid = 0x6e\n"
)
PART = EVENT.split("\n", 2)[2]
EXPAND = "raidz expand: Expansion of raidz1-0 in progress since Thu Nov 12 16:42:14 2026\n    40G copied out of 300G at 52.7M/s, 13.33% done{0}\n"
STATUS = (
    "  pool: linden\n state: ONLINE\n{0}config:\n\n\tNAME        STATE     READ WRITE CKSUM\n\tlinden      ONLINE       0     0     0\n"
    "\t  raidz1-0  ONLINE       0     0     0\n\t    {1}  ONLINE       0     0     0\n\t    {1}  ONLINE       0     0     0\n\t    {1}  ONLINE       0     0     0\n"
    "\nerrors: No known data errors\n"
)
LIST = "NAME     SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP\nHEALTH  ALTROOT\nlinden  10.9T  9.92T   998G        -         -    21%    91%  1.00x\n{0}  -\n"


def read(text: str):
    return triage([("p", text)])


def slugs(text: str) -> set[str]:
    return {one.slug for one in read(text).situations}


def test_an_event_without_its_first_line_is_read_by_its_class_and_time():
    answer = read(EVENT)
    assert [(one.slug, one.vdevs) for one in answer.situations] == [("zfs-events", (str(0x22),))]
    assert not answer.good


def test_an_event_without_its_class_says_of_whom_it_is_and_not_what_happened():
    answer = read(PART)
    assert [one.outcome for one in answer.reads] == ["partly"]
    assert "linden" in answer.reads[0].reason
    assert not answer.situations
    assert not answer.good


@pytest.mark.parametrize("far", ["time = 0xffffffffffffffff 0x1", "time = 0x0 0xffffffff"])
def test_a_time_that_is_none_is_no_head(far: str):
    assert not read(EVENT.replace("time = 0x69a5b4f2 0x427378", far)).good


@pytest.mark.parametrize(
    ("rest", "slug"),
    [(", 01:22:00 to go", "expansion-running"), (", paused due to io errors, waiting for resilver or clear", "expansion-stuck")],
)
def test_the_field_of_an_expansion_before_its_release_is_that_of_today(rest: str, slug: str):
    found = slugs(
        STATUS.format(EXPAND.format(rest), "wwn-0x5000c500a1b2c3{0}").replace("{0}", "d1", 1).replace("{0}", "d2", 1).replace("{0}", "d3")
    )
    assert slug in found
    assert "unexplained" not in found


@pytest.mark.parametrize("hidden", ["ata-MAKER_xxx", "ata-MAKER_XX-part1", "scsi-###", "xxx"])
def test_names_that_somebody_made_unreadable_are_not_one_device_used_twice(hidden: str):
    assert "device-used-twice" not in slugs(STATUS.format("", hidden))
    assert "device-used-twice" in slugs(STATUS.format("", "ata-MAKER_Z1xxy7"))


def test_a_list_whose_rows_stand_in_two_lines_is_read():
    assert {"vdev-degraded", "pool-filling"} <= slugs(LIST.format("DEGRADED"))
    assert [one.outcome for one in read(LIST.format("ONLINE")).reads] == ["read"]
    assert not read(LIST.format("DEGRADED").replace("998G", "")).good


def test_events_that_could_not_be_asked_for_are_a_refusal():
    answer = read("# zpool events\nTIME                           CLASS\ninternal error: cannot get event: Bad file descriptor\n")
    assert [(one.outcome, one.source) for one in answer.reads] == [("read", "refused")]
    assert [one.slug for one in answer.situations] == ["refused-command"]


LISTED = "   pool: linden\n     id: 1122\n  state: UNAVAIL\n status: One or more devices are missing from the system.\n config:\n\n        linden      UNAVAIL  insufficient replicas\n          gpt/a     UNAVAIL  cannot open\n"


@pytest.mark.parametrize(
    "text",
    [f"{{{{< highlight txt >}}}}\n{LISTED}{{{{< /highlight >}}}}\n", f'listing = """{LISTED}"""\n', f'"""\n{LISTED}"""\n'],
    ids=["a page's own fence", "a text in a program", "the same, from its second line"],
)
def test_fences_of_other_places_are_no_part_of_what_they_hold(text: str):
    answer = read(text)
    assert [one.outcome for one in answer.reads if one.source] == ["read"]
    assert "unexplained" not in {one.slug for one in answer.situations}


def test_a_line_of_deduplication_that_is_quoted_alone_is_read():
    answer = read("I see this:\n> dedup: DDT entries 1609267, size 89297 on disk, 11580 in core\n")
    assert [one.source for one in answer.reads if one.outcome == "read"] == ["dedup_table"]
    assert not answer.good
