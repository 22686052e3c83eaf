"""A page as the lab's visitor reads it."""

from email import message_from_bytes
from email.policy import HTTP
from types import SimpleNamespace

import pytest

from lab import visitor
from lab.visitor import NotThere, Page, Reader, Visitor

RUN = """
<html><head><title>x</title><style>.a{}</style></head><body><a href="/runs/">Runs</a>
<ol><li aria-current="step"><p>Confirm what goes</p>
<form method="post" action="/runs/1/act/"><input type="hidden" name="version" value="7">
<label><input type="radio" name="value" value="naa:1"> disk one <br>fits</label>
<label><input type="radio" name="value" value="naa:2"> disk two</label>
<p>Type <code>A2001X tank</code></p><input name="text" value=""><button name="act" value="confirm">Confirm</button></form></li></ol>
<form method="post"><button>End the run</button></form></body></html>
"""


def read() -> Page:
    reader = Reader(Page(200, "/runs/1/"))
    reader.feed(RUN)
    reader.close()
    return reader.done()


def test_a_form_is_what_its_button_would_send():
    form = read().forms[0]
    assert form.fields == {"version": "7", "text": ""}
    assert form.buttons == [("Confirm", "act", "confirm")]
    assert form.choices == [("value", "naa:1", "disk one fits"), ("value", "naa:2", "disk two")]


def test_the_current_step_and_what_is_to_be_typed_are_found():
    page = read()
    assert page.current.startswith("Confirm what goes")
    assert page.codes == ["A2001X tank"]
    assert page.links == [("Runs", "/runs/")]
    assert ".a{}" not in page.text


def test_what_never_came_is_said_with_each_reason_that_was_shown_meanwhile(monkeypatch):
    shown = iter(("the choice is refused The disk is late.", "the choice is refused The scan has ended."))
    one = Visitor.__new__(Visitor)

    def go(path: str) -> Page:
        one.page = Page(200, path, text=next(shown))
        return one.page

    monkeypatch.setattr(one, "go", go, raising=False)
    clock = iter((0.0, 0.0, 9.0))
    monkeypatch.setattr(visitor, "time", SimpleNamespace(monotonic=lambda: next(clock), sleep=lambda seconds: None))
    with pytest.raises(NotThere) as never:
        one.until(lambda page: False, "that it fits", "/runs/1/", seconds=5)
    assert "After 0 s: The disk is late." in str(never.value)
    assert "The scan has ended." in str(never.value)


def test_a_file_is_sent_as_a_browser_sends_it():
    kind, body = visitor.in_parts({"host": "oss01"}, {"archive": ("oss01.slotlight", b"\x1f\x8b\r\n\x00")})
    message = message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body, policy=HTTP)
    host, archive = message.iter_parts()
    assert host.get_param("name", header="content-disposition") == "host"
    assert host.get_content().strip() == "oss01"
    assert archive.get_filename() == "oss01.slotlight"
    assert archive.get_payload(decode=True) == b"\x1f\x8b\r\n\x00"
