"""What smartctl's JSON says beyond the verdict. Only whole numbers are taken; whatever has another form counts as not said.

What the attributes of a SATA disk mean is in `_attributes`, for JSON and for text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agents.collectors import _attributes
from agents.collectors._attributes import Attribute
from agents.collectors._error_log import Unreadable, unreadable
from agents.collectors.sas_phys import gigabits
from agents.collectors.sg_logs import SelfTest

TESTS_MAX = 21
ERRORS_MAX = 200
TESTS = tuple(f"scsi_self_test_{number}" for number in range(TESTS_MAX))
NVME_RESULTS = {0: 0, 1: 1, 2: 2, 3: 1, 4: 1, 5: 3, 6: 4, 7: 7, 8: 1, 9: 1}  # of NVMe's self-test log -> of SCSI's, as in `SelfTest`
PORTS = tuple((port, f"scsi_sas_port_{port}") for port in range(4))
KEYS_REMEMBERED = 256  # a shelf of disks has the same few dozen


@dataclass(frozen=True)
class ErrorLine:
    """One line of the error counter log. `gigabytes` is text, because smartctl rounds it to the megabyte."""

    what: str  # "read", "write", "verify"
    corrected: int | None
    uncorrected: int | None
    gigabytes: str | None


@dataclass(frozen=True)
class SmartLink:
    """One phy of the disk itself: the rate its link came up with, and what it is attached to."""

    port: int
    phy: int
    text: str  # "phy enabled; 12 Gbps"
    gbit: float | None
    address: str | None
    attached: str | None
    counters: tuple[int | None, int | None, int | None, int | None]  # in the order of sas_phys


@dataclass(frozen=True)
class SmartDetails:
    """None where the disk, or this smartctl, does not say."""

    temperature: int | None
    temperature_trip: int | None
    power_on_hours: int | None
    pending_defects: int | None
    errors: tuple[ErrorLine, ...]
    self_tests: tuple[SelfTest, ...] | None
    test_runs: bool | None
    background: str | None
    links: tuple[SmartLink, ...]
    attributes: tuple[tuple[str, int], ...]  # ATA: ("pending", 8)
    percent_used: int | None
    media_errors: int | None  # NVMe
    critical_warning: int | None  # NVMe; not 0 is a disk in trouble
    temperature_max: int | None = None  # the highest that the disk is specified for, or from which NVMe calls it critical
    temperature_warning: int | None = None  # NVMe: from here on it is too warm
    available_spare: int | None = None  # NVMe: percent of its spare blocks
    spare_threshold: int | None = None  # NVMe: below it the spare counts as used up
    life_left: int | None = None  # SATA SSD: percent, by the attribute in `life_name`
    life_name: str = ""
    failing: tuple[str, ...] = ()  # names of the pre-fail attributes at or below their threshold now
    exhausted: tuple[str, ...] = ()  # the same of old-age attributes: used up as designed
    too_hot: bool = False  # a temperature attribute is at or below its threshold now
    has_no_self_test: bool = False  # NVMe, where a self-test is optional: smartctl 7.5 and newer, or the text of 7.4, say that it has none
    unreadable: Unreadable | None = None  # ATA: reads that failed, by its error log
    in_text: bool = False  # read from smartctl's text, which leaves out what JSON says


def details(document: dict[str, Any]) -> SmartDetails:
    nvme, tests = _dict(document.get("nvme_smart_health_information_log")), tuple(_self_tests(document))
    table = tuple(_table(document))
    life = _attributes.life(table)
    return SmartDetails(
        temperature=_int(document, "temperature", "current") or None,  # 0 is what a disk without a sensor says
        temperature_trip=_first(_int(document, "temperature", "drive_trip"), _int(document, "scsi_temperature", "drive_trip")),
        power_on_hours=_int(document, "power_on_time", "hours"),
        pending_defects=_int(document, "scsi_pending_defects", "count"),
        errors=tuple(_errors(_dict(document.get("scsi_error_counter_log")))),
        self_tests=tests if tests or _keeps_tests(document) else None,
        test_runs=_bool(document, "scsi_self_test_status", "in_progress"),
        background=_text(document, "scsi_background_scan", "status", "string"),
        links=tuple(_links(document)),
        attributes=tuple(_with_statistics(document, dict(_attributes.counts(table))).items()),
        percent_used=_first(
            _int(nvme, "percentage_used"),
            _int(document, "endurance_used", "current_percent"),
            _int(document, "scsi_percentage_used_endurance_indicator"),
        ),
        media_errors=_int(nvme, "media_errors"),
        critical_warning=_int(nvme, "critical_warning"),
        temperature_max=_first(
            _int(document, "nvme_composite_temperature_threshold", "critical"), _int(document, "temperature", "op_limit_max")
        ),
        temperature_warning=_int(document, "nvme_composite_temperature_threshold", "warning"),
        available_spare=_int(nvme, "available_spare"),
        spare_threshold=_int(nvme, "available_spare_threshold"),
        life_left=None if life is None else life[1],
        life_name="" if life is None else life[0],
        failing=_attributes.failing(table),
        exhausted=_attributes.exhausted(table),
        too_hot=_attributes.too_hot(table),
        has_no_self_test=_bool(document, "nvme_optional_admin_commands", "self_test") is False,
        unreadable=unreadable(_logged(document), _int(document, "power_on_time", "hours")),
    )


def _logged(document: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """The errors of an ATA disk's log, of the longer one where both are there."""
    logs = [_dict(_dict(document.get("ata_smart_error_log")).get(name)).get("table") for name in ("extended", "summary")]
    for row in next((log for log in logs if isinstance(log, list) and log), [])[:ERRORS_MAX]:
        hours, why = _int(_dict(row), "lifetime_hours"), _text(_dict(row), "error_description")
        if hours is not None and why:
            yield hours, why


