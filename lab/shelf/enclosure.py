"""What one shelf is: its bays with their lamps, and the SES-3 pages in which it tells of them and is told.

Of the standard: pages 00, 01, 02, 07 and 0A to read, 02 to write; an array device slot per bay, and what else a shelf has.
"""

import struct
from dataclasses import dataclass, field

SHELF_ID = 0x500605B0000272BF  # of the first; the next ones are 0x100 apart, as adapters are
ARRAY_SLOT, ENCLOSURE, CONTROLLER = 0x17, 0x0E, 0x07
# element type, text, and each element's status: power supplies, fans, thermometers, the services controller, the whole shelf
FURNITURE = (
    (0x02, "Power Supply", (b"\x01\0\0\x20",) * 2),
    (0x03, "Fan", (b"\x01\x02\x08\x24",) * 4),
    (0x04, "Temp", (b"\x01\0\x2e\0", b"\x01\0\x31\0")),
    (CONTROLLER, "ES Controller", (b"\x01\0\x01\x80",)),
    (ENCLOSURE, "Enclosure", (b"\x01\0\0\0",)),
)
# Lamps and flags of a bay: byte and bit. A status element has them where a control element has them.
FLAGS = {
    "prdfail": (0, 0x40),
    "disabled": (0, 0x20),
    "ok": (1, 0x80),
    "hot_spare": (1, 0x20),
    "rebuild": (1, 0x02),
    "active": (2, 0x80),
    "do_not_remove": (2, 0x40),
    "insert": (2, 0x08),
    "remove": (2, 0x04),
    "ident": (2, 0x02),
    "fault": (3, 0x20),
    "off": (3, 0x10),
}
LAMPS = ("ident", "fault", "prdfail", "remove", "insert", "off", "active")
WRITE_ONLY = {"active"}  # the standard has no such bit in a status
SELECT, OK, CRITICAL, NOT_INSTALLED = 0x80, 1, 2, 5


def shelf_id(number: int, lot: int = 0) -> int:
    """`lot` tells the shelves of one rack from those of another."""
    return SHELF_ID + (lot << 20) + (number << 8)


@dataclass
class Bay:
    number: int
    name: str
    address: int = 0  # of the disk in it; what the adapter once called it stays when it is pulled
    present: bool = False
    sensed: bool = False  # the shelf itself senses a fault
    status: int = 0  # 0: as `present` says
    flags: dict[str, bool] = field(default_factory=lambda: dict.fromkeys(FLAGS, False))

    def element(self) -> bytes:
        element = bytearray([self.status or (OK if self.present else NOT_INSTALLED), 0, 0, 0x40 if self.sensed else 0])
        for name, (byte, mask) in FLAGS.items():
            if self.flags[name] and name not in WRITE_ONLY:
                element[byte] |= mask
        return bytes(element)

    def set_leds(self, element: bytes) -> dict[str, bool]:
        """Take a control element; returns what changed."""
        wanted = {name: bool(element[byte] & mask) for name, (byte, mask) in FLAGS.items()}
        changed = {name: on for name, on in wanted.items() if self.flags[name] != on}
        self.flags.update(wanted)
        return changed

    def as_json(self) -> dict:
        lit = [name for name in LAMPS if self.flags[name]]
        return {"bay": self.number, "name": self.name, "address": f"{self.address:#x}", "present": self.present, "lit": lit}


