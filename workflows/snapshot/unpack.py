"""Takes out of an archive the files that are read here, and nothing else. The archive is streamed: no more of it is held than what is taken.

Whoever sends it may have made it to do harm. So its size, its entries, their depth and the length of their names have limits, nothing is
written to a disk, no link is followed, and what points out of the archive makes the whole of it refused.
"""

import bz2
import io
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Final, Protocol

MIB: Final = 1024 * 1024
UNPACKED_BYTES_MAX = 768 * MIB
TAKEN_BYTES_MAX = 48 * MIB
TAKEN_MAX = 4000
FILE_BYTES_MAX = 24 * MIB
ENTRIES_MAX = 50_000
DEPTH_MAX = 24
NAME_MAX = 1024
NOISE_BYTES_MAX = 256 * 1024  # what a login shell may print before the archive
XZ_MEMORY_MAX = 96 * MIB
_CHUNK = 256 * 1024
_MARK = re.compile(rb"(?:\A|\n)slotlight-collect-archive ([0-9]{1,9}) ([0-9]{1,12})\n")
_END_OF_ZIP, _END_BYTES, _ZIP_ENTRY_BYTES = b"PK\x05\x06", 22, 46

Wanted = Callable[[str, int], bool]  # (name, bytes) -> whether it is to be taken


class Refused(ValueError):
    """The archive is not taken. The text says why, and what to do; nothing of it was kept."""


@dataclass(frozen=True)
class Entry:
    """One file that was taken, under its name in the archive."""

    name: str
    data: bytes
    at: int  # when it was changed last, as the archive says; 0 where the archive does not say


@dataclass
class Unpacked:
    entries: list[Entry] = field(default_factory=list)
    others: int = 0  # files that are not read here and were dropped
    links: int = 0  # links that stay within the archive; they are not followed
    is_archive: bool = True

    @property
    def oldest(self) -> int:
        """When the oldest file was changed that was taken; 0 where one of them has no time."""
        return min((one.at for one in self.entries), default=0)


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    def decompress(self, data: bytes, /, max_length: int = ...) -> bytes: ...


def body_of(data: bytes) -> bytes:
    """The archive without what a login shell printed around it. Raises Refused where some of it is missing."""
    found = _MARK.search(data, 0, NOISE_BYTES_MAX)
    if found is None:
        return data
    body = data[found.end() : found.end() + int(found.group(2))]
    if len(body) < int(found.group(2)):
        raise Refused(
            f"The archive was cut short: {len(body)} of {int(found.group(2))} bytes came. The connection broke, or the host's disk was full."
            " Collect it again."
        )
    return body


def unpack(data: bytes, wanted: Wanted, *, strict: bool) -> Unpacked:
    """The files that `wanted` names. With `strict` a link of any kind is refused, else those within the archive are counted and left out.
    Raises Refused."""
    if data[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return _zip(data, wanted)
    stream = _Stream(_pieces(data))
    head = stream.peek(tarfile.BLOCKSIZE)
    if len(head) < tarfile.BLOCKSIZE or head[257:262] != b"ustar":
        return _single(stream)
    return _tar(stream, wanted, strict)


def _pieces(data: bytes) -> Iterator[bytes]:
    """The bytes behind the compression, a piece at a time."""
    if data[:2] == b"\x1f\x8b":
        return _gzip(data)
    if data[:6] == b"\xfd7zXZ\x00":
        return _through(data, lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY_MAX), "xz")
    if data[:3] == b"BZh":
        return _through(data, bz2.BZ2Decompressor(), "bzip2")
    if data[:4] == b"\x28\xb5\x2f\xfd":
        raise Refused("The archive is packed with zstd, which is not read here. Unpack it, and pack it again with gzip or xz.")
    return iter((data,))


def _gzip(data: bytes) -> Iterator[bytes]:
    made = zlib.decompressobj(16 + zlib.MAX_WBITS)
    rest = data
    try:
        while not made.eof:
            piece = made.decompress(rest, _CHUNK)
            rest = made.unconsumed_tail
            if not piece and not rest and not made.eof:
                raise Refused(CUT)
            yield piece
    except zlib.error as wrong:
        raise Refused(f"The archive is damaged: {wrong}. Collect or send it again.") from None


