"""A picture of every page, as a customer sees it: `.venv/bin/python -m tests.browser.inventory` writes docs/pages.

Take them again when pages have changed, and look at each one. Pictures are cut where a high screen ends.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from io import BytesIO

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.journeys import JOURNEYS
from tests.browser.pages import PAGES
from tests.browser.people import DESKTOP, PHONE, Visitor, code_of
from tests.browser.picture import plan_ready
from tests.browser.stack import ROOT, Stack

FOLDER = ROOT / "docs" / "pages"
LOOKS: Mapping[str, tuple[str, dict[str, int]]] = {"light": ("light", DESKTOP), "dark": ("dark", DESKTOP), "phone": ("light", PHONE)}
HIGHEST = 1500
QUALITY, WIDEST = 60, 960  # what is kept of a picture: enough to read it, and a few megabytes in all
SETTLE_MS = 400
DONE_MS = 90_000
HEAD = """\
# Every page, and the journeys through them

Taken from the demo fleet by `python -m tests.browser.inventory`: light and dark at 1280 px, and at 390 px. Every page that can be opened is
here; a test holds that none is left out. What a phone shows at the rack is in [phone](phone/README.md).

| page | light | dark | phone |
|---|---|---|---|
"""
WALKS = """
## The ten journeys

Each is walked in a real browser by the tests in `tests/browser/`, on the whole stack, and again without JavaScript.

| who | what | walked by | without JavaScript |
|---|---|---|---|
"""


def main() -> None:
    stack = Stack()
    try:
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            visit = cache(lambda who: Visitor(chromium, stack, who))
            titles = list(taken(visit))
            chromium.close()
    finally:
        stack.stop()
    (FOLDER.parent / "pages.md").write_text(text(titles))


def text(titles: Iterable[str]) -> str:
    """docs/pages.md."""
    pictures = (f"| {title} | " + " | ".join(f"![{look}](pages/{slug(title)}-{look}.webp)" for look in LOOKS) + " |" for title in titles)
    walks = (f"| {one.who} | {one.what} | {_tests(one.walked)} | {_tests(one.plain)} |" for one in JOURNEYS)
    return HEAD + "\n".join(pictures) + "\n" + WALKS + "\n".join(walks) + "\n"


def _tests(names: Iterable[str]) -> str:
    return "<br>".join(f"`{name}`" for name in names)


def taken(visit) -> Iterator[str]:
    """The title of each page, once it stands in its folder."""
    FOLDER.mkdir(exist_ok=True)
    for part in (at_the_door, by_address, of_a_collection, of_an_incident, afterwards, of_an_administrator):
        yield from part(visit)


def at_the_door(visit) -> Iterator[str]:
    technician, stranger = visit("technician"), Visitor.at_the_door(visit("operator").context.browser, visit("operator").stack)
    yield shot("sign in", stranger.page, stranger.page.url)
    set_up_an_app(technician)
    yield shot("recovery codes", technician.page, "/account/codes/")
    yield shot("remove the app", technician.page, "/account/app/remove/")
    stranger.page.get_by_label("Name").fill("technician")
    stranger.page.get_by_label("Password").fill(technician.stack.passwords["technician"])
    stranger.press("Sign in")
    yield shot("second step of signing in", stranger.page, stranger.page.url)
    stranger.leave()


def set_up_an_app(person: Visitor) -> None:
    person.page.goto("/account/app/")
    person.page.get_by_label("Code", exact=True).fill(code_of(person.page.locator("#totp-secret").inner_text()))
    person.press("Use this app from now on")


def by_address(visit) -> Iterator[str]:
    for title, (who, path) in PAGES.items():
        yield shot(title, visit(who).page, path)
    yield shot("an address with nothing behind it", visit("operator").page, "/runs/99999/")
    yield shot("a page that is not for this person", visit("viewer").page, "/people/")


def of_a_collection(visit) -> Iterator[str]:
    operator = visit("operator")
    operator.page.goto("/nodes/oss01/")
    operator.page.get_by_label("Source").select_option("every source")
    operator.press("Read it again")
    expect(operator.page.locator("#looks").get_by_role("status")).to_contain_text("All")
    operator.page.locator("#looks h2 a").click()
    yield shot("every source of a node, read again", operator.page, operator.page.url)


def of_an_incident(visit) -> Iterator[str]:
    operator, approver = visit("operator"), visit("approver")
    operator.open_incident()
    yield shot("situation", operator.page, operator.page.url)
    operator.press("Rehearse it")
    expect(operator.heading("Choose here")).to_be_visible()
    yield shot("rehearsal", operator.page, operator.page.url)
    run = plan_ready(operator)
    yield shot("run, waiting for approval", operator.page, run)
    yield shot("run, as the approver reads it", approver.page, run)
    yield shot("approvals with one waiting", approver.page, "/approvals/")
    yield shot("run, as a phone shows it", visit("technician").page, f"{run.rstrip('/')}/now/")
    approver.page.goto(run)
    approver.press("Approve this plan")
    operator.step("Replace the disk")
    yield shot("run, before the command", operator.page, run)
    operator.press("Replace the disk")
    operator.step("Wait for the resilver")
    yield shot("run, while the disk is filled", operator.page, run)
    expect(operator.page.locator(".sl-head")).to_contain_text("done", timeout=DONE_MS)
    yield shot("run, done", operator.page, run)
    yield shot("runs with one that has ended", operator.page, "/runs/")


def afterwards(visit) -> Iterator[str]:
    operator = visit("operator")
    page = operator.page
    page.goto("/postmortems/")
    page.get_by_label("What happened, in a few words").fill("A bay swapped at night")
    page.get_by_role("checkbox").first.check()
    operator.press("Begin the postmortem")
    expect(operator.heading("A bay swapped at night")).to_be_visible()
    yield shot("postmortem", page, page.url)
    page.get_by_role("link", name="Edit the narrative").click()
    yield shot("postmortem, its narrative", page, page.url)
    page.goto("/ledger/?type=report.changed")
    page.get_by_role("region", name="Events").get_by_role("link", name=re.compile(r"^\d+$")).first.click()
    page.locator('a[href*="/ledger/evidence/"]').first.click()
    yield shot("evidence", page, page.url)


def of_an_administrator(visit) -> Iterator[str]:
    admin = visit("admin")
    page = admin.page
    page.goto("/notices/channels/add/")
    page.locator("#id_name").fill("On call, storage")
    page.locator("#id_url").fill("json://192.0.2.10/oncall")
    page.locator("main button.btn-primary").click()
    page.goto("/notices/")
    page.get_by_role("link", name="On call, storage").click()
    yield shot("a channel", page, page.url)


def shot(title: str, page: Page, path: str) -> str:
    for look, (scheme, viewport) in LOOKS.items():
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.goto(path)
        page.wait_for_timeout(SETTLE_MS)
        # As high a screen as the page is: what is fixed to its lower edge stands there, and nowhere in the middle of a text.
        height = min(page.evaluate("document.documentElement.scrollHeight"), HIGHEST)
        page.set_viewport_size({**viewport, "height": max(height, viewport["height"])})
        page.wait_for_timeout(SETTLE_MS)
        whole = Image.open(BytesIO(page.screenshot()))
        whole.thumbnail((WIDEST, HIGHEST))
        whole.save(FOLDER / f"{slug(title)}-{look}.webp", quality=QUALITY, method=6)
    return title


def slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


if __name__ == "__main__":
    main()
