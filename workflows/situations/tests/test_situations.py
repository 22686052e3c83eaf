"""The incident and its neighbours: which situation, how urgent, and whether the runbook answers it."""

from dataclasses import replace

import pytest

from workflows.facts import ScanFacts, Unknown
from workflows.situations import detect_all, disk_missing
from workflows.tests.incident import (
    DISKS,
    FLEET,
    LOST,
    LOST_LEAF,
    MEMBERS,
    NODE,
    PARAMS,
    SDFL,
    SDFL_WWID,
    SPARE_WWID,
    TWIN,
    by_id,
    disk,
    fleet,
    label,
    leaf,
    vdev,
    with_leaf,
    with_pool,
)

GONE = leaf(LOST, f"{by_id('naa:5000c500a65b202b')}-part1", "REMOVED")
NEW = leaf(3, f"{by_id('naa:5000c500a65b2aab')}-part1", wwid="naa:5000c500a65b2aab", resilvering=True)
BACK = disk("sdq", SPARE_WWID, label("sdq1", LOST))


def only(facts, *beside):
    """The one situation, apart from those that may stand beside it."""
    (found,) = [s for s in detect_all(facts) if s.slug not in beside]
    return found


def with_back(lost):
    node = with_leaf(replace(lost, wwid=SPARE_WWID)).nodes["oss01"]
    return fleet(replace(node, disks=(*DISKS, BACK)))


def test_it_sees_the_incident():
    found = only(FLEET)
    assert (found.slug, found.severity, found.sure) == ("wwid-mismatch", "act", True)
    assert found.key == f"wwid-mismatch:{found.node}:{LOST}"
    assert found.answers[0].runbook == "wwid-mismatch-replace"
    assert found.answers[0].params == {k: v for k, v in PARAMS.items() if k != "wwid"}


def test_it_names_the_guid_the_stale_name_and_who_sits_there_now():
    found = only(FLEET)
    for word in (str(LOST), "/dev/sdfl1", f"sdfl ({SDFL_WWID})", f"member {SDFL} of ost_0", str(TWIN), "survives 1 more loss"):
        assert word in found.meaning
    assert found.subject["now_vdev_guid"] == str(SDFL)
    assert found.subject["now_wwid"] == SDFL_WWID


def test_its_evidence_can_be_looked_up():
    found = only(FLEET)
    assert ("zpool_status", "a" * 64, f"{LOST}  FAULTED  was /dev/sdfl1") in {(e.source, e.digest, e.line) for e in found.evidence}
    assert any(str(TWIN) in e.line for e in found.evidence)
    assert any(e.source == "zdb_label/sdfl1" and str(SDFL) in e.line for e in found.evidence)


MISMATCHES = {
    "only the member under the name": (replace(LOST_LEAF, devid=None), True),
    "only the stored device id": (replace(LOST_LEAF, was="/dev/sdzz1"), False),
    "a stranger under the name": (replace(LOST_LEAF, was="/dev/sdcx1", devid="scsi-35000c500a65b202b-part1"), True),
    "another disk's label under the name": (leaf(LOST, "/dev/sdfl1", "FAULTED", note="corrupted data"), True),
}


@pytest.mark.parametrize("name", MISMATCHES)
def test_each_contradiction_alone_is_enough(name):
    lost, sure = MISMATCHES[name]
    found = only(with_leaf(lost))
    assert (found.slug, found.sure) == ("wwid-mismatch", sure)


