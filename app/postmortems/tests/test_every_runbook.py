"""A postmortem can begin after a run of any runbook, whatever the node's `zpool status` showed: nothing, one pool, many."""

import json
from dataclasses import asdict

import pytest
from django.urls import reverse
from django.utils import timezone

from agents.collectors.base import Capture
from agents.portal.wire import canonical
from app.fleet.models import Node
from app.ledger import services as ledger
from app.postmortems import services, trees
from app.runs.models import Run
from workflows.engine.lint import definition_digest
from workflows.engine.state import RunState
from workflows.runbooks import RUNBOOKS

pytestmark = pytest.mark.django_db

POOL = """\
  pool: {name}
 state: ONLINE
config:

\tNAME        STATE     READ WRITE CKSUM
\t{name}      ONLINE       0     0     0
\t  mirror-0  ONLINE       0     0     0
\t    sda     ONLINE       0     0     0
\t    sdb     ONLINE       0     0     0

errors: No known data errors
"""
TREES = {
    "no text": (None, []),
    "no pool": ("no pools available\n", []),
    "empty": ("", []),
    "one": (POOL.format(name="tank"), ["tank"]),
    "many": ("\n".join(POOL.format(name=name) for name in ("a", "b", "c")), ["a", "b", "c"]),
}


def check_text(text: str | None) -> None:
    if text is None:
        return
    digest = ledger.keep(canonical(Capture("zpool_status", "", "data", text).body()), "application/json")
    ledger.record("report.changed", {"changed": {"zpool_status": digest}, "between": []}, "node:oss01", node="oss01")


def ended(slug: str, user, pool: str) -> Run:
    runbook, now = RUNBOOKS[slug], timezone.now()
    params = {"node": "oss01", "pool": pool}
    step = runbook.steps[-1].slug
    state = RunState(params, user.username, step, "done", now.timestamp(), hands=(user.username,))
    return Run.objects.create(
        runbook=slug,
        definition_digest=definition_digest(runbook),
        params=params,
        node="oss01",
        requester=user,
        state=json.loads(json.dumps(asdict(state))),
        step=step,
        status="done",
        created_at=now,
        ended_at=now,
    )


def begun(slug: str, text: str, ann):
    printed, pools = TREES[text]
    Node.objects.create(name="oss01")
    check_text(printed)
    run = ended(slug, ann, "none of these")
    check_text(printed)
    made = services.begin(ann, "After a run", [run], None)
    assert [state["pool"] for state in made.collected["states"]] == pools
    return made


@pytest.mark.parametrize("slug", RUNBOOKS)
@pytest.mark.parametrize("text", ["no pool", "one", "many"])
def test_it_begins_and_is_shown(slug, text, ann, client):
    made = begun(slug, text, ann)
    client.force_login(ann)
    assert client.get(made.get_absolute_url()).status_code == 200


@pytest.mark.parametrize("text", TREES)
def test_its_copies_are_made(text, ann, client):
    made = begun("device-delete-reimport", text, ann)
    client.force_login(ann)
    for form in ("markdown", "json", "pdf"):
        assert client.get(reverse("postmortem-export", args=[made.pk, form])).status_code == 200


@pytest.mark.parametrize(("before", "after"), [("one", "no pool"), ("no pool", "one"), ("many", "one")])
def test_a_pool_that_is_gone_or_new_is_shown_on_its_own_side(before, after, ann):
    """An export or a read-only import leaves a node without a pool, or gives it one."""
    node = Node.objects.create(name="oss01")
    check_text(TREES[before][0])
    run = ended("device-delete-reimport", ann, "none of these")
    check_text(TREES[after][0])
    made = services.begin(ann, "After a run", [run], None)
    states = {state["pool"]: (state["before"]["known"], state["after"]["known"]) for state in made.collected["states"]}
    assert states == {
        name: ("yes" if name in TREES[before][1] else "no", "yes" if name in TREES[after][1] else "no")
        for name in {*TREES[before][1], *TREES[after][1]}
    }
    assert node.name == "oss01"
    assert list(trees.before_and_after("nobody", [run], made, timezone.now())) == []
