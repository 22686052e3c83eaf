"""A sentence that may hold a command marks it by back-quotes: wherever a template shows one, it goes through the filter that makes them code."""

import re
from pathlib import Path

from django.template.loader import render_to_string

TEMPLATES = Path(__file__).parents[3] / "templates"
A_SENTENCE = re.compile(
    r"\{\{ (?:[a-z_0-9]+\.)*(?:reason|why|why_not|refused|against|sentence|by_hand_way|advice|meaning|cure|detail|about|phrase_hint)(?P<filters>(?:\|[^ }]+)*) \}\}"
)
LITERAL = re.compile(r"<(pre|textarea|script)\b.*?</\1>|=\"[^\"]*\"", re.DOTALL)  # shown as it is, or no text of the page


def unfiltered(text: str) -> list[str]:
    return [found[0] for found in A_SENTENCE.finditer(LITERAL.sub("", text)) if not re.search(r"\|(code|length)", found["filters"])]


def test_no_template_shows_a_sentence_with_the_marks_of_its_commands():
    raw = {str(path.relative_to(TEMPLATES)): unfiltered(path.read_text()) for path in TEMPLATES.rglob("*.html")}
    assert {path: found for path, found in raw.items() if found} == {}


def test_the_check_sees_one_that_does():
    assert unfiltered("<p>{{ option.against }}</p>") == ["{{ option.against }}"]
    assert unfiltered('<p>{{ line.against.0.reason|code }}</p><input value="{{ typed.reason }}"><pre>{{ reason }}</pre>') == []


def test_a_disk_that_cannot_be_taken_says_why_with_its_commands_as_code():
    page = render_to_string(
        "runs/_option.html", {"option": {"value": "x", "title": "x", "against": "In use. Then `swapoff DEVICE` ends it."}}
    )
    assert "<code>swapoff DEVICE</code>" in page
