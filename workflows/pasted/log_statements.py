"""What other programs than the kernel state in the system's log of a part of storage: mdadm, a RAID controller's service, a NAS, a monitor.

The kernel's own lines, those of ZFS's and multipath's daemons and of smartd are read elsewhere. Here a line counts whose program is one of storage,
and which an event log or the grammar of statements knows; any other is left alone, as a system's log is full of matters that are not ours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.collectors._kernel_lines import classify
from agents.collectors._log_stamps import stamped
from workflows.engine.core import Situation
from workflows.pasted import machine_events, notices, statements
from workflows.pasted.base import Where
from workflows.pasted.notices import Notice, Notices

LINE_MAX = 900
_BY = re.compile(r"(?P<program>[A-Za-z0-9][\w ./-]{0,100}?)(?:\[\d{1,9}\])?: {1,4}(?P<message>\S.{3,600})")
_OF_STORAGE = re.compile(
    r"(?i)raid|disk|storage|mdadm|mr_?mon|megacli|zfs|zpool|scrutiny|hpasm|server.?administrator|snmptrap|qulog|emhttp|nagios|icinga|zabbix|netdata|idrac|enclosure|event log"
    r"|\b(?:nas|ilo|sas|scsi|hba|ses|monit|3dm2|tw_cli|synos?\w{0,12}|cma\w{2,8}|truenas|middlewared)\b"
)
_READ_ELSEWHERE = re.compile(r"\b(?:smartd|zed|multipathd|kernel|mdadm)$")
_REFUSED = re.compile(
    r"(?:\S{1,64} )?(?:zpool|zfs)(?:\[\d{1,9}\])?: {1,4}cannot (?:import|export|open|u?n?mount|create|destroy) ['\"]"
)  # told as the command that was refused
_CONTENT = re.compile(r"(?:.{0,300}?\bContent: )?(?P<sentence>\S.{3,600})")  # QNAP puts who it was before what happened


def situations(lines: Sequence[str], where: Where) -> tuple[Situation, ...]:
    """What such lines raise, each matter once."""
    found = tuple(notice for line in lines if (notice := _notice(line[:LINE_MAX])) is not None)
    return notices.situations(Notices(found), where) if found else ()


def _notice(line: str) -> Notice | None:
    one = stamped(line)
    if one is None or classify(one.message.strip()) is not None or (one.ours and "event log: " not in line):
        return None
    by = _BY.match(one.message)
    if by is None or _REFUSED.match(one.message) or _READ_ELSEWHERE.search(by["program"]) or not _OF_STORAGE.search(by["program"]):
        return None
    content = _CONTENT.match(by["message"])
    return machine_events.event(line) or (statements.notice(content["sentence"], line) if content else None)
