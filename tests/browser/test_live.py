"""What an open page does by itself: it hears the last of several rings, shows it, and leaves its reader alone."""

import pytest
from playwright.sync_api import expect

from tests.browser.people import Visitor
from tests.browser.steps import PATIENCE

SOON = 6_000  # well before a page looks by itself
RINGS = """
import time
from app.realtime.publish import ring
from app.fleet.models import Node
for mode in ("operate", "observe", "operate", "observe"):
    Node.objects.filter(name="mds01").update(mode=mode)
    ring("node:mds01"); ring("fleet")
    time.sleep(0.05)
"""
NOTED = """
from app.realtime.publish import ring
from app.ledger.services import record
from django.db import transaction
with transaction.atomic():
    record("run.noted", {"reason": "%(words)s"}, "somebody", run="%(run)s", node="oss01")
    ring("run:%(run)s")
"""


@pytest.fixture(scope="module")
def operator(visit):
    return visit("operator")


def quiet(visitor: Visitor) -> None:
    """Nothing but the bell: what this page would find by looking by itself must not help it."""
    visitor.page.add_init_script(
        "const later = window.setTimeout; window.setTimeout = (f, ms, ...a) => ms > 4000 ? 0 : later(f, ms, ...a);"
    )


def test_the_last_of_several_rings_is_shown(visit, stack):
    reader = visit("operator")
    reader.page.goto("/nodes/mds01/")
    head = reader.page.locator("#node .sl-head")
    expect(head).to_contain_text("may operate", timeout=PATIENCE)  # it has reported; a page that looks by itself misses no first report
    quiet(reader)
    reader.page.reload()
    expect(head).to_contain_text("may operate", timeout=PATIENCE)
    reader.page.wait_for_timeout(500)
    stack.manage("shell", "-c", RINGS)
    expect(head).to_contain_text("observes only", timeout=SOON)


def started(operator: Visitor) -> str:
    operator.open_incident()
    operator.start()
    operator.step("Choose the new disk")
    return operator.page.url.rstrip("/").rpartition("/")[2]


def test_what_is_typed_opened_picked_and_scrolled_stays_and_nothing_jumps(operator, stack):
    run, page = started(operator), operator.page
    page.get_by_text("End this run").click()
    page.get_by_text("that cannot be taken, and why").click()
    pick = page.locator("label.sl-option").filter(has_text="sdcw").locator("input")
    pick.check()
    reason = page.get_by_label("Why it ends here")
    reason.fill("half a sentence, still being ty")
    reason.scroll_into_view_if_needed()
    page.evaluate("document.activeElement.setSelectionRange(5, 9)")
    at, top = page.evaluate("scrollY"), reason.bounding_box()["y"]
    stack.manage("shell", "-c", NOTED % {"run": run, "words": "first"})
    expect(page.locator(".sl-events")).to_contain_text("run noted: first", timeout=SOON)
    expect(reason).to_have_value("half a sentence, still being ty")
    expect(reason).to_be_focused()
    assert page.evaluate("[document.activeElement.selectionStart, document.activeElement.selectionEnd]") == [5, 9]
    expect(pick).to_be_checked()
    expect(page.locator("details#end")).to_have_attribute("open", "")
    line = page.locator(".sl-events li").first.bounding_box()["height"]
    moved = abs(reason.bounding_box()["y"] - top)
    assert page.evaluate("scrollY") - at <= line + 2, "the page went where its reader did not"
    assert moved <= line + 2, "nothing moved but by the line that came above it"
    page.keyboard.type("X")
    expect(reason).to_have_value("half Xntence, still being ty")


def test_what_a_refusal_says_stays_until_it_is_read(operator, stack):
    page = operator.page
    operator.press("Take this disk")
    shown = operator.refusal("already member")
    page.wait_for_timeout(6_000)
    expect(shown).to_be_visible()


# Marked as a look leaves and read as it has been laid: an answer to an earlier look may arrive in between and lay a page of its own.
NEXT_LOOK = """
() => new Promise(seen => {
  const heading = () => document.querySelector("#yours");
  document.addEventListener("htmx:beforeRequest", () => {
    heading().dataset.mark = "mine";
    document.addEventListener("htmx:afterRequest", event => seen([event.detail.xhr.status, heading().dataset.mark ?? ""]), {once: true});
  }, {once: true});
})
"""


def test_a_page_that_finds_nothing_new_is_not_touched(operator):
    page = operator.page
    page.goto("/approvals/")
    looks = [page.evaluate(NEXT_LOOK) for _ in range(2)]
    assert [204, "mine"] in looks, f"the page says how many minutes ago something was, and only one of {looks} can have met a new minute"
    assert all(status in (200, 204) and (status == 200 or mark == "mine") for status, mark in looks)


def test_who_signed_out_elsewhere_is_asked_to_sign_in(visit):
    reader = visit("operator")
    reader.page.goto("/approvals/")
    reader.context.clear_cookies()
    again = reader.page.get_by_role("link", name="Sign in again")
    expect(again).to_be_visible(timeout=20_000)
    again.click()
    expect(reader.page.get_by_label("Password")).to_be_visible()


def test_no_page_complained(operator):
    assert [complaint for complaint in operator.complaints if "409 (Conflict)" not in complaint] == []
