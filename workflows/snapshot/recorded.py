"""An archive of `slotlight-collect` as a host: the agent's own collectors read it as they read a node.

So script and agent cannot ask different things unseen: what a collector asks and the archive does not answer was "not asked", which
makes the source fail with that reason, and never "there is nothing".
"""

import errno
import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from agents.collectors import _listed
from agents.domain.listed_disks import device_of
from agents.domain.wwid import device_path, strip_partition
from agents.host.host import Agrees, Ran, Region
from agents.host.running_commands import IMPORT

VERSION: Final = "1"
MANIFEST, ANSWERS, FILES = PARTS = ("slotlight-collect/manifest", "slotlight-collect/answers", "slotlight-collect/files")
ASKED_MAX = 20_000  # ten of each of 400 disks with two paths each, with room
LINE_MAX = 4096
ENDS: Mapping[str, str] = {  # how a question ended -> what a collector is given as its end
    "answered": "",
    "no-right": "",
    "no-tool": "not found",
    "late": "timeout",
    "stuck": "stuck",
    "too-much": "",
    "held": "not asked, because another zpool command had not answered",
    "no-time": "not asked, because the time for the whole collection was over",
    "busy": "not asked, because another `zpool import` was at work",
}
UNREAD: Mapping[str, str] = {"late": "the kernel did not answer in time", "no-time": "the time for the whole collection was over"}
NOT_ASKED = "not asked by slotlight-collect"
WITHOUT_LINKS = ("FreeBSD", "SunOS")  # as `uname -s` says it: there the system's own tools say what a path is a name of
ASLEEP_BY_HDPARM = "Device is in STANDBY mode, by hdparm -C; smartctl is not installed\n"
_ABOUT = ("host", "hostid", "boot_id", "system", "uid", "began", "ended")
_NUMBER = re.compile(r"[0-9]{1,12}")
_CODE = re.compile(r"-|[0-9]{1,3}")
Names = list[str]  # a host has a method of that name
_MAGIC = re.compile(r"[*?[]")


class NotAnArchive(ValueError):
    """It is not what `slotlight-collect` writes, or it is damaged. The text says how."""


class NotCollected(OSError):
    """The kernel did not answer while this was collected, so nothing is known of it."""


@dataclass(frozen=True)
class Asked:
    """One question of the script."""

    argv: tuple[str, ...]
    end: str  # a key of ENDS
    exit_code: int | None
    seconds: int
    limit: int
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True)
class Recording:
    """Everything that one archive holds."""

    about: Mapping[str, str]  # "host", "hostid", "boot_id", "system", "uid", "began", "ended"
    asked: Mapping[tuple[str, ...], Asked]
    texts: Mapping[str, bytes]
    links: Mapping[str, str]
    paths: frozenset[str]  # all that was there, what could not be read as well
    unread: tuple[tuple[str, str], ...] = ()  # (what the path begins with, why): the kernel did not answer there
    asleep: frozenset[str] = frozenset()
    closed: frozenset[str] = field(default_factory=frozenset)  # files that could not be read

    @property
    def was_root(self) -> bool:
        return self.about["uid"] == "0"


def read(parts: Mapping[str, bytes]) -> Recording:
    """What the three files of an archive say together. Raises NotAnArchive."""
    missing = [name for name in PARTS if name not in parts]
    if missing:
        raise NotAnArchive(f"{', '.join(missing)} is missing: the archive was cut short, or it is none of slotlight-collect.")
    lines = _lines(parts[MANIFEST])
    about, rest = _head(lines)
    asked, unread, asleep = _asked(rest, parts)
    texts, links, paths, closed = _files(_lines(parts[FILES]))
    return Recording(about, asked, texts, links, frozenset(paths), tuple(unread), frozenset(asleep), frozenset(closed))


def _lines(data: bytes) -> list[str]:
    text = data.decode("utf-8", "backslashreplace")
    if text and not text.endswith("\n"):
        raise NotAnArchive("A file of the archive ends in the middle of a line: it was cut short.")
    return text.split("\n")[:-1]


