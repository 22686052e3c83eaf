"""`smartctl -j -x` of a SAS or SATA disk, as far as smartctl 7.4 prints identity, health and links."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from agents.domain.wwid import scheme
from twin import drive_logs, sas
from twin.disk_names import is_scsi
from twin.model import Disk, Node
from twin.smart import ASC, ASCQ, EXIT_FAILING, EXIT_NO_SMART, EXIT_STANDBY, FAILURE

VERSION = [7, 4]


def report(node: Node, disk: Disk, name: str, options: Sequence[str], now: float) -> tuple[int, str]:
    """(exit code, text)."""
    if disk.smart.standby and "standby" in " ".join(options):
        sleeps = [{"string": "Device is in STANDBY BY COMMAND mode, exit(2)", "severity": "information"}]
        return EXIT_STANDBY, _text({"smartctl": {**_head(name, options, EXIT_STANDBY), "messages": sleeps}})
    exit_code = EXIT_NO_SMART if disk.smart.passed is None else 0 if disk.smart.passed else EXIT_FAILING
    is_sas = any(path.sas_address for path in disk.paths)
    of_kind = _nvme(disk, now) if not is_scsi(disk) else _sas(node, disk) if is_sas else _sata(disk, now)
    fields = {"json_format_version": [1, 0], "smartctl": _head(name, options, exit_code), **of_kind}
    fields["serial_number"] = disk.serial
    fields["user_capacity"] = {"blocks": disk.size_bytes // disk.logical_block_bytes, "bytes": disk.size_bytes}
    if disk.smart.passed is not None:
        fields |= {"smart_status": _status(disk, is_sas), "power_on_time": {"hours": drive_logs.HOURS}}
    fields["temperature"] = {"current": 0 if disk.smart.passed is None else 31, "drive_trip": 60}
    return exit_code, _text(fields)


def _head(name: str, options: Sequence[str], exit_code: int) -> dict[str, Any]:
    return {"version": VERSION, "argv": ["smartctl", *options], "exit_status": exit_code}


def _status(disk: Disk, is_sas: bool) -> dict[str, Any]:
    failing = {"passed": False, "scsi": {"asc": ASC, "ascq": ASCQ, "ie_string": FAILURE}} if is_sas else {"passed": False}
    return {"passed": True} if disk.smart.passed else failing


def _sas(node: Node, disk: Disk) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "scsi_vendor": disk.vendor,
        "scsi_product": disk.model,
        "scsi_revision": disk.rev,
        "logical_unit_id": f"0x{disk.hex}",
        "smart_support": {"available": disk.smart.passed is not None},
    }
    if disk.smart.passed is None:
        return fields
    fields |= {"scsi_grown_defect_list": disk.smart.grown_defects, "scsi_pending_defects": {"count": disk.smart.pending}}
    fields["scsi_error_counter_log"] = {
        "read": _errors(drive_logs.corrected(disk) + 7, drive_logs.READ_BYTES, disk.smart.uncorrected),
        "write": _errors(3, drive_logs.WRITTEN_BYTES, 0),
    }
    failed = disk.smart.self_test_failed
    fields["scsi_self_test_0"] = {
        "code": {"value": 1, "string": "Background short"},
        "result": {"value": 7 if failed else 0, "string": "Failed in segment" if failed else "Completed"},
        "power_on_time": {"hours": drive_logs.HOURS - 90},
    }
    for port, path in enumerate(disk.paths):
        shelf = sas.shelf_of(node, path.hctl.split(":")[0])
        fields[f"scsi_sas_port_{port}"] = {"relative_target_port_id": port + 1, "phy_0": _link(disk, path.sas_address, shelf)}
    return fields


def _errors(corrected: int, processed: int, uncorrected: int) -> dict[str, Any]:
    return {
        "total_errors_corrected": corrected,
        "gigabytes_processed": f"{processed / 10**9:.3f}",
        "total_uncorrected_errors": uncorrected,
    }


def _link(disk: Disk, address: str, shelf: Any) -> dict[str, Any]:
    return {
        "identifier": 0,
        "attached_device_type": "expander device" if shelf else "SAS or SATA device",
        "negotiated_logical_link_rate": f"phy enabled; {disk.link_rate.split('.')[0]} Gbps",
        "sas_address": address,
        "attached_sas_address": sas.expander_address(shelf) if shelf else "0x500605b00f1a2c30",
        "invalid_dword_count": 0,
        "running_disparity_error_count": 0,
        "loss_of_dword_synchronization_count": 0,
        "phy_reset_problem_count": 0,
    }


def _sata(disk: Disk, now: float) -> dict[str, Any]:
    value = int(disk.hex, 16) if scheme(disk.wwid) == "naa" else 0
    wwn = {"wwn": {"naa": value >> 60, "oui": value >> 36 & 0xFFFFFF, "id": value & 0xFFFFFFFFF}} if value else {}
    return {
        "model_name": disk.model,
        "firmware_version": disk.rev,
        **wwn,
        "ata_smart_self_test_log": {"standard": {"revision": 1, **_ata_tests(disk, now)}},
    }


def _begun(disk: Disk, now: float) -> tuple[bool, bool]:
    """Whether a self-test was begun, and whether it still runs."""
    began = disk.smart.test_began_at
    return bool(began), bool(began) and now < began + drive_logs.TEST_SECONDS


def _ata_tests(disk: Disk, now: float) -> dict[str, Any]:
    """The upper half of a status is the result: 0 completed, 7 a read failed, 15 it runs."""
    begun, runs = _begun(disk, now)
    if not begun:
        return {"count": 0}
    value, words = (
        (0xF9, "Self-test routine in progress")
        if runs
        else (0x70, "Completed: read failure")
        if disk.smart.self_test_failed
        else (0, "Completed without error")
    )
    entry = {
        "type": {"value": 1, "string": "Short offline"},
        "status": {"value": value, "string": words},
        "lifetime_hours": drive_logs.HOURS,
    }
    return {"table": [entry], "count": 1}


def _nvme_tests(disk: Disk, now: float) -> dict[str, Any]:
    begun, runs = _begun(disk, now)
    value, words = (7, "Completed: failed segments") if disk.smart.self_test_failed else (0, "Completed without error")
    entry = {
        "self_test_code": {"value": 1, "string": "Short"},
        "self_test_result": {"value": value, "string": words},
        "power_on_hours": drive_logs.HOURS,
    }
    return {"current_self_test_operation": {"value": int(runs)}, "table": [entry] if begun and not runs else []}


def _namespace(disk: Disk) -> dict[str, Any]:
    """The EUI-64 in two parts, an NGUID as text; smartctl prints no UUID."""
    digits = disk.wwid.partition(":")[2]
    if scheme(disk.wwid) != "eui":
        return {}
    return {"nguid": digits} if len(digits) == 32 else {"eui64": {"oui": int(digits[:6], 16), "ext_id": int(digits[6:], 16)}}


def _nvme(disk: Disk, now: float) -> dict[str, Any]:
    return {
        "device": {"name": f"/dev/{disk.paths[0].name}", "protocol": "NVMe"},
        "model_name": disk.model,
        "firmware_version": disk.rev,
        "nvme_namespaces": [{"id": 1, **_namespace(disk)}],
        "nvme_smart_health_information_log": {"critical_warning": 0, "media_errors": 0, "percentage_used": 3},
        "nvme_self_test_log": _nvme_tests(disk, now),
    }


def _text(fields: dict[str, Any]) -> str:
    return _indented(json.dumps(fields))


@lru_cache(maxsize=4096)
def _indented(line: str) -> str:
    """Indenting is ten times the work, and a disk says the same again and again."""
    return json.dumps(json.loads(line), indent=2) + "\n"
