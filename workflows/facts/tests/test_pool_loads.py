"""From which txg an import took a pool, out of genuine logs."""

from agents.collectors.base import Capture
from workflows.facts import known, node_facts, suspects
from workflows.facts.tests.played import played


def test_without_the_disk_that_went_its_own_way_the_pool_came_in_where_the_others_end():
    """The look for importable pools before followed that disk, two hundred txgs ahead."""
    assert played("import-blocked-diverged-disk/1-not-imported").loads == {"$import": 222}
    assert played("import-blocked-diverged-disk/3-after-delete").loads["ost_2"] == 22


def test_a_pool_that_the_log_does_not_name_is_not_there():
    assert "ost_2" not in played("import-rewind/1-not-imported").loads


def test_a_log_that_cannot_be_read_says_nothing():
    assert not known(node_facts("oss01", {"dbgmsg": Capture("dbgmsg", "", "data", "?\n")}, 1.0, ()).loads)
    assert not known(node_facts("oss01", {}, 1.0, ()).loads)


def test_the_last_word_counts():
    sentence = "spa_misc.c:418:spa_load_note(): spa_load(ost_8, config untrusted): using uberblock with txg="
    text = "".join(f"{1795251890 + n}   {sentence}{txg}\n" for n, txg in enumerate((17, 16, 15)))
    assert node_facts("oss01", {"dbgmsg": Capture("dbgmsg", "", "data", text)}, 1.0, ()).loads == {"ost_8": 15}


def test_the_log_names_the_disk_whose_uberblock_led_a_load_astray():
    """Genuine: the look for importable pools followed the diverged disk and failed."""
    node = played("import-blocked-diverged-disk/1-not-imported")
    assert {load.path for load in node.failed_loads} == {"/dev/disk/by-id/wwn-0x5000c500a65b203b-part1"}
    assert node.failed_loads[-1].txg == 222


def test_a_load_that_failed_on_what_the_others_hold_too_accuses_nobody():
    for case in ("import-rewind/1-not-imported", "import-blocked-labels/1-labels-0-1-garbage"):
        node = played(case)
        guids = {label.pool_guid for disk in node.disks if known(disk.labels) for label in disk.labels}
        assert not [s for guid in guids for s in suspects(node, guid) if "log" in s.kinds], case


def test_a_load_that_succeeded_is_none_that_failed():
    where = "vdev.c:160:vdev_dbgmsg(): disk vdev '/dev/disk/by-id/wwn-0x5000c500a65b200b-part1': best uberblock found for spa a.b. txg 6"
    text = f"1795251890   {where}\n1795251891   spa_misc.c:418:spa_load_note(): spa_load(a.b, config trusted): LOADED\n"
    assert node_facts("oss01", {"dbgmsg": Capture("dbgmsg", "", "data", text)}, 1.0, ()).failed_loads == ()
    failed = "1795251892   spa_misc.c:403:spa_load_failed(): spa_load(a.b, config untrusted): FAILED: no way [error=5]\n"
    (load,) = node_facts("oss01", {"dbgmsg": Capture("dbgmsg", "", "data", text + failed)}, 1.0, ()).failed_loads
    assert (load.txg, load.why) == (6, "no way [error=5]")
