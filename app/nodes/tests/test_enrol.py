"""Enrolment: one token, one node, one key."""

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.portal.wire import fingerprint
from app.fleet.models import Node
from app.ledger import services as ledger
from app.ledger.models import LedgerEvent
from app.nodes.keys import issue_token
from app.nodes.models import EnrolToken, NodeKey
from app.nodes.tests.cast import Agent, through

pytestmark = pytest.mark.django_db


@pytest.fixture
def newcomer(client):
    return Agent(through(client))


def test_it_gives_both_sides_the_same_fingerprint(newcomer):
    status, answer = newcomer.enrol()
    assert (status, answer["key_id"], answer["node"]) == (200, fingerprint(newcomer.key), "oss01")
    assert {name: answer[name] for name in ("portal_key", "log_key", "origin")} == ledger.public_keys()
    assert Node.objects.get().state == "enrolled"
    assert LedgerEvent.objects.order_by("pk").last().type == "node.enrolled"


def test_it_keeps_no_token_in_clear_text():
    token = issue_token("oss01", "ann")
    assert token not in str(EnrolToken.objects.values_list())
    assert token.encode() not in b"".join(bytes(event.body) for event in LedgerEvent.objects.all())


def test_it_refuses_a_token_that_was_used(newcomer, client):
    token = issue_token("oss01", "ann")
    assert newcomer.enrol(token)[0] == 200
    status, answer = Agent(through(client)).enrol(token)
    assert (status, "The token was used at" in answer["reason"]) == (403, True)
    assert NodeKey.objects.filter(revoked_at=None).get().key_id == fingerprint(newcomer.key)


def test_it_answers_the_same_key_again_because_the_first_answer_may_be_lost(newcomer):
    token = issue_token("oss01", "ann")
    assert newcomer.enrol(token) == newcomer.enrol(token)
    assert NodeKey.objects.count() == 1


def test_it_refuses_a_token_that_expired(newcomer):
    token = issue_token("oss01", "ann")
    EnrolToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert newcomer.enrol(token)[0] == 403


def test_it_refuses_a_token_of_another_node(newcomer):
    status, answer = newcomer.enrol(issue_token("oss02", "ann"))
    assert (status, "not one of node oss01" in answer["reason"]) == (403, True)
    assert newcomer.enrol("made up")[0] == 403


@pytest.mark.parametrize("key", ["", "!!", "c2hvcnQ="])
def test_it_refuses_a_key_of_another_size(newcomer, key):
    assert newcomer.enrol(key=key)[0] == 403


def test_it_revokes_the_old_key_when_a_node_enrols_again(newcomer, client):
    newcomer.enrol()
    other = Agent(through(client))
    assert other.enrol()[0] == 200
    assert newcomer.ask("/agent/v1/orders/o1/claim", {})[0] == 401
    assert other.ask("/agent/v1/orders/o1/claim", {})[0] != 401


def test_it_refuses_a_key_that_was_revoked_once(newcomer):
    newcomer.enrol()
    NodeKey.objects.update(revoked_at=timezone.now())
    status, answer = newcomer.enrol()
    assert (status, "was used before" in answer["reason"]) == (403, True)
