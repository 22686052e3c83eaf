"""People at a browser: they sign in, read, press buttons; a page that complains to its console fails the test."""

import base64
import hmac
import struct
import time

from playwright.sync_api import APIResponse, Browser, ConsoleMessage, Locator, Page, expect

from tests.browser.stack import Stack

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
LOST_MEMBER = "Replace a lost member, whatever its name is today"  # titles of runbooks
IN_ITS_BAY = "Replace a disk in its bay, with the bay lit"
BESIDE_IT = "Replace a disk that still serves"
expect.set_options(timeout=20_000)  # the node reports every few seconds, and the machine may be busy


def code_of(secret: str) -> str:
    """What an authenticator app shows at this moment (RFC 6238)."""
    digest = hmac.digest(base64.b32decode(secret), struct.pack(">Q", int(time.time()) // 30), "sha1")
    [number] = struct.unpack_from(">I", digest, digest[-1] & 15)
    return f"{(number & 0x7FFFFFFF) % 1_000_000:06}"


class Visitor:
    """One person in a browser context of their own."""

    def __init__(self, browser: Browser, stack: Stack, name: str, **options) -> None:
        self.stack, self.name = stack, name
        self.context = browser.new_context(base_url=stack.url, viewport=options.pop("viewport", DESKTOP), **options)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._hear)
        if name:
            self.sign_in()

    def _hear(self, console_message: ConsoleMessage) -> None:
        if console_message.type == "error":
            self.complaints.append(f"{console_message.text} {console_message.location.get('url', '')}")

    @classmethod
    def at_the_door(cls, browser: Browser, stack: Stack) -> "Visitor":
        """Somebody who has not signed in."""
        visitor = cls(browser, stack, "")
        visitor.page.goto("/")
        return visitor

    def sign_in(self) -> None:
        self.page.goto("/")
        self.page.get_by_label("Name").fill(self.name)
        self.page.get_by_label("Password").fill(self.stack.passwords[self.name])
        self.press("Sign in")
        expect(self.heading("Fleet")).to_be_visible()

    def heading(self, name: str) -> Locator:
        return self.page.get_by_role("heading", name=name, exact=True)

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def start(self, runbook: str = LOST_MEMBER) -> None:
        """Begin the runbook with this title: a situation may have several."""
        self.press(f"Start: {runbook}")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def step(self, title: str) -> Locator:
        """The current step, once it is the one with this title."""
        now = self.page.locator("[aria-current=step]").filter(has_text=title)
        expect(now).to_be_visible()
        return now

    def until_reloaded(self, title: str) -> None:
        """Load the page again until this step is the current one, as a person without JavaScript does."""
        now = self.page.locator("[aria-current=step]").filter(has_text=title)
        for _ in range(20):
            if now.count():
                return
            self.page.wait_for_timeout(500)
            self.page.reload()
        self.step(title)

    def read_off_the_plan(self) -> str:
        """The end of the outgoing serial number and the pool: what a person types, and no page prints in front of the field."""
        serial = self.page.locator("#plan .sl-side.out dt:text-is('Serial') + dd").inner_text()
        pool = self.page.locator(".sl-sub a[href*='/pools/']").first.inner_text()
        return f"{serial.strip()[-6:]} {pool}"

    def read_both_disks_off_the_plan(self) -> str:
        """The ends of both serial numbers, the old one's first, and the pool."""
        out, pool = self.read_off_the_plan().split()
        coming = self.page.locator("#plan .sl-side.in dt:text-is('Serial') + dd").inner_text()
        return f"{out} {coming.strip()[-6:]} {pool}"

    def open_incident(self) -> None:
        """From the fleet page to the situation of the lost member."""
        self.page.goto("/")
        self.page.get_by_role("region", name="What is wrong now").get_by_role("link", name="ost_0 lost the member").click()
        expect(self.heading("What it means")).to_be_visible()

    def refusal(self, words: str) -> Locator:
        shown = self.page.get_by_role("alert").filter(has_text=words)
        expect(shown).to_be_visible()
        return shown

    def take(self, disk: str) -> None:
        """Choose the disk in whose option these words stand."""
        option = self.page.locator("label.sl-option").filter(has_text=disk).locator("input")
        if not option.is_visible():
            self.page.get_by_text("that cannot be taken, and why").click()
        option.check()
        self.press("Take this disk")

    def forge(self, **fields: str) -> APIResponse:
        """Send what no button of this page sends, with the page's own token and version."""
        page = self.page
        token = page.locator("input[name=csrfmiddlewaretoken]").first.get_attribute("value")
        version = page.locator("input[name=version]").first.get_attribute("value")
        form = {"csrfmiddlewaretoken": token, "version": version, **fields}
        return page.request.post(f"{page.url.rstrip('/')}/act/", form=form, headers={"Referer": page.url})

    def leave(self) -> None:
        self.context.close()
