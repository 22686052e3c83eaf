"""Tells somebody's own words below a command from its output: a sentence, and none in which a program complains."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workflows.triage.fields import HEADER, HEADING, KEY, ROW

LINES_MAX = 60  # prose below a command is short; an output may be long
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,}|-{2,}|={3,}|_{3,}|\[/?\w{1,12}\])\s*$")
_PLAIN = frozenset(
    [
        "a",
        "an",
        "the",
        "i",
        "i'm",
        "i've",
        "we",
        "you",
        "your",
        "my",
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "have",
        "has",
        "had",
        "do",
        "does",
        "did",
        "not",
        "but",
        "so",
        "if",
        "and",
        "or",
        "then",
        "when",
        "what",
        "which",
        "who",
        "how",
        "why",
        "as",
        "of",
        "on",
        "in",
        "with",
        "from",
        "would",
        "could",
        "should",
        "might",
        "can",
        "will",
        "there",
        "here",
        "please",
        "thanks",
    ]
)
_COMPLAINT = re.compile(
    r"(?i)\b(?:fail(?:ed|ure|ing)?|errors?|cannot|can't|unable|not found|no such|denied|invalid|unknown|unrecognized|usage|timed? ?out|unsupported|must be|not permitted|could not)\b"
)
PLAIN_MIN = 2
_ANNOUNCED = re.compile(r"[A-Z][a-z]{2,20}(?: [a-z]{2,20}){0,4}:")  # "Histogram:", of what stands below it


_FAR_SCRIPT = re.compile(r"[\u0370-\u1fff\u3040-\ud7ff]")  # no tool of ours prints one
_FIGURE = re.compile(r"[0-9/=]")


LEFT_OUT = ("...", "....", ".....", "…", "[...]", "[…]", "(...)")  # stands for lines that somebody did not paste


def is_talk(lines: Sequence[str]) -> bool:
    """Whether none of these lines was printed by a program, as far as words tell."""
    printed = [line.strip() for line in lines if line.strip() and not _FENCE.match(line) and line.strip() not in LEFT_OUT]
    if not printed:
        return any(line.strip() for line in lines)  # a fence or dots alone: the output was not pasted
    if all(_FAR_SCRIPT.search(line) and not _FIGURE.search(line) for line in printed):
        return True
    if len(printed) > LINES_MAX or not (printed[0][:1].isupper() or _is_aside(printed)) or _COMPLAINT.search(printed[0]):
        return False
    if len(printed) == 1 and _ANNOUNCED.fullmatch(printed[0]):
        return True
    first = re.findall(r"[A-Za-z']+", printed[0].lower())
    return sum(word in _PLAIN for word in first) >= PLAIN_MIN and 10 * sum(map(is_sentence, printed)) >= 7 * len(printed)


def is_worded(line: str) -> bool:
    """Whether a line has the small words of a person's sentences, of which alerts have at most one."""
    return sum(word in _PLAIN for word in re.findall(r"[A-Za-z']+", line.lower())) >= PLAIN_MIN


def _is_aside(printed: Sequence[str]) -> bool:
    """Whether it is one line that goes on with somebody's sentence: in brackets, or to tell what stands below it."""
    line = printed[0]
    return len(printed) == 1 and ((line[0] == "(" and line[-1] == ")") or (line[0].islower() and line[-1] == ":"))


SENTENCE_MIN = 4  # words


def has_prose(lines: Sequence[str]) -> bool:
    """Whether somebody says something among these lines: between two outputs, that may be what happened meanwhile, or on which day each was."""
    return any(len(line.split()) >= SENTENCE_MIN and is_sentence(line) for line in lines)


_WORD = re.compile(r"[(\"`*]{0,3}[A-Za-z][A-Za-z'-]{0,40}[)\"`*.,:;!?]{0,4}")


def is_sentence(line: str) -> bool:
    """Mostly words: an output has figures, columns and names of devices."""
    parts = line.split()
    words = sum(_WORD.fullmatch(part) is not None for part in parts)
    return "   " not in line and 10 * words >= 8 * len(parts)


_OTHER_SCRIPT = re.compile(r"[\u00c0-\u024f\u0370-\u1fff\u3040-\ud7ff]")


def is_somebodys(line: str) -> bool:
    """Whether somebody says this right below a tree: a sentence that ends as one, or words that no program of ours prints."""
    words = line.split()
    if HEADER.match(line) or ROW.match(line) or HEADING.match(line) or KEY.match(line):
        return False
    if _OTHER_SCRIPT.search(line) and not re.search(r"[0-9/]", line):
        return True
    return (
        len(words) >= SENTENCE_MIN
        and is_sentence(line)
        and line.rstrip()[-1] in ".?!:"
        and sum(word.lower() in _PLAIN for word in words) >= PLAIN_MIN
    )
