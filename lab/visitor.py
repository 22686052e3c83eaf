"""A person at the portal without JavaScript: reads pages, follows links, fills in forms and presses their buttons."""

import http.client
import re
import secrets
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from html.parser import HTMLParser
from http.cookies import SimpleCookie
from urllib.parse import urlencode, urljoin, urlsplit

from lab.portal import NAME, PASSWORD, Portal

PATIENCE_SECONDS = 480.0  # of a person at a node that is short of CPU; what is asserted has its own limits
ANSWER_SECONDS = 60
LOOK_AGAIN_SECONDS = 3  # each look costs CPU that the node is waiting for
INLINE = {"a", "abbr", "b", "code", "em", "i", "small", "span", "strong", "time"}  # after any other element there is a blank to see
REFUSED = re.compile(r"(?:\brefused|Not now:) (.{1,240})")
Files = Mapping[str, tuple[str, bytes]]  # field -> the file's name, and what it holds
VOID = {"input", "br", "img", "meta", "link", "hr", "path", "circle", "rect", "line", "polyline", "source", "wbr"}


class NotThere(Exception):
    """A page has no such link, button or field, or never said what was waited for. The message has the page's text."""


@dataclass
class Form:
    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    choices: list[tuple[str, str, str]] = field(default_factory=list)  # field, value, the words of its label
    buttons: list[tuple[str, str, str]] = field(default_factory=list)  # words, name, value


@dataclass
class Page:
    status: int
    path: str
    text: str = ""
    links: list[tuple[str, str]] = field(default_factory=list)  # words, address
    forms: list[Form] = field(default_factory=list)
    current: str = ""  # the words of the current step
    codes: list[str] = field(default_factory=list)  # what stands in <code> within it
    pre: list[str] = field(default_factory=list)


class Reader(HTMLParser):
    """Makes a Page of HTML: words between tags, joined by single blanks."""

    def __init__(self, page: Page) -> None:
        super().__init__(convert_charrefs=True)
        self.page, self.words, self.open = page, [], []
        self.form: Form | None = None
        self.radio: tuple[str, str, int] | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        fields = {name: value or "" for name, value in attributes}
        if tag == "form":
            self.form = Form(fields.get("action", ""), fields.get("method", "get").lower())
            self.page.forms.append(self.form)
        if tag == "input" and self.form is not None:
            self._field(fields)
        if tag not in VOID:
            self.open.append((tag, fields, len(self.words)))

    def _field(self, fields: dict[str, str]) -> None:
        if fields.get("type") == "radio":
            self.radio = (fields["name"], fields.get("value", ""), len(self.words))
        elif "name" in fields:
            self.form.fields[fields["name"]] = fields.get("value", "")

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1][0] not in ("script", "style"):
            self.words.append(data)

    def handle_endtag(self, tag: str) -> None:
        while self.open:
            name, fields, begin = self.open.pop()
            self._closed(name, fields, _joined(self.words[begin:]), begin)
            if name not in INLINE:
                self.words.append(" ")
            if name == tag:
                return

    def _closed(self, tag: str, fields: dict[str, str], words: str, begin: int) -> None:
        if tag == "a" and "href" in fields:
            self.page.links.append((words, fields["href"]))
        if tag == "button" and self.form is not None:
            self.form.buttons.append((words, fields.get("name", ""), fields.get("value", "")))
        if tag == "label" and self.radio and self.radio[2] >= begin and self.form is not None:
            self.form.choices.append((self.radio[0], self.radio[1], words))
            self.radio = None
        if fields.get("aria-current") == "step":
            self.page.current = words
        if tag == "code" and any(outer.get("aria-current") == "step" for _, outer, _ in self.open):
            self.page.codes.append(words)
        if tag == "pre":
            self.page.pre.append("".join(self.words[begin:]))
        if tag == "form":
            self.form = None

    def done(self) -> Page:
        self.page.text = _joined(self.words)
        return self.page


def _joined(words: list[str]) -> str:
    return " ".join("".join(words).split())


URLENCODED = "application/x-www-form-urlencoded"


def in_parts(form: Mapping[str, str], files: Files) -> tuple[str, bytes]:
    """The content type and the body of a form with files, as a browser sends it (RFC 7578)."""
    boundary, body = secrets.token_hex(16), bytearray()
    for name, value in form.items():
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
    for name, (file, data) in files.items():
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\nContent-Type: application/octet-stream\r\n\r\n'
        body += head.encode() + data + b"\r\n"
    return f"multipart/form-data; boundary={boundary}", bytes(body) + f"--{boundary}--\r\n".encode()


