"""A run leaves the house: the stranger's program finds it intact, and finds every byte that was touched."""

import io
import json
import re
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.management import CommandError, call_command
from django.db import transaction

from agents.portal.wire import canonical
from app.core import job_progress
from app.ledger import bundle as bundles
from app.ledger import keys, notes, verify
from app.ledger.bundle import NoSuchRun, bundle
from app.ledger.forms import LedgerDown
from app.ledger.merkle import Tree, leaf_hash
from app.ledger.models import LedgerEvent

PROGRAM = Path(verify.__file__)


MADE: dict[str, object] = {}  # the zip and its key, made once: most tests below only read them


@pytest.fixture
def exported(request) -> bytes:
    if not MADE:
        request.getfixturevalue("cast")
        MADE.update(zip=bundle("7", "ann"), key=notes.signer().fingerprint)
    return MADE["zip"]


def unzip(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def look(files: dict[str, bytes], pinned: str = "") -> verify.Report:
    report = verify.Report()
    verify.check(files, verify.Pins(pinned), report)
    return report


def program(*arguments, python=(sys.executable,)) -> subprocess.CompletedProcess:
    return subprocess.run([*python, *map(str, arguments)], capture_output=True, text=True, check=False)


def flipped(data: bytes, at: int, bit: int = 1) -> bytes:
    return data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]


def lines(files: dict[str, bytes]) -> list[bytes]:
    return files["events.jsonl"].splitlines(keepends=True)


def test_it_exports_one_run_whole(exported):
    files = unzip(exported)
    report = look(files, MADE["key"])
    assert (report.exit_code, report.tampered, report.incomplete) == (0, [], [])
    assert [b'"type":"run.exported"' in line for line in lines(files)] == [False, False, False, True]
    assert len([name for name in files if name.startswith("blobs/")]) == 2
    assert zipfile.ZipFile(io.BytesIO(exported)).testzip() is None


def test_the_program_checks_the_zip_and_the_unpacked_folder_alone(exported, tmp_path):
    (tmp_path / "run.zip").write_bytes(exported)
    zipfile.ZipFile(io.BytesIO(exported)).extractall(tmp_path / "run")
    key = MADE["key"]
    alone = program(tmp_path / "run" / "verify.py", tmp_path / "run.zip", "--key", key, python=(sys.executable, "-I"))
    assert (alone.returncode, alone.stderr) == (0, "")
    assert "NOT PINNED" not in alone.stdout
    folder = program(tmp_path / "run" / "verify.py", tmp_path / "run")
    assert folder.returncode == 3
    assert "KEY NOT PINNED" in folder.stdout
    assert "INTACT" not in folder.stdout


def test_the_program_asks_openssl_without_cryptography_and_says_so_without_both(exported, tmp_path):
    (tmp_path / "run.zip").write_bytes(exported)
    bare, words = (sys.executable, "-I", "-S"), (PROGRAM, tmp_path / "run.zip", "--key", MADE["key"])
    assert program(*words, python=bare).returncode == 0
    without = subprocess.run([*bare, *map(str, words)], capture_output=True, text=True, check=False, env={"PATH": str(tmp_path)})
    assert without.returncode == 3
    assert "neither the Python package `cryptography` nor `openssl`" in without.stdout
    assert "INTACT" not in without.stdout


@pytest.mark.parametrize("arguments", [("nothing.zip",), ("x", "--key", "short"), ()])
def test_the_program_has_an_exit_code_of_its_own_for_a_wrong_call(arguments):
    assert program(PROGRAM, *arguments).returncode == 64


def test_it_notices_every_byte_of_every_file(exported):
    files = unzip(exported)
    looked = 0
    for name, data in files.items():
        for at in range(0, len(data), 29 if name == "verify.py" else 1):
            for bit in (1, 0x20):  # 0x20 turns a small letter into a capital one
                assert look(files | {name: flipped(data, at, bit)}).exit_code in (1, 2), (name, at)
                looked += 1
    assert looked > 6000


