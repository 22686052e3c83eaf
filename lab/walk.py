"""A run, walked on its page by the one who asks and the one who approves."""

import re
import time

from lab.guest import Guest
from lab.visitor import NotThere, Page, Visitor

DONE = re.compile(r" done (Member|Pool) ")  # its state at the head, and what it is about
PLACE = r"(?:Now · (?:phase \d+ of \d+: .{1,40}?|on the way back, step \d+ of \d+) )?"  # what stands before the title of the current step
CHOOSE = ("Take this disk", "Go this way")
BACK = re.compile(r"`?(zpool online \S+ \d+)`? on the node brings it back")  # a page shows the command as code, without its marks
PLAN_SECONDS = 400  # where the node is short of CPU: the portal gives it 90 s, and then it may be asked once more
ORDER_SECONDS = 300
APPROVE = "Have another person approve the plan"
PLAN, PLAN_BY_HAND = "Ask the node for its plan", "Plan it, to do it by hand"
SHOW_BY_HAND, PASTE_BY_HAND, LOOK_BY_HAND = "Show the command, to give it by hand", "Keep it as evidence", "Have the node look again"


LOSS = re.compile(r"holds of (.+?) more is lost|\bLeft out ((?:\d+ (?:seconds?|minutes?|s|min|h)\b ?)+)")
POOL = re.compile(r" (?:of pool|Pool) (\S+) · ")  # in the head of the page


COMES = r"\bComes in WWID \S+ Serial (\S+)"
PHRASES = (  # of a confirmation: words of its hint, what its parts are read from, and how they are typed
    ("what it is to be", rf"zpool add \S+ (?P<role>\S+) .*?{COMES.replace('(', '(?P<serial>', 1)}", "{serial} {role} {pool}"),
    ("guid that gets a mirror", rf"zpool attach \S+ (?P<guid>\d+) .*?{COMES.replace('(', '(?P<serial>', 1)}", "{guid} {serial} {pool}"),
    (
        "of the disk that is read",
        rf"{COMES.replace('(', '(?P<serial>', 1)} .*?\bSource Serial (?P<source>\S+)",
        "{source} {serial} {pool}",
    ),
    ("of the member's guid", rf"zpool replace \S+ (?P<guid>\d+) .*?{COMES.replace('(', '(?P<serial>', 1)}", "{guid} {serial} {pool}"),
    ("of the snapshot's guid", r"\bGuid (?P<guid>\d+)", "{guid} {pool}"),
    ("and the serial number of the disk", r"The disk with the serial number (?P<whole>\S+), a former member", "{pool} {whole}"),
    (
        "the last 6 digits of its guid, and the disk's serial number",
        r"The disk with the serial number (?P<whole>\S+), a member of the destroyed pool \S+ \(guid (?P<guid>\d+)\)",
        "{pool} {guid} {whole}",
    ),
    (
        "the word without",
        r"\bIs now (?:\S+ )*?Log (?:\S+ )*?(?P<serial>\S+) (?:Pool|Newest|Warned of|Import State)\b",
        "{pool} without {serial}",
    ),
    ("the word from", r"\bFenced (?:Age [^.]{1,40}? )?Host (?P<host>\S+)", "{pool} from {host}"),
)


OF_EACH = "of each disk's serial number"  # in the hint of a confirmation that names several disks


def _of_its_hint(page: Page, pool: str, hint: str) -> str:
    """For the confirmations of `PHRASES`, and one of several disks; "" for any other."""
    if OF_EACH in hint and (role := re.search(r"zpool add -o \S+ \S+ (\S+) mirror", page.current)):
        serials = re.findall(r"\bDisk \d Serial (\S+)", page.current)
        return f"{' '.join(serial[-6:] for serial in serials)} {role[1]} {pool}"
    for words, pattern, typed in PHRASES:
        if words in hint and (found := re.search(pattern, page.current)):
            parts = {name: value[-6:] if name in ("guid", "serial", "source") else value for name, value in found.groupdict().items()}
            return typed.format(pool=pool, **parts)
    return ""


