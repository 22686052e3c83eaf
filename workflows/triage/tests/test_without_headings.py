"""What people paste of a table without its heading, of systemd's words, and of a pool that is down with rows that do not say why."""

from __future__ import annotations

import pytest

from workflows.triage import triage


def read(text: str):
    return triage([("p", text)])


def test_rows_of_lsblk_without_their_heading_are_read():
    rows = "sdk           8:160  0  10.9T  0 disk\n├─sdk1        8:161  0  10.9T  0 part\n└─sdk9        8:169  0     8M  0 part\nsdq           65:0   0  10.9T  0 disk\n"
    found = read(rows)
    assert [(each.outcome, each.source) for each in found.reads] == [("read", "lsblk")]
    assert not found.good


def test_a_disk_without_capacity_is_found_in_such_rows():
    found = read("sdk           8:160  0      0B  0 disk\nsdq           65:0   0  10.9T  0 disk\n")
    assert [each.title for each in found.situations] == ["sdk reports no capacity"]


@pytest.mark.parametrize(
    "line",
    [
        "Mar 03 08:11:02 oss07 systemd[1]: Failed to start Import ZFS pools by cache file.",
        "[FAILED] Failed to start Import ZFS pools by device scanning.",
        "Mar 03 08:11:02 oss07 systemd[1]: Failed to start zfs-import-cache.service - Import ZFS pools by cache file.",
        "Mar 03 08:11:02 oss07 systemd[1]: Failed to start Mount ZFS filesystems.",
    ],
)
def test_a_unit_of_zfs_that_failed_is_explained(line):
    found = read(f"{line}\n")
    assert [each.slug for each in found.situations] == ["refused-command"]
    assert "journalctl" in found.reads[0].reason
    assert not found.good


def test_of_a_pool_that_is_down_no_disk_is_called_away_where_none_is_in_its_rows():
    text = (
        "  pool: oak\n state: UNAVAIL\n  scan: none requested\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n"
        "\toak         UNAVAIL      0     0     0  insufficient replicas\n\t  raidz1-0  UNAVAIL      0     0     0  corrupted data\n"
        "\t    sdk     ONLINE       0     0     0\n\t    sdl     ONLINE       0     0     0\n"
    )
    (found,) = [each for each in read(text).situations if each.severity == "act"]
    assert found.title == "oak is down (UNAVAIL): the reason is not printed"
    assert found.gate


@pytest.mark.parametrize("step", ["start", "end-devices", "complete"])
def test_the_steps_of_a_reset_of_an_hba_are_no_riddle(step):
    found = read(
        f"[  664.1] mpt3sas_cm0: sending diag reset !!\n[  665.6] mpt3sas_cm0: diag reset: SUCCESS\n[  666.1] mpt3sas_cm0: removing unresponding devices: {step}\n"
    )
    assert "unexplained" not in [each.slug for each in found.situations]


@pytest.mark.parametrize("stamp", ["[Do Nov 17 11:59:20 2022]", "[Di M\u00e4r  1 11:59:20 2022]", "[jeu. nov. 17 11:59:20 2022]"])
def test_dmesg_in_another_language_is_read(stamp):
    found = read(f"{stamp} blk_update_request: I/O error, dev sdk, sector 8192 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0\n")
    assert [each.title for each in found.situations] == ["sdk failed commands"]


def test_an_ata_port_that_gives_up_its_queue_is_no_riddle():
    found = read("Mar 03 08:11:02 oss07 kernel: ata7.00: NCQ disabled due to excessive errors\n")
    assert [each.slug for each in found.situations] == ["kernel-errors"]


@pytest.mark.parametrize(("name", "raised"), [("config.sync", False), ("resilver.finish", False), ("checksum", True)])
def test_a_line_of_zed_about_an_event_without_trouble_raises_nothing(name, raised):
    found = read(f"Oct 18 14:45:01 oss07 zed: eid=81 class={name} pool=oak\n")
    assert bool(found.situations) is raised


@pytest.mark.parametrize("mark", ["", ">> ", "12:15:14+11:00 "])
def test_lines_of_the_kernel_without_day_and_host_are_read(mark):
    lines = (
        "kernel: ata7.00: exception Emask 0x0 SAct 0x2020 SErr 0x0 action 0x6 frozen",
        "kernel: ata7.00: failed command: WRITE FPDMA QUEUED",
        "kernel: ata7.00: status: { DRDY }",
    )
    indent = "   " if mark == ">> " else ""
    found = read(f"{mark if indent else ''}It began some weeks ago:\n" + "".join(f"{mark}{indent}{line}\n" for line in lines))
    assert [each.title for each in found.situations] == ["ata7.00 failed commands"]
