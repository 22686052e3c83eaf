"""Archives of hosts without an agent, brought by page: what becomes of them, and what is refused with nothing stored."""

import time

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from app.fleet.models import Node, Situation
from app.fleet.services import facts_of
from app.ledger.models import LedgerEvent
from app.runs.tests.cast import person
from app.snapshots.models import Snapshot
from twin import scenarios
from workflows.facts import known
from workflows.snapshot.tests import stage

BRING = "/snapshots/bring/"


def archive_of(node, tmp_path, *, at=None, host="", change=None):
    """An archive as the script writes it, of a twin, without running the script."""
    folder = tmp_path / f"twin{time.monotonic_ns()}"
    folder.mkdir()
    seen, _ = stage.traced(scenarios.host(folder, node, scenarios.Clock()))
    return stage.archive(
        seen, at=int(at or time.time()), host=host or node.hostname, hostid=node.hostid, boot_id=node.boot_id, change=change
    )


@pytest.fixture
def operator(client, db):
    operator = person("olga", "operator")
    client.force_login(operator)
    return operator


def send(client, data, **said):
    return client.post(BRING, {"archive": SimpleUploadedFile("a.slotlight", data), **said})


def test_an_archive_becomes_a_node_with_facts_and_situations(client, operator, tmp_path):
    node = scenarios.drifted()
    answer = send(client, archive_of(node, tmp_path))
    assert answer.status_code == 302, answer.content.decode()
    here = Node.objects.get()
    assert (here.name, here.state) == ("oss01", "brought")
    facts = facts_of(here)
    assert facts.brought
    assert known(facts.pools)
    assert [pool.name for pool in facts.pools] == ["ost_1"]
    assert Situation.objects.filter(slug="wwid-mismatch", closed_at=None).exists()
    [event] = LedgerEvent.objects.filter(type="snapshot.brought")
    assert event.said["body"]["archive"] == Snapshot.objects.get().digest
    page = client.get(answer.url).content.decode()
    assert "has no agent" in page
    assert "olga" in page