def read_off_the_plan(page: Page) -> str:
    """What a confirmation asks for, which no page prints in front of the field: how much of time is lost, or the end of the guid or the serial number
    that goes out; and the pool."""
    pool, loss = POOL.search(page.text), LOSS.search(page.current)
    out = re.search(r"Vdev guid (\d+) ", page.current)
    hint = page.current.partition("It is not printed here")[0][-160:]
    if pool is not None and (typed := _of_its_hint(page, pool[1], hint)):
        return typed
    if pool is not None and " loses" in hint and loss is not None:
        return f"{pool[1]} loses {(loss[1] or loss[2]).strip()}"
    coming = re.search(r"\bComes in WWID \S+ Serial (\S+)", page.current)
    if pool is not None and "new disk's, a space" in hint and (serial := re.search(r"\bSerial (\S+) WWID", page.current)) and coming:
        return f"{serial[1][-6:]} {coming[1][-6:]} {pool[1]}"
    if pool is not None and "serial number" in hint and (serial := re.search(r"\bSerial (\S+) WWID", page.current)):
        return f"{serial[1][-6:]} {pool[1]}"
    if pool is not None and out is not None:
        return f"{out[1][-6:]} {pool[1]}"
    raise NotThere(f"The page tells of no {hint}: {page.text}")


