"""The enclosure as it is drawn: what sits where, what nobody knows, and what two nodes say of one shelf."""

from dataclasses import replace
from urllib.parse import unquote

import pytest
from django.test import Client
from django.urls import resolve, reverse
from django.utils import timezone

from app.accounts.models import User
from app.fleet.ingest import intake
from app.fleet.pages import chassis, drive_rows, rows
from app.fleet.pages.drawing import draw
from app.fleet.pages.judging import OfDisks
from app.fleet.tests.cast import collect, node, payload
from workflows.analysis.judgement import Concern
from workflows.facts import BayFacts, FleetFacts, Gone, HealthFacts, Unknown
from workflows.tests.incident import BLANK_WWID, FLEET, LOST, NODE, POOL, SDFL, SDFL_WWID, with_disk

SHELF = "0x50050cc11ac016e2"


def bay(slot, status="OK", device=None, **more):
    leds = {"locate": False, "fault": False} | more
    return BayFacts(SHELF, "6:0:89:0", slot, str(slot), status, device=device, **leds)


def fleet(*bays, base=NODE, **others):
    return FleetFacts({base.node: replace(base, bays=bays)} | others)


def seen(*bays, vdev=""):
    return chassis.chassis(fleet(*bays), SHELF, {}, vdev)


def slot_of(wwid):
    return next(disk.bay.slot for disk in NODE.disks if disk.wwid == wwid)


def test_a_bay_is_empty_only_when_the_enclosure_says_so():
    kinds = {slot: one.kind for slot, one in seen(bay(40, "not installed"), bay(41), bay(42, Unknown("it hangs"))).bays.items()}
    assert (kinds[40], kinds[41], kinds[42]) == ("empty", "unknown", "unknown")


def test_an_occupied_bay_that_no_disk_names_says_what_is_known():
    assert seen(bay(41)).bays[41].words == "what is in it is not known: the enclosure says OK, and no disk names this bay"
    assert "sdzz is linked to it" in seen(bay(41, device="sdzz")).bays[41].words


def test_a_light_is_on_off_or_unknown_and_says_why():
    one = seen(bay(40, locate=True, fault=Unknown("The fault light of 40 could not be read."))).bays[40]
    assert one.locate.words == "on"
    assert one.fault.words == "unknown (The fault light of 40 could not be read)"
    assert "locate light on, fault light unknown" in one.title


def test_without_the_enclosure_driver_disks_stand_where_they_are_said_to_sit_and_lights_are_unknown():
    found = chassis.chassis(FleetFacts({"oss01": replace(NODE, bays=Unknown("enclosure was not collected."))}), SHELF, {})
    assert slot_of(SDFL_WWID) in found.bays
    assert {one.locate.state for one in found.bays.values()} == {"unknown"}
    assert found.unseen == ("oss01: enclosure was not collected.",)


def test_two_nodes_on_one_shelf_are_one_enclosure_and_the_owner_of_the_pool_is_believed():
    other = replace(NODE, node="oss02", pools=(), bays=(bay(slot_of(SDFL_WWID)),))
    found = chassis.chassis(FleetFacts({"oss02": other, "oss01": replace(NODE, bays=(bay(slot_of(SDFL_WWID)),))}), SHELF, {})
    assert found.nodes == ("oss02", "oss01")
    assert found.bays[slot_of(SDFL_WWID)].place.node == "oss01"
    assert found.bays[slot_of(SDFL_WWID)].kind == "good"


def test_a_light_of_which_two_nodes_say_different_things_is_unknown():
    other = replace(NODE, node="oss02", bays=(bay(40, locate=True),), disks=())
    found = chassis.chassis(fleet(bay(40), oss02=other), SHELF, {}).bays[40]
    assert found.locate == chassis.Light("unknown", "oss01 reads off; oss02 reads on")


def test_two_nodes_that_differ_on_what_is_in_a_bay_leave_it_not_known():
    other = replace(NODE, node="oss02", bays=(bay(40, "OK"),), disks=())
    assert chassis.chassis(fleet(bay(40, "not installed"), oss02=other), SHELF, {}).bays[40].kind == "unknown"


