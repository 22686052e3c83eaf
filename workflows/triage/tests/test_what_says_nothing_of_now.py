"""Texts of pools that show what was, or what was looked for, and not how a pool is; and moments that a text shows too early."""

from __future__ import annotations

import pytest

from workflows.triage import triage


def read(text: str):
    return triage([("p", text)])


def kinds(situation) -> list[str]:
    return [cure.kind for cure in situation.cures]


# Labels and events

LABEL = """root@heron:~# zdb -l /dev/sdq1
------------------------------------
LABEL 0
------------------------------------
    version: 5000
    name: 'fjord'
    state: 0
    txg: {txg}
    pool_guid: 4411223344556677889
    errata: 0
    hostid: 305419896
    hostname: 'heron'
    top_guid: 9922334455667788990
    guid: 1122334455667788991
    vdev_children: 1
    vdev_tree:
        type: 'mirror'
        id: 0
        guid: 9922334455667788990
        ashift: 12
        asize: 1000197324800
        is_log: 0
        create_txg: 4
        children[0]:
            type: 'disk'
            id: 0
            guid: 1122334455667788991
            path: '/dev/sdq1'
            whole_disk: 1
            create_txg: 4
    features_for_read:
        com.delphix:hole_birth
    labels = 0 1 2 3
"""


@pytest.mark.parametrize(("txg", "why"), [("81233", "A label says which pool"), ("0", "txg 0: the disk was detached")])
def test_a_label_alone_says_of_no_pool_that_it_is_well(txg: str, why: str) -> None:
    answer = read(LABEL.format(txg=txg))
    assert [each.outcome for each in answer.reads] == ["read"]
    assert (answer.good, any(why in reason for reason in answer.not_good_because)) == (False, True)


EVENTS = """Apr 30 2026 19:29:46.151035622 sysevent.fs.zfs.scrub_finish
        version = 0x0
        class = "sysevent.fs.zfs.scrub_finish"
        pool = "fjord"
        pool_guid = 0x3d37f3a0b1c2d3e1
        pool_state = 0x0
        pool_context = 0x0
        time = 0x69f3a22a 0x9009ee6
        eid = 0x23e
"""


def test_events_without_trouble_are_of_the_past() -> None:
    answer = read(EVENTS)
    assert ([each.outcome for each in answer.reads], answer.situations, answer.good) == (["read"], (), False)


# zdb -e

FOR_IMPORT = """root@heron:~# zdb -e -p /dev/disk/by-id fjord

Configuration for import:
        vdev_children: 3
        hole_array[0]: 2
        version: 5000
        pool_guid: 4411223344556677889
        name: 'fjord'
        state: {state}
        hostid: 305419896
        hostname: 'heron'
        vdev_tree:
            type: 'root'
            id: 0
            guid: 4411223344556677889
            children[0]:
                type: 'raidz'
                id: 0
                guid: 9922334455667788990
                nparity: 1
                ashift: 12
                children[0]:
                    type: '{leaf}'
                    id: 0
                    guid: 1122334455667788991
                    path: '/dev/disk/by-id/wwn-0x5000c500a1b2c301-part1'
                children[1]:
                    type: 'disk'
                    id: 1
                    guid: 1122334455667788992
                    path: '/dev/disk/by-id/wwn-0x5000c500a1b2c302-part1'
            children[1]:
                type: '{second}'
                id: 1
                guid: 0
            children[2]:
                type: 'hole'
                id: 2
                guid: 0
        load-policy:
            load-request-txg: 18446744073709551615
            load-rewind-policy: 2
"""
REFUSED = "zdb: can't open 'fjord': No such device or address\n"


def test_a_pool_that_zdb_puts_together_is_read_and_no_state_of_it() -> None:
    answer = read(FOR_IMPORT.format(state=0, leaf="disk", second="hole"))
    assert [(each.outcome, each.source) for each in answer.reads] == [("read", "zdb_import")]
    assert (answer.situations, answer.good) == ((), False)
    assert any("was not exported" in note and "heron" in note for note in answer.reads[0].notes)


