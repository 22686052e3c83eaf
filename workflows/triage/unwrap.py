"""Pasted text as the terminal once showed it: without what mail, chat, forums, consoles and tools have wrapped around it.

Everything here is linear in the length of the text, whatever it holds: a paste comes from anybody.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from workflows.triage import coded, journal_json, line_ends, markup, oneline, wrappers

_COUNTED = "; the numbers of lines count them as they stand then."
LAYERS = 3  # a list of strings in a fence in a quoted mail
GAP_MAX = 4  # lines around a fence in which its neighbour is looked for
_QUOTE = "> \t"
_CONTROL = re.compile(
    r"\x1b\[[0-9;:?<=>]{0,40}[ -/]{0,4}[@-~]"  # colours and movements
    r"|\x1b\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\)?"  # the title of a window
    r"|\x1b[()*+][0-9A-Za-z]|\x1b[=>78cDEHMNOZ]|\x1b"
    r"|\^\[\[[0-9;?]{0,40}[A-Za-z]"  # as `cat -v` shows them
    r"|\\(?:x1[bB]|033|e|u001[bB])\[[0-9;]{0,40}m"  # as a program writes them
    r"|\[[0-9]{1,3}(?:;[0-9]{1,3}){0,4}m|\[(?:0m|m(?![a-z])|[JK](?=\s|$))"  # what is left where the escape itself was lost; a word may begin behind "["
)
_SHOWN_BLANK, _SHOWN_TAB = "\u00b7", "\u2192"  # as an editor shows them
SHOWN_BLANKS_MIN = 8
_RECORDED = re.compile(r"Script (?:started|done)[ ,]")
_RIGHT = re.compile(r"\x1b\[([0-9]{0,3})C")  # how some consoles write blanks
_ODD: dict[int, str | None] = {
    **dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F), " "),
    0x3000: "  ",  # two columns wide
    **dict.fromkeys((0x00, 0x05, 0x07, 0x0E, 0x0F, 0x1C, 0x1D, 0x1F, 0xAD, *range(0x200B, 0x2010), 0x2060, 0xFEFF, 0xFFFC), None),
    **dict.fromkeys((0x0B, 0x0C, 0x85, 0x2028, 0x2029), "\n"),
    **dict.fromkeys((0x2018, 0x2019, 0x201A, 0x201B, 0x2032), "'"),
    **dict.fromkeys((0x201C, 0x201D, 0x201E, 0x201F, 0x2033), '"'),
    **dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2212), "-"),
    **dict.fromkeys((0x2014, 0x2015), "--"),
    0x2026: "...",
    ord(markup.TURN): None,
}


@dataclass(frozen=True)
class Cleaned:
    """The lines, and where another text begins. A line is named by its place: their number is that of the paste, but for breaks that
    were lost and are put back."""

    lines: list[str]
    turns: Mapping[int, str] = field(default_factory=dict)  # place of the first line of another text -> the host that it names, or ""
    notes: tuple[str, ...] = ()


def decoded(raw: bytes) -> str:
    """The text of a file: of a saved mail its words, and of a file that Windows wrote in two bytes a character the same as of any other."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", "backslashreplace")
    return (coded.words_of_mail(raw) or raw).decode("utf-8", "backslashreplace")


def lines(text: str) -> list[str]:
    """Every line of `text`, cleaned."""
    return cleaned(text).lines


def cleaned(text: str) -> Cleaned:
    """The text without its wrappers. Never raises."""
    text = _plain(text)
    notes: list[str] = []
    for _ in range(LAYERS):
        found, turns, more = _of_one_layer(text)
        notes += more
        changed = wrappers.undo(found, turns)
        if not changed or any(turns.values()):  # a turn that names a host is not put into the text again
            break
        text = "\n".join(f"{markup.TURN}{line}" if place in turns else line for place, line in enumerate(found))
    return Cleaned([line.expandtabs(8).rstrip() for line in found], turns, tuple(notes))


def _of_one_layer(text: str) -> tuple[list[str], dict[int, str], list[str]]:
    """The lines without codings, tags and fences, where another text begins among them, and what was done to the line ends."""
    found = [_WRITTEN_TABS.sub(_tabs, line) if line.startswith("\\t") else line for line in markup.without(coded.undone(text)).split("\n")]
    if journal_json.SIGN in text:
        found = [journal_json.spelt_out(line) for line in found]
    found, cut = line_ends.joined(found, wrappers.is_a_beginning)
    found, spaced = line_ends.single(found)
    found, broken = oneline.rebuilt(found)
    turns = {
        beside: ""
        for place, line in enumerate(found)
        if line.startswith("Script ") and _RECORDED.match(line)
        for beside in (place, place + 1)
    }
    inside = False  # a fence that somebody drew around a tree alone
    for place, line in enumerate(found):
        if markup.TURN in line:
            _before, _, after = line.partition(markup.TURN)
            inside = (not inside and _stands_below_config(found, place)) or (inside and _errors_follow(found, place))
            if not inside:
                turns[place if after.strip() else place + 1] = ""
            found[place] = line.replace(markup.TURN, "")
    notes = [f"{broken} lines stood on one line each: their breaks were put back{_COUNTED}"] if broken else []
    notes += [f"{cut} lines were cut at the last column of a terminal: they were joined{_COUNTED}"] if cut else []
    notes += [f"{spaced} empty lines between the others were left out{_COUNTED}"] if spaced else []
    return found, turns, notes


_WRITTEN_TABS = re.compile(r"^(?:\\t){1,20}(?= {0,20}\S{1,255} +[A-Z]{2,10}\b| {0,20}(?:NAME|logs|cache|spares|special|dedup)\b)")


def _tabs(found: re.Match[str]) -> str:
    """A row's tabs as a program writes them down: a backslash and a letter each."""
    return "\t" * (len(found.group()) // 2)


def _stands_below_config(lines: list[str], place: int) -> bool:
    """Whether `config:` is the last that was said above this line: the tree that belongs to it follows."""
    above = next((line for line in reversed(lines[max(0, place - GAP_MAX) : place]) if line.strip(_QUOTE)), "")
    return above.strip(_QUOTE) == "config:"


def _errors_follow(lines: list[str], place: int) -> bool:
    """Whether the text of the same pool goes on below this line."""
    below = next((line for line in lines[place + 1 : place + 1 + GAP_MAX] if line.strip(_QUOTE)), "")
    return below.lstrip(_QUOTE).startswith("errors:")


def _plain(text: str) -> str:
    """Without what steered the terminal, and without what was written over on its own line."""
    if "\x1b" in text:
        text = _RIGHT.sub(lambda found: " " * min(int(found.group(1) or 1), 200), text)
    text = _CONTROL.sub("", text).translate(_ODD)
    if text.count(_SHOWN_BLANK * 2) >= SHOWN_BLANKS_MIN:
        text = text.replace(_SHOWN_BLANK, " ").replace(_SHOWN_TAB, "\t")
    if "\x08" not in text and "\r" not in text:
        return text
    found = [line.rstrip("\r") for line in text.split("\n")]
    over = sum(line.count("\r") for line in found)
    if over >= len(found):  # line ends of an old Mac or of a console, not a progress bar's
        return _typed("\n".join(found).replace("\r", "\n"))
    return "\n".join(_typed(line.rpartition("\r")[2]) for line in found)


def _typed(line: str) -> str:
    """What stands there after each backspace took one character away. None takes a line break."""
    if "\x08" not in line:
        return line
    kept: list[str] = []
    for character in line:
        if character != "\x08":
            kept.append(character)
        elif kept and kept[-1] != "\n":
            kept.pop()
    return "".join(kept)