def _head(lines: Sequence[str]) -> tuple[dict[str, str], Sequence[str]]:
    first = lines[0].split("\t") if lines else []
    if len(first) != 2 or first[0] != "slotlight-collect":
        raise NotAnArchive("The manifest does not begin as slotlight-collect begins it.")
    if first[1] != VERSION:
        raise NotAnArchive(
            f"The archive has format {first[1][:20]!r}; this portal reads {VERSION!r}. Take slotlight-collect from this portal and run it again."
        )
    about: dict[str, str] = {}
    for name, line in zip(_ABOUT, lines[1:], strict=False):
        key, _, value = line.partition("\t")
        if key != name or len(value) > 255:
            raise NotAnArchive(f"The manifest says {line[:80]!r} where its {name} should be.")
        about[name] = value.strip()
    if len(about) < len(_ABOUT) or not all(_NUMBER.fullmatch(about[name]) for name in ("began", "ended")):
        raise NotAnArchive("The manifest does not say when it was taken, and of which host.")
    return about, lines[1 + len(_ABOUT) :]


def _asked(lines: Sequence[str], parts: Mapping[str, bytes]) -> tuple[dict[tuple[str, ...], Asked], list[tuple[str, str]], list[str]]:
    answers, at = parts[ANSWERS], 0
    found: dict[tuple[str, ...], Asked] = {}
    unread: list[tuple[str, str]] = []
    asleep: list[str] = []
    if len(lines) > ASKED_MAX:
        raise NotAnArchive(f"The manifest has {len(lines)} lines; {ASKED_MAX} are the most.")
    if not lines or lines[-1] != f"end\t{len(answers)}\t{len(parts[FILES])}":
        raise NotAnArchive("The manifest does not end with the sizes of the other files: the archive was cut short, or it was changed.")
    for line in lines[:-1]:
        kind, *words = line.split("\t")
        if kind == "ask":
            one = _question(words, answers, at)
            at += len(one.stdout) + len(one.stderr)
            found.setdefault(one.argv, one)
        elif kind == "unread" and len(words) == 2 and words[0] in UNREAD and words[1].startswith("/"):
            unread.append((words[1], UNREAD[words[0]]))
        elif kind == "asleep" and len(words) == 1:
            asleep.append(words[0])
        else:
            raise NotAnArchive(f"A line of the manifest cannot be read: {line[:80]!r}.")
    if at != len(answers):
        raise NotAnArchive(f"The manifest accounts for {at} of {len(answers)} bytes of output: the archive was changed.")
    return found, unread, asleep


def _question(words: Sequence[str], answers: bytes, at: int) -> Asked:
    if len(words) < 7 or words[0] not in ENDS or not _CODE.fullmatch(words[1]) or not all(map(_NUMBER.fullmatch, words[2:6])):
        raise NotAnArchive(f"A question of the manifest cannot be read: {' '.join(words)[:80]!r}.")
    end, code, seconds, limit, out, err = words[:6]
    split, stop = at + int(out), at + int(out) + int(err)
    if stop > len(answers):
        raise NotAnArchive("The manifest lists more output than the archive holds: it was cut short, or it was changed.")
    exit_code = None if code == "-" else int(code)
    return Asked(tuple(words[6:]), end, exit_code, int(seconds), int(limit), answers[at:split], answers[split:stop])


def _files(lines: Sequence[str]) -> tuple[dict[str, bytes], dict[str, str], set[str], set[str]]:
    found: dict[str, list[str]] = {}
    in_hex: set[str] = set()
    links: dict[str, str] = {}
    paths: set[str] = set()
    closed: set[str] = set()
    below: list[str] | None = None
    for line in lines:
        mark, rest = line[:1], line[1:]
        if mark == "|" and below is not None:
            below.append(rest)
            continue
        path, _, target = rest.partition("\t") if mark == "@" else (rest, "", "")
        if mark not in "=#@-!" or not path.startswith("/") or len(path) > LINE_MAX or (mark == "@" and not target.startswith("/")):
            raise NotAnArchive(f"A line about a file cannot be read: {line[:80]!r}.")
        paths.add(path)
        below = None
        if mark in "=#":
            below = found[path] = []
            in_hex |= {path} if mark == "#" else set()
        elif mark == "@":
            links[path] = target
        elif mark == "!":
            closed.add(path)
    texts = {path: _bytes(rows, path in in_hex) for path, rows in found.items() if path not in closed}
    return texts, links, paths, closed


