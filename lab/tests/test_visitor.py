"""A page as the lab's visitor reads it."""

from lab.visitor import Page, Reader

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