class Visitor:
    def __init__(self, portal: Portal, name: str, address: str = "", **headers: str) -> None:
        """Comes from `address`, if one is given, and `says` more headers of its own."""
        self.portal, self.name, self.cookies = portal, name, {}
        self.source, self.headers = (address, 0) if address else None, headers
        self.page = Page(0, "/")
        self.go("/")
        self.press("Sign in", login=name, password=PASSWORD)
        if "Sign out" not in self.page.text:
            raise NotThere(f"{name} could not sign in: {self.page.text}")

    # the web

    def _ask(self, method: str, path: str, form: dict[str, str] | None = None, files: Files | None = None) -> tuple[int, Message, bytes]:
        context = ssl.create_default_context(cafile=str(self.portal.certificate))
        connection = http.client.HTTPSConnection(NAME, self.portal.port, timeout=ANSWER_SECONDS, context=context)
        raw = socket.create_connection(("127.0.0.1", self.portal.port), ANSWER_SECONDS, self.source)
        connection.sock = context.wrap_socket(raw, server_hostname=NAME)
        headers = {
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
            "Referer": f"{self.portal.url}{self.page.path}",
            **{name.replace("_", "-"): value for name, value in self.headers.items()},
        }
        body = None
        if form is not None:
            headers["Content-Type"], body = in_parts(form, files) if files else (URLENCODED, urlencode(form).encode())
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        for line in answer.headers.get_all("Set-Cookie") or ():
            self.cookies |= {name: morsel.value for name, morsel in SimpleCookie(line).items()}
        data = answer.read()
        connection.close()
        return answer.status, answer.headers, data

    def fetch(self, path: str) -> bytes:
        """A file, such as a run's audit trail."""
        status, _, data = self._ask("GET", path)
        if status != 200:
            raise NotThere(f"{path} was answered {status}")
        return data

    def go(self, path: str, form: dict[str, str] | None = None, files: Files | None = None) -> Page:
        status, headers, data = self._ask("POST" if form is not None else "GET", path, form, files)
        if status in (301, 302, 303):
            target = urlsplit(urljoin(path, headers["Location"]))
            return self.go(target.path + (f"?{target.query}" if target.query else ""))
        reader = Reader(Page(status, path.split("#")[0]))
        reader.feed(data.decode())
        reader.close()
        self.page = reader.done()
        return self.page

    # a person

    def follow(self, words: str) -> Page:
        for text, address in self.page.links:
            if words in text:
                return self.go(urljoin(self.page.path, address))
        raise NotThere(f"No link says {words!r} on {self.page.path}: {self.page.text}")

    def press(self, words: str, choose: str = "", within: str = "", files: Files | None = None, **typed: str) -> Page:
        """Press a button, with what is typed into fields by their names; `choose` picks the radio button with these words.
        `within` tells forms with equal buttons apart by a value in them. `files` are dropped on fields that take a file."""
        for form in self.page.forms:
            for text, name, value in form.buttons:
                if text == words and (not within or within in form.fields.values()):
                    sent = {**form.fields, **typed} | ({name: value} if name else {})
                    if choose:
                        sent |= self._choice(form, choose)
                    path = urljoin(self.page.path, form.action) if form.action else self.page.path
                    return self._sent(path, {name: value for name, value in sent.items() if name not in (files or {})}, files)
        raise NotThere(f"No button says {words!r} on {self.page.path}: {self.page.text}")

    def has_button(self, words: str) -> bool:
        return any(label == words for form in self.page.forms for label, _, _ in form.buttons)

    def _sent(self, path: str, form: dict[str, str], files: Files | None = None) -> Page:
        """What answers a form. When that is the same page with a refusal on it, we are still on that page."""
        here = self.page.path
        page = self.go(path, form, files)
        asked = next((form for form in page.forms if page.status == 422 and "password" in form.fields), None)
        if asked:  # it is a while since we signed in
            page = self.go(path, {**asked.fields, "password": PASSWORD})
        if page.path == path:
            page.path = here
        return page

    def _choice(self, form: Form, words: str) -> dict[str, str]:
        for name, value, label in form.choices:
            if words in label:
                return {name: value}
        raise NotThere(f"Nothing to choose says {words!r}: {[text for _, _, text in form.choices]}")

    def options(self) -> dict[str, str]:
        """What may be chosen on this page: value -> words."""
        return {value: label for form in self.page.forms for _, value, label in form.choices}

    def until(self, holds: Callable[[Page], object], what: str, path: str = "", seconds: float = PATIENCE_SECONDS) -> Page:
        """Load the page again until it is so."""
        began = time.monotonic()
        path = path or self.page.path
        refused: dict[
            str, float
        ] = {}  # reason -> when it was first shown: the one that stands at the end need not be the one that kept the walk waiting
        while not (self.go(path) and holds(self.page)):
            waited = time.monotonic() - began
            for reason in REFUSED.findall(self.page.text):
                refused.setdefault(reason, waited)
            if waited > seconds:
                meanwhile = "".join(f"\nAfter {at:.0f} s: {reason}" for reason, at in refused.items())
                raise NotThere(f"{path} never showed {what}. It shows: {self.page.text}{meanwhile}")
            time.sleep(LOOK_AGAIN_SECONDS)
        return self.page

    def until_shows(self, words: str, path: str = "", seconds: float = PATIENCE_SECONDS) -> Page:
        return self.until(lambda page: words in page.text, repr(words), path, seconds)

    def step(self, title: str, seconds: float = PATIENCE_SECONDS) -> Page:
        """The run's page, once the current step is the one with this title."""
        return self.until(lambda page: title in page.current, f"the step {title!r}", "", seconds)
