"""What a blank disk says of its own health, before anybody puts data on it: `smartctl -x`.

Only disks without partitions are asked, because they are the candidates for a replace, and a disk in standby is not woken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from agents.collectors import _disks
from agents.collectors.base import Capture, Unparsed, ask
from agents.host import Host
from agents.wwid import normalise

NAME = "smart"
EVERY_SECONDS = 3600
TIMEOUT_SECONDS = 30
# Bit 0 is a wrong command line, bit 1 a disk that did not open or sleeps; the other bits describe the disk.
EXITS = tuple(code for code in range(256) if not code & 3)


@dataclass(frozen=True)
class Smart:
    """`passed` is None when the disk gives no verdict; `line` is the line that gives it.

    `wwid` is the disk that was asked. A report is kept for an hour, and names may move meanwhile.
    """

    passed: bool | None
    line: str
    grown_defects: int | None
    wwid: str | None = None
    serial: str | None = None


def collect(host: Host) -> tuple[Capture, ...]:
    blank = [disk for disk in _disks.names(host) if not _disks.partitions(host, disk)]
    return _disks.each(lambda disk: collect_one(host, disk), blank)


def collect_one(host: Host, disk: str) -> Capture:
    capture = ask(host, NAME, ("smartctl", "-x", "-n", "standby", f"/dev/{disk}"), TIMEOUT_SECONDS, key=disk, data_exits=EXITS)
    if capture.exit_code == 2 and re.search(r"Device is in (?:STANDBY|SLEEP|IDLE)", capture.text):
        return replace(capture, outcome="nothing", reason=f"{disk} sleeps and was not woken")
    return capture


_SCSI = re.compile(r"^SMART Health Status: (.+)$", re.MULTILINE)
_ATA = re.compile(r"^SMART overall-health self-assessment test result: (\S+).*$", re.MULTILINE)
_DEFECTS = re.compile(r"^Elements in grown defect list: ([0-9]{1,10})$", re.MULTILINE)

_SCSI_ID = re.compile(r"^Logical Unit id: +(0x[0-9a-fA-F]{16,32})$", re.MULTILINE)
_SERIAL = re.compile(r"^Serial [Nn]umber: +(\S+)$", re.MULTILINE)
_ATA_ID = re.compile(r"^LU WWN Device Id: +([0-9a-f]) ([0-9a-f]{6}) ([0-9a-f]{9})$", re.MULTILINE)


def parse(text: str) -> Smart | Unparsed:
    """The disk's verdict on itself. Never raises; text that is not smartctl's is refused."""
    if not text.startswith("smartctl "):
        return Unparsed("smartctl did not print this", text.split("\n")[0])
    scsi, ata, defects = _SCSI.search(text), _ATA.search(text), _DEFECTS.search(text)
    passed, line = None, ""
    if scsi:
        passed, line = scsi.group(1).strip() == "OK", scsi.group(0)
    elif ata:
        passed, line = ata.group(1) == "PASSED", ata.group(0)
    return Smart(passed, line, int(defects.group(1)) if defects else None, _wwid(text), _serial(text))


def _wwid(text: str) -> str | None:
    """SCSI prints the LU name as it is; ATA prints the same number in three groups, without 0x."""
    scsi, ata = _SCSI_ID.search(text), _ATA_ID.search(text)
    return normalise(scsi.group(1) if scsi else "0x" + "".join(ata.groups())) if scsi or ata else None


def _serial(text: str) -> str | None:
    found = _SERIAL.search(text)
    return found.group(1) if found else None
