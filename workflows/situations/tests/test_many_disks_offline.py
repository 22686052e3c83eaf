"""Many lost disks, one cause. No genuine step lost two members at once, so none may show it; the mass events are put together by us."""

from dataclasses import replace

import pytest

from agents.collectors import COLLECTORS
from agents.tests.scenarios import STEPS
from twin import demo
from twin.scenarios import Clock, pull
from twin.scenarios import host as twin
from workflows.engine.core import Evidence, Situation
from workflows.facts import BayFacts, FleetFacts, LeafChange, LinkFacts, Unknown, node_facts
from workflows.facts.tests.played import fleet as genuine
from workflows.guards import GUARDS
from workflows.situations import detect_all, many_disks_offline
from workflows.situations._ranking import ranked
from workflows.tests.incident import NODE, PARAMS, POOL, POOL_GUID, by_id, disk, fleet, label, leaf, vdev, with_pool

SHELVES = {"0000:b3:00.0": "0x50050cc11ac016e2", "0000:5e:00.0": "0x50050cc11ac01f4a"}
A, B = SHELVES  # two HBAs with a shelf each


@pytest.mark.parametrize("name", STEPS)
def test_no_genuine_step_shows_it(name):
    assert many_disks_offline.detect(genuine(name)) == ()


def wwid(n):
    return f"naa:5000c500a65b{n:04x}"


def seat(n, hba, slot, lost=False):
    """A member's leaf and its disk: behind `hba`, in `slot` of its shelf; a lost one has no disk any more."""
    shelf = "6:0:89:0" if hba == A else "7:0:31:0"
    strings = {"phys_path": f"pci-{hba}-sas-0x5000c500a65b{n:04x}-lun-0", "enc_path": f"/sys/class/enclosure/{shelf}/{slot}"}
    gone = leaf(n, f"{by_id(wwid(n))}-part1", "REMOVED" if lost else "ONLINE", **({} if lost else {"wwid": wwid(n)}), **strings)
    bay = BayFacts(SHELVES[hba], shelf, slot, str(slot), "OK", False, False, None if lost else f"sd{n}")
    host = "6" if hba == A else "7"
    link = LinkFacts(f"host{host}", hba, (f"expander-{host}:0",), f"end_device-{host}:0:{n}")
    there = disk(f"sd{n}", wwid(n), label(f"sd{n}1", n), slot=n, bay=bay)
    there = replace(there, paths=(replace(there.paths[0], link=link),))
    return gone, bay, None if lost else there


def built(seats, changes=()):
    leaves, bays, disks = zip(*seats, strict=True)
    half = len(leaves) // 2
    tops = (("data", vdev(7, "raidz2-0", "raidz", 2, *leaves[:half])), ("data", vdev(8, "raidz2-1", "raidz", 2, *leaves[half:])))
    node = replace(NODE, pools=(replace(POOL, tops=tops),), disks=tuple(d for d in disks if d), bays=tuple(bays))
    return fleet(replace(node, leaf_changes=tuple(LeafChange(POOL_GUID, guid, "ONLINE", "REMOVED", age) for guid, age in changes)))


def only(facts):
    (found,) = many_disks_offline.detect(facts)
    return found


def lost_guids(found):
    return {int(guid) for guid in found.subject["vdev_guids"].split()}


WHOLE_HBA = [seat(n, A, n, lost=True) for n in range(1, 7)] + [seat(n, B, n) for n in range(11, 17)]


def test_all_behind_one_hba_is_that_hba():
    found = only(built(WHOLE_HBA))
    assert (found.severity, found.sure) == ("act", True)
    assert lost_guids(found) == set(range(1, 7))
    assert found.title == f"6 members of ost_0 are lost together: all hang on HBA {A}"
    assert f"enclosure {SHELVES[A]}" in found.meaning  # it fits as well, and is said
    assert "Replace no disk" in found.meaning


def test_a_shelf_is_named_when_its_hba_still_serves_another():
    """The HBA has a second shelf that works, so it is not the HBA."""
    seats = [seat(n, A, n, lost=True) for n in range(1, 7)] + [seat(n, B, n) for n in range(11, 17)]
    moved = [(g, b, replace(d, paths=(replace(d.paths[0], link=replace(d.paths[0].link, pci=A)),))) for g, b, d in seats[6:]]
    found = only(built([*seats[:6], *moved]))
    assert found.subject["suspect"] == f"enclosure {SHELVES[A]}"


def test_disks_that_went_in_one_minute_are_one_event():
    seats = [seat(n, A, 3 * n, lost=n < 3) for n in range(1, 7)] + [seat(n, B, n) for n in range(11, 17)]
    found = only(built(seats, [(1, 30.0), (2, 41.0)]))
    assert lost_guids(found) == {1, 2}
    assert not found.sure
    assert "where other disks still work" in found.meaning


