"""Two outputs in one stretch of lines, words of people below a command, and logs of which a part is missing."""

from __future__ import annotations

import pytest

from workflows.triage import triage
from workflows.triage.talk import is_talk

TREE = """\
  pool: basin
 state: DEGRADED
status: One or more devices are faulted in response to persistent errors.
        Sufficient replicas exist for the pool to continue functioning in a
        degraded state.
action: Replace the faulted device, or use 'zpool clear' to mark the device
        repaired.
  scan: scrub repaired 0B in 00:10:11 with 0 errors on Sun Nov  8 00:34:12 2026
config:

        NAME        STATE     READ WRITE CKSUM
        basin       DEGRADED     0     0     0
          mirror-0  DEGRADED     0     0     0
            sdk     ONLINE       0     0     0
            sdl     FAULTED      7     0     0  too many errors

errors: No known data errors
"""
LOG = (
    "[90211.500001] blk_update_request: I/O error, dev sdl, sector 9412 op 0x0:(READ) flags 0x700 phys_seg 1 prio class 0",
    "[90211.700002] sd 3:0:5:0: [sdl] tag#3 Sense Key : Medium Error [current]",
    "[90211.700009] sd 3:0:5:0: [sdl] tag#3 Add. Sense: Unrecovered read error",
)


def slugs(text: str) -> set[tuple[str, str]]:
    return {(found.slug, found.severity) for found in triage([("p", text)]).situations}


def mixed(*places: int) -> str:
    lines = TREE.split("\n")
    for place in sorted(places, reverse=True):
        lines[place:place] = LOG
    return "\n".join(lines)


@pytest.mark.parametrize("places", [(2,), (4,), (10,), (12,), (14,), (2, 9, 13)])
def test_lines_of_the_kernel_within_a_tree_take_nothing_from_it(places: tuple[int, ...]) -> None:
    whole = triage([("p", TREE)])
    found = triage([("p", mixed(*places))])
    assert {(s.slug, s.title) for s in whole.situations} <= {(s.slug, s.title) for s in found.situations}
    assert ("kernel-errors", "act") in {(s.slug, s.severity) for s in found.situations}
    assert all(read.outcome == "read" for read in found.reads), [(r.first, r.last, r.outcome, r.reason) for r in found.reads]


def test_each_line_keeps_its_number() -> None:
    found = triage([("p", mixed(12))])
    logs = [read for read in found.reads if read.source == "kernel_log"]
    assert [(read.first, read.last) for read in logs] == [(13, 15)]


def test_a_log_behind_the_text_of_a_pool_is_no_part_of_it() -> None:
    found = triage([("p", TREE + "\n".join(LOG) + "\n")])
    assert [read.source for read in found.reads if read.outcome == "read"] == ["zpool_status", "kernel_log"]


def test_one_failed_command_that_three_layers_print_is_one_disk() -> None:
    text = (
        "[  700.000001] ata4.00: exception Emask 0x10 SAct 0x40 SErr 0x400000 action 0x6 frozen\n"
        "[  700.000002] ata4: hard resetting link\n"
        "[  700.000003] blk_update_request: I/O error, dev sdq, sector 4410 op 0x0:(READ) flags 0x700 phys_seg 2 prio class 0\n"
        "[  700.000004] zio pool=basin vdev=/dev/mapper/vault9 error=5 type=1 offset=8192 size=4096 flags=1808b0\n"
    )
    found = triage([("p", text)]).situations
    assert [one.title for one in found if one.slug == "kernel-errors"] == ["sdq loses its link"]


def test_three_disks_of_one_layer_are_many() -> None:
    text = "".join(
        f"[  700.00000{n}] ata{n}: hard resetting link\n[  700.00001{n}] ata{n}.00: failed command: READ FPDMA QUEUED\n"
        for n in range(1, 5)
    )
    assert [s.title for s in triage([("p", text)]).situations if s.slug == "kernel-errors"] == [
        "4 disks have errors in the kernel log at once"
    ]


def test_a_pool_that_was_suspended_and_serves_again_is_not_good() -> None:
    log = "[  300.000001] WARNING: Pool 'basin' has encountered an uncorrectable I/O failure and has been suspended.\n"
    tree = "  pool: basin\n state: ONLINE\n  scan: none requested\nconfig:\n\n\tNAME   STATE     READ WRITE CKSUM\n\tbasin  ONLINE       0     0     0\n\t  sdk  ONLINE       0     0     0\n\nerrors: No known data errors\n"
    found = triage([("p", f"# dmesg\n{log}# zpool status\n{tree}")])
    assert not found.good
    assert ("kernel-errors", "watch") in {(s.slug, s.severity) for s in found.situations}


def test_a_stack_of_zfs_without_its_first_line_is_not_good() -> None:
    text = "".join(
        f"Nov  3 10:00:0{n} depot kernel:  {name} [zfs]\n" for n, name in enumerate(("zio_wait+0x1f/0x90", "spa_sync+0x10/0xa0"))
    )
    found = triage([("p", text)])
    assert not found.good
    assert ("unexplained", "watch") in {(s.slug, s.severity) for s in found.situations}


@pytest.mark.parametrize(
    "line",
    [
        "nvme nvme1: missing or invalid SUBNQN field.",
        "SPL: Showing stack for process 991",
        "BTRFS error (device sdd): bdev /dev/sdd errs: wr 0, rd 1, flush 0, corrupt 0, gen 0",
        "EXT4-fs error (device sdb1): ext4_lookup:1700: inode #2: comm ls: deleted inode referenced: 12",
        "sas: ata9: end_device-9:0: cmd error handler",
    ],
)
def test_lines_of_other_matters_are_not_unexplained(line: str) -> None:
    assert not slugs(f"[  900.000001] {line}\n")


