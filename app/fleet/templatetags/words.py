"""How pages show the sentences of alarms, situations and cures, which mark commands by back-quotes."""

import re

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from workflows.facts.fleet.census import size

register = template.Library()
_MARKED = re.compile(r"`([^`\n]{1,400})`")


@register.filter
def code(text: str) -> SafeString:
    """The same sentence, each command in it as code."""
    pieces = enumerate(_MARKED.split(str(text)))
    return format_html_join("", "{}", ((format_html("<code>{}</code>", piece) if at % 2 else piece,) for at, piece in pieces))


@register.filter
def in_words(count: object) -> str:
    """A plan's number of bytes, in the unit disks are sold by and exactly; what is no number as it is. A plan's numbers are strings of digits."""
    text = str(count)
    return f"{size(int(text))} ({text} bytes)" if text.isascii() and text.isdigit() else text
