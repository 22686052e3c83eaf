"""A rehearsal is looking: everybody may, it shows the run's commands, and nothing of it reaches an order, a lock or a node."""

from datetime import timedelta

import pytest
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from app.accounts.models import User
from app.fleet.models import Report
from app.ledger.models import LedgerEvent
from app.ledger.services import LedgerDown
from app.rehearsals import services
from app.rehearsals.models import Rehearsal
from app.runs.models import Order, ResourceLock, Run
from app.runs.tests.cast import BLANK, RUNBOOK, incident
from app.settings import CELERY_TASK_TIME_LIMIT
from workflows.engine import plan_losses

pytestmark = pytest.mark.django_db
ARGV = "zpool replace ost_0 14718944552882581455 /dev/disk/by-id/"


@pytest.fixture
def looker(db, client, monkeypatch):
    """Somebody with no right at all. A machine under load must not end what is rehearsed before its end."""
    monkeypatch.setattr(services, "PLAY_SECONDS_MAX", 3600.0)
    user = User.objects.create_user("lou")
    client.force_login(user)
    return user


def asked(client, **choices):
    fields = {"runbook": RUNBOOK, **{f"choice.{step}": value for step, value in choices.items()}}
    answer = client.post(reverse("rehearse", args=[incident().pk]), fields)
    assert answer.status_code == 302, answer.content
    return Rehearsal.objects.first()


def page(client, rehearsal) -> str:
    return client.get(reverse("rehearsal", args=[rehearsal.pk])).content.decode()


def test_who_may_look_may_rehearse_and_is_asked_to_choose(oss01, looker, client):
    begun = asked(client)
    assert "is being played" in page(client, begun)
    assert services.play(begun.pk)
    text = page(client, begun)
    assert "Rehearsal: nothing leaves this page." in text
    assert "Choose here" in text
    assert f'value="{BLANK}"' in text
    assert "that cannot be taken, and why" in text


def test_it_shows_the_commands_and_the_end_and_leaves_nothing_behind(oss01, looker, client):
    kept = Report.objects.values().get()
    begun = asked(client, choose=BLANK)
    services.play(begun.pk)
    begun.refresh_from_db()
    assert begun.result["ending"] == "done", begun.result["reason"]
    text = page(client, begun)
    assert ARGV in text
    assert "The pool at the end" in text
    assert "other person must read and approve" in text
    assert not Run.objects.exists()
    assert not Order.objects.exists()
    assert not ResourceLock.objects.exists()
    assert oss01.commands() == []
    assert Report.objects.values().get() == kept
    assert [event.type for event in LedgerEvent.objects.filter(actor="lou").exclude(type="person.signed-in")] == ["rehearsal.begun"]


def test_playing_twice_tells_once(oss01, looker, client):
    begun = asked(client)
    services.play(begun.pk)
    first = Rehearsal.objects.values().get()
    assert services.play(begun.pk)
    assert Rehearsal.objects.values().get() == first


def test_it_says_what_the_report_lacks(oss01, looker, client):
    report = Report.objects.get()
    report.captures = {where: digest for where, digest in report.captures.items() if where != "zpool_status_guid"}
    report.save()
    node = report.node
    node.set_at = timezone.now()
    node.save()
    begun = asked(client)
    services.play(begun.pk)
    assert "This cannot be rehearsed." in page(client, begun)
    assert "zpool status -g was not read" in page(client, begun)


def test_an_answer_that_is_none_is_turned_away(oss01, looker, client):
    answer = client.post(reverse("rehearse", args=[incident().pk]), {"runbook": "read-only-import"})
    assert answer.status_code == 409
    assert not Rehearsal.objects.exists()


def test_what_is_over_is_not_rehearsed(oss01, looker, client):
    found = incident()
    found.closed_at = timezone.now()
    found.save()
    answer = client.post(reverse("rehearse", args=[found.pk]), {"runbook": RUNBOOK})
    assert answer.status_code == 409
    assert "is over" in answer.content.decode()


def test_choices_are_bounded(oss01, looker, client):
    answer = client.post(reverse("rehearse", args=[incident().pk]), {"runbook": RUNBOOK, "choice.choose": "x" * 300})
    assert answer.status_code == 409


def test_a_choice_that_is_none_is_asked_for_again(oss01, looker, client):
    begun = asked(client, choose="naa:5000000000000bad")
    services.play(begun.pk)
    begun.refresh_from_db()
    assert begun.result["asks"] == "choose"


def test_nothing_can_be_recorded_and_rehearsing_goes_on(oss01, looker, client, monkeypatch):
    def down():
        raise LedgerDown("The ledger cannot be written.")

    monkeypatch.setattr(services.ledger, "refuse_if_broken", down)
    assert asked(client).pk


def test_one_whose_worker_died_is_given_up(oss01, looker, client):
    begun = asked(client)
    Rehearsal.objects.update(asked_at=timezone.now() - timedelta(minutes=5))
    assert "This has not been played." in page(client, begun)


def test_after_a_day_it_is_gone(oss01, looker, client):
    begun = asked(client)
    Rehearsal.objects.update(asked_at=timezone.now() - timedelta(days=2))
    asked(client)
    assert not Rehearsal.objects.filter(pk=begun.pk).exists()


def test_it_ends_long_before_the_worker_is_stopped():
    assert services.PLAY_SECONDS_MAX * 3 < CELERY_TASK_TIME_LIMIT


def test_the_page_stays_as_it_is_while_it_is_played(oss01, looker, client):
    begun = asked(client)
    answer = client.get(reverse("rehearsal", args=[begun.pk]), headers={"HX-Request": "true"})
    assert answer.status_code == 204
    services.play(begun.pk)
    assert "<html" not in client.get(reverse("rehearsal", args=[begun.pk]), headers={"HX-Request": "true"}).content.decode()


def test_the_lock_of_the_worker_is_given_back(oss01, looker, client):
    services.play(asked(client).pk)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND classid = 0 AND objid = %s",
            [services.ONE_AT_A_TIME],
        )
        assert cursor.fetchone()[0] == 0


def test_a_rehearsal_that_came_to_its_end_leads_on_to_the_run(oss01, looker, client):
    begun = asked(client, choose=BLANK)
    services.play(begun.pk)
    assert "Your account may look. Beginning a run needs the operator" in page(client, begun)
    looker.memberships.create(role="operator")
    text = page(client, begun)
    form = text[text.index('id="begin"') :]
    assert f'action="{reverse("run-start")}"' in form
    answer = client.post(reverse("run-start"), {"runbook": RUNBOOK, "situation": incident().pk})
    assert answer["Location"] == Run.objects.get().get_absolute_url()


def test_what_is_lost_stands_first_and_in_red(oss01, looker, client, monkeypatch):
    monkeypatch.setattr(plan_losses, "lost", lambda plan: ("This step takes the last redundancy of raidz2-0.",))
    monkeypatch.setattr(plan_losses, "to_accept", lambda plan: "I accept it.")
    begun = asked(client, choose=BLANK)
    services.play(begun.pk)
    begun.refresh_from_db()
    assert begun.result["ending"] == "done", begun.result["reason"]
    main = page(client, begun).split("<main", 1)[1]
    note = main.index('class="sl-note bad sl-lost"')
    assert note < main.index("This step takes the last redundancy of raidz2-0.") < main.index('id="ending"') < main.index('id="steps"')
    older = begun.result | {"acts": [{name: value for name, value in act.items() if name != "lost"} for act in begun.result["acts"]]}
    Rehearsal.objects.filter(pk=begun.pk).update(result=older)
    assert "sl-lost" not in page(client, begun), "one that was kept before is shown as it was"
