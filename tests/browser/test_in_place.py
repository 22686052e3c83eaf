"""A disk is replaced beside the one that still serves: the operator at a desk, somebody at the rack with a phone, the approver somewhere else.

`./run demo --scenario replace-in-place`, the real agent on the scenario's twin. The first attempt is called off while the new disk is filled; the
second one comes to its end, with the other blank disk.
"""

import re

from playwright.sync_api import expect

from tests.browser.people import BESIDE_IT, IN_ITS_BAY, PHONE, Visitor
from tests.browser.stack import Stack
from tests.browser.steps import PATIENCE, confirm, ended, now, plan
from tests.browser.test_pages import faults
from twin.store import Store

STACK = ("demo", "--scenario", "replace-in-place")
NODE = "try-replace-in-place"
OLD, FIRST, SECOND, OTHER = "3", "7", "8", "5"  # bays
LONG, SHORT = 3600.0, 8.0  # seconds that filling takes


def filling_takes(stack: Stack, seconds: float) -> None:
    with Store(stack.data / "demo" / NODE / "state.json").changing() as node:
        node.knobs.resilver_seconds = seconds


def serial_in(stack: Stack, bay: str) -> str:
    return re.search(rf"^bay {bay}: serial (\S+)", stack.at_the_rack(NODE), re.MULTILINE)[1]


def lit(stack: Stack) -> list[str]:
    return re.findall(r"bay (\d+): .*BLINKS", stack.at_the_rack(NODE))


def begin(operator: Visitor) -> None:
    operator.page.goto("/")
    wrong = operator.page.get_by_role("region", name="What is wrong now")
    wrong.get_by_role("link", name=re.compile("the disk of .* is DEGRADED")).click()
    expect(operator.button(f"Start: {BESIDE_IT}")).to_be_visible()
    expect(operator.button(f"Start: {IN_ITS_BAY}")).to_be_visible()
    assert faults(operator) == []
    operator.start(BESIDE_IT)
    operator.step("Choose the new disk")


def fill(operator: Visitor, approver: Visitor, serial: str) -> None:
    operator.take(serial)
    operator.step("Check pool, member and both disks")
    operator.press("Check now")
    plan(operator, "Have the node plan it: have ZFS fill the new disk")
    confirm(operator, approver, "Confirm what is replaced by what", operator.read_both_disks_off_the_plan)
    operator.step("Have ZFS fill the new disk")
    assert faults(operator) == []
    operator.press("Have ZFS fill the new disk")


def switch(operator: Visitor, title: str) -> None:
    """Plan it and give the order, once the run comes to it."""
    asked = operator.page.locator("[aria-current=step]").filter(has_text=f"Have the node plan it: {title[0].lower()}{title[1:]}")
    expect(asked).to_be_visible(timeout=PATIENCE)
    operator.press("Ask the node for its plan")
    operator.step(title)
    operator.press(title)


def say_and_pull(operator: Visitor, technician: Visitor, stack: Stack, text: str, pull: str, bay: str) -> None:
    """Whoever stands at the rack names the bay that blinks, and pulls the disk that is in it."""
    technician.page.goto(f"{operator.page.url}now/")
    now(technician, text)
    assert lit(stack) == [bay]
    field = technician.page.get_by_label("Type the number of the bay that blinks, or scan the serial number on the disk in it.")
    field.fill(OTHER)
    technician.press("Done")
    technician.refusal("Pull nothing.")
    assert faults(technician) == []
    technician.page.set_viewport_size(PHONE)
    field.fill(bay)
    technician.press("Done")
    now(technician, pull)
    expect(technician.page.locator(".sl-place strong")).to_have_text(bay)
    expect(technician.page.locator(".sl-serials")).to_contain_text(serial_in(stack, bay))
    expect(technician.page.locator(".sl-light")).to_have_text("Its light blinks.")
    stack.at_the_rack(NODE, "pull", bay)


def test_the_new_disk_is_filled_while_the_old_one_serves(operator, approver, stack):
    filling_takes(stack, LONG)
    begin(operator)
    fill(operator, approver, serial_in(stack, FIRST))
    waiting = operator.page.locator("[aria-current=step]").filter(has_text="Wait until the new disk is filled")
    expect(waiting).to_be_visible(timeout=PATIENCE)
    assert len(stack.commands(NODE, "zpool", "replace")) == 1
    assert lit(stack) == []
    assert faults(operator) == []


def test_it_is_called_off_and_the_step_that_asks_what_is_taken_out_comes(operator, approver, stack):
    operator.page.locator("details#end summary").click()
    operator.page.get_by_label("Why it ends here").fill("Another disk is to be taken.")
    operator.press("End the run")
    operator.step("See how far it is")
    operator.press("Check now")
    plan(operator, "Have the node plan it: take the new disk out of the pool again")
    confirm(operator, approver, "Confirm what is taken out", operator.read_off_the_plan)
    operator.step("Take the new disk out of the pool again")
    assert faults(operator) == []
    operator.press("Take the new disk out of the pool again")


def test_the_disk_that_was_to_come_is_lit_and_pulled_and_the_pool_is_as_before(operator, technician, stack):
    switch(operator, "Light the bay of the new disk")
    say_and_pull(operator, technician, stack, "Say which bay blinks now", "Pull the new disk", FIRST)
    switch(operator, "Switch the light of that bay off")
    ended(operator, "ended")
    assert [argv[1] for argv in stack.commands(NODE, "zpool") if argv[1] in ("replace", "detach")] == ["replace", "detach"]
    assert lit(stack) == []
    operator.page.goto("/open-loops/")
    expect(operator.page.get_by_role("main")).to_contain_text("Nothing is switched on that must be switched off again.")


def test_the_second_attempt_takes_the_other_disk_to_the_end(operator, technician, approver, stack):
    filling_takes(stack, SHORT)
    old = serial_in(stack, OLD)
    begin(operator)
    fill(operator, approver, serial_in(stack, SECOND))
    switch(operator, "Light the bay of the old disk")
    say_and_pull(operator, technician, stack, "Say which bay blinks", "Pull the old disk", OLD)
    now(technician, "Scan the disk in your hand")
    field = technician.page.get_by_label("Scan or type the serial number on the disk that was pulled.")
    field.fill(serial_in(stack, OTHER))
    technician.press("Done")
    technician.refusal("Put it back now.")
    field.fill(old)
    technician.press("Done")
    switch(operator, "Switch the light off")
    ended(operator, "done")
    now(technician, "Done")
    assert [argv[1] for argv in stack.commands(NODE, "zpool") if argv[1] in ("replace", "detach")] == ["replace", "detach", "replace"]
    assert lit(stack) == []
    assert faults(operator) == []


def test_no_page_complained(operator, technician, approver):
    for visitor in (operator, technician, approver):
        assert [complaint for complaint in visitor.complaints if "409 (Conflict)" not in complaint] == []
