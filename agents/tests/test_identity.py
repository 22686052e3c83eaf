"""Whom an agent believes: the portal's keys are pinned at enrolment, and only the pinned key announces others."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agents.host.host import LocalHost
from agents.portal.transport import PortalDown, PortalRefused
from agents.portal.wire import canonical
from agents.tests import rig
from agents.trust import identity
from agents.trust.identity import BadKeys

HOST = LocalHost()


def announced(old, new, purpose="next_keys", **change):
    text = canonical({"purpose": purpose, **new.handed_over, **change}).decode()
    return {"keys": text, "signature": old.sign(text.encode())}


@pytest.fixture(scope="module")
def newer():
    return rig.Keys()


def test_it_survives_the_disk(tmp_path):
    folder = rig.agent_folder(tmp_path / "agent", "http://127.0.0.1:1")
    assert identity.load(str(folder)) == rig.identity()
    assert rig.identity().can_check


def test_an_identity_from_before_there_were_keys_is_read_and_can_check_nothing(tmp_path):
    folder = rig.agent_folder(tmp_path / "agent", "http://127.0.0.1:1")
    old = {
        name: value
        for name, value in json.loads((folder / "identity.json").read_text()).items()
        if name in ("portal", "node", "key", "ca_file")
    }
    (folder / "identity.json").write_text(json.dumps(old))
    who = identity.load(str(folder))
    assert (who.node, who.can_check, who.portal_key_id) == (rig.NODE, False, "")


def test_it_follows_the_portal_to_keys_that_the_old_one_signed(newer):
    who = identity.rotated(HOST, rig.identity(), announced(rig.keys(), newer))
    assert (who.portal_key, who.log_key) == (newer.order_pem, newer.log_key)
    assert who.key == rig.identity().key
    assert identity.rotated(HOST, who, announced(rig.keys(), newer)) == who  # said again and again


def test_it_does_not_go_back_to_a_key_that_was_replaced(newer):
    who = identity.rotated(HOST, rig.identity(), announced(rig.keys(), newer))
    with pytest.raises(BadKeys, match="the pinned key did not sign"):
        identity.rotated(HOST, who, announced(rig.keys(), rig.keys()))


@pytest.mark.parametrize(
    "text",
    [
        lambda old, new: None,
        lambda old, new: [],
        lambda old, new: {"keys": {}, "signature": ""},
        lambda old, new: {"keys": "{ }", "signature": "AAAA"},
        lambda old, new: announced(new, new),
        lambda old, new: announced(old, new, purpose="order"),
        lambda old, new: announced(old, new, portal_key="no key"),
        lambda old, new: announced(old, new, log_key="no key"),
        lambda old, new: announced(old, new, log_key=""),
        lambda old, new: announced(old, new, origin="another/log"),
        lambda old, new: {**announced(old, new), "keys": announced(old, rig.Keys())["keys"]},
    ],
)
def test_it_follows_to_nothing_else(text, newer):
    with pytest.raises(BadKeys):
        identity.rotated(HOST, rig.identity(), text(rig.keys(), newer))


def test_an_agent_without_keys_is_given_none_by_an_announcement(newer):
    with pytest.raises(BadKeys):
        identity.rotated(HOST, replace(rig.identity(), portal_key="", log_key=""), announced(newer, newer))


@pytest.fixture
def stub():
    stub = rig.StubPortal()
    yield stub
    stub.close()


def test_enrolling_pins_the_keys_and_names_the_journal(stub, tmp_path):
    who = identity.enrol_node(HOST, str(tmp_path / "a"), stub.url, "oss01", "good")
    assert (who.portal_key, who.log_key, who.origin) == (rig.keys().order_pem, rig.keys().log_key, rig.ORIGIN)
    assert len(who.journal) == 16
    assert identity.load(str(tmp_path / "a")) == who


def test_enrolling_again_makes_a_new_key_and_keeps_the_journal(stub, tmp_path):
    first = identity.enrol_node(HOST, str(tmp_path / "a"), stub.url, "oss01", "good")
    with pytest.raises(identity.NoIdentity, match="--again"):
        identity.enrol_node(HOST, str(tmp_path / "a"), stub.url, "oss01", "good")
    with pytest.raises(PortalDown):
        identity.enrol_node(HOST, str(tmp_path / "a"), stub.url, "oss01", "bad", again=True)
    assert identity.load(str(tmp_path / "a")) == first
    second = identity.enrol_node(HOST, str(tmp_path / "a"), stub.url, "oss01", "good", again=True)
    assert (second.key != first.key, second.journal) == (True, first.journal)
    assert identity.load(str(tmp_path / "a")) == second


@pytest.fixture
def answers(monkeypatch):
    """What becomes of each try to enrol, in turn: "lost" on its way back, or "comes". Returns the outcomes to come and the keys offered."""
    coming, offered, real = [], [], identity.enrol

    def enrol(url, key, *more):
        offered.append(key)
        answer = real(url, key, *more)
        if coming.pop(0) == "lost":
            raise PortalDown("The answer was lost.")
        return answer

    monkeypatch.setattr(identity, "enrol", enrol)
    return coming, offered


def test_a_key_whose_answer_was_lost_is_offered_again(stub, tmp_path, answers):
    coming, offered = answers
    coming += ["lost", "comes"]
    with pytest.raises(PortalDown):
        identity.enrol_node(HOST, str(tmp_path), stub.url, "oss01", "good")
    assert identity.enrol_node(HOST, str(tmp_path), stub.url, "oss01", "good").key == offered[0]
    assert offered == [offered[0]] * 2


def test_a_wrong_token_costs_no_key_whose_answer_was_lost(stub, tmp_path, answers):
    coming, offered = answers
    coming += ["lost", "comes"]
    with pytest.raises(PortalDown):
        identity.enrol_node(HOST, str(tmp_path), stub.url, "oss01", "good")
    with pytest.raises(PortalRefused):
        identity.enrol_node(HOST, str(tmp_path), stub.url, "oss01", "bad")
    assert identity.enrol_node(HOST, str(tmp_path), stub.url, "oss01", "good").key == offered[0]


def test_where_the_key_is_refused_that_had_no_answer_a_new_one_is_offered_with_the_same_token(stub, tmp_path, answers, monkeypatch):
    coming, offered = answers
    coming += ["lost", "comes"]
    with pytest.raises(PortalDown):
        identity.enrol_node(HOST, str(tmp_path), stub.url, "oss01", "good")
    counting = identity.enrol

    def revoked(url, key, *more):
        if key == offered[0]:
            raise PortalRefused("This key was used before.")
        return counting(url, key, *more)

    monkeypatch.setattr(identity, "enrol", revoked)
    assert identity.enrol_node(HOST, str(tmp_path), stub.url, "oss01", "good").key == offered[1]


def test_a_key_that_was_refused_is_not_kept(stub, tmp_path):
    with pytest.raises(PortalRefused):
        identity.enrol_node(HOST, str(tmp_path), stub.url, "oss01", "bad")
    assert list(tmp_path.glob("*.new")) == []


@pytest.mark.parametrize("whose", [("http://127.0.0.1:1", "oss01"), ("", "oss02")])
def test_a_key_meant_for_another_portal_or_node_is_not_offered(stub, tmp_path, whose, monkeypatch):
    folder, tried = str(tmp_path / "a"), []
    portal, node = whose[0] or stub.url, whose[1]

    def down(url, key, *more):
        tried.append(key)
        raise PortalDown("down")

    real = identity.enrol
    monkeypatch.setattr(identity, "enrol", down)
    with pytest.raises(PortalDown):
        identity.enrol_node(HOST, folder, portal, node, "good")
    monkeypatch.setattr(identity, "enrol", real)
    assert identity.enrol_node(HOST, folder, stub.url, "oss01", "good").key != tried[0]


def test_a_portal_without_keys_leaves_an_agent_that_only_observes(stub, tmp_path, monkeypatch):
    monkeypatch.setattr(rig.Keys, "handed_over", {})
    assert not identity.enrol_node(HOST, str(tmp_path / "a"), stub.url, "oss01", "good").can_check


def test_keys_that_are_none_are_not_pinned(stub, tmp_path, monkeypatch):
    monkeypatch.setattr(rig.Keys, "handed_over", {"portal_key": "x", "log_key": "y", "origin": "z"})
    with pytest.raises(BadKeys, match="cannot be used"):
        identity.enrol_node(HOST, str(tmp_path / "a"), stub.url, "oss01", "good")
    with pytest.raises(identity.NoIdentity):
        identity.load(str(tmp_path / "a"))
