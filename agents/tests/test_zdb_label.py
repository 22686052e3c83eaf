from fnmatch import fnmatch

import pytest

from agents.collectors import zdb_label, zdb_uberblocks
from agents.collectors.base import Unparsed
from agents.collectors.zdb_label import Labels, parse
from agents.tests import rig, scenes
from agents.tests.scenarios import STEPS, step, texts
from twin.captured_host import CapturedHost

GENUINE = [
    (name, text)
    for pattern in ("zdb-l-*.txt", "zdb-lll-*.txt", "zdb-lu-*.txt", "zdb-lq-*.txt")
    for name, text in texts(pattern)
    if text.strip()
]


def labels(name: str) -> Labels:
    read = parse((step(name)).read_text())
    assert not isinstance(read, Unparsed), read
    return read


@pytest.mark.parametrize(("name", "text"), GENUINE, ids=[name for name, _ in GENUINE])
def test_it_reads_a_genuine_capture(name, text):
    read = parse(text)
    assert not isinstance(read, Unparsed), read
    copies = [n for label in read.labels for n in label.copies] + [*read.failed, *read.unread]
    assert sorted(copies) == [0, 1, 2, 3]


def test_it_reads_which_vdev_a_disk_claims_to_be():
    (label,) = labels("wwid-drift/4-import-d-dev/zdb-l-sdc1.txt").labels
    assert (label.name, label.state, label.pool_guid, label.guid) == ("ost_1", 0, 221738468679772958, 1070966206175249368)
    assert (label.top_guid, label.hostid, label.hostname, label.vdev_children) == (11005530297424967208, 1529846785, "oss01", 1)
    assert label.copies == (0, 1, 2, 3)
    tree = label.tree
    assert (tree.type, tree.nparity, tree.ashift, len(tree.children)) == ("raidz", 2, 12, 6)
    absent = tree.children[2]
    assert (absent.guid, absent.path, absent.devid, absent.not_present) == (
        16127029951090533777,
        "/dev/sdc1",
        "scsi-35000c500a65b202b-part1",
        True,
    )
    assert tree.children[4].guid == label.guid


def test_a_blank_disk_has_no_label():
    assert labels("wwid-drift/4-import-d-dev/zdb-l-sde.txt") == Labels((), (0, 1, 2, 3))


def test_a_label_that_cannot_be_read_is_not_a_blank_disk():
    assert labels("disk-removed/1-pulled-not-noticed/zdb-l-sdc1.txt") == Labels((), (), (0, 1, 2, 3))


def test_labels_from_the_memory_of_a_node_that_could_not_ask_the_disk_are_not_known():
    text = next(one.stdout for one in scenes.kept("2.0.3", "gone").outputs if one.step.startswith("$ zdb -l"))
    read = parse(text)
    assert isinstance(read, Unparsed)
    assert read.reason.startswith("the disk was not asked")
    assert read.line.startswith("failed to invalidate cache")
    assert isinstance(parse(text.partition("\n")[2]), Labels)


def test_it_says_which_copies_are_garbage():
    read = labels("import-blocked-labels/1-labels-0-1-garbage/zdb-l-sdb1.txt")
    assert (read.labels[0].copies, read.failed) == ((2, 3), (0, 1))


def test_a_spare_and_a_cache_name_no_pool():
    (spare,) = labels("healthy-mixed/zdb-l-sdh1.txt").labels
    (cache,) = labels("healthy-mixed-cache-draid/1-cache/zdb-l-sde1.txt").labels
    assert (spare.state, spare.pool_guid, spare.txg, spare.tree) == (3, None, None, None)
    assert (cache.state, cache.pool_guid, cache.txg, cache.tree) == (4, None, None, None)


