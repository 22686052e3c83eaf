"""`mpt-status`: volumes and drives of an older LSI HBA that makes RAID itself, as its driver mptctl tells of them.

    ioc0 vol_id 0 type IM, 2 phy, 136 GB, state OPTIMAL, flags ENABLED
    ioc0 phy 0 scsi_id 8 ACME  A300  0001, 136 GB, state ONLINE, flags NONE

Forms: the one above, that of -n with a colon behind each name, and that of -s, which shows the states alone. mpt-status.c of mpt-status 1.2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted import _drives, _volumes
from workflows.pasted._drives import GOOD, Drive, busy, lost
from workflows.pasted._volumes import Listed, Volume
from workflows.pasted.base import Reader, Where, refused, whole

SYNCING = "online, out of sync"
STATES = {
    "online": GOOD,
    SYNCING: busy("it is in service and not in step yet: the controller copies to it"),
    "initializing": busy("the controller initializes it"),
    "missing": lost("the controller does not find it"),
    "not_compatible": lost("the controller does not take it: it is not compatible"),
    "failed": lost("its state is FAILED"),
    "offline_requested": lost("somebody took it offline"),
    "failed_requested": lost("somebody marked it as failed"),
    "other_offline": lost("its state is OTHER_OFFLINE"),
}
_VOLUME = re.compile(r"(ioc:?[0-9]{1,3}) vol_id:? ?([0-9]{1,4}) [^\n]{0,120}?\bstate:? (\w{1,24}),? flags:? ?(.{0,120})$")
_DRIVE = re.compile(
    r"(ioc:?[0-9]{1,3}) phys?(?:_id)?:? ?([0-9]{1,4}) scsi_id:? ?([0-9]{1,5}) ([^\n]{1,120}?)(?:,| size\(GB\)).{1,24}?\bstate:? (\w{1,24}),? flags:? ?(.{0,160})$"
)
_SHORT = re.compile(r"(log_id|phys_id) ([0-9]{1,4}) (\w{1,24})$")
_NEW_STYLE = re.compile(r"vendor: ?(\S{1,16}) +product_id: ?(\S{1,32})")
_PREDICTS = re.compile(r"SMART ASC/ASCQ: ?0x5[dD]/")
_KNOWN = re.compile(r"Checking for SCSI ID|Found SCSI id|scsi_id:[0-9]{1,4} [0-9]{1,3}%|.{0,40}sync_state")


def parse(lines: Sequence[str]) -> Listed | Unparsed:
    drives: list[Drive] = []
    volumes: list[Volume] = []
    stray: list[str] = []
    for line in filter(None, map(str.strip, lines)):
        if volume := _VOLUME.match(line):
            busy_with = "rebuilding" if "RESYNC_IN_PROGRESS" in volume.group(4) and volume.group(3) == "DEGRADED" else volume.group(3)
            volumes.append(Volume(f"{volume.group(2)} of {volume.group(1).replace(':', '')}", busy_with, line))
        elif drive := _DRIVE.match(line):
            drives.append(_drive(drive, line))
        elif short := _SHORT.match(line):
            if short.group(1) == "log_id":
                volumes.append(Volume(short.group(2), short.group(3), line))
            else:
                drives.append(Drive(f"phy {short.group(2)}", state=short.group(3), lines=(line,)))
        elif not _KNOWN.match(line):
            stray.append(line)
    return Listed(tuple(drives), tuple(volumes), (), tuple(stray)) if drives or volumes else refused("mpt-status", next(iter(lines), ""))


def _drive(found: re.Match[str], line: str) -> Drive:
    ioc, phy, _, words, state, flags = found.groups()
    new = _NEW_STYLE.search(words)
    model = " ".join(new.groups()) if new else " ".join(words.split()[:-1] or words.split())
    out = state == "ONLINE" and "OUT_OF_SYNC" in flags
    return Drive(
        f"{ioc.replace(':', '')} phy {phy}", slot=whole(phy), state=SYNCING if out else state, model=model,
        smart_alert=True if _PREDICTS.search(flags) else None, lines=(line,),
    )  # fmt: skip


def situations(value: Listed, where: Where) -> tuple[Situation, ...]:
    return _volumes.judged(value, STATES, where, "The LSI controller")


READER = Reader(
    name="mpt_status",
    first=r"ioc:?[0-9]{1,3} (?:vol_id|phys?(?:_id)?)[ :]|log_id [0-9]{1,4} [A-Z_]{4,24}$",
    tools=("mpt-status",),
    goes_on=r"ioc:?[0-9]|(?:log|phys|scsi)_id[ :]|Checking for SCSI ID|Found SCSI id",
    strict=True,
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=_volumes.is_silent,
    doubt=lambda value: _drives.doubt(value.drives, "smartctl -x -d scsi /dev/sg0"),
    notes=_volumes.notes_of,
    again="mpt-status",
)
