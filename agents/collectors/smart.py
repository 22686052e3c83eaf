"""What each disk says of its own health: `smartctl -x`, as JSON where smartctl has it (7.0 and later), else as text.

A disk in standby is not woken (`-n standby`). What is said beyond the verdict is in `SmartDetails`. A part of the text is read as well,
also one without smartctl's own first lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from agents.collectors import _disks, _smart_text
from agents.collectors._lines import torn_end
from agents.collectors._power import EXITS, SLEEPS
from agents.collectors._smart_json import SmartDetails, details
from agents.collectors.base import ASLEEP, Capture, Unparsed, ask
from agents.domain.wwid import device_path, normalise
from agents.host.host import Host

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
    details: SmartDetails | None = None  # None when nothing of it was said
    model: str | None = None
    names: tuple[str, ...] = ()  # every identity it gives: LU name, EUI, NGUID, and "ser:MODEL:SERIAL"
    sense: tuple[int, int] | None = None  # of SCSI: additional sense code and qualifier of the verdict
    device: str | None = None  # "/dev/sda", where the report says which device was asked
    silent: str = ""  # why it says nothing of its health: it sleeps, has no SMART, was not reached
    logical_block_bytes: int | None = None  # by JSON alone

    @property
    def is_empty(self) -> bool:
        """Whether neither a verdict nor any number is there that could say how the disk is: a list of disks, or who it is."""
        return self.passed is None and self.is_verdict

    @property
    def is_verdict(self) -> bool:
        """Whether nothing but a verdict can be there: no number, no list."""
        more = self.details
        numbers = (
            (more.pending_defects, more.percent_used, more.media_errors, more.critical_warning, more.available_spare, more.life_left)
            if more
            else ()
        )
        lists = (more.errors, more.self_tests, more.attributes, more.failing, more.exhausted, more.too_hot) if more else ()
        return self.grown_defects is None and all(one is None for one in numbers) and not any(lists)


keys = _disks.names


def collect_one(host: Host, key: str) -> Capture:
    """Exit code: bit 0 is a wrong command line, bit 1 a disk that did not open or sleeps; the other bits describe the disk."""
    capture = _ask(host, key, "-j", "-x")
    if capture.exit_code is not None and capture.exit_code & 1 and not capture.text.startswith("{"):
        capture = _ask(host, key, "-x")  # a smartctl that knows no -j
    if capture.exit_code == 2 and SLEEPS.search(capture.text):
        return replace(capture, outcome="nothing", reason=f"{key} {ASLEEP}")
    return capture


collect = _disks.every(collect_one, keys)


def _ask(host: Host, disk: str, *options: str) -> Capture:
    return ask(host, NAME, ("smartctl", *options, "-n", "standby", device_path(disk)), TIMEOUT_SECONDS, key=disk, data_exits=EXITS)


def parse(text: str) -> Smart | Unparsed:
    """The disk's verdict on itself. Never raises; text in which smartctl says nothing is refused."""
    if text.startswith("{"):
        return _json(text)
    torn = torn_end(text)
    if torn is not None:
        return torn
    report = _smart_text.read(text)
    if not report.lines:
        return Unparsed("smartctl did not print this", text.split("\n")[0])
    names = _smart_text.names_of(report.model, report.serial, report.names)
    return Smart(
        report.passed,
        report.verdict,
        report.numbers.get("grown_defects"),
        report.names[0] if report.names else None,
        report.serial,
        report.details(),
        report.model,
        names,
        report.sense,
        silent="" if report.passed is not None else report.silent,
    )


def _json(text: str) -> Smart | Unparsed:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return Unparsed("smartctl's JSON is torn", text[:80])
    if not isinstance(document, dict) or not _is_smartctls(document):
        return Unparsed("this JSON is not smartctl's", text[:80])
    status, defects = document.get("smart_status"), document.get("scsi_grown_defect_list")
    passed = status.get("passed") if isinstance(status, dict) else None
    if not isinstance(passed, bool) and _exited_failing(document):
        status, passed = {"passed": False, "scsi": {"ie_string": "by the exit status of smartctl"}}, False
    whole = defects if isinstance(defects, int) and not isinstance(defects, bool) and defects >= 0 else None
    serial, names = _string(document.get("serial_number")), tuple(_json_names(document))
    model = _string(document.get("model_name")) or _string(document.get("scsi_model_name")) or _string(document.get("product"))
    device = document.get("device")
    return Smart(
        passed if isinstance(passed, bool) else None,
        _words(status) if isinstance(status, dict) and isinstance(passed, bool) else "",
        whole,
        names[0] if names else None,
        serial,
        details(document),
        model,
        _smart_text.names_of(model, serial, names),
        _sense(status),
        _string(device.get("name")) if isinstance(device, dict) else None,
        _silent(document) if not isinstance(passed, bool) else "",
        block if isinstance(block := document.get("logical_block_size"), int) and not isinstance(block, bool) and block > 0 else None,
    )


