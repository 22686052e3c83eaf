"""From which txg an import took a pool, out of genuine logs."""

from agents.collectors.base import Capture
from workflows.facts import known, node_facts
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
    said = "spa_misc.c:418:spa_load_note(): spa_load(ost_8, config untrusted): using uberblock with txg="
    text = "".join(f"{1795251890 + n}   {said}{txg}\n" for n, txg in enumerate((17, 16, 15)))
    assert node_facts("oss01", {"dbgmsg": Capture("dbgmsg", "", "data", text)}, 1.0, ()).loads == {"ost_8": 15}
