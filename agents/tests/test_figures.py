"""The tables of numbers about pools: genuine texts are read to the last digit, rounded ones are refused."""

from __future__ import annotations

import pytest

from agents.collectors import zdb_config, zdb_uberblocks, zpool_get, zpool_iostat, zpool_iostat_w, zpool_list
from agents.collectors.base import Unparsed
from agents.host.host import Ran
from agents.tests.scenarios import step, texts
from twin.captured_host import CapturedHost

SLOW = "slow-disk/1-writing"
SLOW_DISK = "wwn-0x5000c500a65b204b"
NO_CACHE = "cannot open '/etc/zfs/zpool.cache': No such file or directory\n"


def text(name: str) -> str:
    return step(name).read_text()


def genuine(pattern: str) -> list:
    return [pytest.param(sentence, id=path) for path, sentence in texts(pattern) if sentence.strip()]


@pytest.mark.parametrize("sentence", genuine("zpool-list-v-p-H*.txt"))
def test_it_reads_every_genuine_list(sentence):
    pools = zpool_list.parse(sentence)
    assert sum(1 + len(pool.vdevs) for pool in pools) == sum("\t" in line for line in sentence.splitlines())
    assert all(pool.pool.alloc_bytes + pool.pool.free_bytes == pool.pool.size_bytes for pool in pools)


def test_it_reads_a_list_with_every_class_of_vdev():
    (tank,) = zpool_list.parse(text("healthy-mixed-zfs2.3/zpool-list-v-p-H-g.txt"))
    assert (tank.pool.name, tank.pool.size_bytes, tank.pool.alloc_bytes, tank.pool.capacity_percent) == ("tank", 1509949440, 42565632, 2)
    assert [(v.name, v.alloc_bytes) for v in tank.vdevs if v.section == "special" and v.alloc_bytes] == [("8952571676706470764", 622592)]
    assert [(v.name, v.health) for v in tank.vdevs if v.section == "spare"] == [("4260914954564888940", "AVAIL")]


def test_a_rounded_list_is_refused():
    assert isinstance(zpool_list.parse("tank\t1.41G\t42639360\t1467310080\t-\t-\t0\t2\t1.00\tONLINE\t-\n"), Unparsed)
    assert isinstance(zpool_list.parse("tank\t1\t1\t1\t-\t-\t0%\t2\t1.00\tONLINE\t-\n"), Unparsed)


@pytest.mark.parametrize("sentence", genuine("zpool-get-all.txt"))
def test_it_reads_every_genuine_property(sentence):
    assert len(zpool_get.parse(sentence)) == len(sentence.splitlines()) - 1


def test_it_reads_properties_as_scripts_get_them():
    """Composed by us: the columns of -H are parted by tabs."""
    parsed = zpool_get.parse("ost_0\tguid\t4384816311869892781\t-\nost_0\tfailmode\twait\tdefault\n")
    assert [(p.pool, p.name, p.value, p.source) for p in parsed] == [
        ("ost_0", "guid", "4384816311869892781", "-"),
        ("ost_0", "failmode", "wait", "default"),
    ]
    assert isinstance(zpool_get.parse("ost_0\tguid\t1\t-\nost_0\tguid\t2\t-\n"), Unparsed)


@pytest.mark.parametrize("sentence", genuine("zpool-iostat-vl-H-p.txt"))
def test_it_reads_every_genuine_wait(sentence):
    read = zpool_iostat.parse(sentence)
    assert read.now is None
    assert len(read.since_import) == sum("\t" in line for line in sentence.splitlines())


def test_the_slow_disk_waits_as_long_as_it_was_printed():
    rows = {row.name: row for row in zpool_iostat.parse(text(f"{SLOW}/zpool-iostat-vl-H-p.txt")).since_import}
    assert (rows[SLOW_DISK].disk_write_ns, rows["wwn-0x5000c500a65b205b"].disk_write_ns) == (341887613, 1230256)
    assert (rows[SLOW_DISK].asyncq_read_ns, rows[SLOW_DISK].trim_ns) == (None, None)


def test_the_second_block_is_what_happens_now():
    """Composed by us: a genuine block, and the same rows again as an idle pool prints them."""
    first = text(f"{SLOW}/zpool-iostat-vl-H-p.txt")
    idle = "".join(line.split("\t")[0] + "\t0" * 6 + "\t-" * 10 + "\n" for line in first.splitlines())
    read = zpool_iostat.parse(first + idle)
    assert read.since_import == zpool_iostat.parse(first).since_import
    assert [row.disk_write_ns for row in read.now] == [None] * 8
    assert isinstance(zpool_iostat.parse(first + idle.replace("raidz2-0", "raidz2-1")), Unparsed)


def test_rounded_waits_are_refused():
    assert isinstance(zpool_iostat.parse(text(f"{SLOW}/zpool-iostat-vl-H-p.txt").replace("41686848", "41ms")), Unparsed)


@pytest.mark.parametrize("given", genuine("zpool-iostat-w.txt"))
def test_it_reads_every_genuine_histogram_and_marks_rounded_counts(given):
    (pool,) = zpool_iostat_w.parse(given)
    assert any(None in counts for counts in pool.counts.values()) == ("K " in given or "K\n" in given)


def test_it_counts_the_waits_of_the_slow_disk():
    (pool,) = zpool_iostat_w.parse(text(f"{SLOW}/zpool-iostat-w.txt"))
    assert pool.name == "ost_6"
    assert pool.counts["asyncq_write"][1:4] == (0, 0, 0)
    assert pool.counts["total_write"][-6:] == (4, 3, 1, 2, 11, 0)
    assert pool.above("total_write", 1 << 34) == 2 + 11
    rounded = zpool_iostat_w.parse(text(f"{SLOW}/zpool-iostat-w.txt").replace("   1001", "   1.0K"))[0]
    assert (rounded.above("asyncq_write", 1), rounded.above("asyncq_write", 1 << 34)) == (None, 1)


