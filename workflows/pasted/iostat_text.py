"""`iostat -x` of Linux (sysstat, every version's columns), FreeBSD and illumos (-xn, -en): how busy each disk is and how long it takes.

Columns are known by their headings. The first report is an average since boot; the last one is what happens now.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted import _peers
from workflows.pasted._peers import Wait
from workflows.pasted.base import Reader, Where, median, number, refused, unread

# heading -> what it is; times are milliseconds in every one of them
READ = ("r_await", "ms/r")
WRITE = ("w_await", "ms/w")
BOTH = ("await", "svc_t", "asvc_t", "ms/t")  # FreeBSD's svc_t and illumos' asvc_t are the time a transaction is active
BUSY = ("%util", "%b")
RATES = ("r/s", "w/s", "tps")
DEVICE = ("Device", "Device:", "device", "device:", "DEV")  # the last one: sar -d, which puts the time before each line
BUSY_MIN, BUSY_FACTOR = 80.0, 2.0  # one disk this busy, and so many times busier than the median of those that work
BACK_FLOOR_MS = 10.0
QUEUE = ("avgqu-sz", "aqu-sz", "qlen", "actv")  # requests that wait for an answer
STUCK_MIN = 99.0  # percent busy
ERRORS = ("s/w", "h/w", "trn", "tot")  # illumos -e: soft, hard, transport, total
NOT_DISKS = re.compile(r"(?:dm-|md|loop|sr|zd|ram|cd|fd|pass|nbd|drbd)[0-9]|mapper/|\S*:/")


@dataclass(frozen=True)
class Row:
    """One disk in one report. A figure is None where there is no such column."""

    device: str
    figures: Mapping[str, float]
    line: str

    def first(self, names: Sequence[str]) -> float | None:
        return next((self.figures[name] for name in names if name in self.figures), None)

    @property
    def is_disk(self) -> bool:
        return not NOT_DISKS.match(self.device)

    @property
    def works(self) -> bool:
        return any((self.figures.get(rate) or 0) > 0 for rate in RATES)

    @property
    def is_stuck(self) -> bool:
        """Whether requests waited for it all the time and none was finished."""
        rates = [self.figures[rate] for rate in RATES if rate in self.figures]
        return bool(rates) and not any(rates) and (self.first(QUEUE) or 0) >= 1 and (self.first(BUSY) or 0) >= STUCK_MIN


@dataclass(frozen=True)
class Reports:
    reports: tuple[tuple[Row, ...], ...]
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Reports | Unparsed:
    """Every report with its rows; Unparsed without any row. Lines of the processor are passed over."""
    heading: list[str] = []
    reports: list[list[Row]] = []
    stray: list[str] = []
    for line in filter(str.strip, map(_without_clock, lines)):
        words = line.split()
        if heading and reports and not reports[-1] and len(words) > 1 and all(map(_NAME.fullmatch, words)):
            heading = [*heading, *words]  # the rest of a heading that was wrapped
        elif words[0] in DEVICE or words[-1] in DEVICE:
            heading = words
            reports.append([])
        elif _OTHER.match(line):
            continue
        elif (rest := _rest_of(reports, heading, line)) is not None:
            reports[-1][-1] = rest
        elif (row := _row(heading, words, line)) is not None:
            reports[-1].append(row)
        elif not _is_of_processor(words):
            stray.append(line)
    found = tuple(tuple(report) for report in reports if report)
    return Reports(found, tuple(stray)) if found else refused("iostat -x", (stray or [""])[0])


# What a program puts before each line of what it runs, as `ts` does; no device's name is a time
_CLOCK_BEFORE = re.compile(
    r"Average: {1,10}(?=\S)|(?:\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ])?\[?[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?\]?(?: [AP]M)?[ |:]{1,10}(?=\S)"
)


def _without_clock(line: str) -> str:
    return _CLOCK_BEFORE.sub("", line, count=1)


def _rest_of(reports: Sequence[Sequence[Row]], heading: Sequence[str], line: str) -> Row | None:
    """The last row with the rest of it, which was wrapped into a line of its own; None where nothing of it is missing."""
    last = reports[-1][-1] if reports and reports[-1] else None
    if last is None or len(last.figures) >= len(heading) - 1 or not _is_of_processor(line.split()):
        return None
    whole = f"{last.line} {line.strip()}"
    row = _row(heading, whole.split(), whole)
    return row if row is not None and len(row.figures) == len(heading) - 1 else None


def _row(heading: Sequence[str], words: Sequence[str], line: str) -> Row | None:
    """illumos -n prints the device last, everybody else first."""
    if not heading or len(words) < 3:
        return None
    last = heading[-1] in DEVICE
    names, device, cells = (heading[:-1], words[-1], words[:-1]) if last else (heading[1:], words[0], words[1:])
    figures = {name: figure for name, cell in zip(names, cells, strict=False) if (figure := number(cell)) is not None}
    if number(device) is not None or len(cells) > len(names) or len(figures) != len(cells) or len(cells) < min(3, len(names)):
        return None
    return Row(device, figures, line)


_NAME = re.compile(r"%?[a-z]{1,8}(?:_await|-sz|q-sz|qu-sz|/s)|await|svctm|%(?:util|[rwdf]rqm)|f_await")  # of a column, sysstat's iostat.c
_OTHER = re.compile(
    r"[^A-Za-z0-9]{1,80}$|[-= ]*errors| *(?:extended device statistics|avg-cpu:|Linux |_x86_64_ |_aarch64_ |FreeBSD |SunOS |cpu$|us sy|tty +)|[0-9]{2}[/.-][0-9]{2}[/.-][0-9]{2,4} [0-9]|[A-Z][a-z]{2} [A-Z][a-z]{2} +[0-9]+ "
)


def _is_of_processor(words: Sequence[str]) -> bool:
    return all(number(word) is not None for word in words)


def situations(value: Reports, where: Where) -> tuple[Situation, ...]:
    now, report = len(value.reports) > 1, value.reports[-1]
    text = (
        "That is the last of several reports. "
        if now
        else "One report alone is an average since the node was started; a second one shows what happens now. "
    )
    text += "iostat does not know which disks are of one kind and one vdev. "
    found: list[Situation] = []
    for disks in _kinds(report):
        outliers = _peers.outliers([_wait(row) for row in disks if row.works and _wait(row).milliseconds])
        found += [_peers.situation(one, where, text, sure=False) for one in outliers]
        named = {one.wait.disk for one in outliers}
        found += [busy for row in _busy(disks) if row.device not in named and (busy := _of_busy(row, disks, text, where)) is not None]
    stuck = [_of_stuck(row, where) for row in report if now and row.is_disk and row.is_stuck]
    return (*stuck, *found, *_errors(value, where))


def _of_stuck(row: Row, where: Where) -> Situation:
    member = where.member(row.device)
    return Situation(
        "disk-hangs", f"disk-hangs:{where.node}:{row.device}", where.node, "act",
        f"{row.device} finished no request: {row.first(QUEUE):g} wait for it",
        f"In the last report {row.device} was busy all the time, {row.first(QUEUE):g} requests waited for it, and none was finished. "
        f"{member.sentence + ' ' if member else ''}It hangs, or its cable, port or HBA does. Whatever reads it hangs as well: start no command that reads all disks. "
        "See in the kernel's log what it says of this disk, and look at the seat, the cable and the power before the disk is called dead.",
        where.evidence(row.line),
        subject={"node": where.node, "disk": row.device} | (member.subject if member else {}),
        sure=False,
    )  # fmt: skip


def _kinds(report: Sequence[Row]) -> Iterator[list[Row]]:
    """Disks by how their driver names them: an NVMe device is no peer of a disk that turns."""
    by_driver: dict[str, list[Row]] = {}
    for row in report:
        if row.is_disk:
            driver = re.match(r"sd|vd|xvd|hd|[a-z]*", row.device)
            by_driver.setdefault(driver.group() if driver else "", []).append(row)
    yield from by_driver.values()


def _wait(row: Row) -> Wait:
    waits = {"read": row.first(READ), "write": row.first(WRITE)}
    waits = {kind: ms for kind, ms in waits.items() if ms} or {"transfer": row.first(BOTH)}
    return Wait(row.device, {kind: ms for kind, ms in waits.items() if ms}, row.line, row.first(BUSY))


def _busy(disks: Sequence[Row]) -> Iterator[Row]:
    """The disks that are all but busy all the time while those beside them are not."""
    working = [row.first(BUSY) or 0.0 for row in disks if row.works]
    if len(working) > 2:
        yield from (row for row in disks if row.works and (row.first(BUSY) or 0) >= max(BUSY_MIN, BUSY_FACTOR * median(working)))


def _of_busy(row: Row, disks: Sequence[Row], text: str, where: Where) -> Situation | None:
    others = [other for other in disks if other is not row and other.works]
    usual = median([other.first(BUSY) or 0.0 for other in others])
    times = [ms for other in others for ms in _wait(other).milliseconds.values()]
    mine = max(_wait(row).milliseconds.values(), default=0.0)
    if not times or mine < max(BACK_FLOOR_MS, 2 * median(times)):
        return None
    member = where.member(row.device)
    fills = member is not None and member.leaf.resilvering
    more = (
        "A resilver fills this disk: it sets the pace of it, and that is no fault."
        if fills
        else "It sets the pace of whatever waits for all of them. A disk that is being filled by a resilver looks like this and is well: see "
        "`zpool status`. If none runs, ask the disk (smartctl -x) and look at its link."
    )
    return Situation(
        "slow-disk", f"slow-disk:{where.node}:{row.device}", where.node, "info" if fills else "watch",
        f"{row.device} is {row.first(BUSY):g} % busy where its peers are {usual:g} %",
        f"{row.device} is {row.first(BUSY):g} % busy and takes {mine:g} ms; of {len(others)} others the median is {usual:g} % and {median(times):g} ms. "
        f"{text}{member.sentence + ' ' if member else ''}{more}",
        where.evidence(row.line),
        subject={"node": where.node, "disk": row.device} | (member.subject if member else {}),
        sure=False,
    )  # fmt: skip


def _errors(value: Reports, where: Where) -> Iterator[Situation]:
    """illumos -e and -E count hard and transport errors since boot."""
    for row in value.reports[-1]:
        hard, transport = row.figures.get("h/w") or 0, row.figures.get("trn") or 0
        if hard or transport:
            member = where.member(row.device)
            yield Situation(
                "disk-failing" if hard else "path-lost", f"iostat-errors:{where.node}:{row.device}", where.node, "watch",
                f"{row.device} has had {hard:g} hard and {transport:g} transport errors",
                f"{row.device} has counted {hard:g} hard errors and {transport:g} transport errors since the node was started. "
                f"{member.sentence + ' ' if member else ''}Hard errors are the disk's own; transport errors come from the cable, the slot or the HBA. "
                "See what `iostat -En` and `fmdump -e` say of it, and whether the numbers grow.",
                where.evidence(row.line),
                subject={"node": where.node, "disk": row.device} | (member.subject if member else {}),
                sure=False,
            )  # fmt: skip


def notes(value: Reports) -> tuple[str, ...]:
    report = [row for row in value.reports[-1] if row.is_disk]
    working = [row for row in report if row.works]
    count = f"{len(value.reports)} reports of {len(report)} devices, of which {len(working)} work."
    times = [ms for row in working for ms in _wait(row).milliseconds.values()]
    text = f" A transfer takes {median(times):g} ms (median), {max(times):g} ms at most." if times else ""
    return (*unread(value.unread), count + text)


READER = Reader(
    name="iostat_text",
    first=r"(?:[0-9]{2}:[0-9]{2}:[0-9]{2}(?: [AP]M)?|Average:) {1,10}(?:Device:? +r/s|DEV +tps) | *extended device statistics| *Device:? +(?:rrqm/s|r/s|tps|rMB/s|rkB/s)|device +r/i|device +r/s| *r/s +w/s +[km]r/s|avg-cpu: +%user| *-{2,4} errors --- *$| *s/w h/w trn tot device",
    tools=("iostat", "sar"),
    asks=lambda tool, rest: "-d" in rest if tool == "sar" else not any(re.fullmatch(r"-\w*[cE]\w*", word) for word in rest),
    goes_on=r"Average: | *extended device| *[Dd]evice|avg-cpu|\S+ +[0-9]+(?:[.,][0-9]*)? +[0-9]| +[0-9]|[0-9]{2}[/.-][0-9]{2}|\[?[0-9]{2}:[0-9]{2}:[0-9]{2}|Linux ",
    parse=parse,
    situations=situations,
    notes=notes,
    again="iostat -dx 5 3",
)  # fmt: skip
