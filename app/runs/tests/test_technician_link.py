"""A technician's link opens what one run asks of hands, for one visit, in one browser, and nothing else."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from app.core.permissions_by_route import AGENT, ANYBODY, ROUTES, TECHNICIAN, TOKEN
from app.ledger.models import LedgerEvent
from app.runs import services
from app.runs.models import Hand, TechnicianLink
from app.runs.pages import qr
from app.runs.people import technician_link
from app.runs.tests.cast import act, try_out
from app.runs.tests.test_rack import BAY, BLINK, NEW, OTHER, blink
from app.runs.tests.walks import event_types
from app.tests.test_permissions_by_route import PATHS
from twin import rack
from workflows.engine import events as ev

pytestmark = pytest.mark.django_db


@pytest.fixture
def walk(db, tmp_path, ann, bob):
    """A run that asks for hands: scan the new disk."""
    walk = blink(try_out(tmp_path, BLINK), ann, bob)
    walk.to("spare")
    return walk


@pytest.fixture
def token(walk, ann):
    return technician_link.make(walk.run.pk, ann)[1]


@pytest.fixture
def phone(token):
    """A browser that has opened the link."""
    phone = Client()
    answer = phone.post(f"/t/{token}/", {"name": "Joe  Doe"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/t/")
    return phone


def scan(phone, walk, serial=NEW):
    walk.run.refresh_from_db()
    return phone.post("/t/", {"act": "hands", "version": walk.run.version, "evidence": serial})


def shown(phone) -> str:
    return " ".join(phone.get("/t/").content.decode().split())


def test_what_is_done_is_done_under_the_typed_name_and_the_name_of_who_made_the_link(walk, phone):
    text = shown(phone)
    assert "Scan or type the serial number on the new disk." in text
    assert "Joe Doe, by the link of ann" in text
    assert scan(phone, walk).headers["Location"] == "/t/"
    walk.run.refresh_from_db()
    assert walk.run.step == "check"
    done = LedgerEvent.objects.get(run=str(walk.run.pk), type="run.done-by-hand")
    assert done.actor == "technician:Joe Doe (link of ann)"
    assert [what for what in event_types(walk.run) if what.startswith("technician-link")] == [
        "technician-link.made",
        "technician-link.opened",
    ]


def test_one_link_holds_for_the_whole_visit_and_ends_with_it(walk, phone):
    old = walk.run.params["old_serial"]
    scan(phone, walk, "ZAX1O09X")
    for step in ("check", "confirm-offline", "offline", "light"):
        walk.to(step)
        text = shown(phone)
        assert "Nothing is to be done at the rack now" in text, step
        assert old not in text, "no disk is named before its member is out of service and its bay is lit"
    walk.to("blinks")
    assert scan(phone, walk, str(OTHER)).status_code == 409
    assert scan(phone, walk, f"bay {BAY}").status_code == 302
    walk.run.refresh_from_db()
    assert walk.run.step == "pull"
    assert f'Take out: serial number</dt><dd class="sl-mono">{old}' in shown(phone)
    wrong = rack.pull(walk.node.state, OTHER)
    walk.look()
    assert f"Put it back now: the disk with the serial number {wrong} was pulled out of bay {OTHER}" in shown(phone)
    rack.insert(walk.node.state, OTHER, wrong)
    walk.look()
    walk.to("insert")
    rack.insert(walk.node.state, BAY, NEW)
    walk.look()
    assert "and ZAX1O09X was scanned" in shown(phone)
    walk.run.refresh_from_db()
    answer = phone.post("/t/", {"act": "correct", "step": "spare", "version": walk.run.version, "evidence": NEW.lower()})
    assert answer.status_code == 302
    corrected = LedgerEvent.objects.get(run=str(walk.run.pk), type="run.corrected")
    assert corrected.actor == "technician:Joe Doe (link of ann)"
    walk.look()
    walk.to("take")
    assert phone.get("/t/").status_code == 200, "another disk may yet have to come"
    walk.to("resilver")
    assert "Nothing is left to do at the rack in this run. This link is closed." in shown(phone)
    assert phone.get("/t/").status_code == 410
    with pytest.raises(services.RunRefused, match="would open nothing"):
        technician_link.make(walk.run.pk, walk.ann)


def test_it_holds_on_the_way_back_and_ends_with_the_run(walk, phone, ann):
    scan(phone, walk)
    walk.to("blinks")
    act(walk.run, ev.Aborted, ann, reason="Not tonight.")
    walk.run.refresh_from_db()
    assert walk.run.step == "seat"
    assert "Put back: serial number" in shown(phone)
    walk.to()
    assert "This link is closed." in shown(phone)


def test_its_holder_ends_the_visit(walk, phone):
    assert phone.post("/t/", {"act": "leave"}).headers["Location"] == "/t/"
    assert event_types(walk.run)[-1] == "technician-link.left"
    assert "Joe Doe has ended this visit." in shown(phone)
    assert scan(phone, walk).status_code == 410


def test_a_wrong_answer_is_refused_with_its_reason_and_may_be_given_again(walk, phone):
    answer = scan(phone, walk, walk.run.params["old_serial"])
    assert answer.status_code == 409
    assert "is the disk that is to go. Scan the new one." in answer.content.decode()
    assert event_types(walk.run)[-1] == "run.refused"
    assert scan(phone, walk).status_code == 302


def test_only_its_hash_is_kept(token):
    link = TechnicianLink.objects.get()
    assert token not in repr(vars(link))
    assert link.token_hash == technician_link.hashed(token)
    assert len(token) >= 43  # 256 bits


def test_looking_at_the_link_does_not_use_it_up(token):
    for _ in range(3):
        assert Client().get(f"/t/{token}/").status_code == 200
    assert TechnicianLink.objects.get().opened_at is None


def test_it_opens_once(token, phone):
    other = Client()
    for answer in (other.get(f"/t/{token}/"), other.post(f"/t/{token}/", {"name": "Mallory"})):
        assert answer.status_code == 410
        assert "opened before, by a browser under the name Joe Doe" in answer.content.decode()
    assert phone.get(f"/t/{token}/").headers["Location"] == "/t/"  # the same phone, scanning again


@pytest.mark.parametrize("name", ["", "   ", "a\0b", "\x1b[31m"])
def test_it_opens_for_nobody_without_a_name(token, name):
    answer = Client().post(f"/t/{token}/", {"name": name})
    assert (answer.status_code, TechnicianLink.objects.get().opened_at) == (409, None)


def test_a_name_is_text(walk, token):
    phone = Client()
    phone.post(f"/t/{token}/", {"name": "<b>Joe</b>"})
    assert "<b>Joe</b>" not in phone.get("/t/").content.decode()
    assert "&lt;b&gt;Joe&lt;/b&gt;" in phone.get("/t/").content.decode()


def test_it_is_dead_when_it_is_revoked(walk, phone, ann, client):
    client.force_login(ann)
    link = TechnicianLink.objects.get()
    form = {"act": "revoke-link", "link": link.pk, "version": walk.run.version}
    assert client.post(f"{walk.run.get_absolute_url()}act/", form).status_code == 302
    assert "revoked" in scan(phone, walk).content.decode()
    assert event_types(walk.run)[-1] == "technician-link.revoked"


def test_it_is_dead_when_its_time_is_over(walk, phone):
    TechnicianLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert "has expired" in scan(phone, walk).content.decode()


def test_it_is_dead_when_who_made_it_may_not_act_any_more(walk, phone, ann):
    ann.memberships.all().delete()
    assert "may not act any more" in scan(phone, walk).content.decode()


@pytest.mark.parametrize("path", ["/t/no-such-token/", "/t/"])
def test_a_link_that_nobody_made_says_what_to_do(path):
    answer = Client().get(path)
    assert answer.status_code == 410
    assert "Ask the operator to show the code again" in answer.content.decode()


OTHERS = sorted(name for name, who in ROUTES.items() if who not in (ANYBODY, TECHNICIAN))


def test_it_opens_no_other_route_of_the_portal(phone):
    """All of them in one test: a walk to the step takes longer than all that is asked here."""
    for name in OTHERS:
        for method in ("get", "post"):
            answer = getattr(phone, method)(PATHS[name])
            assert answer.status_code == 403, (name, method)
            if ROUTES[name] not in (AGENT, TOKEN):
                assert "It shows what is to be done at the rack and nothing else" in answer.content.decode()


def test_it_does_not_approve(walk, phone):
    walk.run.refresh_from_db()
    for name in ("approve", "execute", "abort", "comment", "hand-over", "technician-link"):
        form = {"act": name, "version": walk.run.version, "reason": "x", "text": "x", "to": "bob"}
        assert phone.post(f"{walk.run.get_absolute_url()}act/", form).status_code == 403
        assert phone.post("/t/", form | {"evidence": ""}).status_code == 409
    walk.run.refresh_from_db()
    assert walk.run.step == "spare"


def test_whoever_makes_it_has_a_hand_in_the_run(walk, eve):
    technician_link.make(walk.run.pk, eve)
    walk.run.refresh_from_db()
    assert "eve" in walk.run.here.hands
    assert Hand.objects.filter(run=walk.run, person=eve).exists()


def test_who_may_not_act_makes_none_and_nobody_makes_many(walk, ann, django_user_model):
    with pytest.raises(services.NotAllowed):
        technician_link.make(walk.run.pk, django_user_model.objects.create_user("looker"))
    for _ in range(technician_link.LINKS_MAX):
        technician_link.make(walk.run.pk, ann)
    with pytest.raises(services.RunRefused, match="can still be used"):
        technician_link.make(walk.run.pk, ann)


def test_it_is_shown_as_a_code_and_as_text_once(walk, ann, client):
    client.force_login(ann)
    walk.run.refresh_from_db()
    answer = client.post(f"{walk.run.get_absolute_url()}act/", {"act": "technician-link", "version": walk.run.version})
    page = answer.content.decode()
    assert answer.headers["Cache-Control"] == "no-store"
    assert "http://testserver/t/" in page
    assert "<svg" in page
    assert "style=" not in page
    assert "/t/" not in client.get(walk.run.get_absolute_url()).content.decode()


def test_a_code_is_drawn_without_styles():
    drawn = qr.svg("http://example.test/t/abc/")
    assert drawn.startswith("<svg")
    assert "style" not in drawn
    assert "example" not in drawn
