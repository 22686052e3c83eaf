"""What the database refuses, whoever asks, and how the portal notices when it does not."""

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from app.ledger import grants, tasks
from app.ledger.audit import audit
from app.ledger.models import LedgerCheckpoint, LedgerHead
from tests.ground import SECRET

TABLES = tuple(grants.GRANTS)
WRITES = [
    *(
        f"UPDATE {table} SET {column} = {column}"
        for table, column in zip(TABLES, ("at", "seq", "seq", "at", "media", "hash", "n"), strict=True)
    ),
    *(f"DELETE FROM {table}" for table in TABLES),
    *(f"TRUNCATE {table} CASCADE" for table in TABLES),
]
REFUSED = [
    *WRITES,
    *(f"ALTER TABLE {table} DISABLE TRIGGER ALL" for table in TABLES),
    *(f"DROP TABLE {table} CASCADE" for table in TABLES),
    "SET session_replication_role = replica",
    "DROP TRIGGER ledger_event_seal ON ledger_event",
    "CREATE TRIGGER mine BEFORE INSERT ON ledger_event FOR EACH ROW EXECUTE FUNCTION ledger_refuse()",
    "CREATE OR REPLACE FUNCTION ledger_seal() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    "INSERT INTO ledger_chain (seq, event_id, prev, link) VALUES (99, 1, '\\x00', '\\x01')",
    "INSERT INTO ledger_lane (lane, n, event_id, prev, link) VALUES (1, 1, 1, '\\x00', '\\x01')",
    "INSERT INTO ledger_head (one, seq, prev, link) VALUES (true, 99, '\\x00', '\\x01')",
    "INSERT INTO ledger_event (body, actor) SELECT body, 'somebody else' FROM ledger_event LIMIT 1",
    "SET ROLE slotlight_owner",
]


@pytest.mark.parametrize("statement", REFUSED)
@pytest.mark.django_db
def test_the_app_role_is_refused(statement):
    refused = pytest.raises(DatabaseError, match=r"permission denied|must be owner|must be able to SET ROLE")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.parametrize("role", ["app role", "owner", "superuser without triggers"])
def test_nobody_changes_what_is_written(cast, ground, committed_db, role):
    urls = {
        "app role": ground.url(committed_db),
        "owner": ground.url(committed_db, "owner"),
        "superuser without triggers": superuser(ground),
    }
    with psycopg.connect(urls[role], dbname=committed_db, autocommit=True) as person:
        if role.startswith("superuser"):
            person.execute("SET session_replication_role = replica")
        for statement in WRITES:
            if role == "app role" or not statement.startswith("UPDATE ledger_head"):
                with pytest.raises(psycopg.DatabaseError, match=r"only grows|permission denied"):
                    person.execute(statement)


def superuser(ground) -> str:
    return ground.owner if ground.external else ground.postgres.url("postgres", SECRET, "postgres")


def test_a_checkpoint_cannot_run_ahead_of_the_ledger(cast):
    with pytest.raises(DatabaseError), connection.cursor() as cursor:
        cursor.execute("INSERT INTO ledger_checkpoint VALUES (99, sha256(''), sha256(''), 'note', 'at')")


def test_it_finds_a_ledger_that_is_well(ledger):
    ledger.refuse_if_broken()
    assert grants.faults() == []
    assert LedgerHead.objects.get().seq == 0


@pytest.mark.parametrize(
    ("harm", "named"),
    [
        ("ALTER TABLE ledger_event DISABLE TRIGGER ledger_event_seal", "ledger_event_seal"),
        ("ALTER TABLE ledger_blob ENABLE TRIGGER ledger_blob_keep", "ledger_blob_keep"),
        ("DROP TRIGGER ledger_chain_keep ON ledger_chain", "ledger_chain_keep"),
        ("CREATE TRIGGER swallow BEFORE INSERT ON ledger_event FOR EACH ROW EXECUTE FUNCTION ledger_refuse()", "swallow"),
        ("GRANT UPDATE ON ledger_event TO {role}", "may UPDATE ledger_event"),
        ("GRANT INSERT ON ledger_chain TO {role}", "ledger_chain"),
        ("REVOKE INSERT (body) ON ledger_event FROM {role}", "ledger_event"),
        ("ALTER FUNCTION ledger_seal() SECURITY INVOKER", "The function ledger_seal"),
        ("CREATE RULE nothing AS ON INSERT TO ledger_event DO INSTEAD NOTHING", "The table ledger_event"),
        ("ALTER TABLE ledger_event ENABLE ROW LEVEL SECURITY", "The table ledger_event"),
        ("ALTER TABLE ledger_chain SET UNLOGGED", "The table ledger_chain"),
        ("ALTER FUNCTION ledger_refuse() RESET search_path", "The function ledger_refuse"),
        ("REVOKE EXECUTE ON FUNCTION ledger_number() FROM {role}", "permission denied"),
        ("ALTER TABLE ledger_head ADD CONSTRAINT full_disk CHECK (seq < 1)", "full_disk"),
        ("DELETE FROM ledger_head", "cannot be written"),
    ],
)
def test_it_stops_mutating_work_when_the_ledger_is_not_as_it_was_made(ledger, ground, committed_db, harm, named):
    with psycopg.connect(ground.url(committed_db, "owner")) as owner:
        if harm.startswith("DELETE"):
            owner.execute("ALTER TABLE ledger_head DISABLE TRIGGER ledger_head_keep")
        owner.execute(harm.format(role=grants.app_role()))
        if harm.startswith("DELETE"):
            owner.execute("ALTER TABLE ledger_head ENABLE ALWAYS TRIGGER ledger_head_keep")
    with pytest.raises(ledger.LedgerDown, match=named):
        ledger.refuse_if_broken()


def test_it_reads_the_source_of_each_function(ledger, tamper):
    """The trigger is there, and enabled, and does nothing any more."""
    tamper(
        "CREATE OR REPLACE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS 'BEGIN RETURN OLD; END'"
    )
    with pytest.raises(ledger.LedgerDown, match="The function ledger_refuse is not as it was made"):
        ledger.refuse_if_broken()
    assert "The function ledger_refuse is not as it was made." in audit().tampered
    with pytest.raises(CommandError, match="ledger_refuse"):
        call_command("ledger", "check")


def test_nothing_is_signed_while_the_triggers_are_not_as_they_were_made(cast, ground, committed_db):
    cast.record("node.seen", {}, "ann")
    with psycopg.connect(ground.url(committed_db, "owner")) as owner:
        owner.execute("DROP TRIGGER ledger_blob_keep ON ledger_blob")
    tasks.checkpoint()
    assert LedgerCheckpoint.objects.get().size == 6


def test_it_knows_every_function_the_migrations_write():
    assert {function for _, function, *_ in grants.TRIGGERS.values()} | {"ledger_number"} == set(grants.functions())


def test_it_believes_good_news_for_a_moment_and_bad_news_never(ledger, ground, committed_db):
    ledger.refuse_if_broken()
    with psycopg.connect(ground.url(committed_db, "owner")) as owner:
        owner.execute("DROP TRIGGER ledger_chain_keep ON ledger_chain")
    ledger.refuse_if_broken()
    for _ in range(2):
        with pytest.raises(ledger.LedgerDown):
            ledger.refuse_if_broken(fresh=True)