def test_disks_that_went_on_different_days_are_not():
    seats = [seat(n, A, 3 * n, lost=n < 3) for n in range(1, 7)] + [seat(n, B, n) for n in range(11, 17)]
    assert many_disks_offline.detect(built(seats, [(1, 30.0), (2, 90_000.0)])) == ()
    assert many_disks_offline.detect(built(seats)) == ()


def test_bays_side_by_side_are_a_backplane():
    seats = [seat(n, A, n + 20, lost=n < 4) for n in range(1, 7)] + [seat(n, B, n) for n in range(11, 17)]
    found = only(built(seats))
    assert found.subject["suspect"] == f"bays 21 to 23 of {SHELVES[A]}"
    assert "backplane" in found.meaning


def test_one_lost_disk_is_no_mass_event():
    seats = [seat(n, A, n, lost=n == 1) for n in range(1, 7)] + [seat(n, B, n) for n in range(11, 17)]
    assert many_disks_offline.detect(built(seats, [(1, 5.0)])) == ()


def test_what_somebody_switched_off_is_no_mass_event():
    seats = [(replace(gone, state="OFFLINE"), bay, there) for gone, bay, there in WHOLE_HBA[:6]] + WHOLE_HBA[6:]
    assert many_disks_offline.detect(built(seats)) == ()


def test_every_single_loss_points_at_the_one_cause():
    found = detect_all(built(WHOLE_HBA))
    cause, *others = found
    assert cause.slug == "many-disks-offline"
    assert [s.slug for s in others].count("disk-missing") == 6
    assert {(s.slug, s.cause, s.severity, s.answers) for s in others} == {
        ("disk-missing", cause.key, "watch", ()),
        ("vdev-degraded", cause.key, "watch", ()),  # its row is said to be ONLINE
    }
    assert [s for s in found if s.severity == "act"] == [cause]


def test_a_loss_that_has_nothing_to_do_with_it_stays_urgent():
    lone = [
        (replace(g, state="FAULTED", wwid=replace(d, wwid=wwid(11)).wwid), b, d) if g.guid == 11 else (g, b, d) for g, b, d in WHOLE_HBA
    ]
    found = detect_all(built(lone))
    (single,) = [s for s in found if s.subject.get("vdev_guid") == "11"]
    assert (single.severity, single.cause) == ("act", "")


def test_no_disk_is_replaced_while_it_stands():
    verdict = GUARDS["no-mass-event-is-under-way"](built(WHOLE_HBA), PARAMS | {"vdev_guid": "1"})
    assert verdict.outcome == "refuse"
    assert A in verdict.reason


@pytest.mark.parametrize("field", ["disks", "bays", "leaf_changes", "fabric"])
def test_less_knowledge_raises_nothing(field):
    facts = built(WHOLE_HBA)
    detect_all(fleet(replace(facts.nodes["oss01"], **{field: Unknown("timeout")})))


def test_the_real_collectors_see_it_on_a_twin(tmp_path):
    """Four members pulled within a minute: their disks are gone, so what they hung on comes from the labels of the others."""
    node = demo.oss03(Clock().at)
    for member in [d for d in node.disks if d.paths[0].sas_address][7:14:2]:
        pull(node, member.wwid)
    host = twin(tmp_path, node, Clock())
    taken = [capture for collector in COLLECTORS.values() for capture in collector.collect(host)]
    facts = node_facts("oss03", {f"{c.source}/{c.key}" if c.key else c.source: c for c in taken}, 1.0, ())
    lost = [leaf for _, top in facts.pools[0].tops for leaf in top.leaves() if leaf.state == "REMOVED"]
    went = tuple(LeafChange(1, leaf.guid, "ONLINE", "REMOVED", 20.0 + i) for i, leaf in enumerate(lost[1:]))
    found = detect_all(FleetFacts({"oss03": replace(facts, leaf_changes=went)}))
    assert [(s.slug, s.severity, bool(s.cause)) for s in found[:3]] == [
        ("many-disks-offline", "act", False),
        ("pool-down", "act", True),
        ("disk-missing", "watch", True),
    ]
    assert found[0].subject["suspect"] == "HBA 0000:5e:00.0"
    assert [s.slug for s in found if s.cause] == ["pool-down", *["disk-missing"] * 4]
    assert [s.severity for s in found if not s.cause] == ["act", "act"]  # the disk that was pulled before is a story of its own


def situation(slug, key, severity, **subject):
    return Situation(slug, key, "oss01", severity, key, "", (Evidence("oss01", "zpool_status", "", ""),), subject=subject)


def test_ranking_puts_causes_first_and_what_they_explain_below():
    loose, cause, first, note = (
        situation("disk-missing", "loose", "watch"),
        situation("many-disks-offline", "cause", "act"),
        situation("disk-missing", "first", "act", vdev_guid="1"),
        situation("resilver", "note", "info", vdev_guid="1"),
    )
    found = ranked((loose, note, first, cause), [("many-disks-offline", lambda a, b: b.subject.get("vdev_guid") == "1")])
    assert [(s.key, s.cause, s.severity) for s in found] == [
        ("cause", "", "act"),
        ("first", "cause", "watch"),
        ("note", "cause", "info"),
        ("loose", "", "watch"),
    ]


