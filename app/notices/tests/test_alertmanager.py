"""Alertmanager's door: strict, bounded, and without power."""

import copy
import io
import json
import logging

import pytest
from django.utils import timezone

from app.accounts.models import Team
from app.core.logs import WithoutTokens
from app.fleet.models import Node
from app.notices import alertmanager
from app.notices.channels import add_hook, revoke_hook
from app.notices.models import Hook, OutsideAlert
from app.runs.models import Run

pytestmark = pytest.mark.django_db
PAYLOAD = {  # as Alertmanager 0.27 sends it
    "receiver": "slotlight",
    "status": "firing",
    "alerts": [
        {
            "status": "firing",
            "labels": {"alertname": "NodeFilesystemReadOnly", "instance": "oss01.example.org:9100", "severity": "critical"},
            "annotations": {"summary": "A file system is <b>read-only</b>."},
            "startsAt": "2026-11-21T20:00:00.123456789Z",
            "endsAt": "0001-01-01T00:00:00Z",
            "generatorURL": "http://prometheus:9090/graph",
            "fingerprint": "c2d1a5b0a2e7f3f4",
        }
    ],
    "groupLabels": {"alertname": "NodeFilesystemReadOnly"},
    "commonLabels": {},
    "commonAnnotations": {},
    "externalURL": "http://alertmanager:9093",
    "version": "4",
    "groupKey": '{}:{alertname="NodeFilesystemReadOnly"}',
    "truncatedAlerts": 0,
}


@pytest.fixture
def hook(ada, team):
    made = Hook(name="prometheus", team=team)
    made.token = add_hook(made, ada)
    return made


@pytest.fixture
def node(node):
    Node.objects.update(last_report_at=None)  # so that its page needs no report
    return node


@pytest.fixture
def send(client, hook):
    def send(payload=PAYLOAD, token=None):
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return client.post(f"/hooks/alertmanager/{token or hook.token}", body, content_type="application/json")

    return send


def changed(**fields):
    payload = copy.deepcopy(PAYLOAD)
    payload["alerts"][0] |= fields
    return payload


def test_an_alert_is_joined_to_its_node_and_shown_there(send, node, client, ada):
    assert send().status_code == 200
    assert send().json() == {"taken": 1}
    [alert] = OutsideAlert.objects.all()
    assert (alert.node, alert.name, alert.severity) == (node, "NodeFilesystemReadOnly", "critical")
    client.force_login(ada)
    for path in ("/nodes/oss01/", "/"):
        page = client.get(path).content.decode()
        assert "outside alert" in page
        assert "A file system is &lt;b&gt;read-only&lt;/b&gt;." in page


def test_it_is_over_when_it_is_resolved(send, node, client, ada):
    send()
    send(changed(status="resolved", endsAt="2026-11-21T20:30:00Z"))
    send(changed(status="resolved", endsAt="2026-11-21T20:30:00Z"))
    [alert] = OutsideAlert.objects.all()
    assert alert.resolved_at.isoformat() == "2026-11-21T20:30:00+00:00"
    client.force_login(ada)
    assert "outside alert" not in client.get("/nodes/oss01/").content.decode()


def test_it_begins_nothing(send, node):
    send()
    assert not Run.objects.exists()


@pytest.mark.parametrize("where", ["oss01", "OSS01:9100", "oss01.example.org"])
def test_a_node_is_known_by_its_name_with_port_or_domain(send, node, where):
    send(changed(labels={"alertname": "x", "node": where}))
    assert OutsideAlert.objects.get().node == node


@pytest.mark.parametrize("where", ["mds01", "oss0", "", "oss01x"])
def test_what_is_no_node_of_its_team_is_nobodys(send, node, where):
    Node.objects.create(name="mds01", team=Team.objects.create(name="south"))
    send(changed(labels={"alertname": "x", "node": where}))
    assert OutsideAlert.objects.get().node is None


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"[" * 100_000,
        b"{}",
        PAYLOAD | {"version": "3"},
        PAYLOAD | {"alerts": {}},
        PAYLOAD | {"alerts": [7]},
        PAYLOAD | {"alerts": PAYLOAD["alerts"] * (alertmanager.ALERTS_MAX + 1)},
        changed(status="maybe"),
        changed(fingerprint="../../x"),
        changed(fingerprint=None),
        changed(labels={"a": 1}),
        changed(labels=["a"]),
        changed(labels={str(number): "" for number in range(65)}),
        changed(annotations="x"),
        changed(startsAt="yesterday"),
        changed(startsAt="2026-11-21T20:00:00"),
        changed(endsAt=5),
        b'{"version": "4", "alerts": [], "x": "' + b"y" * alertmanager.BYTES_MAX + b'"}',
    ],
    ids=lambda given: str(given)[:30],
)
def test_garbage_is_refused_with_a_sentence_and_changes_nothing(send, payload):
    answer = send(payload)
    assert answer.status_code == 400
    assert answer.json()["reason"].endswith(".")
    assert not OutsideAlert.objects.exists()


def test_a_shut_door_is_no_door_and_its_alerts_are_over(send, hook, node, ada):
    send()
    revoke_hook(hook, ada)
    assert send().status_code == 404
    assert OutsideAlert.objects.filter(resolved_at__isnull=True).count() == 0


def test_the_token_is_kept_nowhere(hook):
    assert hook.token not in str(Hook.objects.values().get())


def test_the_token_is_in_no_line_of_the_log(send, hook, settings):
    [stderr] = [handler for handler in logging.getLogger().handlers if any(isinstance(one, WithoutTokens) for one in handler.filters)]
    text = io.StringIO()
    before = stderr.setStream(text)
    send(b"{}")
    send(token="a-wrong-one")
    stderr.setStream(before)
    assert "Bad Request: /hooks/alertmanager/…" in text.getvalue()
    assert "Not Found: /hooks/alertmanager/…" in text.getvalue()
    assert hook.token not in text.getvalue()


def test_what_is_heard_later_is_said_later(send, node):
    send()
    before = timezone.now()
    send(changed(annotations={"summary": "Worse."}))
    alert = OutsideAlert.objects.get()
    assert alert.summary == "Worse."
    assert alert.received_at >= before
