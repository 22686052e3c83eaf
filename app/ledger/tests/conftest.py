"""What ledger tests stand on: a database where COMMIT is real, a key of the test's own, and the owner's hand for tampering."""

import psycopg
import pytest

from app.ledger import services
from app.ledger.grants import TRIGGERS
from tests.ground import SECRET


@pytest.fixture
def ledger(committed_db, tmp_path, settings):
    """A ledger that commits, empty, seen by the app role."""
    settings.SLOTLIGHT_LEDGER_KEY = tmp_path / "ledger.key"
    services.well.until = 0.0
    return services


@pytest.fixture
def tamper(ground, ledger, committed_db):
    """Runs SQL as somebody who may do everything: the superuser where the servers are ours, with triggers switched off first."""
    url = ground.owner if ground.external else ground.postgres.url("postgres", SECRET, committed_db)

    def run(*statements: str) -> None:
        back: list[str] = []
        with psycopg.connect(url, dbname=committed_db) as connection:
            for table in ("ledger_event", "ledger_chain", "ledger_head", "ledger_checkpoint", "ledger_blob", "ledger_node", "ledger_lane"):
                connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
            for statement in statements:
                connection.execute(statement)
            for name, (table, *_) in TRIGGERS.items():
                connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER ALL")
                back.append(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}")
            for statement in back:
                connection.execute(statement)

    return run


@pytest.fixture
def cast(ledger):
    """Six events of two runs and of no run, two pieces of evidence, signed."""
    digest = ledger.keep(b"  pool: ost_0\n state: DEGRADED\n", "text/plain")
    ledger.record("node.enrolled", {"key_id": "00ff"}, "ann", node="oss01")
    ledger.record("run.started", {"pool": "ost_0", "pool_guid": 14718944552882581455, "capture": digest}, "ann", run="7", node="oss01")
    ledger.record("run.started", {"pool": "ost_2"}, "bob", run="8", node="oss02")
    ledger.record("run.approved", {"plan": "ab" * 32}, "bob", run="7", node="oss01")
    ledger.record("order.receipt", {"stdout": ledger.keep(b"done\n", "text/plain"), "exit_code": 0}, "node:oss01", run="7", node="oss01")
    ledger.record("run.closed", {}, "bob", run="8", node="oss02")
    ledger.checkpoint_now()
    return ledger