def test_equal_copies_printed_in_full_are_one_label():
    """0.6.5 prints four blocks and no `labels =` line."""
    text = (step("healthy-raidz2") / "zdb-l-sda1.txt").read_text()
    block = text.replace("    labels = 0 1 2 3 \n", "")
    old = "".join(block.replace("LABEL 0", f"LABEL {n}") for n in range(4))
    assert parse(old) == parse(text)
    newer = old.replace("    txg: ", "    txg: 1", 1)
    assert [label.copies for label in parse(newer).labels] == [(0,), (1, 2, 3)]


def test_it_passes_on_a_bad_checksum():
    text = (step("healthy-raidz2") / "zdb-l-sda1.txt").read_text()
    (label,) = parse(text.replace("LABEL 0", "LABEL 0 (Bad label cksum)")).labels
    assert label.bad_checksum


GOOD = (step("healthy-raidz2") / "zdb-l-sda1.txt").read_text()


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("    labels = 0 1 2 3 ", "    labels = 0 1 2 "),
        ("    labels = 0 1 2 3 ", "    labels = 0 1 2 3 \nfailed to unpack label 3"),
        ("    guid: ", "    gu1d: "),
        ("    state: 0", "    state: '0'"),
        ("    state: 0", "    state: 0.5"),
        ("        type: 'raidz'", "        type: raidz"),
        ("        children[1]:", "        children[6]:"),
        ("            whole_disk: 1", "           whole_disk: 1"),
        ("    pool_guid: ", "    txg: 5\n    pool_guid: "),
        ("LABEL 0", "LABEL 7"),
        ("    vdev_tree:\n", "    vdev_tree:\n        type: 'raidz'\n    vdev_tree:\n"),
        ("    vdev_tree:\n", "    vdev_tree: 5\n    vdev_tree:\n"),
        ("    vdev_tree:\n", "    vdev_tree:\n    vdev_tree:\n"),
        ("        type: 'raidz'", "              type: 'raidz'"),
    ],
)
def test_it_refuses_what_it_would_have_to_guess(good, bad):
    assert good in GOOD
    assert isinstance(parse(GOOD.replace(good, bad, 1)), Unparsed)


def test_the_tree_that_all_disks_of_a_vdev_write_is_read_once_and_the_same_as_alone():
    zdb_label._vdevs.cache_clear()
    first, second = (parse((step("healthy-raidz2") / f"zdb-l-{name}.txt").read_text()) for name in ("sda1", "sdb1"))
    assert first.labels[0].guid != second.labels[0].guid
    assert first.labels[0].tree is second.labels[0].tree
    lines = [line for line in GOOD.split("\n") if line.startswith("    ") and not line.startswith("    labels")]
    assert zdb_label.label_of(zdb_label.nvlist(lines), (0, 1, 2, 3), False) == first.labels[0]


def test_nothing_printed_is_not_a_blank_disk():
    assert isinstance(parse(""), Unparsed)


def test_it_asks_partition_1_and_a_bare_disk_as_a_whole():
    captures = zdb_label.collect(CapturedHost(step("wwid-drift/4-import-d-dev")))
    assert [capture.key for capture in captures] == ["sda1", "sdb1", "sdc1", "sdd1", "sde", "sdf1"]
    assert {capture.outcome for capture in captures} == {"data"}
    assert captures[4].exit_code == 2


def test_a_disk_that_hangs_fails_alone():
    captures = zdb_label.collect(CapturedHost(step("slow-disk/1-writing")))
    assert [capture.key for capture in captures if capture.outcome == "failed"] == ["sde1"]
    assert [capture.key for capture in captures if capture.outcome == "data"] == ["sda1", "sdb1", "sdc1", "sdd1", "sdf1"]


class Disk:
    """A partition's bytes, and nothing else of a host."""

    def __init__(self, size_bytes: int) -> None:
        self.held = bytearray(size_bytes)

    def read(self, path: str) -> bytes:
        assert path == "/sys/class/block/sda1/size"
        return f"{len(self.held) // 512}\n".encode()

    def read_device(self, path: str, regions) -> bytes:
        assert path == "/dev/sda1"
        return b"".join(bytes(self.held[offset : offset + length]) for offset, length in regions)


