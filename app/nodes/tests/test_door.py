"""The agents' door: nobody gets in with a request that is not an enrolled agent's own, whole and new."""

import gzip
import time

import pytest
from django.urls import get_resolver
from django.utils import timezone

from agents.portal.wire import SKEW_SECONDS_MAX, canonical
from app.accounts.models import Refusal, Seal
from app.fleet.models import Node
from app.nodes import door, keys
from app.nodes.kinds import KEY
from app.nodes.models import NodeKey
from app.nodes.tests.cast import Agent, through

CLAIM = "/agent/v1/orders/o1/claim"
UNSIGNED = {"agent-enrol"}


def test_it_signs_every_route_but_enrol():
    routes = get_resolver("app.nodes.urls").url_patterns
    assert routes
    for route in routes:
        assert getattr(route.callback, "is_signed", False) is (route.name not in UNSIGNED), route


def test_it_answers_a_signed_request_with_a_signed_answer(agent):
    status, answer = agent.ask(CLAIM, {"digest": "d"})
    assert status in (200, 409), answer


def test_it_refuses_a_request_sent_twice(agent):
    body = canonical({"digest": "d"})
    headers, _ = agent.sign(CLAIM, body)
    first, second = agent.post(CLAIM, body, headers), agent.post(CLAIM, body, headers)
    assert first[0] != 401
    assert second[0] == 401
    assert b"it is a repeat" in second[2]


def test_it_lets_the_database_decide_between_two_copies_that_arrive_together(agent, monkeypatch):
    monkeypatch.setattr(keys, "check_fresh", lambda *_: None)  # both have been read before either is stored
    body = canonical({"digest": "d"})
    headers, _ = agent.sign(CLAIM, body)
    assert [agent.post(CLAIM, body, headers)[0] == 401 for _ in range(2)] == [False, True]


def test_it_refuses_a_counter_below_one_it_has_seen(agent):
    agent.ask(CLAIM, {}, counter=10)
    assert agent.ask(CLAIM, {}, counter=9)[0] == 401
    assert agent.ask(CLAIM, {}, counter=11)[0] != 401


def test_it_keeps_the_counter_of_a_request_that_was_refused_before_it_was_verified(agent):
    before = NodeKey.objects.get().counter
    headers, _ = agent.sign(CLAIM, b"{}", counter=1000)
    assert agent.post(CLAIM, b'{"digest":"other"}', headers)[0] == 401
    assert NodeKey.objects.get().counter == before


@pytest.mark.parametrize("off", [-SKEW_SECONDS_MAX - 5, SKEW_SECONDS_MAX + 5])
def test_it_refuses_a_clock_that_is_too_far_off(agent, off):
    status, answer = agent.ask(CLAIM, {}, created=int(time.time()) + off)
    assert status == 401
    assert "Set the node's clock" in answer["reason"]


def test_it_refuses_a_signature_for_another_path(agent):
    headers, _ = agent.sign("/agent/v1/orders/o1/start", b"{}")
    assert agent.post(CLAIM, b"{}", headers)[0] == 401


def test_it_refuses_a_revoked_key_whose_old_row_was_put_back_though_it_remembers_the_key(agent):
    assert agent.ask(CLAIM, {"digest": "d"})[0] != 401
    put_back_after_revoking()
    for _ in range(2):
        status, answer = agent.ask(CLAIM, {"digest": "d"})
        assert status == 401
        assert "an old one that was put back" in answer["reason"]
    assert Refusal.objects.get().pk == KEY.name(NodeKey.objects.get().pk)


def test_it_refuses_the_key_of_a_node_that_was_renamed_past_the_portal(agent):
    Node.objects.filter(name="oss01").update(name="oss99")
    status, answer = agent.ask(CLAIM, {"digest": "d"})
    assert status == 401
    assert "This node does not fit its seal" in answer["reason"]


def test_it_refuses_a_key_it_does_not_know_and_one_that_was_revoked(agent, client):
    assert Agent(through(client)).ask(CLAIM, {})[0] == 401
    NodeKey.objects.update(revoked_at="2026-11-21T00:00:00Z")
    assert agent.ask(CLAIM, {})[0] == 401


def test_it_refuses_a_request_without_signature(agent):
    assert agent.post(CLAIM, b"{}", {})[0] == 401


def test_it_takes_post_only(agent, client):
    assert client.get(CLAIM).status_code == 405


def test_it_reads_gzip_and_refuses_what_unpacks_too_large(agent, monkeypatch):
    packed = gzip.compress(canonical({"digest": "d" * 5000}))
    assert agent.ask(CLAIM, None, body=packed, more={"Content-Encoding": "gzip"}.items())[0] in (200, 409)
    monkeypatch.setattr(door, "JSON_BYTES_MAX", 1000)
    status, answer = agent.ask(CLAIM, None, body=packed, more={"Content-Encoding": "gzip"}.items())
    assert (status, "larger than 1000 bytes" in answer["reason"]) == (400, True)


def test_it_refuses_a_body_that_is_too_large(agent, monkeypatch):
    monkeypatch.setattr(door, "BODY_BYTES_MAX", 100)
    assert agent.ask(CLAIM, {"digest": "d" * 200})[0] == 413


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b'"x"', b"[" * 100_000])
def test_it_answers_400_to_what_is_not_a_json_object(agent, body):
    assert agent.ask(CLAIM, None, body=body)[0] == 400


def put_back_after_revoking() -> None:
    """The row as it was, with its seal, as SQL does it."""
    old = NodeKey.objects.filter(node__name="oss01").values().get()
    seal = Seal.objects.get(pk=KEY.name(old["id"]))
    keys.revoke(Node.objects.get(name="oss01"), "test", timezone.now())
    NodeKey.objects.filter(pk=old["id"]).update(revoked_at=None, secret=old["secret"])
    Seal.objects.filter(pk=seal.pk).update(mac=seal.mac, mark=seal.mark)