UNCORRECTABLE = "Number of Reported Uncorrectable Errors"  # of the device statistics, General Errors (ACS-4, 9.5.5)


def _with_statistics(document: dict[str, Any], counts: dict[str, int]) -> dict[str, int]:
    """The counters, with what the device statistics count beside the attribute: the higher one."""
    pages = _dict(document.get("ata_device_statistics")).get("pages")
    for page in pages if isinstance(pages, list) else []:
        rows = _dict(page).get("table")
        for row in rows if isinstance(rows, list) else []:
            counted = _int(row, "value")
            if _text(row, "name") == UNCORRECTABLE and counted is not None and _bool(row, "flags", "valid") is not False:
                counts["reported uncorrectable"] = max(counted, counts.get("reported uncorrectable", 0))
    return counts


def _errors(log: dict[str, Any]) -> Iterator[ErrorLine]:
    for what in ("read", "write", "verify"):
        line = _dict(log.get(what))
        if line:
            gigabytes = line.get("gigabytes_processed")
            exact = gigabytes if isinstance(gigabytes, str) and re.fullmatch(r"[0-9]{1,15}\.[0-9]{3}", gigabytes) else None
            yield ErrorLine(what, _int(line, "total_errors_corrected"), _int(line, "total_uncorrected_errors"), exact)


def _keeps_tests(document: dict[str, Any]) -> bool:
    """Whether smartctl read the self-test log and found nothing in it. It says that only for ATA and NVMe."""
    return "ata_smart_self_test_log" in document or "nvme_self_test_log" in document


def _nvme_tests(document: dict[str, Any]) -> Iterator[SelfTest]:
    table = _dict(document.get("nvme_self_test_log")).get("table")
    for test in (table if isinstance(table, list) else [])[:TESTS_MAX]:
        result = NVME_RESULTS.get(_first(_int(_dict(test), "self_test_result", "value"), -1) or 0)
        if result is not None:
            what, words = _text(test, "self_test_code", "string") or "", _text(test, "self_test_result", "string") or ""
            yield SelfTest(_int(test, "power_on_hours"), what, result, words, _int(test, "lba"))


