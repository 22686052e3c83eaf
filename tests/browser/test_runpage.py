"""A run shared by people: who is responsible, what is commented beside it, and a technician without an account sent to the rack; then the comforts."""

import re
from contextlib import suppress

import pytest
from playwright.sync_api import TimeoutError as NotSeen
from playwright.sync_api import expect

from tests.browser.people import IN_ITS_BAY, PHONE, Visitor
from tests.browser.steps import PATIENCE, PICTURES, picture
from tests.browser.test_blink import NODE, STACK  # noqa: F401  (STACK: for the fixture of that name)
from tests.browser.test_pages import faults

SPARE = "Scan the new disk"
ASKED = "Scan or type the serial number on the new disk."
COMMENT = "Comment for everyone who reads this run"


@pytest.fixture(scope="module")
def approver(visit):
    return visit("approver", timezone_id="Asia/Kolkata")


@pytest.fixture
def phone(chromium, stack):
    """Somebody at the rack who has no account."""
    come = []

    def stranger(**options) -> Visitor:
        come.append(Visitor(chromium, stack, "", viewport=PHONE, is_mobile=True, has_touch=True, **options))
        return come[-1]

    yield stranger
    for one in come:
        one.leave()


@pytest.fixture(scope="module")
def spare(stack):
    return re.search(r"on the shelf: .* serial (\S+)", stack.at_the_rack(NODE))[1]


def link(operator: Visitor) -> str:
    operator.press("Make a link for a technician")
    expect(operator.heading("Link for a technician")).to_be_visible()
    address = operator.page.locator("#address").inner_text()
    assert faults(operator) == []
    picture(operator, "technician-link")
    operator.page.get_by_role("link", name=re.compile("^Back to run")).click()
    operator.step(SPARE)
    return address


def test_the_run_begins_with_hands(operator):
    operator.page.goto("/")
    wrong = operator.page.get_by_role("region", name="What is wrong now")
    wrong.get_by_role("link", name=re.compile("the disk of .* is DEGRADED")).click()
    operator.start(IN_ITS_BAY)
    now = operator.step(SPARE)
    expect(now).to_contain_text("If you stop here")
    expect(now).to_contain_text(f"Nothing has been changed on {NODE}")
    assert faults(operator) == []


def test_two_people_see_each_other_and_hear_each_other_at_once(operator, approver):
    approver.page.goto(operator.page.url)
    expect(operator.page.locator("#looking")).to_contain_text("approver looks at it too.")
    expect(approver.page.locator("#looking")).to_contain_text("operator looks at it too.")
    approver.page.get_by_label(COMMENT).fill("Bay 3 is behind the <cable> tray.")
    approver.press("Keep it in the ledger")
    expect(operator.page.locator(".sl-said")).to_contain_text("Bay 3 is behind the <cable> tray.")
    expect(approver.page.get_by_label(COMMENT)).to_have_value("")


def test_what_somebody_types_stays_while_others_act(operator, approver):
    operator.page.get_by_label(COMMENT).fill("half a sen")
    approver.page.get_by_label(COMMENT).fill("One more thing.")
    approver.press("Keep it in the ledger")
    expect(operator.page.locator(".sl-said").first).to_contain_text("One more thing.")
    expect(operator.page.get_by_label(COMMENT)).to_have_value("half a sen")
    operator.page.get_by_label(COMMENT).fill("")


def test_a_run_is_handed_over_and_back(operator, approver):
    approver.page.goto("/runs/")
    operator.page.get_by_text("Hand over", exact=True).click()
    operator.page.get_by_label("What the colleague should know").fill("I go off shift.")
    assert faults(operator) == []
    operator.press("Hand it over")
    expect(operator.page.get_by_text("approver is responsible for this run, handed over by operator")).to_be_visible()
    status = approver.page.locator("#alarms").get_by_role("status")
    expect(status).to_contain_text("handed run")
    approver.page.goto("/runs/")
    expect(approver.page.get_by_role("region", name="You are responsible for these").get_by_role("listitem")).to_have_count(1)
    assert faults(approver) == []
    status.get_by_role("link").click()
    picture(approver, "handed-over")
    approver.press("I have it")
    expect(approver.page.get_by_text("You are responsible for this run.")).to_be_visible()
    expect(operator.page.locator(".sl-events")).to_contain_text("approver took responsibility for the run")
    operator.press("Take responsibility")
    expect(operator.page.get_by_text("You are responsible for this run.")).to_be_visible()


