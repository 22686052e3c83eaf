"""Somebody who may do everything tampers; the walk through the database names it."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.management import call_command

from app.ledger import keys, notes
from app.ledger.audit import audit
from app.ledger.models import LedgerCheckpoint, LedgerHead

FORGED = """'{"actor":"eve","at":"2026-11-21T10:30:00.000000Z","body":{},"evidence":[],"node":"","run":"","run_prev":"","run_seq":"","type":"x","v":"1"}'"""
REWIND = "UPDATE ledger_head SET seq = {0}, link = (SELECT link FROM ledger_chain WHERE seq = {0})"
EDIT = "UPDATE ledger_event SET body = convert_to(replace(convert_from(body, 'UTF8'), 'ann', 'bob'), 'UTF8') WHERE id = 2"
RELEAF = "UPDATE ledger_event SET leaf = sha256('\\x00'::bytea || body)"
# The chain made anew over whatever events are left, as its author would who knows how links are made.
RECHAIN_BY = """DO $$ DECLARE n bigint := 0; l bytea := decode(repeat('00', 32), 'hex'); e record; BEGIN
    DELETE FROM ledger_chain;
    FOR e IN SELECT id, leaf FROM ledger_event ORDER BY {} LOOP
        n := n + 1;
        INSERT INTO ledger_chain VALUES (n, e.id, l, sha256('\\x02'::bytea || l || e.leaf));
        l := sha256('\\x02'::bytea || l || e.leaf);
    END LOOP;
    UPDATE ledger_head SET seq = n, link = l;
