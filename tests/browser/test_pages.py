"""Every page in the four looks a customer sees it in: nothing serious for axe, nothing wider than the screen.

Then the readers who are easily forgotten: one without JavaScript, and one who may only look.
"""

import re
from functools import cache
from itertools import product

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.pages import PAGES
from tests.browser.people import DESKTOP, PHONE, Visitor

LOOKS = tuple(product(("light", "dark"), (DESKTOP, PHONE)))
GRAVE = ("serious", "critical")
RAW_MARKS = """() => {
  const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode())
    if (text.data.includes("`") && !text.parentElement.closest("pre, code, textarea, script")) found.push(text.data.trim().slice(0, 120));
  return found;
}"""
BLANK = "naa:5000c500a670c5fb"


@pytest.fixture(scope="module")
def operator(visit):
    return visit("operator")


def faults(visitor: Visitor) -> list[str]:
    """What is wrong with the page as it is open now, in every look."""
    page = visitor.page
    found = []
    for scheme, viewport in LOOKS:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_viewport_size(viewport)
        page.locator(f"html[data-bs-theme={scheme}]").wait_for()
        look = f"{scheme}, {viewport['width']} px"
        wider = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        found += [f"{look}: {wider} px wider than the screen"] if wider > 0 else []
        found += [f"{look}: {complaint}" for complaint in complaints(page)]
    page.set_viewport_size(DESKTOP)
    return found + [f"a command is printed with its marks: {text}" for text in page.evaluate(RAW_MARKS)]


def complaints(page) -> list[str]:
    violations = Axe().run(page).response["violations"]
    return [f"{v['id']} at {node['target']}: {node['failureSummary']}" for v in violations if v["impact"] in GRAVE for node in v["nodes"]]


def test_the_sign_in_page_is_sound_and_a_wrong_password_gets_a_sentence(operator, chromium, stack):
    stranger = Visitor.at_the_door(chromium, stack)
    assert faults(stranger) == []
    stranger.page.get_by_label("Name").fill("operator")
    stranger.page.get_by_label("Password").fill("wrong")
    stranger.press("Sign in")
    expect(stranger.page.get_by_role("alert")).to_be_visible()
    assert faults(stranger) == []
    stranger.leave()


@pytest.fixture(scope="module")
def as_them(visit):
    """Who opens pages, signed in once each."""
    return cache(visit)


@pytest.mark.parametrize("title", PAGES)
def test_the_page_is_sound(as_them, title):
    who, path = PAGES[title]
    visitor = as_them(who)
    assert visitor.page.goto(path).status == 200
    assert faults(visitor) == []


def test_the_page_of_a_channel_is_sound(as_them):
    admin = as_them("admin")
    admin.page.goto("/notices/channels/add/")
    admin.page.locator("#id_name").fill("On call")
    admin.page.locator("#id_url").fill("json://127.0.0.1:9/x")
    admin.page.locator("main button.btn-primary").click()
    admin.page.goto("/notices/")
    admin.page.get_by_role("link", name="On call", exact=True).click()
    expect(admin.heading("On call")).to_be_visible()
    assert faults(admin) == []


def test_the_run_is_sound_at_every_step(operator, visit):
    operator.open_incident()
    assert faults(operator) == []
    operator.start()
    operator.step("Choose the new disk")
    assert faults(operator) == []
    operator.take("sdcw")
    operator.refusal("already member")
    assert faults(operator) == []
    operator.take(BLANK)
    operator.step("Check pool, lost member and new disk")
    operator.press("Check now")
    operator.step("Have the node plan it")
    operator.press("Ask the node for its plan")
    operator.step("Confirm what is replaced")
    assert faults(operator) == []
    operator.page.get_by_label("Confirmation").fill("581455 ost_0")
    operator.press("Confirm")
    operator.step("Have another person approve the plan")
    assert faults(operator) == []
    approver = visit("approver")
    approver.page.goto("/approvals/")
    assert faults(approver) == []
    approver.page.get_by_role("link", name="ost_0 on oss01").click()
    approver.step("Have another person approve the plan")
    assert faults(approver) == []
    approver.press("Approve this plan")
    operator.step("Replace the disk")
    assert faults(operator) == []


def test_a_person_without_rights_sees_everything_and_no_button(operator, visit):
    viewer = visit("viewer")
    viewer.open_incident()
    viewer.page.get_by_role("link", name=re.compile("Go on with run")).click()
    expect(viewer.step("Replace the disk")).to_contain_text("Your account may look")
    expect(viewer.page.locator("#plan-argv")).to_contain_text("zpool replace ost_0")
    for button in ("Replace the disk", "End the run", "Approve this plan"):
        expect(viewer.button(button)).to_have_count(0)
    viewer.page.goto("/nodes/oss01/")
    expect(viewer.page.get_by_text("Asking a node needs the operator's right.")).to_be_visible()
    assert faults(viewer) == []


