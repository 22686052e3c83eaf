"""The whole agent, in this process, against a portal over HTTP."""

from __future__ import annotations

import json
import threading
import time

import pytest

from agents.portal.wire import canonical, sha256_hex
from agents.service.agent import Agent, Busy
from agents.tests import rig
from agents.trust import order_signature
from agents.trust.identity import NoIdentity, load


class Running:
    """An agent in a thread, until stopped."""

    def __init__(self, tmp_path, host=None, **how):
        self.stub = rig.StubPortal()
        self.host = host or rig.twin(tmp_path)
        self.folder = rig.agent_folder(tmp_path / "agent", self.stub.url, **how)
        self.agent = Agent(self.host, str(self.folder), str(self.folder / "policy.json"))
        self.thread = threading.Thread(target=self.agent.run)

    def __enter__(self):
        self.thread.start()
        return self.stub

    def __exit__(self, *_):
        self.agent.stop()
        self.thread.join(5)
        self.stub.close()
        assert not self.thread.is_alive()


@pytest.fixture
def running(tmp_path):
    with Running(tmp_path) as stub:
        yield stub


def test_it_reports_everything_and_then_only_what_changed(tmp_path):
    agent = Running(tmp_path)
    with agent as stub:
        stub.wait(lambda: stub.intake.digest)
        first = stub.reports[0]
        assert {"zpool_status", "zdb_label", "block"} <= {where.partition("/")[0] for where in stub.intake.places}
        assert first.keys() == {
            "v",
            "node",
            "set",
            "taken_at",
            "ages",
            "nonce",
            "journal",
        }  # a portal that knows it all is sent nothing twice
        assert {"zpool_status", "zdb_label"} <= first["ages"].keys()
        assert all(sha256_hex(canonical(body)) == digest for report in stub.reports for digest, body in report.get("bodies", {}).items())
        assert (first["node"], stub.intake.about["mode"]) == (rig.NODE, "operate")
        assert stub.intake.about["boot_id"] == agent.host.store.view().node.boot_id


def test_it_answers_a_look_at_once(running):
    running.wait(lambda: "GET /agent/v1/orders" in running.asked)
    begun = time.monotonic()
    running.offer(rig.look_order("zpool_status"))
    running.wait(lambda: running.receipts)
    assert time.monotonic() - begun < 1.0
    receipt = running.receipts[0]
    assert (receipt["outcome"], [c["source"] for c in receipt["captures"]]) == ("succeeded", ["zpool_status"])
    assert "POST /agent/v1/orders/order-1/claim" not in running.asked


def test_it_replaces_and_then_reports_afresh(tmp_path):
    agent = Running(tmp_path)
    with agent as stub:
        stub.offer(rig.replace_order(agent.host))
        stub.wait(lambda: stub.receipts)
        receipt, seen = stub.receipts[0], len(stub.reports)
        assert receipt["outcome"] == "succeeded", receipt["reason"]
        stub.wait(lambda: len(stub.reports) > seen)
        assert len(rig.replaces(agent.host)) == 1
        mine = [word for word in stub.asked if "order-1" in word]
        assert [word.rsplit("/", 1)[1] for word in mine] == ["claim", "start", "receipt"]


def test_an_order_offered_again_and_again_runs_once(tmp_path):
    agent = Running(tmp_path, rig.twin(tmp_path, replace_seconds=0.5))
    with agent as stub:
        sealed = rig.replace_order(agent.host)
        stub.offer(sealed, sealed)
        stub.wait(lambda: stub.receipts)
        stub.offer(sealed)
        stub.wait(lambda: len(stub.receipts) > 1)
        assert len(rig.replaces(agent.host)) == 1
        assert len({canonical(receipt) for receipt in stub.receipts}) == 1


def test_it_answers_looks_while_a_replace_takes_its_time(tmp_path):
    agent = Running(tmp_path, rig.twin(tmp_path, replace_seconds=3.0))
    with agent as stub:
        stub.offer(rig.replace_order(agent.host))
        stub.wait(lambda: rig.replaces(agent.host))
        stub.offer(rig.look_order("node", id="look-1"))
        stub.wait(lambda: any(receipt["order"] == "look-1" for receipt in stub.receipts), 2.0)
        assert [receipt["order"] for receipt in stub.receipts] == ["look-1"]
        stub.wait(lambda: len(stub.receipts) == 2)


def test_it_keeps_a_receipt_until_it_is_taken(tmp_path):
    agent = Running(tmp_path)
    with agent as stub:
        stub.answer_with = lambda path: (503, {}) if path.endswith("/receipt") else None
        stub.offer(rig.replace_order(agent.host))
        stub.wait(lambda: sum(word.endswith("/receipt") for word in stub.asked) >= 2)
        stub.answer_with = lambda path: None
        stub.wait(lambda: stub.receipts)
        assert stub.receipts[0]["outcome"] == "succeeded"
        assert len(rig.replaces(agent.host)) == 1


