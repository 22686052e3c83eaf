"""Passkeys and codes in Chromium, against an authenticator that Chromium plays: set up, sign in with it alone, as the second step, prove."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.people import Visitor, code_of
from tests.browser.test_pages import faults

OPTIONS = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture(scope="module")
def at_localhost(stack):
    """A browser offers passkeys to a name, never to an IP address."""
    before, stack.url = stack.url, stack.url.replace("127.0.0.1", "localhost")
    yield stack
    stack.url = before


@pytest.fixture
def tess(chromium, at_localhost):
    """The technician, whose device can hold passkeys."""
    visitor = Visitor(chromium, at_localhost, "technician")
    cdp = visitor.context.new_cdp_session(visitor.page)
    cdp.send("WebAuthn.enable")
    visitor.key = cdp.send("WebAuthn.addVirtualAuthenticator", {"options": OPTIONS})["authenticatorId"]
    visitor.cdp = cdp
    yield visitor
    visitor.leave()


def add(visitor: Visitor, name: str) -> None:
    visitor.page.goto("/account/")
    visitor.page.get_by_role("link", name="Add a passkey").click()
    visitor.page.get_by_label("What you call it").fill(name)
    visitor.press("Add it")


def test_a_passkey_signs_in_alone_and_proves_and_is_removed(tess):
    add(tess, "laptop")
    expect(tess.heading("Recovery codes")).to_be_visible()
    expect(tess.page.locator(".sl-codes li")).to_have_count(10)
    tess.page.get_by_role("link", name="I have kept them").click()
    expect(tess.page.get_by_text("Passkey “laptop”")).to_be_visible()
    tess.press("Sign out")
    tess.press("Sign in with a passkey")
    expect(tess.heading("Fleet")).to_be_visible()
    tess.page.goto("/account/prove/?next=/account/")
    assert faults(tess) == []
    tess.page.goto("/account/prove/passkey/?next=/account/")
    assert faults(tess) == []
    tess.press("Use a passkey")
    expect(tess.heading("technician")).to_be_visible()
    tess.press("Sign out")
    tess.page.get_by_label("Name").fill("technician")
    tess.page.get_by_label("Password").fill(tess.stack.passwords["technician"])
    tess.press("Sign in")
    expect(tess.heading("Second step")).to_be_visible()
    tess.press("Use a passkey")
    expect(tess.heading("Fleet")).to_be_visible()
    tess.page.goto("/account/")
    tess.page.get_by_role("link", name="Remove passkey laptop").click()
    assert faults(tess) == []
    tess.press("Remove it")
    expect(tess.page.get_by_text("Passkey “laptop”")).to_have_count(0)
    assert tess.complaints == []


def test_the_page_says_why_no_passkey_was_used(tess):
    tess.cdp.send("WebAuthn.setUserVerified", {"authenticatorId": tess.key, "isUserVerified": False})
    add(tess, "refused")
    expect(tess.page.get_by_role("alert")).to_contain_text("No passkey was used")
    assert tess.complaints == []


def test_an_app_is_set_up_and_asked_for(tess):
    tess.page.goto("/account/app/")
    secret = tess.page.locator("#totp-secret").inner_text()
    expect(tess.page.get_by_role("img", name=re.compile("QR code"))).to_be_visible()
    assert faults(tess) == []
    tess.page.get_by_label("Code", exact=True).fill(code_of(secret))
    tess.press("Use this app from now on")
    expect(tess.heading("Recovery codes")).to_be_visible()
    assert faults(tess) == []
    tess.page.goto("/account/app/remove/")
    assert faults(tess) == []
    tess.press("Sign out")
    tess.page.get_by_label("Name").fill("technician")
    tess.page.get_by_label("Password").fill(tess.stack.passwords["technician"])
    tess.press("Sign in")
    expect(tess.heading("Second step")).to_be_visible()
    assert faults(tess) == []
    tess.page.get_by_label("Code").fill(code_of(secret))
    tess.press("Go on")
    expect(tess.heading("Fleet")).to_be_visible()
    assert tess.complaints == []
