"""Lines of daemons about themselves, trouble while the kernel starts, and stacks: read, and good only where something says so."""

from __future__ import annotations

import pytest

from workflows.triage import json_answer, triage


def answered(text: str) -> dict:
    return json_answer.answer(triage([("paste.txt", text)]))


def found(answer: dict) -> list[tuple[str, str]]:
    return [(one["severity"], one["slug"]) for one in answer["situations"]]


def test_a_daemon_that_starts_and_ends_says_nothing_of_any_disk():
    lines = (
        "--------start up--------",
        "path checkers start up",
        "mpathq: load table [0 976773168 multipath 0 0 1 1 service-time 0 1 1 65:16 1]",
    )
    answer = answered("".join(f"Apr  2 07:00:0{i} oss4 multipathd[901]: {line}\n" for i, line in enumerate((*lines, "exit (signal)"))))
    assert answer["texts"][-1]["outcome"] == "read"
    assert found(answer) == []
    assert not answer["unexplained"]
    assert answer["good"] is False  # none of it says how a disk is


def test_a_map_without_a_path_is_told_and_one_with_a_path_is_not():
    answer = answered("Apr  2 07:11:01 oss4 multipathd[901]: mpathq: remaining active paths: 0\n")
    assert found(answer) == [("act", "kernel-errors")]
    assert found(answered("Apr  2 07:11:01 oss4 multipathd[901]: mpathq: remaining active paths: 2\n")) == []


def sense(key: str, detail: str) -> str:
    return f"[    3.20{{}}00] sd 0:0:4:0: [sdq] Sense Key : {key} [current]\n[    3.200100] sd 0:0:4:0: [sdq] Add. Sense: {detail}\n"


def test_trouble_of_a_disk_while_the_kernel_starts_is_told():
    answer = answered(sense("Not Ready", "Logical unit not ready, hard disk error").format("0"))
    assert ("act", "kernel-errors") in found(answer)
    answer = answered("[    5.100000] Buffer I/O error on dev sdq, logical block 0, async page read\n")
    assert found(answer) == [("watch", "kernel-errors")]


@pytest.mark.parametrize(
    "detail",
    ["Medium not present", "Logical unit not accessible, target port in standby state", "Logical unit is in process of becoming ready"],
)
def test_a_drive_that_need_not_be_ready_raises_nothing(detail):
    assert ("act", "kernel-errors") not in found(answered(sense("Not Ready", detail).format("0")))


def test_resets_while_the_kernel_starts_raise_nothing():
    assert (
        found(answered("[    2.500000] ata4: hard resetting link\n[    2.900000] ata4: SATA link up 6.0 Gbps (SStatus 133 SControl 300)\n"))
        == []
    )


STACK = (
    "task:z_rd_int_1      state:D stack:0     pid:811   ppid:2      flags:0x00004000",
    "Call Trace:",
    " <TASK>",
    " __schedule+0x2d1/0x11a0",
    " vdev_disk_io_start+0x1f2/0x8c0 [zfs 0123456789abcdef0123456789abcdef01234567]",
)


def test_the_stack_of_a_thread_that_waits_is_one_even_without_the_line_above_it():
    answer = answered("".join(f"[ 9120.40000{i}] {line}\n" for i, line in enumerate(STACK)))
    assert found(answer) == [("act", "kernel-errors")]
    assert not answer["unexplained"]


def test_a_line_that_somebody_points_at_is_a_line_of_its_own():
    lines = [
        "[ 700.100000] ata9.00: failed command: FLUSH CACHE EXT",
        ">>> [ 700.200000] ata9: hard resetting link",
        "[ 700.300000] ata9: EH complete",
    ]
    answer = answered("\n".join(lines) + "\n")
    assert found(answer) == [("act", "kernel-errors")]
    assert not answer["unexplained"]


KERNEL = "[90412.1] WARNING: Pool 'ost_2' has encountered an uncorrectable I/O failure and has been suspended.\n".replace(
    "90412.1", "90412.100000"
)
RESILVER = (
    "  pool: ost_2\n state: {state}\nstatus: One or more devices is currently being resilvered.  The pool will\n        continue to function, possibly in a degraded state.\n"
    "action: Wait for the resilver to complete.\n  scan: resilver in progress since Mon Mar  4 10:00:00 2024\n        1.00T scanned out of 4.00T at 200M/s, 4h22m to go\n"
    "        100G resilvered, 25.00% done\nconfig:\n\n        NAME        STATE     READ WRITE CKSUM\n        ost_2       DEGRADED     0     0     0\n"
    "          mirror-0  DEGRADED     0     0     0\n            sdb     ONLINE       0     0     0\n            sdc     ONLINE       0     0     0  (resilvering)\n\nerrors: No known data errors\n"
)


def test_a_resilver_under_way_does_not_take_back_a_suspension():
    answer = answered(KERNEL + "\n" + RESILVER.format(state="DEGRADED"))
    (one,) = [one for one in answer["situations"] if one["slug"] == "kernel-errors"]
    assert one["severity"] == "act"
    assert "serves again" not in one["title"].replace("cannot say whether it serves again", "")


