"""Installing, upgrading, and what the console is told of it."""

from __future__ import annotations

import json
import os
import ssl
import sys
import threading
from pathlib import Path

import pytest

from agents.host import paths
from agents.host.host import LocalHost, Ran
from agents.host.worker_pool import BULK_MAX
from agents.packaging import zipapp
from agents.portal import last_contact, reach, relay
from agents.portal.transport import connector
from agents.service import doctor, install, zed_hook
from agents.service.status import report_status
from agents.tests import rig
from agents.trust.identity import Identity, _write, load

ROOT = Path(__file__).resolve().parents[2]


class Host(LocalHost):
    """This machine, where systemctl only notes what it is told."""

    def __init__(self, systemd: bool = True, code: int = 0) -> None:
        super().__init__()
        self.ran: list[tuple[str, ...]] = []
        self._systemd, self._code = systemd, code

    def run(self, argv, timeout_seconds):
        if argv[0] == "systemctl":
            self.ran.append(tuple(argv))
            return Ran(tuple(argv), self._code, b"", b"unit is masked", 0.0)
        return super().run(argv, timeout_seconds)

    def list(self, pattern):
        if pattern == "/run/systemd/system":
            return (pattern,) if self._systemd else ()
        return super().list(pattern)


@pytest.fixture
def one_file(tmp_path, monkeypatch):
    path = tmp_path / zipapp.NAME
    path.write_bytes(zipapp.content(ROOT))
    monkeypatch.setattr(sys, "argv", [str(path), "install"])
    return path


@pytest.fixture
def root(tmp_path):
    """A node that is enrolled already, with ZED."""
    top = tmp_path / "root"
    (top / paths.ZED_FOLDER[1:]).mkdir(parents=True)
    (top / paths.FOLDER[1:]).mkdir(parents=True)
    _write(top / paths.FOLDER[1:] / "identity.json", Identity("http://127.0.0.1:1", "oss01", b"k" * 32))
    return top


def at(root, path):
    return root / path[1:]


def installed(root, host=None, **fields):
    lines: list[str] = []
    arguments = {"portal": "", "node": "", "token": "", "ca_file": ""} | fields
    install.install(host or Host(), **arguments, write=lines.append, root=str(root))
    return "\n".join(lines)


def test_it_puts_program_unit_policy_and_bell_in_place_and_starts(one_file, root):
    host = Host()
    text = installed(root, host)
    assert at(root, paths.PROGRAM).read_bytes() == one_file.read_bytes()
    assert os.access(at(root, paths.PROGRAM), os.X_OK)
    assert f"ExecStart={paths.PROGRAM} run" in at(root, paths.UNIT).read_text()
    assert f"ExecStart={paths.PROGRAM} relay" in at(root, paths.RELAY_UNIT).read_text()
    assert json.loads(at(root, paths.POLICY).read_text())["mode"] == "observe"
    assert at(root, paths.ZED_HOOK).read_text() == zed_hook.hook(paths.FOLDER)
    assert [argv[1] for argv in host.ran] == ["daemon-reload", "enable", "restart", "try-restart"]
    assert host.ran[-1][2] == paths.ZED_UNIT_NAME  # it looks into its folder only when it starts
    assert "already enrolled as oss01" in text


def test_an_upgrade_keeps_the_policy(one_file, root):
    at(root, paths.POLICY).parent.mkdir(parents=True)
    at(root, paths.POLICY).write_text('{"mode": "operate"}')
    installed(root)
    host = Host()
    installed(root, host)
    assert "try-restart" not in [argv[1] for argv in host.ran]  # ZED has this hook already
    assert at(root, paths.POLICY).read_text() == '{"mode": "operate"}'


def test_a_node_that_is_not_enrolled_needs_the_token(one_file, root):
    (at(root, paths.FOLDER) / "identity.json").unlink()
    with pytest.raises(install.CannotInstall, match="--token"):
        installed(root)


def test_what_the_package_brought_is_not_brought_again(root, monkeypatch):
    """The Debian line of the page enrols as the other one does, and leaves the files to dpkg."""
    program = at(root, paths.DEB_PROGRAM)
    program.parent.mkdir(parents=True)
    program.write_bytes(zipapp.content(ROOT))
    monkeypatch.setattr(sys, "argv", [str(program), "install"])
    host = Host()
    text = installed(root, host)
    assert not at(root, paths.PROGRAM).exists()
    assert not at(root, paths.UNIT).exists()
    assert [argv[1] for argv in host.ran] == ["daemon-reload", "enable", "restart"]
    assert f"`{paths.DEB_PROGRAM} status`" in text


