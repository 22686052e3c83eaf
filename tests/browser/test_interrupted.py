"""A disk is being replaced and everything comes in between: the session ends, the portal hangs, the phone has no network, a wrong disk goes
back in, and then it is not tonight. The operator at a desk; the technician by a link, without an account.
"""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.people import IN_ITS_BAY, PHONE, Visitor
from tests.browser.steps import PATIENCE, now, picture, plan
from tests.browser.test_blink import (
    BAY,
    NODE,
    OTHER,
    STACK,  # noqa: F401  (for the fixture of that name)
    confirm_and_approve,
    old_serial,
    on_the_shelf,
)
from tests.browser.test_pages import faults

SCAN = "Scan or type the serial number on the new disk."


@pytest.fixture(scope="module")
def technician(chromium, stack):
    """Somebody with a phone and no account."""
    visitor = Visitor(chromium, stack, "", viewport=PHONE, has_touch=True, is_mobile=True)
    yield visitor
    visitor.leave()


@pytest.fixture(scope="module")
def spare(stack):
    return on_the_shelf(stack)


def away(visitor: Visitor, words: str) -> None:
    expect(visitor.page.locator("#away")).to_contain_text(words, timeout=PATIENCE)


def back(visitor: Visitor) -> None:
    expect(visitor.page.locator("#away")).to_have_count(0, timeout=PATIENCE)
    expect(visitor.page.locator("body.sl-old")).to_have_count(0)


def test_a_technician_without_an_account_opens_the_link_and_scans(operator, technician, spare):
    operator.page.goto("/")
    wrong = operator.page.get_by_role("region", name="What is wrong now")
    wrong.get_by_role("link", name=re.compile("the disk of .* is DEGRADED")).click()
    operator.start(IN_ITS_BAY)
    operator.step("Scan the new disk")
    run = operator.page.url
    operator.press("Make a link for a technician")
    address = operator.page.locator("#address").inner_text()
    picture(operator, "link")
    operator.page.goto(run)
    technician.page.goto(address)
    technician.page.get_by_label("Your name").fill("Joe Doe")
    technician.press("Begin")
    now(technician, "Scan the new disk")
    picture(technician, "link-scan")
    assert faults(technician) == []
    technician.page.set_viewport_size(PHONE)


def test_a_phone_without_network_keeps_what_was_scanned(technician, spare):
    field = technician.page.get_by_label(SCAN)
    field.fill(spare.lower())
    technician.context.set_offline(True)
    technician.press("Done")
    away(technician, "The portal cannot be reached. Whether what you sent was done is not known")
    picture(technician, "offline-scan")
    technician.context.set_offline(False)
    back(technician)
    expect(technician.page.get_by_label(SCAN)).to_have_value(spare.lower())
    technician.press("Done")
    now(technician, "Wait here")


def test_a_session_that_ends_at_the_confirmation_loses_nothing(operator, approver):
    operator.step("Check pool, member, disk and bay")
    operator.press("Check now")
    plan(operator, "Have the node plan it: take the member out of service")
    operator.step("Confirm what is taken out of service")
    phrase = operator.read_off_the_plan()
    operator.page.get_by_label("Confirmation").fill(phrase)
    operator.context.clear_cookies()
    operator.press("Confirm")
    away(operator, "You are signed out, so nothing was sent.")
    picture(operator, "signed-out")
    operator.page.locator("#away").get_by_role("link", name="Sign in again").click()
    operator.page.get_by_label("Name").fill("operator")
    operator.page.get_by_label("Password").fill(operator.stack.passwords["operator"])
    operator.press("Sign in")
    operator.step("Confirm what is taken out of service")
    expect(operator.page.get_by_label("Confirmation")).to_have_value(phrase)
    operator.complaints.clear()
    confirm_and_approve(operator, approver, "Confirm what is taken out of service")


