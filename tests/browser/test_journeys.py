"""The journeys that no other module walks: the approver's on a phone, the auditor's, finding a disk, and the operator's without JavaScript.

All ten, and where each is walked, stand in `journeys.py`. The tests go on from one another: one run is begun, handed over, denied,
planned again, approved, carried out and audited.
"""

import re
import zipfile

import pytest
from playwright.sync_api import expect

from tests.browser.people import PHONE, Visitor
from tests.browser.test_incident import BLANK, LOST, PATIENCE, PHRASE, pinned_on, verify
from tests.browser.test_pages import faults

FINGER = 24  # CSS pixels, as WCAG 2.2 asks for a target


@pytest.fixture(scope="module")
def plain(visit):
    """The operator, whose browser runs no script."""
    return visit("operator", java_script_enabled=False)


def reported(plain: Visitor) -> None:
    """A page without scripts does not look again by itself, and the node may not have spoken yet."""
    for _ in range(60):
        if plain.page.get_by_role("link", name="ost_0 lost the member").count():
            return
        plain.page.wait_for_timeout(1000)
        plain.page.reload()


def planned(plain: Visitor) -> None:
    """From the plan to the approval that it waits for."""
    plain.until_reloaded("Have the node plan it")
    plain.press("Ask the node for its plan")
    plain.until_reloaded("Confirm what is replaced")
    plain.page.get_by_label("Confirmation").fill(PHRASE)
    plain.press("Confirm")
    plain.step("Have another person approve the plan")


def test_the_operator_comes_from_the_fleet_to_the_approval_without_javascript(plain):
    reported(plain)
    plain.open_incident()
    plain.start()
    plain.step("Choose the new disk")
    plain.take(BLANK)
    plain.step("Check pool, lost member and new disk")
    plain.press("Check now")
    planned(plain)
    expect(plain.step("Have another person approve the plan")).to_contain_text("Another person must approve it")


def test_a_run_is_handed_over_without_javascript(plain, visit):
    plain.page.get_by_text("Hand over", exact=True).click()
    plain.page.get_by_label("What the colleague should know").fill("I go off shift.")
    plain.press("Hand it over")
    expect(plain.page.get_by_text("approver is responsible for this run, handed over by operator")).to_be_visible()
    colleague = visit("approver", java_script_enabled=False)
    colleague.page.goto("/runs/")
    colleague.page.get_by_role("region", name="You are responsible for these").get_by_role("link", name=LOST).click()
    colleague.press("I have it")
    expect(colleague.page.get_by_text("You are responsible for this run.")).to_be_visible()
    plain.page.reload()
    plain.press("Take responsibility")
    expect(plain.page.get_by_text("You are responsible for this run.")).to_be_visible()


def to_the_plan(approver: Visitor) -> None:
    """As a thumb goes: from any page by the number, to the plan that is to be judged."""
    approver.page.goto("/")
    expect(approver.page.get_by_label("1 to judge")).to_be_visible()
    approver.page.get_by_role("link", name="Approvals").click()
    approver.page.get_by_role("region", name="Waiting for your approval").get_by_role("link", name="Read the plan and decide").click()
    step = approver.step("Have another person approve the plan")
    expect(step).to_contain_text("You approve exactly this, on oss01, at most once")
    expect(step.locator("#argv")).to_contain_text(f"zpool replace ost_0 {LOST}")
    assert approver.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    box = approver.button("Approve this plan").bounding_box()
    assert min(box["width"], box["height"]) >= FINGER


def test_the_approver_denies_on_a_phone_without_javascript(plain, visit):
    approver = visit("approver", viewport=PHONE, is_mobile=True, has_touch=True, java_script_enabled=False)
    to_the_plan(approver)
    approver.page.get_by_text("Deny instead").click()
    approver.page.get_by_label("Why", exact=True).fill("Wait for the day shift.")
    approver.press("Deny")
    plain.page.reload()
    expect(plain.page.locator(".sl-events")).to_contain_text("approver denied the plan: Wait for the day shift.")
    planned(plain)


def test_the_approver_judges_on_a_phone(visit):
    approver = visit("approver", viewport=PHONE, is_mobile=True, has_touch=True)
    to_the_plan(approver)
    assert faults(approver) == []
    approver.page.set_viewport_size(PHONE)
    approver.press("Approve this plan")
    expect(approver.page.locator("[aria-current=step]").filter(has_text="Replace the disk")).to_be_visible()
    assert approver.complaints == []


def test_the_command_runs_once_without_javascript(plain, stack):
    plain.until_reloaded("Replace the disk")
    plain.press("Replace the disk")
    state = plain.page.locator(".sl-head")
    for _ in range(PATIENCE // 1000):
        if "done" in state.inner_text():
            break
        plain.page.wait_for_timeout(1000)
        plain.page.reload()
    expect(state).to_contain_text("done")
    assert len(stack.commands("oss01", "zpool", "replace")) == 1


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_the_auditor_finds_what_a_person_did_and_verifies_it(visit, tmp_path, scripts):
    """Somebody who may look and do nothing else."""
    auditor = visit("viewer", java_script_enabled=scripts)
    page = auditor.page
    page.get_by_role("link", name="Ledger").click()
    page.get_by_label("Person").fill("approver")
    page.get_by_label("What happened (kind").fill("run.")
    auditor.press("Search")
    events = page.get_by_role("region", name="Events")
    expect(events).to_contain_text("approver approved the plan")
    expect(events).not_to_contain_text("operator confirmed")
    events.get_by_role("row").filter(has_text="approver approved the plan").get_by_role("link").first.click()
    expect(auditor.heading("What was recorded")).to_be_visible()
    page.goto("/ledger/?node=oss01&type=report.changed")
    page.get_by_role("region", name="Events").get_by_role("link", name=re.compile(r"^\d+$")).first.click()
    page.locator('a[href*="/ledger/evidence/"]').first.click()
    expect(auditor.heading("Origin")).to_be_visible()
    key = pinned_on(page)
    page.goto("/runs/")
    page.get_by_role("link", name=LOST).first.click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Audit trail (zip)").click()
    with zipfile.ZipFile(download.value.path()) as bundle:
        bundle.extractall(tmp_path)
    done = verify(tmp_path, key)
    assert done.returncode == 0, done.stdout
    assert auditor.complaints == []


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_a_disk_is_found_by_what_is_printed_on_it(visit, scripts):
    operator = visit("operator", viewport=PHONE, java_script_enabled=scripts)
    page = operator.page
    for printed in ("5000CCA273A7D9E8", "naa.5000cca273a7d9e8", "oss01 bay 68"):
        page.get_by_role("searchbox").fill(printed)
        page.get_by_role("searchbox").press("Enter")
        if "/search/" in page.url:
            page.get_by_role("main").get_by_role("link", name="5000cca273a7d9e8").first.click()
        expect(page).to_have_url(re.compile("/disks/naa:5000cca273a7d9e8/"))
    page.get_by_role("link", name="bay 68 of 0x50050cc11ac016e2", exact=True).click()
    expect(page.locator('[aria-label^="Bay 68:"]')).to_be_visible()
    expect(page.locator("#chosen")).to_contain_text(re.compile(r"ost_0 raidz2-3\s+has (9|10) members here"))
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
