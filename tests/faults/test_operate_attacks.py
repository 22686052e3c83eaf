"""Whoever can write to the database makes no node in `operate` run anything: the real agent on its twin, and the real portal.

As a superuser of the database, who switches its own rules off first. What the node did is asked of its own journal and
of the log of what its `zpool` was given, and not of the portal.
"""

import json
import sqlite3
import time
from contextlib import closing, contextmanager

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from app.accounts import people, seals
from app.accounts.models import Refusal, User
from app.fleet.models import Node
from app.notices import alarms
from app.runs.models import Order
from tests.faults.stack import until
from tests.faults.test_identity_attacks import MAKE_TOKEN, asked, forged
from tests.ground import SECRET

RULES = ("runs_run", "runs_plan", "runs_approval", "runs_order", "runs_hand", "runs_brokenglass", "runs_resourcelock")

USER_TRIGGERS = """
SELECT tgrelid::regclass::text, quote_ident(tgname), tgenabled::text FROM pg_trigger
WHERE tgrelid::regclass::text = ANY(%s) AND NOT tgisinternal
"""


@pytest.fixture
def sql(ground, committed_db, incident):
    """SQL as one for whom no rule of the database holds. What the portal's own role may do is a part of that.

    The rules are on again afterwards: while one is off, the portal does nothing at all, and then no other lock is tried.
    """

    def run(text, *values):
        with psycopg.connect(ground.postgres.url("postgres", SECRET, committed_db), autocommit=True) as connection:
            rules = connection.execute(USER_TRIGGERS, [list(RULES)]).fetchall()
            for table, trigger, _ in rules:
                connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}")
            done = connection.execute(text, values)
            for table, trigger, how in rules:
                connection.execute(f"ALTER TABLE {table} ENABLE {'ALWAYS ' if how == 'A' else ''}TRIGGER {trigger}")
            return done

    return run


def started_by_the_node(incident) -> list[str]:
    """Orders that the agent's journal says it ever began to carry out."""
    with closing(sqlite3.connect(f"file:{incident.stack.folder}/oss01/agent/journal.sqlite?mode=ro", uri=True)) as journal:
        return [order for (order,) in journal.execute("SELECT order_id FROM orders WHERE started_at <> ''")]


def nothing_ran(incident, seconds: float = 3.0) -> None:
    """For as long as the agent needs to poll a few times."""
    time.sleep(seconds)
    assert incident.stack.children["agent"].poll() is None, "the agent lives"
    assert started_by_the_node(incident) == []
    assert incident.stack.replaces() == []
    assert not incident.stack.took_effect()


def tries(incident, person, act: str, **form: str) -> tuple[int, str]:
    """Whether or not the page offers it."""
    return person.post(f"{person.run}act/", act=act, version=str(incident.row.version), **form)


def check_refusal(what: str) -> None:
    seals.sweep()
    assert [one for one in alarms.standing(timezone.now()) if one.kind == "identity-refused"], "people see it"
    assert Refusal.objects.filter(name__startswith=what).exists()


def test_the_honest_way_runs_once(incident):
    """So that the others refuse for their own reason."""
    incident.walk_to_execute()
    incident.execute()
    until(incident.stack.replaces)
    until(lambda: started_by_the_node(incident))


def test_inserted_tokens_walk_no_run(incident, sql):
    incident.walk_to_execute()
    text, prefix, digest = forged()
    sql(MAKE_TOKEN, prefix, digest, "ann")
    row = incident.row
    status, page = asked(incident.stack, f"/api/v1/runs/{row.pk}/acts/execute", text, body={"version": row.version})
    assert (status, "not accepted" in page) == (401, True), page
    nothing_ran(incident)
    check_refusal("api_token:")


def test_an_inserted_approval_counts_for_nothing(incident, sql):
    incident.walk_to_confirmed()
    row = incident.row
    sql(
        "INSERT INTO runs_approval (plan_id, approver_id, at, proved_at, expires_at, leaf)"
        " SELECT %s, id, now(), now(), now() + interval '10 minutes', 'ab' FROM accounts_user WHERE username = 'bob'",
        row.here.plan_digest,
    )
    skip_approval(sql, incident)
    status, answer = incident.ann.act("execute")
    assert status == 409, answer
    nothing_ran(incident)
    check_refusal("runs_approval:")


def skip_approval(sql, incident) -> None:
    """The run's own state says that bob approved, and stands at the step that runs the command."""
    state = incident.row.here.to_json()
    state["step"], state["status"] = "replace", "open"
    state["approvals"] = [{"by": "bob", "plan_digest": state["plan_digest"], "at": time.time()}]
    sql(
        "UPDATE runs_run SET state = %s, step = 'replace', status = 'open', version = version + 1 WHERE id = %s",
        json.dumps(state),
        incident.row.pk,
    )