def test_it_notices_every_byte_of_the_zip_itself(exported):
    for at in range(len(exported)):
        if at % 7 == 0 or at > len(exported) - 700:
            report = verify.Report()
            verify.unpack(flipped(exported, at), report)
            assert report.tampered, at


@pytest.mark.parametrize("cut", [0, 1, 100, 5000, -1])
def test_it_notices_a_shortened_zip(exported, cut):
    report = verify.Report()
    verify.check(verify.unpack(exported[:cut], report), verify.Pins(), report)
    assert report.exit_code == 1


@pytest.mark.parametrize("name", ["events.jsonl", "proofs.json", "checkpoint", "keys.json", "verify.py"])
def test_it_misses_each_file(exported, name):
    files = unzip(exported)
    del files[name]
    report = look(files)
    assert report.exit_code == 2
    assert f"{name} is missing" in report.incomplete[0]


def test_it_misses_evidence(exported):
    files = unzip(exported)
    name = next(name for name in files if name.startswith("blobs/"))
    report = look({other: data for other, data in files.items() if other != name})
    assert (report.exit_code, report.tampered) == (2, [])
    assert name in report.incomplete[0]


@pytest.mark.parametrize(
    ("left_out", "named"), [(0, "event 1 of the run is missing"), (1, "event 2"), (2, "event 3"), (3, "not the export")]
)
def test_it_misses_an_event_that_was_left_out_with_its_proof(exported, left_out, named):
    """The honest rest, proofs and all: only the numbering and the closing event can tell."""
    files = unzip(exported)
    proofs = json.loads(files["proofs.json"])
    del proofs["events"][left_out]
    rest = lines(files)
    del rest[left_out]
    report = look(files | {"events.jsonl": b"".join(rest), "proofs.json": canonical(proofs)})
    assert any(named in sentence for sentence in report.incomplete), report.incomplete
    assert report.exit_code


def test_the_checkpoints_of_the_run_come_with_it_and_each_continues_the_last(exported):
    files = unzip(exported)
    assert [name for name in files if name.startswith("checkpoints/")] == ["checkpoints/6"]
    answer = json.loads(files["proofs.json"])
    assert [(proof["from"], proof["to"]) for proof in answer["consistency"]] == [("6", "7")]
    without = {name: data for name, data in files.items() if name != "checkpoints/6"}
    assert "1 checkpoints are there, and 1 proofs" in look(without).incomplete[0]
    renamed = without | {"checkpoints/5": files["checkpoints/6"]}
    assert "checkpoints/5: this is not a signed note" in look(renamed).tampered[0]
    forged = files | {"checkpoints/6": files["checkpoint"].replace(b"\n7\n", b"\n6\n")}
    assert "does not continue" in look(forged).tampered[0]


def test_it_takes_no_foreign_file(exported):
    assert "no export writes" in look(unzip(exported) | {"extra.txt": b""}).tampered[0]
    assert "no event names" in look(unzip(exported) | {f"blobs/{verify.sha256(b'x').hexdigest()}": b"x"}).tampered[0]


def keys_of(signer: notes.Signer) -> dict:
    fields = {"origin": signer.name, "ed25519": signer.public.hex(), "fingerprint": signer.fingerprint, "p256": signer.order.spki.hex()}
    return fields | {"changes": []}


