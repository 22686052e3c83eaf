"""The picture of the run page in docs/, taken from a fresh demo: `.venv/bin/python -m tests.browser.picture`.

Take it again when the page has changed. It shows the plan as the approver reads it.
"""

from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.people import Visitor
from tests.browser.stack import ROOT, Stack

PICTURE = ROOT / "docs" / "run-page.png"
FRAME = {"width": 1280, "height": 960}


def main() -> None:
    stack = Stack()
    try:
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            ready = plan_ready(Visitor(chromium, stack, "operator"))
            take(Visitor(chromium, stack, "approver", viewport=FRAME), ready, PICTURE)
            chromium.close()
    finally:
        stack.stop()


def plan_ready(operator: Visitor) -> str:
    """Walk to the step where another person must approve; returns where that is."""
    operator.open_incident()
    operator.start()
    operator.step("Choose the new disk")
    operator.take("sdcx")
    operator.step("Check pool, lost member and new disk")
    operator.press("Check now")
    operator.step("Have the node plan it")
    operator.press("Ask the node for its plan")
    operator.step("Confirm what is replaced")
    operator.page.get_by_label("Confirmation").fill("581455 ost_0")
    operator.press("Confirm")
    operator.step("Have another person approve the plan")
    return operator.page.url


def take(approver: Visitor, url: str, picture: Path) -> None:
    approver.page.goto(url)
    approver.step("Have another person approve the plan")
    picture.parent.mkdir(exist_ok=True)
    approver.page.screenshot(path=picture)


if __name__ == "__main__":
    main()
