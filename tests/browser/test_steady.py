"""No button takes another's place under a finger: one that has just come with another step takes no click for a moment."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

SCRIPT = Path(__file__).resolve().parents[2] / "static" / "steady.js"
ADDRESS = "http://steady.test"
PAGE = """<!doctype html><title>steady</title><script src="/steady.js" defer></script>
<main><div class="{place}" id="place">{form}</div><form id="comment"><button>Keep it</button></form></main>"""
FORM = """<form id="step-{step}"><div class="sl-actions"><button name="act" value="{step}">{step}</button></div></form>"""
# Whoever presses in the very moment in which the page has changed: the finger was on its way before.
PRESSED_AT_ONCE = """
html => new Promise(done => {
  const seen = new MutationObserver(() => {
    seen.disconnect();
    document.querySelector("#place button").click();
    done();
  });
  seen.observe(document.body, {childList: true, subtree: true});
  document.querySelector("#place").innerHTML = html;
})
"""
SENT = "() => { window.sent = []; addEventListener('submit', e => { e.preventDefault(); window.sent.push(e.submitter.value); }); }"


@pytest.fixture(params=["sl-now", "sl-rack", "sl-glass"])
def page(request, chromium: Browser):
    place = request.param
    tab = chromium.new_page(base_url=ADDRESS)
    html = PAGE.format(place=place, form=form("check", place))
    tab.route(f"{ADDRESS}/", lambda route: route.fulfill(body=html, content_type="text/html"))
    tab.route(f"{ADDRESS}/steady.js", lambda route: route.fulfill(body=SCRIPT.read_text(), content_type="text/javascript"))
    tab.goto("/")
    tab.evaluate(SENT)
    tab.place = place
    yield tab
    tab.close()


def form(step: str, place: str) -> str:
    made = FORM.format(step=step)
    return made.replace("<button ", '<button class="btn-danger" ') if place == "sl-glass" else made


def sent(page: Page) -> list[str]:
    return page.evaluate("window.sent")


def test_the_button_of_another_step_takes_no_click_in_its_first_second_and_then_it_does(page):
    page.get_by_role("button", name="check").click()
    assert sent(page) == ["check"], "what stood there as the page came takes clicks at once"
    page.evaluate(PRESSED_AT_ONCE, form("execute", page.place))
    assert sent(page) == ["check"], "it was pressed for another"
    button = page.get_by_role("button", name="execute")
    expect(button).to_have_attribute("aria-disabled", "true")
    button.click(force=True)
    assert sent(page) == ["check"]
    expect(button).not_to_have_attribute("aria-disabled", "true", timeout=3_000)
    button.click()
    assert sent(page) == ["check", "execute"]


def test_the_same_step_asked_again_takes_clicks_at_once(page):
    """Whoever corrects a word after a refusal does not wait."""
    page.evaluate(PRESSED_AT_ONCE, form("check", page.place).replace("<button", "<p>That is not it.</p><button"))
    assert sent(page) == ["check"]


def test_what_stands_beside_the_step_never_rests(page):
    page.evaluate(PRESSED_AT_ONCE, form("execute", page.place))
    page.get_by_role("button", name="Keep it").click()
    assert sent(page) == [""]
