"""What stands alone in a paste: one line of a reason, a table, the variables of a script, a scan without its pool. Our own inputs."""

from __future__ import annotations

import pytest

from workflows.triage import Triage, triage

HEAD = "        NAME                  STATE     READ WRITE CKSUM\n        oak                   ONLINE       0     0     0\n"
VDEV = "          raidz2-0            ONLINE       0     0     0\n"
ROW = "            wwn-0x5000c500a700000{}  ONLINE       0     0{:>6}\n"
TOP = "  pool: oak\n state: ONLINE\n  scan: scrub repaired 0B in 05:33:11 with 0 errors on Sun Nov  1 05:57:12 2026\nconfig:\n\n"


def read(text: str) -> Triage:
    return triage([("p", text)])


def found(text: str) -> list[tuple[str, str]]:
    return [(each.slug, each.severity) for each in read(text).situations]


def outcomes(text: str) -> list[tuple[str, str]]:
    return [(each.outcome, each.source) for each in read(text).reads]


def cures(text: str) -> set[str]:
    return {cure.kind for each in read(text).situations for cure in each.cures}


def test_a_listing_cut_behind_one_disk_that_counts_advises_no_replacement() -> None:
    text = TOP + HEAD + VDEV + ROW.format(1, 12)
    assert found(text) == [("disk-errors", "watch")]
    assert "replace" not in cures(text)
    assert "Rows of raidz2-0 may be missing" in read(text).situations[0].meaning


def test_a_listing_cut_behind_several_disks_that_all_count_is_what_they_share() -> None:
    text = TOP + HEAD + VDEV + ROW.format(1, 12) + ROW.format(2, "1.2K") + "            wwn-0x5000c500a7000003  ONL"
    assert ("errors-everywhere", "act") in found(text)
    assert any(each.gate and "that are shown" in each.title for each in read(text).situations)
    assert "replace" not in cures(text)


def test_a_listing_in_which_one_disk_counts_and_another_does_not_is_of_one_disk() -> None:
    text = TOP + HEAD + VDEV + ROW.format(1, 12) + ROW.format(2, 0) + ROW.format(3, 0)
    assert found(text) == [("disk-errors", "watch")]
    assert "replace" in cures(text)


def test_counts_that_are_rounded_count_as_others_do() -> None:
    rows = "".join(ROW.format(i, count) for i, count in enumerate(("4.1K", 7, "1.2K"), 1))
    text = f"{TOP}{HEAD}{VDEV.replace('raidz2', 'raidz1')}{rows}\nerrors: No known data errors\n"
    assert found(text) == [("errors-everywhere", "act")]
    assert "on all 3 disks of raidz1-0: " in read(text).situations[0].title


@pytest.mark.parametrize(
    ("line", "slug"),
    [
        ("The pool can only be accessed in read-only mode on this system. It", "pool-read-only"),
        ("The pool is suspended because multihost writes failed or were delayed;", "pool-suspended"),
        ("Mismatch between pool hostid and system hostid on imported pool.", "hostid-mismatch"),
        ("One or more devices could not be used because the label is missing or\n\tinvalid.  Sufficient replicas exist for the pool to continue", "disk-missing"),
        ("One or more devices are configured to use a non-native block size.", "block-size-mismatch"),
    ],
)  # fmt: skip
def test_a_reason_that_stands_alone_is_told(line: str, slug: str) -> None:
    assert [each for each, _ in found(f"status: {line}\n")] == [slug]
    assert not read(f"status: {line}\n").good


@pytest.mark.parametrize(
    "line", ["status: The pool party is at nine, on the usual system", "status: open", "status: One or more of us should look at it"]
)
def test_a_word_of_somebody_behind_status_is_no_pool(line: str) -> None:
    assert not read(f"{line}\n").fleet.nodes


@pytest.mark.parametrize(
    "text",
    [
        " dedup: DDT entries 812, size 452B on disk, 146B in core\n\nbucket              allocated                       referenced\n"
        "______   ______________________________   ______________________________\n"
        "refcnt   blocks   LSIZE   PSIZE   DSIZE   blocks   LSIZE   PSIZE   DSIZE\n"
        "------   ------   -----   -----   -----   ------   -----   -----   -----\n"
        "     1      800    100M    100M    100M      800    100M    100M    100M\n"
        " Total      812    101M    101M    101M      824    103M    103M    103M\n",
        "DDT-sha256-zap-duplicate: 812 entries, size 452 on disk, 146 in core\n\ndedup = 1.04, compress = 1.00, copies = 1.00, dedup * compress / copies = 1.04\n",
        "dedup: DDT entries 812, size 367K on disk, 119K in core\n",
    ],
)
def test_a_table_of_deduplication_alone_is_read_and_says_nothing_of_disks(text: str) -> None:
    answer = read(text)
    assert outcomes(text) == [("read", "dedup_table")]
    assert not answer.situations
    assert not answer.good
    assert "812 entries" in answer.reads[0].notes[0]


