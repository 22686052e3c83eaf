"""The weakest link named with both its ends, and made quiet, on a twin whose counters grow."""

from dataclasses import replace

import pytest

from twin.stories import weak_cable, weak_disk_link
from workflows.analysis.links import Quiet, behind, links, look_again, phy_texts, read_quiet
from workflows.engine.core import blockers
from workflows.facts import Growth, Unknown
from workflows.guards import links as guards
from workflows.runbooks import RUNBOOKS
from workflows.runbooks.sas_link_triage import links_there_are, things_to_change
from workflows.situations import phy_errors
from workflows.tests.stage import Run, Stage, reasons

RUNBOOK = RUNBOOKS["sas-link-triage"]


def staged(folder, build):
    stage = Stage(folder, {"oss01": build(0.0)})
    stage.facts()
    stage.clock.sleep(120)
    return stage


@pytest.fixture
def cable(tmp_path):
    return staged(tmp_path, weak_cable)


@pytest.fixture
def bay(tmp_path):
    return staged(tmp_path, weak_disk_link)


def run(stage, **answers):
    walk = Run(stage, RUNBOOK, {"node": "oss01"}, **{"hands": "expander-2:0", **answers})
    walk.meanwhile["hands"] = lambda: stage.change("oss01", lambda node: node.phy_rates.clear())
    return walk


def exported(stage):
    """The pool behind the shelf is out of the way, so its cable may be touched."""
    stage.change("oss01", lambda node: setattr(node.pool("ost_0"), "imported", False))


def test_it_names_the_lane_changes_the_cable_and_waits_until_it_is_quiet(cable):
    exported(cable)
    walk = run(cable).end()
    assert walk.state.status == "done"
    assert walk.state.params["link"] == "port-2:0"
    assert read_quiet(walk.state.params["quiet"]).seconds >= guards.QUIET_SECONDS
    assert cable.written() == []


def test_it_says_both_ends_and_how_many_lanes(cable):
    cable.clock.sleep(600)
    (weakest, _) = links_there_are(cable.facts(), {"node": "oss01"})
    assert "host2 (mpt3sas) to expander-2:0 (LSI SAS2X28 0e12)" in weakest.title
    assert "1 of 4 lanes grow; the weakest is phy-2:2:" in weakest.detail
    assert "a lane of the cable, or its plug" in weakest.detail


def test_it_does_not_let_anybody_take_out_what_a_pool_lives_by(cable):
    """All six members of the raidz2 hang on this one cable."""
    walk = run(cable, change="cable").to("change")
    assert "6 disks of raidz2-0 in ost_0 have no other way, and it survives 2 losses" in reasons(walk.go_on())


def test_it_can_be_left_for_a_window(cable):
    walk = run(cable, change="later").end()
    assert walk.state.status == "done"
    assert [f.step for f in walk.state.finished][-1] == "change"


def test_the_link_of_one_disk_leads_to_blink_and_replace(bay):
    walk = run(bay).end()
    assert walk.state.params["what"] == "disk"
    assert "Go on with blink-and-replace" in {o.value: o for o in things_to_change(bay.facts(), walk.state.params)}["disk"].detail
    assert "bay 2 of 0x500605b0000272bf" in links_there_are(bay.facts(), {"node": "oss01"})[0].title


def test_the_number_of_years_ago_is_nobodys_fault(bay):
    """Four lanes with the same small number are one event; they grow no more and are not listed."""
    bay.clock.sleep(600)
    ill = [o.value for o in links_there_are(bay.facts(), {"node": "oss01"})]
    assert ill == ["port-2:0:1", "none"]


def test_only_the_weakest_can_be_chosen(bay):
    bay.change("oss01", lambda node: node.phy_rates.update({"phy-2:0:3": [900.0, 0.0, 0.0, 0.0]}))
    walk = run(bay, weakest="port-2:0:3").to("weakest")
    assert "is weaker" in reasons(walk.go_on())


def test_when_nothing_grows_it_ends_and_says_so(bay):
    bay.change("oss01", lambda node: node.phy_rates.clear())
    walk = run(bay).end()
    assert (walk.state.status, walk.state.params["link"]) == ("done", "none")
    assert "leaves the same number on every lane" in walk.state.verdicts[0].reason


def test_a_growing_link_cannot_be_called_quiet(bay):
    walk = run(bay, weakest="none").to("weakest")
    assert "1 links count errors, most of all" in reasons(walk.go_on())


