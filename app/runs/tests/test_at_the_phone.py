"""What the page at the rack says to somebody with one hand free: one thing at a time, by what is printed on the disk."""

from hashlib import sha256

import pytest
from django.utils import timezone

from app.fleet.models import Disk
from app.ledger.models import LedgerEvent
from app.ledger.services import blob
from app.runs import services, tasks
from app.runs.models import Order, Run
from app.runs.pages import rack as rack_page
from app.runs.tests.cast import act, try_out
from app.runs.tests.test_rack import BAY, BLINK, NEW, OTHER, blink
from app.runs.tests.walks import Walk, event_types
from twin import rack
from workflows.engine import events as ev
from workflows.engine.transitions import LOOK_SECONDS
from workflows.runbooks import RUNBOOKS

pytestmark = pytest.mark.django_db
REIMPORT = "device-delete-reimport"


@pytest.fixture
def walk(db, tmp_path, ann, bob):
    return blink(try_out(tmp_path, BLINK), ann, bob)


def phone(client, walk) -> str:
    client.force_login(walk.ann)
    return " ".join(client.get(f"/runs/{walk.run.pk}/now/").content.decode().split())


def post(client, walk, name, evidence, **more):
    walk.run.refresh_from_db()
    form = {"page": "now", "act": name, "version": walk.run.version, "evidence": evidence, **more}
    return client.post(f"{walk.run.get_absolute_url()}act/", form)


def test_it_names_the_bay_and_the_disk_only_when_hands_go_there(walk, client):
    old, large = walk.run.params["old_serial"], f"<strong>{BAY}</strong>"
    for step in ("spare", "check", "confirm-offline", "offline", "light", "blinks"):
        walk.to(step)
        shown = phone(client, walk)
        assert large not in shown, step
        assert old not in shown, step
    walk.to("pull")
    walk.node.work()
    shown = phone(client, walk)
    assert large in shown
    assert f'Take out: serial number</dt><dd class="sl-mono">{old}</dd>' in shown
    assert "Put in" not in shown
    assert f"The disk with the serial number {old} is still in bay {BAY}" in shown
    assert walk.run.params["old_wwid"].removeprefix("naa:") not in shown
    walk.to("insert")
    shown = phone(client, walk)
    assert large in shown
    assert f'Put in: serial number</dt><dd class="sl-mono">{NEW}</dd>' in shown
    assert "Take out" not in shown


def test_on_the_way_back_it_asks_for_the_old_disk_and_for_nothing_else(walk, client):
    walk.to("insert")
    act(walk.run, ev.Aborted, walk.ann, reason="Not tonight.")
    walk.run.refresh_from_db()
    assert walk.run.step == "seat"
    shown = phone(client, walk)
    assert f'Put back: serial number</dt><dd class="sl-mono">{walk.run.params["old_serial"]}</dd>' in shown
    assert NEW not in shown, "neither as what goes in nor as what could be scanned anew"
    rack.insert(walk.node.state, BAY, NEW)
    walk.look()
    text = f"holds the disk with the serial number {NEW}. Take that out, and put the disk with the serial number {walk.run.params['old_serial']} back"
    assert text in phone(client, walk)


def test_a_disk_that_reports_no_serial_number_is_compared_by_its_wwn(tmp_path, ann, bob, client):
    walk = Walk(try_out(tmp_path, REIMPORT), ann, bob, REIMPORT)
    walk.choices, walk.typed = (
        {"next": "write"},
        {"use": "Listed the datasets.", "compare": "Listed the datasets; the storage team has the list."},
    )
    walk.to("find")
    serial, wwid = walk.run.state["params"].pop("old_serial"), walk.run.state["params"]["old_wwid"]
    walk.run.save(update_fields=["state"])
    printed = wwid.removeprefix("naa:").upper()
    shown = phone(client, walk)
    assert f'Find: WWN</dt><dd class="sl-mono">{printed}</dd>' in shown
    assert serial not in shown
    assert "That is not it." in post(client, walk, "hands", serial).content.decode(), "it is asked for what the page shows"
    post(client, walk, "hands", printed)
    walk.run.refresh_from_db()
    assert walk.run.step == "pull"
    assert f'Take out: WWN</dt><dd class="sl-mono">{printed}</dd>' in phone(client, walk)


