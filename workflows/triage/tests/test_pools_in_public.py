"""Texts of pools as people post them: without headings, cut within, from other systems, and of tools that name no disk."""

from __future__ import annotations

import json

import pytest

from agents.collectors import kernel_log, zpool_status
from agents.collectors.base import Unparsed
from workflows.triage import triage


def read(text: str):
    return triage([("p", text)])


def found(text: str) -> list[tuple[str, str]]:
    return [(each.slug, each.severity) for each in read(text).situations]


def outcomes(text: str) -> list[tuple[str, str]]:
    return [(each.outcome, each.source) for each in read(text).reads if each.outcome != "left out"]


# Trees that are cut, or have no heading

ROWS_OF_A_LISTING = (
    "\tbasin                    FAULTED  corrupted data\n"
    "\t  raidz1-0               DEGRADED\n"
    "\t    ata-DISK_A1          UNAVAIL  corrupted data\n"
    "\t    4242424242424242424  UNAVAIL\n"
    "\t    ata-DISK_A3          ONLINE\n"
)


def test_rows_of_a_listing_for_import_without_their_heading_count_row_by_row() -> None:
    assert outcomes(ROWS_OF_A_LISTING) == [("partly", "status_rows")]
    situations = read(ROWS_OF_A_LISTING).situations
    assert [each.slug for each in situations] == ["pool-down", "vdev-degraded", "vdev-degraded", "vdev-degraded"]
    assert situations[0].gate
    assert not any(cure.kind in ("replace", "clear") for each in situations for cure in each.cures)


def test_the_row_of_a_pool_that_serves_nothing_is_no_disk() -> None:
    counted = "".join(f"{line.rstrip():40}     0     0     0\n" for line in ROWS_OF_A_LISTING.replace("  corrupted data", "").splitlines())
    assert found(counted)[0] == ("pool-down", "act")


DRAID = (
    "  pool: basin\n state: ONLINE\nconfig:\n\n\tNAME                 STATE     READ WRITE CKSUM\n\tbasin                ONLINE       0     0     0\n"
    "\t  draid2:3d:6c:1s-0  ONLINE       0     0     0\n"
)


@pytest.mark.parametrize(("members", "whole"), [(6, True), (5, False)])
def test_a_draid_has_as_many_members_as_its_name_says(members: int, whole: bool) -> None:
    rows = "".join(f"\t    wwn-0x500000000000000{n}  ONLINE       0     0     0\n" for n in range(members))
    text = f"{DRAID}{rows}\nerrors: No known data errors\n"
    assert isinstance(zpool_status.parse(text), Unparsed) is not whole
    assert [each.outcome for each in read(text).reads] == ["read" if whole else "partly"]
    assert read(text).good is whole


REPLACING = (
    "  pool: basin\n state: DEGRADED\nstatus: One or more devices is currently being resilvered.  The pool will\n"
    "\tcontinue to function, possibly in a degraded state.\naction: Wait for the resilver to complete.\n"
    "  scan: resilver in progress since Wed Mar 11 15:58:54 2026\n\t283G scanned out of 10,2T at 195M/s, 14h51m to go\n\t640M resilvered, 2,70% done\n"
    "config:\n\n\tNAME             STATE     READ WRITE CKSUM\n\tbasin            DEGRADED     0     0     0\n\t  raidz2-0       DEGRADED     0     0     0\n"
    "\t    ata-DISK_A1  ONLINE       0     0     0\n\t    ata-DISK_A2  ONLINE       0     0     0\n"
    "\t    replacing-2    DEGRADED     0     0     0\n\t      ata-DISK_A3  UNAVAIL      0     0     0\n\t      ata-DISK_B3  ONLINE       0\n"
)


def test_a_resilver_that_runs_is_waited_for_where_the_row_of_the_new_disk_is_cut() -> None:
    situations = read(REPLACING).situations
    assert [(each.slug, each.severity) for each in situations] == [("disk-missing", "watch"), ("resilver-running", "watch")]
    assert {cure.kind for each in situations for cure in each.cures} == {"wait"}


