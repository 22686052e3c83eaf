"""Proofs from the kept nodes: the same as from a tree in memory, at every size, and few rows however long the ledger."""

from hashlib import sha256

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.host.host import LocalHost
from agents.trust import transparency_log
from agents.trust.log_witness import FileStore, Witness
from app.ledger import checkpoints, keyring, stored
from app.ledger.audit import audit
from app.ledger.merkle import Tree
from app.ledger.models import LedgerCheckpoint, LedgerEvent


def write(ledger, count: int) -> list[LedgerEvent]:
    return [ledger.record("node.seen", {"turn": turn}, "ann") for turn in range(count)]


@pytest.fixture
def long(ledger):
    """300 events, signed now and then: nodes of 16 and of 256 are kept."""
    events = []
    for count in (1, 2, 13, 1, 40, 200, 43):
        events += write(ledger, count)
        ledger.checkpoint_now()
    return events


def test_it_proves_what_a_tree_in_memory_proves(long):
    leaves = [bytes(event.leaf) for event in long]
    for checkpoint in LedgerCheckpoint.objects.all():
        tree = Tree(leaves[: checkpoint.size])
        assert stored.root_of(checkpoint.size) == tree.root() == bytes(checkpoint.root)
        for index in range(0, checkpoint.size, 7):
            assert stored.inclusion(index, checkpoint.size, leaves[index], tree.root()) == tree.path(index)
    tree = Tree(leaves)
    for old in range(1, 301):
        root = Tree(leaves[:old]).root()
        assert stored.consistency(old, root, 300, tree.root()) == tree.consistency(old)


def test_it_keeps_one_node_for_sixteen_events_and_reads_few(long):
    with connection.cursor() as cursor:
        cursor.execute("SELECT level, count(*) FROM ledger_node GROUP BY level ORDER BY level")
        assert cursor.fetchall() == [(4, 18), (8, 1)]
    with CaptureQueriesContext(
        connection,
    ) as queries:
        stored.hashes(stored.inclusion_spans(5, 300))
    assert len(queries) == 2


def test_nodes_that_are_gone_are_made_again_with_the_next_checkpoint(long, tamper, ledger):
    """An installation from before there were nodes, or one that lost them."""
    tamper("DELETE FROM ledger_node")
    event = write(ledger, 1)[0]
    assert ledger.inclusion(event)["index"] == "300"
    assert stored.root_of(301) == bytes(checkpoints.newest().root)
    assert audit().exit_code == 0


def test_a_false_node_is_named_and_proves_nothing(long, tamper, ledger):
    tamper("UPDATE ledger_node SET hash = sha256('x') WHERE level = 4 AND position = 2")
    assert any("events 33 to 48" in sentence for sentence in audit().tampered)
    with pytest.raises(ledger.LedgerDown, match="not under the signed root"):
        ledger.inclusion(long[0], checkpoints.newest())
    with pytest.raises(ledger.LedgerDown, match="does not continue"):
        ledger.consistency(17, 300)


def test_an_offer_is_what_an_agent_believes(long, ledger, tmp_path):
    """The whole way: portal, signed note, real openssl, witness, proven events."""
    pinned = ledger.public_keys()
    witness = Witness(LocalHost(), FileStore(str(tmp_path / "witness")), pinned["log_key"], pinned["portal_key"])
    first = ledger.log_since(0)
    assert witness.accept(first["checkpoint"], first["consistency"]).outcome == "accepted"
    assert witness.size == 300
    approved = ledger.record("run.approved", {"plan": "ab" * 32}, "bob", run="7", node="oss01")
    sealed = ledger.record("order.sealed", {"order": "1"}, "ann", run="7", node="oss01")
    offered, log = ledger.proofs_and_log([approved, sealed], witness.size)
    assert witness.accept(log["checkpoint"], log["consistency"]).outcome == "accepted"
    assert witness.holds(offered["checkpoint"])
    found = transparency_log.proven(witness.checkpoint(), offered["events"])
    assert [found[bytes(event.leaf).hex()]["type"] for event in (approved, sealed)] == ["run.approved", "order.sealed"]
    assert ledger.proofs_for([approved])["events"] == offered["events"][:1]


def test_a_witness_that_is_up_to_date_is_told_the_same_again(long, ledger):
    assert ledger.log_since(300) == {"checkpoint": checkpoints.newest().note, "consistency": []}


def test_a_witness_that_knows_more_sees_the_smaller_ledger(long, ledger, tmp_path):
    """A portal restored from an older copy cannot hide it."""
    assert ledger.log_since(4000)["checkpoint"] == checkpoints.newest().note


def test_an_empty_ledger_shows_nothing(ledger):
    assert ledger.log_since(0) is None


def test_an_event_of_this_transaction_has_no_proof_yet(ledger):
    from django.db import transaction

    with transaction.atomic():
        event = ledger.record("node.seen", {}, "ann")
        with pytest.raises(ledger.LedgerDown, match="no place in the ledger yet"):
            ledger.inclusion(event)
    assert ledger.inclusion(event)["index"] == "0"


@pytest.mark.parametrize("older", ["restored", "rewritten"])
def test_a_witness_outside_finds_what_the_database_cannot_show(cast, tamper, tmp_path, older):
    """An owner with the keys makes everything anew and consistent. `ledger verify` is content; whoever saw the older checkpoint is not."""
    from app.ledger.tests.test_audit import EDIT, RECHAIN, RELEAF, REWIND

    pinned = cast.public_keys()
    witness = Witness(LocalHost(), FileStore(str(tmp_path / "witness")), pinned["log_key"], pinned["portal_key"])
    witness.accept(**renamed(cast.log_since(0)))
    again = ("DELETE FROM ledger_checkpoint", "DELETE FROM ledger_node")
    if older == "restored":
        tamper("DELETE FROM ledger_chain WHERE seq > 4", "DELETE FROM ledger_event WHERE id > 4", REWIND.format(4), *again)
    else:
        tamper(EDIT, RELEAF, RECHAIN, "UPDATE ledger_head SET prev = (SELECT prev FROM ledger_chain ORDER BY seq DESC LIMIT 1)", *again)
        cast.record("node.seen", {}, "ann")
    cast.checkpoint_now()
    if older == "restored":
        assert audit().exit_code == 0
    verdict = witness.accept(**renamed(cast.log_since(0)))
    assert verdict.outcome == "alarm"
    assert {"restored": "shrank", "rewritten": "does not continue"}[older] in verdict.reason


def renamed(log: dict) -> dict:
    return {"note": log["checkpoint"], "consistency": log["consistency"]}


def test_the_key_of_a_size_is_the_current_one_without_a_change(ledger):
    assert keyring.public_at(5, sha256(b"now").digest()) == sha256(b"now").digest()
