"""Tags, entities and fences of the places where people write to each other."""

from __future__ import annotations

import html
import re

from workflows.triage import source_strings
from workflows.triage.fields import HEADER, KEY, ROW, STATE

TURN = "\x1e"  # stands where one text ends and another begins, until the lines are cut

_NAMES = "pre|code|tt|samp|kbd|p|div|span|blockquote|font|strong|em|html|body|table|tbody|tr|td|th|ul|ol|li|center|details|summary"
_BLOCKS = frozenset(("pre", "blockquote", "details", "quote", "spoiler"))
_TAG = re.compile(rf"<(/?)({_NAMES}|a|b|i|u)(?:\s[^<>\n]{{0,300}})?/?>", re.IGNORECASE)
_BREAK = re.compile(r"<br(?:[\s/][^<>\n]{0,300})?>(\n?)", re.IGNORECASE)
_ITEM = re.compile(r"(?<!\n)<li(?:\s[^<>\n]{0,300})?>", re.IGNORECASE)  # of a list on one line: each is a line of its own
_BBCODE = re.compile(
    r"\[(/?)(code|quote|icode|spoiler|pre|tt|font|size|color|b|i|u|indent|list|plain|shell|bash)(?:=[^\]\[\n]{0,200})?\]", re.IGNORECASE
)
_BB_BREAK = re.compile(r"\[br\](?:\n|$)?", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([_*#<>\[\]`~|-])")  # as Markdown has them outside of code
_BB_BLOCKS = frozenset(("code", "quote", "spoiler", "pre", "plain", "shell", "bash"))
_ENTITY = re.compile(
    r"&(?:lt|gt|amp|nbsp|quot|apos|ensp|emsp|thinsp|ndash|mdash|tab|[lr][sd]quo|#[0-9]{1,6}|#[xX][0-9a-fA-F]{1,5});", re.IGNORECASE
)
_LANGUAGES = frozenset(
    [
        "bash",
        "sh",
        "shell",
        "zsh",
        "console",
        "text",
        "txt",
        "plain",
        "plaintext",
        "none",
        "log",
        "output",
        "yaml",
        "json",
        "diff",
        "ini",
        "conf",
        "c",
        "python",
    ]
)
_FENCE = re.compile(r"(`{3,12}|~{3,12})([\w+.#{}-]{0,40})(.*)")
_STRESSED = re.compile(rf"(\*{{1,3}}|_{{2}}|~~)({STATE})\1")
_STRESSED_COUNT = re.compile(r"(?<=\s)(\*{2,3}|_{2}|~~)([0-9][0-9.]{0,6}[KMGT]?)\1(?=\s)")
_STRESSED_ROW = re.compile(
    rf"^([>\t ]{{0,60}})(\*\*|__)([^\s*_][^*\n]{{0,200}})\2(?=[ \t]{{0,20}}$|[ \t]{{1,60}}{STATE}\b)", re.MULTILINE
)  # all of a row, or its name
_STRESSED_FIELD = re.compile(
    r"^\*\*( {0,4}(?:pool|id|state|status|action|see|scan|errors): [^*\n]{1,300}(?:\n[^*\n]{1,300})?)\*\*$", re.MULTILINE
)  # with the line in which it goes on
_ENTITIES_DEEP = 2  # "&amp;lt;": escaped twice


def without(text: str) -> str:
    """The text without tags; TURN where a block begins or ends. A break that is a tag becomes one of a line."""
    if "<" in text or "&" in text:
        text = _BREAK.sub("\n", text)
        text = _ITEM.sub("\n* ", text)
        text = _TAG.sub(lambda found: TURN if found.group(2).lower() in _BLOCKS else "", text)
        if "</" in text:
            text = _without_elements(text)
        for _ in range(_ENTITIES_DEEP):
            text = _ENTITY.sub(_character, text)
    if "*" in text or "__" in text:
        text = _STRESSED_ROW.sub(r"\1\3", text)
        text = _STRESSED_FIELD.sub(r"\1", _STRESSED_COUNT.sub(r"\2", _STRESSED.sub(r"\2", text)))
    if "\\_" in text or "\\*" in text:
        text = _ESCAPED.sub(r"\1", text)
    if "[" in text:
        text = _BB_BREAK.sub("\n", text)
        text = _BBCODE.sub(lambda found: TURN if found.group(2).lower() in _BB_BLOCKS else "", text)
    if "`WARNING: Pool '" in text:
        text = _QUOTED_LOG.sub(lambda found: f"{TURN}\n{' '.join(found.group(1).split())}\n{TURN}", text)
    lines = list(map(_unfenced, text.split("\n"))) if "```" in text or "~~~" in text else text.split("\n")
    lines = _out_of_programs(lines)
    if "{{" in text or _QUOTES in text:
        lines = list(map(_unquoted, lines))
    if any(sign in text for sign in _SIGNS_OF_FENCES):
        lines = [TURN if _OTHER_FENCE.fullmatch(line.strip()) else line for line in lines]
    if " \\\n" in text:
        lines = _without_kept_ends(lines)
    return "\n".join(_without_back_quotes(lines) if "`" in text else lines)


def _out_of_programs(lines: list[str]) -> list[str]:
    """Each string of several lines in a program as a text of its own."""
    found = source_strings.ends(lines)
    opened = True
    for place in sorted(found):
        lines[place] = f"{TURN}{found[place]}" if opened else f"{found[place]}{TURN}"
        opened = not opened
    return lines


_ELEMENT = re.compile(r"<(/?)([A-Za-z][\w:.-]{0,60})>(?:<!\[CDATA\[)?")
_END = re.compile(r"(?:\]\]>)?</([A-Za-z][\w:.-]{0,60})>")


def _without_elements(text: str) -> str:
    """Without the elements of XML around a text. A tag that is never closed is none: ZFS writes `<metadata>` of what has no file. One with attributes
    stays, as these can say how something is."""
    closed = {found.group(1) for found in _END.finditer(text)}
    text = _END.sub(TURN, text)
    return _ELEMENT.sub(lambda found: TURN if found.group(2) in closed else found.group(), text)


# Fences of Jira, Org, AsciiDoc, LaTeX and MediaWiki, and the end of a shell's text of several lines
_OTHER_FENCE = re.compile(
    r"\{(?:code|noformat|panel|quote)(?::[^{}\n]{0,120})?\}|#\+(?:begin|end)_(?:src|example|quote|verse)\b.{0,120}|\\(?:begin|end)\{(?:verbatim|lstlisting|minted|Verbatim)\}.{0,120}"
    r"|</?(?:syntaxhighlight|source|nowiki)(?:\s[^<>\n]{0,120})?>|\[(?:source|listing)(?:,[^\]\n]{0,120})?\]|-{4}|[\"']|(?:- )?[\w.-]{1,60}: [|>][+-]?|EOF|(?:cat )?<<-? ?['\"]?EOF['\"]?",
    re.IGNORECASE,
)
_SIGNS_OF_FENCES = (
    "{code",
    "{noformat",
    "{panel",
    "{quote",
    "#+",
    "\\begin{",
    "<syntaxhighlight",
    "<source",
    "<nowiki",
    "\n----\n",
    ": |\n",
    ": |-\n",
    ": >\n",
    "EOF",
    '\n"\n',
    "\n'\n",
)
# What the kernel says of a pool that it suspends, as people quote it within a sentence
_QUOTED_LOG = re.compile(r"`(WARNING: Pool '[^'`\n]{1,255}' has encountered an uncorrectable I/O failure[^`]{1,80}?suspended\.?)`")
KEPT_ENDS_MIN = 3  # lines of a pool


def _without_kept_ends(lines: list[str]) -> list[str]:
    """Without the backslash with which Markdown keeps the end of a line. A shell's command goes on behind one: it has no field and no row."""
    kept = [line.endswith(" \\") for line in lines]
    of_a_pool = sum(ends and bool(KEY.match(line) or ROW.match(line) or HEADER.match(line)) for ends, line in zip(kept, lines, strict=True))
    if of_a_pool < KEPT_ENDS_MIN:
        return lines
    return [line[:-2].rstrip() if ends else line for ends, line in zip(kept, lines, strict=True)]


_COMMAND = re.compile(r"`[^`\n]{0,80}[#$%>] (?:sudo )?(?:zpool|zfs|zdb) [^`\n]+`")  # with its prompt, alone on a line
_OF_A_LOG = re.compile(
    r"`(?=\[ {0,9}[0-9]|[A-Z][a-z]{2} {1,2}[0-9]{1,2} [0-9]{2}:|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]|Device: /dev/|zfs-[0-9]|(?:OK|WARNING|CRITICAL|UNKNOWN)[: ])[^`\n]*`"
)  # one line of a log, or of a monitoring plugin


def _without_back_quotes(lines: list[str]) -> list[str]:
    """Without one pair of back-quotes around several lines, or a whole one, as people mark what is a single word elsewhere."""
    opened = alone = -1
    for place, line in enumerate(lines):
        if line == "`" and opened < 0:
            if alone >= 0:
                lines[alone] = lines[place] = TURN  # one above the text and one below it
            alone = -1 if alone >= 0 else place
            continue
        odd = line.count("`") % 2 == 1
        if not odd and (_COMMAND.fullmatch(line) or _OF_A_LOG.fullmatch(line)):
            lines[place] = line[1:-1]
        if odd and opened < 0 and line.startswith("`"):
            opened = place
        elif odd and opened >= 0 and line.endswith("`") and line.count("`") == 1:
            lines[opened] = f"{' ' if lines[opened].startswith('` ') else ''}{lines[opened][1:]}"
            lines[place] = line[:-1]
            opened = -1
        elif odd:
            opened = -1
    return lines


def _character(found: re.Match[str]) -> str:
    """A blank that does not break is a blank, and what is no character stays as it is written."""
    text = html.unescape(found.group().lower() if found.group()[1] != "#" else found.group())
    return "\t" if text in ("\t", "&tab;") else " " if text.isspace() or text == "\xa0" else text if text.isprintable() else found.group()


_SHORTCODE = re.compile(r"\{\{[<%] ?/?\w[^{}\n]{0,80}[>%]\}\}")  # a fence of Hugo's
_TEXT_OF_SOURCE = re.compile(r'(?:[A-Za-z_]\w{0,60} {0,2}= {0,2})?[frbu]{0,2}"""\\?')  # a text of several lines in a program
_QUOTES = '"""'


def _unquoted(line: str) -> str:
    """Without a fence of other places: of a page's own code, or around a text that stands in a program."""
    if _SHORTCODE.fullmatch(line.strip()):
        return TURN
    begun = _TEXT_OF_SOURCE.match(line.lstrip())
    if begun and line.count(_QUOTES) == 1:
        return f"{TURN}{line.lstrip()[begun.end() :]}"
    ends = line.endswith(_QUOTES) and line.count(_QUOTES) == 1
    return line.removesuffix(_QUOTES) + TURN if ends else line


def _unfenced(line: str) -> str:
    """A fence is no part of what it holds; what somebody wrote on the same line is."""
    stripped = line.lstrip("> \t|")
    found = _FENCE.match(stripped)
    if found:
        before = line[: len(line) - len(stripped)]
        rest = found.group(3).removesuffix(found.group(1))
        word = found.group(2)
        inline = rest != found.group(3)  # both fences on one line: no language is named
        spoken = rest.strip() and not rest.startswith(("\t", "{", "=")) and word.lower() not in _LANGUAGES
        return f"{before}{TURN}{word if word.endswith(':') or inline or spoken else ''}{rest if rest.strip() else ''}"
    for mark in ("```", "~~~"):
        if line.endswith(mark):
            return line.rstrip(mark[0]) + TURN
    return line
