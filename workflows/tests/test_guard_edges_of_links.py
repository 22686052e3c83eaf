"""Where the guards of cables, of slow disks and of a disk that stands out turn."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from workflows.facts import ImportableFacts, SelfTestFacts, Unknown
from workflows.guards import links, slow, suspect
from workflows.guards.suspect import Difference
from workflows.tests.incident import (
    BLANK_WWID,
    DISKS,
    FLEET,
    LOST_LEAF,
    MEMBERS,
    NODE,
    PARAMS,
    POOL,
    POOL_GUID,
    SDCW_WWID,
    SDFL_WWID,
    TOP,
    TOP_GUID,
    WELL,
    fleet,
    label,
    leaf,
    with_disk,
    with_leaf,
    with_pool,
)

SILENT = Unknown("Nobody said.")
QUIET = "a" * 16


# --- cables


def hanging(facts=FLEET, phys=()):
    return SimpleNamespace(node=facts.nodes["oss01"], phys=phys, name="port-6:0:1", worst=SimpleNamespace(far="expander-6:1"))


TWO = {SDCW_WWID, SDFL_WWID}
LOG = with_pool(tops=(("data", replace(TOP, children=MEMBERS[2:])), ("log", replace(TOP, kind="disk", parity=0, children=MEMBERS[:1]))))
CUT = {
    "one of two": (FLEET, {SDCW_WWID}, "pass"),
    "two, and it survives one": (FLEET, TWO, "refuse"),
    "a stranger": (FLEET, {BLANK_WWID}, "pass"),
    "two, of which one serves nothing": (
        with_leaf(LOST_LEAF, replace(MEMBERS[0], state="OFFLINE"), *MEMBERS[1:]),
        {SDCW_WWID},
        "pass",
    ),
    "one, and another nobody knows": (with_leaf(LOST_LEAF, *MEMBERS, leaf(9, "/dev/sdq1", wwid=SILENT)), {SDCW_WWID}, "unknown"),
    "none, and another nobody knows": (with_leaf(LOST_LEAF, *MEMBERS, leaf(9, "/dev/sdq1", wwid=SILENT)), set(), "pass"),
    "one, and what it survives nobody knows": (with_pool(scans=SILENT), {SDCW_WWID}, "unknown"),
    "disks nobody knows": (fleet(replace(NODE, disks=SILENT)), {SDCW_WWID}, "unknown"),
    "pools nobody knows": (with_pool(tops=SILENT), {SDCW_WWID}, "unknown"),
}


@pytest.mark.parametrize("name", CUT)
def test_a_cable_is_taken_out_where_every_vdev_survives_it(name, monkeypatch):
    facts, cut, outcome = CUT[name]
    monkeypatch.setattr(links, "the_link", lambda *_: hanging(facts))
    monkeypatch.setattr(links, "behind", lambda _: cut)
    assert links.no_pool_lives_by_this_link_alone(facts, PARAMS).outcome == outcome


@pytest.mark.parametrize(("seconds", "outcome"), [(539.0, "refuse"), (540.0, "pass"), (SILENT, "refuse")])
def test_growth_is_told_by_two_looks(seconds, outcome, monkeypatch):
    monkeypatch.setattr(links, "watched_seconds", lambda _: seconds)
    assert links.growth_was_watched(FLEET, PARAMS).outcome == outcome


def test_a_node_without_links_is_told_so(monkeypatch):
    monkeypatch.setattr(links, "links", lambda _: ())
    assert links.the_counters_are_known(FLEET, PARAMS).outcome == "refuse"
    assert links.the_link(FLEET, PARAMS) == Unknown("oss01 shows no link that was chosen.")


@pytest.mark.parametrize(
    ("quiet", "counts", "age", "outcome"),
    [
        ("", QUIET, 9.0, "refuse"),
        (f"100:699:{QUIET}", QUIET, 9.0, "refuse"),
        (f"100:700:{QUIET}", QUIET, 9.0, "pass"),
        (f"100:700:{QUIET}", "b" * 16, 9.0, "refuse"),
        (f"100:700:{QUIET}", QUIET, 9e4, "unknown"),
    ],
)
def test_a_link_is_quiet_for_ten_minutes_and_since(quiet, counts, age, outcome, monkeypatch):
    here = fleet(replace(NODE, ages={**NODE.ages, "sas_phys": age}))
    monkeypatch.setattr(links, "the_link", lambda *_: hanging(here))
    monkeypatch.setattr(links, "fingerprint", lambda _: counts)
    assert links.the_link_is_quiet(here, {**PARAMS, "quiet": quiet}).outcome == outcome


def on_link(state, far="expander-6:1", end="end_device-6:1:1"):
    path = replace(DISKS[0].paths[0], state=state, link=SimpleNamespace(expanders=(far,), end=end))
    return fleet(replace(with_leaf(MEMBERS[0], *MEMBERS[1:]).nodes["oss01"], disks=(replace(DISKS[0], paths=(path,)), *DISKS[1:])))


BEHIND = {
    "all run": (on_link("running"), "pass"),
    "one does not": (on_link("offline"), "refuse"),
    "one does not say": (on_link(SILENT), "refuse"),
    "one elsewhere does not": (on_link("offline", "expander-6:9"), "pass"),
    "one right at its end does not": (on_link("offline", "expander-6:9", "expander-6:1"), "refuse"),
    "a member is lost": (FLEET, "refuse"),
    "a member was taken out": (with_leaf(replace(LOST_LEAF, state="OFFLINE")), "pass"),
    "disks nobody knows": (fleet(replace(NODE, disks=SILENT)), "unknown"),
    "pools nobody knows": (with_pool(tops=SILENT), "unknown"),
}


@pytest.mark.parametrize("name", BEHIND)
def test_every_disk_behind_a_link_is_there(name, monkeypatch):
    facts, outcome = BEHIND[name]
    monkeypatch.setattr(links, "the_link", lambda *_: hanging(facts))
    assert links.every_disk_behind_it_is_there(facts, PARAMS).outcome == outcome


# --- slow disks


def a_test(result=0, hours=22630):
    return SelfTestFacts(hours, "Background short", result, "it says")


def after_tests(*tests, wwid=SDCW_WWID, **more):
    return with_disk(wwid, condition=replace(WELL, **{"self_tests": tests, "power_on_hours": 22631, **more}))


def subject_in(facts):
    node = facts.nodes["oss01"]
    return SimpleNamespace(node=node, disk=node.disks[0], one=SimpleNamespace(top=TOP), leaf=MEMBERS[0])


TESTED = {
    "ended": (after_tests(a_test()), "pass"),
    "runs": (after_tests(a_test(15)), "refuse"),
    "of two hours ago": (after_tests(a_test(hours=22629)), "refuse"),
    "of no hour": (after_tests(a_test(hours=None)), "refuse"),
    "none": (after_tests(), "refuse"),
    "of an unknown age": (after_tests(a_test(), power_on_hours=SILENT), "unknown"),
    "no log": (after_tests(self_tests=SILENT), "unknown"),
    "nobody read it": (with_disk(SDCW_WWID, condition=SILENT), "unknown"),
}


@pytest.mark.parametrize("name", TESTED)
def test_a_self_test_has_ended(name, monkeypatch):
    facts, outcome = TESTED[name]
    monkeypatch.setattr(slow, "the_subject", lambda *_: subject_in(facts))
    assert slow.the_self_test_has_ended(facts, PARAMS).outcome == outcome


MAY_BE_TESTED = {
    "no test runs": (after_tests(a_test()), "pass"),
    "its own runs": (after_tests(a_test(15)), "refuse"),
    "one of the same vdev runs": (after_tests(a_test(15), wwid=SDFL_WWID), "refuse"),
    "one of the same vdev ran": (after_tests(a_test(), a_test(15), wwid=SDFL_WWID), "pass"),
    "another disk's runs": (after_tests(a_test(15), wwid=BLANK_WWID), "pass"),
    "no log": (after_tests(self_tests=SILENT), "unknown"),
    "nobody read it": (with_disk(SDCW_WWID, condition=SILENT), "unknown"),
    "nobody read a sibling": (with_disk(SDFL_WWID, condition=SILENT), "pass"),
}


@pytest.mark.parametrize("name", MAY_BE_TESTED)
def test_one_disk_of_a_vdev_is_tested_at_a_time(name, monkeypatch):
    facts, outcome = MAY_BE_TESTED[name]
    monkeypatch.setattr(slow, "the_subject", lambda *_: subject_in(facts))
    assert slow.the_disk_may_be_tested(facts, PARAMS).outcome == outcome


@pytest.mark.parametrize(("suspended", "outcome"), [(False, "pass"), (True, "refuse"), (SILENT, "unknown")])
def test_nothing_is_measured_on_a_suspended_pool(suspended, outcome):
    assert slow.the_pool_answers(with_pool(suspended=suspended), PARAMS).outcome == outcome


# --- a disk that stands out


def standing_out(*wwids, kinds=("label-ahead", "uberblock-ahead")):
    clues = tuple(SimpleNamespace(kind=kind, sentence=f"it says {kind}") for kind in kinds)
    return tuple(SimpleNamespace(disk=replace(DISKS[0], wwid=wwid), clues=clues) for wwid in wwids)


ALONE = {
    "alone": (standing_out(BLANK_WWID), "pass", "pass"),
    "another": (standing_out(SDCW_WWID), "refuse", "refuse"),
    "nameless": (standing_out(SILENT), "refuse", "refuse"),
    "two": (standing_out(BLANK_WWID, SDCW_WWID), "refuse", "pass"),
    "none": ((), "refuse", "refuse"),
    "by one kind": (standing_out(BLANK_WWID, kinds=("label-ahead", "copies")), "pass", "refuse"),
    "nobody knows": (SILENT, "unknown", "unknown"),
}


@pytest.mark.parametrize("name", ALONE)
def test_one_disk_alone_stands_out_by_two_kinds_of_evidence(name, monkeypatch):
    found, alone, kinds = ALONE[name]
    monkeypatch.setattr(suspect, "diverging", lambda *_: found)
    assert suspect.it_alone_tells_another_story(FLEET, PARAMS).outcome == alone
    assert suspect.two_kinds_of_evidence_name_it(FLEET, PARAMS).outcome == kinds


def blocked(members=5, absent=0, tops=(TOP_GUID,) * 5, expected=()):
    """Not imported; SDCW is the disk in question, and labels speak of so many members."""
    leaves = tuple(replace(m, name=f"wwn-0x{m.wwid[4:]}", state="ONLINE") for m in MEMBERS)
    gone = tuple(leaf(500 + n, f"wwn-gone{n}", "UNAVAIL") for n in range(absent))
    one = ImportableFacts("ost_0", POOL_GUID, "FAULTED", "", "", (("data", replace(TOP, children=(*leaves, *gone))),))
    disks = tuple(
        replace(d, labels=tuple(replace(x, top_guid=top) for x in d.labels)) for d, top in zip(DISKS, (*tops, 0, 0), strict=False)
    )
    spoken = tuple(SimpleNamespace(pool_guid=POOL_GUID, top_guid=TOP_GUID, guid=n) for n in range(members))
    others = (SimpleNamespace(pool_guid=5, top_guid=TOP_GUID, guid=99), SimpleNamespace(pool_guid=POOL_GUID, top_guid=5, guid=98))
    return fleet(
        replace(
            NODE,
            pools=(),
            importable=(one,),
            disks=(*disks, *DISKS[len(disks) :]),
            expected=(*spoken, *others) if expected == () else expected,
        )
    )


IT = {"wwid": SDCW_WWID}
SPARED = {
    "it can": (blocked(4), IT, "pass", "survives the loss of 1 more disk"),
    "one is away": (blocked(5, 1), IT, "pass", "has no redundancy left"),
    "two are away": (blocked(6, 2), IT, "refuse", "lacks 2 disks already"),
    "labels speak of more": (blocked(5), IT, "unknown", "labels name 5"),
    "labels do not agree": (blocked(4, tops=(TOP_GUID, TOP_GUID, 7, TOP_GUID)), IT, "unknown", "do not agree"),
    "its own label is not asked": (blocked(4, tops=(7, TOP_GUID, TOP_GUID, TOP_GUID)), IT, "pass", "survives the loss of 1 more disk"),
    "labels nobody read": (blocked(expected=SILENT), IT, "unknown", "How many disks raidz2-0 has"),
    "no member": (blocked(4), {}, "unknown", "Which vdev of ost_0 sdcx"),
    "no disk": (blocked(4), {"wwid": ""}, "unknown", "No disk is chosen"),
}


@pytest.mark.parametrize("name", SPARED)
def test_its_vdev_can_do_without_it(name):
    facts, changes, outcome, expected = SPARED[name]
    verdict = suspect.its_vdev_can_do_without_it(facts, {**PARAMS, **changes})
    assert (verdict.outcome, expected in verdict.reason) == (outcome, True), verdict


OTHERS = label("sdcw1", 5, 777, "scratch9", 1)
NEEDED = {
    "nothing else": (fleet(replace(NODE, pools=())), "pass"),
    "in use": (fleet(replace(NODE, pools=(), disks=(replace(DISKS[0], in_use=("swap",)), *DISKS[1:]))), "refuse"),
    "another pool's": (fleet(replace(NODE, pools=(), disks=(replace(DISKS[0], labels=(*DISKS[0].labels, OTHERS)), *DISKS[1:]))), "refuse"),
    "an imported pool's": (FLEET, "refuse"),
    "use nobody knows": (fleet(replace(NODE, pools=(), disks=(replace(DISKS[0], in_use=SILENT), *DISKS[1:]))), "unknown"),
}


@pytest.mark.parametrize("name", NEEDED)
def test_nothing_else_needs_it(name):
    facts, outcome = NEEDED[name]
    assert suspect.nothing_else_needs_it(facts, {**PARAMS, **IT}).outcome == outcome


def ending(*ends, pool_guid=POOL_GUID):
    """What the disks of the timeline end with: (WWID, txg, time)."""
    disks = tuple(
        SimpleNamespace(disk=replace(DISKS[0], wwid=wwid), newest=None if txg is None else SimpleNamespace(txg=txg, timestamp=at))
        for wwid, txg, at in ends
    )
    return fleet(replace(NODE, timelines=(SimpleNamespace(pool_guid=pool_guid, disks=disks),)))


def test_what_would_have_been_is_told_by_the_best_of_the_others():
    facts = ending((SDCW_WWID, 110, 1041), ("naa:1", 100, 1000), ("naa:2", 99, 1005), ("naa:3", None, 0))
    assert suspect.the_difference(facts, {**PARAMS, **IT}) == Difference(100, 110, 41)
    assert [Difference(1, 2, seconds).loss for seconds in (41, 0, -5)] == ["41 s", "0 s", "0 s"]


@pytest.mark.parametrize(
    "facts",
    [
        ending(("naa:1", 100, 1000)),
        ending((SDCW_WWID, 110, 1041)),
        ending((SDCW_WWID, 110, 1041), ("naa:1", None, 0)),
        ending((SDCW_WWID, 110, 1041), ("naa:1", 100, 1000), pool_guid=5),
        FLEET,
    ],
)
def test_what_would_have_been_is_not_guessed(facts):
    assert "is not known" in suspect.the_difference(facts, {**PARAMS, **IT}).reason


def test_a_disk_may_be_looked_for_where_the_pool_is_away_or_the_disk_is_out():
    here = {**PARAMS, "old_wwid": BLANK_WWID, "enclosure": "0x50050cc11ac016e2", "slot": "70"}
    asked = (suspect.it_may_be_looked_for, suspect.it_must_be_pulled_first)
    empty = tuple(replace(b, status="not installed") if b.slot == 70 else b for b in NODE.bays)
    out = fleet(replace(NODE, bays=empty, disks=tuple(d for d in DISKS if d.wwid != BLANK_WWID)))
    unread = fleet(replace(NODE, bays=SILENT))
    assert [guard(fleet(replace(NODE, pools=())), here).outcome for guard in asked] == ["pass", "refuse"]
    assert [guard(out, here).outcome for guard in asked] == ["pass", "refuse"]
    assert [guard(FLEET, here).outcome for guard in asked] == ["refuse", "pass"]
    assert [guard(unread, here).outcome for guard in asked] == ["unknown", "unknown"]
    assert POOL.name in suspect.it_may_be_looked_for(FLEET, here).reason
