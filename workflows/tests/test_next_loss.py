"""What the next loss would do, said for every kind of vdev, and never more kindly than it is."""

from dataclasses import replace

import pytest

from workflows.analysis.next_loss import SHORT, Loss, by_leaf, of_pool, sentences
from workflows.analysis.pool_fate import GATING, Fate, fate, losses, pool_losses
from workflows.analysis.redundancy import COUNTED_CLASSES, pool_margin
from workflows.facts import Unknown, VdevFacts, known
from workflows.tests.incident import NODE, POOL
from workflows.tests.test_pool_fate import POOLS
from workflows.tests.test_redundancy import CLEAN, DIRTY, EXAMPLES, NO_SCAN, RUNNING, interior, leaf, pool, raidz

SERVES = Fate("reduced", "ost_0 serves.")


def test_what_the_next_loss_would_do_is_never_green():
    """That data would stay says nothing of how the pool or the disk is now."""
    assert {Loss(kind, "").tone for kind in SHORT} == {"bad", "watch", "idle"}


def next_losses(*tops, scans=NO_SCAN, **more):
    found = of_pool(replace(pool(*tops, scans=scans), **more), SERVES)
    assert known(found)
    return found


def kinds(*tops, scans=NO_SCAN, **more):
    return [counted(one) for one in next_losses(*tops, scans=scans, **more)]


def counted(one):
    """Kinds in their order, and how many leaves each; two lost ones may have different notes."""
    counts = {}
    for loss, leaves in one.groups:
        counts[loss.kind] = counts.get(loss.kind, 0) + len(leaves)
    return list(counts.items())


def mirror(*children):
    return interior("mirror", 0, *children)


CASES = {
    "a whole raidz2": ((("data", raidz(2)),), NO_SCAN, [[("less", 10)]]),
    "raidz2 with one gone": ((("data", raidz(2, leaf("UNAVAIL"))),), NO_SCAN, [[("bare", 9), ("lost", 1)]]),
    "raidz2 with two gone": ((("data", raidz(2, leaf("UNAVAIL"), leaf("FAULTED"))),), NO_SCAN, [[("pool", 8), ("lost", 2)]]),
    "raidz2 with three gone": (
        (("data", replace(raidz(2, leaf("UNAVAIL"), leaf("FAULTED"), leaf("REMOVED")), state="UNAVAIL")),),
        NO_SCAN,
        [[("gone", 7), ("lost", 3)]],
    ),
    "a mirror of two": ((("data", mirror(leaf(), leaf())),), NO_SCAN, [[("bare", 2)]]),
    "a mirror of two with one gone": ((("data", mirror(leaf(), leaf("OFFLINE"))),), NO_SCAN, [[("pool", 1), ("lost", 1)]]),
    "a mirror of three": ((("data", mirror(leaf(), leaf(), leaf())),), NO_SCAN, [[("less", 3)]]),
    "a single disk": ((("data", leaf()),), NO_SCAN, [[("pool", 1)]]),
    "a draid2 with one gone": (
        (("data", interior("draid", 2, leaf("FAULTED"), *(leaf() for _ in range(7)))),),
        NO_SCAN,
        [[("bare", 7), ("lost", 1)]],
    ),
    "a special mirror with one gone": (
        (("data", raidz(2)), ("special", mirror(leaf(), leaf("FAULTED")))),
        NO_SCAN,
        [[("less", 10)], [("pool", 1), ("lost", 1)]],
    ),
    "a single log": ((("data", raidz(2)), ("log", leaf())), NO_SCAN, [[("less", 10)], [("log", 1)]]),
    "a mirrored log": ((("data", raidz(2)), ("log", mirror(leaf(), leaf()))), NO_SCAN, [[("less", 10)], [("less", 2)]]),
    "a replacement that is being filled": (
        (("data", raidz(2, interior("replacing", 0, leaf("UNAVAIL"), leaf(resilvering=True)))),),
        RUNNING,
        [[("bare", 9), ("fill", 1), ("lost", 1)]],
    ),
    "a disk that still reads while it is replaced": (
        (("data", raidz(2, interior("replacing", 0, leaf(), leaf(resilvering=True)))),),
        RUNNING,
        [[("less", 10), ("fill", 1)]],
    ),
    "a member that came back and catches up": ((("data", raidz(2, leaf(resilvering=True))),), RUNNING, [[("bare", 9), ("fill", 1)]]),
    "a resilver that does not say for whom": ((("data", raidz(2)),), RUNNING, [[("bare", 10)]]),
    "a spare that is filled": ((("data", raidz(2, interior("spare", 0, leaf("FAULTED"), leaf()))),), CLEAN, [[("less", 10), ("lost", 1)]]),
    "a spare whose resilver had errors": (
        (("data", raidz(2, interior("spare", 0, leaf("FAULTED"), leaf()))),),
        DIRTY,
        [[("bare", 9), ("same", 1), ("lost", 1)]],
    ),
}


@pytest.mark.parametrize(("tops", "scans", "expected"), CASES.values(), ids=CASES)
def test_each_kind_of_vdev(tops, scans, expected):
    assert kinds(*tops, scans=scans) == expected


