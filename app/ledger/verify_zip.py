"""The files of a bundle: out of the zip, which has no byte of its own choosing, or out of a folder. A part of `verify.py`."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Protocol

FILES = ("events.jsonl", "proofs.json", "checkpoint", "keys.json", "verify.py")


class Tampered(Protocol):
    """Where faults of the zip are written down."""

    tampered: list[str]


def unpack(raw: bytes, report: Tampered) -> dict[str, bytes]:
    """The files of a stored zip, read one local header after the other."""
    files: list[tuple[str, bytes]] = []
    at = 0
    while raw[at : at + 4] == b"PK\x03\x04" and len(raw) >= at + 30:
        crc, _, size, name_size = struct.unpack("<IIIH", raw[at + 14 : at + 28])
        data = at + 30 + name_size
        name = raw[at + 30 : data].decode("utf-8", "replace")
        files.append((name, raw[data : data + size]))
        if zlib.crc32(files[-1][1]) != crc:
            report.tampered.append(f"{name}: the bytes are not those that were exported.")
        at = data + size
    names = [name for name, _ in files]
    if len(set(names)) != len(names):
        report.tampered.append("The zip holds two files of one name.")
    if pack(files) != raw:
        report.tampered.append("The zip is not byte for byte the one exported. If it was repacked, unpack it and check the folder.")
    return dict(files)


def pack(files: list[tuple[str, bytes]]) -> bytes:
    """The one zip that an export of these files gives."""
    body, directory = bytearray(), bytearray()
    for name, data in files:
        encoded = name.encode()
        common = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 0x21, zlib.crc32(data), len(data), len(data), len(encoded), 0)
        directory += b"PK\x01\x02\x14\x03" + common + struct.pack("<HHHII", 0, 0, 0, 0o100644 << 16, len(body)) + encoded
        body += b"PK\x03\x04" + common + encoded + data
    counts = struct.pack("<HHHHIIH", 0, 0, len(files) & 0xFFFF, len(files) & 0xFFFF, len(directory), len(body), 0)
    return bytes(body + directory) + b"PK\x05\x06" + counts


def read_folder(folder: Path) -> dict[str, bytes]:
    """The files of an unpacked bundle; whatever else lies beside them is not looked at."""
    paths = [folder / name for name in FILES] + sorted(folder.glob("checkpoints/*")) + sorted(folder.glob("blobs/*"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if path.is_file()}
