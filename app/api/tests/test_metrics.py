"""/metrics and /readyz: valid, true, bounded, and shown to who may see them."""

from datetime import timedelta

import pytest
import redis
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from app import readiness
from app.api import metrics
from app.core.permissions_by_route import ROUTES
from app.core.valkey import valkey
from app.fleet.models import Node
from app.ledger.models import LedgerCheckpoint
from app.realtime import heartbeats
from app.runs.tests.cast import begin
from workflows.situations import SITUATIONS

pytestmark = pytest.mark.django_db


def scrape(client, **more) -> dict[str, list]:
    answer = client.get("/metrics", **more)
    assert answer.status_code == 200, answer.content
    return {family.name: family.samples for family in text_string_to_metric_families(answer.content.decode())}


def values(samples, label: str) -> dict[str, float]:
    return {sample.labels[label]: sample.value for sample in samples}


def test_a_scrape_says_what_is_so(client, oss01, ann):
    begin(ann)
    found = scrape(client)
    assert values(found["slotlight_nodes"], "state") == {"brought": 0, "enrolled": 1, "retired": 0, "waiting": 0}
    assert found["slotlight_nodes_silent"][0].value == 0
    assert values(found["slotlight_runs_open"], "status")["open"] == 1
    assert values(found["slotlight_orders_out"], "status")["UNKNOWN"] == 0
    assert any(
        sample.labels == {"severity": "act", "slug": "wwid-mismatch"} and sample.value == 1 for sample in found["slotlight_situations"]
    )
    assert values(found["slotlight_up"], "part")["database"] == 1
    for name in ("ledger_events", "event_streams", "agents_waiting", "queue_length", "approvals_waiting", "open_loops"):
        assert f"slotlight_{name}" in found


def test_a_silent_node_is_counted(client, oss01):
    Node.objects.update(last_report_at=timezone.now() - timedelta(minutes=10))
    found = scrape(client)
    assert found["slotlight_nodes_silent"][0].value == 1
    assert found["slotlight_node_silence_seconds_max"][0].value >= 600


def test_requests_are_measured_by_the_name_of_their_route(client):
    client.get("/healthz")
    for path in ("/nodes/a/", "/nodes/b/", "/whatever", "/nodes/c/pools/x/"):
        client.get(path)
    client.generic("INVENTED", "/healthz")
    found = scrape(client)["slotlight_request_seconds"]
    assert {sample.labels["route"] for sample in found} <= {*ROUTES, "none"}
    assert {sample.labels["method"] for sample in found} <= {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"}


def test_labels_do_not_grow_with_the_fleet(client, oss01):
    few = sum(map(len, scrape(client).values()))
    Node.objects.bulk_create(Node(name=f"n{number}", last_report_at=timezone.now()) for number in range(300))
    metrics.last.metrics = []
    assert sum(map(len, scrape(client).values())) <= few + 60, "new routes of this process at most"
    slugs = {sample.labels["slug"] for sample in scrape(client).get("slotlight_situations", [])}
    assert len(slugs) <= len(SITUATIONS) * 5


def test_a_scrape_asks_few_questions_and_the_next_one_none(client, oss01, django_assert_max_num_queries):
    with django_assert_max_num_queries(60):
        scrape(client)
    with django_assert_max_num_queries(0):
        scrape(client)


@pytest.mark.parametrize(
    "more", [{"REMOTE_ADDR": "192.0.2.7"}, {"HTTP_X_FORWARDED_FOR": "127.0.0.1"}, {"HTTP_FORWARDED": "for=127.0.0.1"}, {"REMOTE_ADDR": ""}]
)
def test_elsewhere_it_takes_a_token(client, more):
    answer = client.get("/metrics", **more)
    assert answer.status_code == 401
    assert b"slotlight_" not in answer.content


def test_behind_a_proxy_this_machine_is_everybody(client, settings):
    settings.HTTPS = True
    assert client.get("/metrics", secure=True).status_code == 401


def test_readiness_names_each_part(client):
    valkey().delete(heartbeats.WORKER, heartbeats.BEAT)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["parts"]["database"] == "ok"
    assert "has never reported" in answer.json()["parts"]["beat"]
    heartbeats._written.clear()
    heartbeats.beat(heartbeats.WORKER)
    heartbeats.beat(heartbeats.BEAT)
    readiness.last.found = {}
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"ready": True, "parts": dict.fromkeys(readiness.PARTS, "ok")})


def test_readiness_says_that_valkey_is_gone(client, monkeypatch):
    def gone():
        raise redis.ConnectionError("gone")

    monkeypatch.setattr(readiness, "valkey", gone)
    monkeypatch.setattr(heartbeats, "valkey", gone)
    answer = client.get("/readyz").json()["parts"]
    assert answer["valkey"].startswith("Valkey does not answer")
    assert "not known" in answer["worker"]
    assert answer["database"] == "ok"
    found = client.get("/metrics")
    assert b'slotlight_up{part="valkey"} 0.0' in found.content


def test_beat_is_heard_only_in_its_own_process():
    """A task that the web sends must not pass for beat's."""
    from celery import signals

    assert heartbeats._beat_sent not in [receiver for _, receiver in signals.after_task_publish.receivers]


@pytest.mark.django_db
def test_a_ledger_whose_key_is_gone_is_not_ready(settings, tmp_path, monkeypatch):
    """No checkpoint can be signed then, and no change be ordered. A new portal makes the key with its first event, and is ready for that."""
    settings.SLOTLIGHT_LEDGER_KEY = str(tmp_path / "ledger.key")
    assert readiness.writing() == ""
    monkeypatch.setattr(LedgerCheckpoint.objects, "exists", lambda: True)
    assert readiness.writing().startswith("The ledger's key is gone")
    (tmp_path / "ledger.key").write_text("no key")
    assert readiness.writing().startswith("The ledger's key is gone")