def test_of_a_disk_that_is_known_by_nothing_on_its_label_nothing_is_shown():
    find = RUNBOOKS[REIMPORT].step("find")
    assert rack_page.in_hand(find, {"old_wwid": "eui:0025385b71b00001"}) == ("Find", "WWID", "eui:0025385b71b00001")
    assert rack_page.in_hand(find, {}) is None
    assert rack_page.in_hand(RUNBOOKS[BLINK].step("insert"), {"old_wwid": "naa:5000c500a65b207b"}) is None, "that is the other disk"


def test_during_a_wrong_pull_nothing_else_is_asked(walk, client):
    walk.to("pull")
    serial = rack.pull(walk.node.state, OTHER)
    walk.look()
    shown = phone(client, walk)
    assert f"the disk with the serial number {serial} was pulled out of bay {OTHER}" in shown
    assert "Pull nothing else." in shown
    for words in ("Pull it.", "Take out", f"<strong>{BAY}</strong>", 'id="correct"', "wwn-0x"):
        assert words not in shown, words
    assert 'id="looks"' in shown
    assert "Pull it." not in walk.page(client), "nor at the desk"


def test_the_field_to_scan_again_is_open_only_while_another_disk_is_in_the_bay(walk, client):
    """One instruction at a time: while the right bay is full or empty, nothing speaks against what was scanned."""
    walk.to("insert")
    walk.look()
    shown = phone(client, walk)
    assert 'id="against"' in shown
    assert 'id="correct"' in shown
    assert 'id="correct" open' not in shown


@pytest.mark.parametrize("typed", ["za2b4c6d", "ZAX1O09X"])
def test_a_wrong_scan_is_corrected_on_the_phone_while_the_bay_is_empty(typed, walk, client):
    walk.typed["spare"] = typed
    walk.to("insert")
    rack.insert(walk.node.state, BAY, NEW)
    walk.look()
    assert walk.run.step == "insert"
    shown = phone(client, walk)
    assert f"holds the disk with the serial number {NEW}, and {typed.upper()} was scanned." in shown, "the refusal stands on the phone"
    assert 'id="correct" open' in shown
    serving = walk.node.host.view().node.disk(walk.node.host.view().node.enclosures[0].bays[OTHER].wwid).serial
    for wrong in (walk.run.params["old_serial"].lower(), serving):
        answer = post(client, walk, "correct", f"s/n {wrong}", step="spare")
        assert answer.status_code == 409
        assert "That is not it." in answer.content.decode()
    assert post(client, walk, "correct", f"sn: {NEW.lower()}", step="spare").status_code == 302
    walk.look()
    assert (walk.run.step, walk.run.here.params["spare_serial"]) == ("inspect", NEW)
    body = LedgerEvent.objects.get(run=str(walk.run.pk), type="run.corrected").parsed["body"]
    assert (body["before"], body["evidence"]) == (typed.upper(), NEW)
    assert 'id="correct"' in walk.page(client), "at the desk too"
    assert walk.to().status == "done"


def test_a_disk_that_a_pool_misses_is_no_new_disk_although_it_is_in_no_bay(walk):
    """Every disk ever seen counts: the one that was pulled by mistake is not taken for one from the shelf."""
    serial = rack.pull(walk.node.state, OTHER)
    walk.node.report()
    with pytest.raises(services.RunRefused) as refused:
        act(walk.run, ev.HandsDone, walk.ann, evidence=serial.lower())
    assert any("is a member of ost_0 on" in v.reason for v in refused.value.verdicts), refused.value.verdicts


def test_with_hands_in_the_rack_the_node_is_looked_at_every_few_seconds(walk, client, settings):
    settings.CELERY_TASK_ALWAYS_EAGER = True
    walk.to("pull")

    def looks():
        return Order.objects.filter(run=walk.run, operation="look", step="pull")

    assert looks().filter(status="SEALED").count() == 1, "at once, and not with the next report"
    assert "It looks now." in phone(client, walk)
    walk.node.work()
    walk.run.refresh_from_db()
    assert timezone.now() < walk.run.due_at
    assert (walk.run.due_at - timezone.now()).total_seconds() <= LOOK_SECONDS
    assert 'It looks again in <span data-count="down" data-then="It looks now.">' in phone(client, walk)
    Run.objects.filter(pk=walk.run.pk).update(due_at=timezone.now())
    tasks.ring_due()
    assert looks().count() == 2
    rack.pull(walk.node.state, BAY)
    walk.node.work()
    walk.run.refresh_from_db()
    assert walk.run.step == "insert", "what the look says moves the run, with no report in between"
    assert "run.waited" in event_types(walk.run)