@pytest.mark.parametrize("leaf", ["disk", "missing"])  # a disk that is away below a raidz is another matter
def test_a_top_level_vdev_without_disks_blocks_the_import(leaf: str) -> None:
    answer = read(FOR_IMPORT.format(state=1, leaf=leaf, second="missing") + REFUSED)
    blocked, refused = answer.situations
    assert (blocked.slug, blocked.severity, blocked.gate, blocked.title) == (
        "import-blocked", "act", True, "fjord: no disk was found of 1 top-level vdev",
    )  # fmt: skip
    assert "Of the top-level vdev 1 of its 3" in blocked.meaning
    assert refused.subject["why"] == "zdb-no-device"
    assert not any("by-id; for the member" in cure.text for cure in refused.cures)  # no device is named to zdb -e


# A history without its heading

RECORDS = """2026-07-21.01:04:57 zpool create -f -o ashift=12 fjord mirror /dev/disk/by-id/wwn-0x5000c500a1b2c301 /dev/disk/by-id/wwn-0x5000c500a1b2c302
2026-07-23.17:49:06 zpool export fjord
2026-07-23.17:56:49 zpool import -d /dev/disk/by-id fjord
2026-07-24.18:01:20 zpool scrub fjord
"""


@pytest.mark.parametrize(
    ("text", "whose"),
    [
        (RECORDS, "its commands are of fjord"),
        (f"zpool history fjord | grep zpool\n{RECORDS}", "its commands are of fjord"),
        ("  2026-05-26.20:15:29 [txg:4] set feature@lz4_compress=enabled\n  2026-05-26.20:15:30 [txg:5] create fjord/home (77)\n", "does not show which pool"),
    ],
)  # fmt: skip
def test_a_history_without_its_heading_is_read(text: str, whose: str) -> None:
    (one,) = read(text).reads
    assert (one.outcome, one.source) == ("read", "zpool_history")
    assert any(whose in note for note in one.notes)


# The moment at the end of a replacement, many members that were half given up, a spare that became a member

STATUS = """  pool: fjord
 state: {state}
  scan: {scan}
config:

\tNAME                STATE     READ WRITE CKSUM
\tfjord               {state}     0     0     0
{rows}
errors: No known data errors
"""
FILLED = """\t  mirror-0          DEGRADED     0     0     0
\t    replacing-0     DEGRADED     0     0     0
\t      ata-DISK_OLD  OFFLINE      0     0     0
\t      ata-DISK_NEW  ONLINE       0     0     0
\t    ata-DISK_B      ONLINE       0     0     0
"""


@pytest.mark.parametrize(
    ("errors", "severity", "first"),
    [(0, "watch", "look"), (3, "act", "resilver")],
)
def test_a_replacement_that_was_just_filled_is_looked_at_again_first(errors: int, severity: str, first: str) -> None:
    scan = f"resilvered 1.06T in 0 days 17:07:33 with {errors} errors on Tue Dec 16 12:44:18 2025"
    lost = next(each for each in read(STATUS.format(state="DEGRADED", scan=scan, rows=FILLED)).situations if each.slug == "disk-missing")
    assert (lost.severity, kinds(lost)[0]) == (severity, first)
    assert "replace" not in kinds(lost)


def test_members_that_were_half_given_up_are_not_replaced_one_by_one() -> None:
    rows = "\t  raidz2-0          DEGRADED     0     0     0\n" + "".join(
        f"\t    ata-DISK_{name}      {'DEGRADED' if name in 'ABC' else 'ONLINE  '}     0     0     0{'  too many errors' if name in 'ABC' else ''}\n"
        for name in "ABCDEF"
    )
    answer = read(STATUS.format(state="DEGRADED", scan="resilvered 9G in 00:10:00 with 0 errors on Tue Dec 16 12:44:18 2025", rows=rows))
    faulted = [each for each in answer.situations if each.slug == "disk-faulted"]
    assert len(faulted) == 3
    assert all("3 members of fjord" in each.meaning and "replace" not in kinds(each) for each in faulted)


