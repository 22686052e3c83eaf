"""The relay: the agent works through it without a network, and it serves nobody else."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import agents
from agents.portal import relay
from agents.portal.transport import Counter, Portal, PortalDown, connector
from agents.service.agent import Agent
from agents.tests import rig

UNPRIVILEGED_UID = 65534
ROOT = str(Path(agents.__file__).parent.parent)


@pytest.fixture
def stub():
    stub = rig.StubPortal()
    yield stub
    stub.close()


@pytest.fixture
def path(tmp_path):
    """A relay in a thread."""
    path, ready = str(tmp_path / "socket"), threading.Event()
    threading.Thread(target=relay.serve, args=(path, connector, ready.set), daemon=True).start()
    assert ready.wait(5)
    return path


def portal(stub, path, **how):
    numbers = iter(range(1, 1000))
    return Portal(stub.url, rig.KEY, Counter(lambda: next(numbers)), time.time, relay=path, **how)


def test_requests_pass_through_it_and_large_ones_too(stub, path):
    through = portal(stub, path)
    for size in (1, 3_000_000):
        body = {"v": "2", "set": "", "filler": os.urandom(size // 2).hex()}
        assert through.ask("POST", "/agent/v1/reports", body).status == 200
    assert len(stub.reports) == 2
    through.close()


def test_it_says_why_it_cannot_reach_the_portal(path, stub):
    stub.close()
    with pytest.raises(PortalDown, match="refused"):
        portal(stub, path).ask("GET", "/agent/v1/orders", query="wait=1&size=0")


def test_without_a_relay_it_says_what_is_missing(stub, tmp_path):
    with pytest.raises(PortalDown, match="the relay does not run"):
        portal(stub, str(tmp_path / "none")).ask("GET", "/agent/v1/orders", query="wait=1&size=0")


def test_it_goes_to_no_url_that_the_agent_would_not_use(path):
    with pytest.raises(ValueError, match="https"):
        connector("http://portal.example", relay=path)
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(path)
        sock.sendall(b'{"portal": "http://portal.example", "ca": ""}\n')
        assert b"https" in sock.recv(1000)


@pytest.mark.parametrize("line", [b"GET / HTTP/1.1\n", b"{}\n", b"[]\n", b"\n", b"x" * 5000])
def test_what_is_no_opening_line_is_answered_with_a_reason(path, line):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(path)
        sock.sendall(line)
        assert sock.recv(1000) not in (b"", b"ok\n")


def test_it_serves_nobody_but_root_and_itself(path, monkeypatch):
    monkeypatch.setattr(relay, "_peer", lambda sock: 12345)
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(path)
        assert b"only root" in sock.recv(1000)


def test_it_checks_the_portals_certificate(path, tmp_path):
    """TLS ends in the relay: a portal with a certificate that nobody vouches for is none."""
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    rig._openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2", *subject)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as door:
        threading.Thread(target=_answer, args=(door, context), daemon=True).start()
        url = f"https://localhost:{door.getsockname()[1]}"
        with pytest.raises(ConnectionRefusedError, match="certificate verify failed"):
            connector(url, relay=path)(5.0).connect()
        connection = connector(url, str(certificate), relay=path)(5.0)
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"x" * 200_000
        connection.close()


def _answer(door, context):
    while True:
        try:
            raw, _ = door.accept()
        except OSError:
            return
        try:
            with context.wrap_socket(raw, server_side=True) as sock:
                sock.recv(1000)
                sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + b"x" * 200_000)
                sock.recv(1)
        except OSError:
            pass


def test_it_is_an_http_connection_like_any_other(path, stub):
    connection = connector(stub.url, relay=path)(5.0)
    assert isinstance(connection, http.client.HTTPConnection)
    connection.request("GET", "/")
    assert connection.getresponse().status == 401
    connection.close()


def test_an_agent_stops_at_once_while_it_waits_through_the_relay(stub, path, tmp_path):
    folder = rig.agent_folder(tmp_path / "agent", stub.url)
    agent = Agent(rig.twin(tmp_path), str(folder), str(folder / "policy.json"), relay=path)
    thread = threading.Thread(target=agent.run)
    thread.start()
    stub.wait(lambda: "GET /agent/v1/orders" in stub.asked)
    agent.stop()
    thread.join(5)
    assert not thread.is_alive()


AGENT = """
import sys
from agents.__main__ import work
from agents.service.agent import Agent
from twin.host import TwinHost
work(Agent(TwinHost(sys.argv[1]), sys.argv[2], sys.argv[2] + "/policy.json", relay=sys.argv[3]))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become nobody and to give up the network")
def test_root_without_a_network_and_nobody_with_one_carry_out_an_order(stub, tmp_path):
    """As the two units run them: the agent in an empty network namespace, the relay as a user without rights."""
    if subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody make a network namespace")
    host, folder = rig.twin(tmp_path), rig.agent_folder(tmp_path / "agent", stub.url)
    place = Path("/tmp") / f"slotlight-relay-{os.getpid()}"
    place.mkdir(mode=0o700)
    os.chown(place, UNPRIVILEGED_UID, UNPRIVILEGED_UID)
    # The interpreter of a developer may stand where nobody can read, so what is imported late is imported before.
    program = f"import encodings.idna, os, sys; sys.path.insert(0, {ROOT!r}); from agents.portal import relay, transport; os.setgid({UNPRIVILEGED_UID}); os.setuid({UNPRIVILEGED_UID})"
    carrier = subprocess.Popen([sys.executable, "-c", f"{program}; relay.serve(sys.argv[1], transport.connector)", str(place / "socket")])
    worker = subprocess.Popen(
        ["unshare", "--net", sys.executable, "-c", AGENT, str(host.store.path), str(folder), str(place / "socket")], cwd=ROOT
    )
    try:
        stub.offer(rig.replace_order(host))
        stub.wait(lambda: stub.receipts, 60)
        assert stub.receipts[0]["outcome"] == "succeeded", stub.receipts[0]["reason"]
        assert stub.intake.reports
    finally:
        for process in (worker, carrier):
            process.kill()
            process.wait(5)
        (place / "socket").unlink(missing_ok=True)
        place.rmdir()
