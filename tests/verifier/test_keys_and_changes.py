"""Keys in an export, and the changes of key that its ledger holds; what is wrong is named, in exactly these words."""

import base64
import json
from hashlib import sha256

import pytest

from tests.verifier import export
from tests.verifier.export import ORIGIN, Files, Keys, canonical, make
from tests.verifier.tampering import FILES, SIZE, keys, lines, look, proofs, with_keys


@pytest.mark.parametrize("name", ["ed25519", "fingerprint", "p256", "origin"])
def test_keys_of_another_form_are_named(name):
    for value in ("", "zz", keys()[name].upper(), "x" + keys()[name]):
        report = look(with_keys(lambda keys_file, value=value: keys_file.update({name: value})))
        assert report.tampered == ["keys.json: these are not the keys of this checkpoint as an export writes them."], value


def test_other_keys_than_the_export_names_are_named():
    other = Keys.number(9, 99)
    fields = {"ed25519": other.public.hex(), "fingerprint": other.fingerprint, "p256": other.spki.hex(), "changes": []}
    tampered = look(with_keys(lambda known: known.update(fields))).tampered
    assert tampered[:2] == [
        f"keys.json: the export names another key than {other.fingerprint}, which the bundle brings.",
        "keys.json: the export names another order key than the bundle brings.",
    ]


def change_of(place: int, **changes):
    return lambda keys_file: keys_file["changes"][place].update(changes)


@pytest.mark.parametrize(
    "spoil",
    [
        change_of(0, index="5"),
        change_of(0, index="x"),
        change_of(0, index="04"),
        change_of(0, index=str(SIZE)),
        change_of(0, path=[]),
        change_of(0, path=["zz"]),
        change_of(0, path={}),
        change_of(0, path=None),
        change_of(0, body="x"),
        change_of(0, more=""),
        lambda keys_file: keys_file["changes"].reverse(),
        lambda keys_file: keys_file["changes"].append(keys_file["changes"][1]),
        lambda keys_file: keys_file["changes"].__setitem__(0, None),
        lambda keys_file: keys_file.update(changes={}),
        lambda keys_file: keys_file["changes"].append(
            {"body": lines(FILES)[1].decode().strip(), "index": proofs()["events"][1]["seq"], "path": proofs()["events"][1]["path"]}
        ),
    ],
)
def test_a_change_of_key_that_the_ledger_does_not_hold_is_named(spoil):
    assert look(with_keys(spoil)).tampered == ["keys.json: a change of key is not one that the ledger holds."]


@pytest.mark.parametrize("place", [0, 1])
def test_a_change_of_key_that_is_left_out_is_named(place):
    which, seq = ("order", 5) if place == 0 else ("ledger", 7)
    tampered = look(with_keys(lambda keys_file: keys_file["changes"].pop(place))).tampered
    assert any("signed by another key" in sentence for sentence in tampered), (which, seq, tampered)


def forged_log(**body) -> Files:
    """An export whose ledger does hold a change of key, and the change says something false."""

    files, log = make(("ledger",))
    event = json.loads(log.lines[4])
    event["body"].update(body)
    log.lines[4] = canonical(event)
    log.runs["7"] = [place for place in log.runs["7"] if place < 4]
    del log.lines[5:]
    log.checkpoints = {3: files["checkpoints/3"].decode()}
    closing = {"key": log.keys.fingerprint, "order_key": sha256(log.keys.spki).hexdigest()}
    closing |= {"verifier": sha256(export.PROGRAM).hexdigest(), "withheld": [], "erased": []}
    log.record("run.exported", closing, "7")
    log.sign()
    return export.files_of(log, [])


def test_a_true_change_in_a_shorter_ledger_is_taken():
    """So that the next tests are refused for their own reason."""
    assert look(forged_log()).tampered == []


@pytest.mark.parametrize(
    "body", [{"old": "x"}, {"new": "x"}, {"statement": ""}, {"statement": None}, {"new": Keys.number(8, 8).public.hex()}, {"old": None}]
)
def test_a_change_that_says_something_false_is_named(body):
    assert look(forged_log(**body)).tampered == ["keys.json: a change of key is not one that the ledger holds."]


def test_a_change_from_a_key_that_never_signed_is_named():
    assert (
        "the change of the ledger key in event 5: it is signed by another key than keys.json brings."
        in look(forged_log(old=Keys.number(8, 8).public.hex())).tampered
    )


def test_a_change_that_leads_elsewhere_is_named():
    other = Keys.number(8, 8)
    statement = Keys.number(1, 11).note(f"{ORIGIN}/keys\nledger\n{base64.b64encode(other.public).decode()}\n")
    tampered = look(forged_log(new=other.public.hex(), statement=statement)).tampered
    assert tampered == ["keys.json: the change of the ledger key in event 5 leads to another key."]
