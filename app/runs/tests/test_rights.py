"""Who may only look changes nothing, whatever is sent; and each act asks for its own right."""

import pytest

from app.accounts.models import User
from app.routes import APPROVE, BREAK_GLASS, OPERATE
from app.runs.acts import ACTS, BESIDE
from app.runs.models import Order, Run
from app.runs.services import NEEDS
from app.runs.tests.cast import begin, incident

pytestmark = pytest.mark.django_db


def test_who_may_only_look_changes_nothing(client, oss01, ann):
    run = begin(ann)
    client.force_login(User.objects.create_user("dan"))
    before = list(Run.objects.values())
    for act in (*ACTS, *BESIDE):
        answer = client.post(
            f"/runs/{run.pk}/act/", {"act": act, "version": run.version, "reason": "x", "value": "x", "text": "x", "holder": "1"}
        )
        assert answer.status_code == 409, act
        assert "may not do this" in answer.content.decode(), act
    start = {"runbook": run.runbook, "situation": incident().pk}
    assert client.post("/runs/start/", start).status_code == 409
    assert client.post("/nodes/oss01/look/", {"source": "block"}).status_code == 409
    assert client.post("/add-node/", {"name": "x"}).status_code == 403
    assert client.post("/nodes/oss01/agent/revoke/", {"name": "oss01"}).status_code == 403
    assert list(Run.objects.values()) == before
    assert not Order.objects.exists()


@pytest.mark.parametrize(("act", "right"), [("approve", APPROVE), ("deny", APPROVE), ("break-glass", BREAK_GLASS), ("confirm", OPERATE)])
def test_each_act_asks_for_its_right(act, right):
    assert NEEDS.get(ACTS[act].kind, OPERATE) == right