def test_a_spare_that_became_a_member_is_taken_out_of_no_vdev() -> None:
    rows = "\t  mirror-0          ONLINE       0     0     0\n\t    ata-DISK_A      ONLINE       0     0     0\n\t    ata-DISK_S      ONLINE       0     0     0\n\tspares\n\t  ata-DISK_S        INUSE     currently in use\n"
    scan = "scrub repaired 0B in 00:10:00 with 0 errors on Tue Dec 16 12:44:18 2025"
    found = [each for each in read(STATUS.format(state="ONLINE  ", scan=scan, rows=rows)).situations if each.severity != "info"]
    assert [(each.slug, each.severity) for each in found] == [("spare-unused", "watch")]
    assert "is a member now" in found[0].title
    assert not {"remove", "detach", "replace"} & set(kinds(found[0]))


# What somebody writes on the line of a fence, and what is busy


def test_what_stands_on_the_line_of_a_fence_is_a_part_of_it() -> None:
    text = "```cannot import 'fjord': I/O error\n\tDestroy and re-create the pool from\n\ta backup source.\n```\n"
    (one,) = read(text).situations
    assert (one.slug, one.subject["about"]) == ("refused-command", "fjord")


def test_a_dataset_that_is_busy_is_no_disk_that_is() -> None:
    (one,) = read("root@heron:~# zfs destroy fjord/a@b\ncannot destroy snapshot fjord/a@b: dataset is busy\n").situations
    assert "The new disk" not in one.meaning


def test_a_mount_that_cannot_be_read_sends_to_the_damage() -> None:
    (one,) = read("root@heron:~# zfs mount -a\ncannot mount 'fjord/enc/home': Input/output error\n").situations
    assert (one.subject["why"], one.sure) == ("mount-io-error", True)


# I/O that hangs, an old title over a label that is not there, an errata alone, events without -v, memory

DEADMAN = "15597390{:02}   vdev.c:4668:vdev_deadman(): slow vdev: /dev/disk/by-id/{} has 1 active IOs\n"
WAITS = "1559739078   spa_misc.c:607:spa_deadman(): slow spa_sync: started 6076 seconds ago, calls 114\n"


@pytest.mark.parametrize(
    ("names", "gate"), [(("wwn-0x5000c500a1b2c301",), False), (("wwn-0x5000c500a1b2c301", "wwn-0x5000c500a1b2c302"), True)]
)
def test_the_deadman_says_what_hangs(names: tuple[str, ...], gate: bool) -> None:
    (one,) = read(WAITS + "".join(DEADMAN.format(n, name) for n, name in enumerate(names))).situations
    assert (one.slug, one.severity, one.gate, "6076 s" in one.meaning) == ("disk-hangs", "act", gate, True)
    assert "replace" not in kinds(one)


def test_a_transaction_group_that_waits_is_told_where_no_device_is_named() -> None:
    (one,) = read(WAITS + WAITS.replace("6076", "6081")).situations
    assert (one.slug, one.severity, "6081 s" in one.title, kinds(one)) == ("kernel-errors", "act", True, ["look"])


def titled(number: int, body: str) -> str:
    return f"{'-' * 44}\nLABEL {number}\n{'-' * 44}\n{body}"


def test_a_title_over_a_label_that_is_not_there_begins_no_other_disk() -> None:
    body = LABEL.format(txg=9).partition("LABEL 0\n")[2].partition("\n")[2].partition("    labels =")[0]
    text = "root@heron:~# zdb -l /dev/sdq\n" + titled(0, "failed to unpack label 0\n") + titled(1, "failed to unpack label 1\n")
    answer = read(text + titled(2, body) + titled(3, "failed to unpack label 3\n"))
    assert [(each.outcome, each.source) for each in answer.reads] == [("read", "zdb_label")]
    assert any("copies 0, 1, 3" in reason for reason in answer.not_good_because)


