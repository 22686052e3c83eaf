"""A tree whose indentation was changed or lost is put back where its words allow one tree, and refused where they allow two."""

from __future__ import annotations

import pytest

from workflows.triage import rewrap, tree

ROOT = "tank"


def rows(*nested: str) -> list[str]:
    """Rows as ZFS prints them; each begins with its level in dots: "..sda"."""
    out = []
    for row in nested:
        name = row.lstrip(".")
        out.append("  " * (len(row) - len(name)) + (name if name in ("logs", "cache", "spares", "special") else f"{name}  ONLINE  0  0  0"))
    return out


def bad(row: str, state: str, note: str = "") -> str:
    return row.replace("ONLINE", state) + (f"  {note}" if note else "")


ONE_TREE = {
    "mirrors": rows(ROOT, ".mirror-0", "..sda", "..sdb", ".mirror-1", "..sdc", "..sdd"),
    "three-way mirrors": rows(ROOT, ".mirror-0", "..a", "..b", "..c", ".mirror-1", "..d", "..e", "..f"),
    "raidz of one width": rows(ROOT, ".raidz2-0", *(f"..s{n}" for n in range(5)), ".raidz2-1", *(f"..t{n}" for n in range(5))),
    "a raidz alone": rows(ROOT, ".raidz1-0", "..a", "..b", "..c", "..d"),
    "disks alone": rows(ROOT, ".a", ".b", ".c"),
    "a draid by its name": rows(ROOT, ".draid2:3d:6c:1s-0", *(f"..d{n}" for n in range(6)), "spares", ".draid2-0-0"),
    "logs, cache and spares": rows(ROOT, ".mirror-0", "..a", "..b", "logs", ".mirror-1", "..c", "..d", "cache", ".e", "spares", ".f"),
    "special": rows(ROOT, ".raidz1-0", "..a", "..b", "..c", "special", ".mirror-1", "..d", "..e"),
    "disks before a mirror": rows(ROOT, ".a", ".mirror-1", "..b", "..c"),
    "without numbers": rows(ROOT, ".mirror", "..a", "..b", ".mirror", "..c", "..d"),
    "removed": rows(ROOT, ".indirect-0", ".mirror-1", "..a", "..b"),
}
REPLACING = rows(ROOT, ".raidz2-0", "..a", "..replacing-1", "...old", "...new", "..b", "..c")
REPLACING[4] = bad(REPLACING[4], "UNAVAIL", "was /dev/sdx1")
REPLACING[5] += "  (resilvering)"
SPARE = rows(ROOT, ".mirror-0", "..spare-0", "...a", "...s", "..b", ".mirror-1", "..c", "..d", "spares", ".s")
SPARE[-1] = "  s  INUSE     currently in use"
SPARE[3] = bad(SPARE[3], "FAULTED", "too many errors")
ONE_TREE |= {"replacing": REPLACING, "a spare that stands in": SPARE}


@pytest.mark.parametrize("name", ONE_TREE)
@pytest.mark.parametrize("indent", [0, 1, 8])
def test_a_lost_indentation_is_put_back(name, indent):
    printed = ONE_TREE[name]
    found = tree.rebuilt([" " * indent + row.strip() for row in printed])
    assert not found.refused
    assert found.rows == printed
    assert found.rebuilt
    assert found.notes[0] in (tree.NOTE, tree.CHANGED)


@pytest.mark.parametrize("name", ONE_TREE)
def test_what_is_indented_as_zfs_does_it_is_left_alone(name):
    assert tree.rebuilt(ONE_TREE[name]) == tree.Rebuilt(ONE_TREE[name])
    assert not tree.rebuilt(["\t" + row for row in ONE_TREE[name]]).rebuilt