def test_no_resilver_is_begun_where_it_is_not_known_whether_one_runs() -> None:
    text = REPLACING.replace("resilver in progress since", "resilver somehow since")
    assert "resilver" not in {cure.kind for each in read(text).situations for cure in each.cures}


STATUS_OF_A_LOST_MEMBER = (
    "  pool: basin\n state: ONLINE\nstatus: One or more devices could not be opened.  Sufficient replicas exist for\n"
    "\tthe pool to continue functioning in a degraded state.\naction: Attach the missing device and online it using 'zpool online'.\n"
    "  scan: scrub repaired 0B in 00:10:11 with 0 errors on Sun Nov  8 00:34:12 2026\nconfig:\n\n"
    "\tNAME             STATE     READ WRITE CKSUM\n\tbasin            ONLINE       0     0     0\n\t  raidz1-0       ONLINE       0\n"
)


def test_a_member_that_is_lost_by_the_status_line_alone_is_said_without_its_name() -> None:
    (situation,) = [each for each in read(STATUS_OF_A_LOST_MEMBER).situations if each.severity == "act"]
    assert situation.slug == "disk-missing"
    assert "before it says which" in situation.title
    assert [cure.kind for cure in situation.cures] == ["look"]
    assert not read(STATUS_OF_A_LOST_MEMBER).good


def test_the_same_status_line_over_a_whole_tree_without_a_lost_member_is_unexplained() -> None:
    text = (
        STATUS_OF_A_LOST_MEMBER
        + "".join(f"\t    ata-DISK_A{n}  ONLINE       0     0     0\n" for n in range(3))
        + "\nerrors: No known data errors\n"
    )
    assert "unexplained" in [slug for slug, _ in found(text.replace("ONLINE       0\n", "ONLINE       0     0     0\n"))]


ERRORS = "errors: Permanent errors have been detected in the following files:\n\n        <metadata>:<0x0>\n        basin/home:<0x2a>\n        <metad"


def test_an_entry_of_the_list_of_damage_that_was_cut_is_no_entry() -> None:
    whole, torn = ERRORS.rpartition("\n")[0] + "\n", ERRORS
    tree = "  pool: basin\n state: ONLINE\nconfig:\n\n\tNAME    STATE     READ WRITE CKSUM\n\tbasin   ONLINE       0     0     0\n\t  sdk   ONLINE       0     0     0\n\n"
    of_whole, of_torn = ([each for each in read(tree + text).situations if each.slug == "data-errors"] for text in (whole, torn))
    assert [each.title for each in of_torn] == [each.title for each in of_whole]
    assert [each.outcome for each in read(tree + torn).reads] == ["partly"]


def test_no_command_names_a_pool_whose_name_was_not_read() -> None:
    situations = read(
        "errors: Permanent errors have been detected in the following files:\n        <0xffffffffffffffff>:<0x0>\n"
    ).situations
    assert [each.slug for each in situations] == ["data-errors"]
    assert not [cure.argv for cure in situations[0].cures if cure.argv]


# Labels, uberblocks, panics of other systems and releases

OLD_LABEL = """\
--------------------------------------------
LABEL {0}
--------------------------------------------
    version: 13
    name: 'basin'
    state: 0
    txg: 16
    pool_guid: 3472166890000000001
    hostid: 2558674546
    hostname: 'oak'
    top_guid: 7962344807000000002
    guid: 15917724190000000003
    vdev_tree:
        type: 'disk'
        id: 0
        guid: 7962344807000000002
        path: '/dev/ad4'
        whole_disk: 0
Uberblock[4]
\tmagic = 0000000000bab10c
\tversion = 13
\ttxg = {1}
\tguid_sum = 8593195930000000004
\ttimestamp = 1262001087 UTC = Mon Dec 28 11:51:27 2009
"""


def test_uberblocks_as_they_were_printed_before_0_7_are_of_the_label_above_them() -> None:
    text = "".join(OLD_LABEL.format(n, 4 + n) for n in range(4))
    found_of_all = read(text)
    assert outcomes(text) == [("read", "zdb_label")]
    (captures,) = found_of_all.captures.values()
    assert {place.partition("/")[0] for place in captures} == {"zdb_label", "zdb_uberblocks"}


