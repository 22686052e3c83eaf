"""The postmortem of a replacement that was undone, and of a resilver that was begun: what was done, by whom, and what was given up."""

import time

import pytest

from app.fleet.models import Situation
from app.postmortems import services
from app.runs import services as runs
from app.runs.tests.cast import RESILVER_SECONDS, act, person, try_out
from workflows.engine import events as ev
from workflows.runbooks import RUNBOOKS

pytestmark = pytest.mark.django_db


def begun(runbook: str, node, user):
    for situation in Situation.objects.filter(node__name=node.name, closed_at__isnull=True):
        for answer in situation.data["answers"]:
            if answer["runbook"] == runbook:
                return runs.start_run(user, runbook, answer["params"], situation.key)
    raise AssertionError(f"no situation of {node.name} is answered by {runbook}")


def moved(run, node, ann, bob):
    """One move of whoever's turn it is."""
    run.refresh_from_db()
    here, step = run.here, RUNBOOKS[run.runbook].step(run.step)
    moves = {
        "DECIDE": lambda: act(run, ev.Chosen, ann, value="undo"),
        "CHECK": lambda: act(run, ev.CheckAsked, ann),
        "PLAN": lambda: act(run, ev.PlanAsked, ann),
        "CONFIRM": lambda: act(run, ev.Confirmed, ann, text=step.phrase(here.params, here.plan)),
        "APPROVE": lambda: act(run, ev.Approved, bob, plan_digest=here.plan_digest),
        "EXECUTE": lambda: act(run, ev.ExecuteAsked, ann),
        "WAIT": lambda: time.sleep(RESILVER_SECONDS),
        "VERIFY": lambda: None,
    }
    if run.status == "open" or step.kind == "WAIT":
        moves[step.kind]()
    node.work()
    node.report()
    runs.advance_from_facts(node.name)
    node.work()
    run.refresh_from_db()


@pytest.mark.parametrize(("runbook", "command"), [("finish-replacement", "zpool detach ost_0"), ("begin-resilver", "zpool resilver ost_0")])
def test_it_tells_who_did_what_and_how_the_pool_was_before_and_after(runbook, command, tmp_path):
    ann, bob = person("ann", "operator"), person("bob", "approver")
    node = try_out(tmp_path, runbook)
    run = begun(runbook, node, ann)
    for _ in range(40):
        if run.status == "done":
            break
        moved(run, node, ann, bob)
    assert run.status == "done", (run.step, run.status, run.here.note)
    made = services.begin(ann, "A replacement that did not end", [run], None)
    words = [entry["text"] for entry in made.collected["timeline"]]
    assert f"ann began the run: {runbook}." in words
    assert any(command in word for word in words)
    [state] = made.collected["states"]
    assert any(line.startswith("-") and "replacing-2" in line for line in state["difference"])
