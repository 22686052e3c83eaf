"""What multipath, the kernel and ZFS count for each disk, from genuine and composed texts."""

from agents.collectors.base import Capture
from agents.tests.scenarios import step
from workflows.facts import OnPath, known, node_facts


def service(**texts: str):
    values = {source: Capture(source, "", "data", text) for source, text in texts.items()}
    return node_facts("oss01", values, 1.0, ()).service


def test_a_failed_path_is_known_by_its_kernel_name():
    text = "/sys/block:dm-3\n/sys/block/dm-3/dm/uuid:mpath-35000c500a65b207b\n/sys/block/dm-3/dm/name:mpatha\n"
    text += "/sys/block/dm-3/slaves:sdb sdcx sdz\nmultipathd:sdb|35000c500a65b207b|active|ready\nmultipathd:sdcx|35000c500a65b207b|failed|faulty\n"
    paths = service(multipath=text).paths
    assert paths == {
        "sdb": OnPath("mpatha", "active", "ready"),
        "sdcx": OnPath("mpatha", "failed", "faulty"),
        "sdz": OnPath("mpatha", None, None),
    }
    assert [name for name, path in paths.items() if path.failed] == ["sdcx"]


def test_waits_of_genuine_histograms_are_found_by_guid():
    """The slow disk of a pool that was imported a minute ago: most of what it did took long."""
    text = (step("slow-disk/1-writing") / "zpool-iostat-w.txt").read_text()
    reported = service(zpool_iostat_w=text)
    assert known(reported.waits)
    counts = [found.above("disk_write", 0) for found in reported.waits.values()]
    assert any(counts)
    named = service(zpool_iostat_w=text.replace("ost_6", "17"))
    assert named.long(17, "disk_write") == (
        reported.waits["ost_6"].above("disk_write", 10**9),
        reported.waits["ost_6"].above("disk_write", 0),
    )


def test_what_was_not_asked_is_not_known():
    reported = service()
    assert not known(reported.paths)
    assert not known(reported.commands)
    assert reported.long(1, "disk_read") is None
