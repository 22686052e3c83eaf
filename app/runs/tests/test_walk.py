"""The incident from the situation to the verified pool, with the agent's own code on the node's side."""

import time

import pytest

from app.ledger.models import LedgerEvent
from app.runs import services
from app.runs.models import Order, Plan, ResourceLock, Run
from app.runs.tests.cast import BLANK, PHRASE, RESILVER_SECONDS, SDCW, SDFL, act, begin, incident, walk_to
from workflows.engine import events as ev

pytestmark = pytest.mark.django_db


def test_it_walks_the_whole_incident(oss01, ann, bob):
    run = walk_to("replace", oss01, ann, bob)
    planned = run.here.plan["argv"]
    act(run, ev.ExecuteAsked, ann)
    run.refresh_from_db()
    assert run.status == "ordered"
    assert ResourceLock.objects.filter(run=run).count() == 3
    assert oss01.work() == 1
    run.refresh_from_db()
    assert (run.step, run.status) == ("resilver", "waiting"), run.here.note
    assert oss01.commands() == [planned]
    wait_until_resilvered(oss01, run)
    assert (run.step, run.status) == ("verify", "waiting")
    assert oss01.work() == 1
    run.refresh_from_db()
    assert run.status == "done", run.here.verdicts
    assert not ResourceLock.objects.exists()
    assert oss01.commands() == [planned]


def wait_until_resilvered(oss01, run: Run) -> None:
    time.sleep(RESILVER_SECONDS * 1.5)
    oss01.report()
    services.advance_from_facts("oss01")
    run.refresh_from_db()


def test_the_ledger_tells_the_whole_story(oss01, ann, bob):
    run = walk_to("replace", oss01, ann, bob)
    act(run, ev.ExecuteAsked, ann)
    oss01.work()
    lines = list(LedgerEvent.objects.filter(run=str(run.pk)).order_by("run_seq").values_list("type", "actor"))
    assert lines[:10] == [
        ("run.started", "ann"),
        ("run.chosen", "ann"),
        ("run.passed-over", "ann"),  # the bay is known, so the disk need not be scanned
        ("run.checked", "ann"),
        ("order.sealed", "ann"),
        ("run.plan-asked", "ann"),
        ("order.receipt", "node:oss01"),
        ("run.planned", "node:oss01"),
        ("run.confirmed", "ann"),
        ("run.approved", "bob"),
    ]
    assert [kind for kind, _ in lines[10:]] == ["order.sealed", "run.ordered", *["run.order-moved"] * 3, "order.receipt", "run.order-moved"]


@pytest.mark.parametrize(("wwid", "words"), [(SDCW, "already member 7602460441426092393"), (SDFL, "already member")])
def test_it_refuses_a_disk_that_is_a_member_and_says_of_what(oss01, ann, wwid, words):
    run = begin(ann)
    with pytest.raises(services.RunRefused) as refused:
        act(run, ev.Chosen, ann, value=wwid)
    assert any(words in v.reason for v in refused.value.verdicts if v.outcome == "refuse")
    assert LedgerEvent.objects.filter(run=str(run.pk), type="run.refused").count() == 1


def test_it_lists_every_disk_and_only_one_is_fit(oss01, ann):
    listed = services.options(begin(ann))
    fit = [option.value for option in listed if all(v.outcome == "pass" for v in option.verdicts)]
    assert len(listed) > 60
    assert fit == [BLANK] == [listed[0].value]


def test_a_second_start_begins_nothing(oss01, ann, eve):
    first = begin(ann)
    assert begin(eve) == begin(ann) == first
    assert Run.objects.count() == 1


def test_a_run_needs_a_node_that_exists(oss01, ann):
    params = incident().data["answers"][0]["params"]
    with pytest.raises(services.RunRefused, match="no node"):
        services.start_run(ann, "wwid-mismatch-replace", {**params, "node": ""})
    with pytest.raises(services.RunRefused, match="wildcard"):
        services.start_run(ann, "wwid-mismatch-replace", {**params, "pool": "*"})
    assert not Run.objects.exists()


def test_a_plan_the_node_refuses_leaves_the_run_where_it_was(oss01, ann, bob):
    run = walk_to("plan", oss01, ann, bob)
    act(run, ev.PlanAsked, ann)
    oss01.host.run(["zpool", "replace", "ost_0", "14718944552882581455", f"/dev/disk/by-id/wwn-0x{BLANK[4:]}"], 5)
    oss01.work()
    run.refresh_from_db()
    assert (run.step, run.status) == ("plan", "open")
    assert "There is no plan" in run.here.note


def test_the_node_refuses_when_it_is_not_as_it_was_planned(oss01, ann, bob):
    """Somebody at the console was faster; nothing of ours runs."""
    run = walk_to("replace", oss01, ann, bob)
    act(run, ev.ExecuteAsked, ann)
    oss01.host.run(["zpool", "replace", "ost_0", "14718944552882581455", f"/dev/disk/by-id/wwn-0x{BLANK[4:]}"], 5)
    oss01.work()
    run.refresh_from_db()
    assert (run.step, run.status) == ("replace", "stopped")
    assert Order.objects.get(operation="zpool_replace").status == "REFUSED"
    assert not ResourceLock.objects.exists()
    assert len(oss01.commands()) == 1


def test_looking_again_is_one_order_however_often_it_is_clicked(oss01, ann):
    first = services.look(ann, "oss01", ("zpool_status", "block"))
    assert services.look(ann, "oss01", ("block", "zpool_status")) == first
    oss01.work()
    first.refresh_from_db()
    assert first.status == "SUCCEEDED"
    assert services.look(ann, "oss01", ("zpool_status",)) != first


def test_the_page_can_ask_what_the_guards_say_now(oss01, ann, bob):
    run = walk_to("check", oss01, ann, bob)
    assert {v.outcome for v in services.verdicts_now(run)} == {"pass"}
    assert services.step_of(run).slug == "check"


def test_a_new_plan_shows_what_changed(oss01, ann, bob):
    run = walk_to("approve", oss01, ann, bob)
    assert services.approvals_for(bob) == ([run], [])
    assert services.approvals_for(ann) == ([], [run])
    act(run, ev.PlanAsked, ann)
    oss01.work()
    assert services.plan_changes(run) == ()
    assert run.plans.count() == 2
    act(run, ev.Confirmed, ann, text=PHRASE)


def test_the_page_shows_a_new_plan_beside_the_old_one(oss01, ann, bob, client):
    """Fact by fact, and that the approval of the old one is void."""
    run = walk_to("replace", oss01, ann, bob)
    act(run, ev.PlanAsked, ann)
    oss01.work()
    run.refresh_from_db()
    client.force_login(bob)
    text = client.get(run.get_absolute_url()).content.decode()
    assert "bob approved the plan before this one. That is void" in " ".join(text.split())
    assert "Fact by fact the same" in text
    newest = run.plans.last()
    other = {**newest.body, "incoming": {**newest.body["incoming"], "bay": "0x5/99"}, "round": "3"}
    Plan.objects.create(digest="c" * 64, run=run, round=3, body=other, made_at=newest.made_at)
    assert services.plan_changes(run) == (("incoming.bay", newest.body["incoming"]["bay"], "0x5/99"),)
    text = client.get(run.get_absolute_url()).content.decode()
    assert '<td class="sl-mono" data-label="Now"><ins>0x5/99</ins></td>' in text
