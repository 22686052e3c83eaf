"""What runs tell of, from the real walk of a replacement."""

from datetime import timedelta

import pytest
from django.utils import timezone

from app.notices import kinds, watching
from app.notices.models import Happening, Notice, Watch
from app.runs.models import OpenLoop, Order, Run
from app.runs.ordering import orders
from app.runs.people import approval_requests
from app.runs.tests.cast import Oss01, act, person, walk_to
from workflows.engine import events as ev
from workflows.engine import plan_losses

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann():
    return person("ann", "operator")


@pytest.fixture
def bob():
    return person("bob", "approver")


@pytest.fixture
def oss01(db, tmp_path):
    node = Oss01(tmp_path)
    node.report()
    Happening.objects.all().delete()  # what its first report showed
    return node


def texts_sent():
    return [(h.kind, kinds.KINDS[h.kind](h)) for h in Happening.objects.exclude(kind__startswith="situation").order_by("pk")]


def test_the_walk_tells_of_what_waits_for_somebody_else(oss01, ann, bob):
    run = walk_to("approve", oss01, ann, bob)
    # The node's plan came by itself, so it is told; the confirmation has been typed since, so nothing is left to tell of that.
    assert [(kind, words.title if words else None) for kind, words in texts_sent()] == [
        ("run-needs-person", None),
        ("approval-wanted", f"Approval wanted: run {run.pk} (Replace a lost member, whatever its name is today) on oss01"),
    ]
    assert texts_sent()[1][1].path == f"/runs/{run.pk}/"
    act(run, ev.Approved, bob, plan_digest=run.here.plan_digest)
    assert [kind for kind, words in texts_sent() if words] == ["run-needs-person"]
    assert texts_sent()[-1][1].lines[0].startswith("It stands at “")


def test_an_outcome_that_nobody_knows_is_told(oss01, ann, bob, monkeypatch):
    run = walk_to("replace", oss01, ann, bob)
    act(run, ev.ExecuteAsked, ann)
    order = Order.objects.get(operation="zpool_replace")
    orders.next_for("oss01")
    orders.claim("oss01", order.pk, order.digest)
    orders.start("oss01", order.pk, order.digest)
    later = timezone.now() + timedelta(seconds=900)
    monkeypatch.setattr(orders.timezone, "now", lambda: later)
    orders.sweep()
    [words] = [words for kind, words in texts_sent() if kind == "order-unknown"]
    assert words.title.startswith("Outcome UNKNOWN: ")
    assert "Nothing is repeated by itself" in " ".join(words.lines)


def test_an_approval_that_runs_out_is_told_once(oss01, ann, bob):
    walk_to("replace", oss01, ann, bob)
    for minutes in (0, 22, 24):
        watching.look(timezone.now() + timedelta(minutes=minutes))
    assert [kind for kind, words in texts_sent() if words] == ["run-needs-person", "approval-expiring"]


def test_a_plan_that_nobody_judges_is_told_before_it_is_too_old(oss01, ann, bob):
    walk_to("approve", oss01, ann, bob)
    watching.look(timezone.now() + timedelta(minutes=21))
    assert texts_sent()[-1][1].title.startswith("Still wanted, and about to expire: ")


def test_a_loop_left_open_is_told(oss01, ann, bob, settings):
    run = walk_to("choose", oss01, ann, bob)
    at = timezone.now() - timedelta(hours=settings.LOOP_HOURS, minutes=1)
    OpenLoop.objects.create(run=run, node="oss01", loop="lit", what="Bay 68 is lit.", undo="Switch it off.", by="ann", at=at)
    watching.look(timezone.now())
    watching.look(timezone.now())
    [words] = [words for kind, words in texts_sent() if kind == "loop-left"]
    assert words.title == "Still switched on: Bay 68 is lit."


def test_a_report_that_shows_something_wrong_is_told_of(db, tmp_path, channel, spread):
    channel()
    Oss01(tmp_path).report()
    spread()
    titles = [notice.title for notice in Notice.objects.exclude(state="folded")]
    assert any("ost_0" in title for title in titles), titles
    assert Run.objects.count() == 0
    assert not Watch.objects.exists()


@pytest.fixture
def weighty(oss01, ann, bob):
    """A run that waits for bob's approval of a plan that takes the last redundancy."""
    run = walk_to("approve", oss01, ann, bob)
    fields = {"margin_now": "1", "margin_during": "0", "vdev": "raidz2-0", "pool": "ost_0", "first": "disk-6 (bay 6, OFFLINE)", "why": ""}
    run.state["plan"]["redundancy"] = fields
    run.save(update_fields=["state"])
    return run


def test_what_is_lost_by_the_step_stands_first_in_every_notice_that_asks_for_it(weighty, ann, bob):
    lost = plan_losses.lost(weighty.here.plan)
    assert "takes the last redundancy of raidz2-0" in lost[0]
    ends = timezone.now().isoformat()
    approval_requests.remind(weighty.pk, weighty.version, ann)
    digest = {"plan": weighty.here.plan_digest}
    Happening.objects.create(
        kind="request-expiring", key="r", node="oss01", run=weighty.pk, details=digest | {"ends": ends}, at=timezone.now()
    )
    lines = [words for kind, words in texts_sent() if words and kind in ("approval-wanted", "request-expiring")]
    assert len(lines) == 3  # the first, the reminder, and that its time runs out
    assert all(words.lines[: len(lost)] == lost for words in lines)
    act(weighty, ev.Approved, bob, plan_digest=weighty.here.plan_digest, accepted=plan_losses.to_accept(weighty.here.plan))
    Happening.objects.create(
        kind="approval-expiring", key="a", node="oss01", run=weighty.pk, details=digest | {"ends": ends}, at=timezone.now()
    )
    lines = [words for kind, words in texts_sent() if words and kind in ("approval-expiring", "run-needs-person")]
    assert len(lines) == 2
    assert all(words.lines[: len(lost)] == lost for words in lines)
