"""What blink-and-replace refuses, in the words a person reads at the rack, and how it answers a wrong pull."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.operations import locate_led
from twin import scenarios
from twin.model import Enclosure, Scan
from workflows.engine import events as ev
from workflows.engine.decide import Refused
from workflows.facts import FleetFacts, Unknown
from workflows.guards.answers import a_disk_from_the_shelf
from workflows.guards.scanned import check_character, same_serial, serial_of
from workflows.tests.stories_of_disks import BLINK, SICK_BAY, bay, pull
from workflows.tests.walks import ANN, Stages, Stuck, Walk, stages_of

NEW = scenarios.shelf_disk()


@pytest.fixture(scope="module")
def stages() -> Stages:
    return stages_of(BLINK)


def lit(node, number=5):
    bay(node, number).locate = 1


def resilvering(node):
    node.pool("ost_0").scan = Scan("resilver", "running", scenarios.Clock().at, 1e9, 10**9, 10**8)


def without(*numbers):
    def change(node):
        for number in numbers:
            scenarios.unplug(node, bay(node, number).wwid)

    return change


def moved(node):
    """The sick disk sits in another bay than the run was begun for."""
    one, other = bay(node, SICK_BAY), bay(node, 10)
    one.wwid, other.wwid, one.status, other.status = None, one.wwid, "not installed", "OK"


def renamed(node):
    node.disk(bay(node, SICK_BAY).wwid).serial = "ZA2OTHER"


def suspended(node):
    node.pool("ost_0").suspended = "io"


def mixed(node):
    node.zfs_module = "2.1.15-1"


def untested(node):
    node.zfs_userland = node.zfs_module = "0.7.13-1"


def swapped_labels(node):
    """The label of the member turns up on another disk."""
    here, there = (node.disk(bay(node, n).wwid).partitions[0] for n in (SICK_BAY, 4))
    here.label, there.label = there.label, here.label


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lit, "Bay 5 of enclosure 0x500605b0000272bf is lit already. Switch it off first: two lit bays mislead."),
        (resilvering, "ost_0 is resilvering and does not show which disk"),
        (without(1, 2), "has lost more disks than it can rebuild. It cannot do without another disk."),
        (moved, "sits in bay 10 of 0x500605b0000272bf, not in bay 3 of enclosure 0x500605b0000272bf. Begin again."),
        (renamed, "has the serial number ZA2OTHER, not ZA20002X. Begin again from the situation."),
        (suspended, "ost_0 is suspended; a command to it would hang."),
        (mixed, "The ZFS tools are 2.1.11, the kernel module is 2.1.15, and they differ: an executable zfs_prepare_disk"),
        (untested, "OpenZFS 0.7.13: its `zpool status` has no -p"),
        (swapped_labels, "but the label of 4356823757678089777 is on naa:5000c500a65b203b. Look again."),
        (without(SICK_BAY), "does not see naa:5000c500a65b202b"),
    ],
)
def test_the_check_refuses(change, expected, stages):
    walk = stages.at("check")
    with walk.changing() as node:
        change(node)
    assert any(expected in why for why in walk.why_not()), walk.why_not()


@pytest.mark.parametrize(("step", "slug"), [("plan-offline", "offline"), ("offline", "offline")])
def test_nothing_is_taken_out_of_service_when_another_disk_has_gone_meanwhile(step, slug, stages):
    walk = stages.at(step)
    with walk.changing() as node:
        without(1, 2)(node)
    assert any("cannot do without another disk" in why for why in walk.why_not())
    assert walk.commands() == []


def test_the_node_itself_refuses_what_changed_after_the_plan(stages):
    walk = stages.at("offline")
    facts = walk.facts()
    with walk.changing() as node:
        without(1)(node)
    walk.facts = lambda: facts  # the portal has not heard of it yet
    with pytest.raises(Stuck, match="The node is not as it was planned: .*target.margin"):
        walk.go()
    assert walk.commands() == []


# --- answers of people


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("x", "is no serial number. Scan the bar code that is marked S/N"),
        ("ZA20002X", "ZA20002X is the disk that is to go. Scan the new one."),
        ("ZA20004X", "of oss01 in bay 5 of 0x500605b0000272bf, and not on the shelf. Take another disk."),
        ("FOOBAR", "is no serial number. Scan the bar code that is marked S/N"),
        ("s/n: za20002x", "ZA20002X is the disk that is to go. Scan the new one."),
        ("naa.5000c500a65b202b", "is the disk that is to go. Scan the new one."),
        ("wwn: 5000C500A65B204B", "of oss01 in bay 5 of 0x500605b0000272bf, and not on the shelf. Take another disk."),
        ("", "Scan or type the serial number on the new disk."),
    ],
)
def test_only_a_disk_from_the_shelf_can_be_the_spare(typed, expected, stages):
    walk = stages.at("spare")
    walk.story = replace(BLINK, hands={**BLINK.hands, "spare": lambda walk: typed})
    assert any(expected in why for why in walk.why_not())


def test_a_blind_node_may_have_the_spare_in_a_bay(stages):
    walk = stages.at("spare")
    node = replace(walk.facts().nodes["oss01"], disks=Unknown("sysfs hangs"))
    (verdict,) = a_disk_from_the_shelf(FleetFacts({"oss01": node}), walk.state.params, "ZA20009X")
    assert verdict.outcome == "unknown"


SCANNED = [
    "ZA20009X", "za20009x", "S/N ZA20009X", "s/n: za20009x", "SN:ZA20009X", "Serial No. ZA20009X", "(S)ZA20009X", " ZA20009X ",
    "ZA20 009X", "*ZA20009X*", "]C1ZA20009X",
]  # fmt: skip


@pytest.mark.parametrize("scanned", SCANNED)
def test_it_reads_what_a_scanner_types(scanned):
    assert serial_of(scanned) == "ZA20009X"


# The check character of Code 39 behind the number, the data identifier in front of it, and a WWN in its place.
@pytest.mark.parametrize(
    "scanned", [*SCANNED, "ZA20009X" + check_character("ZA20009X"), "SZA20009X", "WWN: " + NEW.wwid.removeprefix("naa:")]
)
def test_however_the_new_disk_is_scanned_the_swap_goes_on_with_it(scanned, stages):
    walk = stages.at("spare")
    walk.story = replace(BLINK, hands={**BLINK.hands, "spare": lambda walk: scanned})
    walk.to("take")
    assert walk.state.step == "take"


def test_a_scan_is_never_shortened_by_itself():
    """A label whose last character happens to be the check character of the rest names what it says."""
    happens = "ZA2000" + check_character("ZA2000")
    assert serial_of(happens) == happens
    assert not same_serial("ZA2000", happens)
    assert not same_serial("SZA2000", "ZA2001")
    assert same_serial("ZA20009X", "ZA20009X0000C4301234")
    assert not same_serial("ZA20", "ZA20009X0000C4301234")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("Bay 12", "You see bay 12 blink, and that is not the bay that was lit. Pull nothing."),
        ("ZA20004X", "which stays. Pull nothing, and look again."),
        ("the left one", "Pull nothing, and look again."),
    ],
)
def test_the_wrong_bay_is_answered_with_pull_nothing(typed, expected, stages):
    walk = stages.at("blinks")
    walk.story = replace(BLINK, hands={**BLINK.hands, "blinks": lambda walk: typed})
    assert any(expected in why for why in walk.why_not())
    assert walk.state.step == "blinks"


def test_the_serial_on_the_disk_in_the_bay_is_as_good_as_its_number(stages):
    walk = stages.at("blinks")
    walk.story = replace(BLINK, hands={**BLINK.hands, "blinks": lambda walk: "S/N: ZA20002X"})
    walk.go()
    assert walk.state.step == "pull"


def test_an_answer_does_not_count_while_another_bay_is_lit_too(stages):
    walk = stages.at("blinks")
    with walk.changing() as node:
        lit(node)
    assert any("two lit bays mislead" in why for why in walk.why_not())


# --- pulling


def look(walk: Walk, change) -> None:
    with walk.changing() as node:
        change(node)
    walk.look()


def test_a_wrong_pull_is_answered_at_once_and_mended_by_putting_it_back(stages):
    walk = stages.at("pull")
    look(walk, lambda node: walk.kept.update(wrong=scenarios.unplug(node, bay(node, 5).wwid)))
    assert walk.state.alarm.startswith("Put it back now: a disk that serves was pulled")
    assert "It serves ost_0 as wwn-0x5000c500a65b204b-part1." in walk.state.alarm
    assert "The disk that was meant is still in bay 3 of enclosure 0x500605b0000272bf. Pull nothing else." in walk.state.alarm
    assert walk.types()[-1] == "run.alarm"
    look(walk, lambda node: scenarios.plug(node, walk.kept["wrong"], bay(node, 5)))
    assert (walk.state.step, walk.state.alarm) == ("pull", "")
    pull(walk)
    walk.look()
    assert walk.state.step == "insert"


def test_a_wrong_pull_that_zfs_has_not_noticed_yet_is_seen_too(stages):
    """The first minute after a pull: the disk is gone from the kernel, and the pool still calls it ONLINE."""
    walk = stages.at("pull")
    look(walk, lambda node: scenarios.take_away(node, bay(node, 5).wwid))
    assert walk.state.alarm.startswith("Put it back now")


def test_the_right_pull_does_not_go_on_while_a_wrong_one_stands(stages):
    walk = stages.at("pull")
    pull(walk)
    look(walk, without(5))
    assert walk.state.step == "pull"
    assert "Put it back now" in walk.state.alarm


def test_it_waits_while_the_disk_is_still_in_the_bay(stages):
    walk = stages.at("pull")
    walk.look()
    assert (walk.state.step, walk.state.status) == ("pull", "waiting")
    assert "is still in bay 3 of enclosure 0x500605b0000272bf. Pull it." in walk.state.verdicts[0].reason


def test_it_says_so_when_the_disk_was_put_into_another_bay(stages):
    walk = stages.at("pull")
    look(walk, moved)
    assert "is still seen, in bay 10. Put back what was pulled." in walk.state.verdicts[0].reason


def test_another_disk_than_the_one_scanned_is_not_taken(stages):
    walk = stages.at("insert")
    look(walk, lambda node: scenarios.plug(node, scenarios.lab_disk(10, 10), bay(node, SICK_BAY)))
    assert walk.state.step == "insert"
    reason = walk.state.verdicts[0].reason
    assert "holds the disk with the serial number ZA20010X, and ZA20009X was scanned. Put that one in." in reason


def correct(walk: Walk, text: str):
    return walk.send(ev.Corrected, by=ANN, step="spare", evidence=text, facts=walk.facts())


def test_a_wrong_scan_is_corrected_while_the_old_disk_is_out(stages):
    """The number on the shelf disk was typed with a slip; the disk itself is in the bay already."""
    walk = stages.at("spare")
    walk.story = replace(BLINK, hands={**BLINK.hands, "spare": lambda walk: "ZA20O09X"})
    walk.to("insert")
    walk.story = BLINK
    look(walk, lambda node: scenarios.plug(node, scenarios.shelf_disk(), bay(node, SICK_BAY)))
    assert walk.state.step == "insert"
    wrong = correct(walk, "ZA20004X")
    assert isinstance(wrong, Refused)
    assert "and not on the shelf" in wrong.verdicts[0].reason
    correct(walk, "s/n za20009x")
    walk.look()
    assert walk.state.params["spare_serial"] == "ZA20009X"
    walk.to("take")
    assert walk.state.step == "take"


def test_a_new_disk_that_does_not_fit_makes_way_for_another(stages):
    walk = stages.at("take")
    walk.to("plan-replace")
    other = scenarios.lab_disk(10, 10)
    correct(walk, other.serial)
    assert (walk.state.step, walk.state.status, walk.state.plan) == ("insert", "waiting", None)
    assert "wwid" not in walk.state.params
    walk.look()
    assert f"and {other.serial} was scanned" in walk.state.verdicts[0].reason


def test_nothing_is_corrected_once_the_command_is_given_or_the_way_back_is_walked(stages):
    walk = stages.at("resilver")
    assert isinstance(correct(walk, "ZA20010X"), Refused)
    walk = stages.at("insert")
    walk.must(ev.Aborted, by=ANN, reason="Not tonight.")
    assert isinstance(correct(walk, "ZA20010X"), Refused)


def test_the_new_disk_in_another_bay_is_not_taken(stages):
    walk = stages.at("insert")
    look(walk, lambda node: scenarios.plug(node, scenarios.shelf_disk(), bay(node, 10)))
    assert "Put the disk with the serial number ZA20009X into it." in walk.state.verdicts[0].reason


# --- the new disk


def changed(**fields):
    def change(node):
        disk = node.disk(NEW.wwid)
        for name, value in fields.items():
            setattr(disk, name, value)

    return change


def failing(node):
    node.disk(NEW.wwid).smart.passed = False


def labelled(node):
    scenarios.add_foreign_pool(node, node.disk(NEW.wwid), "scratch9", "oss77", 0x5B2F9C77)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (changed(size_bytes=scenarios.LAB_DISK_BYTES - 512), "Choose a larger disk."),
        (changed(logical_block_bytes=8192), "Choose a disk with smaller blocks."),
        (changed(logical_block_bytes=520), "has blocks of 520 bytes, made for a RAID controller. Take another disk."),
        (changed(protection_type=2), "has the protection type 2, and its siblings have 0. Take a disk formatted alike."),
        (failing, "Choose another disk."),
        (labelled, "carries a label of the pool scratch9"),
        (changed(holders=["dm-3"]), "is in use: held by dm-3."),
        (changed(serial="ZA20010X"), "has the serial number ZA20010X; the disk planned is ZA20009X. Put that one in"),
        (without(5), "Put it back now"),
    ],
)
def test_the_new_disk_is_refused(change, expected, stages):
    walk = stages.at("take")
    with walk.changing() as node:
        change(node)
    assert any(expected in why for why in walk.why_not()), walk.why_not()


@pytest.mark.parametrize("step", ["plan-replace", "replace"])
def test_nothing_is_replaced_once_the_disk_was_exchanged(step, stages):
    walk = stages.at(step)
    with walk.changing() as node:
        changed(serial="ZA20010X")(node)
    assert any("the disk planned is ZA20009X" in why for why in walk.why_not())
    assert ["zpool", "replace"] not in [argv[:2] for argv in walk.commands()]


def test_no_disk_but_the_one_in_the_bay_can_be_taken(stages):
    walk = stages.at("take")
    walk.story = replace(BLINK, choices={"take": lambda options: "naa:5000c500a65b206b"})
    assert any("is not in bay 3 of enclosure 0x500605b0000272bf, which the old disk left" in why for why in walk.why_not())


# --- the light


def light_params(walk: Walk, **over) -> dict[str, str]:
    names = ("pool", "pool_guid", "enclosure", "slot")
    return {**{n: walk.state.params[n] for n in names}, "wwid": walk.state.params["old_wwid"], "light": "on", **over}


def test_a_bay_is_not_lit_for_a_disk_that_is_not_in_it(stages):
    walk = stages.at("light")
    params = light_params(walk)
    with walk.changing() as node:
        moved(node)
    reasons = [why for outcome, why in locate_led.guards(locate_led.preconditions(walk.host, params), params) if outcome != "pass"]
    assert reasons == ["Bay 3 of 0x500605b0000272bf holds none and not naa:5000c500a65b202b. Nothing is lit. Look at the bays again."]


def test_a_second_path_to_the_enclosure_is_lit_and_read_too(stages):
    walk = stages.at("light")
    with walk.changing() as node:
        first = node.enclosures[0]
        bays = [replace(b, wwid=None) for b in first.bays]
        node.enclosures.append(Enclosure("3:0:99:0", first.id, first.vendor, first.model, first.rev, 99, bays))
    ran = locate_led.perform(walk.host, light_params(walk))
    assert ran.exit_code == 0, ran.stderr
    assert [[b.number for b in e.bays if b.locate] for e in walk.node.enclosures] == [[SICK_BAY], [SICK_BAY]]
    assert locate_led.probe(walk.host, light_params(walk), {}).result == "did"


def test_lighting_fails_when_another_bay_is_lit_in_the_same_moment(stages):
    walk = stages.at("light")
    with walk.changing() as node:
        lit(node)
    ran = locate_led.perform(walk.host, light_params(walk))
    assert ran.exit_code == 1
    assert b"bay 5 of the same enclosure is lit too" in ran.stderr


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ({"enclosure": "6:0:89:0"}, "is no bay"),
        ({"slot": "x"}, "is no bay"),
        ({"light": "1"}, "must be on or off"),
        ({"wwid": "any"}, "A bay is lit for one disk"),
        ({"wwid": "sdc"}, "is no WWID"),
    ],
)
def test_a_bay_is_named_by_what_cannot_move(over, expected, stages):
    assert expected in locate_led.check(light_params(stages.at("light"), **over))


def test_putting_the_new_disk_away_again_keeps_the_way_back_open(stages):
    """Called off with the new disk in the bay: it waits for the old one, and the light is switched off all the same."""
    walk = stages.at("take")
    walk.abort("The new disk is needed elsewhere.")
    assert walk.state.step == "seat"
    walk.to_the_end()
    assert walk.state.status == "aborted"
    assert walk.state.loops == ()


def test_after_the_point_of_no_return_only_the_light_is_put_back(stages):
    walk = stages.at("resilver")
    walk.abort("Somebody else watches it.")
    assert [open_.loop for open_ in walk.state.loops] == ["lit"]
    walk.to_the_end()
    assert "what it began on the node goes on" in walk.state.note or walk.state.status == "aborted"
    assert walk.state.loops == ()


# --- before 2.3.0 the pull of an OFFLINE disk may start a hot spare


def spare_stands_in(node, running: bool) -> None:
    """What ZED of those releases does when the udev event of the pull comes."""
    disk, pool = scenarios.lab_disk(11, 11), node.pool("ost_0")
    scenarios.plug(node, disk, bay(node, 9))
    scenarios.add_spare(node, "ost_0", disk)
    place = next(i for i, leaf in enumerate(pool.tops[0].children) if leaf.not_present or leaf.state in ("OFFLINE", "REMOVED", "UNAVAIL"))
    scenarios.use_spare(node, "ost_0", disk, place, 1795248315.0)
    if running:
        resilvering(node)


def test_the_plan_says_that_a_hot_spare_may_stand_in(stages):
    walk = stages.at("plan-offline")
    assert any("lets it stand in when the disk is pulled" in warns(walk.facts(), walk.state.params) for warns in walk.step.warns)


@pytest.mark.parametrize("running", [True, False])
def test_a_spare_that_stands_in_after_the_pull_is_waited_for_and_led_on_from(running, stages):
    walk = stages.at("insert")
    look(walk, lambda node: spare_stands_in(node, running))
    assert (walk.state.step, walk.state.alarm) == ("insert", "")
    walk.to("plan-replace" if running else "resilver")
    if running:
        why = " ".join(walk.why_not())
        assert "is being rebuilt" in why
        assert "wait until it ends" in why
        assert "A hot spare stands in for" in why


@pytest.mark.parametrize(("module", "runs"), [("2.1.15-1", True), ("2.1.11-1", False)])
def test_the_plan_names_the_script_that_runs_on_the_new_disk(module, runs, stages):
    walk = stages.at("plan-replace")
    facts = walk.facts()
    node = replace(facts.nodes["oss01"], zfs_module=module, zfs_userland=module, prepares="/usr/libexec/zfs/zfs_prepare_disk")
    text = " ".join(warns(FleetFacts({"oss01": node}), walk.state.params) for warns in walk.step.warns)
    assert ("which ZFS runs as root on the new disk" in text) == runs


def test_the_node_binds_the_script_into_the_plan(stages):
    walk = stages.at("replace")
    assert walk.state.plan["preconditions"]["zfs.prepares"] == "none"