@pytest.mark.parametrize(
    ("head", "frames"),
    [
        (
            "panic(cpu 0 caller 0xffffff7fa3e0b3d2): VERIFY3(tx->tx_txg <= spa_final_dirty_txg(os->os_spa)) failed (1274 <= 1271)",
            "0xffffff80833eb670 : 0xffffff7fa3e0b3d2 net.lundman.zfs : _spl_panic + 0xe2\n",
        ),
        (
            "panic: VERIFY3(0 == vdev_obsolete_sm_object(vd, &object)) failed (0 == 97)",
            "spl_panic() at spl_panic+0x3a/frame 0xfffffe011f1a46f0\n#14 0xffffffff828b3c1a in spl_panic (file=<optimized out>, line=103)\n",
        ),
    ],
)
def test_a_panic_of_zfs_on_another_system_is_told_once_and_not_for_each_frame(head: str, frames: str) -> None:
    assert found(f"{head}\n{frames}") == [("kernel-errors", "act")]
    assert kernel_log.begins(head)


# Refusals where programs and people repeat them


def test_a_refusal_in_the_log_of_a_cluster_is_read() -> None:
    begin = "Mar 04 09:51:05 [5766] oss2.example       lrmd:   notice: operation_finished:\tfs-OST0000_start_0:25186:stderr [ "
    text = (
        f"{begin}Error importing pool: 'Error (1) running 'zpool import basin': '' 'cannot import 'basin': pool was previously in use from another system. ]\n"
        f"{begin}Last accessed by oss1.example (hostid=9ebf00b4) at Wed Mar  4 09:46:18 2026 ]\n"
        f"{begin}The pool can be imported, use 'zpool import -f' to import the pool. ]\n"
    )
    (situation,) = read(text).situations
    assert (situation.slug, situation.subject["pool"], situation.subject["why"]) == ("refused-command", "basin", "other-system-had-it")


def test_a_refusal_that_a_person_marks_as_printed_is_read_and_one_that_is_talked_about_is_not() -> None:
    assert found("I typed it and got this: `Key load error: Keys must be loaded for encryption root of 'basin/home' (basin)`.\n") == [
        ("refused-command", "watch")
    ]
    assert found("If you see cannot import 'basin': no such pool, do not worry.\n") == []


def test_the_command_that_was_refused_is_the_one_of_the_pipe_that_says_so() -> None:
    text = "# zfs send -i @a basin/x@b | zfs recv other/x\ncannot receive incremental stream: destination other/x has been modified\nsince most recent snapshot\n"
    assert [each.title for each in read(text).situations] == ["zfs recv of incremental stream was refused"]


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Key load error: Failed to open key material file: No such file or directory", "key"),
        ("cannot mount 'basin/home': filesystem already mounted", "already-mounted"),
        ("cannot unmount '/basin/home': no such pool or dataset", "not-mounted-here"),
        ("bad property list: invalid property 'fragmentation'", "usage"),
        ("zdb: can't open 'basin': Input/output error", "zdb-io-error"),
        ("zdb: ../../module/zfs/range_tree.c:262: Assertion `rs->rs_end >= end (0xe0 >= 0xf0)' failed.", "zdb-assertion"),
    ],
)
def test_each_refusal_has_the_meaning_that_is_its_own(text: str, slug: str) -> None:
    (situation,) = read(f"{text}\n").situations
    assert (situation.slug, situation.severity, situation.subject["why"]) == ("refused-command", "watch", slug)


@pytest.mark.parametrize(
    "text", ["# zdb -e basin\nzdb: can't open 'basin': Input/output error\n", "zdb: can't open '1855180346617203628': Input/output error\n"]
)
def test_what_zdb_cannot_read_of_a_pool_that_is_not_imported_needs_a_person_now(text: str) -> None:
    assert found(text) == [("refused-command", "act")]


