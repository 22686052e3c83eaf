"""Checkpoints that are sent outside, and what shows when they are held against a ledger that was put back or written anew."""

import socket
import socketserver
import threading

import pytest
from django.core.management import CommandError, call_command

from app.ledger import outside, verify
from app.ledger.audit import audit
from app.ledger.bundle import bundle
from app.ledger.models import LedgerCheckpoint, LedgerEvent, LedgerSent


def kept(path) -> outside.Kept:
    return outside.Kept(verify.read_kept(path))


class Relay(socketserver.StreamRequestHandler):
    """As little SMTP as a letter needs."""

    def handle(self):
        self.wfile.write(b"220 relay\r\n")
        for line in self.rfile:
            word = line[:4].upper()
            self.wfile.write({b"DATA": b"354 go on\r\n", b"QUIT": b"221 bye\r\n"}.get(word, b"250 relay\r\n"))
            if word == b"DATA":
                self.server.letters.append(b"".join(iter(self.rfile.readline, b".\r\n")))
                self.wfile.write(b"250 taken\r\n")
            if word == b"QUIT":
                return


@pytest.fixture
def relay():
    with socketserver.TCPServer(("127.0.0.1", 0), Relay) as server:
        server.letters = []
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def listener():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(5)
        yield receiver


def test_it_goes_to_a_file_a_syslog_and_a_mailbox_and_is_a_pin_in_each(cast, settings, tmp_path, relay, listener):
    settings.CHECKPOINTS_TO = (
        f"file://{tmp_path}/kept",
        f"syslog://127.0.0.1:{listener.getsockname()[1]}",
        f"smtp://127.0.0.1:{relay.server_address[1]}/auditor@example.org",
    )
    note = cast.checkpoint_now().note
    call_command("ledger", "send")
    call_command("ledger", "send")
    (tmp_path / "log").write_bytes(listener.recv(4096) + b"\n")
    (tmp_path / "mail").write_bytes(relay.letters[0].replace(b"\r\n", b"\n"))
    assert [checkpoint["size"] for checkpoint in verify.read_kept(tmp_path / "kept")] == [6, 6]
    (tmp_path / "run.zip").write_bytes(bundle("7", "ann"))
    for name in ("kept", "log", "mail"):
        [first, *_] = verify.read_kept(tmp_path / name)
        assert first["text"].decode() in note
        report = verify.verify(tmp_path / "run.zip", verify.Pins(kept=(first,)))
        assert (report.exit_code, report.tampered) == (0, [])
        assert audit(kept(tmp_path / name)).exit_code == 0


def test_an_export_has_the_checkpoint_that_was_sent_last_also_where_the_run_came_later(cast, settings, tmp_path):
    settings.CHECKPOINTS_TO = (f"file://{tmp_path}/kept",)
    sent = cast.checkpoint_now()
    outside.send_out()
    cast.record("run.started", {"pool": "ost_3"}, "ann", run="9", node="oss01")
    cast.checkpoint_now()
    (tmp_path / "run.zip").write_bytes(bundle("9", "ann"))
    report = verify.verify(tmp_path / "run.zip", verify.Pins(kept=tuple(verify.read_kept(tmp_path / "kept"))))
    assert (report.exit_code, report.tampered, report.incomplete) == (0, [], [])
    assert ("kept", f"the checkpoint over {sent.size} events agrees with the bundle's") in report.facts


def test_a_place_that_takes_nothing_is_recorded_without_its_password(cast, settings, tmp_path):
    settings.CHECKPOINTS_TO = (f"file://{tmp_path}/absent/kept", "smtp://me:secret@127.0.0.1:1/a@example.org", "ftp://x/y", "syslog:/x")
    cast.checkpoint_now()
    with pytest.raises(CommandError, match="Not every place has it"):
        call_command("ledger", "send")
    lines = [event.parsed["body"] for event in LedgerEvent.objects.filter(type=outside.NOT_SENT)]
    assert [answer["place"] for answer in lines] == [
        f"file://{tmp_path}/absent/kept", "smtp://127.0.0.1:1/a@example.org", "ftp://x/y", "syslog:/x"]  # fmt: skip
    assert all(body["why"] and "secret" not in body["why"] for body in lines)


def test_a_place_that_takes_nothing_is_an_alarm_until_it_takes_one_again(cast, settings, tmp_path):
    settings.CHECKPOINTS_TO = (f"file://{tmp_path}/absent/kept",)
    newest = cast.checkpoint_now()
    for _ in range(2):
        outside.send_out()
    [row] = LedgerSent.objects.all()
    assert (row.why.startswith("FileNotFoundError"), row.size) == (True, None)
    (tmp_path / "absent").mkdir()
    outside.send_out()
    [row] = LedgerSent.objects.all()
    assert (row.why, row.failing_since, row.size) == ("", None, newest.size)
    settings.CHECKPOINTS_TO = ()
    outside.send_out()
    assert not LedgerSent.objects.exists()


def test_nowhere_to_send_to_is_said(cast, settings):
    settings.CHECKPOINTS_TO = ()
    with pytest.raises(CommandError, match="names no place"):
        call_command("ledger", "send")


def test_an_older_database_and_another_history_show(cast, tmp_path, capsys):
    """What is on file outside is ahead of this ledger, or is not what it says; another ledger's checkpoint is no pin at all."""
    signer = outside.checkpoints.signing_key()
    honest = cast.checkpoint_now()
    for size, root, words in (
        (honest.size, bytes(honest.root), ""),
        (9, b"\1" * 32, "A checkpoint over 9 events was kept elsewhere, and the ledger ends at event 6: an older database was put back"),
        (4, b"\1" * 32, "The first 4 events are not those of the checkpoint that was kept elsewhere"),
    ):
        (tmp_path / "kept").write_text(signer.checkpoint(size, root))
        found = audit(kept(tmp_path / "kept"))
        assert [sentence.startswith(words) for sentence in found.tampered] == ([True] if words else [])
    with pytest.raises(SystemExit) as ended:
        call_command("ledger", "verify", kept=tmp_path / "kept")
    assert ended.value.code == 1
    assert "was kept elsewhere" in capsys.readouterr().out
    bent = LedgerCheckpoint.objects.get(size=honest.size).note.replace("\n6\n", "\n5\n", 1)
    (tmp_path / "kept").write_text(bent)
    assert "is not signed by this ledger's key" in audit(kept(tmp_path / "kept")).tampered[0]
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("ledger", "verify", kept=tmp_path / "absent")
