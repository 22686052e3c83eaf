"""The stranger's program against an export that our exporter did not write; what is wrong is named, in exactly these words."""

import base64
import json
import sys
from hashlib import sha256

import pytest

from app.ledger import verify
from tests.verifier.export import BLOBS, ORIGIN, Files, Keys, canonical, leaf, make
from tests.verifier.tampering import FILES, LOG, SIZE, lines, look, proofs, with_lines, with_proofs

# --- what is whole
ANY = " (no run was asked for, so any genuine run would do: --run NUMBER holds it to one)"


@pytest.mark.parametrize("rotated", [(), ("ledger",), ("order",), ("ledger", "order"), ("order", "ledger"), ("ledger", "ledger")])
def test_it_takes_what_is_whole_whichever_keys_changed(rotated):
    files, log = make(rotated)
    report = look(files, log.keys.fingerprint)
    assert (report.exit_code, report.tampered, report.incomplete, report.unchecked) == (0, [], [], [])
    assert [name for name, _ in report.facts].count("key changed") == len(rotated)


def test_it_says_what_the_export_holds():
    facts = look(FILES).facts
    assert facts[:2] == [
        ("run", f"7{ANY}"),
        ("events", f"{len(lines(FILES))}, from 2026-11-21T10:30:01.000000Z to 2026-11-21T10:30:{SIZE - 1:02}.000000Z"),
    ]
    assert ("evidence", "2 files") in facts
    assert ("key", LOG.keys.fingerprint) in facts
    root = base64.b64decode(FILES["checkpoint"].splitlines()[2]).hex()
    assert ("checkpoint", f"{ORIGIN}, {SIZE} events, root {root}") in facts
    assert [fact for name, fact in facts if name == "key changed"] == [
        f"the change of the ledger key in event 7, from {Keys.number(1, 11).fingerprint}",
        f"the change of the order key in event 5, from {sha256(Keys.number(1, 11).spki).hexdigest()}",
    ]


def test_it_takes_an_export_with_events_left_out():
    files, log = make(withheld=(1,))
    report = look(files, log.keys.fingerprint)
    assert (report.exit_code, report.tampered) == (0, [])
    assert ("redacted", "event 2 of the run; its leaf stands") in report.facts


def test_evidence_that_is_not_there_is_named_unless_the_export_says_that_it_was_erased():
    gone = sha256(BLOBS[1]).hexdigest()
    whole, _ = make(erased=True)
    for files, expected in ((FILES, [f"blobs/{gone} is missing; event 5 of the run names it as evidence."]), (whole, [])):
        report = look({name: data for name, data in files.items() if name != f"blobs/{gone}"})
        assert (report.tampered, report.incomplete) == ([], expected)
        assert (("redacted", f"the evidence {gone}; the export says so") in report.facts) == (not expected)
    assert not [finding for name, finding in look(whole).facts if name == "redacted"]  # it is there


@pytest.mark.parametrize("number", [1, 3])
def test_it_takes_the_fingerprint_of_any_key_there_was(number):
    assert look(FILES, Keys.number(number, 1).fingerprint).exit_code == 0


def test_it_refuses_a_fingerprint_that_was_never_a_key():
    other = Keys.number(2, 12).fingerprint  # of the two made for the changes, this one never signed
    assert look(FILES, other).tampered == [f"keys.json: the key is {LOG.keys.fingerprint}, not the pinned {other}."]


# --- the nine ways


def without(place: int) -> Files:
    proofs_file, rest = proofs(), lines(FILES)
    del proofs_file["events"][place], rest[place]
    return FILES | {"proofs.json": canonical(proofs_file), "events.jsonl": b"".join(rest)}


def test_an_edit_is_named():
    files = with_lines(lambda rest: rest.__setitem__(1, rest[1].replace(b'"bob"', b'"eve"')))
    assert look(files).tampered == [
        "events.jsonl line 3: event 3 does not follow the event before it.",
        "events.jsonl line 2: the event is not the one that proof 2 is for.",
    ]


def test_a_deletion_in_the_middle_is_named():
    report = look(without(1))
    assert (report.tampered, report.incomplete) == ([], ["events.jsonl line 2: event 2 of the run is missing; event 3 follows."])