def test_a_prompt_alone_below_an_output_is_no_part_of_it() -> None:
    text = (
        "mini:~ kim$ sudo zpool import\nPassword:\n  pool: basin\n    id: 4802247225000000001\n state: UNAVAIL\nstatus: One or more devices contains corrupted data.\n"
        "action: The pool cannot be imported due to damaged devices or data.\nconfig:\n\n    basin         UNAVAIL  insufficient replicas\n      DISK_A1     UNAVAIL  corrupted data\n"
        "mini:~ kim$ \n"
    )
    assert found(text) == [("import-blocked", "act")]


# JSON


def _vdev(name: str, kind: str, **more: object) -> dict[str, object]:
    guid = str(1000000000000000000 + sum(map(ord, name)))
    counters = {f"{what}_errors": "0" for what in ("read", "write", "checksum")}
    return {"name": name, "vdev_type": kind, "guid": guid, "class": "normal", "state": "ONLINE", **counters, **more}


def _status_json(**scan: object) -> str:
    mirror = _vdev("mirror-0", "mirror", vdevs={name: _vdev(name, "disk", path=f"/dev/{name}1") for name in ("sdk", "sdl")})
    stats = {"function": "SCRUB", "state": "FINISHED", "start_time": "Wed Jan  7 02:35:05 AM UTC 2026", "end_time": "Wed Jan  7 03:42:23 AM UTC 2026",
             "to_examine": "38.2T", "examined": "38.2T", "skipped": "0B", "processed": "0B", "errors": "0", "issued": "38.2T", "scrub_pause": "-"}  # fmt: skip
    pool = {"name": "basin", "state": "ONLINE", "pool_guid": "2406309359000000001", "txg": "60", "spa_version": "5000", "zpl_version": "5",
            "scan_stats": stats | scan, "vdevs": {"basin": _vdev("basin", "root", vdevs={"mirror-0": mirror})}, "error_count": "0"}  # fmt: skip
    return (
        json.dumps({"output_version": {"command": "zpool status", "vers_major": 0, "vers_minor": 1}, "pools": {"basin": pool}}, indent=2)
        + "\n"
    )


@pytest.mark.parametrize(
    ("scan", "slugs"),
    [
        ({}, []),
        ({"processed": 0, "errors": 0}, []),
        ({"processed": "960K"}, ["scrub-repaired"]),
        ({"errors": "3"}, ["scrub-errors"]),
        ({"state": "SCANNING", "end_time": "-", "examined": "10T", "issued": "10T"}, []),
        ({"function": "RESILVER"}, []),
        ({"function": "POLISH"}, ["unexplained"]),
    ],
)
def test_a_scan_in_json_is_explained_as_the_same_in_text_is(scan: dict[str, object], slugs: list[str]) -> None:
    assert [slug for slug, _ in found(_status_json(**scan))] == slugs


def test_a_pool_that_is_well_is_good_in_json() -> None:
    assert read(_status_json()).good


# Tools that name no disk


@pytest.mark.parametrize(
    ("text", "source", "note"),
    [
        (
            "NAME         USED  AVAIL     REFER  MOUNTPOINT\nbasin       3.11G  18.7G     3.10G  /basin\nbasin/home   192K  4.00G      192K  /home\n",
            "zfs_list", "2 datasets",
        ),
        (
            "NAME        PROPERTY   VALUE        SOURCE\nbasin/home  type       filesystem   -\nbasin/home  keystatus  unavailable  -\nbasin/home  mounted    no           -\n",
            "zfs_get", "The key of basin/home is not loaded",
        ),
        (
            "# zfs get all basin/home | grep key\nbasin/home  keylocation           none                   default\nbasin/home  keystatus             available              -\n",
            "zfs_get", "1 dataset",
        ),
        (
            "9 1 0x01 147 39984 1405644657 619562335795635\nname                            type data\nhits                            4    138399132\nsize                            4    4294967296\n"
            "c_max                           4    8589934592\nl2_io_error                     4    12\n",
            "arcstats", "l2_io_error 12",
        ),
        ("    time  read  miss  miss%  dmis  dm%  pmis  pm%  mmis  mm%  arcsz     c\n15:39:52     0     0      0     0    0     0    0     0    0  10.0G   10G\n", "arcstats", "no disk"),
        (
            "# zdb -u basin\n\nUberblock:\n\tmagic = 0000000000bab10c\n\tversion = 5000\n\ttxg = 1997\n\tguid_sum = 10320908766000000001\n\ttimestamp = 1580166133 UTC = Mon Jan 27 18:02:13 2020\n",
            "uberblock", "The newest txg is 1997",
        ),
    ],
)  # fmt: skip
def test_a_tool_that_names_no_disk_is_read_and_makes_nothing_good(text: str, source: str, note: str) -> None:
    answer = read(text)
    assert [(each.outcome, each.source) for each in answer.reads] == [("read", source)]
    assert note in " ".join(answer.reads[0].notes)
    assert not answer.situations
    assert not answer.good