def test_a_technician_opens_the_rack_with_a_link_and_nothing_else(operator, phone, spare):
    joe, address = phone(), link(operator)
    joe.page.goto(address)
    assert faults(joe) == []
    joe.page.set_viewport_size(PHONE)
    joe.page.get_by_label("Your name").fill("Joe")
    joe.press("Begin")
    expect(joe.heading(SPARE)).to_be_visible()
    assert faults(joe) == []
    joe.page.set_viewport_size(PHONE)
    picture(joe, "technician-step")
    expect(operator.page.locator("#links")).to_contain_text("Joe opened the link of operator")
    for path in ("/", "/runs/", "/approvals/", "/ledger/"):
        assert joe.page.goto(path).status == 403
    expect(joe.page.get_by_role("alert")).to_contain_text("It shows what is to be done at the rack and nothing else.")
    assert faults(joe) == []
    joe.page.set_viewport_size(PHONE)
    joe.page.get_by_role("link", name="Back to the rack").click()
    old = operator.page.locator(".sl-head .sl-mono").last.inner_text()
    joe.page.get_by_label(ASKED).fill(old)
    joe.press("Done")
    joe.refusal("is the disk that is to go")
    joe.page.get_by_label(ASKED).fill(spare)
    joe.press("Done")
    expect(joe.heading("Wait here")).to_be_visible()
    assert faults(joe) == []
    joe.page.set_viewport_size(PHONE)
    picture(joe, "technician-waits")
    operator.step("Check pool, member, disk and bay")
    expect(operator.page.locator(".sl-events")).to_contain_text("technician:Joe (link of operator)")
    joe.page.get_by_text("I leave the rack").click()
    joe.press("End my visit")
    expect(joe.heading("Done")).to_be_visible()
    assert joe.page.goto(address).status == 410
    expect(joe.page.get_by_role("alert")).to_contain_text("Joe has ended this visit.")


def test_the_link_works_without_javascript_and_ends_when_it_is_revoked(operator, phone, spare):
    operator.press(f"Back to: {SPARE}")
    operator.step(SPARE)
    address = link(operator)
    plain, second = phone(java_script_enabled=False), phone(java_script_enabled=False)
    plain.page.goto(address)
    plain.page.get_by_label("Your name").fill("Ida")
    plain.press("Begin")
    expect(plain.page.get_by_label(ASKED)).to_be_visible()
    assert second.page.goto(address).status == 410
    second.refusal("opened before, by a browser under the name Ida")
    expect(operator.page.locator("#links")).to_contain_text("Ida")
    operator.page.locator("#links").get_by_role("button", name="Revoke").click()
    expect(operator.page.locator("#links")).not_to_contain_text("Ida")
    plain.page.get_by_label(ASKED).fill(spare)
    plain.press("Done")
    plain.refusal("This link was revoked. Ask operator")


def test_a_page_open_on_the_phone_says_by_itself_that_the_step_is_over_and_the_link_revoked(operator, phone, spare):
    joe, address = phone(), link(operator)
    joe.page.goto(address)
    joe.page.get_by_label("Your name").fill("Joe")
    joe.press("Begin")
    expect(joe.heading(SPARE)).to_be_visible()
    operator.page.get_by_label(ASKED).fill(spare)
    operator.press("Done")
    operator.step("Check pool, member, disk and bay")
    expect(joe.heading("Wait here")).to_be_visible(timeout=PATIENCE)
    operator.page.locator("#links").get_by_role("button", name="Revoke").click()
    expect(joe.heading("This link opens nothing now")).to_be_visible(timeout=PATIENCE)


def test_every_answer_leads_to_the_capture_it_rests_on(operator):
    now = operator.step("Check pool, member, disk and bay")
    expect(now.locator("#safe")).to_contain_text("guards pass")
    now.get_by_text("that pass, and what each rests on").click()
    assert faults(operator) == []
    picture(operator, "why-safe")
    ground = now.locator(".sl-grounds a", has_text="zpool_status").first
    assert operator.page.request.get(ground.get_attribute("href")).status == 200


