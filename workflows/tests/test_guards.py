"""Each guard on the incident: it passes as it is, and refuses when the one thing it asks about is wrong."""

import ast
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest

from workflows.engine.core import ask, blockers, guard, ok, unknown
from workflows.facts import ErrorFacts, FleetFacts, LeafChange, ScanFacts, SelfTestFacts, Unknown, known, need
from workflows.facts.fleet.identity import Statement
from workflows.guards import CANDIDATE_GUARDS, GUARDS, REPLACED_GUARDS, TARGET_GUARDS
from workflows.guards.target import no_expansion_is_under_way, the_vdev_can_still_rebuild
from workflows.tests.incident import (
    BLANK_WWID,
    DISKS,
    FLEET,
    FOREIGN_WWID,
    LOST,
    LOST_LEAF,
    MEMBERS,
    NEW_LEAF,
    NODE,
    OTHER,
    PARAMS,
    POOL,
    POOL_GUID,
    REPLACED,
    SDCW_WWID,
    SDFL,
    SDFL_WWID,
    SMALL_WWID,
    SPARE_WWID,
    TOP,
    TWIN,
    WELL,
    after,
    disk,
    fleet,
    identity,
    label,
    leaf,
    vdev,
    with_disk,
    with_leaf,
    with_pool,
)

BLANK = next(d for d in DISKS if d.wwid == BLANK_WWID)


def choose(wwid):
    return PARAMS | {"wwid": wwid}


def verdict(guard, facts=FLEET, params=PARAMS):
    return GUARDS[guard](facts, params)


def right(guard):
    """The facts this guard is content with: before the replacement, or after it."""
    return REPLACED if GUARDS[guard] in REPLACED_GUARDS else FLEET


def path(**changes):
    return (replace(BLANK.paths[0], **changes),)


@pytest.mark.parametrize("guard", GUARDS)
def test_it_passes_on_the_right_disk_for_the_incident(guard):
    assert verdict(guard, right(guard)).outcome == "pass", verdict(guard, right(guard))


def change(vdev_guid, age_seconds=600.0):
    return LeafChange(POOL_GUID, vdev_guid, "ONLINE", "REMOVED", age_seconds)


