"""Every genuine step agrees with the truth that its COMMANDS.md tells: pools, trees, labels, disks and situations.

The table stands in `truth.py`.
"""

from __future__ import annotations

import pytest

from agents.domain.wwid import normalise
from agents.tests.scenarios import STEPS
from workflows.analysis.redundancy import pool_margin
from workflows.facts import NodeFacts, PoolFacts, VdevFacts, known
from workflows.facts.fleet.census import candidate_case, census
from workflows.facts.tests.played import fleet, played
from workflows.facts.tests.truth import DRIFT21, DRIFT23, LOST21, NOT_RECORDED, OST1_21, OST1_23, OST2, OST3, SITUATIONS, TRUTHS, wwid
from workflows.guards import GUARDS
from workflows.situations import detect_all


def leaves(pool: PoolFacts) -> list[VdevFacts]:
    return [leaf for _, top in pool.tops for leaf in top.leaves()]


def test_every_genuine_step_has_its_truth():
    assert set(TRUTHS) == set(SITUATIONS) == set(STEPS)


@pytest.mark.parametrize("name", TRUTHS)
def test_it_reads_the_pools(name):
    facts, truth = played(name), TRUTHS[name]
    if truth.pools is NOT_RECORDED:
        assert not known(facts.pools)
        return
    seen = [(p.name, p.state, len(leaves(p)), margin if known(margin := pool_margin(p)) else None) for p in facts.pools]
    assert seen == [(p.name, p.state, p.leaves, p.margin) for p in truth.pools]
    for pool, expected in zip(facts.pools, truth.pools, strict=True):
        assert (pool.guid == expected.guid) if expected.labelled else (not known(pool.guid) or pool.guid == expected.guid)
        assert all(known(vdev.guid) for _, top in pool.tops for vdev in top.walk())


@pytest.mark.parametrize("name", TRUTHS)
def test_it_finds_the_bad_leaf_and_no_other(name):
    for pool, expected in zip(played(name).pools if TRUTHS[name].pools else (), TRUTHS[name].pools or (), strict=True):
        bad = [(leaf.guid, leaf.state) for leaf in leaves(pool) if leaf.state != "ONLINE"]
        assert bad == ([(expected.bad.guid, expected.bad.state)] if expected.bad else [])
        if expected.bad:
            (leaf,) = [leaf for leaf in leaves(pool) if leaf.guid == expected.bad.guid]
            reported = {normalise(text) for text in (leaf.name, leaf.was or "", leaf.devid or "") if not text.isdigit()} - {None}
            assert reported <= {wwid(expected.bad.disk)}
            assert not known(leaf.wwid)


@pytest.mark.parametrize("name", TRUTHS)
def test_it_joins_every_leaf_in_service_to_its_disk(name):
    facts, truth = played(name), TRUTHS[name]
    for pool, expected in zip(facts.pools if truth.pools else (), truth.pools or (), strict=True):
        for leaf in leaves(pool) if expected.labelled else ():
            silent = normalise(leaf.name) in {wwid(n) for n in truth.silent}
            if leaf.state == "ONLINE" and not silent:
                assert known(leaf.wwid), leaf
                assert normalise(leaf.name) in (leaf.wwid, None)


@pytest.mark.parametrize("name", TRUTHS)
def test_it_sees_the_disks(name):
    facts, truth = played(name), TRUTHS[name]
    if truth.disks is NOT_RECORDED:
        assert not known(facts.disks)
        return
    assert len(facts.disks) == truth.disks
    assert {d.wwid for d in facts.disks if known(d.labels) and not d.labels} == {wwid(n) for n in truth.blank}
    assert {d.wwid for d in facts.disks if not known(d.labels)} == {wwid(n) for n in truth.silent}