def goes(visitor, keys: str, heading: str) -> None:
    """Press `keys`; as a person would, again where nothing came of it: on a busy machine the two may arrive more than 1.5 s apart, and then they are no shortcut."""
    for _ in range(4):
        for key in keys:
            visitor.page.keyboard.press(key)
        with suppress(NotSeen):
            visitor.heading(heading).wait_for(timeout=5000)
            return
    expect(visitor.heading(heading)).to_be_visible()


def test_keys_lead_to_pages_and_never_while_one_types(operator):
    page, run = operator.page, operator.page.url
    page.get_by_label(COMMENT).press_sequentially("g a?/")
    assert page.url == run
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_label(COMMENT).fill("")
    page.get_by_label(COMMENT).blur()
    page.keyboard.press("Control+g")
    page.keyboard.press("a")
    assert page.url == run
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Approvals")
    expect(page.get_by_role("dialog").get_by_role("link", name="Open the guide")).to_have_attribute("href", re.compile("/docs/$"))
    assert faults(operator) == []
    page.keyboard.press("g")
    page.keyboard.press("a")
    assert page.url == run
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    for keys, heading in (("ga", "Approvals"), ("gl", "Ledger"), ("gf", "Fleet"), ("gr", "Runs")):
        goes(operator, keys, heading)
    page.goto(run)


def test_times_are_the_readers_own_with_utc_beside(operator, approver, visit):
    approver.page.goto(operator.page.url)
    begun = approver.page.locator(".sl-head time")
    expect(begun).to_contain_text("GMT+5:30")
    expect(begun).to_have_attribute("title", re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$"))
    assert begun.inner_text()[:16] != begun.get_attribute("title")[:16]
    plain = visit("operator", java_script_enabled=False)
    plain.page.goto(operator.page.url)
    expect(plain.page.locator(".sl-head time")).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$"))
    plain.page.get_by_label(COMMENT).fill("Without scripts.")
    plain.press("Keep it in the ledger")
    expect(plain.page.locator(".sl-said").first).to_contain_text("Without scripts.")
    expect(approver.page.locator(".sl-said").first).to_contain_text("Without scripts.")
    expect(begun).to_contain_text("GMT+5:30")  # still, after the page has changed by itself
    expect(plain.page.locator(".sl-copy")).to_have_count(0)


def test_what_is_copied_is_what_is_shown_and_is_said(operator):
    operator.context.grant_permissions(["clipboard-read", "clipboard-write"])
    operator.press("Check now")
    operator.step("Have the node plan it: take the member out of service")
    operator.press("Ask the node for its plan")
    operator.step("Confirm what is taken out of service")
    argv = operator.page.locator("#plan-argv")
    operator.page.locator("#plan-argv + .sl-copy").click()
    expect(operator.page.get_by_role("status").filter(has_text="Copied")).to_have_count(1)
    assert operator.page.evaluate("navigator.clipboard.readText()") == argv.inner_text()
    expect(operator.page.locator("#plan")).to_contain_text("What will be true afterwards")
    assert faults(operator) == []


def test_the_inbox_says_why_not_by_whom_and_until_when(operator, approver):
    operator.page.get_by_label("Confirmation").fill(operator.read_off_the_plan())
    operator.press("Confirm")
    operator.step("Have another person approve the plan")
    operator.page.goto("/approvals/")
    other = operator.page.get_by_role("region", name="Waiting for another person")
    expect(other).to_contain_text("You took part in this run.")
    expect(other).to_contain_text("Can be approved until")
    assert faults(operator) == []
    picture(operator, "inbox")
    approver.page.goto("/approvals/")
    expect(approver.page.get_by_role("region", name="Waiting for your approval")).to_contain_text("zpool offline")
    assert faults(approver) == []
    approver.page.get_by_role("link", name="Read the plan and decide").click()
    expect(approver.step("Have another person approve the plan")).to_contain_text("You approve exactly this")
    assert faults(approver) == []


def test_what_is_not_there_and_what_may_not_be_say_what_to_do(operator):
    assert operator.page.goto("/runs/99999/").status == 404
    assert faults(operator) == []


def test_no_page_complained(operator, approver):
    # A picture leaves empty style attributes on fields, which the next swap then tries to carry over.
    expected = re.compile(r"status of (404|409|410)" + ("|Applying inline style" if PICTURES else ""))
    assert [complaint for who in (operator, approver) for complaint in who.complaints if not expected.search(complaint)] == []
