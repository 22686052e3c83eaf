"""The witness: what continues is kept, what contradicts raises an alarm that only a person ends."""

import json

import pytest

from agents.tests.test_transparency_log import HOST, LEAVES, ROOTS, Signer, WithoutOpenssl, mth, subproof
from agents.trust.log_witness import FileStore, Witness

FORKED = [LEAVES[64], *LEAVES[1:64]]


@pytest.fixture(scope="module")
def signer():
    return Signer()


@pytest.fixture
def store(tmp_path):
    return FileStore(str(tmp_path / "witness.json"))


@pytest.fixture
def witness(signer, store):
    """One that has seen the ledger at 21 events."""
    made = Witness(HOST, store, signer.log_key, signer.portal_key)
    assert made.accept(signer.note(21, ROOTS[21]), []).outcome == "accepted"
    return made


def path(old, new, leaves=LEAVES):
    return [node.hex() for node in subproof(old, leaves[:new])]


def again(signer, store, host=HOST):
    return Witness(host, store, signer.log_key, signer.portal_key)


def test_it_follows_a_ledger_that_grows(witness, signer, store):
    for size in (21, 22, 40, 64):
        assert witness.accept(signer.note(size, ROOTS[size]), path(witness.size, size)).outcome == "accepted"
    assert again(signer, store).size == 64
    assert witness.checkpoint().root == ROOTS[64]
    assert witness.holds(signer.note(64, ROOTS[64]))
    assert not witness.holds(signer.note(64, mth(FORKED)))
    assert not witness.holds(signer.note(40, ROOTS[40]))


CONTRADICTIONS = {
    "shrink": (lambda s: (s.note(20, ROOTS[20]), []), "shrank: it had 21 events and is now signed over 20"),
    "fork at the same size": (lambda s: (s.note(21, mth(FORKED[:21])), []), "two different checkpoints are signed over 21"),
    "rewritten before": (
        lambda s: (s.note(40, mth(FORKED[:40])), path(21, 40, FORKED)),
        "over 40 events does not continue the one over 21",
    ),
    "another path": (lambda s: (s.note(40, ROOTS[40]), path(20, 40)), "does not continue"),
    "no path": (lambda s: (s.note(40, ROOTS[40]), None), "does not continue"),
    "a path of another form": (lambda s: (s.note(40, ROOTS[40]), [1, 2]), "does not continue"),
    "false signature": (lambda s: (s.note(40, ROOTS[40]).replace("\n40\n", "\n41\n"), path(21, 40)), "is false"),
    "another ledger": (lambda s: (s.note(40, ROOTS[40], name="other"), path(21, 40)), "is of the ledger other"),
    "no note": (lambda s: (None, []), "no checkpoint"),
    "not a note": (lambda s: ("hello", []), "not a signed note"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_contradiction_raises_an_alarm_that_outlives_the_agent(name, witness, signer, store):
    make, named = CONTRADICTIONS[name]
    verdict = witness.accept(*make(signer))
    assert verdict.outcome == "alarm"
    assert named in verdict.reason
    assert "witness --accept" in verdict.reason
    later = again(signer, store)
    assert (later.why_observe_only, later.size) == (verdict.reason, 21)
    good = signer.note(40, ROOTS[40])
    assert later.accept(good, path(21, 40)).outcome == "alarm"  # a good one does not make it forget
    assert later.checkpoint() is None
    assert not later.holds(signer.note(21, ROOTS[21]))


def test_both_sides_of_a_fork_are_kept_as_evidence(witness, signer, store):
    fork = signer.note(21, mth(FORKED[:21]))
    witness.accept(fork, [])
    kept = json.loads(store.load())
    assert kept["against"] == fork
    assert "\n21\n" in kept["note"]


def test_a_person_ends_it_and_that_is_remembered(witness, signer, store):
    witness.accept(signer.note(12, ROOTS[12]), [])
    text = again(signer, store).clear("ann", "2026-11-21T10:30:00Z")
    assert "over 12 events" in text
    later = again(signer, store)
    assert (later.why_observe_only, later.size) == ("", 12)
    assert later.held.cleared[0][1] == "ann"
    assert "shrank" in later.held.cleared[0][2]
    assert later.accept(signer.note(40, ROOTS[40]), path(12, 40)).outcome == "accepted"


def test_what_is_not_signed_is_not_believed_even_by_a_person(witness, signer, store):
    witness.accept(signer.note(40, ROOTS[40]).replace("\n40\n", "\n41\n"), [])
    assert "the next checkpoint" in witness.clear("ann", "now")
    assert again(signer, store).size == 0


def test_ending_nothing_changes_nothing(witness):
    assert "No alarm stands" in witness.clear("ann", "now")
    assert witness.size == 21


def test_what_cannot_be_checked_is_neither_kept_nor_an_alarm(witness, signer, store):
    blind = again(signer, store, WithoutOpenssl())
    verdict = blind.accept(signer.note(40, ROOTS[40]), path(21, 40))
    assert verdict.outcome == "unknown"
    assert "not found" in verdict.reason
    assert (blind.size, blind.why_observe_only) == (21, "")


@pytest.mark.parametrize("text", ["x", "[]", "{}", '{"note": 1}', '{"note":"","root":"","alarm":"","against":"","path":[],"cleared":[1]}'])
def test_a_damaged_memory_is_an_alarm_not_a_fresh_start(signer, store, text):
    store.save(text)
    damaged = again(signer, store)
    assert "cannot be read" in damaged.why_observe_only
    assert damaged.accept(signer.note(40, ROOTS[40]), []).outcome == "alarm"
    damaged.clear("ann", "now")
    assert again(signer, store).why_observe_only == ""


def test_a_memory_that_was_edited_is_an_alarm(witness, signer, store):
    store.save(store.load().replace('"size": 21', '"size": 5'))
    assert "does not contain what its own checkpoint signs" in again(signer, store).why_observe_only


@pytest.mark.parametrize("name", ["note", "root", "alarm", "against"])
def test_a_memory_with_something_of_another_kind_is_an_alarm(name, witness, signer, store):
    whole = {"note": "", "size": 0, "root": "", "alarm": "", "against": "", "path": [], "cleared": []}
    store.save(json.dumps(whole))
    assert again(signer, store).why_observe_only == ""
    store.save(json.dumps({**whole, name: 1}))
    assert "not what this agent writes" in again(signer, store).why_observe_only


def test_a_memory_whose_checkpoint_is_none_is_an_alarm(witness, signer, store):
    store.save(json.dumps({**json.loads(store.load()), "note": "x"}))
    assert "cannot be read" in again(signer, store).why_observe_only


def test_every_alarm_that_a_person_ended_is_remembered(witness, signer):
    for size, who in ((12, "ann"), (11, "bob")):
        witness.accept(signer.note(size, ROOTS[size]), [])
        witness.clear(who, "now")
    assert [who for _, who, _ in witness.held.cleared] == ["ann", "bob"]


def test_a_memory_that_cannot_be_read_is_an_alarm(signer, tmp_path):
    (tmp_path / "folder").mkdir()
    assert "cannot be read" in again(signer, FileStore(str(tmp_path / "folder"))).why_observe_only


def test_an_alarm_that_cannot_be_written_still_stands_in_this_process(witness, signer):
    class Full(FileStore):
        def save(self, text):
            raise OSError(28, "No space left on device")

    witness.store = Full(str(witness.store.path))
    with pytest.raises(OSError):
        witness.accept(signer.note(20, ROOTS[20]), [])
    assert "shrank" in witness.why_observe_only
