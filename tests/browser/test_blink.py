"""A disk is replaced in its bay: the operator at a desk, the technician at the rack with a phone, the approver somewhere else.

`./run demo --scenario blink-and-replace`, the real agent on the scenario's twin, and hands that once pull the wrong disk.
"""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.people import IN_ITS_BAY, PHONE, Visitor
from tests.browser.stack import Stack
from tests.browser.steps import PATIENCE, confirm, now, picture, plan
from tests.browser.test_pages import faults

STACK = ("demo", "--scenario", "blink-and-replace")
NODE = "try-blink-and-replace"
BAY, OTHER = "3", "5"
PHONE_PICTURES = os.environ.get("SLOTLIGHT_PHONE_PICTURES", "")  # a folder for what docs/phone shows; see its README


@pytest.fixture(scope="module")
def spare(stack):
    return on_the_shelf(stack)


def on_the_shelf(stack: Stack) -> str:
    """The serial number of the new disk."""
    return re.search(r"on the shelf: .* serial (\S+)", stack.at_the_rack(NODE))[1]


def on_the_phone(technician: Visitor, name: str) -> None:
    """What the phone's screen shows, for docs/phone."""
    picture(technician, name)
    if PHONE_PICTURES:
        technician.page.emulate_media(color_scheme="light", reduced_motion="reduce")
        technician.page.screenshot(path=Path(PHONE_PICTURES) / f"{name}.png")


def confirm_and_approve(operator: Visitor, approver: Visitor, title: str) -> None:
    confirm(operator, approver, title, operator.read_off_the_plan)


def test_the_situation_leads_to_the_runbook_and_the_runbook_can_be_read_first(operator):
    operator.page.goto("/")
    wrong = operator.page.get_by_role("region", name="What is wrong now")
    wrong.get_by_role("link", name=re.compile("the disk of .* is DEGRADED")).click()
    operator.page.get_by_role("link", name="Replace a disk in its bay, with the bay lit").click()
    expect(operator.heading("Replace a disk in its bay, with the bay lit")).to_be_visible()
    expect(operator.page.get_by_role("main")).to_contain_text("zpool offline <pool> <vdev_guid>")
    picture(operator, "runbook")
    assert faults(operator) == []
    operator.page.goto("/runbooks/")
    assert faults(operator) == []
    operator.page.go_back()
    operator.page.go_back()
    operator.start(IN_ITS_BAY)
    operator.step("Scan the new disk")


def test_the_step_at_the_rack_needs_no_javascript(visit, operator):
    """A phone that runs no scripts is asked the same, and told the same."""
    plain = visit("operator", viewport=PHONE, java_script_enabled=False)
    plain.page.goto("/now/")
    old = old_serial(operator)
    plain.page.get_by_label("Scan or type the serial number on the new disk.").fill(old)
    plain.press("Done")
    plain.refusal(f"{old} is the disk that is to go. Scan the new one.")
    expect(plain.page.get_by_label("Scan or type the serial number on the new disk.")).to_have_value(old)


def test_the_new_disk_is_scanned_and_the_old_ones_serial_is_refused_and_kept(operator, technician, spare):
    technician.page.goto("/now/")
    now(technician, "Scan the new disk")
    expect(technician.page).to_have_url(re.compile(r"/runs/\d+/now/$"))
    expect(technician.page.locator(".sl-place, .sl-serials")).to_have_count(0)  # nothing comes out yet
    old = old_serial(operator)
    field = technician.page.get_by_label("Scan or type the serial number on the new disk.")
    field.fill(old)
    technician.press("Done")
    technician.refusal(f"{old} is the disk that is to go. Scan the new one.")
    expect(field).to_have_value(old)
    on_the_phone(technician, "1-serial-check")
    assert faults(technician) == []
    technician.page.set_viewport_size(PHONE)
    field.fill(slip_of(spare))
    technician.press("Done")
    now(technician, "Wait here")


def test_the_member_is_taken_out_of_service_with_the_second_persons_word(operator, approver):
    operator.step("Check pool, member, disk and bay")
    never = operator.page.get_by_role("note").filter(has_text="No scrub of ost_0 came to its end")
    expect(never).to_be_visible()
    picture(operator, "scrub-warning")
    operator.press("Check now")
    plan(operator, "Have the node plan it: take the member out of service")
    confirm_and_approve(operator, approver, "Confirm what is taken out of service")
    operator.step("Take the member out of service")
    expect(never).to_be_visible()
    picture(operator, "offline-plan")
    assert faults(operator) == []
    operator.press("Take the member out of service")
    expect(operator.page.locator("[aria-current=step]").filter(has_text="Have the node plan it: light the bay")).to_be_visible(
        timeout=PATIENCE
    )