def _self_tests(document: dict[str, Any]) -> Iterator[SelfTest]:
    for name in TESTS:
        test = _dict(document.get(name))
        result = _int(test, "result", "value")
        if result is not None:
            what, words = _text(test, "code", "string") or "", _text(test, "result", "string") or ""
            yield SelfTest(_int(test, "power_on_time", "hours"), what, result, words, _int(test, "lba_first_failure", "value"))
    yield from _nvme_tests(document)
    logs = _dict(document.get("ata_smart_self_test_log"))
    table = _dict(logs.get("extended")).get("table") or _dict(logs.get("standard")).get("table")
    for test in (table if isinstance(table, list) else [])[:TESTS_MAX]:
        status = _int(_dict(test), "status", "value")
        if status is not None:
            words = _text(_dict(test), "status", "string") or ""
            yield SelfTest(
                _int(_dict(test), "lifetime_hours"),
                _text(_dict(test), "type", "string") or "",
                status >> 4 & 15,
                words,
                _int(_dict(test), "lba"),
            )


def _links(document: dict[str, Any]) -> Iterator[SmartLink]:
    for port, title in PORTS:
        for name, value in sorted(_dict(document.get(title)).items()):
            phy = {_key(key): inner for key, inner in _dict(value).items()}
            words = phy.get("negotiated_logical_link_rate")
            if re.fullmatch("phy_[0-9]{1,3}", name) and isinstance(words, str):
                rate = gigabits(f"{_rate(words)} Gbit")
                yield SmartLink(
                    port, int(name[4:]), words, rate, _address(phy, "sas_address"), _address(phy, "attached_sas_address"), _counts(phy)
                )


def _rate(words: str) -> str:
    found = re.search(r"([0-9]{1,3}(?:\.[0-9])?) Gbps", words)
    return found.group(1) if found else ""


def _counts(phy: dict[str, Any]) -> tuple[int | None, int | None, int | None, int | None]:
    names = ("invalid_dword_count", "running_disparity_error_count", "loss_of_dword_synchronization_count", "phy_reset_problem_count")
    a, b, c, d = (_int(phy, name) for name in names)
    return a, b, c, d


def _address(phy: dict[str, Any], name: str) -> str | None:
    value = phy.get(name)
    return value if isinstance(value, str) and re.fullmatch("0x[0-9a-f]{16}", value) else None


@lru_cache(maxsize=KEYS_REMEMBERED)
def _key(name: str) -> str:
    return re.sub("[^a-z0-9]+", "_", name.lower())  # versions differ between spaces and underscores


def _table(document: dict[str, Any]) -> Iterator[Attribute]:
    table = _dict(document.get("ata_smart_attributes")).get("table")
    for row in table if isinstance(table, list) else []:
        number, flags = _int(_dict(row), "id"), _bool(_dict(row), "flags", "prefailure")
        if number is not None:
            yield Attribute(
                number,
                _text(row, "name") or "",
                _int(row, "value"),
                _raw(row),
                flags is not False,
                _text(row, "when_failed") == "now",
            )


def _raw(row: dict[str, Any]) -> int | None:
    """The number as smartctl prints it, which knows the vendor's form of it; else the lower half, as some vendors keep more above."""
    printed, value = _attributes.leading(_text(row, "raw", "string") or ""), _int(row, "raw", "value")
    return printed if printed is not None or value is None else value & 0xFFFFFFFF


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _deep(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _int(node: Any, *path: str) -> int | None:
    value = _deep(node, path)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 64 else None


def _bool(node: Any, *path: str) -> bool | None:
    value = _deep(node, path)
    return value if isinstance(value, bool) else None


def _text(node: Any, *path: str) -> str | None:
    value = _deep(node, path)
    return value.strip() if isinstance(value, str) else None


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)