def test_a_pool_without_space_is_seen_by_its_own_dataset() -> None:
    assert found("NAME         USED  AVAIL     REFER  MOUNTPOINT\nbasin       3.11T     0B     3.10G  /basin\n") == [
        ("pool-filling", "act")
    ]
    assert found("NAME         USED  AVAIL     REFER  MOUNTPOINT\nbasin/home  3.11T     0B     3.10G  /home\n") == []  # a quota


def test_properties_of_a_pool_are_not_taken_for_those_of_a_dataset() -> None:
    text = "NAME   PROPERTY  VALUE   SOURCE\nbasin  size      254T    -\nbasin  capacity  62%     -\nbasin  health    ONLINE  -\n"
    assert outcomes(text) == [("read", "zpool_get")]


# Several texts of one pool, and a line that tells more than the rows

WELL = (
    "  pool: basin\n state: ONLINE\n  scan: none requested\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n\tbasin       ONLINE       0     0     0\n"
    "\t  mirror-0  ONLINE       0     0     0\n\t    nbd0    ONLINE       0     0     0\n\t    nbd1    ONLINE       0     0     0\n\nerrors: No known data errors\n"
)
LABEL_MISSING = (
    "  pool: basin\n state: ONLINE\nstatus: One or more devices could not be used because the label is missing or\n\tinvalid.  Sufficient replicas exist for the pool to continue\n"
    "\tfunctioning in a degraded state.\naction: Replace the device using 'zpool replace'.\n   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-4"
)


def test_a_later_text_that_is_cut_and_tells_of_trouble_is_used() -> None:
    text = f"First it was so:\n\n```\n{WELL}```\n\nand after the fault I see this:\n\n```\n{LABEL_MISSING}\n```\n"
    assert found(text) == [("disk-missing", "act")]


FEATURES = "status: Some supported and requested features are not enabled on the pool.\n\tThe pool can still be used, but some features are unavailable.\n"


def test_a_later_text_that_is_cut_and_tells_of_no_trouble_does_not_replace_a_whole_one() -> None:
    cut = f"  pool: basin\n state: ONLINE\n{FEATURES}action: Enable all features using 'zpool upgrade'.\n"
    assert "An earlier output shows more vdevs and is used." in [note for each in read(f"{WELL}\n{cut}").reads for note in each.notes]


def test_a_mirrored_log_whose_disks_are_switched_off_contradicts_nothing() -> None:
    rows = "\tlogs\n\t  mirror-1  DEGRADED     0     0     0\n\t    sdg1    OFFLINE      0     0     0\n\t    sdh1    OFFLINE      0     0     0\n\nerrors:"
    assert found(
        WELL.replace(" state: ONLINE", " state: DEGRADED")
        .replace("basin       ONLINE  ", "basin       DEGRADED")
        .replace("\nerrors:", rows)
    ) == [
        ("log-device-lost", "watch"),
    ]


def test_what_stands_below_rows_without_their_heading_is_read() -> None:
    rows = "\t    ata-DISK_A1  ONLINE       0     0     0\n\t    ata-DISK_A2  ONLINE       0     0     0\n\tspares\n\t  ata-DISK_S1    INUSE     currently in use\n\n"
    assert found(f"{rows}errors: No known data errors\n") == [("spare-in-use", "watch")]
    assert ("data-errors", "act") in found(f"{rows}errors: 3 data errors, use '-v' for a list\n")


