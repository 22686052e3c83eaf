"""A dead head's pool is taken over: the operator at a desk, somebody before the dead head with a phone, the approver somewhere else.

`./run demo --scenario take-over`, the real agents on the scenario's twins. The head falls silent half a minute after the start, and comes back
at the end: first with its SAS cables plugged, and then without.
"""

import re
import time

import pytest
from playwright.sync_api import expect

from tests.browser.people import PHONE, Visitor
from tests.browser.stack import Stack
from tests.browser.steps import PATIENCE, comes, confirm, ended, now, picture, plan
from tests.browser.test_pages import faults
from workflows.runbooks.take_over.rehearsal import SERIALS
from workflows.runbooks.take_over.tests.stories import date_u
from workflows.tests.test_fencing import FRU, STATUS, WATCHDOG

STACK = ("demo", "--scenario", "take-over")
NODE, HEAD = "try-take-over", "try-take-over-partner"
TITLE = "Take over a pool of a dead head"
OFFERED = 240_000  # the head reports for 30 s, and must have been silent for 120 s
SERIAL, OTHERS_SERIAL = SERIALS["chassis_serial"], "C8470LJ12P30034"
FENCE, STILL, RETURNED = (
    "Switch the head off, and show that it has no power",
    "Wait a minute between two looks at the uberblocks",
    "Wait until the head reports and cannot import the pool",
)


def shown(age_seconds: float, *texts: str) -> str:
    """What the head's management controller printed, so many seconds ago."""
    return f"{date_u(time.time() - age_seconds)}\n{''.join(texts)}"


def paste(visitor: Visitor, text: str) -> None:
    visitor.page.locator("textarea[id=evidence-fence]").fill(text)
    visitor.press("Done")


def refused(visitor: Visitor, text: str, words: str) -> None:
    """It is refused in these words, and what was pasted stays in the field."""
    paste(visitor, text)
    visitor.refusal(words)
    expect(visitor.page.locator("textarea[id=evidence-fence]")).to_have_value(text)


def imports(stack: Stack) -> list[list[str]]:
    return [argv for argv in stack.commands(NODE, "zpool", "import") if "-f" in argv]


def the_loop(operator: Visitor):
    return operator.page.get_by_role("main").filter(has_text=re.compile("was taken over from .*, which must not import it"))


@pytest.fixture(scope="module")
def read_off(operator):
    """The pool and the head, which a person types."""
    return lambda: f"{operator.page.locator('.sl-sub a[href*=pools]').first.inner_text()} from {HEAD}"


def test_it_is_offered_once_the_head_has_been_silent_for_two_minutes(operator):
    operator.page.goto("/")
    link = operator.page.get_by_role("link", name=re.compile(f"{NODE} sees .*, which {HEAD} "))
    expect(link.first).to_be_visible(timeout=OFFERED)
    link.first.click()
    expect(operator.button(f"Start: {TITLE}")).to_be_visible(timeout=OFFERED)
    picture(operator, "1-situation")
    assert faults(operator) == []
    operator.start(TITLE)
    comes(operator, "Check that the head is silent and that this node may have the pool")
    operator.press("Check now")
    operator.step(FENCE)
    picture(operator, "2-fence")
    assert faults(operator) == []


@pytest.mark.parametrize(
    ("age_seconds", "texts", "words"),
    [
        (5, (STATUS, WATCHDOG, FRU.replace(SERIAL, OTHERS_SERIAL)), f"It is about another machine than {HEAD}"),
        (660, (STATUS, WATCHDOG, FRU), "600 s is the limit. Have it shown again."),
        (5, (STATUS, FRU), "Paste `ipmitool mc watchdog get` too.".replace("`", "")),
    ],
    ids=["of another chassis", "too old", "half of it"],
)
def test_a_text_that_does_not_show_it_is_refused_and_kept_in_the_field(operator, age_seconds, texts, words):
    refused(operator, shown(age_seconds, *texts), words)
    picture(operator, f"3-refused-{age_seconds}-{len(texts)}")
    assert faults(operator) == []


def test_before_the_head_its_serial_number_is_scanned_on_a_phone(operator, technician):
    technician.page.goto(f"{operator.page.url}now/")
    now(technician, FENCE)
    picture(technician, "4-phone-fence")
    refused(technician, f"chassis: {OTHERS_SERIAL}\nunplugged", f"It is about another machine than {HEAD}")
    picture(technician, "5-phone-refused")
    assert faults(technician) == []
    technician.page.set_viewport_size(PHONE)
    paste(technician, f"chassis: {SERIAL}\nunplugged")
    comes(operator, STILL)
    picture(technician, "6-phone-still")
    picture(operator, "6-still")
    assert faults(operator) == []