def test_a_deleted_tail_is_named():
    report = look(without(len(lines(FILES)) - 1))
    last = len(lines(FILES)) - 1
    assert report.incomplete == [f"events.jsonl: the last event is not the export. Whatever came after event {last} is missing."]
    assert f"checkpoint: it is over {SIZE} events, and the export is event {SIZE - 2} of the ledger, not the last." in report.tampered
    assert "keys.json: the export names another order key than the bundle brings." in report.tampered
    assert not [finding for finding in report.tampered if finding.startswith("verify.py")]  # only the export names a program
    assert f"keys.json: the export names another key than {LOG.keys.fingerprint}, which the bundle brings." in report.tampered


def test_a_swap_is_named():
    def swap(listed):
        listed[0], listed[1] = listed[1], listed[0]

    files = with_lines(swap) | {"proofs.json": with_proofs(lambda proofs_file: swap(proofs_file["events"]))["proofs.json"]}
    report = look(files)
    assert report.tampered == [
        "events.jsonl line 2: event 1 of the run stands where event 3 belongs.",
        "proofs.json: the places in the ledger do not rise with the events.",
    ]
    assert report.incomplete == [
        "events.jsonl line 1: event 1 of the run is missing; event 2 follows.",
        "events.jsonl line 3: event 2 of the run is missing; event 3 follows.",
    ]


def test_an_insertion_is_named():
    event = canonical(json.loads(lines(FILES)[1]) | {"actor": "eve"})
    files = with_lines(lambda rest: rest.insert(2, event + b"\n"))
    report = look(files)
    assert report.tampered[0] == "events.jsonl line 3: event 2 of the run stands where event 3 belongs."
    assert report.incomplete[0] == "proofs.json: 1 events have no proof."
    proof = proofs()["events"][1] | {"leaf": leaf(event).hex()}
    report = look(files | {"proofs.json": with_proofs(lambda proofs_file: proofs_file["events"].insert(2, proof))["proofs.json"]})
    assert "events.jsonl line 3: event 4 of the ledger is not under the root of the checkpoint." in report.tampered
    assert "proofs.json: the places in the ledger do not rise with the events." in report.tampered


def test_a_proof_too_many_is_named():
    report = look(with_proofs(lambda proofs_file: proofs_file["events"].append(proofs_file["events"][-1])))
    assert (report.tampered, report.incomplete) == ([], ["proofs.json: 1 proofs have no event."])


def test_a_truncated_blob_is_named():
    name = next(name for name in FILES if name.startswith("blobs/"))
    assert look(FILES | {name: FILES[name][:-1]}).tampered == [f"{name}: the SHA-256 of the bytes is not the one in the name."]


def test_a_foreign_file_is_named():
    name = f"blobs/{sha256(b'x').hexdigest()}"
    assert look(FILES | {name: b"x"}).tampered == [f"{name}: no event names this evidence."]
    assert look(FILES | {"extra.txt": b"x"}).tampered == ["extra.txt: no export writes such a file."]


def resigned(with_keys: Keys, size: int = SIZE) -> bytes:
    _, _, root, *_ = FILES["checkpoint"].decode().split("\n")
    return with_keys.note(f"{ORIGIN}\n{size}\n{root}\n").encode()


@pytest.mark.parametrize(("ledger", "order"), [(9, 12), (3, 99), (9, 99)])
def test_a_checkpoint_signed_again_is_named(ledger, order):
    files = FILES | {"checkpoint": resigned(Keys.number(ledger, order))}
    assert look(files).tampered == ["checkpoint: it is signed by another key than keys.json brings."]


@pytest.mark.parametrize("line", [4, 5])
def test_one_false_signature_of_the_two_is_named(line):
    rest = FILES["checkpoint"].decode().split("\n")
    head, _, signature = rest[line].rpartition(" ")
    raw = bytearray(base64.b64decode(signature))
    raw[-1] ^= 1
    rest[line] = f"{head} {base64.b64encode(raw).decode()}"
    assert look(FILES | {"checkpoint": "\n".join(rest).encode()}).tampered == [
        "checkpoint: the signature is not one of this key over this text."
    ]