def _bytes(rows: Sequence[str], in_hex: bool) -> bytes:
    if not in_hex:
        return "".join(f"{row}\n" for row in rows).encode()
    try:
        return bytes.fromhex(" ".join(rows))
    except ValueError:
        raise NotAnArchive("A file that should be in hex is not.") from None


class RecordedHost:
    """The host of an archive at the moment of its collection. It cannot be written to."""

    def __init__(self, recording: Recording) -> None:
        self._is = recording
        self._paths = recording.paths | {folder for path in recording.paths for folder in _above(path)}
        self._sorted = sorted(self._paths)
        self._below: dict[str, Names] = {}
        for path in self._sorted:
            self._below.setdefault(path.rpartition("/")[0], []).append(path.rpartition("/")[2])

    def seen_awake(self, disk: str) -> bool:
        """Whether it answered SMART, so that it need not be asked again."""
        asked = self._is.asked.get(("smartctl", "-j", "-x", "-n", "standby", device_path(disk)))
        return asked is not None and asked.exit_code is not None and disk not in self._is.asleep

    def left_behind(self) -> tuple[tuple[str, ...], ...]:
        """A `zpool import` that was at work then is not waited for now: the script did that."""
        return (IMPORT,)

    def run(self, argv: Sequence[str], timeout_seconds: float) -> Ran:
        asked = self._is.asked.get(tuple(argv))
        if argv[0] == "smartctl" and (asked is None or asked.end == "no-tool") and argv[-1] in map(device_path, self._is.asleep):
            return Ran(tuple(argv), 2, ASLEEP_BY_HDPARM.encode(), b"", 0.0)
        if asked is None:
            return Ran(tuple(argv), None, b"", b"", 0.0, NOT_ASKED)
        why = ENDS[asked.end]
        return Ran(
            asked.argv, None if why else asked.exit_code, asked.stdout, asked.stderr, float(asked.seconds), why, asked.end == "too-much"
        )

    def read(self, path: str) -> bytes:
        self._collected(path)
        if path in self._is.texts:
            return self._is.texts[path]
        raise OSError(errno.EACCES if path in self._is.closed else errno.ENOENT, "not in the archive", path)

    def read_device(self, path: str, regions: Sequence[Region]) -> bytes:
        raise OSError(errno.ENODEV, "an archive holds no devices", path)

    def erase(self, path: str, regions: Sequence[Region], agrees: Agrees) -> bytes:
        raise OSError(errno.EROFS, "an archive holds no devices", path)

    def write(self, path: str, data: bytes) -> None:
        raise OSError(errno.EROFS, "an archive cannot be written to", path)

    def list(self, pattern: str) -> tuple[str, ...]:
        magic = _MAGIC.search(pattern)
        self._collected(pattern[: magic.start()] if magic else pattern)
        if magic is None:
            return (pattern,) if pattern in self._paths else ()
        folders = [""]
        for part in pattern.split("/")[1:]:
            folders = [f"{folder}/{name}" for folder in folders for name in self._matching(folder, part)]
        return tuple(sorted(folders))

    def _matching(self, folder: str, part: str) -> Names:
        if not _MAGIC.search(part):
            return [part] if f"{folder}/{part}" in self._paths else []
        return [name for name in self._below.get(folder, ()) if fnmatch.fnmatchcase(name, part) and name[:1] != "."]

    def link(self, path: str) -> str:
        self._collected(path)
        if path in self._is.links:
            return self._is.links[path]
        if self._is.about["system"] in WITHOUT_LINKS and (device := device_of(_listed.disks_of(self), path)):
            return f"/dev/{device}"
        name = path.removeprefix("/dev/")
        if (
            path.startswith("/dev/")
            and "/" not in name
            and {f"/sys/block/{name}", f"/sys/block/{strip_partition(name)[0]}/{name}"} & self._paths
        ):
            return path  # a device node that is no link
        raise OSError(errno.ENOENT, "not in the archive", path)

    def now(self) -> float:
        return float(self._is.about["ended"])

    def _collected(self, path: str) -> None:
        for prefix, why in self._is.unread:
            if path.startswith(prefix):
                raise NotCollected(errno.ETIMEDOUT, why, prefix)


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(2, len(parts))]
