"""Short texts that no reader knows and that state what is wrong with a part of storage: subjects of mails, messages of chats, webhooks, rows of event logs.

Whoever sends them, an alert names a thing (a pool, a disk, a fan) beside a word of trouble, and states it. What advises, asks, tells a story,
denies or says that it is over states nothing; what is in the first person is somebody's own. Such a text is named, and nothing is read from it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from agents.collectors.base import Unparsed
from workflows.pasted import notices
from workflows.pasted._stated import IS_RULE, of_statement, things, with_order
from workflows.pasted.base import Reader, refused
from workflows.pasted.notices import Notice, Notices

NAME = "statements"
LINES_MAX = 40
LINE_MAX = 600
WORDS_MAX = 40
BEGINS_MAX = 25  # characters before a word of trouble with which a clause begins
SHORT = 8  # words: a subject as short as that need not name anything
NAMED = (
    "This may be an alert about storage, or somebody's own words: it states nothing that is known here, and nothing in it is taken for good. "
    "`zpool status -P -p`, `smartctl -x DEVICE` and `dmesg` of that machine are read."
)
_OF_PERSON = re.compile(r"(?i:\b(?:I'm|I've|I'd|I'll|my|mine|me|hi|hello|thanks|thank you)\b)|\bI\b(?!/O)|\?(?: |$)")
_NOT_STATED = re.compile(
    r"(?i)\b(?:if|please|(?-i:may)|might|can|could|would|should|will|possibl[ey]|otherwise|recommend\w*|we|our|you|your|but|then|while|when|where|which|whether|until|means|unless|e\.g|(?<!at )risk(?=:)|survivable|such as|any|some|every|each|most|after|before|let's"
    r"|how|why|what|test (?:alert|message|mail|notification)|replac\w*|fix(?:ed|es|ing)?|check(?:ing)? the|order(?:ed|ing)?|planned|scheduled)\b"
)
_IS_STORY = re.compile(
    r"(?i)\b(?:so|because|had|although|however|usually|often|sometimes|always|typically|yesterday|last (?:week|night|month|year|time)|ago|customers?|ticket|release notes|changelog|chapter|bugs?|scenarios?)\b"
)
_IS_OVER = re.compile(
    r"(?i)\b(?:no longer|not|never|no|without|recover(?:ed|y)|resolved|restored|repaired|cleared|back to normal|returned to|(?<!not )healthy now|is healthy|rebuilt|replaced|closed|->? ?(?:OK|ONLINE)|(?<!from )(?:to|now|is|are) (?:OK|online|normal|optimal|good|ready|healthy))\b|rebuild(?:ing)? (?:is |has )?(?:complete|finish|done|end)\w{0,3}|n't\b"
)
_STILL_TROUBLE = re.compile(r"(?i)\bneeds? (?:replacement|to be replaced)\b|\bbelow (?:the )?threshold\b|\b(?:not|no longer|never|not yet) (?:in (?:an? )?)?(?:restored|recovered|repaired|resolved|rebuilt|cleared|passed|spinning|healthy|online|responding|found|ready|available|detected|present|optimal|ok|redundant|accessible|open(?:ed)?|readable)\b|can(?:not|'t) be (?:read|opened|accessed)")  # fmt: skip
_NAMES_IT = re.compile(r"[0-9'\"`(\[/]|\b[A-Z]{4,}\b")
_JSON_TEXT = re.compile(
    r'"(?:message|text|title|summary|description|content|body|subject|msg|alert|event)": {0,4}"((?:[^"\\]|\\.){3,600})"'
)
_CLAUSE = re.compile(r"[;|!]| -{1,2} |[.] (?=[A-Z*#`'\"(])|, (?=[A-Z])")
_SEVERITY = re.compile(r"(?i)\b(?:crit(?:ical)?|warn(?:ing)?|alert|alarm|emergency|fault|failure|problem|error|notification)\b")


def is_alert(lines: Sequence[str]) -> bool:
    """Whether a text that nobody reads states that something is wrong."""
    written = [line for line in lines if line.strip()]
    if any(map(IS_RULE.match, written)):
        return False
    return 0 < len(written) <= LINES_MAX and not _is_of_person(written) and any(_stated(written))


def _is_of_person(lines: Sequence[str]) -> bool:
    return any(_OF_PERSON.search(line[:LINE_MAX]) or _IS_STORY.search(line[:LINE_MAX]) for line in lines)


def may_be_alert(lines: Sequence[str]) -> bool:
    """Whether it names a part of storage beside a word of trouble or of alarm, and is short."""
    written = [line[:LINE_MAX] for line in lines if line.strip()]
    text = "\n".join(written[:LINES_MAX])
    return (
        len(written) <= LINES_MAX
        and not _is_of_person(written)
        and any(things(text))
        and (_SEVERITY.search(text) is not None or of_statement(text) is not None)
    )


_POOL_FIELD = re.compile(r"(?i)[ *-]{0,6}(?:z?pool|volume)(?: name)?: {0,8}['\"]?(?P<name>[a-z][\w.-]{0,80})['\"]?$")
_STATE_FIELD = re.compile(
    r"(?i)[ *-]{0,6}(?:status|state|health): {0,8}['\"]?(?P<state>degraded|faulted|suspended|unavail\w*|offline|failed)\b"
)


def _of_two_fields(line: str, below: str) -> Notice | None:
    """A pool in one field and its state in the next one; what stands behind the state is said of other things."""
    pool, state = _POOL_FIELD.match(line), _STATE_FIELD.match(below)
    if not pool or not state:
        return None
    clause = f"pool {pool['name']} is {state['state'].lower()}"
    return Notice(f"{line.strip()} {below.strip()}", ((notices.STATED, clause), ("pool", pool["name"])), below.strip()[:LINE_MAX])


def _stated(lines: Sequence[str]) -> Iterator[Notice]:
    known: set[str] = set()
    for line, below in itertools.pairwise(lines):
        if two := _of_two_fields(line, below):
            known |= {line, below}
            yield two
    for line in (each for each in lines if each not in known):
        texts = _JSON_TEXT.findall(line[:4000]) or [line.strip(" \t-*•>")[:LINE_MAX]]
        yield from filter(None, (notice(text, line) for text in texts))


def notice(text: str, line: str) -> Notice | None:
    """The first clause of a text that reports; None where none does."""
    clause = next((each for each in (*_CLAUSE.split(text), *_fields_of_thing(text)) if _is_stated(each)), "")
    return Notice(text.replace("\\n", " "), ((notices.STATED, clause),), line.strip()[:LINE_MAX]) if clause else None


_FIELD = re.compile(r"[\w /.-]{2,30}: ")


def _fields_of_thing(text: str) -> Iterator[str]:
    """Each field of a row, behind the thing with which the row begins: "Drive 7, Size: 4 TB, State: Failed"."""
    head, *rest = (each.strip() for each in _CLAUSE.split(text))
    if any(things(head)):
        yield from (f"{head[:80]}: {each}" for each in rest if _FIELD.match(each) and not any(things(each)))


def _is_stated(clause: str) -> bool:
    """Whether a clause reports: a thing, and behind it how it is. "Failed drive in bay 3" does, too, where it begins so and names it."""
    count = len(clause.split())
    found = with_order(clause)
    if found is None or not 0 < count <= WORDS_MAX or _NOT_STATED.search(rest := _STILL_TROUBLE.sub("", clause)) or _IS_OVER.search(rest):
        return False
    names, at = _NAMES_IT.search(clause) is not None, found[1]
    return (names or count <= SHORT) if at < 0 else names and at - clause.rfind(": ", 0, at) <= BEGINS_MAX


def parse(lines: Sequence[str]) -> Notices | Unparsed:
    """Every statement, in their order; Unparsed where none is made."""
    found = tuple(_stated([line for line in lines if line.strip()]))
    return Notices(found) if found else refused("a monitor", next(iter(lines), ""))


def notes(value: Notices) -> tuple[str, ...]:
    return (*notices.notes(value), "Who sent it is not known here: it is read by the words that it states.")


READER = Reader(
    name=NAME,
    first=r"(?!)",  # no line begins it: a text is one when nobody else reads it
    parse=parse,
    situations=notices.situations,
    silent=lambda value: True,
    notes=notes,
    again="zpool status -P -p",
)
