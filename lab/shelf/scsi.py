"""The SCSI commands that a shelf answers: what the kernel's `ses`, sg_ses and QEMU ask, and nothing else."""

import struct
from collections.abc import Sequence
from typing import NamedTuple

from lab.shelf.enclosure import Shelf

CHECK_CONDITION = 2
NO_SUCH_UNIT, NO_SUCH_FIELD, BAD_PARAMETER, NO_SUCH_COMMAND = (5, 0x25, 0), (5, 0x24, 0), (5, 0x26, 0), (5, 0x20, 0)
SERVICES_UNAVAILABLE = (4, 0x35, 2)
TEST_UNIT_READY, REQUEST_SENSE, INQUIRY, MODE_SENSE, RECEIVE_DIAGNOSTIC, SEND_DIAGNOSTIC, REPORT_LUNS = (
    0x00,
    0x03,
    0x12,
    0x1A,
    0x1C,
    0x1D,
    0xA0,
)
NO_DEVICE = b"\x7f" + bytes(35)


class Answer(NamedTuple):
    data: bytes = b""
    sense: tuple[int, int, int] | None = None
    changes: tuple[dict, ...] = ()

    @property
    def status(self) -> int:
        return CHECK_CONDITION if self.sense else 0

    def sense_bytes(self) -> bytes:
        key, code, qualifier = self.sense or (0, 0, 0)
        return bytes([0x70, 0, key, 0, 0, 0, 0, 10, 0, 0, 0, 0, code, qualifier, 0, 0, 0, 0])


def answer(shelves: Sequence[Shelf], lun: int, command: bytes, written: bytes) -> Answer:
    if command[0] == REPORT_LUNS:
        return Answer(struct.pack(">II", 8 * len(shelves), 0) + b"".join(struct.pack(">H6x", n) for n in range(len(shelves))))
    if lun >= len(shelves):
        return Answer(NO_DEVICE) if command[0] == INQUIRY else Answer(sense=NO_SUCH_UNIT)
    ask = COMMANDS.get(command[0])
    return ask(shelves[lun], command, written) if ask else Answer(sense=NO_SUCH_COMMAND)


def room(command: bytes) -> int | None:
    """How many bytes a command has room for, if it says so itself."""
    if command[0] in (INQUIRY, RECEIVE_DIAGNOSTIC):
        return command[3] << 8 | command[4]
    return command[4] if command[0] == REQUEST_SENSE else None


def _ready(shelf: Shelf, command: bytes, written: bytes) -> Answer:
    return Answer()


def _sense(shelf: Shelf, command: bytes, written: bytes) -> Answer:
    return Answer(b"\x70\0\0\0\0\0\0\x0a" + bytes(10))


def _inquiry(shelf: Shelf, command: bytes, written: bytes) -> Answer:
    return _page(shelf.inquiry(bool(command[1] & 1), command[2]))


def _no_mode_pages(shelf: Shelf, command: bytes, written: bytes) -> Answer:
    return Answer(b"\x03\0\0\0")


def _receive(shelf: Shelf, command: bytes, written: bytes) -> Answer:
    return _page(shelf.page(command[2] if command[1] & 1 else 0x02))


def _send(shelf: Shelf, command: bytes, written: bytes) -> Answer:
    if not command[1] & 0x10 or shelf.mood == "ignores":
        return Answer()
    if shelf.mood == "refuses":
        return Answer(sense=SERVICES_UNAVAILABLE)
    changes = shelf.control(written)
    return Answer(sense=BAD_PARAMETER) if changes is None else Answer(changes=tuple(changes))


def _page(page: bytes | None) -> Answer:
    return Answer(sense=NO_SUCH_FIELD) if page is None else Answer(page)


COMMANDS = {
    TEST_UNIT_READY: _ready,
    REQUEST_SENSE: _sense,
    INQUIRY: _inquiry,
    MODE_SENSE: _no_mode_pages,
    RECEIVE_DIAGNOSTIC: _receive,
    SEND_DIAGNOSTIC: _send,
}