def test_a_signature_more_or_less_is_named():
    rest = FILES["checkpoint"].decode().split("\n")
    for some in ([*rest[:5], ""], [*rest[:6], rest[5], ""]):
        assert look(FILES | {"checkpoint": "\n".join(some).encode()}).tampered == [
            "checkpoint: it is signed by another key than keys.json brings."
        ]


def test_a_wrong_tree_size_is_named():
    report = look(with_proofs(lambda proofs_file: proofs_file.update(size=str(SIZE + 1))))
    assert report.tampered == [f"proofs.json: the proofs are for a tree of {SIZE + 1} events, the checkpoint is over {SIZE}."]
    report = look(FILES | {"checkpoint": resigned(LOG.keys, SIZE + 1)})
    assert f"checkpoint: it is over {SIZE + 1} events, and the export is event {SIZE} of the ledger, not the last." in report.tampered
    assert f"The checkpoint over {SIZE + 1} events does not continue the one over {SIZE - 2}." in report.tampered


def bent(path: list[str]) -> None:
    path[0] = sha256(path[0].encode()).hexdigest()


@pytest.mark.parametrize("place", range(len(proofs()["events"])))
def test_a_forged_proof_is_named(place):
    seq = proofs()["events"][place]["seq"]
    report = look(with_proofs(lambda proofs_file: bent(proofs_file["events"][place]["path"])))
    assert report.tampered == [f"events.jsonl line {place + 1}: event {seq} of the ledger is not under the root of the checkpoint."]


@pytest.mark.parametrize("place", range(len(proofs()["consistency"])))
def test_a_forged_continuation_is_named(place):
    proof = proofs()["consistency"][place]
    report = look(with_proofs(lambda proofs_file: bent(proofs_file["consistency"][place]["path"])))
    assert report.tampered == [f"The checkpoint over {proof['to']} events does not continue the one over {proof['from']}."]


@pytest.mark.parametrize("name", ["from", "to"])
def test_a_continuation_of_another_size_is_named(name):
    report = look(with_proofs(lambda proofs_file: proofs_file["consistency"][0].update({name: "2"})))
    assert len(report.tampered) == 1
    assert "does not continue" in report.tampered[0]


@pytest.mark.parametrize(
    "bad", [None, [], {"seq": "2"}, {"seq": "2", "leaf": "00", "path": {}}, {"seq": "2", "leaf": "00", "path": [], "x": ""}]
)
def test_what_is_no_proof_is_named(bad):
    assert (
        "proofs.json proof 1: this is not a proof as an export writes it."
        in look(with_proofs(lambda s: s["events"].__setitem__(0, bad))).tampered
    )
    files = with_proofs(lambda proofs_file: proofs_file["consistency"].__setitem__(0, bad))
    assert "proofs.json: this is not a proof of consistency as an export writes it." in look(files).tampered


@pytest.mark.parametrize("bad", [{"events": {}}, {"consistency": {}}, {"more": ""}, {"size": 13}])
def test_what_is_no_list_of_proofs_is_named(bad):
    report = look(with_proofs(lambda proofs_file: proofs_file.update(bad)))
    assert report.exit_code == 1
    if bad != {"size": 13}:
        assert report.tampered == ["proofs.json: this is not a list of proofs as an export writes it."]


def test_a_missing_checkpoint_is_named():
    gone = next(name for name in FILES if name.startswith("checkpoints/"))
    report = look({name: data for name, data in FILES.items() if name != gone})
    count = len(proofs()["consistency"])
    assert report.incomplete == [f"proofs.json: {count} checkpoints are there, and {count} proofs that one continues another."]


# --- every byte, every file


@pytest.mark.parametrize("name", FILES)
def test_every_byte_is_noticed(name):
    data = FILES[name]
    for at in range(0, len(data), 211 if name == "verify.py" else 7):
        for bit in (1, 0x20):
            touched = data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]
            assert look(FILES | {name: touched}).exit_code in (1, 2), (name, at)


