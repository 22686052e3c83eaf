"""Texts that came in a coding of a mail program, a logger or another program, as the text that was coded.

Each coding is undone only where it shows itself by more than one sign: nothing of an ordinary output is changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from email import message_from_bytes

HEADERS_MAX = 64 * 1024  # bytes or characters
LINE_MAX = 1024 * 1024  # characters of one line that is read as JSON or as a list
RUN_MIN = 3  # lines of JSON that follow each other
SHOWN_ENDS_MIN = 5
SOFT_ENDS_MIN = 2
CODED_LINE_MAX = 76  # RFC 2045, 6.7
_MAIL = re.compile(rb"(?:From \S|[A-Za-z][A-Za-z0-9-]{0,70}: )")
_HEADER = re.compile(rb"[A-Za-z][A-Za-z0-9-]{0,70}:|[ \t]")
_QUOTED = re.compile(r"(?i)^content-transfer-encoding: *quoted-printable", re.MULTILINE)
_SOFT_END = re.compile(r"^[^\n]{72,75}=$", re.MULTILINE)
_OCTETS = re.compile(r"(?:=[0-9A-F]{2})+")
_PERCENTS = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_NO_MARKS = str.maketrans("", "", "=%")
_SIGNS_OF_QUOTED = ("=3D", "=20\n", "=09", "=C2=A0", "=E2=80")
_MESSAGES = ("log", "message", "msg", "line", "text", "@message", "short_message", "MESSAGE")
_LEVELS = ("level", "severity", "lvl", "levelname", "stream", "priority")
_TROUBLE = re.compile(r"(?i)degrad|fault|fail|unavail|suspend|offline|removed|missing|corrupt|error|critical|predict")
_NOTICES = frozenset(("alerts", "attachments", "blocks", "embeds"))  # an alert's own JSON, which has a reader

_PAGER = re.compile(
    r"^(?:~|\(END\)|--More--(?:\([0-9]{1,3}%\))?|lines [0-9]{1,9}-[0-9]{1,9}(?:/[0-9]{1,9})?(?: \(END\)| [0-9]{1,3}%)?)$", re.MULTILINE
)


def words_of_mail(raw: bytes) -> bytes | None:
    """The plain text of a saved mail and what was attached as such, out of whatever coding they travelled in; None if it is no mail, or has no such part."""
    if not _is_mail(raw[:HEADERS_MAX]):
        return None
    parts = [part.get_payload(decode=True) for part in message_from_bytes(raw).walk() if part.get_content_type() == "text/plain"]
    return b"\n".join(part for part in parts if isinstance(part, bytes)) or None


def _is_mail(beginning: bytes) -> bool:
    """Whether it begins with headers, and one of them names the type of the rest."""
    first, *rest = beginning.split(b"\n")
    if not _MAIL.match(first):
        return False
    for line in rest:
        if not _HEADER.match(line):
            return False
        if line.lower().startswith(b"content-type:"):
            return True
    return False


def undone(text: str) -> str:
    """The text without its coding, and without what a pager or `cat -A` shows besides."""
    text = _PAGER.sub("", text)
    if _is_quoted_printable(text):
        text = _OCTETS.sub(_octets, text.replace("=\n", ""))
    if "%0A" in text and "\n" not in text.strip():
        text = _PERCENTS.sub(_octets, text.strip().replace("+", " "))
    lines = text.split("\n")
    if "(stdout) " in text:
        lines = [part for line in lines for part in _of_one_host(line)]
    if "$\n" in text:
        lines = _without_shown_ends(lines)
    return "\n".join(_without_json(lines)) if "[" in text or '{"' in text else "\n".join(lines)


_ONE_HOST = re.compile(r"(\S{1,120}) \| (?:CHANGED|SUCCESS) \| rc=0 \| \(stdout\) (.*)")


def _of_one_host(line: str) -> list[str]:
    """What a command printed on one host, which Ansible writes on one line."""
    found = _ONE_HOST.fullmatch(line)
    return [f"{found.group(1)}:", *found.group(2).replace("\\t", "\t").split("\\n")] if found else [line]


def holds_lines(line: str) -> bool:
    """Whether it is JSON or a list in which a program wrote down lines of text."""
    return line[:1] in ("{", "[") and (_logged(line) is not None or _strings(line) is not None)


def _is_quoted_printable(text: str) -> bool:
    """A header names it; else a line goes on behind its end, and another one too, or a character is coded, or no line is longer than a coded one."""
    if "=" not in text:
        return False
    soft = len(_SOFT_END.findall(text)) if "=\n" in text else 0
    if soft and soft < SOFT_ENDS_MIN:
        return any(sign in text for sign in _SIGNS_OF_QUOTED) or max(map(len, text.split("\n"))) <= CODED_LINE_MAX
    return soft > 0 or _QUOTED.search(text) is not None


def _octets(found: re.Match[str]) -> str:
    """Characters that were written as the numbers of their bytes."""
    return bytes.fromhex(found.group().translate(_NO_MARKS)).decode("utf-8", "replace")


def _without_shown_ends(lines: list[str]) -> list[str]:
    """Without the marks of `cat -A`: "$" where a line ends, "^I" for a tab. A shell's prompt ends some lines so, and not nearly all."""
    filled = [line for line in lines if line]
    ends = sum(line.endswith("$") for line in filled)
    if ends < SHOWN_ENDS_MIN or ends < 0.9 * len(filled):
        return lines
    return [line.removesuffix("$").replace("^I", "\t") for line in lines]


