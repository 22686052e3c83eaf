"""What the ways of a text through mail, chat, forums, consoles and tools do to it. Each takes the text and gives it back wrapped."""

from __future__ import annotations

import html
import json
import quopri
import textwrap
import urllib.parse
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


def _mail(text: str) -> str:
    head = "From: ann@example.org\nSubject: pool\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
    return f"{head}Content-Transfer-Encoding: quoted-printable\n\n{quopri.encodestring(text.encode()).decode()}"


def _entries(key: str, end: str = "") -> Wrap:
    """A logger's JSON: one line for each."""
    return lambda text: "\n".join(
        json.dumps({"time": "2026-11-21T12:01:07Z", key: line + end, "stream": "stdout"}) for line in text.rstrip("\n").split("\n")
    )


def _recorded(text: str) -> str:
    """An asciicast: https://docs.asciinema.org/manual/asciicast/v2/."""
    events = [json.dumps([place / 10, "o", f"{line}\r\n"]) for place, line in enumerate(text.rstrip("\n").split("\n"))]
    return "\n".join(['{"version": 2, "width": 80, "height": 24}', *events])


def _literal(before: str, after: str) -> Wrap:
    """A string of a program's source, or a field of a log."""

    def wrap(text: str) -> str:
        inner = text.replace("\\", "\\\\").replace(after[0], f"\\{after[0]}").replace("\n", "\\n").replace("\t", "\\t")
        return before + inner + after

    return wrap


def _shown_ends(text: str) -> str:
    return "\n".join(line.replace("\t", "^I") + "$" for line in text.rstrip("\n").split("\n"))


def _around_what_was_found(text: str) -> str:
    """What `grep -C` prints of a file."""
    lines = text.rstrip("\n").split("\n")
    return "\n".join(
        f"node.txt{mark}{number}{mark}{line}" for number, line in enumerate(lines, 1) for mark in (":" if "state" in line else "-")
    )


def _table_of_html(text: str) -> str:
    return "<table>\n" + "\n".join(f"<tr><td>{html.escape(line)}</td></tr>" for line in text.rstrip("\n").split("\n")) + "\n</table>"


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
    "journal with day and zone": _each("Sat 2026-11-21 12:01:07 CET oss01 zpool[123]: "),
    "Kubernetes with times": _each("2026-11-21T12:01:07.123456789Z "),
    "Kubernetes on the node": _each("2026-11-21T12:01:07.123456789+00:00 stdout F "),
    "log of a Java program": _each("2026-11-21 12:01:07.123 [main] INFO  c.f.Check - "),
    "log of a Python program": _each("2026-11-21 12:01:07,123 - check - INFO - "),
    "level alone": _each("[INFO] "),
    "seconds since 1970": _each("1795262467.123 "),
    "syslog of RFC 5424": _each("<13>1 2026-11-21T12:01:07.123Z oss01 zpool 123 - - "),
    "Puppet": _each("Notice: /Stage[main]/Zfs/Exec[status]/returns: "),
    "Terraform": _each("null_resource.check (remote-exec): "),
    "Fabric": _each("[oss01] out: "),
    "host and process": _each("oss01 zpool[123]: "),
    "bullets": _each("- "),
    "percent signs": _each("% "),
    "numbered in words": _numbered("Line {}: {}"),
    "irssi": _each("12:01 < ann> "),
    "weechat": _each("12:01:07       ann | "),
    "messenger, first line": lambda text: f"[21/11/2026, 12:01:07] Ann: {text}",
    "words on the pool's line": lambda text: f"This is what I get: {text}",
    "Jira": _between("{code:bash|title=status}", "{code}"),
    "Jira without format": _between("{noformat}", "{noformat}"),
    "MediaWiki": _between('<syntaxhighlight lang="bash">', "</syntaxhighlight>"),
    "Org": _between("#+BEGIN_SRC sh", "#+END_SRC"),
    "AsciiDoc": _between("[source,console]\n----", "----"),
    "LaTeX": _between("\\begin{verbatim}", "\\end{verbatim}"),
    "text for a shell": lambda text: f"cat <<EOF\n{text}EOF\n",
    "block of YAML": lambda text: f"- host: oss01\n  stdout: |\n{_each('    ')(text)}",
    "element of XML": lambda text: f"<output>{html.escape(text)}</output>",
    "CDATA of XML": lambda text: f"<output><![CDATA[{text}]]></output>",
    "rows of HTML": _table_of_html,
    "mail as it travels": _mail,
    "address of a page": urllib.parse.quote,
    "literal of Python": repr,
    "bytes of Python": lambda text: repr(text.encode()),
    "list of Python": lambda text: repr(text.rstrip("\n").split("\n")),
    "list of JSON": lambda text: json.dumps(text.rstrip("\n").split("\n")),
    "JSON in JSON": lambda text: json.dumps({"host": "oss01", "result": {"stdout": text, "rc": 0}}, indent=1),
    "literal of a shell": _literal("$'", "'"),
    "literal of Go": _literal('out="', '"'),
    "field of a log": _literal('time=2026-11-21T12:01:07Z level=info msg="', '"'),
    "Ansible on one line": lambda text: "oss01 | CHANGED | rc=0 | (stdout) " + text.rstrip("\n").replace("\n", "\\n"),
    "log of Docker": _entries("log", "\n"),
    "log of a logger": _entries("message"),
    "recorded terminal": _recorded,
    "cat -A": _shown_ends,
    "pager": lambda text: f"{text}~\n~\n(END)\n",
    "pager within": lambda text: f"{text}--More--(45%)\n",
    "grep -C": _around_what_was_found,
    "every second line empty": lambda text: text.replace("\n", "\n\n"),
    "the same by Windows": lambda text: text.replace("\n", "\r\n\r\n"),
    "blanks as dots": lambda text: text.expandtabs(8).replace(" ", "\u00b7"),
    "wide blanks": lambda text: text.expandtabs(8).replace("  ", "\u3000"),
}
