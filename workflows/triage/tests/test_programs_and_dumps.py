"""Texts of pools that stand in a program, in a debugger's output, in a report or in the metrics of an exporter."""

import pytest

from workflows.triage.answer import triage

TREE = """  pool: harbour
 state: DEGRADED
status: One or more devices could not be opened.  Sufficient replicas exist for
\tthe pool to continue functioning in a degraded state.
action: Attach the missing device and online it using 'zpool online'.
config:

\tNAME        STATE     READ WRITE CKSUM
\tharbour     DEGRADED     0     0     0
\t  mirror-0  DEGRADED     0     0     0
\t    sdb     ONLINE       0     0     0
\t    sdc     UNAVAIL      0     0     0  cannot open
\tspares
\t  sdq       AVAIL"""


def _slugs(text: str) -> set[str]:
    return {found.slug for found in triage([("paste", text)]).situations}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '        private const string Bad = @"',
            '";\n\n        [TestMethod]\n        public void Parses()\n        {\n            Assert.Fail();\n        }\n',
        ),
        ("\tvar output = `", "`\n\tparsed := Parse(output)\n\tif parsed.State != 1 {\n\t\tt.Fatal(parsed)\n\t}\n"),
        ('        let out = r#"', '"#;\n        let pools = parse(out).unwrap();\n        assert_eq!(pools.len(), 1);\n'),
        ("$out = <<<'X'\n$text = \"", '";\n$this->assertSame(1, count($text));\n'),
    ],
)
def test_code_around_a_text_is_no_row_of_it(before: str, after: str) -> None:
    found = triage([("paste", f"{before}{TREE}{after}")])
    (pool,) = found.fleet.nodes["pasted"].pools_read
    assert [spare.name for spare in pool.spares] == ["sdq"]
    assert {one.slug for one in found.situations} >= {"disk-missing"}
    assert "spare-unavailable" not in {one.slug for one in found.situations}


def test_a_string_that_is_not_shut_stays_as_it_is() -> None:
    assert "disk-missing" in _slugs(f'text = @"{TREE}\n')


def test_code_is_no_damaged_file() -> None:
    text = TREE.partition("\tspares")[0].replace("UNAVAIL ", "ONLINE  ").replace("  cannot open", "")
    damaged = f"{text}\nerrors: Permanent errors have been detected in the following files:\n\n        /harbour/a.iso`\n\tgot := parse(text)\n\tcheck(got)\n"
    (one,) = [found for found in triage([("paste", f"\tconst text = `{damaged}")]).situations if found.slug == "data-errors"]
    assert "1 file" in one.title


@pytest.mark.parametrize(("heading", "slug"), [("spares", "spare-unavailable"), ("cache", "cache-device-lost")])
def test_nothing_is_advised_for_a_state_that_is_not_known(heading: str, slug: str) -> None:
    text = TREE.replace("\tspares\n\t  sdq       AVAIL", f"\t{heading}\n\t  sdq       WOBBLY\n\nerrors: No known data errors")
    found = triage([("paste", text)])
    assert slug not in {one.slug for one in found.situations}
    assert any("WOBBLY" in one.title for one in found.situations)


def test_a_member_that_is_a_file_has_no_cable() -> None:
    text = TREE.replace("sdb ", "/srv/img/a").replace("sdc ", "/srv/img/b")
    (one,) = [found for found in triage([("paste", text)]).situations if found.slug == "disk-missing"]
    assert not any(cure.kind == "reseat" for cure in one.cures)
    assert "cable" not in one.meaning
    assert ("ls", "-l", "/srv/img/b") in [argv for cure in one.cures for argv in cure.argv]


@pytest.mark.parametrize("path", ["/srv/img/b", "/dev/shm/b"])
def test_a_file_that_goes_by_its_guid(path: str) -> None:
    text = TREE.replace("sdb ", "/srv/img/a").replace(
        "    sdc     UNAVAIL      0     0     0  cannot open", f"    650708273434324515  UNAVAIL      0     0     0  was {path}"
    )
    (one,) = [found for found in triage([("paste", text)]).situations if found.slug == "disk-missing"]
    assert not any(cure.kind == "reseat" for cure in one.cures)
    assert ("ls", "-l", path) in [argv for cure in one.cures for argv in cure.argv]


def test_a_name_of_a_pool_may_have_blanks() -> None:
    text = TREE.replace("pool: harbour", "pool: my harbour").replace("\tharbour     DEGRADED", "\tmy harbour  DEGRADED")
    (pool,) = triage([("paste", f"{text}\n\nerrors: No known data errors\n")]).fleet.nodes["pasted"].pools_read
    assert pool.name == "my harbour"
    assert not pool.unread


