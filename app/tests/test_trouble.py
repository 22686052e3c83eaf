"""The portal's own trouble is 503 with a sentence at every door of the agents, and never "you are not known" or "you may not"."""

import time

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client

from agents.domain.times import iso
from app import readiness
from app.accounts.models import User
from app.ledger import services as ledger
from app.nodes import keys, vault

HEARTBEAT = {"v": "2", "node": "oss01", "set": "0" * 64, "taken_at": iso(time.time()), "ages": {}}
# how each is asked: method, path, what is said
DOORS = {
    "report": ("POST", "/agent/v1/reports", {"v": "2"}),
    "heartbeat": ("POST", "/agent/v1/reports", HEARTBEAT),
    "claim": ("POST", "/agent/v1/orders/o1/claim", {"digest": "d"}),
    "start": ("POST", "/agent/v1/orders/o1/start", {"digest": "d"}),
    "receipt": ("POST", "/agent/v1/orders/o1/receipt", {}),
    "poll": ("GET", "/agent/v1/orders", None),
}


def raises(error):
    def ask(*args, **fields):
        raise error

    return ask


def no_key(monkeypatch, tmp_path):
    monkeypatch.setenv("SLOTLIGHT_NODES_KEY", str(tmp_path / "nowhere" / "nodes.key"))


def no_database(monkeypatch, tmp_path):
    monkeypatch.setattr(vault, "reveal", raises(OperationalError("the server closed the connection")))


def no_connection(monkeypatch, tmp_path):
    monkeypatch.setattr(vault, "reveal", raises(InterfaceError("the connection is closed")))


TROUBLES = {no_key: "cannot read the secrets", no_database: "database does not answer", no_connection: "database does not answer"}


def knock(agent, wire, door):
    method, path, body = DOORS[door]
    if method == "POST":
        return agent.ask(path, body)
    headers, _ = agent.sign(path, b"", method="GET")
    status, _, answer = wire("GET", path, headers=headers)
    return status, {"reason": answer.decode()}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.__name__)
def test_an_agent_that_cannot_be_told_from_others_hears_503(agent, wire, door, trouble, monkeypatch, tmp_path):
    monkeypatch.setattr(keys, "_remembered", {})
    trouble(monkeypatch, tmp_path)
    status, answer = knock(agent, wire, door)
    assert (status, TROUBLES[trouble] in answer["reason"]) == (503, True), answer
    assert str(tmp_path) not in answer["reason"], "paths of the portal are nobody's business"


@pytest.mark.parametrize("door", ["claim", "start"])
def test_an_order_is_not_refused_for_a_ledger_that_is_down(agent, wire, door, monkeypatch):
    """The agent asks again; a refusal would end the order."""
    monkeypatch.setattr(ledger, "refuse_if_broken", raises(ledger.LedgerDown("The ledger cannot be written.")))
    assert knock(agent, wire, door) == (503, {"reason": "The ledger cannot be written."})


def test_a_poll_that_cannot_look_hears_503(agent, wire, monkeypatch):
    from app import streams

    monkeypatch.setattr(streams.orders, "next_for", raises(OperationalError("the server closed the connection")))
    assert knock(agent, wire, "poll")[0] == 503


def test_a_page_that_listens_hears_503(wire, monkeypatch):
    from app import streams

    client = Client()
    client.force_login(User.objects.create_user("ann"))
    monkeypatch.setattr(streams, "get_user", raises(OperationalError("the server closed the connection")))
    assert wire("GET", "/events?topics=fleet", headers={"Cookie": f"sessionid={client.cookies['sessionid'].value}"})[0] == 503


@pytest.mark.parametrize(("name", "variable"), [("nodes.key", "SLOTLIGHT_NODES_KEY"), ("order.key", "SLOTLIGHT_ORDER_KEY")])
def test_readyz_says_which_key_is_gone(agent, name, variable, monkeypatch, tmp_path):
    assert readiness.keys() == ""
    monkeypatch.setenv(variable, str(tmp_path / "nowhere"))
    assert readiness.keys().startswith(f"{name} is gone or cannot be read")