VARIABLES = (
    "ZEVENT_CLASS=sysevent.fs.zfs.{kind}\nZEVENT_EID=141\nZEVENT_POOL=oak\nZEVENT_POOL_GUID=0x3c9f1d0a7b2e4411\nZEVENT_SUBCLASS={kind}\n"
    "ZEVENT_TIME_STRING='2026-10-31 12:30:11+0000'\nZEVENT_VDEV_GUID=0x9a8b7c6d5e4f3021\nZEVENT_VDEV_PATH=/dev/sdq1\n{state}ZED_PID=2213\n"
)


@pytest.mark.parametrize("prefix", ["", "declare -x ", "  export "])
@pytest.mark.parametrize("state", ["ZEVENT_VDEV_STATE=0x5\nZEVENT_VDEV_STATE_STR=FAULTED\n", "ZEVENT_VDEV_STATE=0x5\n"])
def test_the_variables_of_zeds_scripts_tell_of_the_member(prefix: str, state: str) -> None:
    text = "".join(f"{prefix}{line}\n" for line in VARIABLES.format(kind="statechange", state=state).splitlines())
    assert outcomes(text) == [("read", "zed_variables")]
    assert found(text) == [("disk-faulted", "act")]
    assert read(text).situations[0].subject["vdev_guid"] == str(0x9A8B7C6D5E4F3021)


def test_variables_of_an_event_that_is_no_trouble_raise_nothing() -> None:
    assert found(VARIABLES.format(kind="scrub_finish", state="")) == []
    assert [slug for slug, _ in found(VARIABLES.format(kind="polish", state=""))] == ["unexplained"]


RECORD = (
    'Oct 31 2026 12:30:11.055671234 resource.fs.zfs.statechange\n        version = 0x0\n        class = "resource.fs.zfs.statechange"\n        pool = "oak"\n'
    "        pool_guid = 0x3c9f1d0a7b2e4411\n        vdev_guid = 0x9a8b7c6d5e4f3021\n{}        time = 0x6902a1c3 0x3517a22\n"
)


def test_an_old_change_of_state_that_does_not_say_to_what_names_its_member() -> None:
    text = RECORD.format("").replace("0x3517a22", hex(55671234))
    assert found(text) == [("zfs-events", "watch")]
    assert str(0x9A8B7C6D5E4F3021) in read(text).situations[0].meaning
    assert found(RECORD.format("        vdev_state = 0x5\n").replace("0x3517a22", hex(55671234))) == [("disk-faulted", "act")]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[root@elm ~]# mount -t lustre oak/ost1 /mnt/ost1mount.lustre: mount oak/ost1 at /mnt/ost1 failed: Input/output error\nIs the MGS running?\n", "lustre"),
        ("root@elm:~# zpool import oakcannot import 'oak': I/O error\n", "io-error"),
    ],
)  # fmt: skip
def test_a_refusal_behind_the_last_word_of_its_command_is_read(text: str, why: str) -> None:
    assert [each.slug for each in read(text).situations] == ["refused-command"]
    assert why in read(text).situations[0].subject["why"]


def test_a_member_that_zfs_gave_up_is_told_with_why_and_with_its_counts() -> None:
    rows = "          mirror-0            DEGRADED     0     0     0\n            sdq               FAULTED     12   308     0  too many errors\n            sdr               ONLINE       0     0     0\n"
    text = f"  pool: oak\n state: DEGRADED\n  scan: none requested\nconfig:\n\n{HEAD.replace('ONLINE', 'DEGRADED')}{rows}\nerrors: No known data errors\n"
    (situation,) = read(text).situations
    assert "after too many errors (read 12, write 308, checksum 0)" in situation.meaning
    assert "loose tray" not in situation.meaning


