"""`nvme error-log`: the commands that an NVMe disk failed, as text and with `-o json`.

Most of them the disk need not have known, so only what it says of its media and of itself counts. Words: nvme_status_to_string of libnvme.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted.base import Reader, Where, document, plural, refused, whole

_HEADING = re.compile(r"Error Log Entries for device: ?(\S{1,40}) entries:")
_ENTRY = re.compile(r" *Entry\[ {0,3}[0-9]{1,4}\]")
_FIELD = re.compile(r" *(error_count|status_field|lba) *: *(\S.{0,200})")
_MEDIA = re.compile(
    r"(?i)unrecovered read error|write fault|guard check|application tag check|reference tag check|unwritten logical block|internal (?:device |path )?error|data transfer error"
)


@dataclass(frozen=True)
class Entry:
    count: int | None
    status: str
    line: str

    @property
    def is_media(self) -> bool:
        return _MEDIA.search(self.status) is not None


@dataclass(frozen=True)
class Errors:
    device: str
    entries: tuple[Entry, ...]  # without those that were never filled in


def parse(lines: Sequence[str]) -> Errors | Unparsed:
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith("{"):
        return _of_json("\n".join(lines), first)
    device, count, found = "", None, []
    for line in lines:
        heading, field = _HEADING.match(line), _FIELD.match(line)
        if heading:
            device = heading.group(1)
        elif field and field.group(1) == "error_count":
            count = whole(field.group(2).strip())
        elif field and field.group(1) == "status_field" and count != 0:
            found.append(Entry(count, field.group(2).strip(), line.strip()))
    if not device and not found and not any(map(_ENTRY.match, lines)):
        return refused("nvme error-log", first)
    return Errors(device, tuple(found))


def _of_json(text: str, first: str) -> Errors | Unparsed:
    try:
        fields = document(text)
    except (ValueError, RecursionError):
        return Unparsed("the JSON of nvme is not complete", first)
    entries = fields.get("errors") if isinstance(fields, Mapping) else None
    if not isinstance(entries, list):
        return refused("nvme error-log", first)
    found = []
    for each in entries:
        if isinstance(each, Mapping) and each.get("error_count"):
            status = f"{each.get('status_field', '')} {each.get('status_string', '')}".strip()
            line = next(
                (line.strip() for line in text.split("\n") if '"status' in line and str(each.get("status_string") or "\0") in line), ""
            )
            found.append(Entry(whole(str(each["error_count"])), status, line or first))
    return Errors("", tuple(found))


def situations(value: Errors, where: Where) -> tuple[Situation, ...]:
    media = [entry for entry in value.entries if entry.is_media]
    if not media:
        return ()
    name = value.device or "this NVMe disk"
    member = where.member(value.device, f"{value.device}n1") if value.device else None
    return (
        Situation(
            "disk-failing", f"disk-failing:{where.node}:{value.device}", where.node, "watch",
            f"{name}: {plural(len(media), 'command')} in its log failed on its media",
            f"The error log of {name} lists {plural(len(media), 'command')} that failed for good, the newest: {media[0].status[:160]}. {member.sentence + ' ' if member else ''}"
            "The log keeps what is long past as well: `nvme smart-log` counts all of them, and a number that grows is trouble. ZFS repairs what it can from the other disks.",
            where.evidence(*(entry.line for entry in media[:4])),
            subject={"node": where.node, "disk": value.device} | (member.subject if member else {}),
        ),
    )  # fmt: skip


def notes(value: Errors) -> tuple[str, ...]:
    other = sum(not entry.is_media for entry in value.entries)
    text = f"{plural(len(value.entries), 'entry', 'entries')} of the error log of {value.device or 'an NVMe disk'} were read"
    return (text + (f"; {other} are of commands that the disk did not know or did not take, which is no fault of it." if other else "."),)


READER = Reader(
    name="nvme_errors",
    first=r"Error Log Entries for device: ?\S|\{",
    confirm=lambda lines, i: (
        not lines[i].startswith("{") or bool(re.search(r'"errors"\s*:\s*\[\s*\{\s*"error_count"', "".join(lines[i : i + 8])))
    ),
    tools=("nvme",),
    asks=lambda tool, rest: "error-log" in rest,
    goes_on=r"\.{5,}|,| *Entry\[| *[a-z_]{2,30} *: |[{}\[\]\" ]",
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="nvme error-log /dev/nvme0",
)
