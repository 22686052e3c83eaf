"""Steps that every walk through a runbook in the browser has: plan, confirm, approve, the step on the phone, the end; and pictures of them."""

import os
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.browser.people import PHONE, Visitor

PATIENCE = 90_000
PICTURES = os.environ.get("SLOTLIGHT_PICTURES", "")  # a folder for pictures of every step
APPROVE = "Have another person approve the plan"


def picture(visitor: Visitor, name: str) -> None:
    """The whole page; of a phone what its screen shows."""
    if PICTURES:
        whole = visitor.page.viewport_size != PHONE
        for scheme in ("light", "dark"):
            visitor.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            visitor.page.screenshot(path=Path(PICTURES) / f"{name}-{scheme}.png", full_page=whole)


def now(technician: Visitor, title: str) -> None:
    """The one step on the technician's phone, once it is this one."""
    expect(technician.heading(title)).to_be_visible(timeout=PATIENCE)


def confirm(operator: Visitor, approver: Visitor, title: str, read_off: Callable[[], str]) -> None:
    operator.step(title)
    operator.page.get_by_label("Confirmation").fill(read_off())
    operator.press("Confirm")
    approve(operator, approver)


def approve(operator: Visitor, approver: Visitor) -> None:
    operator.step(APPROVE)
    approver.page.goto(operator.page.url)
    approver.step(APPROVE)
    approver.press("Approve this plan")


def plan(operator: Visitor, title: str) -> None:
    operator.step(title)
    operator.press("Ask the node for its plan")


def comes(operator: Visitor, title: str) -> Locator:
    """The run comes to this step by itself, in its own time."""
    step = operator.page.locator("[aria-current=step]").filter(has_text=title)
    expect(step).to_be_visible(timeout=PATIENCE)
    return step


def ended(operator: Visitor, how: str) -> None:
    expect(operator.page.locator(".sl-head .sl-state")).to_contain_text(how, timeout=PATIENCE)
