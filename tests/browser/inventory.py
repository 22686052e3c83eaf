"""A picture of every page, as a customer sees it: `.venv/bin/python -m tests.browser.inventory` writes docs/pages.

Take them again when pages have changed, and look at each one. Pictures are cut where a screen and a half ends.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from io import BytesIO

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.pages import PAGES
from tests.browser.people import DESKTOP, PHONE, Visitor
from tests.browser.picture import plan_ready
from tests.browser.stack import ROOT, Stack

FOLDER = ROOT / "docs" / "pages"
LOOKS: Mapping[str, tuple[str, dict[str, int]]] = {"light": ("light", DESKTOP), "dark": ("dark", DESKTOP), "phone": ("light", PHONE)}
HIGHEST = 1500
SETTLE_MS = 400
HEAD = """\
# Every page

Taken from the demo fleet by `python -m tests.browser.inventory`: light and dark at 1280 px, and at 390 px. A test holds that no page is left out.

| page | light | dark | phone |
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
    rows = (f"| {title} | " + " | ".join(f"![{look}](pages/{slug(title)}-{look}.webp)" for look in LOOKS) + " |" for title in titles)
    (FOLDER.parent / "pages.md").write_text(HEAD + "\n".join(rows) + "\n")


def taken(visit) -> Iterator[str]:
    """The title of each page, once it stands in its folder."""
    FOLDER.mkdir(exist_ok=True)
    stranger = Visitor.at_the_door(visit("operator").context.browser, visit("operator").stack)
    yield shot("sign in", stranger.page, stranger.page.url)
    for title, (who, path) in PAGES.items():
        yield shot(title, visit(who).page, path)
    operator = visit("operator")
    operator.open_incident()
    yield shot("situation", operator.page, operator.page.url)
    run = plan_ready(operator)
    yield shot("run, waiting for approval", operator.page, run)
    yield shot("run, as the approver reads it", visit("approver").page, run)
    yield shot("approvals with one waiting", visit("approver").page, "/approvals/")
    yield shot("run, as a phone shows it", visit("technician").page, f"{run.rstrip('/')}/now/")


def shot(title: str, page: Page, path: str) -> str:
    for look, (scheme, viewport) in LOOKS.items():
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.goto(path)
        page.wait_for_timeout(SETTLE_MS)
        whole = Image.open(BytesIO(page.screenshot(full_page=True)))
        whole.crop((0, 0, whole.width, min(whole.height, HIGHEST))).save(FOLDER / f"{slug(title)}-{look}.webp", quality=70, method=6)
    return title


def slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


if __name__ == "__main__":
    main()
