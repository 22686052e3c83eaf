"""Whoever waits at a terminal sees how far a download is; a script sees nothing; and half a file is no file."""

import io
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Event, Thread

import pytest

from cli import far
from cli.config import Config
from cli.portal import CHUNK, Portal
from cli.problems import DOWN, Trouble

DATA = bytes(range(256)) * (3 * CHUNK // 256)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("through", "of", "line"),
    [
        (0, None, "The bundle is being made, 12 s"),
        (0, 4_000_000, "The bundle is being made, 12 s"),
        (999, None, "The bundle: 999 B"),
        (1_240_000, 4_000_000, "The bundle: 1.2 MB of 4.0 MB, 31 %"),
        (4_000_000, 4_000_000, "The bundle: 4.0 MB of 4.0 MB, 100 %"),
    ],
)
def test_the_line_says_how_much_of_how_much(through, of, line):
    assert far.Far("The bundle", through, of, begun=100.0).line(112.4) == line


def test_at_a_terminal_the_line_stands_while_it_lasts_and_is_gone_then(monkeypatch):
    monkeypatch.setattr(far, "EVERY_SECONDS", 0.01)
    out = Terminal()
    with far.shown("The bundle", out) as far_progress:
        far_progress.through, far_progress.of = 500, 1000
        until = time.monotonic() + 5
        while "500 B of 1 kB, 50 %" not in out.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
    assert "500 B of 1 kB, 50 %" in out.getvalue()
    assert out.getvalue().endswith(far.CLEAR)
    assert "\n" not in out.getvalue()


def test_what_is_no_terminal_is_told_nothing():
    out = io.StringIO()
    with far.shown("The bundle", out) as far_progress:
        far_progress.through = 500
    assert out.getvalue() == ""


class Answers(BaseHTTPRequestHandler):
    size, sends, go = len(DATA), DATA, Event()

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(self.size))
        self.end_headers()
        self.wfile.write(self.sends[:CHUNK])
        self.wfile.flush()
        assert self.go.wait(10)
        self.wfile.write(self.sends[CHUNK:])

    def log_message(self, *_):
        pass


@pytest.fixture
def portal():
    Answers.size, Answers.sends = len(DATA), DATA
    Answers.go = Event()
    server = HTTPServer(("127.0.0.1", 0), Answers)
    Thread(target=server.serve_forever, daemon=True).start()
    yield Portal(Config(f"http://127.0.0.1:{server.server_port}", "token", ""))
    Answers.go.set()
    server.shutdown()
    server.server_close()


def test_a_download_says_its_share_while_the_rest_is_under_way(portal, monkeypatch, capsys):
    monkeypatch.setattr(far, "EVERY_SECONDS", 0.01)
    out = Terminal()
    monkeypatch.setattr("sys.stderr", out)
    found = []
    reader = Thread(target=lambda: found.append(portal.download("runs/7/bundle", "The bundle of run 7")))
    reader.start()
    until = time.monotonic() + 10
    while "33 %" not in out.getvalue() and time.monotonic() < until:
        time.sleep(0.01)
    Answers.go.set()
    reader.join(10)
    assert found == [DATA]
    assert "The bundle of run 7: 66 kB of 197 kB, 33 %" in out.getvalue()
    assert capsys.readouterr().out == ""


def test_a_download_into_a_script_says_nothing(portal, capsys):
    Answers.go.set()
    assert portal.download("runs/7/bundle", "The bundle of run 7") == DATA
    assert capsys.readouterr() == ("", "")


def test_an_answer_that_breaks_off_is_not_taken_for_the_whole(portal):
    Answers.go.set()
    Answers.sends = DATA[:-1]
    with pytest.raises(Trouble) as trouble:
        portal.download("runs/7/bundle", "The bundle of run 7")
    assert trouble.value.code == DOWN
    assert "broke off after 196607 of 196608 bytes" in trouble.value.text
