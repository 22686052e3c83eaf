"""Every genuine step agrees with the truth that its COMMANDS.md tells: pools, trees, labels, disks and situations.

The truth is written here by hand. Disks of the scenarios are numbered; disk 37 (0x25) has the WWID naa:5000c500a65b225b.
A step that recorded no `zpool status` has no known pools, and one that recorded no disks has no known disks.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from agents.tests.scenarios import STEPS
from agents.wwid import normalise
from workflows.facts import NodeFacts, PoolFacts, VdevFacts, known
from workflows.facts.census import candidate_case, census
from workflows.facts.tests.played import fleet, played
from workflows.guards import GUARDS
from workflows.redundancy import pool_margin
from workflows.situations import detect_all

NOT_RECORDED = None


def wwid(number: int) -> str:
    return f"naa:5000c500a65b2{number:02x}b"


@dataclass(frozen=True)
class Bad:
    """The leaf that is bad, by its guid and by the disk it was."""

    guid: int
    disk: int
    state: str


@dataclass(frozen=True)
class Pool:
    name: str
    guid: int
    state: str
    leaves: int
    margin: int
    bad: Bad | None = None
    labelled: bool = True  # labels were recorded in this step, so the pool guid and the disks are known


@dataclass(frozen=True)
class Truth:
    pools: tuple[Pool, ...] | None
    disks: int | None = NOT_RECORDED
    blank: tuple[int, ...] = ()
    silent: tuple[int, ...] = ()  # disks whose labels nobody read, or that did not answer
    situations: tuple[tuple[str, str], ...] = ()  # (slug, severity)
    importable: tuple[tuple[str, int, str], ...] = ()


def ost_0(state, leaves, margin, bad=None, guid=4384816311869892781, labelled=True):
    return (Pool("ost_0", guid, state, leaves, margin, bad, labelled),)


def pulled(guid, state, disk=2):
    return Bad(guid, disk, state)


ACT, WATCH = (("disk-missing", "act"),), (("disk-missing", "watch"),)
MISMATCH = (("wwid-mismatch", "act"),)
LOST21, LOST23 = 12982808286677577576, 1195299563000882278
OST0_23 = 6794500405255541326
DRIFT21, DRIFT23 = 16127029951090533777, 12527484215125010025
OST1_21, OST1_23 = 221738468679772958, 4997866828225337252
OST2, OST2_12, OST3 = 12305735828161034898, 16679289448361059587, 6695069603816003176
GONE2, GONE2_12 = Bad(14709243485850050557, 3, "UNAVAIL"), Bad(2608813909828271982, 3, "UNAVAIL")
OST7 = 3848334468681592697
PULLED37 = 0x25


def ost_1(state, margin, bad=None, guid=OST1_21, labelled=True):
    return (Pool("ost_1", guid, state, 6, margin, bad, labelled),)


def ost_7(labelled=False, state="ONLINE", margin=2, bad=None):
    return Pool("ost_7", OST7, state, 6, margin, bad, labelled)


def ost_60(guid, state, leaves, margin, bad=None, labelled=True):
    return (Pool("ost_60", guid, state, leaves, margin, bad, labelled),)


TRUTHS = {
    "active-on-other-host": Truth(NOT_RECORDED, importable=(("ost_on", 3838031771893537920, "UNAVAIL"),)),
    # The JSON of 2.3 says the pool guid even where no label was recorded.
    "disk-removed-zfs2.3/1-pulled-not-noticed": Truth(ost_0("ONLINE", 6, 1, pulled(LOST23, "FAULTED"), OST0_23), 6, (6,), situations=ACT),
    "disk-removed-zfs2.3/2-removed": Truth(ost_0("DEGRADED", 6, 1, pulled(LOST23, "REMOVED"), OST0_23), 6, (6,), situations=ACT),
    "disk-removed-zfs2.3/3-new-disk-in-slot": Truth(ost_0("DEGRADED", 6, 1, pulled(LOST23, "REMOVED"), OST0_23), 7, (6, 7), situations=ACT),
    "disk-removed-zfs2.3/4-replace": Truth(NOT_RECORDED),
    "disk-removed-zfs2.3/5-resilver-start": Truth(
        ost_0("DEGRADED", 7, 1, pulled(LOST23, "REMOVED"), OST0_23, False), 7, silent=(0, 1, 3, 4, 5, 6, 7), situations=WATCH
    ),
    "disk-removed-zfs2.3/6-resilver-running": Truth(ost_0("DEGRADED", 7, 1, pulled(LOST23, "REMOVED"), OST0_23, False), situations=WATCH),
    "disk-removed-zfs2.3/7-resilver-later": Truth(
        ost_0("DEGRADED", 7, 1, pulled(LOST23, "REMOVED"), OST0_23, False), 7, silent=(0, 1, 3, 4, 5, 6, 7), situations=WATCH
    ),
    "disk-removed-zfs2.3/8-resilvered": Truth(ost_0("ONLINE", 6, 2, guid=OST0_23), 7, (6,)),
    "disk-removed-zfs2.3/9-cleared": Truth(ost_0("ONLINE", 6, 2, guid=OST0_23, labelled=False)),
    # Disk 2 is still listed by the kernel here, and dead: it is silent, not blank.
    "disk-removed/1-pulled-not-noticed": Truth(ost_0("DEGRADED", 6, 1, pulled(LOST21, "FAULTED")), 7, (6,), (2,), situations=ACT),
    "disk-removed/2-removed": Truth(ost_0("DEGRADED", 6, 1, pulled(LOST21, "REMOVED")), 6, (6,), situations=ACT),
    # The kernel did not list the new disk 7 yet when this was recorded.
    "disk-removed/3-new-disk-in-slot": Truth(ost_0("DEGRADED", 6, 1, pulled(LOST21, "REMOVED")), 6, (6,), situations=ACT),
    "disk-removed/4-replace": Truth(NOT_RECORDED),
    "disk-removed/5-resilver-start": Truth(
        ost_0("DEGRADED", 7, 1, pulled(LOST21, "REMOVED"), labelled=False), 7, silent=(0, 1, 3, 4, 5, 6, 7), situations=WATCH
    ),
    "disk-removed/6-resilver-running": Truth(ost_0("DEGRADED", 7, 1, pulled(LOST21, "REMOVED"), labelled=False), situations=WATCH),
    "disk-removed/7-resilver-later": Truth(
        ost_0("DEGRADED", 7, 1, pulled(LOST21, "REMOVED"), labelled=False), 7, silent=(0, 1, 3, 4, 5, 6, 7), situations=WATCH
    ),
    "disk-removed/8-resilvered": Truth(ost_0("ONLINE", 6, 2), 7, (6,)),
    "disk-removed/9-cleared": Truth(ost_0("ONLINE", 6, 2, labelled=False)),
    "enclosure-slots/1-all-slots": Truth((Pool("ost_9", 0, "ONLINE", 10, 2, labelled=False),)),
    "enclosure-slots/2-locate": Truth(NOT_RECORDED),
    "enclosure-slots/3-pulled": Truth(
        (Pool("ost_9", 0, "DEGRADED", 10, 1, Bad(3952713359324366513, 6, "REMOVED"), False),), situations=ACT
    ),
    "enclosure-slots/4-new-disk": Truth(
        (Pool("ost_9", 0, "DEGRADED", 10, 1, Bad(3952713359324366513, 6, "REMOVED"), False),), situations=ACT
    ),
    "healthy-mixed": Truth((Pool("tank", 17530970335740660196, "ONLINE", 7, 1),), 8),
    "healthy-mixed-cache-draid/1-cache": Truth((Pool("scratch", 7611279985214384541, "ONLINE", 4, 1),), 8, (7,)),
    "healthy-mixed-cache-draid/2-draid": Truth((Pool("dpool", 4712084022277632920, "ONLINE", 8, 2),), 8),
    "healthy-mixed-zfs2.3": Truth((Pool("tank", 2041595502068262595, "ONLINE", 7, 1),), 8),
    "healthy-raidz2": Truth((Pool("ost_0", 7963212167240562355, "ONLINE", 6, 2),), 8, (6, 7)),
    "healthy-raidz2-zfs2.3": Truth((Pool("ost_0", 7060868771987987287, "ONLINE", 6, 2),), 8, (6, 7)),
    "import-blocked-diverged-disk-ashift12/1-not-imported": Truth((), 6, importable=(("ost_2", OST2_12, "FAULTED"),)),
    "import-blocked-diverged-disk-ashift12/2-import-attempts": Truth(()),
    "import-blocked-diverged-disk-ashift12/3-after-delete": Truth(
        (Pool("ost_2", OST2_12, "DEGRADED", 6, 1, GONE2_12),), 5, situations=ACT, importable=(("ost_2", OST2_12, "DEGRADED"),)
    ),
    "import-blocked-diverged-disk-ashift12/4-rescan": Truth((Pool("ost_2", OST2_12, "DEGRADED", 6, 1, GONE2_12, False),), situations=ACT),
    "import-blocked-diverged-disk-ashift12/5-import-rw-degraded": Truth(
        (Pool("ost_2", OST2_12, "DEGRADED", 6, 1, GONE2_12, False),), situations=ACT
    ),
    "import-blocked-diverged-disk-ashift12/6-rescan-rw": Truth((Pool("ost_2", OST2_12, "ONLINE", 6, 2, labelled=False),)),
    "import-blocked-diverged-disk/1-not-imported": Truth((), 6, importable=(("ost_2", OST2, "FAULTED"),)),
    "import-blocked-diverged-disk/2-import-attempts": Truth(()),
    "import-blocked-diverged-disk/3-after-delete": Truth(
        (Pool("ost_2", OST2, "DEGRADED", 6, 1, GONE2),), 5, situations=ACT, importable=(("ost_2", OST2, "DEGRADED"),)
    ),
    "import-blocked-diverged-disk/4-rescan": Truth((Pool("ost_2", OST2, "DEGRADED", 6, 1, GONE2, False),), situations=ACT),
    "import-blocked-diverged-disk/5-import-rw-degraded": Truth((Pool("ost_2", OST2, "DEGRADED", 6, 1, GONE2, False),), situations=ACT),
    "import-blocked-diverged-disk/6-rescan-rw": Truth((Pool("ost_2", OST2, "DEGRADED", 6, 1, GONE2, False),), situations=ACT),
    "import-blocked-diverged-disk/7-bring-back": Truth((Pool("ost_2", OST2, "ONLINE", 6, 2, labelled=False),)),
    "import-blocked-labels/1-labels-0-1-garbage": Truth((), 7, (6,), importable=(("ost_3", OST3, "ONLINE"),)),
    # Disk 1 has no label left; it is not free for all that: it still has its partitions.
    "import-blocked-labels/2-all-labels-garbage": Truth((), 7, (1, 6), importable=(("ost_3", OST3, "DEGRADED"),)),
    "import-blocked-labels/3-other-pool-label": Truth(
        (), 7, (6,), importable=(("ost_3", OST3, "DEGRADED"), ("oldpool", 10257982314934703907, "ONLINE"))
    ),
    "import-blocked-labels/4-disk-hangs": Truth(NOT_RECORDED),
    "import-rewind/1-not-imported": Truth((), 4, (3,), importable=(("ost_8", 11426561097578633016, "FAULTED"),)),
    "import-rewind/2-dry-runs": Truth(NOT_RECORDED),
    "import-rewind/3-rewound": Truth((Pool("ost_8", 11426561097578633016, "ONLINE", 3, 1, labelled=False),)),
    "import-rewind/4-healthy-pool": Truth(NOT_RECORDED),
    "mmp-suspended/1-before": Truth((Pool("ost_5", 12688766784877236331, "ONLINE", 5, 2),), 6, (5,)),
    "mmp-suspended/2-suspended": Truth((Pool("ost_5", 12688766784877236331, "SUSPENDED", 5, 2),), 6, (5,)),
    "mmp-suspended/3-clear": Truth(NOT_RECORDED),
    "mmp-suspended/4-stall-over": Truth((Pool("ost_5", 12688766784877236331, "SUSPENDED", 5, 2, labelled=False),)),
    "other-host/1-last-used-by-oss01": Truth(
        (), 6, importable=(("ost_on", 9404896043686769858, "ONLINE"), ("ost_off", 10694689121425967020, "ONLINE"))
    ),
    "other-host/2-refused": Truth(NOT_RECORDED),
    "other-host/3-forced": Truth(
        (Pool("ost_off", 10694689121425967020, "ONLINE", 3, 1), Pool("ost_on", 9404896043686769858, "ONLINE", 3, 1)), 6
    ),
    "permanent-errors-files/1-files": Truth((Pool("ost_15", 9349261673371452563, "ONLINE", 2, 1),), 3, (2,)),
    "permanent-errors-files/2-deleted": Truth((Pool("ost_15", 9349261673371452563, "ONLINE", 2, 1, labelled=False),)),
    "permanent-errors-files/3-scrubbed": Truth((Pool("ost_15", 9349261673371452563, "ONLINE", 2, 1, labelled=False),)),
    "scrub-states/01-scrub-started": Truth((ost_7(True),), 8, (6, 7)),
    "scrub-states/02-scrub-running": Truth((ost_7(),)),
    "scrub-states/03-scrub-paused": Truth((ost_7(),)),
    "scrub-states/04-scrub-canceled": Truth((ost_7(),)),
    "scrub-states/05-scrub-clean": Truth((ost_7(),)),
    # Disk 1 repaired: checksum errors are no loss of redundancy, and no situation of these two.
    "scrub-states/06-scrub-repaired": Truth((ost_7(True),), 8, (6, 7)),
    "scrub-states/07-cleared-scrubbed": Truth((ost_7(),)),
    "scrub-states/08-permanent-errors": Truth((Pool("one", 3114912929103267002, "ONLINE", 1, 0), ost_7(True)), 8, (7,)),
    "scrub-states/09-files-deleted": Truth((Pool("one", 3114912929103267002, "ONLINE", 1, 0, labelled=False), ost_7())),
    "scrub-states/10-features-not-enabled": Truth(
        (Pool("compat", 0, "ONLINE", 1, 0, labelled=False), Pool("old", 0, "ONLINE", 1, 0, labelled=False), ost_7())
    ),
    "scrub-states/11-offlined": Truth((ost_7(state="DEGRADED", margin=1, bad=Bad(1245394928352340450, 3, "OFFLINE")),), situations=ACT),
    "scrub-states/12-exported": Truth((), 8, importable=(("ost_7", OST7, "ONLINE"),)),
    "sixty-disks-zfs2.3/1-healthy": Truth(ost_60(0, "ONLINE", 60, 2, labelled=False)),
    "sixty-disks-zfs2.3/2-one-removed": Truth(
        ost_60(1106881941466723896, "DEGRADED", 60, 1, Bad(7759401941992960840, PULLED37, "REMOVED"), False), situations=ACT
    ),
    "sixty-disks-zfs2.3/3-resilvering": Truth(
        ost_60(0, "DEGRADED", 61, 1, Bad(7759401941992960840, PULLED37, "REMOVED"), False), situations=WATCH
    ),
    # The labels of the first top-level vdev only were recorded here; the other 48 disks have not been asked.
    "sixty-disks/1-healthy": Truth(ost_60(17765414197878632263, "ONLINE", 60, 2, labelled=False), 60, silent=tuple(range(12, 60))),
    "sixty-disks/2-one-removed": Truth(
        ost_60(17765414197878632263, "DEGRADED", 60, 1, Bad(7176780975927443186, PULLED37, "REMOVED")), 59, situations=ACT
    ),
    "sixty-disks/3-resilvering": Truth(
        ost_60(17765414197878632263, "DEGRADED", 61, 1, Bad(7176780975927443186, PULLED37, "REMOVED"), False), situations=WATCH
    ),
    # Disk 4 is so slow that zdb gave up: nobody knows its label, and it is ONLINE.
    "slow-disk/1-writing": Truth((Pool("ost_6", 4815429314467791264, "ONLINE", 6, 2),), 6, silent=(4,)),
    "slow-disk/2-after": Truth((Pool("ost_6", 4815429314467791264, "ONLINE", 6, 2, labelled=False),)),
    "slow-disk/3-clear": Truth(NOT_RECORDED),
    "unsupported-features/1-not-imported": Truth(
        (), 6, importable=(("new2", 18260655130049515662, "UNAVAIL"), ("new1", 14508380960944538061, "UNAVAIL"))
    ),
    "unsupported-features/2-import": Truth(NOT_RECORDED),
    "wwid-drift-zfs2.3/1-before": Truth(ost_1("ONLINE", 2, guid=OST1_23), 6),
    "wwid-drift-zfs2.3/2-booted-not-imported": Truth((), 6, (8,), importable=(("ost_1", OST1_23, "DEGRADED"),)),
    "wwid-drift-zfs2.3/3-import-cachefile": Truth(ost_1("DEGRADED", 1, Bad(DRIFT23, 2, "FAULTED"), OST1_23), 6, (8,), situations=MISMATCH),
    "wwid-drift-zfs2.3/4-import-d-dev": Truth(ost_1("DEGRADED", 1, Bad(DRIFT23, 2, "FAULTED"), OST1_23), 6, (8,), situations=MISMATCH),
    # Only the pool was recorded: without the disks nobody can tell who has the old name.
    "wwid-drift-zfs2.3/5-refused-commands": Truth(ost_1("DEGRADED", 1, Bad(DRIFT23, 2, "OFFLINE"), OST1_23, False), situations=ACT),
    "wwid-drift-zfs2.3/6-right-replace": Truth(ost_1("ONLINE", 2, guid=OST1_23), 6),
    "wwid-drift-zfs2.3/7-reimported-default": Truth(ost_1("ONLINE", 2, guid=OST1_23, labelled=False)),
    "wwid-drift-zfs2.3/8-reimported-by-id": Truth(ost_1("ONLINE", 2, guid=OST1_23, labelled=False)),
    "wwid-drift/1-before": Truth(ost_1("ONLINE", 2), 6),
    "wwid-drift/2-booted-not-imported": Truth((), 6, (8,), importable=(("ost_1", OST1_21, "DEGRADED"),)),
    "wwid-drift/3-import-cachefile": Truth(ost_1("DEGRADED", 1, Bad(DRIFT21, 2, "FAULTED")), 6, (8,), situations=MISMATCH),
    "wwid-drift/4-import-d-dev": Truth(ost_1("DEGRADED", 1, Bad(DRIFT21, 2, "FAULTED")), 6, (8,), situations=MISMATCH),
    "wwid-drift/5-refused-commands": Truth(ost_1("DEGRADED", 1, Bad(DRIFT21, 2, "OFFLINE"), labelled=False), situations=ACT),
    "wwid-drift/6-right-replace": Truth(ost_1("ONLINE", 2), 6),
    "wwid-drift/7-reimported-default": Truth(ost_1("ONLINE", 2, labelled=False)),
    "wwid-drift/8-reimported-by-id": Truth(ost_1("ONLINE", 2, labelled=False)),
}


def leaves(pool: PoolFacts) -> list[VdevFacts]:
    return [leaf for _, top in pool.tops for leaf in top.leaves()]


def test_every_genuine_step_has_its_truth():
    assert set(TRUTHS) == set(STEPS)


TOLD = {slug for truth in TRUTHS.values() for slug, _ in truth.situations}  # the others have tables of their own


@pytest.mark.parametrize("name", TRUTHS)
def test_it_reads_the_pools(name):
    facts, truth = played(name), TRUTHS[name]
    if truth.pools is NOT_RECORDED:
        assert not known(facts.pools)
        return
    seen = [(p.name, p.state, len(leaves(p)), pool_margin(p)) for p in facts.pools]
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
            told = {normalise(text) for text in (leaf.name, leaf.was or "", leaf.devid or "") if not text.isdigit()} - {None}
            assert told <= {wwid(expected.bad.disk)}
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


@pytest.mark.parametrize("name", TRUTHS)
def test_it_detects_what_is_wrong_and_nothing_else(name):
    truth, found = TRUTHS[name], [s for s in detect_all(fleet(name)) if s.slug in TOLD]
    assert tuple((s.slug, s.severity) for s in found) == truth.situations
    bad = [str(p.bad.guid) for p in truth.pools or () if p.bad]
    assert [s.subject["vdev_guid"] for s in found] == bad
    for situation in found:
        assert all(e.digest for e in situation.evidence)
        assert all(a.params["vdev_guid"] in bad for a in situation.answers)


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
    "the-zfs-versions-match-and-are-tested",
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