def test_the_guide_removes_every_file_that_was_put_there(one_file, root):
    installed(root)
    kept = (paths.ETC, paths.FOLDER)  # which it names as folders
    put = {f"/{path.relative_to(root)}" for path in root.rglob("*") if path.is_file()}
    guide = (ROOT / "docs/guide/add-a-node.md").read_text()
    words = {word for line in guide.splitlines() if line.startswith("$ sudo rm -f ") for word in line.split()}
    assert {path for path in put if not path.startswith(kept)} <= words
    assert f"`sudo rm -rf {paths.FOLDER} {paths.ETC}`" in guide


def test_a_checkout_does_not_install_itself(root, monkeypatch):
    monkeypatch.setattr(sys, "argv", [__file__])
    with pytest.raises(install.CannotInstall, match="slotlight-agent.pyz"):
        installed(root)


def test_a_service_that_does_not_start_is_said(one_file, root):
    with pytest.raises(install.CannotInstall, match="unit is masked"):
        installed(root, Host(code=1))


def test_without_systemd_it_says_how_to_start(one_file, root):
    assert "systemd does not run here" in installed(root, Host(systemd=False))


def test_the_file_in_etc_moves_the_portal_and_keeps_the_key(root, tmp_path):
    folder, config = str(at(root, paths.FOLDER)), tmp_path / "agent.json"
    config.write_text('{"portal": "https://new.example"}')
    install.configured(folder, str(config))
    assert (load(folder).portal, load(folder).key) == ("https://new.example", b"k" * 32)
    install.configured(folder, str(tmp_path / "none.json"))
    assert load(folder).portal == "https://new.example"


@pytest.mark.parametrize("text", ["", "[]", '{"mode": "operate"}', '{"portal": 1}', '{"portal": "http://elsewhere.example"}'])
def test_a_file_in_etc_that_says_something_else_is_refused(root, tmp_path, text):
    config = tmp_path / "agent.json"
    config.write_text(text)
    with pytest.raises(ValueError):
        install.configured(str(at(root, paths.FOLDER)), str(config))
    assert load(str(at(root, paths.FOLDER))).portal == "http://127.0.0.1:1"


def test_status_says_that_nothing_runs_and_nothing_was_taken(root):
    lines, well = report_status(str(at(root, paths.FOLDER)), str(at(root, paths.POLICY)), 1000.0)
    text = "\n".join(lines)
    assert not well
    assert "not running" in text
    assert "none yet" in text
    assert "observe" in text


def test_status_tells_the_last_report_and_why_the_next_was_not_taken(root):
    folder = str(at(root, paths.FOLDER))
    last_contact.write(folder, last_contact.Pulse(900.0, 990.0, "connection refused", 3, ("zdb_label/sda1",)))
    text = "\n".join(report_status(folder, "", 1000.0)[0])
    assert "took one 100 s ago; 3 wait on disk; the last try failed: connection refused" in text
    assert "zdb_label/sda1" in text


def test_the_doctor_names_what_is_missing_and_what_to_do(root):
    found = {finding.about: finding for finding in doctor.examine(Host(), str(at(root, paths.FOLDER)), "", which=lambda tool: None)}
    assert found["zpool"].level == "bad"
    assert found["smartctl"].level == "lacks"
    assert "smartmontools" in found["smartctl"].do
    assert found["http://127.0.0.1:1"].level == "bad"  # nobody listens there
    assert all(finding.do for finding in found.values() if finding.level != "ok")


def test_the_doctor_says_who_the_node_is_by_the_same_key_as_the_portal(root):
    folder = str(at(root, paths.FOLDER))
    lines = [finding.so for finding in doctor.examine(Host(), folder, "") if finding.about == "identity"]
    assert load(folder).key_id in lines[0]


def test_root_has_no_network_and_who_has_it_has_nothing_else():
    agent, relay = paths.unit("/a"), paths.relay_unit("/a")
    assert "PrivateNetwork=yes" in agent
    assert "RestrictAddressFamilies=AF_UNIX\n" in agent
    assert "AF_INET" not in agent
    assert f"run --relay {paths.RELAY_SOCKET}" in agent
    assert "RuntimeDirectoryPreserve=yes" in agent  # the session outlives a restart
    assert {"DynamicUser=yes", "CapabilityBoundingSet=", "PrivateDevices=yes", "ProtectSystem=strict"} <= set(relay.splitlines())


def test_the_unit_leaves_the_disks_and_enough_threads_to_whom_the_agent_asks():
    """Seen on a real node: a dozen zdb at once, with 75 to 90 threads each, aborted at TasksMax=256, and no label was read."""
    limits = dict(line.split("=", 1) for line in paths.unit("/a").splitlines() if "=" in line)
    assert int(limits["TasksMax"]) > BULK_MAX * 90
    assert int(limits["MemoryHigh"].rstrip("M")) > BULK_MAX * 13
    assert not {"ProtectClock", "PrivateDevices", "DevicePolicy", "DeviceAllow"} & set(limits)


class WithoutOpenssl(Host):
    def run(self, argv, timeout_seconds):
        return Ran(tuple(argv), None, b"", b"", 0.0, "not found") if argv[0] == "openssl" else super().run(argv, timeout_seconds)