class Shelf:
    """`mood` is how it takes orders: "" obeys, "refuses" ends them in an error, "ignores" takes them and does nothing."""

    def __init__(self, number: int, bays: int, names: str, lot: int = 0) -> None:
        self.number, self.id, self.mood, self.ident = number, shelf_id(number, lot), "", False
        self.bays = [Bay(n, names.format(n=n)) for n in range(1, bays + 1)]
        self.generation = 1

    def as_json(self) -> dict:
        bays = [bay.as_json() for bay in self.bays]
        return {"shelf": self.number, "id": f"{self.id:#x}", "mood": self.mood, "ident": self.ident, "bays": bays}

    def inquiry(self, vital: bool, page: int) -> bytes | None:
        """Byte 6 says that this is an enclosure; without it the kernel's `ses` does not bind."""
        if not vital:
            return bytes([0x0D, 0, 6, 2, 91, 0, 0x40, 2]) + _padded("LAB", 8) + _padded("SES-SHELF", 16) + _padded("0101", 4) + bytes(60)
        address = struct.pack(">Q", self.id - 2)
        pages = {
            0x00: b"\x00\x80\x83",
            0x80: f"LABSHELF{self.number:04d}".encode(),
            0x83: b"\x01\x03\0\x08" + address + b"\x61\x93\0\x08" + address,
        }
        data = pages.get(page)
        return None if data is None else struct.pack(">BBH", 0x0D, page, len(data)) + data

    def page(self, code: int) -> bytes | None:
        pages = {0x00: self._supported, 0x01: self._configuration, 0x02: self._status, 0x07: self._descriptors, 0x0A: self._additional}
        if code not in pages:
            return None
        body = pages[code]()
        if code == 0x00:
            return struct.pack(">BBH", 0, 0, len(body)) + body
        critical = code == 0x02 and any(bay.sensed or bay.status == CRITICAL for bay in self.bays)
        return struct.pack(">BBHI", code, 0x02 if critical else 0, len(body) + 4, self.generation) + body

    def control(self, page: bytes) -> list[dict] | None:
        """Page 02 as it is written to us; what changed, or None when it is no such page."""
        if len(page) < 8 or page[0] != 0x02 or struct.unpack_from(">I", page, 4)[0] != self.generation:
            return None
        at, changes = 8, []
        for kind, _, elements in self._types():
            elements_sent = [page[at + 4 * i : at + 4 * i + 4].ljust(4, b"\0") for i in range(len(elements) + 1)]
            at += 4 * len(elements_sent)
            for index, element in enumerate(elements_sent[1:]):
                chosen = next((e for e in (element, elements_sent[0]) if e[0] & SELECT), None)  # the first one speaks for all of its type
                if chosen:
                    changes += self._changes(kind, index, chosen)
        return changes

    def _changes(self, kind: int, index: int, element: bytes) -> list[dict]:
        if kind == ARRAY_SLOT:
            return [{"bay": self.bays[index].number, **self.bays[index].set_leds(element)}]
        if kind == ENCLOSURE and self.ident != bool(element[1] & 0x80):
            self.ident = not self.ident
            return [{"bay": 0, "ident": self.ident}]
        return []

    def _types(self) -> list[tuple[int, str, tuple[bytes, ...]]]:
        return [(ARRAY_SLOT, "Array Device", tuple(bay.element() for bay in self.bays)), *FURNITURE]

    def _supported(self) -> bytes:
        return bytes([0x00, 0x01, 0x02, 0x07, 0x0A])

    def _configuration(self) -> bytes:
        types = self._types()
        body = bytes([0x11, 0, len(types), 36]) + struct.pack(">Q", self.id)
        body += _padded("LAB", 8) + _padded("SES-SHELF", 16) + _padded("0101", 4)
        body += b"".join(bytes([kind, len(elements), 0, len(text)]) for kind, text, elements in types)
        return body + b"".join(text.encode() for _, text, _ in types)

    def _status(self) -> bytes:
        body = b""
        for kind, _, elements in self._types():
            if kind == ENCLOSURE:
                elements = (bytes([OK, 0x80 if self.ident else 0, 0, 0]),)
            body += bytes([OK, 0, 0, 0]) + b"".join(elements)
        return body

    def _descriptors(self) -> bytes:
        body = b""
        for kind, text, elements in self._types():
            names = [bay.name for bay in self.bays] if kind == ARRAY_SLOT else [f"{text} {i + 1}" for i in range(len(elements))]
            body += b"".join(struct.pack(">HH", 0, len(name)) + name.encode() for name in (text, *names))
        return body

    def _additional(self) -> bytes:
        """Which SAS address sits in which bay: by this the kernel links disks to bays, when a disk appears."""
        body = b""
        for index, bay in enumerate(self.bays):
            address = bay.address if bay.present else 0
            body += bytes([0x16, 34, 0, index, 1, 0, 0, bay.number, 0x10 if address else 0, 0, 0, 8 if address else 0])
            body += struct.pack(">QQB7x", self.id - 3 if address else 0, address, 0)
        index = len(self.bays) + sum(len(elements) for kind, _, elements in FURNITURE if kind < CONTROLLER)
        return body + bytes([0x16, 14, 0, index, 0, 0x40, 0, 0]) + struct.pack(">Q", self.id - 2)


def _padded(text: str, length: int) -> bytes:
    return text.encode().ljust(length)[:length]