def test_the_last_event_that_was_cut_still_says_what_happened() -> None:
    text = (
        "Nov  3 2026 10:00:00.000000001 ereport.fs.zfs.probe_failure\n"
        '        class = "ereport.fs.zfs.probe_failure"\n'
        '        pool = "basin"\n'
    )
    found = triage([("p", text)])
    assert not found.good
    assert "zfs-events" in {s.slug for s in found.situations}
    assert [read.outcome for read in found.reads] == ["partly"]


def test_the_class_of_a_cut_event_counts_beside_others_that_are_whole() -> None:
    whole = (
        "Nov  3 2026 09:00:00.000000001 sysevent.fs.zfs.scrub_start\n"
        '        class = "sysevent.fs.zfs.scrub_start"\n        pool = "basin"\n        time = 0x6908a790 0x1 \n        eid = 0x8\n\n'
    )
    found = triage([("p", f'{whole}Nov  3 2026 10:00:00.000000001 ereport.fs.zfs.probe_failure\n        pool = "basin"\n')])
    assert "zfs-events" in {s.slug for s in found.situations}


def test_an_event_whose_successor_was_cut_is_read() -> None:
    text = (
        "Nov  3 2026 10:00:00.000000001 ereport.fs.zfs.io\n"
        '        class = "ereport.fs.zfs.io"\n'
        '        pool = "basin"\n'
        '        vdev_path = "/dev/disk/by-id/wwn-0x5000c500a0000001-part1"\n'
        "        time = 0x6908b5a0 0x1 \n"
        "        eid = 0x9\n\n"
        "Nov  3 2026 10:00:"
    )
    found = triage([("p", text)])
    assert ("zfs-events", "watch") in {(s.slug, s.severity) for s in found.situations}
    assert "basin" in next(s.title for s in found.situations if s.slug == "zfs-events")


@pytest.mark.parametrize(
    ("lines", "talk"),
    [
        (["```"], True),
        (["You have to install the package first, and then it is there."], True),
        (["Histogram:"], True),
        (["Smartctl open device: /dev/sdx failed: No such device"], False),
        (["basin       ONLINE       0     0     0"], False),
        (["The ZFS modules cannot be auto-loaded.", "Try running 'modprobe zfs' as root to manually load them."], False),
        ([], False),
    ],
)
def test_what_people_write_below_a_command_is_told_from_output(lines: list[str], talk: bool) -> None:
    assert is_talk(lines) is talk


def test_a_command_with_words_below_it_has_no_output() -> None:
    found = triage([("p", "$ sudo smartctl -x /dev/sdz\n\nThat is what you should run, and then post all of it here.\n")])
    assert [read.outcome for read in found.reads] == ["left out"]


@pytest.mark.parametrize(
    ("line", "means"),
    [
        ("cannot import 'basin': pool is formatted using a newer ZFS version", "too old"),
        ("cannot replace sdk with sdl: no such device", "no member of this name"),
        ("zdb: can't open 'basin': File exists", "cache file"),
        ("zdb: can't open 'basin': Invalid argument", "no whole pool"),
    ],
)
def test_refusals(line: str, means: str) -> None:
    (read,) = triage([("p", line + "\n")]).reads
    assert read.source == "refused"
    assert means in read.reason


BOUNDS = [f"{2**n}ns" for n in range(1, 38)]


def test_a_histogram_is_read_and_its_waits_are_named_as_not_judged() -> None:
    rows = "".join(
        f"{bound}{'  0' * 10 if place not in (22, 30) else '  500' * 10 if place == 22 else '  9' * 10}\n"
        for place, bound in enumerate(BOUNDS)
    )
    found = triage([("p", f"basin        total_wait     disk_wait    syncq_wait    asyncq_wait\nlatency  read  write\n{rows}")])
    assert [read.outcome for read in found.reads] == ["read"]
    (words,) = [each for each in found.not_looked_at if each.startswith("p, lines")]
    assert "not judged" in words
    assert "99 of 100 synchronous reads in the queue at most 2.1 s" in words
    assert not found.situations


def test_back_quotes_around_several_lines_are_no_part_of_them() -> None:
    marked = f"See here:\n\n`{TREE.rstrip()}`\n\nWhat now?\n"
    assert slugs(marked) == slugs(TREE)
    assert slugs(marked.replace("`  pool", "` pool")) == slugs(TREE)
    assert slugs(marked.replace("`  pool", "`zpool status basin\n  pool")) == slugs(TREE)


def test_a_history_that_a_mail_has_wrapped_is_read() -> None:
    text = "History for 'basin':\n2026-03-01.10:00:00 zpool create -f basin mirror\n/dev/disk/by-id/wwn-0x5000c500a0000001\n/dev/disk/by-id/wwn-0x5000c500a0000002\n"
    assert [read.outcome for read in triage([("p", text)]).reads] == ["read"]


def test_errors_that_a_scrub_repaired_explain_the_status_without_counters() -> None:
    text = """\
  pool: basin
 state: ONLINE
status: One or more devices has experienced an unrecoverable error.  An
        attempt was made to correct the error.  Applications are unaffected.
action: Determine if the device needs to be replaced, and clear the errors
        using 'zpool clear' or replace the device with 'zpool replace'.
   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-9P
  scan: scrub repaired 96K in 00:10:11 with 0 errors on Sun Nov  8 00:34:12 2026
config:

        NAME        STATE     READ WRITE CKSUM
        basin       ONLINE       0     0     0
          mirror-0  ONLINE       0     0     0
            sdk     ONLINE       0     0     0
            sdl     ONLINE       0     0     0

errors: No known data errors
"""
    assert slugs(text) == {("scrub-repaired", "info")}
    assert not triage([("p", text)]).good