def test_bold_rows() -> None:
    text = TREE.replace("    sdc     UNAVAIL      0     0     0  cannot open", "    **sdc     UNAVAIL      0     0     0  cannot open**")
    (one,) = [found for found in triage([("paste", text)]).situations if found.slug == "disk-missing"]
    assert "*" not in one.title
    assert "unexplained" not in _slugs(text)


WALK = """ADDR                 STATE NAME
ffffff01d3c4a000    ACTIVE harbour

    ADDR             STATE     AUX          DESCRIPTION
    ffffff01ce2e9400 DEGRADED  -            root
    ffffff01ce2e9dc0 DEGRADED  -              mirror
    ffffff01ce2ea780 HEALTHY   -                /dev/dsk/c2t0d0s0
    ffffff01ce2eb140 CANT_OPEN OPEN_FAILED      /dev/dsk/c2t1d0s0
    -                -         -            cache
    ffffff01ce2ec4c0 HEALTHY   -              /dev/dsk/c1t0d0s0
"""


def test_vdevs_of_a_debugger() -> None:
    found = triage([("paste", WALK)])
    assert {one.title for one in found.situations if one.slug == "disk-missing"} == {
        "/dev/dsk/c2t1d0s0 of harbour is CANT_OPEN (OPEN_FAILED)"
    }
    assert [read.outcome for read in found.reads] == ["read"]


def test_a_healthy_dump_is_not_good() -> None:
    found = triage([("paste", WALK.replace("DEGRADED ", "HEALTHY  ").replace("CANT_OPEN OPEN_FAILED", "HEALTHY   -          "))])
    assert not found.situations
    assert not found.good


METRICS = """# HELP depot_pool_state Pool state: Unrecognized = 1, Online = 10, Degraded = 50, Faulted = 60
# TYPE depot_pool_state gauge
zpool_pool_state{pool="harbour"} %s
"""


def test_a_number_for_a_state_is_read_by_its_help() -> None:
    text = METRICS.replace("depot", "zpool")
    assert "vdev-degraded" in _slugs(text % 50)
    assert "pool-down" in _slugs(text % 60)
    assert not _slugs(text % 10)


def test_a_number_without_its_help_is_not_read() -> None:
    found = triage([("paste", 'zpool_pool_state{pool="harbour"} 50\nzpool_pool_size{pool="harbour"} 5\n')])
    assert [read.outcome for read in found.reads] == ["partly"]
    assert not found.good


REPORT = """########## ZPool status report summary for all pools on server DEPOT ##########

+--------------+--------+------+------+------+----+----+--------+------+-----+
|Pool Name     |Status  |Read  |Write |Cksum |Used|Frag|Scrub   |Scrub |Last |
|              |        |Errors|Errors|Errors|    |    |Repaired|Errors|Scrub|
|              |        |      |      |      |    |    |Bytes   |      |Age  |
+--------------+--------+------+------+------+----+----+--------+------+-----+
|boot-pool     |ONLINE  |     0|     0|     0|  3%|  0%|      0B|     0|    4|
|harbour      ?|ONLINE  |     0|     0|   >1K| 51%| 17%|      0B|     0|   11|
|pier         !|FAULTED |     3|     0|     0| 51%| 17%|      0B|     0|   11|
+--------------+--------+------+------+------+----+----+--------+------+-----+
"""


def test_the_summary_of_a_report() -> None:
    found = triage([("paste", REPORT)])
    assert {(one.slug, one.subject["pool"]) for one in found.situations} >= {("pool-down", "pier"), ("vdev-degraded", "harbour")}
    assert not any(one.subject.get("pool") == "boot-pool" for one in found.situations)


def test_a_provider_of_geli_that_is_attached_is_well() -> None:
    text = "$ geli status\n        Name  Status  Components\nada0p2.eli  ACTIVE  ada0p2\nada1p2.eli  ACTIVE  ada1p2\n"
    assert not _slugs(text)


def test_the_title_of_a_page_is_no_alarm() -> None:
    assert not _slugs('title = "Repairing a pool"\ndescription = "replacing a failed drive in a pool"\n')


def test_no_pools_twice_and_then_one() -> None:
    none = "$ zpool list\nno pools available\n\n$ zpool status\nno pools available\n\n"
    assert "unexplained" not in _slugs(none)
    found = triage([("paste", f"{none}$ zpool status\n{TREE}\n\nerrors: No known data errors\n")])
    assert "disk-missing" in {one.slug for one in found.situations}
    assert "unexplained" not in {one.slug for one in found.situations}


