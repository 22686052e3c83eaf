"""What each disk says of its own health: `smartctl -x`, as JSON where smartctl has it (7.0 and later), else as text.

A disk in standby is not woken (`-n standby`). What the JSON says beyond the verdict is in `SmartDetails`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any

from agents.collectors import _disks
from agents.collectors._lines import torn_end
from agents.collectors._power import EXITS, SLEEPS
from agents.collectors._smart_json import SmartDetails, details
from agents.collectors.base import ASLEEP, Capture, Unparsed, ask
from agents.host import Host
from agents.wwid import normalise

NAME = "smart"
EVERY_SECONDS = 3600
TIMEOUT_SECONDS = 30


@dataclass(frozen=True)
class Smart:
    """`passed` is None when the disk gives no verdict; `line` is what gives it.

    `wwid` is the disk that was asked. A report is kept for an hour, and names may move meanwhile.
    """

    passed: bool | None
    line: str
    grown_defects: int | None
    wwid: str | None = None
    serial: str | None = None
    details: SmartDetails | None = None  # None when smartctl printed text


def keys(host: Host) -> tuple[str, ...]:
    return _disks.names(host)


def collect_one(host: Host, key: str) -> Capture:
    """Exit code: bit 0 is a wrong command line, bit 1 a disk that did not open or sleeps; the other bits describe the disk."""
    capture = _ask(host, key, "-j", "-x")
    if capture.exit_code is not None and capture.exit_code & 1 and not capture.text.startswith("{"):
        capture = _ask(host, key, "-x")  # a smartctl that knows no -j
    if capture.exit_code == 2 and SLEEPS.search(capture.text):
        return replace(capture, outcome="nothing", reason=f"{key} {ASLEEP}")
    return capture


def _ask(host: Host, disk: str, *options: str) -> Capture:
    return ask(host, NAME, ("smartctl", *options, "-n", "standby", f"/dev/{disk}"), TIMEOUT_SECONDS, key=disk, data_exits=EXITS)


def collect(host: Host) -> tuple[Capture, ...]:
    return _disks.each(lambda key: collect_one(host, key), keys(host))


def parse(text: str) -> Smart | Unparsed:
    """The disk's verdict on itself. Never raises; text that is not smartctl's is refused."""
    if text.startswith("{"):
        return _json(text)
    torn = torn_end(text)
    if torn is not None:
        return torn
    if not text.startswith("smartctl "):
        return Unparsed("smartctl did not print this", text.split("\n")[0])
    return _text(text)


def _json(text: str) -> Smart | Unparsed:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return Unparsed("smartctl's JSON is torn", text[:80])
    if not isinstance(said, dict) or not isinstance(said.get("smartctl"), dict):
        return Unparsed("this JSON is not smartctl's", text[:80])
    status, defects, serial = said.get("smart_status"), said.get("scsi_grown_defect_list"), said.get("serial_number")
    passed = status.get("passed") if isinstance(status, dict) else None
    whole = defects if isinstance(defects, int) and not isinstance(defects, bool) and defects >= 0 else None
    return Smart(
        passed if isinstance(passed, bool) else None,
        _words(status) if isinstance(passed, bool) else "",
        whole,
        _json_wwid(said),
        serial if isinstance(serial, str) else None,
        details(said),
    )


def _words(status: dict[str, Any]) -> str:
    if status["passed"]:
        return "SMART status: passed"
    scsi = status.get("scsi")
    why = scsi.get("ie_string") if isinstance(scsi, dict) else None
    return f"SMART status: failed, {why}" if isinstance(why, str) else "SMART status: failed"


def _json_wwid(said: dict[str, Any]) -> str | None:
    """SCSI gives the LU name as it is; ATA gives the same number in three parts."""
    lu, wwn = said.get("logical_unit_id"), said.get("wwn")
    if isinstance(lu, str):
        return normalise(lu)
    parts = [wwn.get(name) for name in ("naa", "oui", "id")] if isinstance(wwn, dict) else []
    if len(parts) != 3 or not all(isinstance(part, int) and 0 <= part < 1 << 36 for part in parts):
        return None
    return normalise(f"0x{parts[0]:x}{parts[1]:06x}{parts[2]:09x}")


_SCSI = re.compile(r"^SMART Health Status: (.+)$", re.MULTILINE)
_ATA = re.compile(r"^SMART overall-health self-assessment test result: (\S+).*$", re.MULTILINE)
_DEFECTS = re.compile(r"^Elements in grown defect list: ([0-9]{1,10})$", re.MULTILINE)

_SCSI_ID = re.compile(r"^Logical Unit id: +(0x[0-9a-fA-F]{16,32})$", re.MULTILINE)
_SERIAL = re.compile(r"^Serial [Nn]umber: +(\S+)$", re.MULTILINE)
_ATA_ID = re.compile(r"^LU WWN Device Id: +([0-9a-f]) ([0-9a-f]{6}) ([0-9a-f]{9})$", re.MULTILINE)


def _text(text: str) -> Smart:
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
