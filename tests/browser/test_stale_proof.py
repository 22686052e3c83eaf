"""Channels of notices and Alertmanager's hooks, changed by an administrator whose proof has become too old while the form was filled in."""

import pytest
from playwright.sync_api import expect

from tests.browser.steps import picture
from tests.browser.test_blink import STACK  # noqa: F401  (for the fixture of that name)
from tests.browser.test_pages import faults

URL = "json://203.0.113.5/T0KEN-of-a-channel"
FORGET = """
from importlib import import_module
from django.conf import settings
from django.contrib.sessions.models import Session
for row in Session.objects.all():
    one = import_module(settings.SESSION_ENGINE).SessionStore(row.session_key)
    if "proved_at" in one:
        one["proved_at"] = 0.0
        one.save()
"""
POLLED = 17_000  # the page of a channel asks for itself every 15 s


@pytest.fixture(scope="module")
def admin(visit):
    return visit("admin")


@pytest.fixture
def goes_stale(stack):
    return lambda: stack.manage("shell", "-v", "0", "-c", FORGET)


def proves(admin):
    """With a wrong password first, which is told and loses nothing."""
    expect(admin.page.get_by_label("Password")).to_be_visible()
    admin.page.get_by_label("Password").fill("wrong")
    admin.press("Go on")
    expect(admin.page.get_by_role("main")).to_contain_text("That is not your password.")
    admin.page.get_by_label("Password").fill(admin.stack.passwords["admin"])
    admin.press("Go on")


def kept(admin, **values):
    for label, value in values.items():
        expect(admin.page.locator(f"#id_{label}")).to_have_value(value)


def refused(admin, words):
    """On the form with the wrong input; Chromium complains to its console of the 422."""
    expect(admin.page.get_by_role("alert").filter(has_text=words)).to_be_visible()
    admin.complaints.clear()


def test_a_new_channel_with_wrong_input_loses_nothing_but_its_url(admin, goes_stale):
    admin.page.goto("/notices/channels/add/")
    admin.page.locator("#id_name").fill("on call")
    admin.page.locator("#id_url").fill(URL)
    admin.page.locator("#id_severity").select_option("watch")
    admin.page.locator("#id_zone").fill("Berlin")
    goes_stale()
    admin.press("Keep the channel")
    proves(admin)
    refused(admin, "This is no time zone.")
    refused(admin, "Type the URL again.")
    kept(admin, name="on call", severity="watch", zone="Berlin", url="")
    picture(admin, "channel-refused")
    assert faults(admin) == []
    admin.page.locator("#id_zone").fill("Europe/Berlin")
    admin.page.locator("#id_url").fill(URL)
    goes_stale()
    admin.press("Keep the channel")
    proves(admin)
    expect(admin.heading("on call")).to_be_visible()
    kept(admin, name="on call", severity="watch", zone="Europe/Berlin", url="")


def test_a_change_with_wrong_input_loses_nothing_also_when_the_page_asks_for_itself(admin, goes_stale):
    admin.page.locator("#id_name").fill("on call, nights")
    admin.page.locator("#id_quiet_from").fill("22:00")
    goes_stale()
    admin.press("Keep the changes")
    proves(admin)
    refused(admin, "Quiet hours need a beginning and an end.")
    kept(admin, name="on call, nights", quiet_from="22:00")
    admin.page.wait_for_timeout(POLLED)
    kept(admin, name="on call, nights", quiet_from="22:00")
    refused(admin, "Quiet hours need a beginning and an end.")
    admin.page.locator("#id_quiet_until").fill("06:30")
    goes_stale()
    admin.press("Keep the changes")
    proves(admin)
    expect(admin.heading("on call, nights")).to_be_visible()
    kept(admin, quiet_from="22:00", quiet_until="06:30")


def test_a_hook_is_made_after_the_proof_and_one_of_the_same_name_is_refused_with_what_was_typed(admin, goes_stale):
    for turn in range(2):
        admin.page.goto("/notices/")
        admin.page.get_by_label("Name of the Alertmanager").fill("prometheus")
        goes_stale()
        admin.press("Make an address")
        proves(admin)
        if turn == 0:
            expect(admin.page.get_by_role("main")).to_contain_text("/hooks/alertmanager/")
    refused(admin, "already exists")
    kept(admin, hook_name="prometheus")
    picture(admin, "hook-refused")


def test_a_hook_is_shut_after_the_proof(admin, goes_stale):
    admin.page.goto("/notices/")
    goes_stale()
    admin.press("Shut prometheus")
    proves(admin)
    expect(admin.page.get_by_role("main")).to_contain_text("prometheus is shut.")
    assert admin.complaints == []
