"""Who may only look changes nothing, whatever is sent; and each act asks for its own right."""

import uuid
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from app.accounts.models import User
from app.accounts.rights import MANUAL
from app.core.permissions_by_route import APPROVE, BREAK_GLASS, ENROL, OPERATE, ROUTES
from app.fleet.models import Node
from app.nodes.models import EnrolToken, NodeKey
from app.runs.actions import ACTS, BESIDE
from app.runs.models import Approval, BrokenGlass, OpenLoop, Order, Run
from app.runs.services import NEEDS
from app.runs.tests.cast import act, begin, incident, walk_to
from app.snapshots import bringing
from app.snapshots.models import Snapshot
from app.snapshots.tests.test_bringing import archive_of
from twin import scenarios
from workflows.engine import events as ev

pytestmark = pytest.mark.django_db


def test_who_may_only_look_changes_nothing(client, oss01, ann):
    run = begin(ann)
    client.force_login(User.objects.create_user("dan"))
    before = list(Run.objects.values())
    for name in (*ACTS, *BESIDE):
        answer = client.post(
            f"/runs/{run.pk}/act/", {"act": name, "version": run.version, "reason": "x", "value": "x", "text": "x", "holder": "1"}
        )
        assert answer.status_code == 409, name
        assert "may not do this" in answer.content.decode(), name
    start = {"runbook": run.runbook, "situation": incident().pk}
    assert client.post("/runs/start/", start).status_code == 409
    assert client.post("/nodes/oss01/look/", {"source": "block"}).status_code == 409
    assert client.post("/add-node/", {"name": "x"}).status_code == 403
    assert client.post("/nodes/oss01/agent/revoke/", {"name": "oss01"}).status_code == 403
    assert list(Run.objects.values()) == before
    assert not Order.objects.exists()


def everything() -> list:
    """What a person could have changed."""
    kept = [list(model.objects.values()) for model in (Run, Order, Approval, BrokenGlass, OpenLoop, NodeKey, EnrolToken, Snapshot)]
    return [*kept, list(Node.objects.order_by("name").values("name", "state"))]


class Upload(SimpleUploadedFile):
    """A file that is sent whole each time."""

    def read(self, *size: int) -> bytes:
        self.seek(0)
        return super().read(*size)


def archive(name: str, tmp_path: Path) -> Upload:
    """What was collected on a host without an agent."""
    node = scenarios.tiny()
    node.hostname, node.boot_id = name, str(uuid.uuid4())
    return Upload(f"{name}.slotlight", archive_of(node, tmp_path))


@pytest.fixture
def tries(oss01, ann, bob, settings, tmp_path) -> dict[str, tuple[str, dict]]:
    """For each route that asks for a right, a form that does something when somebody with the right sends it."""
    settings.BREAK_GLASS = ("zpool_replace",)
    ann.memberships.create(role="glass-breaker")
    run = walk_to("approve", oss01, ann, bob)
    act(run, ev.GlassBroken, ann, plan_digest=run.here.plan_digest, reason="x")
    now = timezone.now()
    loop = OpenLoop.objects.create(run=run, node="oss01", loop="lit", what="Bay 68 is lit.", undo="x", by="ann", at=now)
    run.refresh_from_db()
    bringing.bring(archive("oss08", tmp_path).read(), ann, bringing.Asked())
    return {
        "run-start": ("/runs/start/", {"runbook": run.runbook, "situation": incident().pk}),
        "run-act": (f"/runs/{run.pk}/act/", {"act": "abort", "version": run.version, "reason": "x"}),
        "loop-close": (f"/open-loops/{loop.pk}/close/", {"version": run.version, "evidence": "x"}),
        "glass-review": (f"/broken-glass/{BrokenGlass.objects.get().pk}/review/", {"words": "x"}),
        "look": ("/nodes/oss01/look/", {"source": "block"}),
        "add-node": ("/add-node/", {"name": "oss02"}),
        "node-agent-revoke": ("/nodes/oss01/agent/revoke/", {"name": "oss01"}),
        "snapshot-bring": ("/snapshots/bring/", {"archive": archive("oss09", tmp_path)}),
        "snapshot-retire": ("/snapshots/oss08/retire/", {}),
    }


def test_every_route_that_asks_for_a_right_is_tried(tries):
    """Postmortems change nothing on a node; the role matrix asks for them."""
    asked = {name for name, asks in ROUTES.items() if asks in (OPERATE, APPROVE, BREAK_GLASS, ENROL)}
    assert set(tries) == {name for name in asked if not name.startswith("postmortem")}


# who -> the rights that the roles give
PEOPLE = {
    (): (),
    ("operator",): (OPERATE,),
    ("viewer",): (),
    ("technician",): (),
    ("approver",): (OPERATE, APPROVE),
    ("glass-breaker",): (OPERATE, BREAK_GLASS),
    ("admin",): (ENROL,),
}


@pytest.mark.parametrize("roles", PEOPLE, ids=lambda roles: roles[0] if roles else "nobody")
def test_a_route_is_closed_to_whoever_has_not_its_right(client, tries, roles):
    """Whatever other rights there are: an administrator is no operator, and nobody may let nodes in by being an approver."""
    dan = User.objects.create_user("dan")
    for role in roles:
        dan.memberships.create(role=role)
    client.force_login(dan)
    before, closed = everything(), [name for name in tries if ROUTES[name] not in PEOPLE[roles]]
    assert closed
    for name in closed:
        path, form = tries[name]
        answer = client.post(path, form)
        assert answer.status_code in (403, 409), name
        assert answer.status_code == 403 or "may not" in answer.content.decode() or "needs the approver" in answer.content.decode(), name
        assert everything() == before, name


def test_a_route_is_open_to_whoever_has_its_right(client, tries):
    """So that the test above is refused for the right that is missing."""
    cid = User.objects.create_user("cid")
    for role in ("approver", "admin"):
        cid.memberships.create(role=role)
    client.force_login(cid)
    answers = {name: client.post(path, form).status_code for name, (path, form) in tries.items() if name != "loop-close"}
    assert set(answers.values()) <= {200, 302}, answers


@pytest.mark.parametrize(
    ("act", "right"), [("approve", APPROVE), ("deny", APPROVE), ("break-glass", BREAK_GLASS), ("confirm", OPERATE), ("hands", MANUAL)]
)
def test_each_act_asks_for_its_right(act, right):
    assert NEEDS.get(ACTS[act].kind, OPERATE) == right
