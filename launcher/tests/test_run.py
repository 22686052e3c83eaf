"""./run as somebody types it: from an empty folder to a page and back to nothing, and sentences for what is in the way."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.request
from pathlib import Path

import pytest

from launcher import up
from launcher.up import listen

ROOT = Path(__file__).resolve().parent.parent.parent
RUN = str(ROOT / "run")


@pytest.fixture
def data():
    """A folder that everybody may enter, so that nothing has to move elsewhere when root runs the tests."""
    folder = Path(tempfile.mkdtemp(prefix="slotlight-run-"))
    folder.chmod(0o755)
    yield folder / "var"
    shutil.rmtree(folder)


@pytest.fixture
def environment(data):
    own = {
        name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SECRET_KEY"}
    }
    return own | {"SLOTLIGHT_DATA": str(data), "NO_COLOR": "1"}


def run(environment, *args: str) -> subprocess.CompletedProcess:
    return subprocess.run([RUN, *args], env=environment, capture_output=True, text=True, timeout=90, check=False)


class Launcher:
    """A running ./run; what it says is in `lines`."""

    def __init__(self, environment, *args: str) -> None:
        self.process = subprocess.Popen([RUN, *args], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines: list[str] = []

    def url(self) -> str:
        for line in self.process.stdout:
            self.lines.append(line)
            if found := re.search(r"ready after .* (http://\S+)", line):
                return found[1]
        raise AssertionError("".join(self.lines))

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        self.lines += self.process.communicate(timeout=40)[0].splitlines()
        return self.process.returncode


def test_it_starts_cold_and_warm_serves_and_leaves_nothing_running(environment, data):
    for turn in ("cold", "warm"):
        launcher = Launcher(environment, "--no-demo", "--port", "0")
        url = launcher.url()
        with urllib.request.urlopen(f"{url}healthz") as answer:
            assert answer.read() == b"ok\n", turn
        if turn == "cold":
            assert not _who_knows_the_owner(launcher, data)
            second = run(environment, "--no-demo")
            assert second.returncode == 1
            assert f"Slotlight already runs from {data}" in second.stderr
            shown = run(environment, "manage", "showmigrations", "accounts")
            assert "[X] 0001_initial" in shown.stdout, shown.stderr
        assert launcher.stop() == 0, launcher.lines
        assert not _processes_of(data)
    shown = run(environment, "manage", "showmigrations", "accounts")
    assert "[X] 0001_initial" in shown.stdout, "manage starts the servers when nothing runs"
    assert not _processes_of(data)


def _who_knows_the_owner(launcher: Launcher, data: Path) -> list[str]:
    """The owner's password undoes what the ledger's migration takes away; no process that answers requests may have it."""
    secrets = json.loads((data / "secrets.json").read_text())
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(launcher.process.pid)], capture_output=True, text=True, check=True
    ).stdout.split()
    assert len(children) == 5, "postgres, valkey, web, worker, beat"
    owners = {
        pid: b"".join(Path(f"/proc/{pid}/{name}").read_bytes() for name in ("environ", "cmdline")).decode(errors="replace")
        for pid in children
    }
    return [pid for pid, text in owners.items() if secrets["owner"] in text or secrets["superuser"] in text]


def _processes_of(folder: Path) -> list[str]:
    commands = subprocess.run(["ps", "-eo", "command="], capture_output=True, text=True, check=True).stdout.splitlines()
    return [command for command in commands if str(folder) in command]


def test_a_taken_port_gets_a_sentence(environment):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = run(environment, "--no-demo", "--port", str(port))
    assert done.returncode == 1
    assert done.stderr == f"Port {port} is taken by another program. Choose another with --port {port + 1}, or stop that program.\n"


def test_answers_in_two_pieces_are_not_delayed():
    """Web cannot see that the socket it is given is a TCP one, so the launcher turns Nagle's delay off."""
    with listen("127.0.0.1", 0) as listener:
        assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_demo_is_not_shown_to_others(environment):
    done = run(environment, "--host", "0.0.0.0")
    assert (done.returncode, done.stderr) == (
        1,
        "The demo fleet's sign-ins are for this machine only. Add --no-demo to listen on 0.0.0.0.\n",
    )


def test_a_folder_with_the_demo_is_not_shown_to_others(environment, data):
    made = data / "demo"
    made.mkdir(parents=True)
    (made / "made-for").write_text("1")
    data.chmod(0o755)  # another test may have left a strict umask
    done = run(environment, "--host", "0.0.0.0", "--no-demo")
    assert done.returncode == 1
    assert "holds the demo fleet and its sign-ins" in done.stderr


def test_requests_may_name_this_machine_when_others_are_listened_to(monkeypatch):
    monkeypatch.delenv("SLOTLIGHT_HOSTS", raising=False)
    assert up.hosts("127.0.0.1") == "127.0.0.1,localhost,[::1]"
    assert socket.gethostname() in up.hosts("0.0.0.0").split(",")
    assert "0.0.0.0" not in up.hosts("0.0.0.0")
    assert "[fd00::7]" in up.hosts("fd00::7").split(",")
    monkeypatch.setenv("SLOTLIGHT_HOSTS", "slotlight.example")
    assert up.hosts("0.0.0.0") == "slotlight.example"


def test_help_needs_nothing_and_names_every_command(environment):
    done = run(environment, "help")
    assert done.returncode == 0
    for command in ("./run test", "./run bench", "./run agent", "./run manage", "--no-demo", "--port"):
        assert command in done.stdout


def test_an_unknown_command_gets_a_sentence(environment):
    done = run(environment, "tset")
    assert (done.returncode, done.stderr) == (1, "./run has no command 'tset'. `./run help` lists what it has.\n")