@pytest.mark.parametrize("name", verify.FILES)
def test_a_missing_file_is_named(name):
    report = look({other: data for other, data in FILES.items() if other != name})
    assert (report.exit_code, report.tampered, report.incomplete[0]) == (2, [], f"{name} is missing.")


def test_another_program_is_named():
    assert look(FILES | {"verify.py": b"print('INTACT.')"}).tampered == [
        "verify.py: this is not the program that was exported. Check the bundle with a copy from elsewhere."
    ]


@pytest.mark.parametrize("cut", [0, 10])
def test_events_without_end_are_named(cut):
    data = FILES["events.jsonl"]
    report = look(FILES | {"events.jsonl": data[:-1] if cut else b""})
    assert report.exit_code in (1, 2)
    assert (report.tampered or report.incomplete)[0] in ("events.jsonl: the last line has no end.", "events.jsonl: there is no event.")


@pytest.mark.parametrize(
    "change",
    [
        {"v": "2"},
        {"body": []},
        {"evidence": ["x"]},
        {"evidence": {}},
        {"evidence": None},
        {"evidence": ["ab" * 32, "ab" * 32]},
        {"actor": 1},
        {"more": ""},
    ],
)
def test_a_line_that_is_no_event_is_named(change):
    event = canonical(json.loads(lines(FILES)[1]) | change) + b"\n"
    assert look(with_lines(lambda rest: rest.__setitem__(1, event))).tampered == [
        "events.jsonl line 2: this is not an event as the ledger writes it."
    ]


def test_an_event_of_another_run_is_named():
    event = canonical(json.loads(lines(FILES)[1]) | {"run": "8"}) + b"\n"
    assert look(with_lines(lambda rest: rest.__setitem__(1, event))).tampered[0] == "events.jsonl line 2: the event belongs to the run 8."


def test_an_event_taken_out_after_the_export_is_named():
    out = canonical({"redacted": proofs()["events"][1]["leaf"], "run_seq": "2"}) + b"\n"
    assert look(with_lines(lambda rest: rest.__setitem__(1, out))).incomplete == [
        "events.jsonl: other events are redacted than the export lists. They were taken out after it."
    ]


@pytest.mark.parametrize("bad", [{"redacted": "zz", "run_seq": "2"}, {"redacted": "ab" * 32, "run_seq": "0"}, {"redacted": "ab" * 32}])
def test_what_stands_for_no_event_is_named(bad):
    out = canonical(bad) + b"\n"
    assert "this is not an event" in look(with_lines(lambda rest: rest.__setitem__(1, out))).tampered[0]


@pytest.mark.parametrize(
    "note",
    [
        b"",
        b"x\n",
        b"a\nb\n\n",
        b"o\n5\nAAAA\n\n\xe2\x80\x94 o AAAAAAAA\n",
        b"o\n0\n" + base64.b64encode(bytes(32)) + b"\n\n\xe2\x80\x94 o AAAAAAAA\n",
    ],
)
def test_what_is_no_checkpoint_is_named(note):
    assert look(FILES | {"checkpoint": note}).tampered == ["checkpoint: this is not a signed note as an export writes it."]


@pytest.mark.parametrize(("size", "is_one"), [(4, False), (5, True)])
def test_a_signature_is_a_key_id_and_something_signed(size, is_one):
    text = base64.b64encode(bytes(size)).decode()
    assert bool(verify.read_note(f"o\n\n\u2014 o {text}\n")) == is_one


def test_an_order_key_of_another_kind_is_named():
    """A small RSA key is as long as one on P-256, and is asked for its signature in another way."""
    rsa = bytes.fromhex("305c300d06092a864886f70d0101010500034b003048024100") + b"\xc1" * 64 + bytes.fromhex("0203010001")
    text, ids = f"{ORIGIN}\n", [line.split() for line in LOG.keys.note(f"{ORIGIN}\n").splitlines()[-2:]]
    ed25519 = base64.b64decode(ids[0][2])
    signatures = [(ORIGIN, ed25519), (f"{ORIGIN}/p256", sha256(rsa).digest()[:4] + b"x")]
    report = verify.Report()
    note = {"text": text.encode(), "signatures": signatures}
    assert verify.spki_of(rsa.hex()) == rsa
    verify.check_signatures("checkpoint", ORIGIN, {"ledger": LOG.keys.public, "order": rsa}, note, report)
    assert report.tampered == ["checkpoint: the signature is not one of this key over this text."]