def test_it_outlives_a_portal_that_is_gone(tmp_path):
    agent = Running(tmp_path)
    with agent as stub:
        stub.answer_with = lambda path: (503, {})
        stub.wait(lambda: len(stub.asked) > 2)
        stub.answer_with = lambda path: None
        stub.wait(lambda: stub.reports)


@pytest.mark.parametrize(
    "offer",
    [
        lambda text, digest: (text.replace("order-1", "order-2"), digest),
        lambda text, digest: (text[:-1], digest),
        lambda text, digest: ("[]", digest),
    ],
)
def test_an_order_that_does_not_hold_never_runs_and_stops_nothing(tmp_path, offer):
    agent = Running(tmp_path)
    with agent as stub:
        good = rig.replace_order(agent.host)
        bad = offer(*good)
        stub.answer_with = lambda path: (200, {"orders": [{"order": bad[0], "digest": bad[1]}]}) if path.endswith("/orders") else None
        stub.wait(lambda: sum(word == "GET /agent/v1/orders" for word in stub.asked) > 1)
        assert rig.replaces(agent.host) == []
        assert all(receipt["outcome"] == "refused" for receipt in stub.receipts)


def test_a_thread_that_fails_stops_the_whole_agent(tmp_path, caplog):
    agent = Running(tmp_path)
    agent.host.list = None  # collecting now raises what nobody expects
    with pytest.raises(TypeError):
        agent.agent.run()
    agent.stub.close()


def test_two_agents_never_share_a_folder(tmp_path):
    agent = Running(tmp_path)
    with agent as stub:
        stub.wait(lambda: stub.asked)
        with pytest.raises(Busy, match="already runs"):
            Agent(agent.host, str(agent.folder), "none").run()


def test_it_does_not_start_with_a_key_that_others_can_read(tmp_path):
    folder = rig.agent_folder(tmp_path / "agent", "http://127.0.0.1:1")
    (folder / "identity.json").chmod(0o644)
    with pytest.raises(NoIdentity, match="read by others"):
        Agent(rig.twin(tmp_path), str(folder))
    (folder / "identity.json").unlink()
    with pytest.raises(NoIdentity, match="Run `enrol`"):
        Agent(rig.twin(tmp_path), str(folder))


def test_an_observing_agent_refuses_and_says_why(tmp_path):
    agent = Running(tmp_path, policy={"mode": "observe"})
    with agent as stub:
        stub.offer(rig.replace_order(agent.host))
        stub.wait(lambda: stub.receipts)
        assert "observed" in json.dumps(stub.receipts[0])
        assert rig.replaces(agent.host) == []


def test_a_receipt_the_portal_refuses_is_not_pressed_on_it(tmp_path):
    """It keeps each refused copy in its ledger; the next start tries once more."""
    agent = Running(tmp_path)
    with agent as stub:
        stub.answer_with = lambda path: (409, {"reason": "This order has another receipt."}) if path.endswith("/receipt") else None
        stub.offer(rig.replace_order(agent.host))
        stub.wait(lambda: any(word.endswith("/receipt") for word in stub.asked))
        stub.orders.clear()
        stub.offer(rig.look_order(id="look-1"))
        stub.wait(lambda: sum(word == "POST /agent/v1/reports" for word in stub.asked) > 3)
        assert sum(word == "POST /agent/v1/orders/order-1/receipt" for word in stub.asked) <= 2


def test_it_reports_after_a_receipt_even_when_nothing_changed(tmp_path):
    """The portal waits for facts that are newer than the receipt; the next heartbeat would be long in coming."""
    agent = Running(tmp_path, policy={"mode": "observe"})
    with agent as stub:
        stub.wait(lambda: stub.intake.digest)
        stub.offer(rig.replace_order(agent.host))
        stub.wait(lambda: stub.receipts)
        seen = len(stub.reports)
        stub.wait(lambda: len(stub.reports) > seen, 5)
        assert stub.receipts[0]["outcome"] == "refused"


def held(stub):
    return next((report["held"] for report in stub.reports if "held" in report), "")


def test_it_says_who_it_is_and_what_it_holds_with_every_poll_and_report(tmp_path):
    agent = Running(tmp_path)
    with agent as stub:
        stub.offer(rig.replace_order(agent.host))
        stub.wait(lambda: stub.receipts)
        stub.wait(lambda: any("size=3" in query for query in stub.queries) and stub.reports)
        assert stub.receipts[0]["outcome"] == "succeeded", stub.receipts[0]["reason"]
        assert "wait=25&size=0" in stub.queries[0]
        assert all(f"nonce={rig.NONCE}" in query and f"key={rig.identity().portal_key_id}" in query for query in stub.queries)
        assert {report["nonce"] for report in stub.reports} == {rig.NONCE}