END $$"""
RECHAIN = RECHAIN_BY.format("id")
SWAP = (
    "UPDATE ledger_chain SET event_id = -3 WHERE seq = 3",
    "UPDATE ledger_chain SET event_id = 3 WHERE seq = 4",
    "UPDATE ledger_chain SET event_id = 4 WHERE seq = 3",
)
INSERT_EVENT = (
    "INSERT INTO ledger_event (body, leaf, at, actor, type, run, node)"
    f" SELECT body, sha256('\\x00'::bytea || body), '2026-11-21T10:30:00.000000Z', 'eve', 'x', '', '' FROM (SELECT {FORGED}::bytea) AS f (body)"
)

TAMPERINGS = {
    "edit a body": ((EDIT,), "Event 2 was edited"),
    "edit a body and its leaf": ((EDIT, RELEAF), "another event stood here"),
    "edit a body and make leaf, chain and head anew": ((EDIT, RELEAF, RECHAIN), "Merkle root differs"),
    "hide what an event is about": (("UPDATE ledger_event SET identity = 'accounts_user:1' WHERE id = 3",), "Event 3 shows in its columns"),
    "edit a column": (("UPDATE ledger_event SET actor = 'eve' WHERE id = 3",), "Event 3 shows in its columns"),
    "delete in the middle": (
        ("DELETE FROM ledger_chain WHERE seq = 3", "DELETE FROM ledger_event WHERE id = 3"),
        "The chain jumps from event 2 to event 4",
    ),
    "delete in the middle and make the chain anew": (
        ("DELETE FROM ledger_event WHERE id = 3", RECHAIN),
        "signed over 6 events; the chain ends at event 5",
    ),
    "delete the tail": (("DELETE FROM ledger_chain WHERE seq > 4", "DELETE FROM ledger_event WHERE id > 4"), "The head of the ledger is 6"),
    "delete the tail and rewind the head": (
        ("DELETE FROM ledger_chain WHERE seq > 4", "DELETE FROM ledger_event WHERE id > 4", REWIND.format(4)),
        "signed over 6 events",
    ),
    "delete from the chain only": (("DELETE FROM ledger_chain WHERE seq = 6", REWIND.format(5)), "row id 6 is not in the chain"),
    "swap two": (SWAP, "does not hold at event 3"),
    "swap two and make the chain anew": (
        (RECHAIN_BY.format("CASE id WHEN 3 THEN 4 WHEN 4 THEN 3 ELSE id END"),),
        "Merkle root differs",
    ),
    "insert outside the chain": ((INSERT_EVENT,), "is not in the chain"),
    "insert into the chain": ((INSERT_EVENT, RECHAIN_BY.format("CASE actor WHEN 'eve' THEN 0 ELSE id END")), "Merkle root differs"),
    "move the head": (("UPDATE ledger_head SET seq = 7",), "The head of the ledger is 7"),
    "take the head away": (("DELETE FROM ledger_head",), "The head of the ledger is gone"),
    "edit a checkpoint": (("UPDATE ledger_checkpoint SET root = sha256('other')",), "Merkle root differs"),
    "edit a note": (("UPDATE ledger_checkpoint SET note = replace(note, '6', '5')",), "is not signed by the key"),
    "sign again with another key": (("UPDATE ledger_checkpoint SET note = '{resigned}'",), "is not signed by the key"),
    "claim a wrong tree size": (("UPDATE ledger_checkpoint SET size = 5",), "The first 5 events are not the ones that were signed"),
    "claim a tree larger than the ledger": (
        ("UPDATE ledger_checkpoint SET size = 9",),
        "A checkpoint was signed over 9 events; the chain ends at event 6",
    ),
    "forge a proof": (
        ("INSERT INTO ledger_node (level, position, hash) VALUES (4, 0, sha256('x'))",),
        "The node kept over the events 1 to 16 is not theirs",
    ),
    "truncate a blob": (
        ("ALTER TABLE ledger_blob DROP CONSTRAINT ledger_blob_check", "UPDATE ledger_blob SET bytes = substr(bytes, 1, 3), size = 3"),
        "its bytes have another SHA-256",
    ),
    "edit a blob": (
        ("ALTER TABLE ledger_blob DROP CONSTRAINT ledger_blob_check", "UPDATE ledger_blob SET bytes = 'x', size = 1"),
        "its bytes have another SHA-256",
    ),
}


def test_it_finds_nothing_where_nothing_was_done(cast):
    found = audit()
    assert found.tampered == found.incomplete == found.unchecked == []
    assert (found.counts, found.signed) == ({"events": 6, "runs": 2, "checkpoints": 1, "blobs": 2}, 6)


@pytest.mark.parametrize("name", TAMPERINGS)
def test_it_names_what_was_done_to(name, cast, tamper, capsys):
    """By `./run manage ledger verify`, in words."""
    statements, named = TAMPERINGS[name]
    tamper(*(statement.replace("{resigned}", resigned()) for statement in statements))
    with pytest.raises(SystemExit) as ended:
        call_command("ledger", "verify")
    output = capsys.readouterr().out
    assert (ended.value.code, named in output) == (1, True), output
    assert any(named in sentence for sentence in audit().tampered)


def resigned() -> str:
    """The newest checkpoint as somebody with a key of his own would sign it."""
    true = LedgerCheckpoint.objects.get()
    other = notes.Signer(notes.origin(), Ed25519PrivateKey.generate(), keys.OrderKey(keys.new_order_key()))
    return other.checkpoint(true.size, bytes(true.root))


def test_it_misses_evidence_that_was_taken_away(cast, tamper):
    tamper("DELETE FROM ledger_blob")
    found = audit()
    assert (found.exit_code, len(found.incomplete)) == (2, 2)
    assert "event 2 names it" in found.incomplete[0] + found.incomplete[1]


def test_it_sees_a_ledger_signed_with_another_key(cast, settings, tmp_path):
    settings.SLOTLIGHT_LEDGER_KEY = tmp_path / "other.key"
    notes.make_key()
    assert "is not signed by the key" in audit().tampered[0]


def test_it_says_when_signatures_cannot_be_checked(cast):
    notes.key_path().unlink()
    found = audit()
    assert (found.exit_code, len(found.unchecked)) == (3, 1)


def test_it_signs_nothing_on_top_of_a_broken_chain(cast, tamper):
    cast.record("node.seen", {}, "ann")
    tamper("UPDATE ledger_event SET body = 'x' WHERE id = 7")
    with pytest.raises(cast.LedgerDown, match="does not hold at event 7"):
        cast.checkpoint_now()


def test_it_never_makes_a_second_key_for_a_signed_ledger(cast):
    notes.key_path().unlink()
    cast.record("node.seen", {}, "ann")
    with pytest.raises(cast.LedgerDown, match="is gone"):
        cast.checkpoint_now()


def test_it_stops_when_its_key_cannot_be_read(cast):
    notes.key_path().write_text("not a key")
    cast.record("node.seen", {}, "ann")
    with pytest.raises(cast.LedgerDown, match="cannot be used"):
        cast.checkpoint_now()


def test_its_key_is_for_its_owner_alone(cast):
    assert notes.key_path().stat().st_mode & 0o777 == 0o600


def test_the_command_prints_counts_and_ends_with_the_exit_code(cast, tamper, capsys):
    call_command("ledger", "verify")
    assert "6 events, 2 runs, 1 checkpoints, 2 blobs." in capsys.readouterr().out
    tamper(EDIT)
    with pytest.raises(SystemExit) as ended:
        call_command("ledger", "verify")
    assert ended.value.code == 1
    assert "Event 2 was edited" in capsys.readouterr().out
    assert LedgerHead.objects.get().seq == 6
