"""The end of ZFS's own debug log in the kernel: what an import tried, what a scan does, why multihost suspended a pool.

It is read seldom, it is long, and its messages differ between releases: people read it, and facts take a few sentences only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors._lines import newest, whole_lines
from agents.collectors._sysfs import attribute
from agents.collectors.base import Capture, Unparsed
from agents.collectors.kstat_pools import ROOT
from agents.host.host import Host

NAME = "dbgmsg"
EVERY_SECONDS = 300
VOLATILE = True  # a log of every moment
PATH = f"{ROOT}/dbgmsg"
LINES_KEPT = 200


@dataclass(frozen=True)
class Message:
    at: int  # Unix time, seconds
    where: str  # "mmp.c:663:mmp_thread()"; "" when it does not say
    text: str  # with its further lines, if it has some


def collect(host: Host) -> tuple[Capture, ...]:
    lines = attribute(host, PATH)
    if not lines:
        return (Capture(NAME, "", "nothing", "", f"{PATH} is not there"),)
    lines = newest([line[len(PATH) + 1 :] for line in lines], 1, LINES_KEPT)
    while len(lines) > 1 and not _MESSAGE.fullmatch(lines[1]):
        del lines[1]  # the rest of a message whose beginning was left out
    return (Capture(NAME, "", "data", "".join(f"{line}\n" for line in lines)),)


# Since 2.1 a thread's address may stand between the time and the place.
_MESSAGE = re.compile(r"([0-9]{9,11}) +(?! )(?:[0-9a-f]{16} +(?! ))?(?:(\S+\.c:[0-9]+:\w+\(\)): ?)?(.*)")


def parse(text: str) -> tuple[Message, ...] | Unparsed:
    """Every message, or the first line that made no sense. Never raises."""
    lines = whole_lines(text)
    if isinstance(lines, Unparsed):
        return lines
    if lines and lines[0].split() == ["timestamp", "message"]:
        del lines[0]  # a tail of the log has no heading
    messages: list[Message] = []
    for line in lines:
        found = _MESSAGE.fullmatch(line)
        if found:
            messages.append(Message(int(found.group(1)), found.group(2) or "", found.group(3)))
        elif messages:
            messages[-1] = Message(messages[-1].at, messages[-1].where, f"{messages[-1].text}\n{line}")
        else:
            return Unparsed("this is not the debug log of ZFS, or not the beginning of a message", line)
    return tuple(messages)