SCAN = '            "function": "{}",\n            "state": "{}",\n            "start_time": "1793452211",\n            "to_examine": "13525321",\n            "errors": "{}"\n        }},\n'


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (("RESILVER", "SCANNING", 0), [("resilver-running", "watch")]),
        (("SCRUB", "FINISHED", 7), [("scrub-errors", "act")]),
        (("SCRUB", "FINISHED", 0), []),
        (("SCRUB", "SCANNING", 0), []),
    ],
)
def test_a_scan_torn_out_of_json_is_told_and_is_of_no_named_pool(fields: tuple[str, str, int], expected: list[tuple[str, str]]) -> None:
    for text in (SCAN.format(*fields), '        "scan_stats": {\n' + SCAN.format(*fields)):
        assert outcomes(text) == [("read", "scan_stats")]
        assert found(text) == expected
        assert not read(text).good


def test_three_members_that_count_are_not_to_be_replaced_one_by_one() -> None:
    rows = "".join(ROW.format(i, count) for i, count in enumerate((442, 234, 84, 0, 0), 1))
    text = f"{TOP}{HEAD}{VDEV.replace('raidz2', 'raidz3')}{rows}\nerrors: No known data errors\n"
    assert found(text) == [("disk-errors", "watch")] * 3
    assert "replace" not in cures(text)
    assert "3 members of oak count errors" in read(text).situations[0].meaning


def test_a_row_of_a_vdev_that_is_down_keeps_hands_off_its_members() -> None:
    text = "    raidz1              UNAVAIL\nc1t0d0              ONLINE\nc2t0d0              UNAVAIL\nc3t0d0              UNAVAIL\n"
    assert found(text)[0] == ("pool-down", "act")
    assert read(text).situations[0].gate
    assert "replace" not in cures(text)


def test_two_sentences_of_one_refused_import_name_its_pool() -> None:
    text = "# zpool import -f oak\ncannot import 'oak': I/O error\n        Destroy and re-create the pool from\n        a backup source.\n"
    assert [each.title for each in read(text).situations] == ["zpool import of oak was refused"]


def test_the_reason_that_solaris_gives_of_an_importable_pool_is_known() -> None:
    text = (
        "  pool: oak\n    id: 4715259469716913941\n state: DEGRADED\nstatus: One or more devices are unavailable.\naction: The pool can be imported despite missing or damaged devices.  The\n"
        "        fault tolerance of the pool may be compromised if imported.\nconfig:\n\n        oak         DEGRADED\n          mirror-0  DEGRADED\n            c0t1d0  ONLINE\n"
        "            c0t2d0  UNAVAIL  cannot open\n"
    )
    assert [slug for slug, _ in found(text)] == ["import-blocked"]


def test_three_members_lost_in_one_vdev_are_looked_at_together_though_spares_stand_in() -> None:
    rows = "".join(
        f"            spare-{i}           DEGRADED     0     0     0\n              sd{name}             FAULTED      0   101     0  too many errors\n"
        f"              sd{name}2            ONLINE       0     0     0\n"
        for i, name in enumerate("abc")
    )
    well = "".join(f"            sd{name}               ONLINE       0     0     0\n" for name in "defgh")
    spares = "".join(f"          sd{name}2    INUSE     currently in use\n" for name in "abc")
    text = (
        f"{TOP.replace('ONLINE', 'DEGRADED')}{HEAD.replace('ONLINE', 'DEGRADED')}{VDEV.replace('raidz2', 'raidz3').replace('ONLINE', 'DEGRADED')}{rows}{well}"
        f"        spares\n{spares}\nerrors: No known data errors\n"
    )
    assert ("many-disks-offline", "act") in found(text)
    assert "replace" not in cures(text)
    two = text.replace("FAULTED      0   101     0  too many errors", "ONLINE       0     0     0", 1)
    assert ("many-disks-offline", "act") not in found(two)


@pytest.mark.parametrize(
    "rest", ["class=statechange ", "class=statechange pool_guid=0x4A33D7952CA15248", "class=statechange pool='oak' vdev=sdq1"]
)
def test_a_line_of_zed_that_does_not_say_to_which_state_is_told_as_that(rest: str) -> None:
    line = f"Aug 23 06:06:08 elm zed: eid=78273 {rest}"
    assert [each.title for each in read(f"{line}\n").situations] == ["zed on pasted was told that the state of a member changed"]
    assert found(f"{line} vdev_state=FAULTED\n") != [("kernel-errors", "watch")]