MISSING = {
    "pulled": GONE,
    "absent, and nobody has its name": replace(LOST_LEAF, was="/dev/sdzz1", devid=None),
    "absent, and its name leads nowhere": replace(
        LOST_LEAF, was=f"{by_id('naa:5000c500a65b202b')}-part1", devid="scsi-35000c500a65b202b-part1"
    ),
    "faulted in its place": leaf(LOST, f"{by_id(SDFL_WWID)}-part1", "FAULTED", note="too many errors"),
    "unavailable": leaf(LOST, "/dev/sdzz1", "UNAVAIL", note="cannot open"),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_lost_disk_without_a_contradiction_is_missing(name):
    found = only(with_leaf(MISSING[name]))
    assert (found.slug, found.severity) == ("disk-missing", "act")
    assert found.answers[0].params["vdev_guid"] == str(LOST)
    assert found.answers[0].params["was"].startswith("/dev/")


@pytest.mark.parametrize("lost", [GONE, LOST_LEAF])
def test_a_replacement_under_way_is_watched_not_answered(lost):
    replacing = vdev(9, "replacing-0", "replacing", 0, lost, NEW)
    found = only(
        with_pool(tops=(("data", vdev(7, "raidz2-0", "raidz", 2, replacing, *MEMBERS)),), scans=(ScanFacts("resilver", "running", ""),))
    )
    assert (found.severity, found.answers) == ("watch", ())
    assert NEW.name in found.meaning


def test_a_replacement_whose_new_disk_failed_is_acted_upon():
    replacing = vdev(9, "replacing-0", "replacing", 0, GONE, replace(NEW, state="FAULTED", resilvering=False))
    assert {(s.severity, s.answers) for s in detect_all(with_leaf(replacing))} == {("act", ())}


def test_a_spare_in_its_place_is_watched_and_the_lost_disk_can_be_replaced():
    found = only(with_leaf(vdev(9, "spare-0", "spare", 0, GONE, replace(NEW, resilvering=False))), "spare-in-use")
    assert (found.severity, len(found.answers)) == ("watch", 1)


@pytest.mark.parametrize("lost", [GONE, LOST_LEAF, replace(GONE, state="OFFLINE"), replace(GONE, state="UNAVAIL")])
def test_a_member_that_is_back_is_not_replaced(lost):
    found = only(with_back(lost))
    (answer,) = found.answers
    assert (answer.runbook, "nothing is replaced" in answer.why) == ("wwid-mismatch-replace", True)
    assert f"sdq ({SPARE_WWID}) carries its label" in found.meaning
    assert "`zpool online`" in found.meaning


@pytest.mark.parametrize(
    ("state", "zfs", "expected"),
    [
        ("REMOVED", "zfs-2.1.11-1+deb12u1", True),
        ("REMOVED", "zfs-2.1.12-1", False),
        ("REMOVED", "zfs-2.3.2-2~bpo12+2", False),
        ("REMOVED", Unknown("not asked"), False),
        ("UNAVAIL", "zfs-2.1.11-1+deb12u1", False),
    ],
)
def test_a_disk_that_an_older_zed_may_have_called_removed_by_mistake_is_told_of(state, zfs, expected):
    facts = with_back(replace(GONE, state=state))
    (found,) = disk_missing.detect(fleet(replace(facts.nodes["oss01"], zfs_userland=zfs)))
    assert ("Before OpenZFS 2.1.12 ZED" in found.meaning) is expected


def test_it_does_not_offer_a_run_about_a_guid_it_does_not_know():
    found = only(with_leaf(replace(LOST_LEAF, guid=Unknown("the two runs differ"))))
    assert found.answers == ()
    assert found.key == f"wwid-mismatch:{found.node}:{LOST}"  # -P prints the guid of an absent leaf


@pytest.mark.parametrize("field", ["pools", "disks", "bays", "importable", "leaf_changes", "hostid"])
def test_an_unknown_source_neither_raises_nor_hides_a_lost_disk(field):
    found = detect_all(fleet(replace(NODE, **{field: Unknown("timeout")})))
    assert len(found) == (0 if field == "pools" else 1)


def test_all_is_well():
    healthy = leaf(LOST, f"{by_id('naa:5000c500a65b202b')}-part1", wwid="naa:5000c500a65b202b")
    assert {one.slug for one in detect_all(with_leaf(healthy))} == {"kernel-names"}  # of the other members


def test_a_member_that_is_degraded_without_a_reason_is_watched():
    degraded = leaf(LOST, f"{by_id('naa:5000c500a65b202b')}-part1", "DEGRADED", wwid="naa:5000c500a65b202b")
    found = only(with_leaf(degraded))
    assert (found.slug, found.severity, found.answers) == ("member-degraded", "watch", ())
    assert [cure.kind for cure in found.cures] == ["reseat", "clear", "replace"]


@pytest.mark.parametrize(
    ("stored", "named"),
    [("/sys/class/enclosure/6:0:88:0/Slot 05", True), (None, False), ("/sys/class/enclosure/6:0:88:0/x", False)],
)
def test_of_a_member_that_is_away_the_bay_is_told_that_its_label_stored(stored, named):
    """The disk is not seen, so what its label stored is all there is; it is no proof."""
    found = only(with_leaf(replace(GONE, enc_path=stored)))
    assert found.slug == "disk-missing"
    assert ("bay 5 of enclosure 6:0:88:0: look there, and compare the serial number" in found.meaning) is named
