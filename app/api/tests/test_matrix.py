"""Every operation, with every kind of token: what has not its scope, or its person not the right, opens and changes nothing."""

from typing import get_args

import pytest

from app.api.models import Token
from app.api.runs import Act
from app.api.scopes import APPROVE, METRICS, OPERATE, READ, SCOPES
from app.api.tests.cast import Asker, operations, token
from app.core.permissions_by_route import API, ROUTES
from app.nodes.models import EnrolToken, NodeKey
from app.runs.models import Approval, BrokenGlass, OpenLoop, Order, Run
from app.runs.tests.cast import begin, incident

OPERATIONS = operations()
SOME = {"{name}": "oss01", "{wwid}": "naa:5000c500a65b207b", "{pk}": "1", "{run}": "1", "{act}": "check", "{digest}": "0" * 64}


def path_of(path: str) -> str:
    for place, value in SOME.items():
        path = path.replace(place, value)
    return path


def body_of(method: str) -> dict | None:
    return {"version": 1, "plan_digest": "0", "evidence": "x"} if method == "POST" else None


def everything() -> list:
    return [list(model.objects.values()) for model in (Run, Order, Approval, BrokenGlass, OpenLoop, NodeKey, EnrolToken)]


READS_A_BODY = {"/triage"}  # it looks at what it is sent, and changes nothing


def test_every_operation_names_one_scope_and_only_reading_is_get():
    assert {scope for _, _, scope in OPERATIONS} == {READ, OPERATE, APPROVE}
    assert all((method == "GET" or path in READS_A_BODY) == (scope == READ) for method, path, scope in OPERATIONS)


def test_every_route_of_the_api_is_one_of_the_description():
    assert len(OPERATIONS) == sum(asks == API for asks in ROUTES.values())


@pytest.mark.django_db
def test_nobody_is_answered_and_a_session_is_nobody(client, oss01, ann):
    begin(ann)
    before = everything()
    client.force_login(ann)
    for method, path, _ in OPERATIONS:
        answer = client.generic(method, f"/api/v1{path_of(path)}", b"{}", content_type="application/json")
        assert (answer.status_code, answer.json()["type"]) == (401, "urn:slotlight:no-token"), path
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert everything() == before


@pytest.mark.django_db
@pytest.mark.parametrize("scope", SCOPES)
def test_a_scope_opens_its_own_operations_and_no_other(oss01, bob, scope):
    """bob may operate and approve; each of his tokens only what it is for."""
    begin(bob)
    asks, before = Asker(token(bob, scope)), everything()
    for method, path, takes in OPERATIONS:
        if takes != scope:
            answer = asks(method, path_of(path), body_of(method))
            assert (answer.status_code, answer.json()["type"]) == (403, "urn:slotlight:scope"), path
            assert takes in answer.json()["detail"]
    assert everything() == before
    opened = {asks(method, path_of(path), body_of(method)).status_code for method, path, takes in OPERATIONS if takes == scope}
    assert not opened & {401, 403, 500}


@pytest.mark.django_db
def test_who_may_only_look_changes_nothing_with_any_token(oss01, ann, dan):
    """No write without right: the token has every scope, its person none of the rights."""
    run = begin(ann)
    asks, before = Asker(token(dan)), everything()
    fields = {"version": run.version, "value": "x", "text": "x", "evidence": "x", "reason": "x", "outcome": "did", "holder": 1}
    for act in get_args(Act):
        answer = asks.post(f"/runs/{run.pk}/acts/{act}", fields)
        assert (answer.status_code, answer.json()["type"]) == (403, "urn:slotlight:not-allowed"), act
    for word in ("approve", "reject"):
        assert asks.post(f"/approvals/{run.pk}/{word}", {"version": run.version, "plan_digest": "0" * 64}).status_code == 403
    start = asks.post("/runs", {"situation": incident().pk, "runbook": run.runbook})
    assert start.status_code == 403
    assert everything() == before


@pytest.mark.django_db
def test_a_right_that_was_taken_away_is_gone_from_the_token_too(oss01, ann):
    asks = Asker(token(ann))
    run = begin(ann)
    ann.memberships.all().delete()
    assert asks.post(f"/runs/{run.pk}/acts/abort", {"version": run.version, "reason": "x"}).status_code == 403
    assert asks("GET", f"/runs/{run.pk}").status_code == 200


@pytest.mark.django_db
def test_the_metrics_scope_reads_metrics_from_elsewhere_and_nothing_else(client, bob):
    from_afar = {"REMOTE_ADDR": "192.0.2.7"}
    assert client.get("/metrics", **from_afar).status_code == 401
    assert client.get("/metrics", headers={"Authorization": f"Bearer {token(bob, READ)}"}, **from_afar).status_code == 403
    assert client.get("/metrics", headers={"Authorization": f"Bearer {token(bob, METRICS)}"}, **from_afar).status_code == 200
    assert Token.objects.get(scopes=[METRICS]).last_used_at is not None
