"""Two machines with one key are found out, and told; a machine that was restarted is not."""

import json
import time

import pytest
from django.utils import timezone

from agents.orders.journal import Journal
from agents.portal.wire import canonical, verify_answer
from app.ledger.models import LedgerEvent
from app.nodes import keys, sessions
from app.nodes.models import NodeKey
from app.nodes.tests.cast import Agent, through

pytestmark = pytest.mark.django_db
REPORTS, CLAIM = "/agent/v1/reports", "/agent/v1/orders/o1/claim"
A, B, C = "a" * 43, "b" * 43, "c" * 43


def report(agent, nonce, **signing):
    """Something that is signed and names its stay; whether it is a good report is another matter."""
    return agent.ask(REPORTS, {"nonce": nonce}, **signing)


def test_a_machine_that_was_restarted_is_the_same_machine(agent):
    for nonce in (A, A, B, B, C):
        assert report(agent, nonce)[0] == 422
    key = NodeKey.objects.get()
    assert (key.nonce, key.nonces_before, key.doubled_at) == (C, [B, A], None)


def test_two_machines_that_speak_in_turn_are_found_out_and_both_told(agent):
    report(agent, A)
    report(agent, B)
    status, answer = report(agent, A)
    assert (status, answer["duplicate"]) == (409, True)
    assert "Two machines use the key" in answer["reason"]
    for nonce in (A, B, C):
        assert report(agent, nonce)[0] == 409
    assert LedgerEvent.objects.filter(type="node.duplicate", node="oss01").count() == 1


def test_a_copy_whose_counter_lags_is_found_out_by_its_own_words(agent):
    """Restored from an image: all it sends was numbered before."""
    for _ in range(3):
        report(agent, A)
    answers = [report(agent, B, counter=1)[0] for _ in range(sessions.ODD_MAX)]
    assert answers == [401] * (sessions.ODD_MAX - 1) + [409]
    assert report(agent, A)[0] == 409


def test_a_replay_is_no_second_machine(agent):
    """Somebody who recorded requests of this stay, or of the one before, does not stop the node by sending them again."""
    report(agent, A)
    report(agent, B)
    for nonce in (A, B) * sessions.ODD_MAX:
        assert report(agent, nonce, counter=1)[0] == 401
    assert NodeKey.objects.get().doubled_at is None


def test_a_request_that_was_overtaken_is_no_second_machine(agent):
    """After a boot the first report may be overtaken by a poll; its next try is heard."""
    report(agent, A)
    assert report(agent, B, counter=1)[0] == 401
    assert report(agent, B)[0] == 422
    assert NodeKey.objects.get().odd_count == 0


def test_an_agent_that_names_no_stay_is_heard(agent):
    report(agent, A)
    assert agent.ask(REPORTS, {})[0] == 422
    assert NodeKey.objects.get().nonce == A


@pytest.mark.parametrize("nonce", [True, None, ["x"], "short", "x" * 500, "bad word!" * 4])
def test_what_is_no_nonce_is_none(agent, nonce):
    assert report(agent, nonce)[0] == 422
    assert NodeKey.objects.get().nonce == ""


def test_a_new_key_ends_it(agent, client):
    for nonce in (A, B, A):
        report(agent, nonce)
    keys.revoke(NodeKey.objects.get().node, "ann", timezone.now())
    assert report(agent, A)[0] == 401
    right = Agent(through(client))
    assert right.enrol()[0] == 200
    assert report(right, A)[0] == 422


def test_what_a_node_did_is_taken_from_either_machine(agent):
    for nonce in (A, B, A):
        report(agent, nonce)
    status, answer = agent.ask("/agent/v1/orders/o1/receipt", {"order": "o1", "digest": "0" * 64, "outcome": "succeeded"})
    assert (status, "duplicate" in answer) == (409, False)
    assert "no such order" in answer["reason"]


def test_the_farthest_journal_is_told_back(agent):
    """One that was put back learns from the portal how far it had come."""
    agent.ask(REPORTS, {"nonce": A, "journal": "ab:7"})
    agent.ask(REPORTS, {"nonce": A, "journal": "ab:3", "held": "Somebody must look."})
    key = NodeKey.objects.get()
    assert (key.journal, key.held) == ("ab:7", "Somebody must look.")
    agent.ask(REPORTS, {"nonce": A, "journal": "cd:1"})
    assert NodeKey.objects.get().journal == "cd:1"


FAR = 10**17


@pytest.mark.parametrize("path", [REPORTS, CLAIM])
def test_a_counter_that_no_agent_can_have_reached_shuts_nobody_out(agent, path):
    report(agent, A)
    before = NodeKey.objects.get().counter
    headers, nonce = agent.sign(path, b"{}", counter=FAR)
    status, answer_headers, answer = agent.post(path, b"{}", headers)
    verify_answer(agent.key, status, answer_headers, answer, nonce)
    assert (status, json.loads(answer)["counter"], json.loads(answer)["ahead"]) == (401, str(before), "1")
    key = NodeKey.objects.get()
    assert (key.counter, str(FAR) in key.jumped_why) == (before, True)
    assert report(agent, A)[0] == 422, "the agent itself goes on being heard"
    headers, _ = agent.sign(path, b"{}", counter=FAR + 1)
    agent.post(path, b"{}", headers)
    assert LedgerEvent.objects.filter(type="node.counter-jump").count() == 1


def test_a_request_that_is_behind_is_told_how_far_the_key_has_come(agent):
    """Under the key's own signature, so that its agent can go on from there and nobody else can make it."""
    report(agent, A, counter=50)
    body = canonical({"nonce": A})
    headers, nonce = agent.sign(REPORTS, body, counter=7)
    status, answer_headers, answer = agent.post(REPORTS, body, headers)
    verify_answer(agent.key, status, answer_headers, answer, nonce)
    assert (status, json.loads(answer)["counter"]) == (401, "50")


def test_the_real_agent_comes_back_after_a_stolen_key_ran_ahead(agent, tmp_path):
    """Within what is taken, by ten minutes of its clock: the agent goes on from there, and says what that means."""
    journal = Journal(str(tmp_path / "journal.sqlite"))
    stolen = int(time.time() * 1000) + 500_000
    assert journal.next_counter(time.time()) < stolen
    report(agent, A, counter=stolen)
    _, answer = report(agent, A, counter=journal.next_counter(time.time()))
    assert journal.follow_counter(int(answer["counter"]), "ahead" in answer), "somebody else counted that far"
    assert report(agent, A, counter=journal.next_counter(time.time()))[0] == 422
    journal.close()