@pytest.mark.parametrize(("vdev", "scans", "margin"), EXAMPLES.values(), ids=EXAMPLES)
def test_it_says_no_other_margin_than_the_one_beside_it_and_none_below_that_of_the_guards(vdev, scans, margin):
    """Held against every worked example of the handbook: the worst loss is the one that the margin on the page foretells."""
    vdev = replace(vdev, state="UNAVAIL") if margin < 0 else vdev
    one = pool(("data", vdev), scans=scans)
    [only] = next_losses(("data", vdev), scans=scans)
    shown = losses(one, vdev)
    assert shown >= margin
    serving = [loss.kind for loss, _ in only.groups if loss.kind not in ("lost", "fill", "same")]
    assert not serving or serving[0] == {-1: "gone", 0: "pool", 1: "bare"}.get(shown, "less"), (serving, shown)


@pytest.mark.parametrize("name", POOLS)
def test_no_line_contradicts_the_verdict_of_the_pool(name):
    one, verdict, _, _ = POOLS[name]
    found = of_pool(one, fate(NODE, one))
    assert known(found) == (verdict not in GATING)
    if not known(found):
        assert found.reason
        return
    kinds = {loss.kind for one_loss in found if one_loss.role in COUNTED_CLASSES for loss, _ in one_loss.groups}
    left = pool_losses(one)
    if not known(left):
        assert kinds == {"unknown"}
    else:
        assert "gone" not in kinds
        assert ("pool" in kinds) == (left == 0)


def test_a_disk_that_is_degraded_and_serves_counts():
    """Both halves are DEGRADED and serve: the pool's page says that it survives one more, so losing one of them leaves none."""
    one = POOLS["both halves are DEGRADED and serve"][0]
    [loss] = of_pool(one, fate(NODE, one))
    assert counted(loss) == [("bare", 2)]


def test_of_a_vdev_that_fills_both_halves_either_is_all_that_is_left():
    """It serves and survives 0: a disk that is being filled may be the one that holds what the other lacks."""
    one = POOLS["both halves are filled"][0]
    [only] = of_pool(one, fate(NODE, one))
    assert {loss.kind for loss, _ in only.groups} == {"pool"}


def test_what_was_removed_from_a_pool_has_no_disk_to_lose():
    gone = VdevFacts(3, "indirect-1", "indirect", 0, "ONLINE", (0, 0, 0), "")
    assert [loss.name for loss in next_losses(("data", raidz(2)), ("data", gone))] == ["raidz-0"]


def test_the_words_name_the_vdev_the_pool_and_what_is_left():
    [one] = next_losses(("data", raidz(2)))
    assert one.worst.words == "Data stays readable; raidz-0 can then lose 1 more."
    [single] = next_losses(("data", leaf()))
    assert single.worst.words.startswith("It has no redundancy. ")
    assert "the whole pool ost_0" in single.worst.words
    special = next_losses(("data", raidz(2)), ("special", leaf()))[1]
    assert "It is a special vdev, and the pool does not live without it." in special.worst.words


def test_a_free_spare_is_named_and_one_of_another_draid_is_not():
    spare = replace(leaf("AVAIL"), name="/dev/sdz1")
    assert "A hot spare is free; ZED puts one in" in next_losses(("data", raidz(2)), spares=(spare,))[0].worst.words
    draid = replace(interior("draid", 2, *(leaf() for _ in range(8))), name="draid2:4d:8c:1s-0")
    own, other = (replace(leaf("AVAIL"), name=name) for name in ("draid2-0-0", "draid2-1-0"))
    assert "hot spare is free" in next_losses(("data", draid), spares=(own,))[0].worst.words
    assert "hot spare" not in next_losses(("data", draid), spares=(other,))[0].worst.words
    assert "hot spare" not in next_losses(("data", raidz(2)), spares=(own,))[0].worst.words


def test_spares_and_caches_hold_no_data():
    found = next_losses(("data", raidz(2)), spares=(leaf("AVAIL"), leaf("INUSE")), caches=(leaf(),))
    assert [one.worst.kind for one in found] == ["less", "spare", "unknown", "cache"]


@pytest.mark.parametrize("blind", [{"tops": Unknown("zpool hangs")}, {"scans": Unknown("zpool hangs")}])
def test_what_is_not_known_is_not_reckoned(blind):
    found = of_pool(replace(pool(("data", raidz(2))), **blind), SERVES)
    assert isinstance(found, Unknown)
    assert "zpool hangs" in found.reason


def test_a_vdev_of_a_kind_nobody_knows_says_so():
    other = VdevFacts(9, "hole-1", "other", 0, "ONLINE", (0, 0, 0), "", (leaf(),))
    [one] = next_losses(("data", other))
    assert one.worst.kind == "unknown"
    assert "hole-1" in one.worst.words


def test_every_leaf_of_the_incident_has_its_words():
    found = of_pool(POOL, fate(NODE, POOL))
    values = by_leaf(found)
    leaves = [leaf for _, top in POOL.tops for leaf in top.leaves()]
    assert {id(leaf) for leaf in leaves} <= values.keys()
    assert {values[id(leaf)].kind for leaf in leaves} == {"bare", "lost"}
    assert pool_margin(POOL) == 1
    assert all(loss.short in SHORT.values() and loss.words.endswith((".", "`.")) for _, loss, _ in sentences(found))
