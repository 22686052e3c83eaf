"""Partition tables as `sfdisk --json` reads them, and which partition a member of a pool is on. Nothing here writes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

from agents.collectors.base import ask
from agents.host.host import Host
from agents.operations import _candidate
from agents.operations._candidate import Candidate
from agents.operations._tree import Member
from agents.operations.base import NONE, Unread

TIMEOUT_SECONDS = 20.0
NO_TABLE = "does not contain a recognized partition table"  # of sfdisk(8), with exit code 1
ESP = "C12A7328-F81F-11D2-BA4B-00A0C93EC93B"  # EFI system partition (UEFI specification, 5.3.3)
NUMBER_MAX = 128
SAME, YES = "same", "yes"
_NUMBER = re.compile(r"(?:-part|p)?([0-9]{1,3})")
_NAMED = re.compile(r"/dev/(?:disk/by-[a-z]+/.+-part|sd[a-z]+|nvme[0-9]+n[0-9]+p)([0-9]{1,3})")


@dataclass(frozen=True)
class Row:
    number: int
    start: int
    sectors: int
    kind: str
    uuid: str


@dataclass(frozen=True)
class Table:
    label: str
    id: str
    sector_bytes: Optional[int]
    rows: tuple[Row, ...]

    def text(self) -> str:
        rows = (f"{row.number} {row.start}+{row.sectors} {row.kind}" for row in self.rows)
        return f"{self.label}: {'; '.join(rows) or 'no partition'}"

    def row(self, number: int) -> Optional[Row]:
        return next((row for row in self.rows if row.number == number), None)

    def ids(self) -> frozenset[str]:
        return frozenset((self.id, *(row.uuid for row in self.rows)))


def copier(host: Host) -> str:
    """The tool that copies tables, with its version. Raises Unread."""
    capture = ask(host, "sgdisk", ("sgdisk", "--version"), TIMEOUT_SECONDS)
    if capture.outcome == "nothing":
        raise Unread("there is no sgdisk here to copy a partition table; install gdisk")
    if capture.outcome != "data" or not capture.text.strip():
        raise Unread(capture.reason or "sgdisk prints no version")
    return capture.text.strip()


def read(host: Host, device: str) -> Optional[Table]:
    """None of a disk that has no table. Raises Unread."""
    capture = ask(host, "sfdisk", ("sfdisk", "--json", device), TIMEOUT_SECONDS, data_exits=(0, 1))
    if capture.outcome == "nothing":
        raise Unread("there is no sfdisk here to read partition tables; install util-linux (Debian: the package fdisk)")
    if capture.outcome != "data":
        raise Unread(capture.reason)
    if capture.exit_code == 1:
        if NO_TABLE in capture.stderr:
            return None
        raise Unread(f"sfdisk cannot read the partition table of {device}: {capture.stderr.strip()[:200]!r}")
    found = parse(capture.text)
    if found is None:
        raise Unread(f"what sfdisk prints of {device} is not understood")
    return found


def parse(text: str) -> Optional[Table]:
    """None where a field is missing or is something else. Never raises."""
    try:
        table = json.loads(text)["partitiontable"]
        device, size = table["device"], table.get("sectorsize")
        if table["unit"] != "sectors" or not (size is None or isinstance(size, int)):
            return None
        rows = tuple(_row(device, each) for each in table.get("partitions", []))
        if len({row.number for row in rows}) != len(rows) or not isinstance(table["id"], str):
            return None
        return Table(str(table["label"]), table["id"], size, rows)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _row(device: str, row: Mapping[str, Any]) -> Row:
    """Raises ValueError."""
    node, start, sectors = row["node"], row["start"], row["size"]
    number = _NUMBER.fullmatch(node[len(device) :]) if node.startswith(device) else None
    if number is None or type(start) is not int or type(sectors) is not int or not isinstance(row.get("uuid", ""), str):
        raise ValueError(node)
    return Row(int(number.group(1)), start, sectors, str(row["type"]).upper(), row.get("uuid", ""))


def needed(host: Host, device: str) -> Table:
    """Raises Unread also where there is none."""
    found = read(host, device)
    if found is None:
        raise Unread(f"{device} has no partition table")
    return found


def compared(host: Host, source: Candidate, disk: Candidate) -> str:
    """SAME where both are a GPT with equal partitions and no id in common; else what differs. Raises Unread."""
    ours, theirs = needed(host, disk.by_id), needed(host, source.by_id)
    if ours.label != "gpt" or theirs.label != "gpt":
        return f"of the kind {ours.label}, and that of {source.wwid} {theirs.label}"
    if ours.rows == () or ours.text() != theirs.text():
        return f"{ours.text()}, and that of {source.wwid} is {theirs.text()}"
    if ours.ids() & theirs.ids():
        return f"a copy that still has the GUIDs of {source.wwid}"
    return SAME


def room(host: Host, source: Candidate, disk: Candidate) -> str:
    """YES where the new disk is not smaller and has sectors of the same size. Raises Unread."""
    sizes = [_candidate.same(one, "size_bytes") for one in (disk, source)]
    sectors = [_candidate.same(one, "logical_block_bytes") for one in (disk, source)]
    if not all(value.isdigit() for value in (*sizes, *sectors)):
        raise Unread(f"sizes and sectors of both disks are {', '.join((*sizes, *sectors))}")
    if sectors[0] != sectors[1]:
        return f"sectors of {sectors[0]} bytes, and {source.wwid} has {sectors[1]}: its partition table means other places there"
    if int(sizes[0]) < int(sizes[1]):
        return f"{sizes[0]} bytes, and {source.wwid} has {sizes[1]}"
    return YES


def contents(host: Host, device: str) -> str:
    """What `blkid -p` finds on one partition, or "none". Raises Unread."""
    capture = ask(host, "blkid", ("blkid", "-p", device), _candidate.BLKID_TIMEOUT_SECONDS, data_exits=(0, 2))
    if capture.outcome != "data":
        raise Unread(capture.reason)
    return _candidate.contents_in(capture.text)


def kind(table: Table) -> str:
    return table.label if table.label == "gpt" else f"{table.label}, which sgdisk would convert"


def partitions(candidate: Candidate) -> str:
    return ", ".join(part.name for disk in candidate.paths for part in disk.partitions) or NONE


def number_of(host: Host, member: Member) -> str:
    """The partition that a member is on: by where its name leads to now, else by the name. Raises Unread."""
    for name in (member.name, member.was or ""):
        try:
            kernel = host.link(name) if name.startswith("/dev/") else ""
        except OSError:
            kernel = ""
        if found := _NAMED.fullmatch(kernel) or _NAMED.fullmatch(name):
            return found.group(1)
    raise Unread(f"neither the name of {member.guid} nor the one it had says which partition of its disk it is or was")


def on(host: Host, members: tuple[Member, ...], disk: Candidate, number: str) -> Optional[Member]:
    """The member that is partition `number` of this disk."""
    names = {part.name for path in disk.paths for part in path.partitions if str(part.number) == number}
    for member in members:
        try:
            if member.name.startswith("/dev/") and host.link(member.name).rpartition("/")[2] in names:
                return member
        except OSError:
            continue
    return None