def test_the_first_steps_work_without_javascript(operator, visit):
    end_the_run(operator)
    plain = visit("operator", java_script_enabled=False)
    plain.open_incident()
    plain.start()
    plain.step("Choose the new disk")
    plain.take("sdfl")
    plain.refusal("is already member 1779373169119696648 of ost_0")
    plain.take(BLANK)
    plain.step("Check pool, lost member and new disk")
    plain.press("Check now")
    plain.step("Have the node plan it")
    plain.press("Ask the node for its plan")
    plain.until_reloaded("Confirm what is replaced")
    plain.page.get_by_label("Confirmation").fill("no such thing")
    plain.press("Confirm")
    plain.refusal("What was typed is not what the plan says")
    expect(plain.page.get_by_label("Confirmation")).to_have_value("no such thing")


def end_the_run(visitor: Visitor) -> None:
    visitor.open_incident()
    visitor.page.get_by_role("link", name=re.compile("Go on with run")).click()
    visitor.page.get_by_text("End this run").click()
    visitor.page.get_by_label("Why it ends here").fill("Rehearsal.")
    visitor.press("End the run")
    expect(visitor.page.locator(".sl-head")).to_contain_text("ended by a person")


def test_a_node_is_asked_again_from_its_page(operator):
    operator.page.goto("/nodes/oss01/")
    operator.page.get_by_label("Source").select_option("zpool_status")
    operator.press("Read it again")
    answer = operator.page.locator("#look-answer")
    expect(answer).to_contain_text("answered in")
    expect(answer).to_contain_text("pool: ost_0")


def test_every_source_is_read_again_and_the_page_says_how_far_it_is(operator):
    operator.page.goto("/nodes/oss01/")
    operator.page.get_by_label("Source").select_option("every source")
    operator.press("Read it again")
    far = operator.page.locator("#looks")
    expect(far.get_by_role("progressbar")).to_be_visible()
    expect(far.get_by_role("status")).to_have_text(re.compile("All [0-9]+ sources are through"))
    expect(far).to_contain_text("answered in")
    assert faults(operator) == []


def test_how_far_it_is_needs_no_javascript(visit):
    plain = visit("operator", java_script_enabled=False)
    plain.page.goto("/nodes/oss03/?whole=1")
    plain.page.get_by_label("Source").select_option("every source")
    plain.press("Read it again")
    expect(plain.page.locator("#looks").get_by_role("status")).to_have_text(re.compile("sources are through"))
    for _ in range(20):
        if not plain.page.get_by_role("link", name="Look how far it is").count():
            break
        plain.page.get_by_role("link", name="Look how far it is").click()
        plain.page.wait_for_timeout(500)
    expect(plain.page.locator("#looks").get_by_role("status")).to_have_text(re.compile("All [0-9]+ sources are through"))


def open_a_run(visitor: Visitor) -> None:
    visitor.open_incident()
    there = visitor.page.get_by_role("link", name=re.compile("Go on with run"))
    there.or_(visitor.page.get_by_role("button", name=re.compile("^Start: "))).first.click()
    visitor.page.wait_for_url(re.compile("/runs/[0-9]+/"))


def test_a_copy_says_how_far_it_is_while_it_is_made(operator):
    open_a_run(operator)
    held = []
    operator.page.route(re.compile("/bundle.zip"), lambda route: held.append(route))  # noqa: PLW0108 (playwright cannot wrap a builtin)
    operator.page.route(re.compile("/progress/"), lambda route: route.fulfill(json={"doing": "Proving events", "through": 3, "of": 12}))
    copying = operator.page.locator(".sl-copying")
    with operator.page.expect_download() as come:
        operator.page.get_by_role("link", name="Audit trail (zip)").click()
        expect(copying).to_contain_text("Proving events, 3 of 12")
        assert faults(operator) == []
        held[0].continue_()
    assert come.value.suggested_filename.startswith("slotlight-run-")
    expect(copying).to_contain_text(re.compile(r"slotlight-run-[0-9]+\.zip, [0-9.]+ (KiB|MiB), after"))
    operator.page.unroute_all()


def test_a_copy_that_cannot_be_made_says_so(operator):
    open_a_run(operator)
    operator.page.route(re.compile("/bundle.zip"), lambda route: route.abort())
    operator.page.get_by_role("link", name="Audit trail (zip)").click()
    expect(operator.page.locator(".sl-copying")).to_contain_text("No copy was made: the portal was not reached.")
    operator.page.unroute_all()
    operator.complaints[:] = [complaint for complaint in operator.complaints if "ERR_FAILED" not in complaint]


def test_no_page_complained(operator):
    assert [complaint for complaint in operator.complaints if "409 (Conflict)" not in complaint] == []