def suspended(kind: str, pool: str = "ost_0"):
    return situation("pool-suspended", "suspended", "act", pool=pool, kind=kind)


@pytest.mark.parametrize(
    ("kind", "pool", "caused"), [("io", "ost_0", True), ("not known", "ost_0", True), ("mmp", "ost_0", False), ("io", "ost_1", False)]
)
def test_it_explains_the_pool_that_its_losses_suspended(kind, pool, caused):
    """A multihost suspension has dangers of its own, and another pool has lost none of these members."""
    assert many_disks_offline.explains(only(built(WHOLE_HBA)), suspended(kind, pool)) is caused


def test_a_suspended_pool_stays_urgent_below_its_cause():
    """Everything stands still: that is for people to know at once, whatever they have to mend."""
    facts = built(WHOLE_HBA)
    node = facts.nodes["oss01"]
    pools = tuple(
        replace(pool, suspended=True, status="One or more devices are faulted in response to IO failures.") for pool in node.pools
    )
    found = detect_all(fleet(replace(node, pools=pools)))
    assert [(s.slug, s.severity, bool(s.cause)) for s in found[:3]] == [
        ("many-disks-offline", "act", False),
        ("pool-suspended", "act", True),
        ("disk-missing", "watch", True),
    ]
    assert found[1].answers == ()


def drifted(moved: int, lost: int, name: str):
    """After a boot: the disk of `moved` runs under another name than the pool remembers, which is `name`, and that of `lost` is away."""
    facts = built([seat(n, A, n) for n in range(6)], [(n, 20.0) for n in (moved, lost)])
    node = facts.nodes["oss01"]

    def as_imported(vdev):
        if vdev.children:
            return replace(vdev, children=tuple(as_imported(child) for child in vdev.children))
        if vdev.guid not in (moved, lost):
            return vdev
        return replace(
            vdev,
            state="UNAVAIL",
            name=str(vdev.guid),
            was=name if vdev.guid == moved else "/dev/sd77",
            **({"wwid": None} if vdev.guid == lost else {}),
        )

    pools = tuple(replace(pool, tops=tuple((role, as_imported(top)) for role, top in pool.tops)) for pool in node.pools)
    return fleet(replace(node, pools=pools, disks=tuple(d for d in node.disks if d.wwid != wwid(lost))))


@pytest.mark.parametrize(
    ("name", "together"), [("/dev/sd5", 0), ("/dev/sd55", 0), (f"{by_id(wwid(1))}-part1", 1)], ids=["another's", "nobody's", "its own"]
)
def test_a_member_whose_name_moved_over_a_boot_is_not_lost_together_with_one_whose_disk_is_away(name, together):
    """Both are called lost in the second of the import. A real node's walk was told to mend its HBA, and offered no runbook."""
    assert len(many_disks_offline.detect(drifted(1, 2, name))) == together


def test_a_disk_that_is_not_known_under_the_old_name_does_not_say_that_names_moved():
    node = drifted(1, 2, "/dev/sd5").nodes["oss01"]
    disks = tuple(replace(d, wwid=Unknown("It does not say.")) if "sd5" in d.names else d for d in node.disks)
    assert len(many_disks_offline.detect(fleet(replace(node, disks=disks)))) == 1


def lost_of_one_vdev(*vdevs):
    """Three lost members of one raidz3, of which nothing tells what they share or when they went."""
    rest = [leaf(300 + i, f"/dev/sdz{i}") for i in range(4)]
    top = vdev(7, "raidz3-0", "raidz", 3, *vdevs, *rest, state="DEGRADED")
    return with_pool(state="DEGRADED", tops=(("data", top),))


AWAY = tuple(leaf(200 + i, str(200 + i), "UNAVAIL", was=f"/dev/sdy{i}") for i in range(3))


def test_three_lost_members_of_one_vdev_are_one_situation_that_gates_and_offers_no_run():
    (found,) = [s for s in detect_all(lost_of_one_vdev(*AWAY)) if s.slug == "many-disks-offline"]
    assert (found.severity, found.gate, found.answers, found.sure) == ("act", True, (), False)
    assert set(found.vdevs) == {"200", "201", "202"}


def test_two_lost_members_are_not():
    assert "many-disks-offline" not in {s.slug for s in detect_all(lost_of_one_vdev(*AWAY[:2]))}


def test_lost_members_for_which_spares_stand_in_do_not_count_as_lost_together():
    spared = [vdev(400 + i, f"spare-{i}", "spare", 0, away, leaf(500 + i, f"/dev/sdx{i}")) for i, away in enumerate(AWAY)]
    assert "many-disks-offline" not in {s.slug for s in detect_all(lost_of_one_vdev(*spared))}
