"""Who sees to a run: handed over, taken, said beside it; and who else looks at it."""

import pytest

from app.ledger.models import LedgerEvent
from app.runs import services
from app.runs.people import owners, presence
from app.runs.tests.cast import begin
from app.runs.tests.walks import event_types

pytestmark = pytest.mark.django_db
NASTY = "<script>alert(1)</script> & <b>bold</b>"


@pytest.fixture
def run(oss01, ann):
    return begin(ann)


def page(client, reader, where) -> str:
    client.force_login(reader)
    return " ".join(client.get(where).content.decode().split())


def press(client, reader, run, **form):
    client.force_login(reader)
    run.refresh_from_db()
    return client.post(f"{run.get_absolute_url()}act/", {"version": run.version, **form})


def test_a_run_is_handed_over_and_the_colleague_says_i_have_it(run, ann, eve, client):
    assert "You are responsible for this run." in page(client, ann, run.get_absolute_url())
    assert press(client, ann, run, act="hand-over", to="eve", reason="The disk is on its way.").status_code == 302
    run.refresh_from_db()
    assert (run.minder, run.handed_by) == (eve, ann)
    assert f"ann handed run {run.pk} on oss01 over to you." in page(client, eve, "/ledger/")
    shown = page(client, eve, run.get_absolute_url())
    assert "ann hands this run over to you." in shown
    assert "handed the run over: ann → eve. The disk is on its way." in shown
    assert page(client, eve, "/runs/").index("You are responsible for these") < page(client, eve, "/runs/").index("All others")
    assert press(client, eve, run, act="have-it").status_code == 302
    assert "handed run" not in page(client, eve, "/ledger/")
    assert event_types(run)[-2:] == ["run.handed-over", "run.taken"]
    assert "You are responsible for these" not in page(client, ann, "/runs/")


def test_a_run_is_taken_from_somebody_who_does_not_answer(run, ann, eve, client):
    assert press(client, eve, run, act="hand-over", to="eve").status_code == 302
    run.refresh_from_db()
    assert (run.minder, run.handed_by) == (eve, None)


@pytest.mark.parametrize("to", ["ann", "nobody", ""])
def test_a_run_goes_only_to_a_colleague_who_may_act_and_does_not_have_it(run, ann, to, client):
    answer = press(client, ann, run, act="hand-over", to=to)
    assert answer.status_code == 409
    assert "cannot take this run" in answer.content.decode()
    assert "run.handed-over" not in event_types(run)


def test_seeing_to_a_run_is_no_hand_in_it_and_takes_no_right_away(run, ann, bob, client):
    press(client, ann, run, act="hand-over", to="bob")
    run.refresh_from_db()
    assert "bob" not in run.here.hands


def test_a_comment_is_kept_in_the_ledger_and_shown_as_text(run, ann, eve, client):
    assert press(client, eve, run, act="comment", text=NASTY).status_code == 302
    [event] = LedgerEvent.objects.filter(run=str(run.pk), type="run.comment")
    assert (event.actor, event.parsed["body"]["text"]) == ("eve", NASTY)
    shown = page(client, ann, run.get_absolute_url())
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert NASTY not in shown


def test_a_comment_says_something_and_comes_from_somebody_who_may_act(run, ann, db, django_user_model, client):
    assert press(client, ann, run, act="comment", text="  ").status_code == 409
    looker = django_user_model.objects.create_user("looker")
    assert press(client, looker, run, act="comment", text="Hello.").status_code == 409
    with pytest.raises(services.RunRefused, match="cannot be kept"):
        owners.comment(run.pk, ann, "a\0b")
    assert "run.comment" not in event_types(run)


def test_two_who_look_at_a_run_see_each_other(run, ann, eve, client):
    page(client, ann, run.get_absolute_url())
    assert presence.others(run.pk, "eve") == ("ann",)
    assert '<span class="sl-chip good">eve</span> looks at it too.' in page(client, ann, run.get_absolute_url())


def test_without_valkey_nobody_is_seen_and_the_page_is_shown(run, ann, client, monkeypatch):
    import redis

    def away():
        raise redis.ConnectionError("gone")

    monkeypatch.setattr(presence, "valkey", away)
    assert presence.others(run.pk, "ann") == ()
    assert "You are responsible for this run." in page(client, ann, run.get_absolute_url())
