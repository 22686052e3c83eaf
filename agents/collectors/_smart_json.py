"""What smartctl's JSON says beyond the verdict. Only whole numbers are taken; whatever has another form counts as not said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agents.collectors.sas_phys import gigabits
from agents.collectors.sg_logs import SelfTest

TESTS_MAX = 21
TESTS = tuple(f"scsi_self_test_{number}" for number in range(TESTS_MAX))
PORTS = tuple((port, f"scsi_sas_port_{port}") for port in range(4))
KEYS_REMEMBERED = 256  # a shelf of disks has the same few dozen
# ATA attributes that tell of a medium or a link going bad; what the others mean differs by vendor.
ATTRIBUTES = {5: "reallocated", 187: "reported uncorrectable", 197: "pending", 198: "offline uncorrectable", 199: "CRC errors of the link"}


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
    said: str  # "phy enabled; 12 Gbps"
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


def details(said: dict[str, Any]) -> SmartDetails:
    nvme, tests = _dict(said.get("nvme_smart_health_information_log")), tuple(_self_tests(said))
    return SmartDetails(
        temperature=_int(said, "temperature", "current") or None,  # 0 is what a disk without a sensor says
        temperature_trip=_first(_int(said, "temperature", "drive_trip"), _int(said, "scsi_temperature", "drive_trip")),
        power_on_hours=_int(said, "power_on_time", "hours"),
        pending_defects=_int(said, "scsi_pending_defects", "count"),
        errors=tuple(_errors(_dict(said.get("scsi_error_counter_log")))),
        self_tests=tests if tests or _keeps_tests(said) else None,
        test_runs=_bool(said, "scsi_self_test_status", "in_progress"),
        background=_text(said, "scsi_background_scan", "status", "string"),
        links=tuple(_links(said)),
        attributes=tuple(_attributes(said)),
        percent_used=_first(_int(said, "endurance_used", "current_percent"), _int(said, "scsi_percentage_used_endurance_indicator")),
        media_errors=_int(nvme, "media_errors"),
        critical_warning=_int(nvme, "critical_warning"),
    )


def _errors(log: dict[str, Any]) -> Iterator[ErrorLine]:
    for what in ("read", "write", "verify"):
        line = _dict(log.get(what))
        if line:
            gigabytes = line.get("gigabytes_processed")
            exact = gigabytes if isinstance(gigabytes, str) and re.fullmatch(r"[0-9]{1,15}\.[0-9]{3}", gigabytes) else None
            yield ErrorLine(what, _int(line, "total_errors_corrected"), _int(line, "total_uncorrected_errors"), exact)


def _keeps_tests(said: dict[str, Any]) -> bool:
    """Whether smartctl read the self-test log and found nothing in it. It says that only for ATA and NVMe."""
    return "ata_smart_self_test_log" in said or "nvme_self_test_log" in said


def _self_tests(said: dict[str, Any]) -> Iterator[SelfTest]:
    for name in TESTS:
        test = _dict(said.get(name))
        result = _int(test, "result", "value")
        if result is not None:
            what, words = _text(test, "code", "string") or "", _text(test, "result", "string") or ""
            yield SelfTest(_int(test, "power_on_time", "hours"), what, result, words)
    logs = _dict(said.get("ata_smart_self_test_log"))
    table = _dict(logs.get("extended")).get("table") or _dict(logs.get("standard")).get("table")
    for test in (table if isinstance(table, list) else [])[:TESTS_MAX]:
        status = _int(_dict(test), "status", "value")
        if status is not None:
            words = _text(_dict(test), "status", "string") or ""
            yield SelfTest(_int(_dict(test), "lifetime_hours"), _text(_dict(test), "type", "string") or "", status >> 4 & 15, words)


def _links(said: dict[str, Any]) -> Iterator[SmartLink]:
    for port, title in PORTS:
        for name, value in sorted(_dict(said.get(title)).items()):
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


def _attributes(said: dict[str, Any]) -> Iterator[tuple[str, int]]:
    table = _dict(said.get("ata_smart_attributes")).get("table")
    for row in table if isinstance(table, list) else []:
        number, value = _int(_dict(row), "id"), _int(_dict(row), "raw", "value")
        if number in ATTRIBUTES and value is not None:
            yield ATTRIBUTES[number], value & 0xFFFFFFFF  # some vendors keep more in the upper bytes


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _deep(said: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if not isinstance(said, dict):
            return None
        said = said.get(name)
    return said


def _int(said: Any, *path: str) -> int | None:
    value = _deep(said, path)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 64 else None


def _bool(said: Any, *path: str) -> bool | None:
    value = _deep(said, path)
    return value if isinstance(value, bool) else None


def _text(said: Any, *path: str) -> str | None:
    value = _deep(said, path)
    return value.strip() if isinstance(value, str) else None


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)
