"""What waits for whom, since when and until when; and what was switched on, narrowed."""

import pytest
from django.utils import timezone

from app.runs.models import OpenLoop, Run
from app.runs.open_loops import KINDS
from app.runs.tests.cast import act, begin, walk_to
from workflows.engine import events as ev
from workflows.engine.decide import PLAN_AGE_SECONDS_MAX
from workflows.runbooks import RUNBOOKS

pytestmark = pytest.mark.django_db


def page(client, reader, where) -> str:
    client.force_login(reader)
    return " ".join(client.get(where).content.decode().split())


def test_the_inbox_says_what_may_be_judged_and_why_the_rest_may_not(oss01, ann, bob, eve, client):
    run = walk_to("approve", oss01, ann, bob)
    own = page(client, ann, "/approvals/")
    assert "Nothing waits for you." in own
    assert "You took part in this run." in own
    assert "Approving needs the approver" in page(client, eve, "/approvals/")
    shown = page(client, bob, "/approvals/")
    assert "by ann, just now" in shown
    assert "Can be approved until" in shown
    assert f'href="/runs/{run.pk}/">Read the plan and decide' in shown


def test_a_plan_that_is_too_old_says_so_and_offers_no_button(oss01, ann, bob, client):
    run = walk_to("approve", oss01, ann, bob)
    state = run.state | {"planned_at": run.state["planned_at"] - PLAN_AGE_SECONDS_MAX}
    Run.objects.filter(pk=run.pk).update(state=state)
    shown = page(client, bob, "/approvals/")
    assert "Too old" in shown
    assert "Read the plan and decide" not in shown


def test_what_a_new_plan_changes_is_shown_in_the_inbox(oss01, ann, bob, client):
    run = walk_to("approve", oss01, ann, bob)
    act(run, ev.PlanAsked, ann)
    with oss01.host.store.changing() as node:
        node.zfs_userland = node.zfs_module = "2.1.16-1"
    oss01.report()
    oss01.work()
    run.refresh_from_db()
    act(run, ev.Confirmed, ann, text="581455 ost_0")
    shown = page(client, bob, "/approvals/")
    assert "not as in the plan before" in shown


@pytest.fixture
def loops(oss01, ann, eve):
    run = begin(ann)
    other = Run.objects.create(
        **{
            f.attname: getattr(run, f.attname)
            for f in Run._meta.concrete_fields
            if f.attname not in ("id", "situation_key", "ended_at", "owner_id")
        },
        ended_at=timezone.now(),
        owner=eve,
    )
    for whose, loop in ((run, "lit"), (other, "offline")):
        OpenLoop.objects.create(run=whose, node="oss01", loop=loop, what=f"{loop} stands.", undo="Undo.", by="ann", at=timezone.now())


@pytest.mark.parametrize(
    ("asked", "seen", "hidden"),
    [
        ("", ("lit stands.", "offline stands."), ()),
        ("?kind=lit", ("lit stands.",), ("offline stands.",)),
        ("?of=eve", ("offline stands.",), ("lit stands.",)),
        ("?node=nowhere", ("None of the 2 open loops matches.",), ("lit stands.", "offline stands.")),
        ("?of=%3Cscript%3E", ("&lt;script&gt;",), ("<script>",)),
    ],
)
def test_open_loops_are_narrowed(loops, ann, client, asked, seen, hidden):
    shown = page(client, ann, f"/open-loops/{asked}").partition('id="main"')[2]
    assert all(words in shown for words in seen)
    assert not any(words in shown for words in hidden)


def test_an_open_loop_says_who_sees_to_it(loops, ann, client):
    assert "<strong>eve</strong> is responsible for it" in page(client, ann, "/open-loops/")


def test_the_list_is_narrowed_in_words_and_not_in_slugs(loops, ann, client):
    shown = page(client, ann, "/open-loops/")
    assert '<option value="lit">a bay&#x27;s light</option>' in shown
    assert '<option value="offline">a member out of service</option>' in shown


def test_every_loop_that_a_runbook_opens_has_words():
    assert set(KINDS) == {slug for runbook in RUNBOOKS.values() for slug in runbook.loops}


def test_no_open_loops_says_what_would_stand_there(ann, client):
    assert "is listed here until it is off" in page(client, ann, "/open-loops/")
