"""What a page does when its answer is not its own: signed out, the portal out of reach, a refusal."""

import re

import pytest
from playwright.sync_api import expect

SOON = 20_000


@pytest.fixture
def reader(visit):
    """An operator on the page of a run; what the browser itself says of refused requests is meant here."""
    person = visit("operator")
    person.open_incident()
    person.page.get_by_role("button", name=re.compile("^Start: ")).or_(
        person.page.get_by_role("link", name=re.compile("Go on"))
    ).first.click()
    expect(person.page.locator("#now-title")).to_be_visible()
    yield person
    person.complaints.clear()


def test_who_is_signed_out_keeps_what_was_typed_and_finds_it_again(reader):
    page = reader.page
    comment = page.get_by_label("Comment for everyone who reads this run")
    comment.fill("The shelf hums.")
    reader.context.clear_cookies()
    reader.press("Keep it in the ledger")
    away = page.locator("#away")
    expect(away).to_contain_text("You are signed out", timeout=SOON)
    expect(comment).to_have_value("The shelf hums.")
    expect(page.get_by_label("Password")).to_have_count(0)
    away.get_by_role("link", name="Sign in again").click()
    page.get_by_label("Name").fill("operator")
    page.get_by_label("Password").fill(reader.stack.passwords["operator"])
    reader.press("Sign in")
    expect(page.get_by_label("Comment for everyone who reads this run")).to_have_value("The shelf hums.")


def test_a_portal_out_of_reach_is_said_and_what_stands_is_no_longer_fresh(reader):
    page = reader.page
    reader.context.set_offline(True)
    expect(page.locator("#away")).to_contain_text("The portal cannot be reached.", timeout=SOON)
    expect(page.locator("#away")).to_contain_text(re.compile(r"as the portal last said it, at \d\d:\d\d:\d\d"))
    expect(page.locator("body.sl-old")).to_have_count(1)
    reader.context.set_offline(False)
    expect(page.locator("#away")).to_have_count(0, timeout=SOON)
    expect(page.locator("body.sl-old")).to_have_count(0)


def test_a_refusal_leaves_the_focus_where_it_was(reader):
    page = reader.page
    page.locator("details#end summary").click()
    field = page.get_by_label("Why it ends here")
    field.fill(" ")
    field.press("Enter")
    reader.refusal("Say why this run ends here")
    expect(page.locator("#end-run input[name=reason]")).to_be_focused()
    expect(page.locator(".sl-search input")).to_have_value("")
