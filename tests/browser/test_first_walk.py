"""The first walk of README.md, step by step as it stands there: names, links and the command are read from its text."""

import re
import shlex
import subprocess

import pytest
from playwright.sync_api import expect

from tests.browser.people import Visitor
from tests.browser.stack import ROOT
from tests.browser.test_incident import PATIENCE

WALK = re.search(r"^## A first walk\n(.*?)^## ", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)[1]
TEXT = " ".join(WALK.split())


def text_of(pattern: str) -> str:
    """What README.md names at this place of the walk."""
    found = re.search(pattern, TEXT)
    assert found, f"README.md tells the first walk in other words: {pattern!r} is not there"
    return found[1]


@pytest.fixture(scope="module")
def operator(visit):
    return visit(text_of(r"sign in as `(\w+)`, and open"))


def test_the_situation_stands_in_the_list_and_says_what_the_text_says(operator):
    operator.page.goto("/")
    region = operator.page.get_by_role("region", name=text_of(r"in the list \*([^*]+)\*"))
    region.get_by_role("link", name=text_of(r"and open “([^”]+)”")).click()
    expect(operator.heading("What it means")).to_be_visible()
    for name in re.findall(r"`([^`]+)`", text_of(r"wherever it stands there: (.+?), healthy disk today")):
        expect(operator.page.get_by_role("main")).to_contain_text(name)


def test_the_rehearsal_plays_the_whole_answer_and_leads_on_to_the_run(operator):
    operator.press(text_of(r"“([^”]+)” plays the whole answer on a twin first"))
    blank(operator).check()
    operator.press("Go on with the rehearsal")
    expect(operator.page.get_by_text("The run would come to its end.")).to_be_visible(timeout=PATIENCE)
    assert text_of("(its page leads on to the real run)")
    operator.press("Begin the run")
    operator.step("Choose the new disk")


def blank(visitor: Visitor):
    """The disk to choose, of those that are offered; the page says of it that it carries nothing."""
    assert text_of("(Choose the blank disk)")
    return visitor.page.locator("label.sl-option.fit input").first


def test_disks_of_the_pool_are_refused_with_the_vdev_they_belong_to(operator):
    for disk in (text_of(r"try to choose `(\w+)` or"), text_of(r"try to choose `\w+` or `(\w+)`")):
        operator.take(disk)
        refused = operator.refusal("is already member")
        expect(refused).to_contain_text(f"{disk} (naa:")
        expect(refused).to_contain_text(re.compile(r"member \d+ of ost_0"))
        assert text_of("(both are refused, with the vdev they belong to)")


def test_the_node_plans_and_the_confirmation_is_read_off_the_plan(operator):
    blank(operator).check()
    operator.press("Take this disk")
    operator.step("Check pool, lost member and new disk")
    operator.press("Check now")
    operator.step("Have the node plan it")
    assert text_of("(let the node plan it, type the confirmation)")
    operator.press("Ask the node for its plan")
    step = operator.step("Confirm what is replaced")
    guid = step.locator("#plan .sl-side.out dt:text-is('Vdev guid') + dd").inner_text().strip()
    operator.page.get_by_label("Confirmation").fill(f"{guid[-6:]} ost_0")
    operator.press("Confirm")
    operator.step("Have another person approve the plan")


def test_another_person_approves_the_command_runs_and_the_resilver_is_watched(operator, visit):
    approver = visit(text_of(r"sign in as `(\w+)` in another browser and approve"))
    approver.page.goto(operator.page.url)
    approver.step("Have another person approve the plan")
    approver.press("Approve this plan")
    operator.step("Replace the disk")
    assert text_of("(run the command; watch the resilver)")
    operator.press("Replace the disk")
    operator.step("Wait for the resilver")
    expect(operator.page.get_by_role("progressbar")).to_be_visible()
    expect(operator.page.locator(".sl-head .sl-state")).to_have_text("done", timeout=PATIENCE)


def test_the_audit_trail_is_checked_with_the_command_that_stands_there(operator, stack, tmp_path):
    argv = shlex.split(text_of(r"``` (python3 .+?) ```"))
    with operator.page.expect_download() as come:
        operator.page.get_by_role("link", name="Audit trail (zip)").click()
    name = come.value.suggested_filename
    assert name in argv, f"the portal calls the zip {name}"
    come.value.save_as(tmp_path / name)
    operator.page.goto("/")
    operator.page.get_by_role("link", name=text_of(r"fingerprint stands on the page \*([^*]+)\*")).click()
    key = operator.page.locator("#ledger-key code[data-copy]").inner_text().strip()
    assert key in stack.manage(*text_of(r"`./run manage ([^`]+)` prints it").split())
    argv[argv.index(name)] = str(tmp_path / name)
    argv[argv.index("FINGERPRINT")] = key
    pinned = run(argv)
    assert pinned.returncode == 0, pinned.stdout + pinned.stderr
    unpinned = run(argv[: argv.index("--key")])
    assert unpinned.returncode == int(re.search(r"never called intact \(exit code (\d)\)", TEXT)[1]), unpinned.stdout


def run(argv: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
