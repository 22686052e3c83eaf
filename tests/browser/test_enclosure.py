"""The drawn enclosure as people use it: by finger, by keyboard, without JavaScript, and while a light goes on."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.people import PHONE
from twin import demo
from twin.host import TwinHost

SHELF = "/nodes/oss01/enclosures/0x50050cc11ac016e2/"
FINGER = 24  # CSS pixels, as WCAG 2.2 asks for a target
BAYS = "a.sl-slot, g.sl-slot[role=img]"


@pytest.fixture(scope="module")
def operator(visit):
    """Comes once the node has reported: before, nobody knows of a shelf."""
    visitor = visit("operator")
    visitor.page.goto("/nodes/oss01/")
    expect(visitor.page.locator(BAYS).first).to_be_attached(timeout=60_000)
    return visitor


def bay(page, slot):
    return page.locator(f'[aria-label^="Bay {slot}:"]')


def test_84_bays_fit_a_phone_and_each_is_as_large_as_a_finger_needs(operator):
    page = operator.page
    page.set_viewport_size(PHONE)
    page.goto(SHELF)
    expect(page.locator(BAYS)).to_have_count(84)
    box = bay(page, 12).locator(".touch").bounding_box()
    assert min(box["width"], box["height"]) >= FINGER
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_bay_is_reached_by_keyboard_and_leads_to_its_disk_and_back_to_its_vdev(operator):
    page = operator.page
    page.goto(SHELF)
    bay(page, 68).focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/disks/naa:5000cca273a7d9e8/"))
    page.get_by_role("link", name="bay 68 of 0x50050cc11ac016e2", exact=True).click()
    expect(page.get_by_text("has 9 members here")).to_be_visible()
    expect(page.locator(".sl-slot.chosen")).to_have_count(9)


def test_without_javascript_the_colours_and_the_vdev_are_links(operator, visit):
    page = visit("approver", java_script_enabled=False).page
    page.goto(SHELF)
    page.get_by_role("link", name="by pool", exact=True).click()
    page.get_by_role("link", name="ost_0 raidz2-1", exact=True).click()
    expect(page).to_have_url(re.compile(r"\?tint=pool&vdev="))
    expect(page.locator(".sl-slot.chosen")).to_have_count(10)
    expect(page.locator(".sl-slot.pool-0 .mark").first).to_have_text("A")


def test_a_light_that_goes_on_is_drawn_on_the_page_that_is_open(operator, stack):
    page = operator.page
    page.goto(f"{SHELF}?tint=pool")
    expect(bay(page, 10).locator("circle.on")).to_have_count(0)
    TwinHost(demo.state_path(stack.data / "demo", "oss01")).write("/sys/class/enclosure/6:0:89:0/10/locate", b"1")
    expect(bay(page, 10).locator("circle.on")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("bay 10 (locate on, fault off)")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?tint=pool$"))
    assert operator.complaints == []