def test_what_is_pressed_while_the_portal_hangs_is_done_once(operator, technician, stack):
    expect(operator.button("Take the member out of service")).to_be_visible()
    with stack.hung():
        operator.press("Take the member out of service")
        away(operator, "The portal does not answer. Whether what you sent was done is not known")
        picture(operator, "hung")
        away(technician, "The portal does not answer.")
        picture(technician, "hung-phone")
    expect(operator.page.locator("[aria-current=step]").filter(has_text="Have the node plan it: light the bay")).to_be_visible(
        timeout=PATIENCE
    )
    back(operator)
    back(technician)
    now(technician, "Wait here")
    assert len(stack.commands(NODE, "zpool", "offline")) == 1


def test_the_wrong_bay_is_refused_on_the_link_and_the_right_disk_comes_out(operator, technician, stack):
    plan(operator, "Have the node plan it: light the bay")
    operator.step("Light the bay")
    operator.press("Light the bay")
    now(technician, "Say which bay blinks")
    field = technician.page.get_by_label("Type the number of the bay that blinks, or scan the serial number on the disk in it.")
    field.fill(OTHER)
    technician.press("Done")
    technician.refusal("Pull nothing.")
    field.fill(f" bay {BAY} ")
    technician.press("Done")
    now(technician, "Pull the disk")
    stack.at_the_rack(NODE, "pull", BAY)
    now(technician, "Put the new disk into the same place")


def test_when_it_is_ended_the_old_disk_goes_back_and_no_other_does(operator, technician, stack, spare):
    old = old_serial(operator)
    operator.page.locator("details#end summary").click()
    operator.page.get_by_label("Why it ends here").fill("Not tonight.")
    operator.press("End the run")
    now(technician, "Put the old disk back into its bay")
    expect(technician.page.get_by_role("main")).to_contain_text("Put back: serial number")
    expect(technician.page.locator(".sl-serials")).to_contain_text(old)
    picture(operator, "way-back")
    picture(technician, "way-back-phone")
    stack.at_the_rack(NODE, "insert", BAY, spare)
    expect(technician.page.locator("#against, #alarm")).to_contain_text(spare, timeout=PATIENCE)
    expect(technician.page.locator("#against, #alarm")).to_contain_text(
        f"Take that out, and put the disk with the serial number {old} back"
    )
    picture(technician, "way-back-wrong-disk")
    stack.at_the_rack(NODE, "pull", BAY)
    stack.at_the_rack(NODE, "insert", BAY, old)
    plan(operator, "Have the node plan it: bring the member back into service")
    operator.step("Bring the member back into service")
    operator.press("Bring the member back into service")
    plan(operator, "Have the node plan it: switch the light off")
    operator.step("Switch the light off")
    operator.press("Switch the light off")
    expect(operator.page.locator(".sl-head .sl-state")).to_have_text("ended by a person", timeout=PATIENCE)
    expect(operator.page.get_by_role("main")).to_contain_text("The run did not come to its end. What it had switched on is put back.")
    picture(operator, "ended")
    assert faults(operator) == []
    assert stack.commands(NODE, "zpool", "replace") == []
    assert "BLINKS" not in stack.at_the_rack(NODE)


def test_the_technicians_link_is_closed_with_the_run(technician):
    expect(technician.heading("Done")).to_be_visible(timeout=PATIENCE)
    expect(technician.page.get_by_role("main")).to_contain_text("This link is closed.")
    picture(technician, "link-closed")


def test_no_page_complained_of_anything_else(operator, technician, approver):
    """The browser itself names every request that was refused, cut or given up."""
    meant = re.compile(
        r"409 \(Conflict\)|401 \(Unauthorized\)|410 \(Gone\)|ERR_INTERNET_DISCONNECTED|ERR_NETWORK|ERR_TIMED_OUT"
        r"|htmx:(afterRequest|sendError|timeout)|Response Status Error Code 4(01|09|10)"
    )
    for visitor in (operator, technician, approver):
        assert [complaint for complaint in visitor.complaints if not meant.search(complaint)] == []