def test_a_release_that_prints_the_suspension_takes_it_back():
    answer = answered(
        "# zfs version\nzfs-2.2.4-1\nzfs-kmod-2.2.4-1\n# dmesg\n" + KERNEL + "# zpool status\n" + RESILVER.format(state="DEGRADED")
    )
    (one,) = [one for one in answer["situations"] if one["slug"] == "kernel-errors"]
    assert (one["severity"], one["title"]) == ("watch", "ost_2 was suspended, and serves again")


def test_an_import_that_fails_for_its_data_stops_the_pool():
    answer = answered("# zpool import ost_2\ncannot import 'ost_2': I/O error\n\tDestroy and re-create the pool from\n\ta backup source.\n")
    assert found(answer) == [("act", "refused-command")]


def test_each_disk_whose_transfers_break_on_the_way_is_named():
    lines = [
        f"[ 93711.{i}00000] sd 3:0:{i}:0: [sd{disk}] tag#2 {words}"
        for i, disk in enumerate("qr")
        for words in ("Sense Key : Aborted Command [current]", "Add. Sense: Information unit iuCRC error detected")
    ]
    answer = answered("\n".join(lines) + "\n")
    assert [(one["subject"]["name"], one["subject"]["why"]) for one in answer["situations"]] == [("sdq", "link"), ("sdr", "link")]


def test_what_lies_over_a_disk_is_not_a_second_disk():
    lines = ("dev sdq, sector 2042683", "dev dm-8, sector 2042599")
    answer = answered("".join(f"[ 93711.{i}00000] blk_update_request: critical medium error, {line}\n" for i, line in enumerate(lines)))
    assert [one["subject"]["name"] for one in answer["situations"]] == ["sdq"]


def test_a_status_of_ata_on_freebsd_says_that_sectors_cannot_be_read():
    answer = answered("Feb 12 17:56:23 oss9 kernel: (ada7:ahcich7:0:0:0): ATA status: 41 (DRDY ERR), error: 40 (UNC )\n")
    assert [one["subject"]["why"] for one in answer["situations"]] == ["medium"]


@pytest.mark.parametrize(
    "text",
    [
        "zio_read error: 5\nZFS: i/o error - all block copies unavailable\nZFS: can't read MOS of pool ost_4\n",
        "ZFS: i/o error - all block copies unavailable\nZFS: i/o error - all block copies unavailable\n",
        "gptzfsboot: No ZFS pools located, can't boot\n",
    ],
)
def test_a_boot_loader_that_cannot_read_its_pool_is_told_and_nothing_is_destroyed_for_it(text):
    answer = triage([("p", text)])
    (one,) = answer.situations
    assert (one.slug, one.severity, one.subject["why"], answer.good) == ("kernel-errors", "act", "loader", False)
    assert not any(argv for cure in one.cures for argv in cure.argv)


def test_units_of_zfs_are_read_as_systemd_before_219_logs_them():
    log = (
        "Jul 18 11:15:53 heron systemd: Failed to start Import ZFS pools by cache file.\n"
        "Jul 18 11:15:53 heron systemd: Unit zfs-import-cache.service entered failed state.\n"
        "Jul 18 11:15:53 heron systemd: Starting Mount ZFS filesystems...\n"
        "Jul 18 11:15:53 heron systemd: Started Mount ZFS filesystems.\n"
    )
    answer = triage([("p", log)])
    assert any(one.subject.get("why") == "import-unit" for one in answer.situations)
    assert not any("is not explained" in one.title for one in answer.situations)


def test_a_unit_of_import_that_failed_is_told_once_beside_the_pool_that_it_could_not_import():
    unit = "Apr 10 15:10:15 heron systemd[1]: Failed to start Import ZFS pools by cache file.\n"
    main = "Apr 10 15:10:15 heron systemd[1]: zfs-import-cache.service: Main process exited, code=exited, status=1/FAILURE\n"
    pool = "Apr 10 15:10:15 heron zpool[185]: cannot import 'ost_4': one or more devices is currently unavailable\n"
    assert found(answered(unit + main)) == [("watch", "kernel-errors")]
    assert found(answered(main + unit + pool)) == [("watch", "kernel-errors"), ("watch", "refused-command")]
    assert found(answered(unit)) == [("watch", "refused-command")]


@pytest.mark.parametrize("later", ["", "[90000.000000] mpt3sas_cm0: log_info(0x31120303): originator(PL), code(0x12), sub_code(0x0303)\n"])
def test_a_unit_of_import_that_failed_while_the_node_started_is_never_passed_over(later):
    boot = "[    0.000000] Linux version 6.1.0\n[   12.345678] systemd[1]: Failed to start Import ZFS pools by cache file.\n"
    answer = answered(boot + later)
    assert any(one["slug"] in ("kernel-errors", "refused-command") and "mport" in one["title"] for one in answer["situations"])
    assert answer["good"] is False
