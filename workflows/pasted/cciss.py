"""`cciss_vol_status`: volumes, drives and enclosures of an HP Smart Array, as its driver tells of them.

    /dev/sda: (Smart Array P410i) RAID 5 Volume 0 status: OK.   At least one spare drive designated.
      Physical drives: 3
             connector 1I box 1 bay 1                 HP      EF0300FATFD                          JXY1BLJN     HPDB OK

Forms: cciss_vol_status.c of cciss_vol_status 1.12.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted import _volumes
from workflows.pasted._drives import GOOD, Drive, busy, lost
from workflows.pasted._volumes import Listed, Part, Volume
from workflows.pasted.base import Reader, Where, refused, whole

STATES = {
    "ok": GOOD,
    "failed": lost("its state is Failed"),
    "replacement": busy("it is new, and the controller has not rebuilt it yet"),
}
VOLUMES = {  # the states of a volume, in the words that are judged
    "using interim recovery mode": "interim recovery mode",
    "ready for recovery operation": "degraded",
    "currently recovering": "rebuilding",
    "currently expanding": "migrating",
    "queued for expansion": "migrating",
}
_VOLUME = re.compile(r"(/dev/\S{1,40}): \([^)]{1,60}\) (RAID [^:]{1,40} Volume [0-9]{1,4}) status: ([^.]{1,80})\.(.*)")
_SHELF = re.compile(r"/dev/\S{1,40}: \([^)]{1,60}\) (Enclosure .{1,120}?) status: ([^.]{1,80})\.?")
_DRIVE = re.compile(
    r"(?:b[0-9]{1,3}t[0-9]{1,3} +)?connector (\w{1,4}) +box ([0-9]{1,4}) +bay ([0-9]{1,4}) +(\S{1,16}) +(\S+(?: \S+){0,6}) {2,}(\S{4,32}) +(\S{2,8})(?: +(\S.*))?"
)
_LIST = re.compile(r"(?:(Failed)|'?(Replacement)'?|Physical) drives:")
_CACHE = re.compile(r"Write cache enabled: (\w+)")
_KNOWN = re.compile(
    r"Controller: |Board ID: |Logical drives: |(?:Running|ROM) firmware: |/dev/\S+\(.*Cache status:|Cache configured: |(?:Read|Write) cache memory: |Write cache enabled: |Total cache memory: |Cache Ratio: "
    r"|Write cache (?:temporarily|permanently) disabled|(?:Temporary|Permanent) disable condition|been disabled due to |battery packs are "  # why it is switched off
    r"|Flash backed cache|Total of [0-9]|cciss_vol_status version|This is a RAID status update|program reports that|.* drives: [0-9]*$"
)
_SPARE_LOST = "spare drive has failed"


def parse(lines: Sequence[str]) -> Listed | Unparsed:
    drives: dict[str, Drive] = {}
    volumes: list[Volume] = []
    parts: list[Part] = []
    stray: list[str] = []
    state = ""
    for line in filter(None, map(str.strip, lines)):
        if volume := _VOLUME.match(line):
            word = volume.group(3).strip()
            volumes.append(Volume(f"{volume.group(1)} ({volume.group(2)})", VOLUMES.get(word.lower(), word), line))
            parts += [Part("spare drive", ("it has failed",), (line,))] if _SPARE_LOST in volume.group(4) else []
        elif shelf := _SHELF.match(line):
            parts.append(Part(shelf.group(1), () if shelf.group(2).strip() == "OK" else (shelf.group(2).strip(),), (line,)))
        elif heading := _LIST.match(line):
            state = (heading.group(1) or heading.group(2) or "").lower()
        elif drive := _DRIVE.match(line):
            one = _drive(drive, state, line)
            drives[one.place] = drives.get(one.place, one) if not state else one
        elif cache := _CACHE.match(line):
            parts.append(Part("write cache", () if cache.group(1) == "Yes" else ("it is switched off",), (line,)))
        elif not _KNOWN.match(line):
            stray.append(line)
    if not (drives or volumes or parts):
        return refused("cciss_vol_status", lines[0] if lines else "")
    return Listed(tuple(drives.values()), tuple(volumes), tuple(parts), tuple(stray))


def _drive(found: re.Match[str], listed_as: str, line: str) -> Drive:
    port, box, bay, _, model, serial, _, state = found.groups()
    return Drive(f"{port}:{box}:{bay}", f"box {box} of port {port}", whole(bay), listed_as or state, model, serial, lines=(line,))


def situations(value: Listed, where: Where) -> tuple[Situation, ...]:
    return _volumes.judged(value, STATES, where, "The Smart Array")


READER = Reader(
    name="cciss",
    first=r"Controller: Smart Array|/dev/\S{1,40}: \((?:Smart|MSA|HP)[^)]{0,60}\) (?:RAID|Enclosure) ",
    tools=("cciss_vol_status",),
    goes_on=r"\s*(?:Controller: |Board ID|/dev/|connector |Physical drives|Failed drives|'Replacement'|Total of|Cache |Write cache|Read cache|Flash|Logical drives|R)",
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=_volumes.is_silent,
    notes=_volumes.notes_of,
    again="cciss_vol_status -V /dev/sg0",
)
