"""Pasted text as the terminal once showed it: without e-mail's quote marks, chat's fences, colours and foreign line ends."""

from __future__ import annotations

import codecs
import re
from email import message_from_bytes
from textwrap import dedent

_MAIL = re.compile(rb"(?:From \S|[A-Za-z][A-Za-z0-9-]*: ).*\n(?:[A-Za-z][A-Za-z0-9-]*:.*\n|[ \t].*\n)*", re.MULTILINE)
HEADERS_BYTES_MAX = 64 * 1024
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[()][0-9A-B]|\x1b[=>78]")
_TITLE = re.compile(r"\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)")  # of the terminal's window
_ERASED = re.compile(r"[^\x08\n]\x08")
_TYPED_MAX = 200  # of one line: nobody corrects more
_QUOTE = re.compile(r"(?:> ?)+")
_ODD = {0xA0: " ", 0x2007: " ", 0x202F: " ", 0x200B: None, 0xFEFF: None, 0x00: None}


def decoded(raw: bytes) -> str:
    """The text of a file: of a saved mail its words, and of a file that Windows wrote in two bytes a character the same as of any other."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", "backslashreplace")
    headers = _MAIL.match(raw[:HEADERS_BYTES_MAX].replace(b"\r\n", b"\n"))
    if headers and b"\ncontent-type:" in headers.group().lower():
        return _words_of_mail(raw)
    return raw.decode("utf-8", "backslashreplace")


def _words_of_mail(raw: bytes) -> str:
    """Its plain text and what was attached as such, out of whatever coding they travelled in; all of it where there is none."""
    parts = [part.get_payload(decode=True) for part in message_from_bytes(raw).walk() if part.get_content_type() == "text/plain"]
    words = b"\n".join(part for part in parts if isinstance(part, bytes))
    return (words or raw).decode("utf-8", "backslashreplace")


def lines(text: str) -> list[str]:
    """Every line of `text`, cleaned; their number stays the same, so that a line can be named by its place."""
    text = _plain(text)
    found = [line.expandtabs(8).rstrip() for line in text.split("\n")]
    found = ["" if line.lstrip().startswith("```") else line for line in found]
    return dedent("\n".join(_unquoted(found))).split("\n")


def _plain(text: str) -> str:
    """Without what steered the terminal. A text whose only line ends are those of an old Mac keeps them as line ends."""
    text = _COLOUR.sub("", _TITLE.sub("", text)).translate(_ODD)
    text = re.sub(r"\r+\n", "\n", text)
    if "\n" not in text:
        text = text.replace("\r", "\n")
    for _ in range(_TYPED_MAX if "\x08" in text else 0):
        text, erased = _ERASED.subn("", text)
        if not erased:
            break
    text = text.replace("\x08", "").replace("\x07", "")
    return re.sub(r"(?m)^.*\r(?=[^\n])", "", text).replace("\r", "")  # what was written over on its own line


def _unquoted(found: list[str]) -> list[str]:
    """Without the marks of a quoted mail, if most lines carry one."""
    said = [line for line in found if line]
    quoted = [line for line in said if line.startswith(">")]
    return [_QUOTE.sub("", line, count=1) for line in found] if 2 * len(quoted) > len(said) else found
