"""`nvme list` and `nvme smart-log` of Linux, and `nvmecontrol logpage -p 2` of FreeBSD: which namespace is which, and how it wears."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.collectors.base import Unparsed
from workflows.engine.core import Cure, Situation
from workflows.pasted.base import NOT_PROSE, Reader, Sight, Where, document, plural, refused

# Bits of Critical Warning, NVM Express base specification 1.4, figure 194
WARNINGS = {
    0: "its spare blocks are below the threshold",
    1: "its temperature is beyond a threshold",
    2: "its reliability is degraded by media or internal errors",
    3: "it has gone read-only",
    4: "its volatile memory is not backed up any more",
    5: "its persistent memory region is read-only or unreliable",
}
# nvme-cli prints one name in its text and the other in its JSON
SPARE, SPARE_LEAST = ("available_spare", "avail_spare"), ("available_spare_threshold", "spare_thresh")
WORN_WATCH, WORN_ACT = 90, 100  # percent of the endurance that its maker promises


@dataclass
class Log:
    """The SMART log of one controller: figures by their names in lower case with blanks as underscores."""

    device: str
    figures: dict[str, str] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)

    def number(self, *names: str) -> int | None:
        raw = next((self.figures[name] for name in names if name in self.figures), "")
        found = re.match(r"0x([0-9a-fA-F]{1,8})|([0-9]{1,20}(?:,[0-9]{3})*)", raw)
        return None if found is None else int(found.group(1), 16) if found.group(1) else int(found.group(2).replace(",", ""))

    def line(self, *names: str) -> str:
        return next((self.lines[name] for name in names if name in self.lines), "")


@dataclass(frozen=True)
class Nvme:
    disks: tuple[Sight, ...]
    logs: tuple[Log, ...]
    empty: tuple[tuple[str, str], ...] = ()  # kernel name and line of a namespace without a byte


_ROW = re.compile(r"(/dev/nvme[0-9]+n[0-9]+) +(?:/dev/ng\S+ +)?(\S+) +(\S.*)$")
_EMPTY = re.compile(r"[^/]{0,120}/dev/[^/]{0,160}(?:/dev/[^/]{0,160})? 0\.00 +[kKMGT]?B {1,3}/ +0\.00 +[kKMGT]?B ")
_NONE = re.compile(r"Node +(?:Generic +)?SN +Model")
_HEADING = re.compile(r"Smart Log for NVME device: ?(\S+)|SMART/Health Information Log")
_FIGURE = re.compile(r"([A-Za-z][\w /()#-]*?)(?<! ) *: *(\S.*)$")


def parse(lines: Sequence[str]) -> Nvme | Unparsed:
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith("{"):
        return _of_json("\n".join(lines), first)
    disks, logs, empty = [], [], []
    for line in filter(str.strip, lines):
        listed, heading, figure = _ROW.match(line), _HEADING.match(line), _FIGURE.match(line[:200])
        if listed:
            model = re.split(r" {2,}", listed.group(3))[0]
            disks.append(Sight(listed.group(1).removeprefix("/dev/"), None, listed.group(2), None, model))
            empty += [(disks[-1].name, line)] if _EMPTY.match(line) else []
        elif heading:
            logs.append(Log(heading.group(1) or ""))
        elif figure and logs:
            name = _name(figure.group(1))
            logs[-1].figures.setdefault(name, figure.group(2))
            logs[-1].lines.setdefault(name, line.strip())
    return Nvme(tuple(disks), tuple(logs), tuple(empty)) if disks or logs or _NONE.match(first) else refused("nvme", first)


def _name(text: str) -> str:
    return text.strip().lower().replace(" ", "_")


def _of_json(text: str, first: str) -> Nvme | Unparsed:
    try:
        document_fields = document(text)
        if not isinstance(document_fields, Mapping):
            return refused("nvme", first)
        disks = tuple(_listed(document_fields))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Unparsed("the JSON of nvme is not complete", first)
    if "critical_warning" not in document_fields:
        return Nvme(disks, ()) if disks or document_fields.get("Devices") == [] else refused("nvme", first)
    figures = {
        _name(str(name)): str(_plain(value)) for name, value in document_fields.items() if not isinstance(_plain(value), (Mapping, list))
    }
    lines = {name: next((line.strip() for line in text.split("\n") if f'"{name}"' in line), "") for name in figures}
    return Nvme(disks, (Log("", figures, lines),))


def _plain(value: Any) -> Any:
    """nvme-cli 2 takes the critical warning to pieces, and keeps the whole of it as "value"."""
    return value.get("value", value) if isinstance(value, Mapping) else value


def _listed(fields: Mapping[str, Any]) -> Iterator[Sight]:
    """Namespaces: nvme-cli 1 and 2 up to 2.10 list them, later ones below subsystems and controllers. Raises where a list is none."""
    for each in fields.get("Devices", ()):
        if "DevicePath" in each:
            yield _sight(str(each["DevicePath"]).removeprefix("/dev/"), each)
        for subsystem in each.get("Subsystems", ()):
            controllers = subsystem.get("Controllers", ())
            spaces = [(space, of) for of in controllers for space in of.get("Namespaces", ())]
            spaces += [(space, controllers[0]) for space in subsystem.get("Namespaces", ()) if controllers]
            for space, controller in spaces:
                yield _sight(str(space["NameSpace"]), controller)


def _sight(name: str, fields: Mapping[str, Any]) -> Sight:
    serial, model = (str(fields.get(field, "")).strip() or None for field in ("SerialNumber", "ModelNumber"))
    return Sight(name, None, serial, None, model)


def situations(value: Nvme, where: Where) -> tuple[Situation, ...]:
    of_logs = (found for log in value.logs for found in (*_failing(log, where), *_worn(log, where)))
    return (*of_logs, *(_without_room(name, line, where) for name, line in value.empty))


def _without_room(name: str, line: str, where: Where) -> Situation:
    member = where.member(name)
    return Situation(
        "disk-failing", f"disk-failing:{where.node}:{name}:empty", where.node, "act",
        f"{name}: its namespace has a size of 0 bytes",
        f"`nvme list` shows {name} with 0 bytes. Its controller answers and gives no room: its firmware has given up the flash, it is locked, or its namespace was "
        f"deleted or is being formatted. {member.sentence + ' ' if member else ''}What is on it cannot be read as it is.",
        where.evidence(line),
        subject={"node": where.node, "disk": name} | (member.subject if member else {}),
        sure=False,
        cures=(
            Cure("look", "Ask the controller: `nvme smart-log` and `smartctl -x` of it, `nvme list-ns -a`, and `dmesg` for what it answered at its start."),
            Cure("reseat", "Switch the node off, wait, and start it again: some controllers come back after a loss of power. Format nothing, and create no namespace, while its data is wanted."),
            Cure("replace", "If it stays so, replace it by its guid, as long as its vdev has redundancy left."),
        ),
    )  # fmt: skip


def _failing(log: Log, where: Where) -> Iterator[Situation]:
    warning = log.number("critical_warning", "critical_warning_state") or 0
    spare, least = log.number(*SPARE), log.number(*SPARE_LEAST)
    media = log.number("media_errors", "media_and_data_integrity_errors")
    reasons = [text for bit, text in WARNINGS.items() if warning >> bit & 1]
    reasons += [f"an unknown critical warning ({warning:#x})"] if warning >> (max(WARNINGS) + 1) else []
    reasons += (
        [f"{spare} % of its spare blocks are left, the threshold is {least} %"]
        if None not in (spare, least) and (spare or 0) < (least or 0)
        else []
    )
    hard = bool(reasons)
    reasons += [f"{plural(media, 'media error')}: data that it could not read or write"] if media else []
    if not reasons:
        return
    name = log.device or "this NVMe disk"
    member = where.member(log.device, f"{log.device}n1")
    lines = [
        log.line("critical_warning", "critical_warning_state"),
        log.line(*SPARE) if hard else "",
        log.line("media_errors", "media_and_data_integrity_errors") if media else "",
    ]
    only_hot = warning == 1 << 1 and len(reasons) == 1
    yield Situation(
        "disk-hot" if only_hot else "disk-failing", f"disk-{'hot' if only_hot else 'failing'}:{where.node}:{log.device}", where.node, "act" if hard and not only_hot else "watch",
        f"{name}: {reasons[0]}",
        f"The SMART log of {name} says: {'; '.join(reasons)}. {member.sentence + ' ' if member else ''}"
        + (
            "It slows down to protect itself. Look at the airflow of its slot."
            if only_hot
            else "See that its vdev has redundancy left, then replace it in place: attach the new disk before this one is taken out."
            if hard
            else "See whether the number grows; ZFS repairs what it can from the other disks. Run a scrub."
        ),
        where.evidence(*filter(None, lines)),
        subject={"node": where.node, "disk": log.device} | (member.subject if member else {}),
    )  # fmt: skip


def _worn(log: Log, where: Where) -> Iterator[Situation]:
    used = log.number("percentage_used", "percent_used")
    if used is None or used < WORN_WATCH:
        return
    name = log.device or "this NVMe disk"
    yield Situation(
        "disk-worn", f"disk-worn:{where.node}:{log.device}", where.node, "act" if used >= WORN_ACT else "watch",
        f"{name} has used {used} % of its endurance",
        f"{name} has written {used} % of what its maker promises. Beyond 100 % it goes on working without that promise, and some go read-only. "
        "Plan its replacement; disks bought together wear together.",
        where.evidence(log.line("percentage_used", "percent_used")),
        subject={"node": where.node, "disk": log.device},
    )  # fmt: skip


def notes(value: Nvme) -> tuple[str, ...]:
    listed = (
        (f"{len(value.disks)} namespaces were read; the list says nothing of their health (`nvme smart-log` does).",) if value.disks else ()
    )
    used = tuple(
        f"{log.device or 'NVMe disk'}: {log.number('percentage_used', 'percent_used')} % of its endurance used, {log.number(*SPARE)} % spare left."
        for log in value.logs
        if log.number("percentage_used", "percent_used") is not None
    )
    none = (
        ("It lists no namespace: the node has no NVMe disk, or its driver does not see it.",) if not value.disks and not value.logs else ()
    )
    return (*listed, *used, *none)


READER = Reader(
    name="nvme",
    first=r"Node +(?:Generic +)?SN +Model|Smart Log for NVME device|SMART/Health Information Log$|/dev/nvme[0-9]+n[0-9]+ +(?:/dev/ng\S+ +)?\S+ +\S.* [0-9.]+ +[KMGT]?B / |\{",
    confirm=lambda lines, i: (
        not lines[i].startswith("{") or bool(re.search(r'"critical_warning"|"DevicePath"|"Devices"', "".join(lines[i : i + 6])))
    ),
    tools=("nvme", "nvmecontrol"),
    asks=lambda tool, rest: (
        any(word in ("list", "smart-log", "logpage", "devlist") for word in rest)
        and not ("list" in rest and {"-v", "--verbose"} & set(rest))
    ),
    open_ended=True,
    goes_on=NOT_PROSE,
    parse=parse,
    situations=situations,
    silent=lambda value: not value.logs,
    notes=notes,
    sights=lambda value: value.disks,
    again="nvme smart-log /dev/nvme0",
)