def test_whoever_touched_another_cable_is_told(cable):
    exported(cable)
    walk = run(cable, hands="expander-9:0").to("hands")
    assert "not at expander-9:0. If another cable was touched, put it back" in reasons(walk.go_on())


def test_a_link_that_still_counts_keeps_it_waiting(cable):
    exported(cable)
    walk = run(cable).to("hands")
    walk.meanwhile.clear()
    walk.to("quiet")
    for _ in range(3):
        walk.go_on()
    assert walk.state.step == "quiet"
    assert "600 s are needed" in walk.state.verdicts[0].reason


def test_without_a_second_look_it_waits(tmp_path):
    stage = Stage(tmp_path, {"oss01": weak_cable(0.0)})
    verdict = guards.growth_was_watched(stage.facts(), {"node": "oss01"})
    assert (verdict.outcome, "a second look" in verdict.reason) == ("refuse", True)


@pytest.mark.parametrize("field", ["fabric", "ages", "disks", "pools"])
def test_not_knowing_never_opens_a_guard(cable, field):
    exported(cable)
    walk = run(cable).to("verify")
    less = cable.facts(lambda node: replace(node, **{field: Unknown("not read")}))
    every = (
        guards.what_link_triage_reads_is_fresh,
        guards.the_counters_are_known,
        guards.growth_was_watched,
        guards.no_pool_lives_by_this_link_alone,
        guards.the_link_is_quiet,
        guards.every_disk_behind_it_is_there,
    )
    full = [guard(cable.facts(), walk.state.params) for guard in every]
    assert blockers(tuple(full)) == ()
    assert blockers(tuple(guard(less, walk.state.params) for guard in every))


def test_a_disk_that_did_not_come_back_is_named(cable):
    exported(cable)
    walk = run(cable).to("verify")
    cable.change("oss01", lambda node: setattr(node.disks[0].paths[0], "state", "offline"))
    walk.go_on()
    assert any("The kernel calls sda behind this link offline" in v.reason for v in blockers(walk.state.verdicts))


def test_it_counts_what_has_no_other_way(cable):
    (link,) = [link for link in links(cable.facts().nodes["oss01"]) if link.name == "port-2:0"]
    assert len(behind(link)) == 8


def test_two_ways_are_better_than_one(cable):
    node = cable.facts().nodes["oss01"]
    first = node.disks[0]
    other = replace(
        first.paths[0], name="sdzz", link=replace(first.paths[0].link, host="host3", expanders=("expander-3:0",), end="end_device-3:0:0")
    )
    two = replace(node, disks=(replace(first, paths=(*first.paths, other)), *node.disks[1:]))
    (link,) = [link for link in links(two) if link.name == "port-2:0"]
    assert first.wwid not in behind(link)


def test_the_situation_leads_here(bay):
    bay.clock.sleep(600)
    (found,) = phy_errors.detect(bay.facts())
    assert dict(found.answers[0].params) == {"node": "oss01"}


def test_quiet_begins_anew_with_every_new_error(cable):
    phys = cable.facts().nodes["oss01"].fabric.phys
    first = look_again(phy_texts(phys), "", 1000.0)
    later = look_again(phy_texts(phys), first.text, 1700.0)
    assert (first.seconds, later.seconds) == (0, 700)
    reset = (replace(phys[0], counts=(9, 9, 9, 9)), *phys[1:])
    assert look_again(phy_texts(reset), later.text, 1800.0).seconds == 0
    assert look_again(phy_texts(phys[1:]), later.text, 1800.0).seconds == 0


def test_what_counted_since_it_was_quiet_is_not_quiet(cable):
    facts = cable.facts()
    weakest = links(facts.nodes["oss01"])[0]
    params = {"node": "oss01", "link": weakest.name}
    then = look_again(phy_texts(weakest.phys), look_again(phy_texts(weakest.phys), "", 0.0).text, 700.0)
    assert guards.the_link_is_quiet(facts, params | {"quiet": then.text}).outcome == "pass"
    other = replace(then, counts="0" * 16)
    assert "one of its counters changed" in guards.the_link_is_quiet(facts, params | {"quiet": other.text}).reason


@pytest.mark.parametrize("text", ["", "1:2", "1:2:xyz", "1:2:0123456789abcdef0"])
def test_what_is_no_quiet_is_none(text):
    assert read_quiet(text) is None
    assert read_quiet(Quiet(1, 2, "0" * 16).text) == Quiet(1, 2, "0" * 16)


def test_noise_is_no_error():
    assert not phy_errors.is_growing(Growth((3, 0, 0, 0), 3600.0))