FAILING = 8  # the bit of smartctl's exit status that says so, smartctl(8)


def _exited_failing(document: dict[str, Any]) -> bool:
    """Whether smartctl ended with the verdict that the disk fails. Where the report was cut, that is all that is left of it."""
    tool = document.get("smartctl")
    ended = tool.get("exit_status") if isinstance(tool, dict) else None
    return isinstance(ended, int) and not isinstance(ended, bool) and ended & FAILING != 0


def _is_smartctls(document: dict[str, Any]) -> bool:
    """Whether it says so itself, or is the part of such a report that a program passed on: then the device is named with its protocol."""
    device = document.get("device")
    return isinstance(document.get("smartctl"), dict) or (isinstance(device, dict) and isinstance(device.get("protocol"), str))


def _string(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _words(status: dict[str, Any]) -> str:
    if status["passed"]:
        return "SMART status: passed"
    scsi = status.get("scsi")
    why = scsi.get("ie_string") if isinstance(scsi, dict) else None
    return f"SMART status: failed, {why}" if isinstance(why, str) else "SMART status: failed"


def _sense(status: Any) -> tuple[int, int] | None:
    scsi = status.get("scsi") if isinstance(status, dict) else None
    codes = [scsi.get(name) for name in ("asc", "ascq")] if isinstance(scsi, dict) else []
    whole = [code for code in codes if isinstance(code, int) and not isinstance(code, bool) and 0 <= code <= 255]
    return (whole[0], whole[1]) if len(whole) == 2 else None


def _silent(document: dict[str, Any]) -> str:
    """Why there is no verdict, by smartctl's own messages."""
    tool = document.get("smartctl")
    messages = tool.get("messages") if isinstance(tool, dict) else None
    texts = [one.get("string") for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []
    report = _smart_text.read("\n".join(text for text in texts if isinstance(text, str)))
    support = document.get("smart_support")
    lacks = isinstance(support, dict) and support.get("available") is False
    return report.silent or ("it has no SMART" if lacks else "")


def _json_names(document: dict[str, Any]) -> Iterator[str]:
    """SCSI gives the LU name as it is; ATA gives the same number in three parts, NVMe an EUI in two and an NGUID as text."""
    lu, wwn, spaces = document.get("logical_unit_id"), document.get("wwn"), document.get("nvme_namespaces")
    name = normalise(lu) if isinstance(lu, str) else None
    parts = [wwn.get(name) for name in ("naa", "oui", "id")] if isinstance(wwn, dict) else []
    if name is None and len(parts) == 3 and all(isinstance(part, int) and 0 <= part < 1 << 36 for part in parts):
        name = normalise(f"0x{parts[0]:x}{parts[1]:06x}{parts[2]:09x}")
    if name:
        yield name
    for space in spaces if isinstance(spaces, list) and len(spaces) == 1 else ():  # several have a name each, and the report is of all
        yield from _names_of_namespace(space)


def _names_of_namespace(space: Any) -> Iterator[str]:
    eui, nguid = (space.get("eui64"), space.get("nguid")) if isinstance(space, dict) else (None, None)
    parts = [eui.get(name) for name in ("oui", "ext_id")] if isinstance(eui, dict) else []
    if len(parts) == 2 and all(isinstance(part, int) and not isinstance(part, bool) and 0 <= part < 1 << 40 for part in parts):
        found = normalise(f"eui.{parts[0]:06x}{parts[1]:010x}")
        yield from (found,) if found else ()
    if isinstance(nguid, str):
        found = normalise(f"eui.{re.sub('[^0-9a-fA-F]', '', nguid)}")
        yield from (found,) if found else ()
