"""`lsscsi` in whatever columns were asked for: one line for each SCSI device and path, one for each host with -H.

Columns are recognised by what they look like, never by the options: versions differ in what an option prints. The agent asks
for `-i -g -s`. Its size is rounded: it is text here, never compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from agents.collectors._lines import torn_end
from agents.collectors.base import Capture, Unparsed, ask
from agents.host.host import Host

NAME = "lsscsi"
EVERY_SECONDS = 60
ARGV = ("lsscsi", "-i", "-g", "-s")
TIMEOUT_SECONDS = 20


@dataclass(frozen=True)
class ScsiDevice:
    """One device. A field is None where a dash or nothing is printed, and empty where that column set has no such column."""

    hctl: str
    type: str  # "disk", "enclosu", ...
    vendor: str
    model: str
    rev: str
    node: str | None  # "/dev/sda"
    scsi_id: str | None  # -i: "35000c500a65b200b": a designator type, then the name
    sg: str | None  # "/dev/sg0"
    size_text: str | None
    transport: str | None = None  # -t: "sas:0x5000c500a65b2009", the address of a target port, which is not the disk's name
    lu_name: str | None = None  # -u, -U: the LU name without its designator type; short forms end in "_"
    wwn: str | None = None  # -w: "0x5000c500a65b200b"; some versions print 0
    folder: str | None = None  # -v: where sysfs keeps it
    attributes: tuple[tuple[str, str], ...] = ()  # -l: ("state", "running"), ("queue_depth", "64"), ...


@dataclass(frozen=True)
class ScsiHost:
    """One line of -H."""

    number: int
    driver: str


def collect(host: Host) -> tuple[Capture, ...]:
    return (ask(host, NAME, ARGV, TIMEOUT_SECONDS),)


_START = r"\[([0-9]+:[0-9]+:[0-9]+:[0-9]+)\] +(\S+) +"
_END = r"(?:(0x[0-9a-f]+|0) +)?(/dev/\S+|-)((?: [\s\S]*)?)"
_ONE = r"()(?:((?:sas|spi|fc|iscsi|ata|sata|usb|srp|pcie|sbp|fcoe):\S*|[0-9a-f]{16,32}_?|(?:naa|eui|t10|uuid)\.\S+)() +)?"
_WORDS = r"(\S+(?: +\S+)*?)"
_FORMS = (
    re.compile(_START + r"(\S.{7}) (\S.{15}) (.{4})  " + _END),  # as printed: fixed widths, blanks within
    re.compile(_START + _ONE + _END),  # -t, -u, -U: one word in the place of vendor, model and revision
    re.compile(_START + r"(\S+) +" + _WORDS + r" +(\S+) +" + _END),  # pasted, blanks squeezed
    re.compile(r"\[(N:[0-9]+:[0-9]+:[0-9]+)\] +(\S+) +()" + _WORDS + r"() +" + _END),  # model and serial in one
)
_NO_NVME = "NVMe module may not be loaded"  # -v says so among the devices
_HOST = re.compile(r"\[([0-9]{1,6})\] +(\S(?:.*[^ \n])?) *")
_FOLDER = re.compile(r" +dir: \S+ +\[(/.*)\] *")
_REST_OF_FOLDER = re.compile(r" *(?:dir: \S+|\[/sys/\S+|[0-9a-z:/]{1,80}\]) *")  # where mail wrapped it
_ATTRIBUTES = re.compile(r" +\w+=\S*(?: +\w+=\S*)* *")


def parse(text: str) -> tuple[ScsiDevice | ScsiHost, ...] | Unparsed:
    """Every device in `text`, or the first line that made no sense. Never raises."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    devices: list[ScsiDevice | ScsiHost] = []
    for line in (line for line in text.split("\n") if line and line != _NO_NVME):
        last = devices[-1] if devices else None
        more = _more(last, line) if isinstance(last, ScsiDevice) else None
        if more is not None:
            devices[-1] = more
            continue
        device = _host(line) or _device(line)
        if device is None:
            return Unparsed("a line of lsscsi cannot be read", line)
        devices.append(device)
    return tuple(devices)


def _more(device: ScsiDevice, line: str) -> ScsiDevice | None:
    """What an indented line adds to the device above it."""
    folder = _FOLDER.fullmatch(line)
    if folder:
        return replace(device, folder=folder.group(1))
    if _REST_OF_FOLDER.fullmatch(line):
        return device
    if _ATTRIBUTES.fullmatch(line):
        pairs = (word.partition("=") for word in line.split())
        return replace(device, attributes=device.attributes + tuple((name, value) for name, _, value in pairs))
    return None


def _host(line: str) -> ScsiHost | None:
    found = _HOST.fullmatch(line)
    return ScsiHost(int(found.group(1)), found.group(2)) if found else None


def _device(line: str) -> ScsiDevice | None:
    found = next(filter(None, (form.fullmatch(line) for form in _FORMS)), None) or _FORMS[0].fullmatch(
        f"{line.rstrip()}  -"
    )  # it has no node
    columns = _columns(found.group(8).split()) if found else None
    if found is None or columns is None:
        return None
    hctl, kind, vendor, model, rev, wwn, node = ((part or "").strip() for part in found.groups()[:7])
    device = ScsiDevice(hctl, kind, vendor, model, rev, _value_or_none(node), *columns, wwn=wwn if wwn not in ("", "0") else None)
    if found.re is not _FORMS[1]:
        return device
    return replace(device, model="", transport=model) if ":" in model else replace(device, model="", lu_name=model or None)


def _columns(words: list[str]) -> tuple[str | None, str | None, str | None] | None:
    """What follows the node: id, sg and size in this order, each there only if it was asked for."""
    if len(words) > 3:
        return None
    size = _value_or_none(words.pop()) if words and (len(words) == 3 or re.fullmatch(r"[0-9.]+[kKMGTPE]?i?B", words[-1])) else None
    sg = _value_or_none(words.pop()) if words and (len(words) == 2 or words[-1].startswith("/dev/sg")) else None
    return (_value_or_none(words[0]) if words else None), sg, size


def _value_or_none(word: str) -> str | None:
    return None if word == "-" else word
