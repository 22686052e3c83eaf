"""VPD page 0x83: every name a SCSI disk has, of itself and of the port it was asked through, distinguished without guessing."""

from __future__ import annotations

from dataclasses import dataclass

_ABOUT = {0: "unit", 1: "port", 2: "device"}
_NAA_BYTES = {2: 8, 3: 8, 5: 8, 6: 16}


@dataclass(frozen=True)
class Designator:
    """One designator. `about` is what it names: the logical unit, this target port, or the whole target device."""

    about: str  # "unit", "port", "device", "other"
    kind: str  # "naa", "eui", "t10", "relative port", "name", "uuid", "vendor", "other"
    value: str  # hex digits, text, or a decimal number


def designators(page: str | None) -> tuple[Designator, ...] | None:
    """Those of the page given in hex; None when it is no whole page 0x83."""
    try:
        raw = bytes.fromhex(page or "")
    except ValueError:
        return None
    length = int.from_bytes(raw[2:4], "big")
    if len(raw) < 4 or raw[1] != 0x83 or len(raw) < 4 + length:
        return None
    found, rest = [], raw[4 : 4 + length]
    while rest:
        if len(rest) < 4 or len(rest) < 4 + rest[3]:
            return None
        found.append(_designator(rest[0], rest[1], rest[4 : 4 + rest[3]]))
        rest = rest[4 + rest[3] :]
    return tuple(found)


def _designator(first: int, second: int, body: bytes) -> Designator:
    about = _ABOUT.get((second >> 4) & 3, "other")
    kind, value = _value(second & 15, body)
    return Designator(about, kind, value if kind != "other" else body.hex())


def _value(kind: int, body: bytes) -> tuple[str, str]:
    if kind == 3 and body and _NAA_BYTES.get(body[0] >> 4) == len(body):
        return "naa", body.hex()
    if kind == 2 and len(body) in (8, 12, 16):
        return "eui", body.hex()
    if kind == 4 and len(body) == 4:
        return "relative port", str(int.from_bytes(body[2:], "big"))
    if kind == 10 and len(body) == 18:
        return "uuid", body[2:].hex()
    if kind in (0, 1, 8):
        text = body.decode("ascii", "backslashreplace").rstrip(" \0")
        return {0: "vendor", 1: "t10", 8: "name"}[kind], text
    return "other", ""
