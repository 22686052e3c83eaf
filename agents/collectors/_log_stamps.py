"""The time in front of a line of a kernel log, in every form that dmesg, syslog, journald, FreeBSD and illumos print it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

SECOND = 1_000_000
REMEMBERED = 512  # lines; whoever cuts a text asks several times about the same one
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_BEFORE = (0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335)  # days of a year before a month; of a leap year, as no year is given
_MONTH = f"(?P<month>(?i:{'|'.join(MONTHS)}))\\.?"  # journald writes "feb. 26" in some languages
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_CLOCK = r"(?P<h>\d{2}):(?P<m>\d{2}):(?P<s>\d{2})(?:[.,](?P<f>\d{1,9}))?"

# dmesg; with the thread that CONFIG_PRINTK_CALLER adds, the level of `dmesg -r` ("<4>"), or the words of `dmesg -x` ("kern  :warn  : ")
_BOOT = re.compile(
    r"(?:<\d{1,3}>|[a-z]{3,8} {0,5}: ?[a-z]{3,8} {0,5}: ?|kernel: )?\[ {0,24}(\d{1,9})\.(\d{1,6})\](?: ?\[ {0,6}[TC]\d{1,7}\])? (.*)"
)
# dmesg -H: the minute, where it is another than that of the line before; else the seconds since that line.
MINUTE = re.compile(rf"\[{_MONTH} {{0,2}}(?P<day>\d{{1,2}}) (?P<h>\d{{2}}):(?P<m>\d{{2}})\] (?P<rest>.*)")
SINCE = re.compile(r"\[ {0,4}\+(?P<s>\d{1,8})\.(?P<f>\d{6})\] (?P<rest>.*)")
_DATED = (
    re.compile(rf"(?:[a-z]{{3,8}} {{0,5}}: ?[a-z]{{3,8}} {{0,5}}: ?)?\[{_DAY} {_MONTH} {{1,2}}(?P<day>\d{{1,2}}) {_CLOCK} (?P<year>\d{{4}})\] (?P<rest>.*)"),  # dmesg -T
    re.compile(rf"(?:<\d{{1,3}}>)?(?:{_DAY},? )?{_MONTH} {{1,2}}(?P<day>\d{{1,2}}) (?:(?P<year>\d{{4}}) )?{_CLOCK} (?: {{1,6}}(?=kernel: ))?(?P<rest>.*)"),  # syslog, journald; some take the host's name out
    re.compile(
        rf"(?:<\d{{1,3}}>\d? ?)?(?:{_DAY} )?(?P<year>\d{{4}})[-/](?P<mm>\d{{2}})[-/](?P<day>\d{{2}})[T -]{_CLOCK}"
        r"(?: ?(?:Z|[+-]\d{2}:?\d{2}|[A-Z]{3,5}))? {1,8}(?P<rest>\S.*)"
    ),  # rsyslog, journald -o short-iso and short-full, dmesg --time-format=iso; a collector of logs parts the stamp by a tab
    re.compile(rf"(?P<year>\d{{4}}) {_MONTH} {{1,2}}(?P<day>\d{{1,2}}) {_CLOCK} (?P<rest>.*)"),  # a syslog server of an appliance
)  # fmt: skip
# syslog in a language whose months are called otherwise; which month it is, is not known, so all of a text are taken for the same
_FOREIGN = re.compile(rf"[^\W\d_]{{2,6}}\.? {{1,2}}(?P<day>\d{{1,2}}) {_CLOCK} (?P<rest>.*)")
# `dmesg -T` in such a language: "[Do Nov 17 11:59:20 2022]", "[Di Mär  1 11:59:20 2022]"
_FOREIGN_DMESG = re.compile(
    rf"\[[^\W\d_]{{1,6}}\.?,? (?:{_MONTH}|[^\W\d_]{{2,6}}\.?) {{1,2}}(?P<day>\d{{1,2}}) {_CLOCK} (?P<year>\d{{4}})\] (?P<rest>.*)"
)
_LEVEL = re.compile(r"<[0-7]>(?=\D)(.*)")  # of a console whose kernel prints no times
_WALL = re.compile(r"kernel:(?=[\[A-Z])(.*)")
_UNIX = re.compile(r"(?P<seconds>\d{10})\.(?P<f>\d{6}) (?P<rest>\S+ kernel: .*)")  # journald -o short-unix
# The host and the program. What is not the kernel, ZFS's own daemons, a driver of illumos ("[ID 107833 kern.warning]") or systemd about the units that
# import pools is "".
_BY = re.compile(
    r"(?:<[\w.]{3,20}> )?(?:(?P<host>[A-Za-z0-9_.-]{1,64}) |(?=kernel: ))"  # somebody took the host's name out
    r"(?:(?P<by>kernel|zed|ZFS|fmd|zfs|multipathd)(?:\[\d{1,9}\])?: |(?P<driver>[a-z][\w./-]{0,31})(?:\[\d{1,9}\])?: (?=\[ID \d)"
    r"|(?=\([a-z]{1,8}\d{1,5}:[\w-]{1,20}:\d|(?:ahcich|siisch|mvsch|ada|da|nda|nvd|mp[rs]|mrsas|mfi|ses)\d{1,4}(?:: |: <| at \S{1,20} bus ))"  # FreeBSD without "kernel:"
    r"|systemd\[\d{1,9}\]: (?=Failed to start (?:zfs-import-\w{4,5}\.service - )?Import ZFS pools by |zfs-import-(?:cache|scan)\.service: ))"
    r"(?:\[ID \d{1,9} [\w.]{3,24}\] )?(?:: )?(?P<said>.*)"
)
# syslog-ng puts "[kern.warning]" before the kernel's own stamp, a collector of logs "warning kern kernel"
_FACILITY = re.compile(r"^(?:\[[a-z]{3,8}\d?\.[a-z]{3,8}\] |[a-z]{3,7} kern kernel(?:\[\d{1,9}\])?:? {1,4})(?=\[)")
_WHOLE_SECONDS = re.compile(r"^\[ {0,8}\d{1,9}\] ")  # a kernel before 5.x whose stamp somebody cut, or a console that rounds it
_CALLER = re.compile(r"^\[ {0,8}[TC]\d{1,7}\] ")  # CONFIG_PRINTK_CALLER
_EVENT = re.compile(r"(?:ereport|resource|sysevent)\.fs\.zfs\.")  # a row of `zpool events` begins with a date, too
_OTHER = re.compile(r"[A-Za-z0-9_.-]{1,64} [A-Za-z(][\w().@/:-]{0,63}\[\d{1,9}\]: ")  # "host systemd[1]: "


def spelt_out(lines: Sequence[str]) -> list[str]:
    """Lines of `dmesg -H` with the time in each, as syslog writes it; all others as they are."""
    out: list[str] = []
    day, at_us = "Jan  1", 0
    for line in lines:
        minute, since = MINUTE.fullmatch(line), SINCE.fullmatch(line)
        if minute:
            day, at_us = f"{minute['month']} {int(minute['day']):2}", (int(minute["h"]) * 60 + int(minute["m"])) * 60 * SECOND
        elif since:
            at_us += int(since["s"]) * SECOND + int(since["f"])
        found = minute or since
        out.append(f"{day} {_clock(at_us)} {found['rest']}" if found else line)
    return out


def _clock(at_us: int) -> str:
    """Of a day: what runs over midnight stays on it, as only differences are used."""
    seconds, micro = divmod(at_us, SECOND)
    return f"{min(seconds // 3600, 99):02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{micro:06}"


@dataclass(frozen=True)
class Stamped:
    """One line. `at_us` counts from boot where the kernel stamped it, else from some day of the past: only differences are used."""

    at_us: int
    printed: str  # as it stands there: "138671.416334", "Nov 25 02:37:04"
    message: str
    ours: bool = True  # False for what another program said


def stamped(line: str) -> Stamped | None:
    """The parts of a line that begins with a time; None for any other."""
    line = line[1:] if line.startswith(" kernel:") else line  # as syslogd writes to all terminals
    return _stamped(line) if line[:1].isalnum() or line[:1] in ("<", "[") else None


@lru_cache(maxsize=REMEMBERED)
def _stamped(line: str) -> Stamped | None:
    found = _BOOT.fullmatch(line)
    if found:
        by_host = _BY.fullmatch(found.group(3))  # journald -o short-monotonic names host and kernel after it
        at_us = int(found.group(1)) * SECOND + int(found.group(2).ljust(6, "0"))
        return Stamped(at_us, f"{found.group(1)}.{found.group(2)}", by_host.group("said") if by_host else found.group(3))
    for form in _DATED:
        found = form.fullmatch(line)
        if found and not _EVENT.match(found.group("rest")):
            return _of(line, found, _moment(found.groupdict()))
    found = MINUTE.fullmatch(line) or SINCE.fullmatch(line)
    if found:
        return _of(line, found, _moment({"h": None, "m": None, **found.groupdict()}))
    found = _LEVEL.fullmatch(line)
    if found:
        return Stamped(0, "", found.group(1))
    found = _WALL.fullmatch(line)
    if found:
        again = _BOOT.fullmatch(found.group(1))
        return _stamped(found.group(1)) if again else Stamped(0, "", found.group(1))
    found = _UNIX.fullmatch(line)
    if found:
        return _of(line, found, int(found.group("seconds")) * SECOND + int(found.group("f")))
    found = _FOREIGN_DMESG.fullmatch(line)
    if found:
        return _of(line, found, _moment(found.groupdict()))
    found = _FOREIGN.fullmatch(line)
    if found and (_BY.fullmatch(found.group("rest")) or _OTHER.match(found.group("rest"))):
        return _of(line, found, _moment(found.groupdict()))
    return None


def _of(line: str, found: re.Match[str], at_us: int) -> Stamped:
    rest = found.group("rest")
    printed = line[: len(line) - len(rest)].strip(" []")
    by = _BY.fullmatch(rest)
    message = _FACILITY.sub("", by.group("said") if by else rest, count=1)
    message = _CALLER.sub("", message, count=1)
    if by is not None and (by.group("by") or "") == "kernel":
        message = _WHOLE_SECONDS.sub("", message, count=1)
    again = _BOOT.fullmatch(message)  # rsyslog keeps the kernel's own stamp
    return Stamped(at_us, printed, again.group(3) if again else message, by is not None or _OTHER.match(rest) is None)


def _moment(of: dict[str, str | None]) -> int:
    name = of.get("month")
    month = MONTHS.index(name.capitalize()) if name else max(0, min(11, int(of.get("mm") or 1) - 1))
    days = int(of.get("year") or 0) * 366 + _BEFORE[month] + int(of.get("day") or 1)
    seconds = ((days * 24 + int(of["h"] or 0)) * 60 + int(of["m"] or 0)) * 60 + int(of.get("s") or 0)
    return seconds * SECOND + int((of.get("f") or "0").ljust(6, "0")[:6])
