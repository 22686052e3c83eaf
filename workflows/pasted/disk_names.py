"""`ls -l /dev/disk/by-*`: which kernel name each stable name leads to at this moment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from agents.domain.wwid import normalise, scheme, strip_partition
from workflows.pasted.base import Reader, Sight, refused, serial_in, unread

FOLDER = "/dev/disk/by-"


@dataclass(frozen=True)
class Link:
    folder: str  # "by-id", "by-path", "by-vdev", "by-partuuid"; "" when the text does not say
    name: str
    target: str  # "sda", "sda1", "dm-3"
    line: str


@dataclass(frozen=True)
class Links:
    links: tuple[Link, ...]
    unread: tuple[str, ...] = ()


_TARGET = re.compile(r"(?:\.\./\.\./|/dev/)((?:mapper/)?[\w.-]+)")
_FOLDER = re.compile(r"/dev/disk/(by-[a-z]+)/?:$")
_OF_ID = re.compile(r"(?:wwn|ata|scsi|nvme|usb|dm-uuid|dm-name|md-|lvm-pv|google|virtio)-")
_OF_PATH = re.compile(r"(?:pci|platform|ip|virtio-pci|fc|sas)-")


def parse(lines: Sequence[str]) -> Links | Unparsed:
    folder, found, stray = "", [], []
    for line in filter(str.strip, lines):
        heading, link = _FOLDER.match(line.strip()), _link(line, folder)
        if heading:
            folder = heading.group(1)
        elif link:
            found.append(link)
        elif not re.match(r"(?:total|insgesamt|итого|合計) [0-9]|d[rwx-]{9}", line.strip()):
            stray.append(line)
    return Links(tuple(found), tuple(stray)) if found else refused("ls -l /dev/disk", (stray or [""])[0])


def _link(line: str, folder: str) -> Link | None:
    """The last word before the arrow is the link; what stands before that are mode, owner and date in some language."""
    left, arrow, right = line.strip().partition(" -> ")
    words, target = left.split(), _TARGET.fullmatch(right.strip())
    if not arrow or not words or target is None:
        return None
    place, _, name = words[-1].rpartition("/")
    return Link(place.rpartition("/")[2] or folder or _folder(name), name, target.group(1), line)


def _folder(name: str) -> str:
    return "by-id" if _OF_ID.match(name) else "by-path" if _OF_PATH.match(name) else ""


def links(value: Links) -> tuple[tuple[str, str], ...]:
    """(link, kernel name), as the source disk_links has them."""
    return tuple((f"/dev/disk/by-id/{link.name}", link.target) for link in value.links if link.folder == "by-id")


def sights(value: Links) -> tuple[Sight, ...]:
    """Each whole disk with the identity its links give it: the WWN first, else vendor and serial."""
    names: dict[str, list[str]] = {}
    for link in value.links:
        if link.folder == "by-id" and strip_partition(link.target)[1] is None and re.match(r"(?:sd|nvme|hd)", link.target):
            wwid = normalise(link.name)
            if wwid is not None:
                names.setdefault(link.target, []).append(wwid)
    return tuple(Sight(name, _best(wwids), _serial(wwids)) for name, wwids in names.items())


_SURE_FIRST = ("naa", "eui", "uuid", "t10", "ata", "nvme", "ser")  # schemes that links of Linux give


def _best(wwids: Sequence[str]) -> str:
    return min(wwids, key=lambda wwid: _SURE_FIRST.index(scheme(wwid)) if scheme(wwid) in _SURE_FIRST else len(_SURE_FIRST))


def _serial(wwids: Sequence[str]) -> str | None:
    return next(filter(None, map(serial_in, wwids)), None)


def notes(value: Links) -> tuple[str, ...]:
    return (*unread(value.unread), "These links name disks; they say nothing of their health.")


READER = Reader(
    name="disk_names",
    first=r"l[rwx-]{9}\S? .* -> \.\./\.\./[\w.-]+$|/dev/disk/by-[a-z]+/?:$|(?:/dev/disk/by-[a-z]+/)\S+ -> |(?:wwn|ata|scsi|nvme)-\S+ -> \.\./\.\./",
    tools=("ls",),
    asks=lambda tool, rest: any(word.startswith("/dev/disk") for word in rest) and any(re.match(r"-\w*l|--format=long", w) for w in rest),
    goes_on=r"l[rwx-]{9}|/dev/disk/by-|total [0-9]|\S+ -> ",
    parse=parse,
    notes=notes,
    sights=sights,
    links=links,
    again="ls -l /dev/disk/by-id",
)
