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