def _through(data: bytes, made: _Decompressor, kind: str) -> Iterator[bytes]:
    fed = data
    try:
        while not made.eof:
            piece = made.decompress(fed, max_length=_CHUNK)
            fed = b""
            if not piece and made.needs_input and not made.eof:
                raise Refused(CUT)
            yield piece
    except (OSError, lzma.LZMAError, EOFError) as wrong:
        raise Refused(f"The archive is damaged ({kind}: {wrong}). Collect or send it again.") from None


CUT = "The archive was cut short: it ends in the middle. Nothing of it was kept. Collect or send it again."
TOO_BIG = f"Unpacked it has more than {UNPACKED_BYTES_MAX // MIB} MiB and was not read on. Send the outputs that matter alone."
TAKEN_TOO_BIG = (
    f"What is read here has more than {TAKEN_BYTES_MAX // MIB} MiB in it. Send the outputs of one host, and those of ZFS and disks alone."
)


class _Stream(io.RawIOBase):
    """What is read of the archive so far, within the limit of what it may be unpacked."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._held, self._read = pieces, bytearray(), 0

    def readable(self) -> bool:
        return True

    def peek(self, size: int) -> bytes:
        self._fill(size)
        return bytes(self._held[:size])

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            size = UNPACKED_BYTES_MAX + 1
        self._fill(size)
        found = bytes(self._held[:size])
        del self._held[:size]
        return found

    def _fill(self, size: int) -> None:
        if size > FILE_BYTES_MAX and size != UNPACKED_BYTES_MAX + 1:
            raise Refused("An entry of the archive declares a header or a file above the size limit. Nothing of it was kept.")
        while len(self._held) < size:
            piece = next(self._pieces, None)
            if piece is None:
                return
            self._read += len(piece)
            if self._read > UNPACKED_BYTES_MAX:
                raise Refused(TOO_BIG)
            self._held += piece


def _single(stream: _Stream) -> Unpacked:
    """A text alone, compressed or not."""
    data = stream.read(FILE_BYTES_MAX)
    if stream.peek(1):
        raise Refused(f"The text has more than {FILE_BYTES_MAX // MIB} MiB. Send the outputs of ZFS and disks alone.")
    return Unpacked([Entry("", data, 0)], is_archive=False)


def checked(name: str) -> str:
    """A name as it stands in the archive, without a leading "./". Raises Refused where it would lead out of it."""
    if len(name) > NAME_MAX:
        raise Refused(f"An entry has a name of {len(name)} characters; {NAME_MAX} are the most. Nothing of it was kept.")
    if name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:[\\/]", name):
        raise Refused(f"The entry {name[:80]!r} has an absolute name. Nothing of it was kept. Pack the folder itself: tar czf FILE FOLDER.")
    if any(ord(character) < 32 or ord(character) == 127 for character in name):
        raise Refused(f"The entry {name[:80]!r} has a control character in its name. Nothing of it was kept.")
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    if ".." in parts:
        raise Refused(f"The entry {name[:80]!r} leads out of the archive. Nothing of it was kept.")
    if len(parts) > DEPTH_MAX:
        raise Refused(f"An entry lies {len(parts)} folders deep; {DEPTH_MAX} are the most. Nothing of it was kept.")
    return "/".join(parts)


class _Taking:
    """What is taken, within the limits."""

    def __init__(self, wanted: Wanted) -> None:
        self.found, self._wanted = Unpacked(), wanted
        self._names: set[str] = set()
        self._count = self._bytes = 0

    def next(self) -> None:
        self._count += 1
        if self._count > ENTRIES_MAX:
            raise Refused(f"The archive has more than {ENTRIES_MAX} entries. Nothing of it was kept. Send the outputs that matter alone.")

    def takes(self, name: str, size: int) -> bool:
        if size > FILE_BYTES_MAX or not self._wanted(name, size):
            self.found.others += 1
            return False
        if name in self._names:
            raise Refused(f"The entry {name[:80]!r} is there twice, and which one counts is not known. Nothing of it was kept.")
        self._names.add(name)
        return True

    def take(self, name: str, data: bytes, at: int) -> None:
        self._bytes += len(data)
        if self._bytes > TAKEN_BYTES_MAX or len(self.found.entries) >= TAKEN_MAX:
            raise Refused(TAKEN_TOO_BIG)
        self.found.entries.append(Entry(name, data, max(0, at)))


class _TarFile(tarfile.TarFile):
    members: list[tarfile.TarInfo]  # the type stubs of the standard library leave it out


def _tar(stream: IO[bytes] | _Stream, wanted: Wanted, strict: bool) -> Unpacked:
    taking = _Taking(wanted)
    try:
        with _TarFile.open(fileobj=stream, mode="r|", errorlevel=1) as tar:
            for member in tar:
                taking.next()
                tar.members.clear()  # it keeps each of them otherwise
                _entry(tar, member, taking, strict)
    except (tarfile.TarError, EOFError, OverflowError, UnicodeError) as wrong:
        words = (
            CUT if "unexpected end" in str(wrong) else f"The archive is damaged: {wrong}. Nothing of it was kept. Collect or send it again."
        )
        raise Refused(words) from None
    return taking.found


def _entry(tar: tarfile.TarFile, member: tarfile.TarInfo, taking: _Taking, strict: bool) -> None:
    name = checked(member.name)
    if member.isdir():
        return
    if member.issym() or member.islnk():
        _link(name, member, taking, strict)
        return
    if not member.isreg() or member.issparse():
        raise Refused(f"The entry {name[:80]!r} is a device, a pipe or a file with holes, and no output. Nothing of it was kept.")
    if not taking.takes(name, member.size):
        return
    held = tar.extractfile(member)
    data = held.read() if held is not None else b""
    if len(data) != member.size:
        raise Refused(CUT)
    taking.take(name, data, int(member.mtime))


def _link(name: str, member: tarfile.TarInfo, taking: _Taking, strict: bool) -> None:
    target = member.linkname
    if strict or member.islnk():
        raise Refused(f"The entry {name[:80]!r} is a link to {target[:80]!r}. An archive of outputs has none. Nothing of it was kept.")
    taking.found.links += 1  # sosreport keeps the links of what it copies; none is followed


def _zip(data: bytes, wanted: Wanted) -> Unpacked:
    end = data.rfind(_END_OF_ZIP, max(0, len(data) - 65536 - _END_BYTES))
    if end < 0 or len(data) - end < _END_BYTES:
        raise Refused(CUT)
    if int.from_bytes(data[end + 12 : end + 16], "little") // _ZIP_ENTRY_BYTES > ENTRIES_MAX or data[end + 10 : end + 12] == b"\xff\xff":
        raise Refused(f"The archive has more than {ENTRIES_MAX} entries. Nothing of it was kept. Send the outputs that matter alone.")
    taking, unpacked = _Taking(wanted), 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for info in archive.infolist():
                taking.next()
                name = checked(info.filename)
                kind = stat.S_IFMT(info.external_attr >> 16)
                if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                    raise Refused(f"The entry {name[:80]!r} is a link or a device, and no output. Nothing of it was kept.")
                if info.flag_bits & 1:
                    raise Refused("The archive is locked with a password. Pack it without one.")
                if info.is_dir() or not taking.takes(name, info.file_size):
                    continue
                with archive.open(info) as file:
                    read = file.read(FILE_BYTES_MAX + 1)
                unpacked += len(read)
                if len(read) != info.file_size or unpacked > UNPACKED_BYTES_MAX:
                    raise Refused(TOO_BIG if unpacked > UNPACKED_BYTES_MAX else CUT)
                taking.take(name, read, 0)  # a zip has local times of a zone that it does not name
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, UnicodeError, RuntimeError) as wrong:
        raise Refused(f"The archive is damaged: {wrong}. Nothing of it was kept. Pack or send it again.") from None
    return taking.found
