"""blink-and-replace as people walk it: the pages, the ledger and the open loops, with the agent's own code on the node's side."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from app.ledger.models import LedgerEvent
from app.runs import open_loops, services
from app.runs.models import OpenLoop, Order, ResourceLock, Run
from app.runs.pages import run_page, safety
from app.runs.tests.cast import RESILVER_SECONDS, Played, act, try_out
from app.runs.tests.walks import Walk, event_types
from twin import rack
from twin.tables import TXG_SECONDS
from workflows.engine import events as ev
from workflows.runbooks import RUNBOOKS

pytestmark = pytest.mark.django_db
BLINK = "blink-and-replace"
BAY, OTHER = 3, 5
NEW = "ZAX1009X"


@pytest.fixture
def node(db, tmp_path):
    return try_out(tmp_path, BLINK)


def blink(node: Played, ann, bob) -> Walk:
    walk = Walk(node, ann, bob, BLINK)
    walk.typed = {"spare": NEW, "blinks": str(BAY)}
    walk.hands = {
        "pull": lambda: rack.pull(node.state, BAY),
        "insert": lambda: rack.insert(node.state, BAY, NEW),
        "resilver": lambda: time.sleep(RESILVER_SECONDS * 1.5),
    }
    return walk


@pytest.fixture
def walk(node, ann, bob):
    return blink(node, ann, bob)


def test_it_walks_to_the_good_end_and_leaves_nothing_on(walk, client):
    run = walk.to()
    assert run.status == "done", (run.step, run.here.note, run.here.verdicts)
    assert not OpenLoop.objects.exists()
    assert not ResourceLock.objects.exists()
    assert [argv[:2] for argv in walk.node.commands()] == [["zpool", "offline"], ["zpool", "replace"]]
    ordered = Order.objects.filter(run=run).exclude(effect="pure").order_by("sealed_at").values_list("operation", "status")
    wanted = ("zpool_offline", "locate_led", "zpool_replace", "locate_led", "fault_led_off")
    assert list(ordered) == [(name, "SUCCEEDED") for name in wanted]
    assert event_types(run).count("loop.opened") == event_types(run).count("loop.closed") == 2
    shown = walk.page(client)
    assert "Put back what was switched on: carried out when this run ends" in shown
    assert "found it switched off again: The locate light of bay 3" in shown


def test_that_the_last_scrub_is_long_ago_is_read_before_the_disk_is_taken_out_and_approved_with_the_plan(walk, client):
    """The pool of this node was never scrubbed. It stops nobody."""
    head, text = "<strong>Before you go on.</strong>", "No scrub of ost_0 came to its end in the"
    for step in ("check", "plan-offline", "confirm-offline", "offline"):
        walk.to(step)
        shown = walk.page(client)
        assert f"{head} {text}" in shown, step
        assert "run <code>zpool scrub ost_0</code> to its end first" in shown, "a command is shown as code"
        if step == "confirm-offline":
            assert text in walk.run.here.plan["warnings"][0]
            walk.to("approve-offline")
            shown = walk.page(client, walk.bob)
            assert shown.count(text) == 1, "once, and where it is approved"
            assert "none since" in shown, "the plan says since when"
    walk.to("light")
    shown = walk.page(client)
    assert head not in shown
    planned = LedgerEvent.objects.filter(run=str(walk.run.pk), type="run.planned").order_by("run_seq").first()
    assert text in planned.parsed["body"]["warnings"][0]


def test_a_wrong_serial_and_a_wrong_bay_are_refused_and_kept_in_the_field(walk, client):
    walk.to("spare")
    client.force_login(walk.ann)
    form = {"act": "hands", "version": walk.run.version, "evidence": walk.run.params["old_serial"]}
    answer = client.post(f"{walk.run.get_absolute_url()}act/", form)
    assert answer.status_code == 409
    shown = answer.content.decode()
    assert f"{walk.run.params['old_serial']} is the disk that is to go. Scan the new one." in shown
    assert f'value="{walk.run.params["old_serial"]}"' in shown
    assert ">Scan or type the serial number on the new disk.</label>" in shown
    walk.to("blinks")
    with pytest.raises(services.RunRefused) as refused:
        act(walk.run, ev.HandsDone, walk.ann, evidence=str(OTHER))
    assert any("Pull nothing" in v.reason for v in refused.value.verdicts)


def test_the_step_at_the_rack_stands_alone_on_a_page_that_needs_no_script(walk, client):
    walk.to("spare")
    client.force_login(walk.ann)
    address = client.get("/now/").headers["Location"]
    assert address == f"/runs/{walk.run.pk}/now/"
    shown = client.get(address).content.decode()
    assert "Scan or type the serial number on the new disk." in shown
    form = {"page": "now", "act": "hands", "version": walk.run.version, "evidence": walk.run.params["old_serial"]}
    refused = client.post(f"{walk.run.get_absolute_url()}act/", form)
    assert refused.status_code == 409
    assert "is the disk that is to go" in refused.content.decode()
    assert 'class="sl-rack"' in refused.content.decode()
    taken = client.post(f"{walk.run.get_absolute_url()}act/", form | {"evidence": NEW})
    assert (taken.status_code, taken.headers["Location"]) == (302, address)
    assert "Nothing is to be done at the rack now" in client.get(address).content.decode()


def test_nothing_tells_which_bay_blinks(walk, client):
    walk.to("blinks")
    client.force_login(walk.ann)
    shown = client.get(f"/runs/{walk.run.pk}/now/").content.decode()
    assert "Which bay blinks?" in shown
    assert f"<strong>{BAY}</strong>" not in shown
    assert walk.run.params["old_serial"] not in shown
    walk.to("pull")
    shown = client.get(f"/runs/{walk.run.pk}/now/").content.decode()
    assert f"<strong>{BAY}</strong>" in shown
    assert "Its light blinks." in shown


def test_a_wrong_pull_is_said_at_once_and_at_the_head_of_every_page(walk, client):
    walk.to("pull")
    serial = rack.pull(walk.node.state, OTHER)
    walk.look()
    enclosure = walk.run.params["enclosure"]
    named = f"the disk with the serial number {serial} was pulled out of bay {OTHER} of enclosure {enclosure}."
    assert walk.run.here.alarm.startswith(f"Put it back now: {named} It serves ost_0."), walk.run.here.alarm
    shown = walk.page(client)
    assert 'id="alarm"' in shown
    assert shown.count(walk.run.here.alarm) >= 1
    assert f"Your run {walk.run.pk} on {walk.node.name}: {walk.run.here.alarm}" in client.get("/").content.decode()
    assert "raised the alarm" in shown
    assert serial
    rack.insert(walk.node.state, OTHER, serial)
    walk.look()
    assert walk.run.here.alarm == ""
    assert walk.to().status == "done"


def test_a_run_that_is_ended_walks_its_way_back(walk, client):
    walk.to("blinks")
    act(walk.run, ev.Aborted, walk.ann, reason="Not tonight.")
    walk.run.refresh_from_db()
    assert (walk.run.here.ending, walk.run.step) == ("aborted", "seat")
    shown = walk.page(client)
    assert "This run now puts back what it switched on." in shown
    assert "began to put back what was switched on: The member" in shown
    assert walk.to().status == "aborted"
    assert not OpenLoop.objects.exists()


def left_lit(walk: Walk) -> OpenLoop:
    """A run that a person ended twice over a lit bay and a member out of service."""
    walk.to("blinks")
    for reason, ahead in (
        ("Not tonight.", "leads back over switching that off first"),
        ("Nor its way back.", "leaves it so, among the open"),
    ):
        assert ahead in safety.stopping(walk.run, walk.run.here, services.step_of(walk.run))
        act(walk.run, ev.Aborted, walk.ann, reason=reason)
        walk.run.refresh_from_db()
    walk.run.refresh_from_db()
    assert walk.run.status == "aborted"
    return OpenLoop.objects.get(run=walk.run, loop="lit")


def test_what_is_left_on_is_listed_and_counted_until_the_node_shows_it_off(walk, client):
    ended = left_lit(walk).run.ended_at
    client.force_login(walk.bob)
    shown = client.get("/open-loops/").content.decode()
    assert "The locate light of bay 3" in shown
    assert "OFFLINE" in shown
    for words in ("pool ost_0", f"bay {BAY}", f"disk {walk.run.params['old_serial']}"):
        assert f">{words}</a>" in shown, "what it is about is a click away"
    assert "--clear=ident" in shown, "how to switch it off by hand stands beside it"
    assert "2 open loops" in client.get("/").content.decode()
    walk.node.report()
    open_loops.close_by_facts(walk.node.name)
    assert OpenLoop.objects.count() == 2, "it is still lit"
    with walk.node.host.store.changing() as twin:
        for bay in twin.enclosures[0].bays:
            bay.locate = 0
    open_loops.close_by_facts(walk.node.name)
    assert OpenLoop.objects.count() == 2, "what was said before is no proof"
    walk.node.report()
    open_loops.close_by_facts(walk.node.name)
    assert [one.loop for one in OpenLoop.objects.all()] == ["offline"]
    walk.run.refresh_from_db()
    assert walk.run.ended_at == ended
    last = LedgerEvent.objects.filter(run=str(walk.run.pk), type="loop.closed").get()
    assert last.actor == f"node:{walk.node.name}"


def test_facts_from_before_the_runs_end_close_nothing(walk):
    one = left_lit(walk)
    with walk.node.host.store.changing() as twin:
        for bay in twin.enclosures[0].bays:
            bay.locate = 0
    walk.node.report()
    Run.objects.filter(pk=one.run_id).update(ended_at=timezone.now() + timedelta(seconds=60))
    open_loops.close_by_facts(walk.node.name)
    assert OpenLoop.objects.filter(loop="lit").exists()


def test_a_persons_word_closes_it_only_where_the_node_does_not_show_the_contrary(walk, client, eve):
    one = left_lit(walk)
    client.force_login(eve)
    url = f"/open-loops/{one.pk}/close/"
    answer = client.post(url, {"version": walk.run.version, "evidence": "I see it dark."})
    assert answer.status_code == 409
    assert 'value="I see it dark."' in answer.content.decode()
    with walk.node.host.store.changing() as twin:
        twin.enclosures[0].bays = []
    walk.node.report()
    assert client.post(url, {"version": walk.run.version, "evidence": ""}).status_code == 409
    assert client.post(url, {"version": walk.run.version, "evidence": "The shelf was sent back."}).status_code == 302
    assert not OpenLoop.objects.filter(loop="lit").exists()
    closed = LedgerEvent.objects.get(run=str(walk.run.pk), type="loop.closed")
    assert (closed.actor, closed.parsed["body"]["evidence"]) == ("eve", "The shelf was sent back.")


def test_who_may_not_operate_closes_nothing(walk, client, django_user_model):
    one = left_lit(walk)
    client.force_login(django_user_model.objects.create_user("looker"))
    assert "I know" not in client.get("/open-loops/").content.decode()
    assert client.post(f"/open-loops/{one.pk}/close/", {"version": walk.run.version, "evidence": "Dark."}).status_code == 409
    assert OpenLoop.objects.filter(pk=one.pk).exists()


NOTE = "Listed the datasets; the evidence is with the storage team."
IMAGES = "All 6 disks are imaged by the storage team; the images are on nas3."


def out_of_its_bay(node: Played) -> str:
    """The disk that was deleted from the kernel is pulled; returns what is typed then."""
    with node.host.store.changing() as twin:
        disk = twin.deleted.pop()
        place = twin.bay_of(disk.wwid)[1]
        place.wwid, place.status = None, "not installed"
    return disk.serial


@pytest.mark.parametrize(
    ("scenario", "choices"),
    [
        ("spare-return", {"way": "cancel"}),
        ("read-only-import", {"why": "dry-run", "offer": "rewind"}),
        ("device-delete-reimport", {"next": "write"}),
        ("rewind-import", {"point": "3991", "way": "evacuate"}),
        ("rewind-import-for-good", {"point": "3999", "way": "back", "after": "rewind"}),
    ],
)
def test_every_other_runbook_walks_to_its_good_end_too(scenario, choices, tmp_path, ann, bob):
    node = try_out(tmp_path, scenario)
    walk = Walk(node, ann, bob, scenario.removesuffix("-for-good"))
    walk.choices = choices
    walk.typed = {"use": NOTE, "find": lambda: walk.run.here.params["old_serial"], "pull": lambda: out_of_its_bay(node)}
    walk.typed |= {"compare": NOTE, "evacuate": NOTE, "image": IMAGES}
    walk.hands = {"resilver": lambda: time.sleep(RESILVER_SECONDS * 1.5), "passed": lambda: time.sleep(TXG_SECONDS)}
    run = walk.to()
    assert run.status == "done", (run.step, run.here.note, run.here.verdicts)
    assert not OpenLoop.objects.exists()
    if scenario == "read-only-import":
        assert run.here.params["rewind_loss"] == "5 seconds", "learnt from what the dry run said"


@pytest.mark.parametrize("slug", RUNBOOKS)
def test_every_runbook_has_a_page_made_from_its_definition(slug, client, ann):
    client.force_login(ann)
    assert RUNBOOKS[slug].title.replace("'", "&#x27;") in client.get("/runbooks/").content.decode()
    shown = client.get(f"/runbooks/{slug}/").content.decode()
    for step in RUNBOOKS[slug].steps:
        assert step.title in shown
    assert "None" not in shown
    assert "`" not in shown, "a command is shown as code"
    assert "5000c500a65b207b" not in shown
    assert ("Put back what was switched on" in shown) == bool(RUNBOOKS[slug].undo)


def test_a_run_that_waits_for_hands_does_not_say_that_the_node_is_at_work(walk):
    walk.to("pull")
    assert run_page.standing(walk.run.here, RUNBOOKS[walk.run.runbook]) == ("waits for hands at the rack", "info")
    text = safety.stopping(walk.run, walk.run.here, services.step_of(walk.run))
    assert "It waits until what is asked here has been done at the rack." in text
