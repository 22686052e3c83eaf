"""What the words typed into the search field may mean: every way the same thing is written. Pure.

A text may mean several things; each becomes a question, the surest first. Nothing here reads the database.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agents.domain.wwid import normalise

TEXT_MAX = 200
PART_MIN = 4
GUID_MAX = 2**64
GUID_DIGITS_MIN = 15  # a guid is a random number below 2**64: one in 180000 is shorter, and is found by its parts


@dataclass(frozen=True)
class Question:
    """One thing to look for. `kind` is a key of `app.search.find.FINDERS`."""

    kind: str
    value: str
    node: str = ""
    enclosure: str = ""


NODE = r"(?:(?P<node>[A-Za-z0-9][A-Za-z0-9._-]{0,62})[\s:,/]+)?"
KERNEL = re.compile(NODE + r"(?:/dev/)?(?P<name>sd[a-z]{1,4}|nvme\d{1,3}n\d{1,3}|[vx]v?d[a-z]{1,3})(?:p?\d{1,3})?")
BAY = re.compile(NODE + r"(?:bay|slot)\s*(?:#\s*)?(?P<slot>\d{1,4})", re.IGNORECASE)
PLACE = re.compile(NODE + r"(?:enclosure\s+)?(?P<enclosure>0x[0-9a-f]{16})[\s/:,]+(?:(?:bay|slot)\s*)?#?(?P<slot>\d{1,4})", re.IGNORECASE)
HCTL = re.compile(NODE + r"\[?(?P<hctl>\d{1,3}:\d{1,3}:\d{1,5}:\d{1,5})\]?")
ON_NODE = re.compile(r"(?P<node>[A-Za-z0-9][A-Za-z0-9._-]{0,62})[\s:/]+(?P<name>\S{1,200})")
NUMBERED = re.compile(r"(?P<what>run|situation)\s*(?:#\s*)?(?P<number>\d{1,9})", re.IGNORECASE)
DIGITS = re.compile(rf"[0-9]{{{PART_MIN},20}}")  # of a guid in decimal, as zpool prints it
NUMBER = re.compile(r"#?(?P<number>\d{1,9})")
HEX = re.compile(r"(?:0x)?[0-9a-f]{1,16}", re.IGNORECASE)
GROUPED = re.compile(r"[0-9a-f]{2}(?:[:-][0-9a-f]{2}){7}|[0-9a-f]{4}(?:[: -][0-9a-f]{4}){3}", re.IGNORECASE)


def parse(text: str) -> tuple[Question, ...]:
    """Every question the text may be, each once, the surest first."""
    asked = " ".join(text.split())[:TEXT_MAX]
    return tuple(dict.fromkeys(_questions(asked))) if asked else ()


def _questions(asked: str) -> Iterator[Question]:
    places = tuple(_places(asked))
    yield from places
    if any(place.kind != "kernel" and (place.node or place.enclosure) for place in places):
        return  # a bay or an address on one node is the name of nothing else
    yield from _numbers(asked)
    whole = re.sub("[: -]", "", asked) if GROUPED.fullmatch(asked) else asked
    yield from _identities(whole)
    yield from _names(whole)
    if len(asked) >= PART_MIN:
        yield Question("words", asked)


def _places(asked: str) -> Iterator[Question]:
    """Where something is: a name, an address or a bay, mostly on a node."""
    if found := KERNEL.fullmatch(asked):
        yield Question("kernel", found["name"], found["node"] or "")
    if found := HCTL.fullmatch(asked):
        yield Question("hctl", found["hctl"], found["node"] or "")
    if found := PLACE.fullmatch(asked):
        yield Question("bay", str(int(found["slot"])), found["node"] or "", found["enclosure"].lower())
    if found := BAY.fullmatch(asked):
        yield Question("bay", str(int(found["slot"])), found["node"] or "")


def _numbers(asked: str) -> Iterator[Question]:
    if found := NUMBERED.fullmatch(asked):
        yield Question(found["what"].lower(), str(int(found["number"])))
    if found := NUMBER.fullmatch(asked):
        yield from (Question(what, str(int(found["number"]))) for what in ("run", "situation"))


def _identities(asked: str) -> Iterator[Question]:
    if (wwid := normalise(asked) or normalise(asked.lower())) is not None:
        yield Question("wwid", wwid)
        if re.fullmatch("naa:[0-9a-f]{16}", wwid):
            yield Question("port", f"0x{wwid[4:]}")
    elif re.fullmatch(r"(?:0x)?[0-9a-f]{16}", asked, re.IGNORECASE):
        yield Question("port", f"0x{asked.lower().removeprefix('0x')}")
    if asked.isascii() and asked.isdigit() and len(asked) >= GUID_DIGITS_MIN and int(asked) < GUID_MAX:
        yield Question("guid", str(int(asked)))
    if HEX.fullmatch(asked) and (asked.lower().startswith("0x") or len(asked) in (15, 16)):
        yield Question("guid", str(int(asked, 16)))


def _names(asked: str) -> Iterator[Question]:
    if " " not in asked:
        yield from (Question("node", asked), Question("pool", asked))
    yield Question("serial", re.sub(r"(?i)^s/?n[\s:]*", "", asked))
    if found := ON_NODE.fullmatch(asked):
        yield Question("pool", found["name"], found["node"])
    part = _bare(asked)
    if len(part) >= PART_MIN and " " not in part:
        yield Question("part", part)
    if DIGITS.fullmatch(asked):
        yield Question("guid-part", asked)


def _bare(asked: str) -> str:
    """A beginning or a piece of a WWID without what is written around it."""
    return re.sub(r"^(?:/dev/disk/by-id/)?(?:wwn-0x|scsi-3(?=[0-9a-f])|naa[.:]|0x|eui[.:])|-part\d+$", "", asked.lower())