def test_the_doctor_says_that_without_openssl_and_without_memory_nothing_is_carried_out(root):
    folder, on_disk = str(at(root, paths.FOLDER)), str(Path(__file__).parent)
    found = {finding.about: finding for finding in doctor.examine(WithoutOpenssl(), folder, "", run_folder=on_disk)}
    assert "none that changes anything is taken" in found["openssl"].so
    assert "Install openssl" in found["openssl"].do
    assert "does not lie in memory" in found[on_disk].so
    assert "enrol --again" in found["portal's keys"].do


@pytest.fixture
def private(tmp_path):
    """A portal whose certificate only its own authority vouches for: (stub, url, certificate)."""
    key, certificate = tmp_path / "key.pem", tmp_path / "site-ca.pem"
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    rig._openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2", *subject)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    stub = rig.StubPortal()
    stub.server.socket = context.wrap_socket(stub.server.socket, server_side=True)
    yield stub, f"https://localhost:{stub.server.server_port}", certificate
    stub.close()


class Starting(Host):
    """systemctl that starts: the relay, in a thread, and an agent whose first report is taken, or is not."""

    def __init__(self, root, reports: bool = True) -> None:
        super().__init__()
        self._root, self._reports = root, reports

    def run(self, argv, timeout_seconds):
        if argv[:2] == ("systemctl", "restart") and paths.UNIT_NAME not in argv:
            path, ready = at(self._root, paths.RELAY_SOCKET), threading.Event()
            path.parent.mkdir(parents=True)
            threading.Thread(target=relay.serve, args=(str(path), connector, ready.set), daemon=True).start()
            ready.wait(5)
        elif argv[:2] == ("systemctl", "restart"):
            taken = self.now() + 1 if self._reports else 0.0
            last_contact.write(
                str(at(self._root, paths.FOLDER)), last_contact.Pulse(taken, self.now(), "" if self._reports else "it was refused")
            )
        return super().run(argv, timeout_seconds)


@pytest.fixture
def bare(tmp_path):
    top = tmp_path / "bare"
    top.mkdir()
    return top


def enrolling(url, ca):
    return {"portal": url, "node": "oss01", "token": "good", "ca_file": ca}


def test_a_private_authority_works_from_a_relative_path_and_through_the_relay(one_file, bare, private, monkeypatch):
    _, url, certificate = private
    monkeypatch.chdir(certificate.parent)
    before = os.umask(0o077)  # as the command line sets it
    text = installed(bare, Starting(bare), **enrolling(url, certificate.name))
    os.umask(before)
    assert "Enrolled, and the first report arrived." in text
    kept = at(bare, paths.CA)
    assert kept.read_bytes() == certificate.read_bytes()
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o644, 0o755), "the relay is nobody"
    assert load(str(at(bare, paths.FOLDER))).ca_file == str(kept)
    assert json.loads(at(bare, paths.CONFIG).read_text())["ca"] == str(kept)


def test_the_token_is_not_spent_where_the_agent_would_not_be_heard(one_file, bare, private):
    stub, url, _ = private
    with pytest.raises(install.CannotInstall, match="through the relay: .*certificate.*The token was not used"):
        installed(bare, Starting(bare), **enrolling(url, ""))
    assert not at(bare, paths.FOLDER).exists()
    assert stub.asked == []


def test_a_file_that_holds_no_certificate_is_refused_before_anything(one_file, bare, tmp_path):
    (tmp_path / "no.pem").write_text("nothing")
    with pytest.raises(ValueError, match="holds no certificates"):
        installed(bare, Starting(bare), **enrolling("https://localhost:1", str(tmp_path / "no.pem")))


def test_it_does_not_call_installed_what_never_reports(one_file, bare, private, monkeypatch):
    _, url, certificate = private
    monkeypatch.setattr(reach, "FIRST_REPORT_SECONDS", 0.5)
    with pytest.raises(install.CannotInstall, match="no report has arrived at the portal: it was refused"):
        installed(bare, Starting(bare, reports=False), **enrolling(url, str(certificate)))


def test_the_doctor_asks_through_the_relay_and_says_whether_a_report_arrived(one_file, bare, private):
    _, url, certificate = private
    installed(bare, Starting(bare), **enrolling(url, str(certificate)))
    folder = str(at(bare, paths.FOLDER))
    found = {one.about: one for one in doctor.examine(Host(), folder, "", root=str(bare))}
    assert "through the relay" in found[url].so
    assert "enrolled, and the first report arrived" in found["reports"].so
    (at(bare, paths.FOLDER) / last_contact.FILE).unlink()
    found = {one.about: one for one in doctor.examine(Host(), folder, "", root=str(bare))}
    assert (found["reports"].level, "No report has ever arrived" in found["reports"].so) == ("bad", True)