HISTORY = "History for 'basin':\n{}2026-05-28.19:48:01 zpool import -f -R /media basin\n2026-05-28.19:50:05 zfs create basin/one\n"


def test_a_record_whose_date_is_none_hides_no_other() -> None:
    assert outcomes(HISTORY.format("")) == [("read", "zpool_history")]
    (one,) = read(HISTORY.format("-1704805-09-07.09:48:22 \n")).reads
    assert (one.outcome, one.key, len(one.unread)) == ("partly", "basin", 1)


def test_a_post_whose_blanks_were_all_changed_is_read_to_its_end() -> None:
    flat = "".join(
        f"  {line.strip()}\n" for line in f"# zpool status basin\n{WELL}\n# zpool history basin\n{HISTORY.format('')}".splitlines()
    )
    assert outcomes(flat) == [("read", "zpool_status"), ("read", "zpool_history")]


def test_a_mount_point_that_is_in_the_way_is_a_refusal() -> None:
    text = "mountpoint '/basin' exists and is not empty\nuse '-m' option to provide a different default\n"
    (situation,) = read(text).situations
    assert situation.subject["why"] == "not-empty"


@pytest.mark.parametrize(
    ("below", "good"),
    [
        ("# zpool offline basin nbd0\n", False),
        ("And then I did:\n`root@elm:~# zpool offline basin nbd0`\n", False),
        ("# zpool offline -n basin nbd0\n", True),
        ("# zpool import\n", True),
        ("# zpool history basin | grep -c detach\n", True),
        ("# zpool detach basin nbd0\ncannot detach nbd0: no valid replicas\n", False),  # by the refusal itself
        (f"# zpool online basin nbd0\n# zpool status\n{WELL}", True),
    ],
)
def test_a_pool_is_not_good_where_a_command_that_changes_it_stands_below(below: str, good: bool) -> None:
    text = f"root@elm:~# zpool status\n{WELL}\n{below}"
    assert read(text).good is good


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# zpool add basin /tmp/four \nuse '-f' to override the following errors:\nmismatched replication level: pool uses raidz and new vdev is file\n", "mismatched"),
        ("> # zpool add basin special /dev/sdi\n> invalid vdev specification\n> use '-f' to override the following errors:\n> mismatched replication level: pool uses raidz and new vdev is disk\n", "mismatched"),
        ("Somebody wrote:\n> cannot remove /dev/sdh: no such device in pool\n", "not-in-pool"),
        ("nvlist_lookup_string(cnv, ZPOOL_CONFIG_PATH, &path) == 0\nASSERT at zpool_vdev.c:880:get_replication()Aborted\n", "stopped"),
        ("mount.lustre: mount basin/ost1 at /mnt/ost1 failed: Input/output error\nIs the MGS running?\n", "lustre"),
    ],
)  # fmt: skip
def test_a_refusal_that_is_short_or_lacks_its_first_line_is_read_once(text: str, why: str) -> None:
    assert [each.subject["why"] for each in read(text).situations] == [why]


def test_a_row_that_stands_alone_below_its_heading_is_no_pool() -> None:
    answer = read("NAME        STATE     READ WRITE CKSUM\n    c0t4d0  ONLINE      12     0    14  458K repaired\n")
    assert [(each.slug, each.subject.get("pool")) for each in answer.situations] == [("disk-errors", None)]


EVENT = "Sep  7 2026 11:40:0{}.816333854 sysevent.fs.zfs.{}\n"


def test_an_event_whose_class_was_cut_is_left_out_and_named() -> None:
    text = EVENT.format(6, "config_sync") + EVENT.format(7, "config_sync")
    assert outcomes(text) == [("read", "zpool_events")]
    answer = read(text + EVENT.format(8, "config_").rstrip("\n"))
    assert [each.outcome for each in answer.reads] == ["partly"]
    assert not answer.situations
    assert [slug for slug, _ in found(text + EVENT.format(8, "polish"))] == ["unexplained"]
    assert [each.outcome for each in read(text + EVENT.format(8, "config")).reads] == ["read"]  # it may be whole