def _without_json(lines: Sequence[str]) -> Iterator[str]:
    """Lines of a logger's JSON as the lines that were logged, and a list of strings on one line as those strings."""
    run: list[tuple[str, list[str] | None]] = []
    for line in lines:
        logged = _logged(line)
        if logged is not None:
            run.append((line, logged))
            continue
        yield from _of_run(run)
        run = []
        yield from _strings(line) or [line]
    yield from _of_run(run)


def _of_run(run: Sequence[tuple[str, list[str] | None]]) -> Iterator[str]:
    """What was logged, where enough lines follow each other."""
    for line, logged in run:
        yield from (logged or [line]) if len(run) >= RUN_MIN else [line]


def _logged(line: str) -> list[str] | None:
    """The lines in one line of a logger's JSON (Docker's, Kubernetes', Fluentd's and others), or in an event of a recorded terminal; None if it is none."""
    bare = line.strip().rstrip(",")
    if not (bare.startswith('{"') and bare.endswith("}")) and not (bare.startswith("[") and bare.endswith('"]') and bare[1:2].isdigit()):
        return None
    entry = _parsed(bare)
    if isinstance(entry, list):
        return _split(entry[2]) if len(entry) == 3 and entry[1] == "o" and isinstance(entry[2], str) else None
    if not isinstance(entry, dict) or _NOTICES & entry.keys() or "__REALTIME_TIMESTAMP" in entry:
        return None
    key = next((key for key in _MESSAGES if isinstance(entry.get(key), str)), None)
    if key is None or _TROUBLE.search(json.dumps({name: value for name, value in entry.items() if name not in (key, *_LEVELS)})):
        return None  # what another field says would be lost with it
    return _split(entry[key])


def _split(text: str) -> list[str]:
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def _strings(line: str) -> list[str] | None:
    """The strings of a list on one line, as JSON or Python writes it; None if it is none, or a short one."""
    bare = line.strip().rstrip(",")
    if not (bare.startswith("['") and bare.endswith("']")) and not (bare[:2] in ('["', "['") and bare[-2:] in ('"]', "']")):
        return None
    found = _parsed(bare)
    if found is None and len(bare) <= LINE_MAX and not set(_OF_PYTHON.sub("", bare)) - set("[], "):
        found = [_unescaped(each[1:-1]) for each in _OF_PYTHON.findall(bare)]
    if not isinstance(found, list) or len(found) < RUN_MIN or not all(isinstance(each, str) for each in found):
        return None
    return [each.rstrip("\n") for each in found]


_OF_PYTHON = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def _unescaped(text: str) -> str:
    """What stands between the quotes of a string of Python."""
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found.group(1), found.group(1)), text)


def _parsed(text: str) -> object:
    """The value of a text of JSON; None if it is none or too long."""
    if len(text) > LINE_MAX:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
