"""A rehearsal in the browser: from the situation to the end, with and without JavaScript, by somebody who may only look."""

from playwright.sync_api import expect

from tests.browser.people import Visitor
from tests.browser.test_pages import BLANK, faults

BANNER = "Rehearsal: nothing leaves this page."


def rehearsed(visitor: Visitor) -> None:
    """As far as the choice of the disk, and then to the end."""
    visitor.open_incident()
    visitor.press("Rehearse it")
    expect(visitor.page.get_by_role("note").filter(has_text=BANNER)).to_be_visible()
    expect(visitor.heading("Choose here")).to_be_visible()
    assert faults(visitor) == []
    visitor.page.locator("label.sl-option").filter(has_text=BLANK).locator("input").check()
    visitor.press("Go on with the rehearsal")
    expect(visitor.page.get_by_text("The run would come to its end.")).to_be_visible()
    expect(visitor.page.locator("#commands")).to_contain_text(
        "zpool replace ost_0 14718944552882581455 /dev/disk/by-id/wwn-0x5000c500a670c5fb"
    )
    expect(visitor.heading("The pool at the end")).to_be_visible()


def test_who_may_only_look_rehearses_the_incident_and_no_run_begins(visit):
    viewer = visit("viewer")
    rehearsed(viewer)
    assert faults(viewer) == []
    expect(viewer.page.get_by_role("note").filter(has_text=BANNER)).to_be_visible()
    viewer.page.goto("/runs/")
    expect(viewer.page.locator("main")).not_to_contain_text("ost_0")
    assert viewer.complaints == []


def test_it_works_without_javascript(visit):
    plain = visit("operator", java_script_enabled=False)
    plain.open_incident()
    plain.press("Rehearse it")
    expect(plain.page.get_by_text(BANNER)).to_be_visible()
    expect(plain.heading("Choose here")).to_be_visible()  # the page loads itself again
    plain.press("Go on with the rehearsal")
    expect(plain.page.get_by_text("The run would come to its end.")).to_be_visible()
