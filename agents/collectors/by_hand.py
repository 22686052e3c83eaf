"""What people ran here by hand with a snippet of the portal: one folder for each showing of a plan, called by its nonce.

    begun   nonce, hostid, boot_id, at      written before the command runs
    ended   nonce, exit_code, at, output    written after it; `output` is the SHA-256 of what it printed
    output  what it printed; its beginning is kept

The folder lies in memory, so a reboot takes it along; on FreeBSD it is cleared at boot (/etc/rc.d/cleanvar), on illumos it is a tmpfs. It is only read here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors._lines import torn_end
from agents.collectors.base import Capture, Unparsed, decode
from agents.host.host import Host

NAME = "by_hand"
EVERY_SECONDS = 60
FOLDER = "/run/slotlight/by-hand"  # workflows/by_hand makes snippets that write there
WITHOUT_RUN = "/var/run/slotlight/by-hand"  # of FreeBSD and illumos, which have no /run; on Linux it is the same folder
MARKS_MAX = 64  # a node is not repaired more often than that between two boots
FILE_CHARS_MAX = 1024
OUTPUT_CHARS_MAX = 16 * 1024
NONCE = re.compile("[0-9a-f]{32}")
_FIELDS = {
    "begun": ("nonce", "hostid", "boot_id", "at"),
    "ended": ("nonce", "exit_code", "at", "output"),
}
_VALUES = {
    "hostid": re.compile("[0-9a-f]{8}"),
    "boot_id": re.compile("[0-9a-f-]{36}"),
    "at": re.compile("[0-9]{9,11}"),
    "exit_code": re.compile("[0-9]{1,3}"),
    "output": re.compile("[0-9a-f]{64}|"),  # empty where the node has no sha256sum
}
_NAMES = {("begun", "at"): "begun_at", ("ended", "at"): "ended_at", ("ended", "output"): "output_digest"}


@dataclass(frozen=True)
class Mark:
    """One command given by hand. None: it was not recorded, as where it has not ended."""

    nonce: str
    hostid: str | None = None
    boot_id: str | None = None
    begun_at: str | None = None  # Unix time, seconds, by the node's clock
    exit_code: str | None = None
    ended_at: str | None = None
    output_digest: str | None = None
    output: str = ""  # the beginning of what it printed


def collect(host: Host) -> tuple[Capture, ...]:
    there = host.list(f"{FOLDER}/*") or host.list(f"{WITHOUT_RUN}/*")
    folders = [path for path in there if NONCE.fullmatch(path.rsplit("/", 1)[1])]
    if not folders:
        return (Capture(NAME, "", "nothing", "", f"nothing was run by hand here: {FOLDER} holds nothing"),)
    if len(folders) > MARKS_MAX:
        return (Capture(NAME, "", "failed", "", f"{FOLDER} holds {len(folders)} folders; {MARKS_MAX} are read at most"),)
    return (Capture(NAME, "", "data", "".join(line + "\n" for path in folders for line in _lines(host, path))),)


def _lines(host: Host, folder: str) -> list[str]:
    """`NONCE/FILE:line`, for each line of each file that can be read."""
    nonce = folder.rsplit("/", 1)[1]
    lines = [f"{nonce}/:"]
    for name, most in (("begun", FILE_CHARS_MAX), ("ended", FILE_CHARS_MAX), ("output", OUTPUT_CHARS_MAX)):
        try:
            text = decode(host.read(f"{folder}/{name}"))[:most]
        except OSError:
            continue
        lines += [f"{nonce}/{name}:{line}" for line in text.rstrip("\n").split("\n")]
    return lines


def parse(text: str) -> tuple[Mark, ...] | Unparsed:
    """Every command that was given by hand, or the first line that made no sense. Never raises."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    found: dict[str, dict[str, str]] = {}
    for line in text.split("\n")[:-1]:
        where, _, value = line.partition(":")
        nonce, _, name = where.partition("/")
        if NONCE.fullmatch(nonce) is None or name not in ("", "output", *_FIELDS):
            return Unparsed("a line about what was run by hand cannot be read", line)
        mark = found.setdefault(nonce, {})
        if name == "output":
            mark["output"] = f"{mark['output']}\n{value}" if "output" in mark else value
        elif name and not _take(mark, nonce, name, value):
            return Unparsed("a line about what was run by hand cannot be read", line)
    return tuple(Mark(nonce, **fields) for nonce, fields in found.items())


def _take(mark: dict[str, str], nonce: str, name: str, line: str) -> bool:
    """Keep one field; whether the line holds one, once, and is about this nonce."""
    field, _, value = line.partition(" ")
    kept = _NAMES.get((name, field), field)
    if field not in _FIELDS[name] or kept in mark:
        return False
    if field == "nonce":
        return value == nonce
    mark[kept] = value
    return _VALUES[field].fullmatch(value) is not None
