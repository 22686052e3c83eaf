"""`zdb -d`, `zdb -h` and `zdb -b`: what lists says nothing of health, and what could not be read or leaked is never good."""

from __future__ import annotations

import pytest

from workflows.triage import triage

DATASETS = (
    "Dataset mos [META], ID 0, cr_txg 4, 310K, 52 objects\n"
    "Dataset linden/home [ZPL], ID 71, cr_txg 9, 1.20G, 812 objects\n"
    "Verified large_blocks feature refcount of 0 is correct\n"
)
OBJECT = (
    "Dataset linden [ZPL], ID 54, cr_txg 1, 96K, 7 objects\n\n"
    "    Object  lvl   iblk   dblk  dsize  dnsize  lsize   %full  type\n"
    "         2    1   128K    512      0     512    512    0.00  ZFS plain file\n"
)
HISTORY = (
    "unrecognized record:\n  ioctl: 'destroy_snaps'\n  in_nvl:\n      snaps:\n          linden/home@old\n"
    "  history zone: 'linux'\n  history who: 0\n  history time: 1772900000\n  history hostname: 'yew'\n"
)
WALK = (
    "Traversing all blocks to verify checksums and verify nothing leaked ...\n\n"
    "{0}\n\tbp count:                    54\n\tganged count:                 0\n\tbp logical:             1234944      avg:  22869\n"
)
CLEAN = "\tNo leaks (block sum matches space maps exactly)\n"
LEAK = "leaked space: vdev 0, offset 0x2a000, size 4096\nblock traversal size 24576 != alloc 28672 (leaked 4096)\n"
UNREADABLE = "zdb_blkptr_cb: Got error 52 reading <259, 3, 0, 12>  -- skipping\n"


def read(text: str):
    return triage([("p", text)])


@pytest.mark.parametrize(
    "text",
    [
        DATASETS,
        OBJECT,
        HISTORY,
        WALK.format(CLEAN),
        f"# zdb -d linden\n{DATASETS}",
        f"# zdb -hh linden\n{HISTORY}",
        f"# zdb -bb linden\n{WALK.format(CLEAN)}",
    ],
)
def test_what_lists_is_read_and_says_of_no_pool_that_it_is_well(text: str):
    answer = read(text)
    assert [(one.outcome, one.source) for one in answer.reads] == [("read", "zdb_objects")]
    assert not answer.situations
    assert not answer.good


@pytest.mark.parametrize("odd", [LEAK, UNREADABLE])
def test_what_leaks_or_could_not_be_read_is_told_of_and_replaces_no_disk(odd: str):
    answer = read(f"# zdb -bc linden\n{WALK.format(odd)}")
    assert [(one.slug, one.severity, one.sure) for one in answer.situations] == [("unexplained", "watch", False)]
    assert not any(
        word in " ".join(command)
        for one in answer.situations
        for cure in one.cures
        for command in cure.argv
        for word in ("replace", "clear")
    )


def test_other_words_of_trouble_in_it_are_a_doubt():
    assert any("zdb says of trouble" in doubt for doubt in read(f"{DATASETS}zdb: I/O error on vdev 3\n").not_good_because)


def test_a_line_of_somebodys_own_below_the_command_is_no_output_of_it():
    answer = read(f"I gave\n\nzdb -hh linden\n\nand it shows:\n\n{HISTORY}")
    assert [(one.outcome, one.source) for one in answer.reads if one.outcome == "not read"] == []
    assert "zdb_objects" in {one.source for one in answer.reads if one.outcome == "read"}