KIB = 1024


@pytest.mark.parametrize("extra", [0, 512, 255 * KIB])
def test_a_stamp_changes_with_each_copy_and_with_nothing_else(extra):
    """Copies stand at 0 and 256 KiB, and 512 and 256 KiB before the end, rounded down to whole labels."""
    disk = Disk(8 * 256 * KIB + extra)
    before = zdb_label.stamp(disk, "sda1")
    for copy in (0, 1, 6, 7):
        for offset, seen in ((0, False), (15 * KIB, False), (16 * KIB, True), (127 * KIB, True), (128 * KIB, False), (255 * KIB, False)):
            disk.held[copy * 256 * KIB + offset] = 1
            assert (zdb_label.stamp(disk, "sda1") != before) == seen, (copy, offset)
            disk.held[copy * 256 * KIB + offset] = 0
    disk.held[3 * 256 * KIB] = 1
    assert zdb_label.stamp(disk, "sda1") == before
    disk.held += bytes(256 * KIB)
    assert zdb_label.stamp(disk, "sda1") != before


def test_the_stamp_of_uberblocks_changes_with_a_label_and_with_its_ring():
    disk = Disk(8 * 256 * KIB)
    before = zdb_uberblocks.stamp(disk, "sda1")
    for copy in (0, 1, 6, 7):
        for offset, seen in ((15 * KIB, False), (16 * KIB, True), (127 * KIB, True), (128 * KIB, True), (255 * KIB, True)):
            disk.held[copy * 256 * KIB + offset] = 1
            assert (zdb_uberblocks.stamp(disk, "sda1") != before) == seen, (copy, offset)
            disk.held[copy * 256 * KIB + offset] = 0
    assert zdb_uberblocks.stamp(Disk(1024 * KIB - 512), "sda1") == ""


def test_without_bytes_to_read_there_is_no_stamp(tmp_path):
    """Then zdb is asked every time, and says why."""
    assert zdb_label.stamp(rig.twin(tmp_path), "sda1") == ""
    assert zdb_label.stamp(CapturedHost(step(STEPS[0])), "sda1") == ""
    assert zdb_label.stamp(Disk(1024 * KIB - 512), "sda1") == ""
    assert zdb_label.stamp(Disk(1024 * KIB), "sda1") != ""


class Sysfs:
    """Files and folders of /sys, and nothing else of a host."""

    def __init__(self, **files: str) -> None:
        self.files = files

    def read(self, path: str) -> bytes:
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path].encode()

    def list(self, pattern: str) -> tuple[str, ...]:
        return tuple(sorted(path for path in self.files if fnmatch(path, pattern) and path.count("/") == pattern.count("/")))


def test_it_asks_a_luks_container_too_and_knows_which_disk_that_reads():
    block = {"sda": ("", "dm-1"), "sda/sda1": ("2048", "dm-0"), "sdb": ("", "dm-2")}
    files = {f"/sys/block/{name}": "" for name in ("sda", "sdb")} | {f"/sys/block/sda/{name}": "" for name in ("sda1",)}
    for folder, (size, holder) in block.items():
        files |= {f"/sys/block/{folder}/size": size, f"/sys/block/{folder}/holders/{holder}": ""}
        files[f"/sys/block/{holder}/slaves/{folder.rpartition('/')[2]}"] = ""
    kinds = {"dm-0": "CRYPT-LUKS2-f406-one", "dm-1": "LVM-x", "dm-2": "CRYPT-PLAIN-two"}
    host = Sysfs(**files, **{f"/sys/block/{name}/dm/uuid": f"{uuid}\n" for name, uuid in kinds.items()})
    assert zdb_label.keys(host) == ("sda1", "dm-0", "sdb", "dm-2")
    assert [zdb_label.disk_of(host, key) for key in ("sda1", "dm-0", "sdb", "dm-2", "dm-7")] == ["sda", "sda", "sdb", "sdb", "dm-7"]
