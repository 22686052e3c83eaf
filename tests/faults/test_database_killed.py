"""kill -9 of PostgreSQL in the middle of the replace, with all its backends; it comes back and nothing was lost that was answered.

The server is one of this file's own, with commits that wait for the disk: what is tried here is that an answer means durable.
"""

import time

import pytest
from django.db import OperationalError, connection

from app.ledger.audit import audit
from app.ledger.models import LedgerEvent
from app.runs.models import Order
from tests.faults.conftest import Incident
from tests.faults.stack import ALL, Stack, until
from tests.ground import Ground

DATABASE = "slotlight_killed"
# fsync is for power cuts; a killed server's pages stay with the kernel. What must not be lost is a commit in its own memory.
FLAGS = ("fsync=off", "max_connections=60", "autovacuum=off")


class MortalGround(Ground):
    def _prepare(self) -> None:
        super()._prepare()
        self.postgres = self.postgres.__class__(self.postgres.data, self.postgres.sockets, self.user, self.postgres.bin, FLAGS)

    def kill_postgres(self) -> None:
        server = next(child for child in self.children if "postgres" in child.args[0])
        self.children.remove(server)
        server.kill()
        server.wait(10)

    def start_postgres(self) -> None:
        deadline = time.monotonic() + 20
        while True:  # the new one refuses to start while a backend of the old one has not noticed
            try:
                (self.postgres.data / "postmaster.pid").unlink(missing_ok=True)
                self._run(self.postgres.argv(), "postgres", self.postgres.ready)
                return
            except RuntimeError:
                self.children.pop()
                assert time.monotonic() < deadline
                time.sleep(0.2)


@pytest.fixture
def mortal(ground, django_db_blocker, tmp_path, settings, monkeypatch):
    from app.core.database import point_at
    from conftest import SHARED_DATABASE, _migrate

    if ground.external:
        pytest.skip("DATABASE_URL names a server that is not ours to kill.")
    own = MortalGround()
    settings.SLOTLIGHT_LEDGER_KEY = own.environment()["SLOTLIGHT_LEDGER_KEY"]  # the one its portal signs with
    monkeypatch.setenv("SLOTLIGHT_IDENTITY_KEY", own.environment()["SLOTLIGHT_IDENTITY_KEY"])  # and seals people with
    with django_db_blocker.unblock():
        own.start(_migrate)
        own.clone(DATABASE)
        point_at(own.url(DATABASE))
        stack = Stack(own, DATABASE, tmp_path, 1.2)
        try:
            stack.start("valkey", *ALL)
            yield own, Incident(stack)
        finally:
            stack.end()
            connection.close()
            point_at(ground.url(SHARED_DATABASE))
            own.stop()


def test_the_database_dies_while_the_command_runs(mortal):
    ground, incident = mortal
    incident.walk_to_execute()
    incident.execute()
    until(incident.stack.replaces)
    events_before = LedgerEvent.objects.count()
    ground.kill_postgres()
    connection.close()
    with pytest.raises(OperationalError):
        LedgerEvent.objects.count()
    connection.close()
    until(incident.stack.took_effect)
    ground.start_postgres()
    assert LedgerEvent.objects.count() >= events_before, "an answered transition is gone"
    incident.stands("verify", "done")
    assert len(incident.stack.replaces()) == 1
    assert Order.objects.get(effect="at_most_once").status == "SUCCEEDED"
    assert audit().tampered == []
    assert "Verify that the new disk has taken over" in incident.ann.sees()
