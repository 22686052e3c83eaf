"""`lsscsi -i -g -s`: one line for each SCSI device and path. Its size is rounded: it is text here, never compared."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors._lines import torn_end
from agents.collectors.base import Capture, Unparsed, ask
from agents.host import Host

NAME = "lsscsi"
EVERY_SECONDS = 60
ARGV = ("lsscsi", "-i", "-g", "-s")
TIMEOUT_SECONDS = 20


@dataclass(frozen=True)
class ScsiDevice:
    """One line. `node`, `scsi_id`, `sg` and `size_text` are None where it prints a dash or nothing."""

    hctl: str
    type: str  # "disk", "enclosu", ...
    vendor: str
    model: str
    rev: str
    node: str | None  # "/dev/sda"
    scsi_id: str | None  # "35000c500a65b200b": a designator type, then the name
    sg: str | None  # "/dev/sg0"
    size_text: str | None


def collect(host: Host) -> tuple[Capture, ...]:
    return (ask(host, NAME, ARGV, TIMEOUT_SECONDS),)


_START = r"\[([0-9]+:[0-9]+:[0-9]+:[0-9]+)\] +(\S+) +"
_END = r"(?:(?:0x[0-9a-f]+|0) +)?(/dev/\S+|-)((?: +\S+)*) *"
_FORMS = (
    re.compile(_START + r"(.{8}) (.{16}) (.{4})  " + _END),  # as printed: fixed widths, blanks within
    re.compile(_START + r"(\S+) +(\S.*?) +(\S+) +" + _END),  # pasted, blanks squeezed
    re.compile(r"\[(N:[0-9]+:[0-9]+:[0-9]+)\] +(\S+) +()(\S.*?)() +" + _END),  # model and serial in one
)


def parse(text: str) -> tuple[ScsiDevice, ...] | Unparsed:
    """Every device in `text`, or the first line that made no sense. Never raises."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    devices = []
    for line in filter(None, text.split("\n")):
        found = next(filter(None, (form.fullmatch(line) for form in _FORMS)), None)
        columns = _columns(found.group(7).split()) if found else None
        if found is None or columns is None:
            return Unparsed("a line of lsscsi cannot be read", line)
        hctl, kind, vendor, model, rev, node = (part.strip() for part in found.groups()[:6])
        devices.append(ScsiDevice(hctl, kind, vendor, model, rev, _said(node), *columns))
    return tuple(devices)


def _columns(words: list[str]) -> tuple[str | None, str | None, str | None] | None:
    """What follows the node: id, sg and size in this order, each there only if it was asked for."""
    if len(words) > 3:
        return None
    size = _said(words.pop()) if words and (len(words) == 3 or re.fullmatch(r"[0-9.]+[kKMGTPE]?i?B", words[-1])) else None
    sg = _said(words.pop()) if words and (len(words) == 2 or words[-1].startswith("/dev/sg")) else None
    return (_said(words[0]) if words else None), sg, size


def _said(word: str) -> str | None:
    return None if word == "-" else word