def test_told_that_it_has_a_double_it_goes_on_reporting_and_changes_nothing(tmp_path):
    agent = Running(tmp_path)
    with agent as stub:
        sealed = rig.replace_order(agent.host)
        double = {"reason": "Sessions n and m take turns.", "duplicate": True}
        stub.answer_with = lambda path: (409, double) if path.endswith("/reports") else None
        stub.wait(lambda: "POST /agent/v1/reports" in stub.asked)
        stub.answer_with = lambda path: None
        agent.agent.ring()
        stub.wait(lambda: held(stub))
        assert "Sessions n and m take turns." in held(stub)
        stub.offer(sealed)
        stub.wait(lambda: stub.receipts)
        assert "Two machines use this agent's key" in stub.receipts[0]["reason"]
        assert rig.replaces(agent.host) == []
        agent.agent.ring()
        stub.wait(lambda: stub.intake.about.get("mode") == "observe")


def test_told_with_a_poll_that_it_has_a_double_it_holds_too(tmp_path):
    agent = Running(tmp_path)
    with agent as stub:
        stub.answer_with = lambda path: (409, {"reason": "Twins.", "duplicate": True}) if path.endswith("/orders") else None
        stub.wait(lambda: held(stub), 30)


def test_shown_a_fork_it_goes_on_reporting_and_changes_nothing(tmp_path):
    agent = Running(tmp_path)
    with agent as stub:
        stub.offer(rig.look_order(id="look-1"))
        stub.wait(lambda: stub.receipts)
        stub.ledger.bodies[0] = b"another past"
        stub.offer(rig.look_order(id="look-2"))
        stub.wait(lambda: held(stub), 30)
        assert "forked" in held(stub)
        stub.offer(rig.replace_order(agent.host))
        stub.wait(lambda: len(stub.receipts) > 2)
        assert "forked" in stub.receipts[2]["reason"]
        assert rig.replaces(agent.host) == []


def test_it_follows_the_portal_to_new_keys_and_keeps_them(tmp_path):
    agent = Running(tmp_path)
    newer = rig.Keys()
    text = canonical({"purpose": "next_keys", **newer.handed_over}).decode()
    announcement = {"next_keys": {"keys": text, "signature": rig.keys().sign(text.encode())}, "orders": []}
    with agent as stub:
        stub.answer_with = lambda path: (200, announcement) if path.endswith("/orders") else None
        stub.wait(lambda: any(order_signature.key_id(newer.order_pem) in query for query in stub.queries))
        stub.ledger.keys = newer
        stub.answer_with = lambda path: None
        stub.offer(rig.replace_order(agent.host))
        stub.wait(lambda: stub.receipts)
        assert stub.receipts[0]["outcome"] == "succeeded", stub.receipts[0]["reason"]
    assert load(str(agent.folder)).portal_key == newer.order_pem


def test_with_a_damaged_journal_it_reports_answers_questions_and_changes_nothing(tmp_path):
    folder = rig.agent_folder(tmp_path / "agent", "http://127.0.0.1:1")
    (folder / "journal.sqlite").write_bytes(b"no journal at all" * 1000)
    agent = Running(tmp_path)
    with agent as stub:
        stub.wait(lambda: stub.intake.digest)
        assert "cannot be opened" in held(stub)
        stub.offer(rig.look_order(id="look-1"), rig.replace_order(agent.host))
        stub.wait(lambda: len(stub.receipts) == 2)
        by_order = {receipt["order"]: receipt for receipt in stub.receipts}
        assert by_order["look-1"]["outcome"] == "succeeded"
        assert "cannot be opened" in by_order["order-1"]["reason"]
        assert rig.replaces(agent.host) == []


def test_a_result_that_cannot_be_written_is_settled_when_it_can_and_reports_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr("agents.service.agent.JOURNAL_SECONDS", 0.2)
    agent = Running(tmp_path)
    real, read_only = agent.host.run, threading.Event()

    def run(argv, timeout_seconds):
        ran = real(argv, timeout_seconds)
        if argv[:2] == ("zpool", "replace"):
            agent.agent._journal._db.execute("PRAGMA query_only = ON")
            read_only.set()
        return ran

    agent.host.run = run
    with agent as stub:
        stub.offer(rig.replace_order(agent.host))
        assert read_only.wait(10)
        seen = len(stub.reports)
        agent.agent.ring()
        stub.wait(lambda: len(stub.reports) > seen)
        assert stub.receipts == []
        agent.agent._journal._db.execute("PRAGMA query_only = OFF")
        stub.wait(lambda: stub.receipts)
        assert (stub.receipts[0]["outcome"], stub.receipts[0]["probe"]["result"]) == ("unknown", "did")
        assert len(rig.replaces(agent.host)) == 1


def test_two_copies_of_a_folder_never_run_on_one_node(tmp_path):
    agent = Running(tmp_path)
    copy = rig.agent_folder(tmp_path / "copy", agent.stub.url)
    with agent as stub:
        stub.wait(lambda: stub.asked)
        with pytest.raises(Busy, match="Remove the copy"):
            Agent(agent.host, str(copy), "none", str(agent.folder / "run")).run()
