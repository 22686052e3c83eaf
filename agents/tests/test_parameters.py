"""Tunables of Linux, FreeBSD and illumos."""

import fnmatch
from pathlib import Path

import pytest

from agents.collectors import mdb, parameters, sysctl, zpool_status
from agents.collectors.base import Unparsed
from agents.collectors.mdb import Tunable
from agents.collectors.parameters import BootOption
from agents.tests.scenarios import step
from twin.captured_host import CapturedHost

MADE_UP = Path(__file__).parent / "captures"


def made_up(source: str, name: str) -> str:
    return (MADE_UP / source / f"made-up--{name}.txt").read_text()


class Files:
    def __init__(self, files: dict) -> None:
        self.files = files

    def read(self, path):
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path].encode()

    def list(self, pattern):
        return tuple(sorted(fnmatch.filter(self.files, pattern)))


def test_it_reads_genuine_parameters():
    (capture,) = parameters.collect(CapturedHost(step("slow-disk/1-writing")))
    read = parameters.parse(capture.text)
    values = dict(read.values)
    assert (values["zio_slow_io_ms"], values["zfs_scan_vdev_limit"], read.spl_hostid, read.boot) == ("2000", "16777216", 0, ())
    assert len(values) > 25


ZFS_CONF = "# tuned\noptions zfs zfs_resilver_min_time_ms=5000 \\\n   zfs_scan_idle=0\noptions bnx2x debug=1\ninstall zfs /bin/true\n"


def test_the_next_boot_is_read_in_the_order_of_modprobe():
    """One name in two folders counts in the first; names are read in their order, and the kernel's command line last."""
    host = Files(
        {
            "/sys/module/zfs/parameters/zfs_scan_idle": "50\n",
            "/etc/modprobe.d/zfs.conf": ZFS_CONF,
            "/usr/lib/modprobe.d/zfs.conf": "options zfs zfs_scan_idle=7\n",
            "/usr/lib/modprobe.d/50-site.conf": "options  spl spl_hostid=0x5b2f9c01\n",
            "/proc/cmdline": "root=/dev/sda1 password=secret zfs.zfs_scan_idle=9 quiet\n",
        }
    )
    (capture,) = parameters.collect(host)
    assert parameters.parse(capture.text).boot == (
        BootOption("spl", "spl_hostid", "0x5b2f9c01", "/usr/lib/modprobe.d/50-site.conf"),
        BootOption("zfs", "zfs_resilver_min_time_ms", "5000", "/etc/modprobe.d/zfs.conf"),
        BootOption("zfs", "zfs_scan_idle", "0", "/etc/modprobe.d/zfs.conf"),
        BootOption("zfs", "zfs_scan_idle", "9", "/proc/cmdline"),
    )
    assert "secret" not in capture.text
    assert "bnx2x" not in capture.text


def test_without_the_module_there_is_nothing():
    assert parameters.collect(Files({}))[0].outcome == "nothing"


@pytest.mark.parametrize(
    "text",
    [
        "/sys/module/zfs/parameters/zfs_scan_idle:5",
        "/sys/module/zfs/parameters/zfs_scan_idle:5\n/sys/module/zfs/parameters/zfs_scan_idle:50\n",
        "/etc/modprobe.d/zfs.conf:options zfs zfs_scan_idle\n",
        "/sys/module/spl/parameters/spl_hostid:1.5G\n",
    ],
)
def test_it_refuses_what_it_does_not_know(text):
    assert isinstance(parameters.parse(text), Unparsed)


def test_freebsd_names_lead_to_ours():
    """Composed after FreeBSD's tree of settings."""
    read = {s.linux_name: s.value for name in ("freebsd-9", "freebsd-14") for s in sysctl.parse(made_up("sysctl", name))}
    assert (read["zfs_scrub_delay"], read["zfs_top_maxinflight"]) == ("4", "32")
    assert (read["zfs_vdev_scrub_max_active"], read["zfs_multihost_fail_intervals"]) == ("3", "10")
    assert (read["zio_dva_throttle_enabled"], read["zfs_prefetch_disable"], read["zfs_deadman_synctime_ms"]) == ("1", "0", "600000")


def test_linux_is_not_asked_for_sysctls():
    assert sysctl.collect(CapturedHost(step("healthy-raidz2")))[0].outcome == "nothing"


def test_illumos_digits_count_only_with_what_was_asked():
    """Composed: 10 may be ten or sixteen, and mdb prints both alike."""
    assert mdb.parse(made_up("mdb", "asked-and-written")) == (Tunable("zfs_scrub_delay", 0, 4), Tunable("zfs_resilver_min_time_ms", 3000))
    assert mdb.parse("> zfs_scrub_delay/D\nzfs_scrub_delay:\nzfs_scrub_delay:10\n") == (Tunable("zfs_scrub_delay", 10),)
    assert mdb.parse("> zfs_scrub_delay/X\nzfs_scrub_delay:\nzfs_scrub_delay:10\n") == (Tunable("zfs_scrub_delay", 16),)
    assert "decimal or hexadecimal" in mdb.parse("zfs_scrub_delay:\nzfs_scrub_delay:10\n").reason


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("illumos-one-unavailable", ["ONLINE", "ONLINE", "UNAVAIL", "ONLINE"]),
        ("freebsd-labels", ["ONLINE", "ONLINE", "ONLINE", "ONLINE"]),
    ],
)
def test_pools_of_other_systems_are_read(name, states):
    """Composed after the texts of illumos and FreeBSD 9; `was` and a replacement there are tested with the other texts of 0.6."""
    (pool,) = zpool_status.parse(made_up("zpool_status", name))
    assert [leaf.state for top in pool.vdevs.children for leaf in top.children] == states
    assert pool.vdevs.children[0].children[0].name in ("c0t5000C500A65B207Bd0", "gpt/disk0")
