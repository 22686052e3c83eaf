"""A host without an agent is brought by its archive: the node is there with its age, a refusal says what to do; also without JavaScript."""

import time

import pytest
from playwright.sync_api import expect

from tests.browser.test_pages import faults
from twin import scenarios
from workflows.snapshot.tests import stage


def archive(folder, host: str) -> bytes:
    folder.mkdir()
    node = scenarios.drifted()
    seen, _ = stage.traced(scenarios.host(folder, node, scenarios.Clock()))
    boot_id = f"6d1fb0f0-6a2c-4b7e-9d57-{sum(host.encode()):012d}"
    for path, text in {"/proc/sys/kernel/hostname": host, "/proc/sys/kernel/random/boot_id": boot_id}.items():
        seen.texts[path] = f"{text}\n".encode()
    return stage.archive(seen, at=int(time.time()), host=host, hostid=node.hostid, boot_id=boot_id)


def bring(visitor, data: bytes) -> None:
    visitor.page.goto("/")
    visitor.page.get_by_role("link", name="Bring a host without an agent").first.click()
    expect(visitor.heading("Bring a host without an agent")).to_be_visible()
    visitor.page.get_by_label("Archive or text").set_input_files({"name": "a.slotlight", "mimeType": "application/gzip", "buffer": data})
    visitor.press("Bring it")


@pytest.mark.parametrize(
    ("host", "options"), [("oss07", {}), ("oss08", {"java_script_enabled": False})], ids=["with", "without JavaScript"]
)
def test_a_host_is_brought_and_its_node_is_there(visit, tmp_path, host, options):
    operator = visit("operator", **options)
    bring(operator, archive(tmp_path / "host", host))
    expect(operator.heading(f"Brought of {host}")).to_be_visible()
    expect(operator.page.get_by_text("has no agent: this is how it was at one moment")).to_be_visible()
    if not options:
        assert faults(operator) == []
    operator.page.goto(f"/nodes/{host}/")
    expect(operator.page.get_by_text("no agent, as it was just now")).to_be_visible()
    expect(operator.page.get_by_role("link", name="what was brought")).to_be_visible()
    expect(operator.page.get_by_text("ost_1").first).to_be_visible()


def test_a_host_with_an_agent_is_refused_in_words(visit, tmp_path):
    operator = visit("operator")
    bring(operator, archive(tmp_path / "host", "oss01"))
    expect(operator.page.get_by_role("alert")).to_contain_text("oss01 has an agent, and what that reports is never overridden")
    expect(operator.page.get_by_role("alert")).to_contain_text("Nothing was stored.")
    assert faults(operator) == []