@pytest.mark.parametrize("name", SITUATIONS)
def test_it_detects_what_is_wrong_and_nothing_else(name):
    """Every situation of every severity, in order; so none of severity "act" but those that the truth calls for."""
    found = detect_all(fleet(name))
    if SITUATIONS[name] is NOT_RECORDED:
        facts = played(name)
        assert found == ()
        assert not any(known(reading) and reading for reading in (facts.pools, facts.disks, facts.importable))
        return
    assert tuple(f"{s.slug} {s.severity}" for s in found) == SITUATIONS[name]
    assert len({s.key for s in found}) == len(found)
    for situation in found:
        assert all(e.digest and e.line for e in situation.evidence)
        assert not any(word in situation.meaning.lower() for word in ("destroy and re-create", "recreate", "re-create", "from a backup"))


LOSSES = ("disk-missing", "wwid-mismatch", "disk-faulted")


@pytest.mark.parametrize("name", TRUTHS)
def test_it_is_about_the_leaf_that_is_bad_and_each_leaf_is_acted_upon_once(name):
    bad, found = [str(p.bad.guid) for p in TRUTHS[name].pools or () if p.bad], detect_all(fleet(name))
    assert [s.subject["vdev_guid"] for s in found if s.slug in LOSSES] == bad
    assert all(a.params["vdev_guid"] in bad for s in found if s.slug in LOSSES for a in s.answers)
    acts = [s.subject["vdev_guid"] for s in found if s.severity == "act" and "vdev_guid" in s.subject]
    assert len(acts) == len(set(acts))


@pytest.mark.parametrize("name", TRUTHS)
def test_it_lists_what_can_be_imported(name):
    facts = played(name)
    seen = tuple((p.name, p.guid, p.state) for p in facts.importable) if known(facts.importable) else ()
    assert sorted(seen) == sorted(TRUTHS[name].importable)


# The incident, in genuine words: who sits under the old name, and which disk is right.

DRIFTS = [
    ("wwid-drift/3-import-cachefile", OST1_21, DRIFT21, "sdc", 4, 1070966206175249368),
    ("wwid-drift/4-import-d-dev", OST1_21, DRIFT21, "sdc", 4, 1070966206175249368),
    ("wwid-drift-zfs2.3/3-import-cachefile", OST1_23, DRIFT23, "sdb", 0, 13751810712414519938),
    ("wwid-drift-zfs2.3/4-import-d-dev", OST1_23, DRIFT23, "sdb", 0, 13751810712414519938),
]


@pytest.mark.parametrize(("name", "pool_guid", "lost", "stale", "now", "member"), DRIFTS)
def test_it_names_who_sits_under_the_old_name(name, pool_guid, lost, stale, now, member):
    (found,) = detect_all(fleet(name))
    assert (found.subject["now"], found.subject["now_wwid"], found.subject["now_vdev_guid"]) == (stale, wwid(now), str(member))
    assert found.answers[0].params["was"] == f"/dev/{stale}1"
    assert str(member) in found.meaning


@pytest.mark.parametrize(("name", "pool_guid", "lost", "stale", "now", "member"), DRIFTS)
def test_only_the_blank_disk_may_replace_it(name, pool_guid, lost, stale, now, member):
    cases = {d.wwid: candidate_case(fleet(name), "oss01", pool_guid, lost, d.wwid) for d in played(name).disks}
    assert {w for w, case in cases.items() if case.code == "A0"} == {wwid(8)}
    assert {case.code for w, case in cases.items() if w != wwid(8)} == {"A2"}
    assert f"{stale} ({wwid(now)}) is already member {member} of ost_1." in cases[wwid(now)].sentence


ASKED = {  # the guards whose sources these steps recorded
    "facts-are-fresh",
    "the-pool-is-imported-here-and-nowhere-else",
    "the-pool-is-not-suspended",
    "the-lost-member-is-one-known-vdev",
    "the-lost-member-is-out-of-service",
    "the-lost-member-is-not-being-replaced",
    "the-vdev-can-still-rebuild",
    "no-mass-event-is-under-way",
    "no-resilver-touches-the-vdev",
    "nothing-blocks-attaching",
    "the-disk-answers-to-its-wwid",
    "the-disk-carries-no-label",
    "no-other-node-uses-the-disk",
    "the-disk-has-no-partitions",
    "the-disk-is-large-enough",
}


