"""The twin's `zpool import` with options against genuine texts, and what each leaves behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import agents.tests
from agents.collectors import zpool_import
from twin import scenarios
from twin.scenarios import Clock, host

CAPTURES = Path(agents.tests.__file__).parent / "captures"
DATE = re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} [0-9]{4}")
READ_ONLY = ("-N", "-o", "readonly=on", "-o", "cachefile=none")


def genuine(name, kind="txt"):
    path = CAPTURES / "zpool_import_options" / f"openzfs-2.1.11--{name}.{kind}"
    return path.read_text() if path.exists() else ""


def as_named(text, pool):
    """Only the pool's name and the moment are the scenario's own."""
    return DATE.sub("DATE", text.replace(pool, "POOL"))


def of_another_host(exported=False):
    node = scenarios.not_imported()
    node.pool("ost_0").hostid, node.pool("ost_0").hostname, node.pool("ost_0").state = 0x5B2F9C01, "oss01", int(exported)
    node.hostid, node.hostname = "5b2f9c02", "oss02"
    return node


def diverged_after_an_export():
    node = scenarios.diverged_disk()
    node.pool("ost_0").state = 1
    return node


def active():
    node = scenarios.not_imported()
    node.pool("ost_0").active_on = "oss09 abcdef"
    return node


@pytest.mark.parametrize(
    ("build", "args", "exit_code", "name", "pool"),
    [
        (scenarios.lost_last_txgs, ("-F", "-n"), 1, "dry-run-offers-a-rewind", "ost_8"),
        (scenarios.lost_last_txgs, READ_ONLY, 1, "readonly-of-lost-txgs", "ost_8"),
        (diverged_after_an_export, READ_ONLY, 1, "readonly-of-diverged-disk", "ost_2"),
        (diverged_after_an_export, ("-F", *READ_ONLY), 1, "F-readonly-of-diverged-disk", "ost_2"),
        (diverged_after_an_export, ("-F", "-n", *READ_ONLY), 1, "dry-run-of-diverged-disk", "ost_2"),
        (active, ("-F", "-n"), 1, "active-on-other-host", "ost_on"),
        (active, ("-f", *READ_ONLY), 1, "forced-active-on-other-host", "ost_on"),
        (of_another_host, READ_ONLY, 1, "last-used-elsewhere", "ost_off"),
    ],
)
def test_it_refuses_in_the_genuine_words(build, args, exit_code, name, pool, tmp_path):
    twin = host(tmp_path, build(), Clock())
    ran = twin.run(("zpool", "import", *args, "ost_0"), 10)
    assert ran.exit_code == exit_code
    assert as_named(ran.stdout.decode(), "ost_0") == as_named(genuine(name), pool)
    assert as_named(ran.stderr.decode(), "ost_0") == as_named(genuine(name, "stderr.txt"), pool)
    assert twin.view().node.imported == []


def shape(text, pool):
    """A listing without what is the lab's own: guids, and how many disks there are. What a line begins with stays as it is."""
    lines = [re.sub(r"(?<=\S) +", " ", line) for line in text.splitlines() if "wwn-" not in line and line.strip()]
    return [re.sub(r"\d{15,20}", "GUID", re.sub(r"raidz\d|mirror", "KIND", line.replace(pool, "POOL"))) for line in lines]