class Walk:
    def __init__(self, asker: Visitor, approver: Visitor) -> None:
        self.asker, self.approver = asker, approver

    def begin(self, situation: str, runbook: str) -> None:
        """From the fleet page over the situation, once it is there, to the run's first step."""
        self.asker.until(lambda page: any(situation in words for words, _ in page.links), f"a situation of {situation!r}", "/")
        self.asker.follow(situation)
        self.asker.until(lambda page: any(runbook in form.fields.values() for form in page.forms), f"that {runbook} answers it")
        buttons = [words for form in self.asker.page.forms if runbook in form.fields.values() for words, _, _ in form.buttons]
        self.asker.press(next((words for words in buttons if words.startswith("Start: ")), f"Start: {runbook}"), within=runbook)

    def begin_at(self, path: str, offer: str) -> None:
        """From the page of a node, a pool or a disk, where nothing is wrong; `offer` is the runbook's and what it is about (workflows/analysis/manual_start.py)."""
        self.asker.until(
            lambda page: any(form.fields.get("offer") == offer and form.buttons for form in page.forms), f"that {offer} may be begun", path
        )
        self.asker.press("Start", within=offer)

    @property
    def path(self) -> str:
        return self.asker.page.path

    def order(self, title: str, confirm: str = "", seconds: float = ORDER_SECONDS, approved: bool = False) -> None:
        """Plan, confirm, approve and run one command, and return when its button is pressed."""
        self.plan(title, confirm, seconds, approved)
        self.insist(title, title, seconds)

    def order_if_asked(self, title: str, seconds: float = 300) -> None:
        """Where the run comes to it before its end: what is as it should be already is passed over."""
        ask = f"Have the node plan it: {title[0].lower()}{title[1:]}"
        page = self.asker.until(lambda page: DONE.search(page.text) or ask in page.current, f"the step {ask!r}, or the end", "", seconds)
        if ask in page.current:
            self.order(title)

    def plan(self, title: str, confirm: str = "", seconds: float = ORDER_SECONDS, approved: bool = False) -> None:
        ask = f"Have the node plan it: {title[0].lower()}{title[1:]}"
        self.planned(ask)
        if confirm:
            self.confirm_and_approve(confirm, seconds)
        elif approved:
            self.asker.step(APPROVE, seconds)
            self.approve()

    def confirm_and_approve(self, confirm: str, seconds: float = ORDER_SECONDS) -> None:
        page = self.asker.step(confirm, seconds)
        self.asker.press("Confirm", text=read_off_the_plan(page))
        self.asker.step(APPROVE, seconds)
        self.approve()

    def approve(self) -> None:
        self.approver.go(self.path)
        self.approver.step(APPROVE)
        self.approver.press("Approve this plan")

    def choose(self, title: str, words: str) -> None:
        """What these words are of, once it fits: the health of a new disk is known some time after it came. Pressed until it is taken, as `insist`."""
        self.asker.step(title)
        shown: list[str] = []

        def fits(page: Page) -> bool:
            options = [option for option in self.asker.options().values() if words in option]
            for new in (option for option in options if option not in shown):  # why it does not fit yet may be gone when the walk gives up
                print(f"At {title!r} stands: {new}")
                shown.append(new)
            return any(" fits " in option for option in options)

        self.asker.until(fits, f"that {words} fits")
        end = time.monotonic() + ORDER_SECONDS
        while (
            self._is_at(title) and (button := next((name for name in CHOOSE if self.asker.has_button(name)), "")) and time.monotonic() < end
        ):
            answered = self.asker.press(button, choose=words).text
            if not self._is_at_after(title):
                return
            print(f"Choosing at {title!r} was answered: {answered}")
            time.sleep(5)

    def insist(self, button: str, title: str, seconds: float = ORDER_SECONDS) -> None:
        """Press it until it is taken: a node that is short of CPU reports late, and what is not fresh is refused."""
        self.asker.step(title, seconds)
        end = time.monotonic() + seconds
        while title in self.asker.page.current and self.asker.has_button(button):
            answered = self.asker.press(button).text
            self.asker.go(self.path)
            if title not in self.asker.page.current or not self.asker.has_button(button):
                return
            if time.monotonic() > end:
                raise NotThere(
                    f"{button!r} is refused at {title!r}. At last it was answered: {answered} Then the page said: {self.asker.page.text}"
                )
            time.sleep(5)

    def planned(self, title: str, seconds: float = PLAN_SECONDS, button: str = PLAN) -> None:
        """Ask for the plan, and again when no answer came in time, until it is there."""
        self.asker.step(title, seconds)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.asker.has_button(button):
                self.asker.press(button)
            time.sleep(3)
            self.asker.go(self.path)
            if not self._is_at(title):
                return
        raise NotThere(f"The node never made its plan at {title!r}: {self.asker.page.text}")

    def plan_by_hand(self, title: str, confirm: str = "", approved: bool = False) -> None:
        """As `plan`, where the node is given no order."""
        self.planned(f"Have the node plan it: {title[0].lower()}{title[1:]}", button=PLAN_BY_HAND)
        if confirm:
            self.confirm_and_approve(confirm)
        elif approved:
            self.asker.step(APPROVE)
            self.approve()

    def shown_by_hand(self, title: str, seconds: float = ORDER_SECONDS) -> str:
        """The snippet of the plan, which the page shows once."""
        self.insist(SHOW_BY_HAND, title, seconds)
        (snippet,) = (text for text in self.asker.page.pre if text.startswith("env -i "))
        return snippet

    def looked(self, seconds: float = ORDER_SECONDS) -> Page:
        """The page once the node has looked again at what was given by hand. After a boot it is asked until it does."""
        end = time.monotonic() + seconds
        while True:
            self.asker.go(self.path)
            self.asker.press(LOOK_BY_HAND)
            page = self.asker.until(lambda page: "The node is looking" not in page.text, "what the node saw", "", seconds)
            if "The node did not look" not in page.text or time.monotonic() > end:
                return page

    def give(self, node: Guest, snippet: str, title: str) -> str:
        """Pasted into the node's shell, pasted back, and settled by the node. What the terminal showed."""
        printed = node.paste(snippet)
        self.paste_back(printed)
        page = self.looked()
        if self._is_at(title):
            raise NotThere(f"The look settled nothing. The node's terminal showed: {printed} The page says: {page.text}")
        return printed

    def paste_back(self, printed: str) -> Page:
        self.asker.go(self.path)
        self.asker.press(PASTE_BY_HAND, output=printed)
        return self.asker.go(self.path)

    def hands(self, title: str, evidence: str, seconds: float = ORDER_SECONDS) -> None:
        """Say that it is done, until the node shows it: what has just been pulled is seen some time later."""
        self.asker.step(title, seconds)
        end = time.monotonic() + seconds
        while self._is_at(title) and self.asker.has_button("Done") and time.monotonic() < end:
            self.asker.press("Done", evidence=evidence)
            time.sleep(3)
            self.asker.go(self.path)

    def _is_at_after(self, title: str) -> bool:
        self.asker.go(self.path)
        return self._is_at(title)

    def _is_at(self, title: str) -> bool:
        """Whether this is the current step; "Back to" names it later too."""
        return bool(re.match(PLACE + re.escape(title), self.asker.page.current))

    def to_the_button_that_replaces(self, serial: str) -> None:
        """wwid-mismatch-replace, from the choice of the disk up to the command."""
        self.choose("Choose the new disk", serial)
        self.insist("Check now", "Check pool, lost member and new disk")
        self.planned("Have the node plan it")
        self.confirm_and_approve("Confirm what is replaced")
        self.asker.step("Replace the disk")

    def until_filled(self, node: Guest, then: str = "", seconds: float = 600) -> None:
        """Until the resilver is over and this step has come, or the run's end. Where the page says how a new disk that ZFS lost meanwhile comes back,
        that is done, as a person would: before 2.1.12 ZED now and then calls the disk removed that `zpool replace` has just partitioned (docs/lab.md)."""

        def over(page: Page) -> bool:
            return bool(DONE.search(page.text)) or bool(then and then in page.current)

        page = self.asker.until(lambda page: over(page) or BACK.search(page.text), "the end of the resilver", "", seconds)
        if not over(page):
            line = BACK.search(page.text)[1]
            print(f"The page says `{line}`, which says: {node.sh(line)}")
            self.asker.until(over, "the end of the resilver", "", seconds)

    def until_done(self, seconds: float = 600) -> None:
        self.asker.until(lambda page: DONE.search(page.text), "that the run is done", "", seconds)