def test_a_proof_for_a_tree_of_another_height_proves_nothing():
    """Even if the root is that of the lower tree: the size is what the checkpoint says."""
    leaves = [leaf(bytes([number])) for number in range(4)]
    pair = verify.node(leaves[0], leaves[1])
    assert verify.climbs(leaves[0], 0, 2, [leaves[1]], pair)
    assert not verify.climbs(leaves[0], 0, 3, [leaves[1]], pair)
    assert not verify.follows({"size": 1, "root": leaves[0]}, {"size": 3, "root": pair}, [leaves[1]])


def test_a_continuation_without_a_path_proves_nothing():
    assert not verify.follows({"size": 3, "root": bytes(32)}, {"size": 4, "root": bytes(32)}, [])


def test_of_a_run_that_is_all_withheld_nothing_is_made_up():
    out = canonical({"redacted": proofs()["events"][0]["leaf"], "run_seq": "1"}) + b"\n"
    assert look(FILES | {"events.jsonl": out}).facts[:2] == [("run", f"unknown{ANY}"), ("events", "1, from unknown to unknown")]


def test_an_older_checkpoint_under_another_name_or_origin_or_size_is_named():
    data = FILES["checkpoints/3"]
    assert look(FILES | {"checkpoints/4": data}).tampered == ["checkpoints/4: this is not a signed note as an export writes it."]
    assert look(FILES | {"checkpoints/3": data.replace(ORIGIN.encode(), b"other/ledger", 1)}).tampered == [
        "checkpoints: this is not a signed note as an export writes it."
    ]
    assert look(FILES | {f"checkpoints/{SIZE}": FILES["checkpoint"]}).tampered == [
        "checkpoints: this is not a signed note as an export writes it."
    ]


# --- without a signature, as a zip, on the command line


def without_cryptography(monkeypatch, path: str | None = None) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    if path is not None:
        monkeypatch.setenv("PATH", path)


def test_without_cryptography_openssl_checks_the_same(monkeypatch):
    without_cryptography(monkeypatch)
    report = look(FILES, LOG.keys.fingerprint)
    assert (report.exit_code, report.tampered, report.unchecked) == (0, [], [])
    text, _, lines_below = FILES["checkpoint"].decode().partition("\n\n")
    first, second = lines_below.splitlines()
    for line, other in ((first, second), (second, first)):
        raw = bytearray(base64.b64decode(line.split(" ")[2]))
        raw[-1] ^= 1
        bent = f"{line.rsplit(' ', 1)[0]} {base64.b64encode(raw).decode()}"
        both = f"{bent}\n{other}\n" if line is first else f"{other}\n{bent}\n"
        report = look(FILES | {"checkpoint": f"{text}\n\n{both}".encode()}, LOG.keys.fingerprint)
        assert report.tampered == ["checkpoint: the signature is not one of this key over this text."]


def test_without_cryptography_and_openssl_it_says_so(monkeypatch, tmp_path):
    without_cryptography(monkeypatch, str(tmp_path))
    report = look(FILES, LOG.keys.fingerprint)
    assert (report.exit_code, report.tampered, report.incomplete) == (3, [], [])
    assert report.unchecked[-1].startswith("checkpoint: the ecdsa signature is not checked, neither the Python package `cryptography` nor")
    assert len(report.unchecked) == 2 * (2 + len(proofs()["consistency"]) + 1)


def test_an_openssl_that_knows_no_ed25519_establishes_nothing(monkeypatch, tmp_path):
    (tmp_path / "openssl").write_text(
        '#!/bin/sh\n[ "$1" = dgst ] && echo "Verified OK" && exit 0\necho "unknown option -rawin" >&2\nexit 1\n'
    )
    (tmp_path / "openssl").chmod(0o755)
    without_cryptography(monkeypatch, f"{tmp_path}:/bin:/usr/bin")
    report = look(FILES, LOG.keys.fingerprint)
    assert (report.exit_code, report.tampered) == (3, [])
    assert "Ed25519 needs OpenSSL 3" in report.unchecked[0]