@pytest.mark.parametrize("guard", sorted(ASKED))
@pytest.mark.parametrize(("name", "pool_guid", "lost", "stale", "now", "member"), DRIFTS)
def test_the_guards_let_the_right_replace_through(guard, name, pool_guid, lost, stale, now, member):
    params = {"node": "oss01", "pool": "ost_1", "pool_guid": str(pool_guid), "vdev_guid": str(lost), "was": "", "wwid": wwid(8)}
    assert GUARDS[guard](fleet(name), params).outcome == "pass", GUARDS[guard](fleet(name), params)


def test_a_dead_disk_the_kernel_still_lists_is_not_offered_as_blank():
    case = candidate_case(fleet("disk-removed/1-pulled-not-noticed"), "oss01", 4384816311869892781, LOST21, wwid(2))
    assert "does not answer" in case.reason


def test_a_wiped_member_still_has_its_partitions():
    """Labels gone is not blank: import-blocked-labels/2 is a member whose labels were overwritten."""
    params = {"node": "oss01", "wwid": wwid(1)}
    verdict = GUARDS["the-disk-has-no-partitions"](fleet("import-blocked-labels/2-all-labels-garbage"), params)
    assert (verdict.outcome, "sdb1" in verdict.reason) == ("refuse", True)


def test_half_the_labels_are_enough_to_know_a_disk():
    (disk,) = [d for d in played("import-blocked-labels/1-labels-0-1-garbage").disks if d.wwid == wwid(1)]
    assert [(label.copies, label.pool_guid) for label in disk.labels] == [((2, 3), OST3)]


def test_a_label_of_another_pool_is_foreign():
    facts = fleet("import-blocked-labels/3-other-pool-label")
    assert {(s.wwid, s.label.pool_name) for s in census(facts).foreign(frozenset({OST3}))} == {(wwid(1), "oldpool")}


def test_a_diverged_disk_is_far_ahead_of_the_others():
    labels = {d.wwid: d.labels[0].txg for d in played("import-blocked-diverged-disk/1-not-imported").disks}
    assert labels.pop(wwid(3)) == census(fleet("import-blocked-diverged-disk/1-not-imported")).newest_txg(OST2) == 222
    assert set(labels.values()) == {22}


def test_spares_caches_and_logs_have_their_places():
    (pool,) = played("healthy-mixed-cache-draid/1-cache").pools
    assert [kind for kind, _ in pool.tops] == ["data", "log"]
    assert [leaf.wwid for leaf in pool.spares] == [wwid(5), wwid(6)]
    assert [leaf.wwid for leaf in pool.caches] == [wwid(4)]
    (tank,) = played("healthy-mixed").pools
    assert [kind for kind, _ in tank.tops] == ["data", "data", "special", "log"]


def test_a_suspended_pool_is_seen_as_such():
    assert [p.suspended for p in played("mmp-suspended/1-before").pools] == [False]
    assert [p.suspended for p in played("mmp-suspended/2-suspended").pools] == [True]


def test_bays_are_known_by_enclosure_id_and_slot():
    def bays(facts: NodeFacts) -> dict[int, tuple[str, str | None]]:
        assert {b.enclosure_id for b in facts.bays} == {"0x500605b0000272bf"}
        return {b.slot: (b.status, b.device) for b in facts.bays}

    before, pulled7, after = (bays(played(f"enclosure-slots/{s}")) for s in ("1-all-slots", "3-pulled", "4-new-disk"))
    assert len(before) == 12
    assert [slot for slot in before if before[slot] != pulled7[slot]] == [7]
    assert pulled7[7] == ("not installed", None)
    assert after[7][0] == "OK"
