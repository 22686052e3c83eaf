"""What is said of a pool whose own fate, or whose disks together, come before any one disk. The texts in `cases/fate` are our own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from workflows.analysis.pool_fate import fate, losses
from workflows.engine.core import Situation
from workflows.facts import known
from workflows.situations._cures import REPLACING
from workflows.situations._gating import is_gated
from workflows.triage import manuals, triage

CASES = Path(__file__).parent / "cases/fate"
NAMES = sorted(path.stem for path in CASES.glob("*.txt"))

# name -> (verdict, losses that its worst vdev is shown to survive, None is not known; situations with their severity)
EXPECTED = {
    "bad-intent-log": ("down", 1, "pool-down act, log-device-lost watch"),
    "both-degraded": ("reduced", 1, "errors-everywhere act, disk-faulted watch, disk-faulted watch"),
    "both-halves-lost": ("reduced", 1, "replacing-dead act"),
    "both-resilver": ("reduced", 0, "resilver-running watch"),
    "checksums-on-all": ("serving", 1, "errors-everywhere act, scrub-repaired info"),
    "draid-rebuild": ("reduced", 1, "disk-missing watch, spare-in-use watch, resilver-running info"),
    "log-faulted": ("reduced", 1, "log-device-lost watch"),
    "many-away": ("reduced", 0, "many-disks-offline act, disk-missing watch, disk-missing watch, disk-missing watch"),
    "member-degraded": ("reduced", 1, "member-degraded watch"),
    "metadata-corrupted": ("down", 1, "pool-down act, disk-errors watch, disk-errors watch, disk-errors watch"),
    "metadata-corrupted-can-go-back": ("down", 1, "pool-down act, disk-errors watch, disk-errors watch"),
    "pool-unavail-while-it-resilvers": (
        "down",
        -1,
        "pool-down act, disk-missing act, disk-missing act, disk-missing watch, hidden-by-resilver watch, resilver-running watch",
    ),
    "names-moved": ("moved", -1, "names-moved act, disk-missing watch, disk-missing watch"),
    "new-half-lost": ("reduced", 1, "replacing-dead act"),
    "newer-version": ("down", 0, "pool-down act"),
    "one-faulted": ("reduced", 1, "disk-missing act"),
    "only-the-row-counts": ("serving", 1, "vdev-degraded watch"),
    "row-degraded-and-no-disk-says-why": ("reduced", None, "vdev-degraded act"),
    "spare-filled": ("reduced", 1, "disk-missing watch, spare-in-use watch"),
    "suspended-by-multihost": ("suspended", None, "pool-suspended act, disk-missing act"),
    "too-many-away": ("down", -1, "pool-down act, disk-missing act, disk-missing act"),
    "two-distributed-spares": ("reduced", 2, "disk-missing watch, spare-in-use watch, rebuild-unverified watch"),
    "unavail-though-its-disks-serve": ("down", None, "pool-down act"),
    "unsupported-features": ("down", 1, "pool-down act"),
}
GATED = {"bad-intent-log", "both-degraded", "checksums-on-all", "many-away", "metadata-corrupted", "names-moved", "newer-version"} | {
    "metadata-corrupted-can-go-back", "pool-unavail-while-it-resilvers", "suspended-by-multihost", "too-many-away", "unavail-though-its-disks-serve", "unsupported-features",
}  # fmt: skip


def reason_of(name):
    return triage([(name, (CASES / f"{name}.txt").read_text())])


def only(name, slug) -> Situation:
    (found,) = [one for one in reason_of(name).situations if one.slug == slug]
    return found


def kinds(one: Situation) -> list[str]:
    return [cure.kind for cure in one.cures]


def test_every_text_has_what_must_be_said_of_it():
    assert set(EXPECTED) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_told_what_is_so_and_nothing_else(name):
    verdict, left, situations = EXPECTED[name]
    found = reason_of(name)
    (node,) = found.fleet.nodes.values()
    (pool,) = node.pools_read
    margins = [losses(pool, top) for role, top in pool.tops_read if role == "data"]
    worst = min(margins) if all(map(known, margins)) else None
    assert (fate(node, pool).verdict, worst) == (verdict, left)
    assert ", ".join(f"{one.slug} {one.severity}" for one in found.situations) == situations


@pytest.mark.parametrize("name", NAMES)
def test_while_a_pool_is_gated_nobody_is_told_to_replace_anything(name):
    found = reason_of(name).situations
    assert any(one.gate for one in found) is (name in GATED)
    for one in found if name in GATED else ():
        assert is_gated(one)
        assert "replace" not in kinds(one)
        assert not REPLACING & {*manuals(one), *(answer.runbook for answer in one.answers), *(cure.runbook for cure in one.cures)}
        assert not re.search(r"\breplac(?:e|es|ing)\b", one.meaning, re.IGNORECASE) or "Replace no disk" in one.meaning


@pytest.mark.parametrize("name", sorted(set(NAMES) - GATED))
def test_no_meaning_tells_to_replace_a_disk_as_that_is_a_cure(name):
    for one in reason_of(name).situations:
        assert not re.search(r"\breplace\b", one.meaning, re.IGNORECASE)


@pytest.mark.parametrize("name", NAMES)
def test_nowhere_is_a_false_alarm_of_loss(name):
    for one in reason_of(name).situations:
        assert "than it can rebuild" not in one.meaning
        assert ("lacks more disks than it can do without" in one.meaning) <= (EXPECTED[name][1] == -1)


@pytest.mark.parametrize("name", NAMES)
def test_no_command_names_a_vdev_by_a_name_that_can_lead_to_another_disk(name):
    moving = re.compile(r"(?:/dev/)?(?:sd[a-z]+|nvme[0-9]+n[0-9]+)")
    argvs = [argv for one in reason_of(name).situations for cure in one.cures for argv in cure.argv]
    assert not [argv for argv in argvs if any(moving.fullmatch(word) for word in argv)]


def test_every_replacement_comes_after_a_look_at_the_way_to_the_disk():
    for name in NAMES:
        for one in reason_of(name).situations:
            if "replace" in kinds(one):
                assert "reseat" in kinds(one)[: kinds(one).index("replace")]


def test_a_bad_intent_log_is_given_up_by_whoever_owns_the_data_and_last():
    found = only("bad-intent-log", "pool-down")
    assert (found.subject["why"], kinds(found)[:3]) == ("log", ["reseat", "online", "clear"])
    assert found.cures[1].argv == (("zpool", "online", "vault", "12093847561029384756"),)
    assert "The synchronous writes of the last seconds before it went down are lost" in found.cures[2].text
    assert "owns the data" in found.cures[2].needs


@pytest.mark.parametrize(("name", "slug"), [("metadata-corrupted", "pool-down"), ("names-moved", "names-moved")])
def test_destroying_the_pool_is_warned_of_and_the_last_of_all_steps(name, slug):
    found = only(name, slug)
    assert "destroy" in found.meaning
    assert kinds(found)[-1] == "restore"
    assert "export-import" in kinds(found)


def test_going_back_to_an_older_state_comes_after_a_look_that_writes_nothing():
    found = only("metadata-corrupted-can-go-back", "pool-down")
    assert kinds(found).index("import") < kinds(found).index("clear")
    assert not found.cures[kinds(found).index("clear")].argv


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("newer-version", "version"),
        ("unsupported-features", "features"),
        ("too-many-away", "members"),
        ("unavail-though-its-disks-serve", "contradiction"),
    ],
)
def test_why_a_pool_is_down_is_told_apart(name, why):
    assert only(name, "pool-down").subject["why"] == why


def test_the_features_and_the_contradiction_are_named():
    assert "com.klarasystems:vdev_zaps_v2" in only("unsupported-features", "pool-down").meaning
    assert "raidz2-1 is UNAVAIL, although 4 of its 4 disks" in only("unavail-though-its-disks-serve", "pool-down").meaning


def test_of_a_dead_replacement_the_new_half_is_detached_by_its_guid():
    found = only("new-half-lost", "replacing-dead")
    assert kinds(found) == ["reseat", "online", "detach"]
    assert found.cures[-1].argv == (("zpool", "detach", "vault", "7720384756102938475"),)
    both = only("both-halves-lost", "replacing-dead")
    assert both.cures[-1].argv == (("zpool", "detach", "vault", "5510293847561029389"),)
    assert set(both.vdevs) == {"3310293847561029386", "5510293847561029389"}


def test_a_spare_that_is_filled_is_not_waited_for():
    for one in reason_of("spare-filled").situations:
        assert "being replaced" not in one.title
        assert "wait" not in kinds(one)
    assert "there is nothing to wait for" in only("spare-filled", "spare-in-use").meaning


def test_a_spare_that_is_being_filled_is_waited_for():
    found = only("draid-rebuild", "disk-missing")
    assert found.title.endswith("and the spare draid2-0-0 is being filled for it")
    assert kinds(found) == ["wait"]


def test_of_two_distributed_spares_no_third_disk_is_asked():
    found = reason_of("two-distributed-spares").situations
    assert [one.subject["vdev_guid"] for one in found if one.slug != "rebuild-unverified"] == ["sdb", "sdb"]  # that is of the whole pool
    assert "asks for no further disk" in only("two-distributed-spares", "spare-in-use").meaning


def test_a_lost_log_is_no_loss_of_data():
    found = only("log-faulted", "log-device-lost")
    assert "the pool is whole, and losing this device loses none of it" in found.meaning
    assert kinds(found)[:3] == ["reseat", "clear", "replace"]


def test_after_a_suspension_no_clear_is_advised_beside_the_pools_own_situation():
    """On 0.7 a clear after a multihost suspension lets two hosts write."""
    assert not {"clear", "online", "scrub"} & set(kinds(only("suspended-by-multihost", "disk-missing")))


def test_a_degraded_disk_is_looked_at_by_its_cable_and_port_first():
    (found, _) = [one for one in reason_of("both-degraded").situations if one.slug == "disk-faulted"]
    assert "look there first" in found.meaning
    assert kinds(found)[0] == "reseat"
