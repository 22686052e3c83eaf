"""The twin's tables of numbers are those of a real node, as far as a real node's were recorded; its slow disk is found."""

from __future__ import annotations

from agents.collectors import COLLECTORS, zdb_config, zdb_uberblocks, zpool_get, zpool_iostat, zpool_iostat_w, zpool_list
from agents.tests.scenarios import step
from twin.captured_host import CapturedHost
from twin.scenarios import Clock, add_foreign_pool, host, leaf_on, pull, tiny

GUIDS = (
    *(7963212167240562355, 6374229540582830473, 12993330246094236820, 4216475920986532336),
    *(1253831624864779918, 5672756521698925005, 10887047447458554788, 13600490467287643773),
)


def healthy(alloc_bytes: int = 95944704):
    node = tiny(guids=GUIDS)
    node.pools[0].alloc_bytes = alloc_bytes
    return node


def printed(module, node, folder):
    (capture,) = module.collect(host(folder, node, Clock()))
    assert capture.outcome == "data", capture.reason
    return capture.text


def test_it_lists_vdevs_as_zpool_does(tmp_path):
    assert printed(zpool_list, healthy(), tmp_path) == (step("healthy-raidz2") / "zpool-list-v-p-H-g.txt").read_text()


def test_its_properties_are_those_of_a_pool_nobody_touched(tmp_path):
    twin = {p.name: (p.value, p.source) for p in zpool_get.parse(printed(zpool_get, healthy(), tmp_path))}
    (capture,) = zpool_get.collect(CapturedHost(step("healthy-raidz2")))
    genuine = {p.name: (p.value, p.source) for p in zpool_get.parse(capture.text)}
    assert twin == {name: genuine[name] for name in zpool_get.PROPERTIES}


def test_its_waits_have_the_shape_of_genuine_ones(tmp_path):
    twin = zpool_iostat.parse(printed(zpool_iostat, healthy(), tmp_path))
    genuine = zpool_iostat.parse((step("healthy-raidz2") / "zpool-iostat-vl-H-p.txt").read_text())
    assert len(twin.now) == len(twin.since_import) == len(genuine.since_import)
    assert [r.name for r in twin.now] == ["ost_0", *map(str, GUIDS[1:])]
    for mine, theirs in zip(twin.since_import, genuine.since_import, strict=False):
        assert [mine.alloc_bytes, mine.free_bytes] == [theirs.alloc_bytes, theirs.free_bytes]


def test_a_disk_that_was_pulled_has_no_io(tmp_path):
    node = healthy()
    leaf = pull(node, node.disks[2].wwid)
    rows = {row.name: row for row in zpool_iostat.parse(printed(zpool_iostat, node, tmp_path)).now}
    assert (rows[str(leaf.guid)].write_ops, rows[str(leaf.guid)].disk_write_ns) == (0, None)


def test_a_slow_disk_waits_longer_in_both_tables(tmp_path):
    node = healthy()
    leaf = leaf_on(node, node.disks[4].wwid)
    leaf.wait_ms = 340.0
    rows = {row.name: row for row in zpool_iostat.parse(printed(zpool_iostat, node, tmp_path)).now}
    assert rows[str(leaf.guid)].disk_write_ns == 340_000_000 > 5 * rows[str(GUIDS[2])].disk_write_ns
    waits = {h.name: h.above("disk_write", 1 << 27) for h in zpool_iostat_w.parse(printed(zpool_iostat_w, node, tmp_path))}
    assert waits[str(leaf.guid)] == waits["ost_0"] > 0 == waits[str(GUIDS[2])]


def test_its_cache_file_says_what_its_labels_say(tmp_path):
    (pool,) = zdb_config.parse(printed(zdb_config, healthy(), tmp_path))
    (genuine,) = zdb_config.parse((step("healthy-raidz2") / "zdb-C.txt").read_text())
    assert (pool.name, pool.guid, pool.hostid) == (genuine.name, genuine.guid, genuine.hostid)
    assert [v.guid for v in pool.root.children[0].children] == [v.guid for v in genuine.root.children[0].children]


def test_only_disks_of_no_imported_pool_are_asked_for_uberblocks(tmp_path):
    node = healthy()
    add_foreign_pool(node, node.disks[6], "scratch9", "oss77", 7)
    captures = {c.key: zdb_uberblocks.parse(c.text) for c in zdb_uberblocks.collect(host(tmp_path, node, Clock()))}
    assert set(captures) == {"sdg1", "sdh"}
    assert [u.txg for u in captures["sdg1"]][:2] == [4711, 4710]
    assert captures["sdh"] == ()


def test_a_node_without_pools_says_so_in_each_of_them(tmp_path):
    node = healthy()
    node.pools.clear()
    for disk in node.disks:
        disk.partitions.clear()
    twin = host(tmp_path, node, Clock())
    for name in ("zpool_list", "zpool_get", "zpool_iostat", "zpool_iostat_w", "zdb_config"):
        (capture,) = COLLECTORS[name].collect(twin)
        assert capture.outcome == ("nothing" if name == "zdb_config" else "data"), capture.reason