@pytest.mark.parametrize(
    ("build", "release", "name", "pool"),
    [
        (scenarios.lost_last_txgs, "2.1.11", "lost-txgs", "ost_8"),
        (scenarios.lost_last_txgs, "2.3.2", "lost-txgs", "ost_10"),
        (diverged_after_an_export, "2.1.11", "diverged-disk", "ost_2"),
        (scenarios.diverged_disk, "2.1.11", "diverged-disk-of-another-host", "ost_5"),
        (scenarios.diverged_disk, "2.3.2", "diverged-disk-of-another-host", "ost_5"),
        (active, "2.1.11", "active-on-other-host", "ost_on"),
        (active, "2.3.2", "active-on-other-host", "ost_8"),
    ],
)
def test_it_lists_in_the_genuine_words(build, release, name, pool, tmp_path):
    node, text = build(), (CAPTURES / "zpool_import" / f"zpool-import-{release}--{name}.txt").read_text()
    node.zfs_userland = node.zfs_module = f"{release}-1"
    if node.pool("ost_0").active_on:
        node.pool("ost_0").active_on = " ".join(re.search(r"exported from (\S+) \(hostid=(\w+)\)", text).groups())
    ran = host(tmp_path, node, Clock()).run(("zpool", "import"), 10)
    assert shape(ran.stdout.decode(), "ost_0") == shape(text, pool)
    assert zpool_import.parse(ran.stdout.decode())[0].state == zpool_import.parse(text)[0].state


def test_a_disk_that_another_host_wrote_to_has_the_import_refused_as_that_hosts(tmp_path):
    ran = host(tmp_path, scenarios.diverged_disk(), Clock()).run(("zpool", "import", *READ_ONLY, "ost_0"), 10)
    assert ran.stderr.decode().splitlines()[:2] == [
        "cannot import 'ost_0': pool was previously in use from another system.",
        f"Last accessed by oss07 (hostid=5b2f9c07) at {DATE.search(ran.stderr.decode())[0]}",
    ]


def test_it_knows_no_pool_that_is_not_here_and_none_twice(tmp_path):
    twin = host(tmp_path, scenarios.not_imported(), Clock())
    ran = twin.run(("zpool", "import", "-F", "-n", "nosuch"), 10)
    assert ran.stderr.decode() == genuine("no-such-pool", "stderr.txt")
    assert twin.run(("zpool", "import", *READ_ONLY, "ost_0"), 10).exit_code == 0
    again = twin.run(("zpool", "import", "ost_0"), 10)
    assert as_named(again.stderr.decode(), "ost_0") == as_named(genuine("imported-already", "stderr.txt"), "ost_8")


def test_a_dry_run_of_a_pool_that_needs_no_rewind_imports_it(tmp_path):
    """The genuine one, too: exit 0, not a word, and the pool is there."""
    twin = host(tmp_path, scenarios.not_imported(), Clock())
    ran = twin.run(("zpool", "import", "-F", "-n", "ost_0"), 10)
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, b"", b"")
    assert [(p.name, p.readonly) for p in twin.view().node.imported] == [("ost_0", False)]


def test_reading_only_changes_no_label(tmp_path):
    twin = host(tmp_path, of_another_host(), Clock())
    label = twin.run(("zdb", "-l", "/dev/sda1"), 10).stdout
    assert twin.run(("zpool", "import", "-f", *READ_ONLY, "ost_0"), 10).exit_code == 0
    assert twin.run(("zpool", "export", "ost_0"), 10).exit_code == 0
    assert twin.run(("zdb", "-l", "/dev/sda1"), 10).stdout == label
    assert twin.run(("zpool", "import", "-f", "ost_0"), 10).exit_code == 0
    assert twin.run(("zdb", "-l", "/dev/sda1"), 10).stdout != label


def test_without_the_disk_that_blocks_it_the_pool_comes_in_degraded(tmp_path):
    node = scenarios.diverged_disk()
    wwid = node.pool("ost_0").blocked_by[0]
    twin = host(tmp_path, node, Clock())
    name = node.disk(wwid).paths[0].name
    twin.write(f"/sys/block/{name}/device/delete", b"1")
    assert twin.run(("zpool", "import", *READ_ONLY, "ost_0"), 10).exit_code == 0
    text = twin.run(("zpool", "status"), 10).stdout.decode()
    assert "DEGRADED" in text
    assert f"UNAVAIL      0     0     0  was /dev/disk/by-id/wwn-0x{wwid[4:]}-part1" in text
    assert "ZFS-8000-4J" in text
    twin.write("/sys/class/scsi_host/host2/scan", b"- - -")
    assert any(disk.wwid == wwid for disk in twin.view().node.disks)