def test_what_its_controller_prints_can_take_the_place_of_it(operator):
    operator.page.locator("details#correct summary").click()
    operator.page.locator("textarea[id=again-fence]").fill(shown(2, STATUS, WATCHDOG, FRU))
    operator.press("Take this in its place")
    comes(operator, STILL)
    comes(operator, "Have the node plan it: import it by force")


def test_two_people_have_it_imported_once(operator, approver, stack, read_off):
    plan(operator, "Have the node plan it: import it by force")
    confirming = "Confirm what is taken from whom"
    operator.step(confirming)
    picture(operator, "7-confirm")
    assert faults(operator) == []
    operator.page.get_by_label("Confirmation").fill(HEAD)
    operator.press("Confirm")
    expect(operator.page.get_by_role("alert").first).to_be_visible()
    picture(operator, "8-confirm-refused")
    confirm(operator, approver, confirming, read_off)
    picture(approver, "9-approver")
    operator.step("Import it by force")
    picture(operator, "10-execute")
    assert faults(operator) == []
    assert imports(stack) == []
    operator.press("Import it by force")
    comes(operator, "See what is to be started")
    assert len(imports(stack)) == 1


def test_what_is_to_be_started_is_listed_and_started_by_hand(operator):
    operator.press("Check now")
    operator.step("Load keys, mount, and start what the pool serves")
    picture(operator, "11-start")
    assert faults(operator) == []
    operator.page.locator("[aria-current=step]").get_by_role("textbox").first.fill("Mounted and exported; no keys.")
    operator.press("Done")
    operator.step("Keep the head from the pool before its power returns")
    picture(operator, "12-secure")
    assert faults(operator) == []
    operator.page.locator("[aria-current=step]").get_by_role("textbox").first.fill("ok")
    operator.press("Done")
    operator.refusal("Say what keeps the head from importing the pool")
    operator.page.locator("[aria-current=step]").get_by_role("textbox").first.fill("Its SAS cables are unplugged, by the technician.")
    operator.press("Done")
    comes(operator, RETURNED)
    picture(operator, "13-returned")
    assert faults(operator) == []


def test_that_the_head_must_not_import_it_stays_open(approver):
    approver.page.goto("/open-loops/")
    expect(the_loop(approver)).to_be_visible()
    picture(approver, "14-open-loops")
    assert faults(approver) == []


def test_a_head_that_comes_back_with_the_pool_is_an_alarm_and_one_without_cables_ends_it(operator, stack):
    assert "It has no power." in stack.at_the_rack(HEAD)
    stack.at_the_rack(HEAD, "power-on")
    alert = operator.page.get_by_role("alert").filter(has_text=f"Two hosts write to it: switch {HEAD} off now")
    expect(alert.first).to_be_visible(timeout=PATIENCE)
    picture(operator, "15-two-hosts")
    assert faults(operator) == []
    stack.at_the_rack(HEAD, "unplug-cables")
    ended(operator, "done")
    picture(operator, "16-done")
    assert faults(operator) == []
    assert len(imports(stack)) == 1
    operator.page.goto("/open-loops/")
    expect(operator.page.get_by_role("main")).to_contain_text("Nothing is switched on that must be switched off again.")


def test_the_postmortem_says_who_fenced_it_by_what_and_what_was_read(operator):
    operator.page.goto("/postmortems/")
    operator.page.get_by_label("What happened, in a few words").fill("A head died")
    operator.page.get_by_role("checkbox", name=TITLE).first.check()
    operator.press("Begin the postmortem")
    section = operator.page.get_by_role("region", name="Timeline").first
    for words in (
        "operator did it by hand: no power; by a scan at the rack",
        "approver approved the plan",
        "must not import it when it has power again",
    ):
        expect(section).to_contain_text(words)
    picture(operator, "17-postmortem")
    assert faults(operator) == []
    row = section.get_by_role("row").filter(has_text=f"no power; by a management controller; chassis {SERIAL}")
    row.get_by_role("link", name="event").click()
    expect(operator.page.get_by_role("main")).to_contain_text("Power Restore Policy : always-off")
    picture(operator, "18-what-was-read")


def test_no_page_complained(operator, technician, approver):
    for visitor in (operator, technician, approver):
        assert [complaint for complaint in visitor.complaints if "409 (Conflict)" not in complaint] == []