DOUBTED = identity("sdcx", BLANK_WWID, "ZA000070", Statement("wwid", SPARE_WWID, "smart/sdcx", "smartctl (sdcx)", "disk"))
SHARED = replace(OTHER, disks=DISKS, age_seconds=5.0)
RESILVER = (ScanFacts("resilver", "running", "resilver in progress since …", "8.53"),)
REPLACING = vdev(9, "replacing-0", "replacing", 0, LOST_LEAF, leaf(10, "/dev/disk/by-id/wwn-0x5-part1", resilvering=True))
SPARE = vdev(9, "spare-0", "spare", 0, leaf(12, "/dev/sdx1", "FAULTED"), LOST_LEAF)
FILLED = vdev(9, "replacing-0", "replacing", 0, LOST_LEAF, NEW_LEAF)
DIRTY = (ScanFacts("resilver", "finished", "resilvered … with 5 errors on …", None, 5),)
OTHER_TOP = vdev(20, "raidz2-1", "raidz", 2, leaf(21, "/dev/sdq1", resilvering=True), leaf(22, "/dev/sdr1"))
PARTITIONED = tuple(
    replace(one, paths=tuple(replace(way, partitions=(f"{way.name}1", f"{way.name}2")) for way in one.paths)) for one in DISKS
)
ENCRYPTED = tuple(replace(one, in_use=("held by dm-3 (LUKS ost_0-4)",)) for one in DISKS)
WRONG = {
    "a pool on LUKS": ("the-pool-is-not-encrypted-below", fleet(replace(NODE, disks=ENCRYPTED)), PARAMS, "unencrypted. By hand"),
    "a report of yesterday": ("facts-are-fresh", fleet(replace(NODE, age_seconds=61.0)), PARAMS, "Check its agent."),
    "a report from the future": ("facts-are-fresh", fleet(replace(NODE, age_seconds=-5.0)), PARAMS, "Check the clock"),
    "an age that is no number": ("facts-are-fresh", fleet(replace(NODE, age_seconds=float("nan"))), PARAMS, "Check the clock"),
    "a pool imported twice": (
        "the-pool-is-imported-here-and-nowhere-else",
        fleet(NODE, replace(SHARED, pools=(POOL,))),
        PARAMS,
        "imported on oss01 and on oss02",
    ),
    "a partner node that is silent": (
        "the-pool-is-imported-here-and-nowhere-else",
        fleet(NODE, replace(SHARED, age_seconds=3600.0)),
        PARAMS,
        "oss02 sees disks of ost_0",
    ),
    "a partner node whose pools are not known": (
        "the-pool-is-imported-here-and-nowhere-else",
        fleet(NODE, replace(SHARED, pools=Unknown("zpool status: timeout"))),
        PARAMS,
        "oss02 sees disks of ost_0",
    ),
    "a node whose disks are not known": (
        "the-pool-is-imported-here-and-nowhere-else",
        fleet(NODE, replace(OTHER, disks=Unknown("block was not collected."))),
        PARAMS,
        "oss02 may see the same disks",
    ),
    "a pool that is not there": (
        "the-pool-is-imported-here-and-nowhere-else",
        fleet(replace(NODE, pools=())),
        PARAMS,
        "not imported on oss01",
    ),
    "a suspended pool": ("the-pool-is-not-suspended", with_pool(suspended=True), PARAMS, "ost_0 is suspended"),
    "a vdev that is gone": (
        "the-lost-member-is-one-known-vdev",
        with_leaf(leaf(1, "/dev/sdx1")),
        PARAMS,
        "no vdev 14718944552882581455 any more",
    ),
    "a partition beside others": (
        "the-member-has-its-disk-alone",
        with_leaf(replace(LOST_LEAF, was="/dev/disk/by-id/wwn-0x5000c500a65bfff1-part3"), *MEMBERS),
        PARAMS,
        "is partition 3 of its disk",
    ),
    "siblings that are partitions beside others": (
        "the-member-has-its-disk-alone",
        fleet(replace(NODE, disks=PARTITIONED)),
        PARAMS,
        "with sdcw2 beside it",
    ),
    "a vdev listed twice": ("the-lost-member-is-one-known-vdev", with_leaf(LOST_LEAF, LOST_LEAF), PARAMS, "2 times"),
    "an interior vdev": ("the-lost-member-is-one-known-vdev", FLEET, PARAMS | {"vdev_guid": str(TOP.guid)}, "is raidz2-0, not a disk"),
    "a member in service": ("the-lost-member-is-out-of-service", FLEET, PARAMS | {"vdev_guid": str(SDFL)}, "still serves ost_0"),
    "a member that is being replaced": ("the-lost-member-is-not-being-replaced", with_leaf(REPLACING), PARAMS, "under way already"),
    "the spare itself": ("the-lost-member-is-not-being-replaced", with_leaf(SPARE), PARAMS, "hot spare of spare-0"),
    "a member that is back": (
        "the-lost-member-has-not-come-back",
        with_disk(SMALL_WWID, labels=(label("sdcz1", LOST),)),
        PARAMS,
        "`zpool online`",
    ),
    "a disk that may be the member": (
        "the-lost-member-has-not-come-back",
        with_disk(SMALL_WWID, labels=Unknown("zdb_label/sdcz: the disk does not answer.")),
        PARAMS,
        "sdcz (naa:5000c500a65b2f1b) may be the lost member",
    ),
    "three disks lost": (
        "the-vdev-can-still-rebuild",
        with_leaf(LOST_LEAF, *(replace(m, state="UNAVAIL") for m in MEMBERS[:2]), *MEMBERS[2:]),
        PARAMS,
        "lost more disks than it can rebuild",
    ),
    "many disks lost at once": (
        "no-mass-event-is-under-way",
        fleet(replace(NODE, leaf_changes=(change(LOST), change(TWIN)))),
        PARAMS,
        "2 disks of oss01 left service",
    ),
    "a resilver on the same vdev": (
        "no-resilver-touches-the-vdev",
        with_leaf(LOST_LEAF, replace(MEMBERS[0], resilvering=True)),
        PARAMS,
        "is being rebuilt",
    ),
    "a resilver that names no disk": ("no-resilver-touches-the-vdev", with_pool(scans=RESILVER), PARAMS, "ost_0 is resilvering"),
    "a removal": ("nothing-blocks-attaching", with_pool(removing=True), PARAMS, "a device removal"),
    "a pool that asks for larger blocks": (
        "the-pool-asks-for-no-larger-blocks",
        with_pool(properties={"ashift": "13"}),
        PARAMS,
        "so ZFS would refuse any disk. Run `zpool set ashift=12 ost_0` first.",
    ),
    "a pool that is read-only": (
        "nothing-of-the-pool-comes-first",
        with_pool(properties={"ashift": "0", "readonly": "on"}),
        PARAMS,
        "Import it writable first",
    ),
    "a checkpoint": ("nothing-blocks-attaching", with_pool(checkpoint=True), PARAMS, "a checkpoint"),
    "a disk that is not seen": ("the-disk-is-seen-and-running", FLEET, choose("naa:5000c500a65b0000"), "oss01 does not see the disk"),
    "no disk chosen": ("the-disk-is-seen-and-running", FLEET, choose(""), "No disk is chosen yet."),
    "a disk the kernel gave up": (
        "the-disk-is-seen-and-running",
        with_disk(BLANK_WWID, paths=path(state="offline")),
        PARAMS,
        "sdcx offline",
    ),
    "a disk without its link": (
        "the-disk-answers-to-its-wwid",
        with_disk(BLANK_WWID, paths=path(by_id=())),
        PARAMS,
        "wwn-0x5000c500a65b207b",
    ),
    "a disk known by its serial only": (
        "the-disk-answers-to-its-wwid",
        with_disk(BLANK_WWID, wwid="ser:QEMU:7"),
        choose("ser:QEMU:7"),
        "No link names sdcx (ser:QEMU:7) for certain",
    ),
    "a disk that smartctl knows as another one": (
        "nothing-contradicts-who-the-disk-is",
        with_disk(BLANK_WWID, identity=DOUBTED),
        PARAMS,
        "Smartctl (sdcx) says naa:5000c500a65b2f2b. The report is up to an hour old",
    ),
    "a disk whose serial number another node reads otherwise": (
        "nothing-contradicts-who-the-disk-is",
        fleet(NODE, replace(OTHER, disks=(disk("sdq", BLANK_WWID, serial="ZB999999"),))),
        PARAMS,
        "no side has more witnesses",
    ),
    "sdcw, the twin": ("the-disk-carries-no-label", FLEET, choose(SDCW_WWID), f"sdcw ({SDCW_WWID}) is already member {TWIN} of ost_0."),
    "sdfl, the stale name": (
        "the-disk-carries-no-label",
        FLEET,
        choose(SDFL_WWID),
        f"sdfl ({SDFL_WWID}) is already member {SDFL} of ost_0.",
    ),
    "a foreign label": ("the-disk-carries-no-label", FLEET, choose(FOREIGN_WWID), "the pool scratch9 of oss01 (exported)"),
    "a disk whose label another node reads": (
        "no-other-node-uses-the-disk",
        fleet(NODE, replace(SHARED, disks=(disk("sdq", BLANK_WWID, label("sdq1", 5, 777, "ost_7")),))),
        PARAMS,
        "oss02 reads a label of ost_7",
    ),
    "a disk another node mounts": (
        "no-other-node-uses-the-disk",
        fleet(NODE, replace(SHARED, disks=(disk("sdq", BLANK_WWID, in_use=("mounted on /srv (sdq)",)),))),
        PARAMS,
        "oss02 uses sdq",
    ),
    "a mounted disk": (
        "nothing-else-uses-the-disk",
        with_disk(BLANK_WWID, in_use=("mounted on / (sdcx1)",)),
        PARAMS,
        "mounted on / (sdcx1)",
    ),
    "a partitioned disk": ("the-disk-has-no-partitions", with_disk(BLANK_WWID, paths=path(partitions=("sdcx1",))), PARAMS, "sdcx1"),
    "a disk that is too small": ("the-disk-is-large-enough", FLEET, choose(SMALL_WWID), "8001563222016 bytes"),
    "a disk one sector short": (
        "the-disk-is-large-enough",
        with_disk(BLANK_WWID, size_bytes=BLANK.size_bytes - 512),
        PARAMS,
        "Choose a larger disk.",
    ),
    "a disk with large blocks": (
        "the-disk-block-size-fits",
        with_disk(BLANK_WWID, logical_block_bytes=8192),
        PARAMS,
        "blocks of 8192 bytes; raidz2-0 writes 4096",
    ),
    "a failing disk": (
        "the-disk-is-healthy",
        with_disk(BLANK_WWID, health=replace(BLANK.health, passed=False, text="SMART Health Status: FAILURE PREDICTION")),
        PARAMS,
        "FAILURE PREDICTION",
    ),
    "a disk with a failed self-test": (
        "the-disk-is-healthy",
        with_disk(BLANK_WWID, condition=replace(WELL, self_tests=(SelfTestFacts(40011, "Background long", 7, "Failed in segment"),))),
        PARAMS,
        "its self-test",
    ),
    "a disk with errors it could not correct": (
        "the-disk-is-healthy",
        with_disk(BLANK_WWID, condition=replace(WELL, errors=(ErrorFacts("read", 9, 2, 10**12),))),
        PARAMS,
        "2 errors it could not correct",
    ),
    "a disk with pending defects": (
        "the-disk-is-healthy",
        with_disk(BLANK_WWID, condition=replace(WELL, pending_defects=3)),
        PARAMS,
        "3 places it could not read",
    ),
    "a slow link": (
        "the-disk-link-is-as-fast-as-others",
        with_disk(BLANK_WWID, condition=replace(WELL, links=(replace(WELL.links[0], gbit=6.0),))),
        PARAMS,
        "6 Gbit/s, those of its model at 12",
    ),
    "an old member that stays": ("the-old-member-is-gone", FLEET, PARAMS, f"{LOST} is still in raidz2-0 of ost_0"),
    "a new disk under replacing": ("the-new-disk-has-its-place", after(FILLED), PARAMS, "still under replacing-0"),
    "a new disk nobody sees": ("the-new-disk-has-its-place", FLEET, PARAMS, f"No member of ost_0 is known to sit on {BLANK_WWID}"),
    "a new disk that failed": ("the-new-disk-is-in-service", after(replace(NEW_LEAF, state="FAULTED")), PARAMS, "is FAULTED"),
    "a new disk that fills": ("the-new-disk-is-in-service", after(replace(NEW_LEAF, resilvering=True)), PARAMS, "still being filled"),
    "a resilver that runs": ("the-resilver-ended-without-errors", after(scans=RESILVER), PARAMS, "is running"),
    "a resilver with errors": ("the-resilver-ended-without-errors", after(scans=DIRTY), PARAMS, "finished with 5 errors"),
    "no resilver at all": ("the-resilver-ended-without-errors", FLEET, PARAMS, "shows no scan"),
    "a vdev still being rebuilt": ("the-vdev-counts-the-new-disk", after(FILLED), PARAMS, "still being rebuilt"),
    "a disk in a guessed bay": (
        "the-disk-sits-in-a-known-bay",
        with_disk(BLANK_WWID, bay=replace(BLANK.bay, evidence=7)),
        PARAMS,
        "only guessed",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_it_refuses(name):
    guard, facts, params, expected = WRONG[name]
    answer = verdict(guard, facts, params)
    assert answer.outcome != "pass"
    assert expected in answer.reason


def test_every_guard_is_shown_to_refuse():
    assert {guard for guard, *_ in WRONG.values()} == set(GUARDS)


@pytest.mark.parametrize("name", WRONG)
def test_its_refusal_is_readable(name):
    guard, facts, params, _ = WRONG[name]
    reason = verdict(guard, facts, params).reason
    assert reason.endswith(".")
    assert not any(word in reason for word in ("Unknown(", "None", "Error", "please", "nan"))


def test_a_log_without_a_device_left_is_removed_and_not_called_beyond_rebuilding():
    """It held no data of the pool, so nobody has to be asked before anything is written."""
    log = replace(LOST_LEAF, kind="disk")
    facts = with_pool(tops=(("data", replace(TOP, children=MEMBERS, state="ONLINE")), ("log", log)))
    verdict = the_vdev_can_still_rebuild(facts, PARAMS)
    assert verdict.outcome == "refuse"
    assert "zpool remove ost_0" in verdict.reason
    assert "get help" not in verdict.reason


ASIDE = {
    "a disk lost an hour ago": ("no-mass-event-is-under-way", fleet(replace(NODE, leaf_changes=(change(LOST), change(TWIN, 3600.0))))),
    "a resilver on another vdev": ("no-resilver-touches-the-vdev", with_pool(scans=RESILVER, tops=(("data", TOP), ("data", OTHER_TOP)))),
    "a scrub": ("no-resilver-touches-the-vdev", with_pool(scans=(ScanFacts("scrub", "running", "", "3.1"),))),
    "a sick disk in its place": (
        "the-lost-member-has-not-come-back",
        fleet(
            replace(
                NODE,
                disks=(*DISKS, disk("sdq", SPARE_WWID, label("sdq1", LOST))),
                pools=(
                    replace(
                        POOL, tops=(("data", replace(TOP, children=(replace(LOST_LEAF, was=None, note="too many errors"), *MEMBERS))),)
                    ),
                ),
            )
        ),
    ),
    "a partner node that sees the disks and imports nothing": ("the-pool-is-imported-here-and-nowhere-else", fleet(NODE, SHARED)),
    "a lost disk under a finished spare": (
        "the-lost-member-is-not-being-replaced",
        with_leaf(vdev(9, "spare-0", "spare", 0, LOST_LEAF, leaf(12, "/dev/sdx1"))),
    ),
}


@pytest.mark.parametrize("name", ASIDE)
def test_it_lets_pass(name):
    guard, facts = ASIDE[name]
    assert verdict(guard, facts).outcome == "pass", verdict(guard, facts)


# Knowing less never opens a gate.


def less_known(thing, reported=()):
    """Every way to know one field less below `thing`, as (name, changed thing). Only `Known` fields may be unknown."""
    hints = type(thing).__annotations__
    for f in fields(thing):
        value = getattr(thing, f.name)
        if str(hints[f.name]).startswith("Known[") and known(value):
            yield f"{type(thing).__name__}.{f.name}", replace(thing, **{f.name: Unknown("nobody said")})
        yield from _less_below(thing, f.name, value)


def _less_below(thing, name, value):
    if is_dataclass(value) and known(value):
        yield from ((where, replace(thing, **{name: less})) for where, less in less_known(value))
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            if is_dataclass(item):
                yield from ((w, replace(thing, **{name: (*value[:i], less, *value[i + 1 :])})) for w, less in less_known(item))
            elif isinstance(item, tuple) and len(item) == 2 and is_dataclass(item[1]):  # (class, top-level vdev)
                yield from (
                    (w, replace(thing, **{name: (*value[:i], (item[0], less), *value[i + 1 :])})) for w, less in less_known(item[1])
                )


def less_known_fleets(facts):
    for name, node in facts.nodes.items():
        yield f"{name} missing", FleetFacts({n: f for n, f in facts.nodes.items() if n != name})
        yield from ((f"{name}: {where}", FleetFacts({**facts.nodes, name: less})) for where, less in less_known(node))


# A partner that has left the fleet cannot be asked; that is the operator's decision, not a fact that went missing.
RETIRED = "oss02 missing"


@pytest.mark.parametrize("name", WRONG)
def test_knowing_less_never_opens_a_gate(name):
    guard, facts, params, _ = WRONG[name]
    opened = [where for where, less in less_known_fleets(facts) if where != RETIRED and verdict(guard, less, params).outcome == "pass"]
    assert opened == []


@pytest.mark.parametrize("guard", GUARDS)
def test_every_guard_needs_some_fact(guard):
    needed = [where for where, less in less_known_fleets(right(guard)) if verdict(guard, less).outcome != "pass"]
    assert len(needed) > (0 if guard == "facts-are-fresh" else 1)  # its one fact, the age, is always there


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("missing", [*PARAMS, None])
def test_it_never_passes_for_a_run_that_does_not_say_what_it_is_about(guard, missing):
    params = {k: v for k, v in PARAMS.items() if k != missing} if missing else {}
    needs = {"node"} if guard == "facts-are-fresh" else {"node", "pool_guid"}
    if missing is None or (missing in needs and guard in {g.__name__.replace("_", "-") for g in TARGET_GUARDS}):
        assert verdict(guard, right(guard), params).outcome != "pass"
    assert verdict(guard, right(guard), params).outcome in ("pass", "refuse", "unknown")


@pytest.mark.parametrize("guard", GUARDS)
def test_it_never_passes_on_an_empty_fleet(guard):
    assert verdict(guard, FleetFacts({})).outcome != "pass"


def test_the_right_disk_and_no_other_is_open():
    every = TARGET_GUARDS + CANDIDATE_GUARDS
    open_to = [d.wwid for d in DISKS if not blockers(ask(every, FLEET, choose(d.wwid)))]
    assert open_to == [BLANK_WWID]


@pytest.mark.parametrize("expanding", [True, Unknown("The expand: line was not read.")])
def test_a_lost_member_is_replaced_while_an_expansion_waits_for_it(expanding):
    """The expansion of a raidz stands still until the member is back: to wait for its end would be to wait for ever."""
    facts = with_pool(expanding=expanding)
    assert [guard(facts, PARAMS).reason for guard in TARGET_GUARDS if guard(facts, PARAMS).outcome != "pass"] == []
    assert no_expansion_is_under_way(facts, PARAMS).outcome in ("refuse", "unknown")


def test_need_is_used_within_marked_functions_only():
    """Elsewhere nobody would catch what it raises."""
    stray = []
    for path in sorted(Path("workflows").rglob("*.py")):
        tree = ast.parse(path.read_text())
        marked = [
            f
            for f in ast.walk(tree)
            if isinstance(f, ast.FunctionDef) and any(ast.unparse(d) in ("guard", "derived") for d in f.decorator_list)
        ]
        inner = [f for one in marked for f in ast.walk(one) if isinstance(f, (ast.FunctionDef, ast.Lambda)) and f is not one]
        inside = {id(node) for one in marked for node in ast.walk(one)} - {id(node) for one in inner for node in ast.walk(one)}
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) in ("need", "core.need")]
        stray += [f"{path}:{call.lineno}" for call in calls if id(call) not in inside]
    assert stray == []


def test_a_guard_that_needs_what_is_not_known_answers_so():
    @guard
    def asks(facts, params):
        return ok(f"It is {need(params['value'])}.")

    assert asks(FleetFacts({}), {"value": "5"}) == ok("It is 5.")
    assert asks(FleetFacts({}), {"value": Unknown("nobody answered")}) == unknown("nobody answered")
    assert asks.__name__ == "asks"


def test_a_guard_says_what_it_needs_and_why_that_is_not_known():
    @guard
    def asks(facts, params):
        return ok(f"It is {need(params['value'], 'The bay is not known')}.")

    assert asks(FleetFacts({}), {"value": "5"}) == ok("It is 5.")
    assert asks(FleetFacts({}), {"value": Unknown("nobody answered")}) == unknown("The bay is not known: nobody answered")
