"""The twin's command line runs the real agent: it enrols once, reports, and ends when told to."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading

import pytest

from agents.portal.transport import PortalDown
from agents.tests import rig
from twin import demo, play, rack
from twin.host import TwinHost
from twin.store import Store


@pytest.fixture
def portal():
    portal = rig.StubPortal()
    yield portal
    portal.close()


def start(folder, portal, token="good"):
    (folder / "mds01.token").write_text(token + "\n")
    argv = ["--dir", str(folder), "--node", "mds01", "--portal", portal.url, "--token-file", str(folder / "mds01.token")]
    return subprocess.Popen([sys.executable, "-m", "twin", *argv], stderr=subprocess.PIPE, text=True)


def test_it_reports_the_twin_and_ends_when_told(portal, tmp_path):
    demo.make(tmp_path)
    rig.agent_folder(demo.state_path(tmp_path, "mds01").with_name("agent"), portal.url)
    player = start(tmp_path, portal)
    try:
        portal.wait(lambda: portal.intake.digest)
    finally:
        player.send_signal(signal.SIGTERM)
        _, errors = player.communicate(timeout=10)
    assert player.returncode == 0, errors
    assert portal.intake.about["mode"] == "observe"
    bodies = [json.dumps(body) for report in portal.reports for body in report.get("bodies", {}).values()]
    assert any("mdt_0" in body for body in bodies)


def test_a_node_that_is_to_be_dead_reports_first_and_ends_when_told(portal, tmp_path):
    demo.make(tmp_path)
    with Store(demo.state_path(tmp_path, "mds01")).changing() as node:
        node.off_since = 1.0
    rig.agent_folder(demo.state_path(tmp_path, "mds01").with_name("agent"), portal.url)
    player = start(tmp_path, portal)
    try:
        portal.wait(lambda: portal.intake.digest)
    finally:
        player.send_signal(signal.SIGTERM)
        _, errors = player.communicate(timeout=10)
    assert player.returncode == 0, errors


def test_a_node_without_power_reports_again_once_it_is_switched_on(portal, tmp_path, monkeypatch):
    demo.make(tmp_path)
    state = demo.state_path(tmp_path, "mds01")
    with Store(state).changing() as node:
        node.off_since, before = 1.0, node.boot_id
    host = TwinHost(state)
    monkeypatch.setattr(play, "POWER_PAUSE_SECONDS", 0.01)
    switch = threading.Timer(0.1, lambda: rack.power_on(state))
    switch.start()
    assert play._gets_power_again(host)
    switch.join()
    assert host.view().node.boot_id != before
    with pytest.raises(rack.NotThere, match="mds01 has power"):
        rack.power_on(state)


def test_a_node_whose_cables_are_unplugged_has_neither_disk_nor_pool(tmp_path):
    demo.make(tmp_path)
    state = demo.state_path(tmp_path, "mds01")
    rack.unplug_cables(state)
    seen = rack.describe(state).splitlines()
    assert seen
    assert all(line.endswith(": empty") for line in seen)
    assert Store(state).view().node.pools == []


def test_it_enrols_with_the_token_and_keeps_its_key(portal, tmp_path):
    """The stub knows one key only, so the new one is refused afterwards: what is tested here is that there is one."""
    demo.make(tmp_path)
    home = demo.state_path(tmp_path, "mds01").with_name("agent")
    player = start(tmp_path, portal)
    try:
        assert any("mds01 is enrolled with key" in line for line in player.stderr)
    finally:
        player.send_signal(signal.SIGTERM)
        player.communicate(timeout=10)
    assert json.loads((home / "identity.json").read_text())["node"] == "mds01"


def test_it_follows_the_portal_to_another_port_with_the_same_key(portal, tmp_path):
    demo.make(tmp_path)
    home = demo.state_path(tmp_path, "mds01").with_name("agent")
    rig.agent_folder(home, "http://127.0.0.1:9")
    before = json.loads((home / "identity.json").read_text())
    player = start(tmp_path, portal)
    try:
        portal.wait(lambda: portal.reports)
    finally:
        player.send_signal(signal.SIGTERM)
        player.communicate(timeout=10)
    assert json.loads((home / "identity.json").read_text()) == before | {"portal": portal.url}


def test_it_says_why_when_the_token_is_not_good(portal, tmp_path, monkeypatch):
    demo.make(tmp_path)
    monkeypatch.setattr(play, "ENROL_TRIES", 2)
    monkeypatch.setattr(play, "ENROL_PAUSE_SECONDS", 0.01)
    (tmp_path / "token").write_text("stale")
    with pytest.raises(PortalDown, match="The token is not known"):
        play.play(tmp_path, "mds01", portal.url, str(tmp_path / "token"))