def test_an_errata_without_its_pool_counts() -> None:
    text = "status: Errata #4 detected.\n\tExisting encrypted datasets contain an on-disk incompatibility\n\twhich needs to be corrected.\n"
    assert [each.slug for each in read(text).situations] == ["pool-errata"]


def test_a_change_of_state_in_a_short_list_is_no_error() -> None:
    text = "TIME                           CLASS\nMar 25 2026 00:21:12.736548371 resource.fs.zfs.statechange\n"
    (one,) = read(text).situations
    assert one.title == "A pool: 1 change of state in ZFS's events"


@pytest.mark.parametrize(
    "text",
    [
        "# arc_summary -p 1\nARC size (current):                                    84.3 %  831.3 MiB\n        Max size (high water):                           16:1  985.9 MiB\n",
        "ARC Size Breakdown:\n        Recently Used Cache Size:       24.39%  1.55    GiB\n        Dnode Size:                     26.63%  4.79    GiB\n",
    ],
)  # fmt: skip
def test_a_summary_of_the_cache_is_read_and_says_nothing_of_a_pool(text: str) -> None:
    answer = read(text)
    assert ([(each.outcome, each.source) for each in answer.reads], answer.situations, answer.good) == (
        [("read", "arc_summary")],
        (),
        False,
    )


# What somebody marks as printed, what the shell says of a command, and plugins


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("I tried `zpool scrub \"fjord\"` and got: `cannot scrub fjord: currently scrubbing; use 'zpool scrub -s' to cancel current scrub`", "scrub-running"),
        ('on four of them we get: "cannot offline 1122334455667788991: no valid replicas" where that is', "no-valid-replicas"),
        ("I get `cannot create 'fjord': pool already exists`", "name-taken"),
    ],
)  # fmt: skip
def test_a_refusal_that_is_quoted_within_a_line_is_read(text: str, why: str) -> None:
    (one,) = read(text).situations
    assert one.slug == "refused-command"
    assert one.sure, (one.subject["why"], why)


@pytest.mark.parametrize(("ended", "found"), [("Killed", 1), ("Segmentation fault (core dumped)", 1), ("It was killed, I think", 0)])
def test_a_command_that_was_ended_is_no_empty_answer(ended: str, found: int) -> None:
    situations = [
        each for each in read(f"ann@heron:~$ sudo zpool import -f -N fjord\n{ended}\n").situations if each.subject.get("why") == "killed"
    ]
    assert [each.title for each in situations] == ["zpool import was ended before it was done"] * found


def test_uberblocks_of_an_old_zdb_below_somebodys_words_are_read() -> None:
    blocks = "".join(
        f"Uberblock[{n}]\n\tmagic = 0000000000bab10c\n\tversion = 5000\n\ttxg = {15470 + n}\n\tguid_sum = 2302981454941978704\n"
        for n in (1, 2)
    )
    answer = read(
        f"Look into the list:\nzdb -ul /dev/ada1\nthis gives a long list of them like these:\n\n{blocks}\nYou see a number there.\n"
    )
    (one,) = [each for each in answer.reads if each.source == "uberblock"]
    assert any("newest txg is 15472" in note for note in one.notes)


def test_an_alarm_of_a_plugin_names_its_pool() -> None:
    text = "ZFS POOL ALARM: POOL fjord health is DEGRADEDPOOL fjord has unhealthy disk loop1 with state OFFLINE|fjord---root---fjord---READ-ERRORS=0\n"
    assert [(each.slug, each.subject.get("pool")) for each in read(text).situations] == [("vdev-degraded", "fjord")]


def test_a_member_that_zed_cannot_open_for_a_reason_it_does_not_know_is_an_error_of_it() -> None:
    line = "Apr 18 08:50:58 heron zed[5973]: eid=418143 class=vdev.unknown pool_guid=0x3D37F3A0B1C2D3E1 vdev_path=/dev/disk/by-id/wwn-0x5000c500a1b2c301-part1\n"
    assert [each.slug for each in read(line).situations] == ["kernel-errors"]