def test_a_disk_with_a_link_by_its_serial_number_alone() -> None:
    found = triage([("paste", "$ ls -l /dev/disk/by-id\nlrwxrwxrwx 1 root root  9 May  6 13:02 ata-QUAY8000_ZQ16ABCD -> ../../sdd\n")])
    assert [read.source for read in found.reads] == ["disk_names"]


ONE_LINE = (
    "# zpool status -v pool: harbour state: DEGRADED status: One or more devices are unavailable in response to persistent errors. Sufficient replicas exist for the "
    "pool to continue functioning in a degraded state. action: Determine if the device needs to be replaced, and clear the errors using 'zpool clear' or 'fmadm repaired', "
    "or replace the device with 'zpool replace'. scan: scrub repaired 0 in 0h0m with 0 errors on Wed Jun 20 13:16:09 2012 config: NAME STATE READ WRITE CKSUM harbour DEGRADED "
    "0 0 0 mirror-0 ONLINE 0 0 0 c0t5000C50000000001d0 ONLINE 0 0 0 c0t5000C50000000002d0 ONLINE 0 0 0 mirror-1 DEGRADED 0 0 0 c0t5000C50000000003d0 ONLINE 0 0 0 "
    "c0t5000C50000000004d0 UNAVAIL 0 0 0 device details: c0t5000C50000000004d0 UNAVAIL cannot open status: ZFS detected errors on this device. The device was missing. "
    "see: an article for recovery errors: No known data errors"
)


def test_the_details_of_solaris_on_one_line_are_no_rows() -> None:
    found = triage([("paste", ONE_LINE)])
    assert [one.title for one in found.situations] == ["harbour: the member c0t5000C50000000004d0 is UNAVAIL"]


@pytest.mark.parametrize(
    ("line", "slugs"),
    [
        ("root@depot:~# zpool list -H -o health harbour DEGRADED", {"vdev-degraded"}),
        ("$ zpool status -x all pools are healthy", set()),
        ("I ran zpool status -x and all pools are healthy", set()),
    ],
)
def test_a_command_and_its_answer_on_one_line(line: str, slugs: set[str]) -> None:
    found = triage([("paste", line)])
    assert {one.slug for one in found.situations} == slugs
    assert not found.good


@pytest.mark.parametrize(
    ("text", "slugs"),
    [
        ("Backup server: disk 3 in slot 7 failed", {"disk-failing"}),
        ("Disk 4 failed during the backup", {"disk-failing"}),
        ("Backup of disk 3 to slot 7 failed", set()),
        ("Snapshot of volume harbour1 failed", set()),
        ("Backup job VM1: Hard disk 1 failed", set()),
        ("Volume harbour1: replication failed", set()),
        ("Disk 3: failed to upload logs", set()),
    ],
)
def test_what_is_done_with_a_disk_and_the_disk_itself(text: str, slugs: set[str]) -> None:
    assert _slugs(text) == slugs


def test_the_pool_in_one_field_and_its_state_in_the_next() -> None:
    (one,) = triage([("paste", "zpool: harbour\nstatus: Degraded [1 of 6 disks failed]\n")]).situations
    assert (one.slug, one.subject["pool"]) == ("vdev-degraded", "harbour")


def test_a_rule_of_a_monitor_is_no_alert() -> None:
    text = '- alert: ZFSPoolDegraded\n  expr: zfs_pool_health != 0\n  for: 1m\n  annotations:\n    summary: "ZFS pool is not healthy"\n    description: "ZFS pool 1 has failed"\n'
    assert not _slugs(text)


def test_members_in_a_check_are_no_pools() -> None:
    (one,) = triage([("paste", "CRIT ZPOOL harbour : DEGRADED  {Size:10.9T Free:2.51T Cap:76% } raidz2-0:DEGRADED sdc:FAULTED")]).situations
    assert (one.slug, one.subject["pool"]) == ("vdev-degraded", "harbour")
    assert "sdc FAULTED" in one.meaning


def test_a_scan_alone_below_another_text_is_no_part_of_its_errors() -> None:
    text = f"```\n{TREE}\n\nerrors: No known data errors\n```\n\nIt ended at night:\n\n```\n  scan: resilvered 6.38T in 72h58m with 0 errors on Sat Dec  2 12:52:16 2023\n```\n"
    assert "unexplained" not in _slugs(text)


def test_the_line_of_the_state_is_no_row() -> None:
    text = "zpool status\n...\n state: DEGRADED\n...\n      replacing-5  DEGRADED     0     0     0\n        sdq        OFFLINE      0     0     0\n"
    assert not any("state:" in found.title for found in triage([("paste", text)]).situations)
