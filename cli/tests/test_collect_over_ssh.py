"""`slotlight collect` over a real ssh to a real sshd of this machine, run as whoever runs the tests."""

import contextlib
import getpass
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli import commands
from cli.problems import DONE, DOWN
from tests.compose.stack import free_port
from workflows.snapshot import reading

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin")
OF_ROOT = Path("/run/sshd")  # where Debian's sshd lets its child have no rights; a package's service makes it
pytestmark = pytest.mark.skipif(SSHD is None or shutil.which("ssh") is None, reason="There is no sshd here: apt install openssh-server.")
SECONDS = 20


def key(path: Path) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    return path


@pytest.fixture
def sshd(tmp_path) -> Iterator[dict[str, str]]:
    host, mine, port = key(tmp_path / "host"), key(tmp_path / "mine"), free_port()
    known = tmp_path / "known_hosts"
    known.write_text(f"[127.0.0.1]:{port} {host.with_suffix('.pub').read_text()}")
    (tmp_path / "authorized").write_text(mine.with_suffix(".pub").read_text())
    settings = {
        "Port": port, "ListenAddress": "127.0.0.1", "HostKey": host, "AuthorizedKeysFile": tmp_path / "authorized", "PidFile": "none",
        "StrictModes": "no", "UsePAM": "no", "PasswordAuthentication": "no", "PermitRootLogin": "prohibit-password",
    }  # fmt: skip
    (tmp_path / "sshd_config").write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
    made = not OF_ROOT.exists() and getpass.getuser() == "root"
    if made:
        OF_ROOT.mkdir(mode=0o755)
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen([SSHD, "-D", "-e", "-f", str(tmp_path / "sshd_config")], stderr=log)
    try:
        wait_for(port, server, tmp_path / "log")
        base = f"ssh -p {port} -F none -o UserKnownHostsFile={known} -o StrictHostKeyChecking=yes -o IdentitiesOnly=yes -o BatchMode=yes"
        yield {"good": f"{base} -i {mine}", "stranger": f"{base} -i {key(tmp_path / 'stranger')}"}
    finally:
        server.terminate()
        server.wait(SECONDS)
        if made:
            OF_ROOT.rmdir()


def wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and server.poll() is None:
        # Refused while it does not listen yet; what does not come in time is the error below.
        with contextlib.suppress(OSError), contextlib.closing(socket.create_connection(("127.0.0.1", port), 1)):
            return
        time.sleep(0.1)
    raise AssertionError(f"sshd does not answer: {log.read_text()}")


def test_what_comes_over_a_real_ssh_is_a_whole_archive_of_this_host(portal, sshd):
    assert commands.main(["collect", f"{getpass.getuser()}@127.0.0.1", "--ssh", sshd["good"]]) == DONE
    [(_, sent, _, _)] = portal.got
    snapshot = reading.read(sent)
    assert (snapshot.form, snapshot.host) == ("slotlight-collect", socket.gethostname().partition(".")[0])
    assert snapshot.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert {capture.source for capture in snapshot.captures} >= {"zpool_status", "zpool_import", "block"}


def test_a_stranger_is_refused_by_ssh_and_nothing_is_brought(portal, sshd, capsys):
    assert commands.main(["collect", f"{getpass.getuser()}@127.0.0.1", "--ssh", sshd["stranger"]]) == DOWN
    assert "ssh ended with exit code 255" in " ".join(capsys.readouterr().err.split())
    assert not portal.got
