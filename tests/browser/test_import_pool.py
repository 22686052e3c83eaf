"""A pool that was not imported at boot is imported: two people, nothing mounted, then what is started by hand.

`./run demo --scenario import-pool`, the real agent on the scenario's twin.
"""

from playwright.sync_api import expect

from tests.browser.stack import Stack
from tests.browser.steps import APPROVE, PATIENCE, approve, comes, ended, picture, plan
from tests.browser.test_pages import faults

STACK = ("demo", "--scenario", "import-pool")
NODE = "try-import-pool"
TITLE = "Import a pool that no host has, and start what it serves"


def imports(stack: Stack) -> list[list[str]]:
    return [argv for argv in stack.commands(NODE, "zpool", "import") if "-N" in argv]


def test_it_is_offered_and_checked(operator):
    operator.page.goto("/")
    link = operator.page.get_by_role("link", name="is not imported, and this node had it last").first
    expect(link).to_be_visible(timeout=PATIENCE)
    link.click()
    expect(operator.page.get_by_role("main")).to_contain_text(f"The cache file of {NODE} names")
    expect(operator.button(f"Start: {TITLE}")).to_be_visible(timeout=PATIENCE)
    picture(operator, "1-situation")
    assert faults(operator) == []
    operator.start(TITLE)
    comes(operator, "Check that no host has it and all of it is here")
    operator.press("Check now")
    operator.step("Have the node plan it: import it, and mount nothing")


def test_two_people_have_it_imported_once(operator, approver, stack):
    plan(operator, "Have the node plan it: import it, and mount nothing")
    operator.step(APPROVE)
    picture(operator, "2-planned")
    assert faults(operator) == []
    approve(operator, approver)
    operator.step("Import it, and mount nothing")
    assert imports(stack) == []
    operator.press("Import it, and mount nothing")
    comes(operator, "See what is to be started")
    [command] = imports(stack)
    assert "-f" not in command


def test_what_is_to_be_started_is_listed_and_started_by_hand(operator, stack):
    operator.press("Check now")
    operator.step("Load keys, mount, and start what the pool serves")
    expect(operator.page.locator("[aria-current=step]")).to_contain_text("Lustre targets: demo-OST0000")
    picture(operator, "3-start")
    assert faults(operator) == []
    field = operator.page.locator("[aria-current=step]").get_by_role("textbox").first
    field.fill("ok")
    operator.press("Done")
    operator.refusal("Say what was started, and what was left out and why.")
    field.fill("Keys loaded, all mounted, the target is started.")
    operator.press("Done")
    ended(operator, "done")
    picture(operator, "4-done")
    assert faults(operator) == []
    assert len(imports(stack)) == 1


def test_no_page_complained(operator, approver):
    for visitor in (operator, approver):
        assert [complaint for complaint in visitor.complaints if "409 (Conflict)" not in complaint] == []
