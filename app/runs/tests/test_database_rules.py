"""The rules under runs are looked at again and again; where one was switched off, nothing is changed on a node."""

import re

import psycopg
import pytest
from django.db import connection

from app.ledger import grants
from app.ledger import services as ledger
from app.runs.models import Approval
from app.runs.ordering import database_rules
from tests.ground import SECRET

OFF = {
    "a trigger that sleeps": ("ALTER TABLE runs_approval DISABLE TRIGGER runs_approval_is_anothers", "runs_approval_is_anothers is not as"),
    "a trigger that may be skipped": ("ALTER TABLE runs_order ENABLE TRIGGER runs_order_begins", "runs_order_begins is not as"),
    "a trigger that is gone": ("DROP TRIGGER runs_order_moves ON runs_order", "runs_order_moves is not as"),
    "a trigger that fires at something else": (
        "DROP TRIGGER runs_plan_keep ON runs_plan; CREATE TRIGGER runs_plan_keep BEFORE DELETE ON runs_plan FOR EACH ROW"
        " EXECUTE FUNCTION runs_refuse(); ALTER TABLE runs_plan ENABLE ALWAYS TRIGGER runs_plan_keep",
        "runs_plan_keep is not as",
    ),
    "one trigger more": (
        "CREATE TRIGGER aaa BEFORE INSERT ON runs_approval FOR EACH ROW EXECUTE FUNCTION runs_refuse()",
        "aaa does not belong to runs",
    ),
    "a function that says yes": (
        "CREATE OR REPLACE FUNCTION runs_approval_is_anothers() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "function runs_approval_is_anothers is not as",
    ),
    "a question that is always answered yes": (
        "CREATE OR REPLACE FUNCTION runs_ledger_tells(leaf_hex text, type_wanted text, plan text, person bigint) RETURNS boolean"
        " LANGUAGE sql AS 'SELECT true'",
        "function runs_ledger_tells is not as",
    ),
    "a loss that nobody needs to accept": (
        "CREATE OR REPLACE FUNCTION runs_plan_loses(body jsonb) RETURNS boolean LANGUAGE sql AS 'SELECT false'",
        "function runs_plan_loses is not as",
    ),
    "a unique constraint": ("ALTER TABLE runs_order DROP CONSTRAINT one_order_per_plan", "one_order_per_plan is not there"),
    "a unique index": ("DROP INDEX one_unreviewed_glass_per_person", "one_unreviewed_glass_per_person is not there"),
    "a check": ("ALTER TABLE runs_brokenglass DROP CONSTRAINT glass_is_reviewed_by_another", "glass_is_reviewed_by_another is not there"),
    "a move of orders": (
        "ALTER TABLE runs_order_move DISABLE TRIGGER ALL; INSERT INTO runs_order_move VALUES (false, 'UNKNOWN', 'SEALED');"
        " ALTER TABLE runs_order_move ENABLE ALWAYS TRIGGER runs_order_move_keep",
        "moves that an order may make",
    ),
}


@pytest.mark.django_db
def test_all_is_as_it_was_made():
    with connection.cursor() as cursor:
        assert database_rules.faults(cursor) == []
    assert database_rules.faults in grants.ALSO


@pytest.mark.django_db
def test_every_trigger_and_function_of_the_migrations_is_looked_at():
    made = "\n".join(path.read_text() for path in database_rules.SQL)
    assert set(re.findall(r"^CREATE (?:CONSTRAINT )?TRIGGER (\w+)", made, re.MULTILINE)) == set(database_rules.TRIGGERS)
    assert made.count("FUNCTION runs_") - made.count("EXECUTE FUNCTION runs_") >= len(database_rules.functions()) == 17
    assert {one.name for one in Approval._meta.constraints} < database_rules.constraints()


@pytest.mark.parametrize("name", OFF)
def test_a_rule_that_was_switched_off_stops_what_changes_anything(committed_db, ground, tmp_path, settings, name):
    settings.SLOTLIGHT_LEDGER_KEY = tmp_path / "ledger.key"
    statement, expected = OFF[name]
    ledger.refuse_if_broken(fresh=True)
    url = ground.owner if ground.external else ground.postgres.url("postgres", SECRET, committed_db)
    with psycopg.connect(url, dbname=committed_db) as owner:
        owner.execute(statement)
    with pytest.raises(ledger.LedgerDown, match=expected):
        ledger.refuse_if_broken(fresh=True)
