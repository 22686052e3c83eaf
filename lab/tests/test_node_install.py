"""The page's line for a site with an authority of its own, on a node that trusts that authority nowhere else: agent and relay under systemd."""

import re
from pathlib import PurePosixPath

import pytest

from lab.stage import Stage
from lab.visitor import PATIENCE_SECONDS

NODE, DISKS = "oss09", 2
FOLDER = PurePosixPath("/root")  # the relay cannot look into it, so the agent must keep a copy of what lies there
KEPT = "/etc/slotlight/ca.pem"


@pytest.fixture(scope="module")
def stage(portal, boot, request):
    """In place of the lab's own, which makes the whole node trust the authority."""
    stage = Stage(portal, boot(NODE, DISKS), request.config.getoption("--keep"))
    stage.name_the_portal()
    stage.machine.guest.put(str(FOLDER / "ca.pem"), portal.certificate.read_text())
    stage.sh(f"chmod 600 {FOLDER / 'ca.pem'}")
    return stage


def test_the_node_itself_does_not_trust_the_portal(stage, portal):
    assert "certificate" in stage.sh(f"curl -sS {portal.url}/readyz 2>&1", check=False)


def test_the_pages_line_for_a_private_authority_ends_with_the_first_report(stage, portal, ann):
    ann.go("/add-node/")
    ann.press("Make a token", name=NODE)
    line = next(line for line in ann.page.pre if "ca.pem" in line and line.startswith("curl") and ".deb" not in line)
    assert portal.url in line
    output = stage.sh(f"cd {FOLDER} && {line}", seconds=600)
    fingerprint = re.search(r"is enrolled\. Its key is ([0-9a-f]{16})", output)[1]
    assert "Enrolled, and the first report arrived." in output
    ann.until_shows(fingerprint, f"/nodes/{NODE}/agent/")


def test_the_agent_and_its_relay_run_as_services(stage):
    assert stage.sh("systemctl is-active slotlight-agent slotlight-relay").split() == ["active", "active"]


def test_the_agent_goes_on_without_the_file_that_was_given(stage, portal):
    """After a restart the relay has nothing but the agent's own copy."""
    stage.sh(f"rm {FOLDER / 'ca.pem'} && systemctl restart slotlight-relay slotlight-agent")
    assert stage.sh(f"cat {KEPT}").strip() == portal.certificate.read_text().strip()
    stage.sh(f"timeout {PATIENCE_SECONDS:.0f} sh -c 'until slotlight-agent status; do sleep 3; done'", seconds=PATIENCE_SECONDS + 60)
    output = stage.sh("slotlight-agent doctor", check=False)
    assert "bad" not in output.split(), output


def test_another_authority_is_told_by_doctor_and_not_by_silence(stage):
    """As when the site's authority was changed and nobody told the node."""
    made = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=another -days 2 -keyout /dev/null"
    stage.sh(f"cp {KEPT} /root/kept.pem && {made} -out {KEPT} 2>/dev/null && systemctl restart slotlight-relay slotlight-agent")
    output = stage.sh("slotlight-agent doctor", check=False, seconds=300)
    assert "bad" in output.split(), output
    assert "certificate" in output, output
    stage.sh(f"cat /root/kept.pem > {KEPT} && systemctl restart slotlight-relay slotlight-agent")
    stage.sh(f"timeout {PATIENCE_SECONDS:.0f} sh -c 'until slotlight-agent status; do sleep 3; done'", seconds=PATIENCE_SECONDS + 60)