def test_what_is_wrong_weighs_more_than_what_is_missing_and_that_more_than_what_is_unchecked():
    report = verify.Report()
    assert report.exit_code == 3, "nothing is pinned"
    report.pinned = True
    assert report.exit_code == 0
    for listed, code in ((report.unchecked, 3), (report.incomplete, 2), (report.broken, 1)):
        listed.append("x")
        assert report.exit_code == code
    report.broken.clear()
    report.tampered.append("x")
    assert report.exit_code == 1


ZIP = verify.pack(list(FILES.items()))


def test_a_zip_is_read_as_it_was_written():
    report = verify.Report()
    assert verify.unpack(ZIP, report) == FILES
    assert report.tampered == []


def test_a_zip_that_was_packed_otherwise_is_named():
    report = verify.Report()
    verify.unpack(ZIP + b"x", report)
    assert report.tampered == ["The zip is not byte for byte the one exported. If it was repacked, unpack it and check the folder."]
    report = verify.Report()
    verify.unpack(verify.pack([*FILES.items(), ("checkpoint", FILES["checkpoint"])]), report)
    assert report.tampered == ["The zip holds two files of one name."]
    report = verify.Report()
    at = ZIP.index(FILES["events.jsonl"])
    verify.unpack(ZIP[:at] + b"[" + ZIP[at + 1 :], report)
    assert report.tampered[0] == "events.jsonl: the bytes are not those that were exported."


@pytest.mark.parametrize("length", range(0, 64))
def test_the_beginning_of_a_zip_is_named(length):
    report = verify.Report()
    verify.unpack(ZIP[:length], report)
    assert report.tampered


def test_the_command_line(tmp_path, capsys):
    (tmp_path / "run.zip").write_bytes(ZIP)
    assert verify.main([str(tmp_path / "run.zip"), "--key", LOG.keys.fingerprint.upper()]) == 0
    output = capsys.readouterr().out
    assert "INTACT. The bundle holds the whole run" in output
    assert "NOT PINNED" not in output
    assert ANY in output
    verify.main([str(tmp_path / "run.zip"), "--run", "7"])
    assert ANY not in capsys.readouterr().out
    assert verify.main([str(tmp_path / "run.zip"), "--key", "ab" * 32]) == 1
    assert "not the pinned abab" in capsys.readouterr().out
    for name, data in FILES.items():
        (tmp_path / "run" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "run" / name).write_bytes(data)
    (tmp_path / "run" / "notes.txt").write_text("of the reader")
    assert verify.main([str(tmp_path / "run")]) == 3
    output = capsys.readouterr().out
    assert "KEY NOT PINNED" in output
    assert "INTACT" not in output
    (tmp_path / "run" / "checkpoint").unlink()
    assert verify.main([str(tmp_path / "run")]) == 2
    output = capsys.readouterr().out
    assert "INCOMPLETE  checkpoint is missing." in output
    assert verify.main([str(tmp_path / "nothing.zip")]) == 64
    for wrong in ([], ["x", "--key", "short"]):
        with pytest.raises(SystemExit) as ended:
            verify.main(wrong)
        assert ended.value.code == 64


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), ("13", 13), ("0", 0), ("", 0), ("01", 0), ("-1", 0), ("1x", 0), (1, 0), ("9" * 18, 10**18 - 1), ("9" * 19, 0)],
)
def test_a_number_is_written_in_one_way(text, value):
    assert verify.number(text) == value


@pytest.mark.parametrize("text", ["====", "AAA", "AA==\n", "AB==", "é"])
def test_base64_is_written_in_one_way(text):
    assert verify.unbase64(text) is None


@pytest.mark.parametrize("raw", [b'{"a":1}', b'{"a": "1"}', b'{"a":"1","b":""}', b"[]", b"\xff", b'{"b":"1"}'])
def test_json_is_read_in_its_canonical_form_only(raw):
    found = verify.read_json(raw, {"a"})
    assert found == ({"a": 1} if raw == b'{"a":1}' else None)
