"""A look that finds nothing new costs next to nothing, and one that finds something is not missed."""

import re
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from app.fleet.models import Node, Standing
from app.ledger import services as ledger
from app.runs.models import Run
from app.runs.tests.cast import BLANK, SDFL, Oss01, act, begin, incident, person
from workflows.engine import events as ev

pytestmark = pytest.mark.django_db
QUERIES_MAX = 11  # of which two say who looks, one tells of the portal's own alarms and one of reviewed words
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def _within_one_minute(monkeypatch):
    """Words such as "3 min ago" come with the minute, and these tests may run across its end."""
    now = timezone.now()
    monkeypatch.setattr("app.core.pages.timezone", SimpleNamespace(now=lambda: now))


@pytest.fixture
def ann(db):
    return person("ann", "operator")


@pytest.fixture
def oss01(db, tmp_path):
    node = Oss01(tmp_path)
    node.report()
    return node


@pytest.fixture
def look(client, ann):
    """A browser with a page open: `look(path)` is the page, `look(path, seen)` a look at what it shows."""
    client.force_login(ann)
    return lambda path, seen="": client.get(path, {"seen": seen} if seen else {}, headers=HTMX)


def seen(answer) -> str:
    return re.search(r'class="sl-seen" value="([0-9a-f]{16})"', answer.content.decode())[1]


def paths(run: Run) -> dict[str, str]:
    return {
        "fleet": "/",
        "node": "/nodes/oss01/",
        "pool": "/nodes/oss01/pools/ost_0/",
        "disk": f"/disks/{SDFL}/",
        "situation": f"/situations/{incident().pk}/",
        "agent": "/nodes/oss01/agent/",
        "run": f"/runs/{run.pk}/",
        "runs": "/runs/",
        "approvals": "/approvals/",
        "open loops": "/open-loops/",
        "alarms": "/alarms/",
        "ledger": "/ledger/",
    }


def test_a_look_that_finds_nothing_new_changes_nothing_and_costs_few_queries(oss01, ann, look):
    for name, path in paths(begin(ann)).items():
        before = seen(look(path))
        ledger.refuse_if_broken(fresh=True)  # which is asked once in five seconds, and not with every look
        with CaptureQueriesContext(connection) as asked:
            assert look(path, before).status_code == 204, name
        assert len(asked) <= QUERIES_MAX, (name, len(asked), [query["sql"][:120] for query in asked])


def test_what_a_node_says_is_seen_by_every_page_that_shows_it(oss01, ann, look):
    run = begin(ann)
    before = {name: (path, seen(look(path))) for name, path in paths(run).items()}
    Node.objects.filter(name="oss01").update(report_digest="0" * 64)  # whatever it says now, it is another set
    Standing.objects.update(changed_at=timezone.now())  # and settled, as each report is at once
    for name in ("fleet", "node", "pool", "disk"):
        path, old = before[name]
        assert look(path, old).status_code == 200, name
    for name in ("approvals", "open loops", "alarms"):
        path, old = before[name]
        assert look(path, old).status_code == 204, name


def test_what_becomes_of_a_run_is_seen_where_it_is_shown(oss01, ann, look):
    run = begin(ann)
    before = {name: (path, seen(look(path))) for name, path in paths(run).items()}
    act(run, ev.Chosen, ann, value=BLANK)
    for name in ("situation", "run", "runs", "fleet"):
        path, old = before[name]
        assert look(path, old).status_code == 200, name


def test_the_answer_to_a_refused_act_stays_until_there_is_something_new(oss01, ann, client, look):
    run = begin(ann)
    form = {"act": "choose", "version": run.version, "value": SDFL}
    answer = client.post(f"/runs/{run.pk}/act/", form, headers=HTMX)
    assert answer.status_code == 409
    assert look(f"/runs/{run.pk}/", seen(answer)).status_code == 204


def test_a_silent_node_is_seen_to_be_silent_without_a_report(oss01, ann, look):
    before = seen(look("/"))
    Node.objects.filter(name="oss01").update(last_report_at="2026-01-01T00:00:00Z")
    assert look("/", before).status_code == 200
