"""Installing, upgrading, and what the console is told of it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from agents import bell, doctor, install, places, pulse
from agents.crew import BULK_MAX
from agents.host import LocalHost, Ran
from agents.identity import Identity, _write, load
from agents.packaging import zipapp
from agents.status import report_status

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
    (top / places.ZED_FOLDER[1:]).mkdir(parents=True)
    (top / places.FOLDER[1:]).mkdir(parents=True)
    _write(top / places.FOLDER[1:] / "identity.json", Identity("http://127.0.0.1:1", "oss01", b"k" * 32))
    return top


def at(root, path):
    return root / path[1:]


def installed(root, host=None, **said):
    lines: list[str] = []
    arguments = {"portal": "", "node": "", "token": "", "ca_file": ""} | said
    install.install(host or Host(), **arguments, say=lines.append, root=str(root))
    return "\n".join(lines)


def test_it_puts_program_unit_policy_and_bell_in_place_and_starts(one_file, root):
    host = Host()
    said = installed(root, host)
    assert at(root, places.PROGRAM).read_bytes() == one_file.read_bytes()
    assert os.access(at(root, places.PROGRAM), os.X_OK)
    assert f"ExecStart={places.PROGRAM} run" in at(root, places.UNIT).read_text()
    assert f"ExecStart={places.PROGRAM} relay" in at(root, places.RELAY_UNIT).read_text()
    assert json.loads(at(root, places.POLICY).read_text())["mode"] == "observe"
    assert at(root, places.ZED_HOOK).read_text() == bell.hook(places.FOLDER)
    assert [argv[1] for argv in host.ran] == ["daemon-reload", "enable", "restart", "try-restart"]
    assert host.ran[-1][2] == places.ZED_UNIT_NAME  # it looks into its folder only when it starts
    assert "already enrolled as oss01" in said


def test_an_upgrade_keeps_the_policy(one_file, root):
    at(root, places.POLICY).parent.mkdir(parents=True)
    at(root, places.POLICY).write_text('{"mode": "operate"}')
    installed(root)
    host = Host()
    installed(root, host)
    assert "try-restart" not in [argv[1] for argv in host.ran]  # ZED has this hook already
    assert at(root, places.POLICY).read_text() == '{"mode": "operate"}'


def test_a_node_that_is_not_enrolled_needs_the_token(one_file, root):
    (at(root, places.FOLDER) / "identity.json").unlink()
    with pytest.raises(install.CannotInstall, match="--token"):
        installed(root)


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
    folder, config = str(at(root, places.FOLDER)), tmp_path / "agent.json"
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
        install.configured(str(at(root, places.FOLDER)), str(config))
    assert load(str(at(root, places.FOLDER))).portal == "http://127.0.0.1:1"


def test_status_says_that_nothing_runs_and_nothing_was_taken(root):
    lines, well = report_status(str(at(root, places.FOLDER)), str(at(root, places.POLICY)), 1000.0)
    said = "\n".join(lines)
    assert not well
    assert "not running" in said
    assert "none yet" in said
    assert "observe" in said


def test_status_tells_the_last_report_and_why_the_next_was_not_taken(root):
    folder = str(at(root, places.FOLDER))
    pulse.write(folder, pulse.Pulse(900.0, 990.0, "connection refused", 3, ("zdb_label/sda1",)))
    said = "\n".join(report_status(folder, "", 1000.0)[0])
    assert "took one 100 s ago; 3 wait on disk; the last try failed: connection refused" in said
    assert "zdb_label/sda1" in said


def test_the_doctor_names_what_is_missing_and_what_to_do(root):
    found = {finding.about: finding for finding in doctor.examine(Host(), str(at(root, places.FOLDER)), "", which=lambda tool: None)}
    assert found["zpool"].level == "bad"
    assert found["smartctl"].level == "lacks"
    assert "smartmontools" in found["smartctl"].do
    assert found["http://127.0.0.1:1"].level == "bad"  # nobody listens there
    assert all(finding.do for finding in found.values() if finding.level != "ok")


def test_the_doctor_says_who_the_node_is_by_the_same_key_as_the_portal(root):
    folder = str(at(root, places.FOLDER))
    said = [finding.so for finding in doctor.examine(Host(), folder, "") if finding.about == "identity"]
    assert load(folder).key_id in said[0]


def test_root_has_no_network_and_who_has_it_has_nothing_else():
    agent, relay = places.unit("/a"), places.relay_unit("/a")
    assert "PrivateNetwork=yes" in agent
    assert "RestrictAddressFamilies=AF_UNIX\n" in agent
    assert "AF_INET" not in agent
    assert f"run --relay {places.RELAY_SOCKET}" in agent
    assert "RuntimeDirectoryPreserve=yes" in agent  # the session outlives a restart
    assert {"DynamicUser=yes", "CapabilityBoundingSet=", "PrivateDevices=yes", "ProtectSystem=strict"} <= set(relay.splitlines())


def test_the_unit_leaves_the_disks_and_enough_threads_to_whom_the_agent_asks():
    """Seen on a real node: a dozen zdb at once, with 75 to 90 threads each, aborted at TasksMax=256, and no label was read."""
    limits = dict(line.split("=", 1) for line in places.unit("/a").splitlines() if "=" in line)
    assert int(limits["TasksMax"]) > BULK_MAX * 90
    assert int(limits["MemoryHigh"].rstrip("M")) > BULK_MAX * 13
    assert not {"ProtectClock", "PrivateDevices", "DevicePolicy", "DeviceAllow"} & set(limits)


class WithoutOpenssl(Host):
    def run(self, argv, timeout_seconds):
        return Ran(tuple(argv), None, b"", b"", 0.0, "not found") if argv[0] == "openssl" else super().run(argv, timeout_seconds)


def test_the_doctor_says_that_without_openssl_and_without_memory_nothing_is_carried_out(root, tmp_path):
    folder = str(at(root, places.FOLDER))
    found = {finding.about: finding for finding in doctor.examine(WithoutOpenssl(), folder, "", run_folder=str(tmp_path))}
    assert "none that changes anything is taken" in found["openssl"].so
    assert "Install openssl" in found["openssl"].do
    assert "does not lie in memory" in found[str(tmp_path)].so
    assert "enrol --again" in found["portal's keys"].do