@pytest.mark.parametrize("step", [1, 3, 4, 8])
@pytest.mark.parametrize("name", ONE_TREE)
def test_another_width_of_each_level_is_undone(name, step):
    printed = ONE_TREE[name]
    wide = [" " * ((len(row) - len(row.lstrip())) // 2 * step) + row.strip() for row in printed]
    found = tree.rebuilt(wide)
    assert found.rows == printed


TWO_TREES = {
    "a mirror of three, or of two beside a disk": rows(ROOT, ".mirror-0", "..a", "..b", "..c"),
    "a raidz as wide as the other and a disk, or a wider one": rows(
        ROOT, ".raidz1-0", "..a", "..b", "..c", ".raidz1-1", "..d", "..e", "..f", "..g"
    ),
    "named by guid": rows(ROOT, ".9000000000000000001", "..9000000000000000002", "..9000000000000000003"),
    "a gap between the numbers": rows(ROOT, ".mirror-0", "..a", "..b", "..c", ".mirror-2", "..d", "..e"),
    "a raidz with too few": rows(ROOT, ".raidz2-0", "..a", "..b"),
    "a draid with more than it says": rows(ROOT, ".draid1:2d:4c:0s-0", "..a", "..b", "..c", "..d", "..e"),
    "one number twice": rows(ROOT, ".mirror-0", "..a", "..b", ".mirror-0", "..c", "..d"),
    "replacing, and all rows alike": rows(ROOT, ".raidz1-0", "..replacing-0", "...a", "...b", "..c", "..d"),
}


@pytest.mark.parametrize("name", TWO_TREES)
def test_where_two_trees_are_possible_none_is_made_up(name):
    found = tree.rebuilt([row.strip() for row in TWO_TREES[name]])
    assert not found.rebuilt
    assert found.refused.startswith("The indentation of the tree was lost")
    assert "zpool status -P -p" in found.refused


def text(*tree_rows: str) -> list[str]:
    return ["pool: tank", "state: DEGRADED", "config:", "", "NAME STATE READ WRITE CKSUM", *tree_rows, "", "errors: No known data errors"]


def test_a_rebuilt_text_says_so():
    found = rewrap.read("zpool_status", text(*(row.strip() for row in ONE_TREE["mirrors"])))
    assert found.rebuilt
    assert tree.NOTE in found.notes
    (pool,) = found.value
    assert [[leaf.name for leaf in top.children] for top in pool.vdevs.children] == [["sda", "sdb"], ["sdc", "sdd"]]


def test_a_doubt_is_told():
    found = rewrap.read("zpool_status", text(*(row.strip() for row in ONE_TREE["a raidz alone"])))
    assert any("vdev of its own" in note for note in found.notes)


def test_a_refused_tree_is_said_with_its_reason():
    found = rewrap.read("zpool_status", text(*(row.strip() for row in TWO_TREES["named by guid"])))
    assert not found.rebuilt
    assert "named by guid" in found.refused


def test_a_whole_text_on_one_line_is_put_back():
    from workflows.triage import unwrap

    line = (
        "pool: tank state: DEGRADED status: One or more devices could not be opened. action: Attach the missing device. scan: none requested "
        "config: NAME STATE READ WRITE CKSUM tank DEGRADED 0 0 0 mirror-0 DEGRADED 0 0 0 sda ONLINE 0 0 0 77770000111 UNAVAIL 0 0 0 was /dev/sdb1 "
        "mirror-1 ONLINE 0 0 0 sdc ONLINE 0 0 0 sdd ONLINE 0 0 0 logs sde ONLINE 0 0 0 spares sdf AVAIL errors: No known data errors"
    )
    cleaned = unwrap.cleaned(line)
    found = rewrap.read("zpool_status", cleaned.lines)
    (pool,) = found.value
    assert found.rebuilt
    assert [top.name for top in pool.vdevs.children] == ["mirror-0", "mirror-1"]
    assert [(name, [vdev.name for vdev in vdevs]) for name, vdevs in pool.sections] == [("logs", ["sde"]), ("spares", ["sdf"])]
    assert pool.vdevs.children[0].children[1].note == "was /dev/sdb1"
    assert cleaned.notes