def test_it_reads_a_histogram_as_scripts_get_it():
    """Composed by us after OpenZFS's own print_iostat_histos: the name alone, then buckets in nanoseconds."""
    rows = "".join(f"{(1 << (i + 1)) - 1}" + "\t0" * 9 + f"\t{i}\n" for i in range(37))
    read = zpool_iostat_w.parse(f"\nost_6\n{rows}\n4791751746559024465\n{rows}")
    assert [histogram.name for histogram in read] == ["ost_6", "4791751746559024465"]
    assert read[1].counts["trim"][36] == 36
    assert isinstance(zpool_iostat_w.parse(f"\nost_6\n{rows[:-200]}\n"), Unparsed)


@pytest.mark.parametrize("sentence", genuine("zdb-lu-sda1.txt"))
def test_it_reads_every_genuine_uberblock(sentence):
    read = zdb_uberblocks.parse(sentence)
    assert len(read) == sentence.count("Uberblock[")
    assert [u.txg for u in read] == sorted((u.txg for u in read), reverse=True)


def test_it_knows_when_each_txg_was_written():
    newest, *_ = zdb_uberblocks.parse(text("import-blocked-diverged-disk/1-not-imported/zdb-lu-sda1.txt"))
    assert (newest.labels, newest.guid_sum, newest.multihost) == ((0, 1, 2, 3), 14785840022256379122, False)
    other = zdb_uberblocks.parse(text("active-on-other-host/zdb-lu-sda1.txt"))
    assert (other[0].txg, other[0].timestamp, other[0].multihost) == (25, 1795252370, True)
    assert (newest.mmp_interval_ms, newest.mmp_fail_intervals, newest.mmp_delay_ns) == (None, None, 0)
    assert (other[0].mmp_interval_ms, other[0].mmp_fail_intervals) == (1000, 10)
    assert other[0].mmp_delay_ns > 0


def test_a_blank_disk_has_no_uberblocks():
    assert zdb_uberblocks.parse("".join(f"failed to unpack label {n}\n" for n in range(4))) == ()


def test_a_torn_uberblock_is_refused():
    sentence = text("import-blocked-diverged-disk/1-not-imported/zdb-lu-sda1.txt")
    assert isinstance(zdb_uberblocks.parse(sentence[:-40]), Unparsed)
    assert isinstance(zdb_uberblocks.parse(sentence.replace("\ttxg = 4\n", "\ttxg = 4K\n")), Unparsed)


def test_disks_of_an_imported_pool_are_not_asked_for_uberblocks():
    assert zdb_uberblocks.keys(CapturedHost(step("healthy-raidz2"))) == ("sdg", "sdh")
    assert "sdd1" in zdb_uberblocks.keys(CapturedHost(step("import-blocked-diverged-disk/1-not-imported")))


def test_nobody_is_asked_for_uberblocks_while_zpool_does_not_answer():
    class Hung(CapturedHost):
        def run(self, argv, timeout_seconds):
            return Ran(tuple(argv), None, b"", b"", timeout_seconds, "timeout")

    assert zdb_uberblocks.keys(Hung(step("healthy-raidz2"))) == ()


@pytest.mark.parametrize("given", [case for case in genuine("zdb-C.txt") if case.values[0] != NO_CACHE])
def test_it_reads_every_genuine_cache_file(given):
    for pool in zdb_config.parse(given):
        assert pool.root.guid == pool.guid
        assert pool.hostname in ("oss01", "oss02")


def test_a_changed_cache_file_is_read_at_once_and_no_other():
    class Files(CapturedHost):
        output = b"one"

        def read(self, path):
            return self.output if path == zdb_config.CACHE_FILE else super().read(path)

    host = Files(step("healthy-raidz2"))
    first = zdb_config.stamp(host, "")
    assert first == zdb_config.stamp(host, "") != ""
    host.output = b"two"
    assert zdb_config.stamp(host, "") not in ("", first)
    assert zdb_config.stamp(CapturedHost(step("healthy-raidz2")), "") == ""


def test_no_cache_file_is_nothing_here():
    (capture,) = zdb_config.collect(CapturedHost(step("import-rewind/1-not-imported")))
    assert (capture.outcome, capture.text) == ("nothing", NO_CACHE)


def test_a_vdev_has_a_dash_for_its_altroot_since_2_4_1():
    """As OpenZFS 2.4.4 printed it on a node of Debian trixie."""
    sentence = "tank\t2952790016\t76787712\t2876002304\t-\t-\t0\t2\t1.00\tONLINE\t-\n\t7003424487238522900\t2952790016\t76787712\t2876002304\t-\t-\t0\t2\t-\tONLINE\t-\n"
    sentence += "\t4211186085573846710\t526385152\t-\t-\t-\t-\t-\t-\t-\tONLINE\t-\n"
    (tank,) = zpool_list.parse(sentence)
    assert [(v.name, v.size_bytes, v.alloc_bytes, v.health) for v in tank.vdevs] == [
        ("7003424487238522900", 2952790016, 76787712, "ONLINE"),
        ("4211186085573846710", 526385152, None, "ONLINE"),
    ]
    assert isinstance(zpool_list.parse(sentence.replace("ONLINE\t-\n\t421", "ONLINE\t/mnt\n\t421")), Unparsed)