def test_the_bay_is_lit_and_only_who_sees_it_can_say_which_it_is(operator, technician, stack):
    plan(operator, "Have the node plan it: light the bay")
    operator.step("Light the bay")
    operator.press("Light the bay")
    now(technician, "Say which bay blinks")
    assert old_serial(operator) not in technician.page.get_by_role("main").inner_text(), "nothing tells the answer"
    assert f"bay {BAY}: serial" in stack.at_the_rack(NODE)
    assert re.findall(r"bay (\d+): .*BLINKS", stack.at_the_rack(NODE)) == [BAY]
    field = technician.page.get_by_label("Type the number of the bay that blinks, or scan the serial number on the disk in it.")
    field.fill(OTHER)
    technician.press("Done")
    technician.refusal("Pull nothing.")
    on_the_phone(technician, "2-blink-wrong-bay")
    field.fill(BAY)
    technician.press("Done")
    now(technician, "Pull the disk")
    expect(technician.page.locator(".sl-place strong")).to_have_text(BAY)
    expect(technician.page.locator(".sl-light")).to_have_text("Its light blinks.")
    on_the_phone(technician, "3-blink-pull")
    technician.page.goto("/open-loops/")
    expect(technician.page.get_by_role("main")).to_contain_text("The locate light of bay 3")
    assert faults(technician) == []
    technician.page.set_viewport_size(PHONE)
    picture(technician, "phone-open-loops")
    technician.page.goto("/")
    expect(technician.page.get_by_role("link", name="2 open loops")).to_be_visible()


def slip_of(spare: str) -> str:
    """The serial number of the new disk, typed on a phone with one letter wrong."""
    return f"{spare[:-1]}Q".lower()


def old_serial(operator: Visitor) -> str:
    return operator.page.locator(".sl-head .sl-mono").last.inner_text()


def test_a_wrong_pull_is_said_at_once_and_is_over_when_it_is_put_back(operator, technician, approver, stack):
    technician.page.goto(f"{operator.page.url}now/")
    desk = operator.context.new_page()
    desk.goto("/nodes/mds01/")
    approver.page.goto("/ledger/")
    pulled = re.search(r"Disk (\S+) lies", stack.at_the_rack(NODE, "pull", OTHER))[1]
    alarm = technician.page.locator("#alarm")
    expect(alarm).to_contain_text("ut it back", timeout=PATIENCE)
    for page, whose in ((desk, "Your run"), (approver.page, "Run")):
        alert = page.locator("#alarms").get_by_role("alert")
        expect(alert).to_contain_text(
            f"Put it back now: the disk with the serial number {pulled} was pulled out of bay {OTHER}", timeout=PATIENCE
        )
        expect(alert).to_contain_text(re.compile(rf"{whose} \d+ on {NODE}:"))
    expect(technician.page.locator(".sl-place")).to_have_count(0)  # a large bay number now would be where the disk is put
    on_the_phone(technician, "4-wrong-pull")
    assert faults(technician) == []
    technician.page.set_viewport_size(PHONE)
    stack.at_the_rack(NODE, "insert", OTHER, pulled)
    expect(alarm).to_have_count(0, timeout=PATIENCE)
    expect(desk.locator("#alarms").get_by_role("alert")).to_have_count(0, timeout=PATIENCE)
    desk.close()


def test_the_right_disk_is_pulled_and_the_new_one_taken(operator, technician, stack, spare):
    now(technician, "Pull the disk")
    stack.at_the_rack(NODE, "pull", BAY)
    now(technician, "Put the new disk into the same place")
    on_the_phone(technician, "5-insert")
    stack.at_the_rack(NODE, "insert", BAY, spare)
    expect(technician.page.locator("#against")).to_contain_text(f"and {slip_of(spare).upper()} was scanned", timeout=PATIENCE)
    assert faults(technician) == []
    technician.page.set_viewport_size(PHONE)
    on_the_phone(technician, "5-wrong-scan")
    technician.page.get_by_label("Scan or type the serial number on the new disk.").fill(f"s/n {spare.lower()}")
    technician.press("This is the new disk")
    now(technician, "Wait here")
    expect(operator.page.locator("[aria-current=step]").filter(has_text="Take the new disk")).to_be_visible(timeout=PATIENCE)
    operator.take(spare)


def test_the_pool_is_made_whole_and_the_light_goes_out(operator, technician, approver, stack):
    plan(operator, "Have the node plan it: replace the disk")
    confirm_and_approve(operator, approver, "Confirm what is replaced")
    operator.step("Replace the disk")
    picture(operator, "replace-plan")
    operator.press("Replace the disk")
    dark = operator.page.locator("[aria-current=step]").filter(has_text="Have the node plan it: switch the light off")
    expect(dark).to_be_visible(timeout=PATIENCE)
    operator.press("Ask the node for its plan")
    operator.step("Switch the light off")
    operator.press("Switch the light off")
    fault = operator.page.locator("[aria-current=step]").filter(has_text="Have the node plan it: switch the fault light off")
    expect(fault).to_be_visible(timeout=PATIENCE)
    operator.press("Ask the node for its plan")
    operator.step("Switch the fault light off")
    operator.press("Switch the fault light off")
    expect(operator.page.locator(".sl-head .sl-state")).to_have_text("done", timeout=PATIENCE)
    picture(operator, "done")
    now(technician, "Done")
    on_the_phone(technician, "6-done")
    assert faults(operator) == []
    assert "BLINKS" not in stack.at_the_rack(NODE)
    assert len(stack.commands(NODE, "zpool", "replace")) == 1
    operator.page.goto("/open-loops/")
    expect(operator.page.get_by_role("main")).to_contain_text("Nothing is switched on that must be switched off again.")
    assert faults(operator) == []


def test_no_page_complained(operator, technician, approver):
    for visitor in (operator, technician, approver):
        assert [complaint for complaint in visitor.complaints if "409 (Conflict)" not in complaint] == []
