"""Which kind of trouble of a disk a line of the kernel's log is: one test for each, the first that fits counts."""

import re
from collections.abc import Callable, Iterable

from agents.collectors.kernel_log import KernelEvent

OPTICAL = re.compile(r"sr[0-9]+")


def why_of(event: KernelEvent) -> str:
    """Which of OF_DISKS a line is; "" for one that says nothing bad of a disk."""
    for why, test in _TESTS:
        if test(event):
            return why
    return ""


def _key(event: KernelEvent) -> str:
    return (event.field("key") or "").upper()


def _is_farewell(event: KernelEvent) -> bool:
    """The kernel's last word to a disk that was pulled, or taken away on purpose."""
    return "Synchronize Cache" in event.line


# A disk without UNMAP or WRITE SAME answers "Illegal Request", a target error: scsi_io_completion_action, drivers/scsi/scsi_lib.c, and block/blk-core.c.
# FreeBSD makes EINVAL (22) of such an answer: scsi_error_action and the table of additional senses in sys/cam/scsi/scsi_all.c.
OPTIONAL = re.compile(
    r"\): (?:Error 22, Unretryable error|SCSI sense: ILLEGAL REQUEST asc:2[046],)|critical target error, .{0,200} op 0x[0-9a-f]{1,2}:\((?:DISCARD|SECURE_ERASE|WRITE_SAME|WRITE_ZEROES)\)"
)
DATA = re.compile(r"\): (?:READ|WRITE)(?:_FPDMA_QUEUED|_DMA\w{0,4}|\(\d{1,2}\))?\. ")
# SPC: additional sense 10h, which Linux prints as a number where it has no table of them
_GUARD = re.compile(r"ogical block (?:guard|application tag|reference tag) check failed|0x10 ASCQ=0x")
_BUS = re.compile(
    r"\(ATA bus error\)|interface fatal error"
)  # ata_err_string of drivers/ata/libata-eh.c: the transfer, and no answer of the disk
_PACKET = re.compile(r"ata\d+(?:\.\d+)?: cmd a0/")  # ATA_CMD_PACKET, which only an optical or a tape drive is asked with
_OF_LINK = re.compile(
    r"SError: \{.{0,200}\b(?:10B8B|Dispar|BadCRC|Handshk|LinkSeq|TrStaTrns)\b"
)  # what the link itself found wrong, drivers/ata/libata-eh.c
_TRANSFER = re.compile(
    r"CRC error|[Nn](?:ak|AK) received|ACK/NAK timeout|nitiator detected error|ata phase CRC|iuCRC"
)  # SPC: additional sense 47h and 4Bh
_TESTS: tuple[tuple[str, Callable[[KernelEvent], bool]], ...] = (
    ("optical", lambda e: e.field("command") in ("PACKET", "IDENTIFY PACKET DEVICE") or _PACKET.match(e.line) is not None or OPTICAL.fullmatch(e.field("disk") or "") is not None),
    ("optional", lambda e: OPTIONAL.search(e.line) is not None),
    ("medium", lambda e: "medium" in (e.field("class") or "") or _key(e) in ("MEDIUM ERROR", "0X3") or (e.kind == "sense-detail" and (e.field("detail") or "").startswith("Unrecovered read error")) or "UNC" in (e.field("error") or e.field("ata_status") or "")),
    ("hardware", lambda e: _key(e) in ("HARDWARE ERROR", "HARDWARE FAILURE", "0X4")),
    ("unready", lambda e: e.kind == "not-ready" or (e.kind in ("sense", "cam-sense") and _key(e) in ("NOT READY", "0X2"))),
    ("locked", lambda e: _key(e) in ("DATA PROTECT", "0X7")),
    ("protection", lambda e: e.field("class") == "protection" or (e.kind in ("sense-detail", "cam-sense") and _GUARD.search(e.field("detail") or "") is not None)),
    ("usb", lambda e: e.kind in ("usb-link", "usb-error")),
    ("dropped", lambda e: e.kind == "nvme-down" and "cntlid" not in e.line),
    ("gone", lambda e: e.kind in ("offlined", "vdev-open", "nvme-down", "ata-gone", "rejected", "detached") or (e.field("host") == "DID_NO_CONNECT" and not _is_farewell(e))),
    ("link", lambda e: (e.kind == "ata-error" and _BUS.search(e.line) is not None) or e.kind in ("ata-link", "nvme-path", "path-down", "path-none") or e.field("status") == "Uncorrectable parity/CRC error"
     or (e.kind in ("sense-detail", "cam-sense") and _TRANSFER.search(e.field("detail") or "") is not None) or (e.kind == "cam-sense" and e.field("asc") in ("47", "4b"))),
    ("timeout", lambda e: e.kind in ("nvme-timeout", "task-abort-begun", "abort", "channel") or e.field("host") in ("DID_TIME_OUT", "DID_TRANSPORT_DISRUPTED") or e.field("status") == "Command timeout"),
    ("io", lambda e: e.kind in ("cam-command", "io-error", "buffer-error", "zio-error", "vdev-io-failure", "nvme-error", "cam-failed", "ata-error", "illumos-disk")
     or (e.kind == "command-failed" and e.field("host") != "DID_OK" and not _is_farewell(e)) or (e.kind == "cam-sense" and _key(e) == "ILLEGAL REQUEST")),
)  # fmt: skip


def is_of_way(event: KernelEvent) -> bool:
    """Whether the link, and not the disk, is what this line finds wrong: a transfer was damaged on its way."""
    return _BUS.search(event.line) is not None or _OF_LINK.search(event.line) is not None


_EMPTY = re.compile(r"edium not present")


def is_empty_drive(events: Iterable[KernelEvent], event: KernelEvent) -> bool:
    """Whether a line of FreeBSD's is of a drive without a medium, as a slot for cards is: its commands fail, and no disk is ill."""
    if not event.kind.startswith("cam-"):
        return False
    senses = [e for e in events if e.kind == "cam-sense" and e.field("disk") == event.field("disk")]
    return bool(senses) and all(_EMPTY.search(e.field("detail") or "") for e in senses)
