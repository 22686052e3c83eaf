"""A technician's link opens one step of one run, once, in one browser, and nothing else."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from app.ledger.models import LedgerEvent
from app.routes import AGENT, ANYBODY, ROUTES, TECHNICIAN, TOKEN
from app.runs import qr, services, technician
from app.runs.models import Hand, TechnicianLink
from app.runs.tests.cast import act, try_out
from app.runs.tests.test_rack import BLINK, NEW, blink
from app.runs.tests.walks import told
from app.tests.test_routes import PATHS
from workflows import events as ev

pytestmark = pytest.mark.django_db


@pytest.fixture
def walk(db, tmp_path, ann, bob):
    """A run that asks for hands: scan the new disk."""
    walk = blink(try_out(tmp_path, BLINK), ann, bob)
    walk.to("spare")
    return walk


@pytest.fixture
def token(walk, ann):
    return technician.make(walk.run.pk, walk.run.version, ann)[1]


@pytest.fixture
def phone(token):
    """A browser that has opened the link."""
    phone = Client()
    answer = phone.post(f"/t/{token}/", {"name": "Joe  Doe"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/t/")
    return phone


def scan(phone, walk, serial=NEW):
    walk.run.refresh_from_db()
    return phone.post("/t/", {"version": walk.run.version, "evidence": serial})


def test_it_does_the_step_under_the_typed_name_and_the_name_of_who_made_the_link(walk, phone):
    shown = phone.get("/t/").content.decode()
    assert "Scan or type the serial number on the new disk." in shown
    assert "Joe Doe, by the link of ann" in shown
    assert scan(phone, walk).headers["Location"] == "/t/"
    walk.run.refresh_from_db()
    assert walk.run.step == "check"
    done = LedgerEvent.objects.get(run=str(walk.run.pk), type="run.done-by-hand")
    assert done.actor == "technician:Joe Doe (link of ann)"
    assert [what for what in told(walk.run) if what.startswith("technician-link")] == ["technician-link.made", "technician-link.opened"]
    after = phone.get("/t/")
    assert "this link is closed" in after.content.decode()
    assert phone.get("/t/").status_code == 410


def test_a_wrong_answer_is_refused_with_its_reason_and_may_be_given_again(walk, phone):
    answer = scan(phone, walk, walk.run.params["old_serial"])
    assert answer.status_code == 409
    assert "is the disk that is to go. Scan the new one." in answer.content.decode()
    assert told(walk.run)[-1] == "run.refused"
    assert scan(phone, walk).status_code == 302


def test_only_its_hash_is_kept(token):
    link = TechnicianLink.objects.get()
    assert token not in repr(vars(link))
    assert link.token_hash == technician.hashed(token)
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


def test_it_is_dead_once_the_step_has_moved_on(walk, token, phone, ann):
    act(walk.run, ev.HandsDone, ann, evidence=NEW)
    answer = phone.get("/t/")
    assert answer.status_code == 410
    assert "The run has moved on" in answer.content.decode()
    assert scan(phone, walk).status_code == 410


def test_it_is_dead_when_the_run_comes_to_the_step_again(walk, token, phone, ann):
    act(walk.run, ev.HandsDone, ann, evidence=NEW)
    act(walk.run, ev.WentBack, ann, step="spare")
    walk.run.refresh_from_db()
    assert walk.run.step == "spare"
    assert scan(phone, walk).status_code == 410


def test_it_is_dead_when_it_is_revoked(walk, phone, ann, client):
    client.force_login(ann)
    link = TechnicianLink.objects.get()
    form = {"act": "revoke-link", "link": link.pk, "version": walk.run.version}
    assert client.post(f"{walk.run.get_absolute_url()}act/", form).status_code == 302
    assert "revoked" in scan(phone, walk).content.decode()
    assert told(walk.run)[-1] == "technician-link.revoked"


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
                assert "It shows its own step and nothing else" in answer.content.decode()


def test_it_does_not_approve(walk, phone):
    walk.run.refresh_from_db()
    for name in ("approve", "execute", "abort", "comment", "hand-over", "technician-link"):
        form = {"act": name, "version": walk.run.version, "reason": "x", "text": "x", "to": "bob"}
        assert phone.post(f"{walk.run.get_absolute_url()}act/", form).status_code == 403
        assert phone.post("/t/", form | {"evidence": ""}).status_code == 409
    walk.run.refresh_from_db()
    assert walk.run.step == "spare"


def test_whoever_makes_it_has_a_hand_in_the_run(walk, eve):
    technician.make(walk.run.pk, walk.run.version, eve)
    walk.run.refresh_from_db()
    assert "eve" in walk.run.here.hands
    assert Hand.objects.filter(run=walk.run, person=eve).exists()


def test_it_is_made_only_where_hands_are_asked_for(walk, ann, django_user_model):
    with pytest.raises(services.NotAllowed):
        technician.make(walk.run.pk, walk.run.version, django_user_model.objects.create_user("looker"))
    for _ in range(technician.LINKS_MAX):
        technician.make(walk.run.pk, walk.run.version, ann)
    with pytest.raises(services.RunRefused, match="can still be used"):
        technician.make(walk.run.pk, walk.run.version, ann)
    act(walk.run, ev.HandsDone, ann, evidence=NEW)
    walk.run.refresh_from_db()
    with pytest.raises(services.RunRefused, match="would open nothing"):
        technician.make(walk.run.pk, walk.run.version, ann)


def test_it_is_shown_as_a_code_and_as_text_once(walk, ann, client):
    client.force_login(ann)
    walk.run.refresh_from_db()
    answer = client.post(f"{walk.run.get_absolute_url()}act/", {"act": "technician-link", "version": walk.run.version})
    shown = answer.content.decode()
    assert answer.headers["Cache-Control"] == "no-store"
    assert "http://testserver/t/" in shown
    assert "<svg" in shown
    assert "style=" not in shown
    assert "/t/" not in client.get(walk.run.get_absolute_url()).content.decode()


def test_a_code_is_drawn_without_styles():
    drawn = qr.svg("http://example.test/t/abc/")
    assert drawn.startswith("<svg")
    assert "style" not in drawn
    assert "example" not in drawn
