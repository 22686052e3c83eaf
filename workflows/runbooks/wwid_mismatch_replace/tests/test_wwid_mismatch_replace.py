"""The runbook's own words: which disks it lists, what it makes of a plan, what it holds, and how it shows progress."""

from dataclasses import replace

import pytest

from agents.operations import zpool_replace
from workflows.engine.core import blockers
from workflows.engine.plans import problems
from workflows.facts import FleetFacts, ScanFacts, Unknown
from workflows.runbooks import RUNBOOKS
from workflows.runbooks.wwid_mismatch_replace import replace_params
from workflows.tests.incident import BLANK_WWID, DISKS, FLEET, NODE, PARAMS, POOL, SDCW_WWID, fleet, with_pool

RUNBOOK = RUNBOOKS["wwid-mismatch-replace"]
CHOOSE, PLAN, CONFIRM, WAIT = (RUNBOOK.step(slug) for slug in ("choose", "plan", "confirm", "resilver"))
BLANK = next(d for d in DISKS if d.wwid == BLANK_WWID)
BAY = f"{BLANK.bay.enclosure_id}/{BLANK.bay.slot}"


def plan(**incoming):
    wanted = dict(replace_params(FLEET, PARAMS))
    return {
        "operation": "zpool_replace",
        "params": wanted,
        "argv": list(zpool_replace.argv(wanted)),
        "outgoing": {"vdev_guid": PARAMS["vdev_guid"]},
        "incoming": {"wwid": BLANK_WWID, "serial": BLANK.serial, "bay": BAY, **incoming},
        "preconditions": {"pool.state": "DEGRADED"},
    }


def test_it_lists_every_disk_the_fit_one_first():
    options = CHOOSE.options(FLEET, {k: v for k, v in PARAMS.items() if k != "wwid"})
    assert len(options) == len(DISKS)
    assert options[0].value == BLANK_WWID
    assert [bool(blockers(o.verdicts)) for o in options].count(False) == 1


def test_it_lists_a_disk_without_identity_and_never_lets_it_be_chosen():
    nameless = replace(BLANK, wwid=Unknown("sysfs has no wwid"))
    options = CHOOSE.options(fleet(replace(NODE, disks=(nameless,))), PARAMS)
    assert blockers(options[0].verdicts)
    assert "sysfs has no wwid" in options[0].verdicts[0].reason


@pytest.mark.parametrize("facts", [FleetFacts({}), fleet(replace(NODE, disks=Unknown("sysfs hangs")))])
def test_it_offers_nothing_when_it_knows_nothing(facts):
    assert CHOOSE.options(facts, PARAMS) == ()
    assert RUNBOOK.locks(facts, PARAMS) == ()


def test_it_believes_a_plan_that_says_what_it_knows():
    assert blockers(PLAN.agrees(FLEET, PARAMS, plan())) == ()
    assert problems(plan(), "zpool_replace", replace_params(FLEET, PARAMS)) == ()


@pytest.mark.parametrize(
    "other",
    [
        plan(wwid=SDCW_WWID),
        plan(serial="another"),
        plan(bay="0x50050cc11ac016e2/99"),
        plan() | {"argv": ["zpool", "replace", "-f", *plan()["argv"][2:]]},
        plan() | {"outgoing": {"vdev_guid": "1"}},
        plan() | {"outgoing": "x", "incoming": None},
        {},
    ],
)
def test_it_does_not_believe_a_plan_that_says_otherwise(other):
    assert blockers(PLAN.agrees(FLEET, PARAMS, other))


def test_it_does_not_believe_a_plan_for_a_disk_it_no_longer_sees():
    assert blockers(PLAN.agrees(fleet(replace(NODE, disks=())), PARAMS, plan()))


def test_it_adds_what_the_vdev_survives_meanwhile():
    added = PLAN.adds(FLEET, PARAMS, plan())["redundancy"]
    assert (added["margin_now"], added["margin_during"]) == ("1", "1")
    unread = PLAN.adds(FleetFacts({}), PARAMS, plan())["redundancy"]
    assert unread["margin_now"] == "unknown"


def test_it_asks_for_the_end_of_the_guid_because_the_lost_disk_has_no_serial():
    assert CONFIRM.phrase(PARAMS, plan()) == "581455 ost_0"


def test_it_holds_pool_disk_and_bay():
    assert RUNBOOK.locks(FLEET, PARAMS) == (f"pool:{PARAMS['pool_guid']}", f"disk:{BLANK_WWID}", f"bay:{BAY}")


@pytest.mark.parametrize(("printed", "percent"), [("32.28", 32.28), ("104.5", 100.0), (None, None), ("x", None)])
def test_it_shows_how_far_the_resilver_is(printed, percent):
    scan = ScanFacts("resilver", "running", "resilver in progress since …", printed, None, "0h12m")
    shown = WAIT.progress(with_pool(scans=(scan,)), PARAMS)
    assert (shown.percent, shown.eta) == (percent, "0h12m")


def test_it_says_why_it_cannot_show_progress():
    assert WAIT.progress(with_pool(scans=Unknown("zpool hangs")), PARAMS).text == "zpool hangs"
    assert POOL.name in WAIT.progress(with_pool(scans=()), PARAMS).text
    assert WAIT.progress(FleetFacts({}), PARAMS).percent is None