def test_two_disks_in_one_bay_are_none():
    moved = replace(NODE.disks[0], bay=bay(slot_of(SDFL_WWID)))
    found = chassis.chassis(FleetFacts({"oss01": replace(NODE, disks=(moved, *NODE.disks[1:]))}), SHELF, {}).bays[slot_of(SDFL_WWID)]
    assert found.kind == "unknown"
    assert found.disk is None
    assert "2 disks are reported here" in found.words


def test_a_member_that_predicts_its_own_failure_is_not_drawn_as_well():
    ill = with_disk(SDFL_WWID, health=HealthFacts(False, "FAILURE PREDICTION"))
    found = chassis.chassis(ill, SHELF, {}).bays[slot_of(SDFL_WWID)]
    assert found.kind == "watch"
    assert "says of itself: FAILURE PREDICTION" in found.words


def bay_by_the_rule(node=NODE, *about):
    return chassis.chassis(FleetFacts({node.node: node}), SHELF, {node.node: about}).bays[slot_of(SDFL_WWID)]


def concern(severity, **more):
    return Concern(severity, "something is so", wwids=frozenset((SDFL_WWID,)), **more)


USE = f"{POOL.name}, vdev {SDFL}, ONLINE"
NOT_WELL = {
    "nothing at all is against it": (NODE, (), "good"),
    "a situation to act on": (NODE, (concern("act"),), "bad"),
    "a situation to watch": (NODE, (concern("watch"),), "watch"),
    "a situation to know of": (NODE, (concern("info"),), "noted"),
    "a word that an administrator has reviewed": (NODE, (concern("watch", is_reviewed=True),), "noted"),
    "a situation of another disk": (NODE, (replace(concern("act"), wwids=frozenset((BLANK_WWID,))),), "good"),
    "its node is silent": (replace(NODE, age_seconds=7200.0), (), "unknown"),
    "what it says of its health is late": (
        replace(NODE, digests=NODE.digests | {"smart/sdfl": "c" * 64}, ages=NODE.ages | {"smart": 1e6}),
        (),
        "unknown",
    ),
    "zpool status failed": (replace(NODE, failures={"zpool_status": "it was killed after 20 s"}), (), "unknown"),
    "nobody watches the pools": (replace(NODE, digests={}), (), "unknown"),
    "its pool is suspended": (replace(NODE, pools=(replace(POOL, state="SUSPENDED", suspended=True),)), (), "unknown"),
    "the state of its pool is a word of another release": (replace(NODE, pools=(replace(POOL, state="PONDERING"),)), (), "unknown"),
}


@pytest.mark.parametrize("name", NOT_WELL)
def test_a_bay_is_drawn_as_well_only_where_the_rule_of_all_pages_says_so(name):
    node, about, kind = NOT_WELL[name]
    found = bay_by_the_rule(node, *about)
    assert found.kind == kind
    assert (found.tone == "good") == (kind == "good")
    assert kind == "good" or len(found.words) > len(bay_by_the_rule().words), "the reason stands in its words"
    assert kind == "good" or found.mark


@pytest.mark.parametrize("name", NOT_WELL)
def test_no_other_surface_shows_a_disk_greener_than_its_bay_is_drawn(name):
    """The node's list of disks, the disk's own page and the pool's tree."""
    node, about, kind = NOT_WELL[name]
    rule = OfDisks.of([node], {node.node: about})
    listed = next(row for row in rows.disk_rows(node, rule) if row.disk.wwid == SDFL_WWID)
    [pool] = node.pools
    leaf = next(row for row in rows.vdev_rows(pool, node, rule) if row.disk == SDFL_WWID)
    here = drive_rows.place(node, listed.disk, rule.disk(node, listed.disk, pool))
    assert [(tone == "good") for tone in (listed.tone, leaf.tone, here["tone"])] == [kind == "good"] * 3
    assert kind == "good" or all(len(tones) > len(was) for tones, was in ((listed.use, USE), (here["use"], USE))), "with the reason"
    assert kind == "good" or leaf.marks


def test_what_one_node_of_a_shelf_does_not_know_the_owner_of_the_pool_tells():
    """Two nodes see one disk; the silent one is not asked of a member of the other's pool."""
    other = replace(NODE, node="oss00", pools=(), age_seconds=7200.0)
    fleet_ = FleetFacts({"oss00": other, "oss01": NODE})
    assert chassis.chassis(fleet_, SHELF, {}).bays[slot_of(SDFL_WWID)].kind == "good"