def one_look(walk) -> None:
    """The next look of a run that waits: it is due, the node answers."""
    tasks.ring_due()
    Run.objects.filter(pk=walk.run.pk).update(due_at=timezone.now())
    tasks.ring_due()
    walk.node.work()
    walk.run.refresh_from_db()


def of_looks(walk) -> list:
    events = LedgerEvent.objects.filter(run=str(walk.run.pk), type__startswith="order.").order_by("run_seq")
    return [(event.type, event.parsed["body"]) for event in events if event.parsed["body"].get("operation", "look") == "look"]


def test_the_ledger_does_not_grow_with_how_long_somebody_stands_at_the_rack(walk, settings):
    settings.CELERY_TASK_ALWAYS_EAGER = True
    walk.to("pull")
    walk.node.work()
    begun, number = len(of_looks(walk)), LedgerEvent.objects.count()
    for _ in range(12):
        one_look(walk)
    orders = Order.objects.filter(run=walk.run, operation="look", step="pull", status="SUCCEEDED").order_by("number")
    assert orders.count() > 10
    assert LedgerEvent.objects.count() == number, [event.type for event in LedgerEvent.objects.order_by("-pk")[:5]]
    same = list(orders)[1:]
    serial = rack.pull(walk.node.state, OTHER)
    one_look(walk)
    lines = of_looks(walk)[begun:]
    assert [kind for kind, _ in lines] == ["order.looks", "order.receipt"], "those that saw the same together, and the change by itself"
    folded, change = (body for _, body in lines)
    assert (folded["looks"], folded["receipt"]) == (str(len(same)), same[-1].receipt_digest)
    assert folded["receipts"] == sha256("".join(order.receipt_digest for order in same).encode()).hexdigest()
    assert folded["captures"] != change["captures"]
    assert serial in walk.run.here.alarm
    for order in same:
        assert blob(order.receipt_digest), "no receipt is lost"
    for _ in range(3):
        one_look(walk)
    rack.insert(walk.node.state, OTHER, serial)
    one_look(walk)
    assert [kind for kind, _ in of_looks(walk)[begun + 2 :]] == ["order.looks", "order.receipt"]


def test_the_last_look_is_told_of_when_the_run_leaves_the_step(walk, settings):
    settings.CELERY_TASK_ALWAYS_EAGER = True
    walk.to("pull")
    walk.node.work()
    for _ in range(3):
        one_look(walk)
    last = Order.objects.filter(run=walk.run, operation="look", step="pull", status="SUCCEEDED").order_by("number").last()
    act(walk.run, ev.Aborted, walk.ann, reason="Not tonight.")
    [(_, folded)] = [(kind, body) for kind, body in of_looks(walk) if kind == "order.looks"]
    assert (folded["step"], folded["order"], folded["receipt"]) == ("pull", last.pk, last.receipt_digest)
    kinds = list(LedgerEvent.objects.filter(run=str(walk.run.pk)).order_by("run_seq").values_list("type", flat=True))
    assert kinds.index("order.looks") < kinds.index("run.turned-back")


def test_a_disk_is_known_by_the_serial_number_that_it_had_before(walk):
    """In its bay, and pulled by mistake: what it says of itself now is not what its label says."""
    wwid = next(bay.wwid for bay in walk.node.host.view().node.enclosures[0].bays if bay.number == OTHER)
    before = {"serial": "ZB99999X", "node": walk.node.name, "until": timezone.now().isoformat()}
    assert Disk.objects.filter(wwid=wwid).update(former_serials=[before]) == 1
    with pytest.raises(services.RunRefused) as refused:
        act(walk.run, ev.HandsDone, walk.ann, evidence="s/n zb99999x")
    assert any(f"in bay {OTHER}" in v.reason and "not on the shelf" in v.reason for v in refused.value.verdicts), refused.value.verdicts
    rack.pull(walk.node.state, OTHER)
    walk.node.report()
    with pytest.raises(services.RunRefused) as refused:
        act(walk.run, ev.HandsDone, walk.ann, evidence="zb99999x")
    assert any("ZB99999X is a member of ost_0 on" in v.reason for v in refused.value.verdicts), refused.value.verdicts
