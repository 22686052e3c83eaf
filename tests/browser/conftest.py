"""Chromium and a running stack. Without Chromium every test here is skipped, and the summary says why.

Everything ends when pytest leaves this folder: Playwright's own loop runs in this thread, and Django refuses its
database to a thread with a running loop.
"""

import os
from pathlib import Path

import pytest

from tests.browser.people import PHONE, Visitor
from tests.browser.stack import Stack

CHROMIUM = os.environ.get("SLOTLIGHT_CHROMIUM", "/usr/bin/chromium")
FLAGS = (
    "--no-sandbox",  # the tests may run as root, and the pages are our own
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="package")
def chromium():
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no Chromium at {CHROMIUM}: install it, or say in SLOTLIGHT_CHROMIUM where it is; the browser tests did not run")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def stack(chromium, request):
    """A fresh demo fleet, or what the module's `STACK` names. It asks for Chromium first, so that nothing is started in vain."""
    running = Stack(*getattr(request.module, "STACK", ()))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def visit(chromium, stack):
    """`visit("operator", **context options)`: a browser of their own, signed in."""
    visitors: list[Visitor] = []

    def come(name: str, **options) -> Visitor:
        visitors.append(Visitor(chromium, stack, name, **options))
        return visitors[-1]

    yield come
    for visitor in visitors:
        visitor.leave()


@pytest.fixture(scope="module")
def operator(visit):
    return visit("operator")


@pytest.fixture(scope="module")
def approver(visit):
    return visit("approver")


@pytest.fixture(scope="module")
def technician(visit):
    """The operator once more, at the rack."""
    return visit("operator", viewport=PHONE, has_touch=True, is_mobile=True)