def test_an_approver_made_by_sql_approves_nothing(incident, sql):
    incident.walk_to_confirmed()
    sql(
        "INSERT INTO accounts_membership (user_id, role, from_groups) SELECT id, 'approver', false FROM accounts_user WHERE username = 'ann'"
    )
    eve = incident.person("eve", "viewer")
    sql(
        "INSERT INTO accounts_membership (user_id, role, from_groups) SELECT id, 'approver', false FROM accounts_user WHERE username = 'eve'"
    )
    status, answer = tries(incident, eve, "approve", plan_digest=incident.row.here.plan_digest)
    assert status in (403, 409), answer
    skip_approval(sql, incident)
    assert incident.ann.act("execute")[0] == 409
    nothing_ran(incident)
    check_refusal("accounts_membership:")


def test_one_administrator_is_not_two_people(incident):
    """ada makes an approver of eve, and of ann, who asked for the run; neither role counts before another administrator confirmed it."""
    incident.walk_to_confirmed()
    incident.person("ada", "admin")
    eve = incident.person("eve", "viewer")
    for name in ("eve", "ann"):
        people.give(User.objects.get(username="ada"), User.objects.get(username=name), "approver", None)
    for who in (eve, incident.ann):
        status, answer = tries(incident, who, "approve", plan_digest=incident.row.here.plan_digest)
        assert status in (403, 409), answer
    assert tries(incident, incident.ann, "execute")[0] == 409
    nothing_ran(incident)


def test_an_inserted_order_is_not_offered(incident, sql):
    """With a true plan and approval, for a person who gave none; its text is another's, so is its signature."""
    incident.walk_to_execute()
    sql(INSERT_ORDER, incident.row.pk, "ann")
    order = until(lambda: Order.objects.filter(id="f" * 32, status="REFUSED").first(), "nobody looked at it")
    assert "has no seal" in order.reason
    nothing_ran(incident)
    check_refusal("runs_order:")


INSERT_ORDER = """
WITH said AS (
    SELECT r.id AS run, json_build_object('id', repeat('f', 32), 'node', r.node, 'operation', 'zpool_replace', 'effect', 'at_most_once',
        'fence', '7', 'plan_digest', p.digest, 'nonce', k.nonce, 'approvals', json_build_array(a.leaf))::text AS text,
        p.digest AS plan, k.nonce, r.node
    FROM runs_run r JOIN runs_plan p ON p.run_id = r.id JOIN runs_approval a ON a.plan_id = p.digest
    JOIN fleet_node n ON n.name = r.node JOIN nodes_nodekey k ON k.node_id = n.id WHERE r.id = %s
), held AS (
    INSERT INTO runs_resourcelock (key, run_id, fence, taken_at) SELECT 'pool:1', run, 7, now() FROM said RETURNING fence
)
INSERT INTO runs_order (id, node, run_id, step, number, operation, effect, destructive, plan_id, canonical, digest, fence, sealed_by_id, sealed_at,
    expires_at, proved_at, nonce, signature, signed_by, status, reason, held_back, receipt_digest, folded)
SELECT repeat('f', 32), node, run, 'replace', 0, 'zpool_replace', 'at_most_once', true, plan, text,
    encode(sha256(convert_to(text, 'UTF8')), 'hex'), 7, (SELECT id FROM accounts_user WHERE username = %s), now(),
    now() + interval '10 minutes', now(), nonce, 'AAAA', 'k', 'SEALED', '', '', '', false FROM said, held
"""


def test_an_order_that_was_edited_is_not_started(incident, sql):
    """Given by ann while the agent is away; then somebody writes that another gave it, and just now."""
    incident.walk_to_execute()
    incident.stack.kill("agent")
    incident.execute()
    incident.person("carol", "operator")
    carol = "(SELECT id FROM accounts_user WHERE username = 'carol')"
    sql(f"UPDATE runs_order SET proved_at = now(), sealed_by_id = {carol} WHERE effect = 'at_most_once'")
    incident.stack.start("agent")
    until(lambda: Order.objects.get(effect="at_most_once").status == "REFUSED")
    assert "Who gave this order" in Order.objects.get(effect="at_most_once").reason
    nothing_ran(incident)
    check_refusal("runs_order:")


def test_a_plan_that_was_changed_after_its_approval_gives_no_order(incident, sql):
    incident.walk_to_execute()
    state = incident.row.here.to_json()
    state["plan"]["argv"] = [*state["plan"]["argv"], "-f"]
    sql("UPDATE runs_run SET state = %s WHERE id = %s", json.dumps(state), incident.row.pk)
    status, answer = incident.ann.act("execute")
    assert (status, "changed outside the portal" in answer) == (409, True)
    nothing_ran(incident)


