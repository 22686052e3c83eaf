"""The executor's gates on a twin node: what did not come as it must, for whom it must and when it must never runs."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agents.domain.times import iso
from agents.host.host import Ran
from agents.operations import zpool_replace
from agents.orders import order as orders
from agents.orders.executor import Executor
from agents.orders.journal import Journal
from agents.orders.write_permission import Standing, open_session
from agents.tests import rig
from agents.tests.stage import Portal, Stage
from agents.trust.clock import Clock


@pytest.fixture
def stage(tmp_path):
    stage = Stage(tmp_path)
    yield stage
    stage.journal.close()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"signature": ""}, "is not signed"),
        ({"signature": "AAAA"}, "signature"),
        ({"key": "0" * 16}, "this agent trusts"),
        ({"key": ""}, "this agent trusts"),
        ({"proofs": {}}, "came without proof"),
    ],
)
def test_what_did_not_come_as_the_portal_hands_it_over_never_runs(stage, change, why):
    receipt = stage.take(replace(stage.order(rig.replace_order(stage.host)), **change))
    assert (receipt["outcome"], stage.ran, stage.portal.asked) == ("refused", [], [])
    assert why in receipt["reason"]


def test_an_order_signed_by_a_stranger_never_runs(stage):
    sealed = rig.replace_order(stage.host)
    receipt = stage.take(replace(stage.order(sealed), signature=rig.Keys().sign(sealed[0].encode())))
    assert "The signature is false" in receipt["reason"]
    assert stage.ran == []


def test_a_node_without_openssl_takes_no_order_that_changes_anything(stage):
    real = stage.host.run
    order = stage.order(rig.replace_order(stage.host))
    stage.host.run = lambda argv, s: Ran(tuple(argv), None, b"", b"", 0.0, "not found") if argv[0] == "openssl" else real(argv, s)
    receipt = stage.take(order)
    assert "openssl is not installed on this node" in receipt["reason"]
    assert stage.ran == []
    assert json.loads(stage.executor.pure(orders.read(*rig.look_order("node")))[0])["outcome"] == "succeeded"


def test_an_agent_that_enrolled_before_there_were_keys_only_observes_and_says_what_to_do(stage):
    order = stage.order(rig.replace_order(stage.host))
    stage.standing.identity = replace(stage.standing.identity, portal_key="", log_key="")
    receipt = stage.take(order)
    assert "enrol --again" in receipt["reason"]
    assert (stage.ran, stage.standing.rule().mode) == ([], "observe")


def test_an_order_for_an_earlier_session_never_runs(stage):
    stage.standing._session.renew()
    assert "another session of this node" in stage.do()["reason"]
    assert stage.ran == []


def test_a_copied_disk_in_another_machine_takes_nothing_that_was_sealed_for_the_first(stage):
    """Its tmpfs is another one, and so is its boot."""
    stage.change(lambda node: setattr(node, "boot_id", "another-boot"))
    stage.executor = stage.new_executor()
    assert "another session of this node" in stage.do()["reason"]
    assert stage.ran == []


def test_two_folders_on_one_node_exclude_each_other(stage, tmp_path):
    """The lock stands where every agent of the node looks."""
    other = rig.agent_folder(tmp_path / "other", "http://127.0.0.1:1")
    journal = Journal(str(other / "journal.sqlite"))
    session = open_session(stage.host, os.path.join(stage.folder, "run"), str(other))
    policy_path = str(other / "policy.json")
    standing = Standing(stage.host, rig.identity(), journal, session, str(other), policy_path)
    second = Executor(stage.host, rig.identity(), journal, Portal(), str(other), policy_path, standing)
    late = stage.order(rig.replace_order(stage.host, id="late"))
    stage.portal.on["start"] = lambda: second.handle(late)
    assert stage.do(id="first")["outcome"] == "succeeded"
    assert "Another order for pool" in json.loads(journal.find("late").receipt)["reason"]
    assert len(stage.ran) == 1
    journal.close()


def test_a_ledger_that_forked_stops_what_changes_anything(stage):
    order = stage.order(rig.replace_order(stage.host))
    stage.ledger.bodies[0] = b"another past"
    stage.standing.log.hear(stage.ledger.log(stage.standing.log.size))
    receipt = stage.take(order)
    assert "forked" in receipt["reason"]
    assert (stage.ran, stage.standing.rule().mode) == ([], "observe")


def test_a_checkpoint_that_comes_while_the_order_is_under_way_takes_nothing_from_it(stage):
    def grow():
        stage.ledger.bodies.append(b"something else")
        stage.standing.log.hear(stage.ledger.log(stage.standing.log.size))

    stage.portal.on["claim"] = grow
    assert stage.do()["outcome"] == "succeeded"


def test_a_hold_that_comes_between_claim_and_start_still_stops_it(stage):
    stage.portal.on["start"] = lambda: stage.standing.duplicate("Two sessions take turns.")
    receipt = stage.do()
    assert (receipt["outcome"], stage.ran) == ("refused", [])
    assert "Two machines use this agent's key" in receipt["reason"]


class Portals:
    def __init__(self, stage):
        self.wall, self.steady = stage.host.now(), 500.0
        self.clock = Clock(lambda: self.wall, lambda: self.steady)
        stage.executor._clock = self.clock

    def gives_the_time(self):
        self.clock.take_portal_time(iso(self.wall), self.steady)


def test_a_clock_that_jumps_during_the_handshake_stops_the_order(stage):
    portal = Portals(stage)
    portal.gives_the_time()
    stage.portal.on["start"] = lambda: setattr(portal, "wall", portal.wall + 90)
    receipt = stage.do()
    assert (receipt["outcome"], stage.ran) == ("refused", [])
    assert "jumped 90 s forward" in receipt["reason"]


def test_a_portal_that_never_says_the_time_gets_nothing_run(stage, monkeypatch):
    monkeypatch.setattr("agents.orders.executor.FIRST_TIME_SECONDS", 0.01)
    Portals(stage)
    assert "has not sent the time yet" in stage.do()["reason"]
    assert stage.ran == []


def test_a_clock_set_back_does_not_revive_an_order(stage):
    portal = Portals(stage)
    sealed = rig.replace_order(stage.host, expires_at=iso(portal.wall + 100))
    portal.gives_the_time()
    portal.steady += 200
    portal.wall += 50  # it is set back by 150, and the portal's answer comes before anybody looks
    portal.clock.take_portal_time(iso(portal.wall + 150), portal.steady)
    receipt = stage.do(sealed)
    assert (receipt["outcome"], stage.ran) == ("refused", [])


def test_a_disk_without_room_for_the_end_takes_no_beginning(stage, monkeypatch):
    monkeypatch.setattr("agents.orders.journal.ROOM_BYTES_LEAST", 1 << 62)
    receipt = stage.do()
    assert "is full" in receipt["reason"]
    assert (stage.ran, stage.portal.asked) == ([], [])


def test_a_journal_replaced_under_the_running_agent_stops_it(stage):
    os.rename(os.path.join(stage.folder, "journal.sqlite"), os.path.join(stage.folder, "moved"))
    assert "cannot be reached" in stage.do(id="a")["reason"]
    Path(stage.folder, "journal.sqlite").touch()
    assert "removed or replaced" in stage.do(id="b")["reason"]
    assert stage.ran == []


def test_an_order_from_before_minders_that_was_left_is_probed(stage):
    """Its journal entry names nobody who minds it."""
    text, digest = rig.replace_order(stage.host)
    stage.journal.claim("order-1", digest, text, iso(1), "1", 1)
    stage.journal.intend("order-1", iso(2))
    stage.new_executor().recover()
    assert json.loads(stage.journal.find("order-1").receipt)["probe"]["result"] == "did_not"


def test_a_command_that_somebody_else_is_giving_just_now_is_not_given_too(stage, monkeypatch):
    monkeypatch.setattr("agents.host.running_commands.still_running", lambda host, argv, minder: "4711")
    receipt = stage.do()
    assert "already running as process 4711" in receipt["reason"]
    assert (receipt["outcome"], stage.ran) == ("refused", [])


def test_what_an_operation_does_by_its_own_hand_is_done_once_and_no_command_is_run(stage, monkeypatch):
    done = []

    def perform(host, params):
        done.append(params)
        return Ran(("write", "/sys/x", "1"), 3, b"", b"", 0.1)

    monkeypatch.setattr(zpool_replace, "perform", perform, raising=False)
    monkeypatch.setattr(zpool_replace, "EXITS", (0, 3), raising=False)
    stage.host.words = lambda argv: pytest.fail("nothing is started")
    receipt = stage.do()
    assert (receipt["outcome"], receipt["exit_code"], receipt["probe"]) == ("succeeded", "3", None)
    assert (len(done), stage.ran) == (1, [])


def test_what_changes_while_the_command_is_prepared_still_stops_it(stage, monkeypatch):
    """A process is not started in an instant on a node whose disks stall, so everything is asked again once it stands ready."""
    real = Executor._ready

    @contextmanager
    def slowly(executor, order):
        with real(executor, order) as command:
            stage.standing.duplicate("Two sessions take turns.")
            yield command

    monkeypatch.setattr(Executor, "_ready", slowly)
    receipt = stage.do()
    assert (receipt["outcome"], stage.ran) == ("refused", [])
    assert "Two machines use this agent's key" in receipt["reason"]
