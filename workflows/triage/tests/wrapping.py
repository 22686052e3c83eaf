"""What the ways of a text through mail, chat, forums, consoles and tools do to it. Each takes the text and gives it back wrapped."""

from __future__ import annotations

import html
import json
import textwrap
from collections.abc import Callable

ASK = "hello, one of our pools looks bad, can somebody have a look?"
THANKS = "That is all I have. What should I do first?"
Wrap = Callable[[str], str]


def _each(before: str, after: str = "") -> Wrap:
    return lambda text: "\n".join(f"{before}{line}{after}" for line in text.rstrip("\n").split("\n"))


def _between(first: str, last: str) -> Wrap:
    return lambda text: f"{ASK}\n\n{first}\n{text.rstrip(chr(10))}\n{last}\n\n{THANKS}\n"


def _prose(wrap: Wrap) -> Wrap:
    return lambda text: f"{ASK}\n\n{wrap(text)}\n\n{THANKS}\n"


def _numbered(form: str) -> Wrap:
    return lambda text: "\n".join(form.format(number, line) for number, line in enumerate(text.rstrip("\n").split("\n"), 1))


def _html(text: str) -> str:
    return f"<p>{ASK}</p>\n<pre><code>{html.escape(text)}</code></pre>\n<p>{THANKS}</p>\n"


def _breaks(text: str) -> str:
    return "<br>\n".join(html.escape(line).replace(" ", "&nbsp;") for line in text.expandtabs(8).split("\n"))


def _breaks_alone(text: str) -> str:
    return "<br/>".join(html.escape(line) for line in text.split("\n"))


def _ansible(text: str) -> str:
    lines = ",\n".join("        " + json.dumps(line) for line in text.rstrip("\n").split("\n"))
    return f'ok: [oss01] => {{\n    "out.stdout_lines": [\n{lines}\n    ]\n}}\n'


def _yaml(text: str) -> str:
    return "  out.stdout_lines:\n" + "\n".join(f"  - {json.dumps(line)}" for line in text.rstrip("\n").split("\n")) + "\n"


def _table(text: str) -> str:
    lines = text.expandtabs(8).rstrip("\n").split("\n")
    width = max(map(len, lines))
    return "\n".join(["+" + "-" * (width + 2) + "+", *(f"| {line:{width}} |" for line in lines), "+" + "-" * (width + 2) + "+"])


def _pane(text: str) -> str:
    lines = text.expandtabs(8).rstrip("\n").split("\n")
    width = max(map(len, lines))
    rows = [f"\u2502{line:{width}}\u2502" for line in lines]
    return "\n".join(["\u250c" + "\u2500" * width + "\u2510", *rows, "\u2514" + "\u2500" * width + "\u2518"])


def _pane_right(text: str) -> str:
    lines = text.expandtabs(8).rstrip("\n").split("\n")
    width = max(map(len, lines))
    return "\n".join(f"{line:{width}}\u2502" for line in lines)


def _coloured(text: str) -> str:
    words = {word: f"\x1b[1;31m{word}\x1b[0m" for word in ("DEGRADED", "FAULTED", "UNAVAIL", "ONLINE", "NAME")}
    for word, shown in words.items():
        text = text.replace(word, shown)
    return "\x1b[?2004l" + text.replace("\n", "\x1b[K\r\n")


def _escapes_lost(text: str) -> str:
    return text.replace("DEGRADED", "[33mDEGRADED[0m").replace("FAULTED", "[1;31mFAULTED[0m")


def _typescript(text: str) -> str:
    lines = text.rstrip("\n").replace("\n", "\r\n")
    return f'Script started on 2026-11-21 10:00:00+00:00 [TERM="xterm"]\r\n{lines}\r\n\r\nScript done on 2026-11-21 10:00:09+00:00\r\n'


WRAPPERS: dict[str, Wrap] = {
    "quoted": _prose(_each("> ")),
    "quoted twice": _prose(_each("> > ")),
    "quoted tight": _prose(_each(">> ")),
    "quoted without a blank": _prose(_each(">")),
    "a bar before": _prose(_each("| ")),
    "a drawn bar before": _prose(_each("\u2502 ")),
    "chat with a clock": _each("[12:01] ann: "),
    "chat with angles": _each("12:01:07 <@ann> "),
    "chat by name": _prose(_each("ann> ")),
    "chat with a date": _each("[2026-11-21 12:01:07] ann: "),
    "many hosts at once": _each("oss01: "),
    "container log": _each("oss01  | "),
    "fenced": _between("```", "```"),
    "fenced with a language": _between("```console", "```"),
    "fenced with tildes": _between("~~~ text", "~~~"),
    "indented by four": _prose(_each("    ")),
    "indented by a tab": _prose(_each("\t")),
    "indented whole": lambda text: textwrap.indent(text, "      "),
    "indented in a quote": _prose(_each(">     ")),
    "fenced in a quote": lambda text: _each("> ")(f"hello\n```\n{text}```\nbye"),
    "html": _html,
    "html breaks and blanks": _breaks,
    "html breaks alone": _breaks_alone,
    "bbcode": _between("[CODE=shell]", "[/CODE]"),
    "bbcode on the same lines": lambda text: f"{ASK}\n[code]{text.rstrip()}[/code]\n{THANKS}\n",
    "table": _table,
    "pane": _pane,
    "right border": _pane_right,
    "grep -n": _numbered("{}:{}"),
    "grep with file": _numbered("outputs/node.txt:{}:{}"),
    "grep of a file": _each("outputs/node.txt:"),
    "cat -n": _numbered("{:6}\t{}"),
    "editor": _numbered("{:4} {}"),
    "editor with bar": _numbered("{:4} | {}"),
    "comments": _each("# "),
    "comments without a blank": _each("#"),
    "comments of an ini": _each("; "),
    "comments of a program": _each("// "),
    "syslog": _each("Nov 21 12:01:07 oss01 zpool-check[4711]: "),
    "syslog with iso": _each("2026-11-21T12:01:07.123456+00:00 oss01 logger: "),
    "iso": _each("2026-11-21 12:01:07,123 INFO "),
    "clock": _each("12:01:07 "),
    "ansible": _ansible,
    "yaml": _yaml,
    "string of json": lambda text: '{"rc": 0, "stdout": ' + json.dumps(text.rstrip("\n")) + ', "stderr": ""}',
    "back-quotes": _each("`", "`"),
    "windows": lambda text: "\ufeff" + text.replace("\n", "\r\n"),
    "old mac": lambda text: text.replace("\n", "\r"),
    "serial console": lambda text: text.replace("\n", "\r\r\n"),
    "blanks for tabs": lambda text: text.expandtabs(8),
    "four blanks for a tab": lambda text: text.expandtabs(4),
    "trailing blanks": _each("", "   "),
    "blanks that do not break": lambda text: text.expandtabs(8).replace("  ", "\xa0 "),
    "coloured": _coloured,
    "colours whose escape was lost": _escapes_lost,
    "typescript": _typescript,
}