def test_a_forger_with_another_key_is_found_by_the_pin_alone(exported):
    """Somebody makes the whole bundle anew, consistent in itself, under a key of his own. Only the pinned fingerprint tells."""
    files = unzip(exported)
    forger = notes.Signer("slotlight/ledger", Ed25519PrivateKey.generate(), keys.OrderKey(keys.new_order_key()))
    forged, before = [], ""
    for line in lines(files):
        answer = json.loads(line) | {"run_prev": before}
        if answer["type"] == "run.exported":
            answer["body"] |= {"key": forger.fingerprint, "order_key": sha256(forger.order.spki).hexdigest()}
        answer["actor"] = "eve"
        forged.append(canonical(answer))
        before = leaf_hash(forged[-1]).hex()
    leaves = [leaf_hash(body) for body in forged]
    files = {name: data for name, data in files.items() if not name.startswith("checkpoints/")}
    tree = Tree(leaves)
    proofs = [{"seq": str(i + 1), "leaf": leaves[i].hex(), "path": [node.hex() for node in tree.path(i)]} for i in range(len(leaves))]
    files |= {
        "events.jsonl": b"".join(body + b"\n" for body in forged),
        "proofs.json": canonical({"size": str(len(leaves)), "events": proofs, "consistency": []}),
        "checkpoint": forger.checkpoint(len(leaves), tree.root()).encode(),
        "keys.json": canonical(keys_of(forger)),
    }
    assert look(files).exit_code == 3, "nothing else speaks against it, and that is not enough"
    assert "not the pinned" in look(files, MADE["key"]).tampered[0]


def test_a_forger_without_a_key_is_found(exported):
    files = unzip(exported)
    honest = files["checkpoint"].decode()
    assert look(files | {"checkpoint": honest.replace("\n7\n", "\n8\n", 1).encode()}).exit_code == 1
    other = notes.Signer("slotlight/ledger", Ed25519PrivateKey.generate(), keys.OrderKey(keys.new_order_key()))
    assert "another key" in look(files | {"checkpoint": other.checkpoint(7, b"\0" * 32).encode()}).tampered[-1]


def test_a_second_export_tells_of_the_first(cast):
    bundle("7", "ann")
    files = unzip(bundle("7", "bob"))
    assert look(files, notes.signer().fingerprint).exit_code == 0
    assert len(lines(files)) == 5


def test_it_exports_nothing_for_no_run_and_writes_nothing_then(cast):
    with pytest.raises(NoSuchRun):
        bundle("99", "ann")
    assert not bundles.LedgerEvent.objects.filter(run="99").exists()


def test_it_signs_nothing_uncommitted(cast):
    with transaction.atomic(), pytest.raises(cast.LedgerDown, match="outside a transaction"):
        bundle("7", "ann")


def test_an_event_that_is_erased_while_the_bundle_is_made_ends_it_and_is_not_passed_off_as_withheld():
    """The closing event lists what is left out; one that is not in that list cannot go out without its body."""
    erased = LedgerEvent(run_seq=3, leaf=leaf_hash(b"said"), body=None)
    assert json.loads(bundles.line(erased, {leaf_hash(b"said").hex()})) == {"redacted": leaf_hash(b"said").hex(), "run_seq": "3"}
    with pytest.raises(LedgerDown, match="Event 3 of the run was redacted while the bundle was made"):
        bundles.line(erased, set())


def test_the_command_writes_the_bundle(cast, tmp_path, capsys):
    call_command("ledger", "export", "7", "-o", str(tmp_path / "run.zip"))
    call_command("ledger", "key")
    key = capsys.readouterr().out.split()[-1]
    assert verify.verify(tmp_path / "run.zip", verify.Pins(key)).exit_code == 0
    with pytest.raises(CommandError, match="no event of the run 99"):
        call_command("ledger", "export", "99", "-o", str(tmp_path / "no.zip"))


def test_the_command_tells_a_terminal_how_far_it_is_and_a_log_nothing(cast, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(job_progress, "EVERY_SECONDS", 0)
    call_command("ledger", "export", "7", "-o", str(tmp_path / "run.zip"))
    assert capsys.readouterr().err == ""
    terminal = Terminal()
    call_command("ledger", "export", "7", "-o", str(tmp_path / "run.zip"), stderr=terminal)
    assert re.search(r", [0-9]+ of [0-9]+, [0-9]+ %", terminal.getvalue())
    assert terminal.getvalue().endswith("\r\033[K")
    assert "\n" not in terminal.getvalue()


class Terminal(io.StringIO):
    def isatty(self):
        return True
