"""`sesutil map`, `show` and `status` of FreeBSD, and `getencstat`: which disk sits in which slot, and how fans, power supplies and sensors are.

Form of getencstat: FreeBSD share/examples/ses, getencstat.c and eltsub.c; before FreeBSD 10, and in NetBSD, "Status=ok (bytes=0x01 …)".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from agents.collectors.base import Unparsed
from workflows.engine.core import Severity, Situation
from workflows.pasted.base import Reader, Sight, Where, refused, unread

# SES-3, element status codes in sesutil's words -> severity; "" is neutral or good
STATUS: Mapping[str, Severity | Literal[""]] = {
    "OK": "",
    "Unsupported": "",
    "Not Installed": "",
    "Unknown": "",
    "Not Available": "",
    "Unavailable": "",
    "No Access Allowed": "",
    "Noncritical": "watch",
    "Non-critical": "watch",
    "Critical": "act",
    "Unrecoverable": "act",
}
TROUBLE = re.compile(r"fault|fail|predicted|over ?temp|overheat|undervoltage|overcurrent", re.IGNORECASE)
OF_SLOTS = ("Array Device Slot", "Device Slot")


@dataclass
class Element:
    """One element. `extra` are its further lines; `disk` is the kernel name of what sits there."""

    enclosure: str
    number: str
    type: str
    status: str = ""
    description: str = ""
    disk: str | None = None
    serial: str | None = None
    extra: list[str] = field(default_factory=list)
    line: str = ""


@dataclass(frozen=True)
class Enclosures:
    elements: tuple[Element, ...]
    unread: tuple[str, ...] = ()
    overall: tuple[tuple[str, str, str], ...] = ()  # (enclosure, what it says of itself as a whole, line)


_ENCLOSURE = re.compile(r"(ses[0-9]+):(?: <.*>; ID: ([0-9a-f]+))?$")
_ELEMENT = re.compile(r"Element ([0-9]+), Type: (.+)$")
_SHOWN_COLUMNS = 5  # Desc, Dev, Model, Ident, Size/Status, with two blanks or more between them
_STATUS = re.compile(r"Status: ([A-Za-z -]+?)(?: \(|$)")
_OVERALL = re.compile(r"/dev/(ses[0-9]+): Enclosure Status <?([A-Z -]{2,60}?)>?$")
_STATED = re.compile(
    r"Element 0x([0-9a-f]{1,4}): ([A-Z][\w/. -]{1,60}?)(?:,| OK \()? ?[Ss]tatus[:=] ?([A-Za-z -]{2,30}?)((?:, [A-Z][A-Za-z.]{3,12}){0,3}) \((?:bytes=)?0x[0-9a-f ]{2,4}x?[0-9a-fx ]{0,20}\)\)?"
    r"(?:, descriptor: '([^']{0,80})')?(?:, dev: '([^']{0,80})')?$"
)
_OLD_WORDS = {"ok": "OK", "critical": "Critical", "non-critical": "Non-critical", "unrecoverable": "Unrecoverable"}
PREDICTS = "Prd.Fail"
ALL_OK = "OK"


def parse(lines: Sequence[str]) -> Enclosures | Unparsed:
    """Every element of every enclosure; Unparsed without any."""
    enclosure, found, stray, overall = "", [], [], []
    for line in lines:
        text = line.strip()
        if whole := _OVERALL.match(text):
            enclosure = whole.group(1)
            overall.append((enclosure, whole.group(2).strip(), text))
            continue
        if stated := _STATED.match(text):
            found.append(_stated(enclosure, stated, text))
            continue
        heading, element = _ENCLOSURE.match(text), _ELEMENT.match(text)
        if not text or text.startswith(("Desc ", "Enclosure Name:", "Enclosure ID:", "Extra status:", "----")):
            continue
        if heading:
            enclosure = heading.group(1)
        elif element:
            found.append(Element(enclosure, element.group(1), element.group(2), line=text))
        elif enclosure and (shown := _shown(enclosure, text)) is not None:
            found.append(shown)
        elif not (found and _take(found[-1], text)) and not _is_more(text):
            stray.append(line)
    return Enclosures(tuple(found), tuple(stray), tuple(overall)) if found or overall else refused("sesutil", lines[0] if lines else "")


def _stated(enclosure: str, found: re.Match[str], text: str) -> Element:
    """One element of getencstat. A predicted failure stands behind the status, as a word of its own."""
    number, kind, status, flags, description, devices = found.groups()
    disk = next((word for word in (devices or "").split(",") if re.fullmatch(r"(?:a|n)?da[0-9]+", word)), None)
    extra = ["predicted failure"] if PREDICTS in flags else []
    return Element(
        enclosure, str(int(number, 16)), kind, _OLD_WORDS.get(status, status), (description or "").strip(), disk, None, extra, text
    )


def _shown(enclosure: str, text: str) -> Element | None:
    """One slot of `sesutil show`; the last column is a size, or the status of an empty slot."""
    cells = re.split(" {2,}", text)
    if len(cells) != _SHOWN_COLUMNS or not re.fullmatch(r"(?:a|n)?da[0-9]+|-", cells[1]):
        return None
    description, disk, _, serial, last = cells
    status = last if last in STATUS else "OK"
    return Element(
        enclosure, "", OF_SLOTS[0], status, description, None if disk == "-" else disk, None if serial == "-" else serial, [], text
    )


def _take(element: Element, text: str) -> bool:
    """Whether this line tells of the element above it."""
    name, colon, value = text.partition(": ")
    status = _STATUS.match(text)
    if status:
        element.status, element.line = status.group(1), text
    elif colon and name == "Description":
        element.description = value.strip()
    elif colon and name == "Device Names":
        element.disk = next((word for word in value.split(",") if re.fullmatch(r"(?:a|n)?da[0-9]+", word)), None)
    elif text.startswith("- "):
        element.extra.append(text)
    else:
        return False
    return True


def _is_more(text: str) -> bool:
    """Sums that `show` prints below the slots."""
    return bool(re.match(r"(?:Temperatures?|Fans?|Power|Voltages?|Current|Cooling)\b|\S.* [0-9.]+ ?(?:C|V|A|rpm)\b", text))


def sights(value: Enclosures) -> tuple[Sight, ...]:
    return tuple(Sight(each.disk, None, each.serial) for each in value.elements if each.disk)


def situations(value: Enclosures, where: Where) -> tuple[Situation, ...]:
    return tuple(_judged(value, where))


def _judged(value: Enclosures, where: Where) -> Iterator[Situation]:
    for element in value.elements:
        trouble = [line for line in element.extra if TROUBLE.search(line)]
        known = element.status in STATUS or not element.status
        severity = STATUS.get(element.status, "watch") or ("watch" if trouble else "")
        if severity:
            yield _fault(element, severity, trouble, known, where)
    named = {
        element.enclosure for element in value.elements if STATUS.get(element.status, "watch") or any(map(TROUBLE.search, element.extra))
    }
    yield from (
        _whole(name, words, line, where)
        for name, words, line in value.overall
        if words not in (ALL_OK, "INFORMATIONAL") and name not in named
    )


def _whole(enclosure: str, words: str, line: str, where: Where) -> Situation:
    """What it says of itself as a whole, where none of its elements here says why."""
    return Situation(
        "enclosure-fault", f"enclosure-fault:{where.node}:{enclosure}", where.node, "watch" if words == "NON-CRITICAL" else "act",
        f"{enclosure}: the enclosure is {words.lower()}",
        f"Enclosure {enclosure} says of itself as a whole: {words}. Which fan, power supply, sensor or bay it is does not stand here: `getencstat -v /dev/{enclosure}` "
        "or `sesutil status` lists all of them. No disk is to be replaced for it before that is known.",
        where.evidence(line), subject={"node": where.node, "enclosure": enclosure},
    )  # fmt: skip


def _fault(element: Element, severity: Severity, trouble: Sequence[str], known: bool, where: Where) -> Situation:
    name = element.description or f"element {element.number}"
    member = where.member(element.disk) if element.disk else None
    disk = f" with {element.disk}" if element.disk else ""
    is_slot = element.type in OF_SLOTS
    then = (
        "A slot that reports a fault is the disk in it, its link or the backplane. Ask the disk (smartctl -x) and look at its errors in `zpool "
        "status` before it is replaced."
        if is_slot
        else "One that fails further may take the shelf down, and every disk in it at once. Replace the part; no disk is to be replaced for it."
    )
    extra = f" It says: {'; '.join(line.lstrip('- ') for line in trouble)}." if trouble else ""
    return Situation(
        "enclosure-fault" if known else "unexplained", f"enclosure-fault:{where.node}:{element.enclosure}:{element.type}:{element.number or name}",
        where.node, severity,
        f"{element.enclosure}: {element.type} {name}{disk} {'is ' + element.status if STATUS.get(element.status, 'new') else 'reports a fault'}",
        f"Enclosure {element.enclosure} says of {element.type} {name}{disk}: {element.status}.{extra} "
        f"{member.sentence + ' ' if member else ''}{then}",
        where.evidence(element.line, *trouble),
        subject={"node": where.node, "enclosure": element.enclosure, "element": f"{element.type} {name}"}
        | ({"disk": element.disk} if element.disk else {})
        | (member.subject if member else {}),
    )  # fmt: skip


def notes(value: Enclosures) -> tuple[str, ...]:
    disks = sum(1 for element in value.elements if element.disk)
    return (*unread(value.unread), f"{len(value.elements)} elements were read, {disks} of them with a disk.")


READER = Reader(
    name="sesutil",
    first=r"ses[0-9]+:(?: <.*>; ID: [0-9a-f]+)?$|/dev/ses[0-9]+: Enclosure Status ",
    confirm=lambda lines, i: (
        lines[i].startswith("/dev/")
        or any(re.match(r"\s*(?:Enclosure Name:|Enclosure ID:|Desc +Dev|Element [0-9]+, Type)", line) for line in lines[i + 1 : i + 4])
    ),
    tools=("sesutil", "getencstat"),
    asks=lambda tool, rest: tool == "getencstat" or any(word in ("map", "show", "status") for word in rest),
    goes_on=r" |(?:/dev/)?ses[0-9]+:|Slot|Desc|Element 0x",
    open_ended=True,
    parse=parse,
    situations=situations,
    notes=notes,
    sights=sights,
    again="sesutil map",
)