def test_fewer_approvals_than_the_runbook_asks_for_are_not_enough(incident, sql):
    incident.walk_to_execute()
    sql("UPDATE runs_plan SET approvals_needed = 0")
    assert incident.ann.act("execute")[0] == 409
    nothing_ran(incident)
    check_refusal("runs_plan:")


def test_who_asked_for_the_run_approves_nothing_by_a_hand_that_was_deleted(incident, sql):
    """ann asked for the run and eve gives the order; by SQL ann is an honest approver without a hand in it."""
    incident.walk_to_confirmed()
    eve = incident.person("eve", "operator")
    User.objects.get(username="ann").memberships.create(role="approver")
    state = incident.row.here.to_json()
    state["hands"], state["requester"] = [], "eve"
    eve_id = User.objects.get(username="eve").pk
    sql("DELETE FROM runs_hand")
    sql("UPDATE runs_run SET state = %s, requester_id = %s", json.dumps(state), eve_id)
    tries(incident, incident.ann, "approve", plan_digest=state["plan_digest"])
    status, answer = tries(incident, eve, "execute")
    assert status == 409, answer
    nothing_ran(incident)


def test_a_node_that_was_moved_to_another_team_is_not_that_teams(incident, sql):
    incident.walk_to_execute()
    nora = incident.person("nora", "operator", team="north")
    sql("UPDATE fleet_node SET team_id = (SELECT id FROM accounts_team WHERE name = 'north')")
    status, answer = tries(incident, nora, "execute")
    assert (status, "nora may not do this" in answer) == (409, True)
    nothing_ran(incident)
    check_refusal("fleet_node:")


def test_a_token_to_enrol_that_was_inserted_enrols_nobody(incident, sql):
    sql(
        "INSERT INTO nodes_enroltoken (node_id, token_hash, created_at, expires_at)"
        " SELECT id, encode(sha256('mine'), 'hex'), now(), now() + interval '1 hour' FROM fleet_node"
    )
    until(lambda: Node.objects.get().last_report_at)
    body = {"token": "mine", "node": "oss01", "key": "A" * 43 + "="}
    status, page = asked(incident.stack, "/agent/v1/enrol", body=body)
    assert (status, "no seal" in page) == (403, True), page
    check_refusal("nodes_enroltoken:")


def test_a_link_to_the_rack_that_was_inserted_opens_nothing(incident, sql):
    incident.walk_to_execute()
    sql(
        "INSERT INTO runs_technicianlink (run_id, step, token_hash, made_by_id, made_at, expires_at, browser_hash, name)"
        " SELECT id, step, encode(sha256('mine'), 'hex'), requester_id, now(), now() + interval '1 hour', '', '' FROM runs_run"
    )
    status, page = asked(incident.stack, "/t/mine/")
    assert status != 200, page
    check_refusal("runs_technicianlink:")


def test_a_backup_of_the_database_put_back_runs_nothing_again(incident, ground, committed_db):
    """In it the plan is approved and its command has not run yet. The node has seen more of the ledger than that."""
    incident.walk_to_execute()
    backup = f"{committed_db}_backup"
    with stopped(incident):
        copied(ground, committed_db, backup)
    incident.execute()
    until(incident.stack.replaces)
    incident.stands("done")
    began = started_by_the_node(incident)
    with stopped(incident):
        ground.drop(committed_db)
        copied(ground, backup, committed_db)
    ground.drop(backup)
    incident.stands("replace", "open")

    def shows_why() -> bool:
        """Pressed until the order is given: while the facts of before the backup are not fresh, the portal itself refuses it."""
        tries(incident, incident.ann, "execute")
        time.sleep(1)
        return "The ledger shrank" in incident.row.here.note

    until(shows_why, "the run does not say why")
    until(lambda: [one for one in alarms.standing(timezone.now()) if one.kind == "ledger-contradicted"], "nobody is told")
    assert started_by_the_node(incident) == began
    assert len(incident.stack.replaces()) == 1


@contextmanager
def stopped(incident):
    """Nobody holds the database while it is copied; the node's agent waits."""
    for name in ("web", "worker"):
        incident.stack.kill(name)
    connection.close()
    yield
    incident.stack.start("web", "worker")
    until(incident.stack.answers, "web never came up", 120)


def copied(ground, source: str, target: str) -> None:
    with psycopg.connect(ground.postgres.url("postgres", SECRET, "postgres"), autocommit=True) as server:
        server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [source])
        server.execute(f'CREATE DATABASE "{target}" TEMPLATE "{source}"')