def test_a_free_disk_and_a_guessed_place_are_told_apart_from_others():
    found = chassis.chassis(FLEET, SHELF, {})
    assert found.bays[slot_of(BLANK_WWID)].kind == "free"
    guessed = with_disk(BLANK_WWID, bay=replace(bay(70), evidence=7))
    assert "is a guess: the only bay left" in chassis.chassis(guessed, SHELF, {}).bays[70].title


def test_a_bay_that_lost_its_disk_lately_says_whose_it_was():
    gone = replace(fleet(bay(40, "not installed")), gone={("oss01", "naa:1"): Gone("ZA999", SHELF, 40)})
    found = chassis.chassis(gone, SHELF, {})
    assert "serial ZA999" in found.bays[40].title
    assert found.bays[40] in found.troubles


def test_an_empty_bay_remembers_what_it_held_and_a_full_one_does_not():
    found = chassis.remembering(
        chassis.chassis(fleet(bay(40, "not installed")), SHELF, {}), {40: "It last held ZA1.", slot_of(SDFL_WWID): "ZA2."}
    )
    assert found.bays[40].notes == ("It last held ZA1.",)
    assert found.bays[slot_of(SDFL_WWID)].notes == ()


def test_a_whole_vdev_is_pointed_out_from_any_of_its_members_also_from_a_lost_one():
    for guid in (SDFL, LOST):
        chosen = chassis.chassis(FLEET, SHELF, {}, str(guid)).chosen
        assert slot_of(SDFL_WWID) in chosen.slots
        assert any("was /dev/sdfl1" in words for words in chosen.elsewhere)
    assert chassis.chassis(FLEET, SHELF, {}, "12").chosen.slots == ()


def test_colours_have_a_letter_or_a_mark_beside_them():
    found = chassis.chassis(FLEET, SHELF, {}, str(SDFL))
    cells = {cell.bay.slot: cell for sheet in draw(found, "pool") for cell in sheet.cells}
    assert cells[slot_of(SDFL_WWID)].mark == "A"
    assert "chosen" in cells[slot_of(SDFL_WWID)].classes
    assert "faded" in cells[slot_of(BLANK_WWID)].classes
    assert cells[slot_of(BLANK_WWID)].mark == ""


def test_a_bay_of_a_known_chassis_that_nobody_names_is_not_drawn_as_empty():
    found = chassis.chassis(fleet(replace(bay(40), model="SEAGATE EXOS-E 5U84 6020")), SHELF, {})
    cells = [cell for sheet in draw(found) for cell in sheet.cells]
    assert len(cells) == 84
    assert next(cell for cell in cells if cell.bay.slot == 83).bay.words == "no source names this bay"


@pytest.mark.django_db
def test_the_page_and_the_sheet_of_the_shelf_that_all_of_them_stand_in(twins):
    captures = collect(twins["oss01"])
    intake.receive(node("oss01").name, payload("oss01", captures), timezone.now())
    reader = Client()
    reader.force_login(User.objects.create_user("reader"))
    page = reader.get(reverse("enclosure", args=["oss01", SHELF]), {"tint": "pool", "vdev": str(LOST)}).content.decode()
    assert page.count('class="sl-slot') >= 84
    assert "ost_0 raidz2-3" in page
    assert "9 members here" in page
    sheet = reader.get(reverse("slot-sheet", args=["oss01", SHELF])).content.decode()
    assert sheet.count('class="slot"') == 84
    assert "SEAGATE EXOS-E 5U84" in sheet
    for shown in (page, sheet):
        assert "Where each number lies is a guess." in shown, "no source says it, and a wrong picture sends a hand to the wrong disk"
    assert reader.get(reverse("enclosure", args=["oss01", "0x1"])).status_code == 404
    assert reader.get(reverse("enclosure", args=["oss99", SHELF])).status_code == 404


def test_an_enclosure_that_calls_itself_strange_things_has_a_page_all_the_same():
    for name in ("0x5/00", "<b>", "a b?c"):
        path = reverse("enclosure", args=["oss01", name])
        assert resolve(unquote(path)).kwargs["enclosure_id"] == name
        assert "<" not in path
