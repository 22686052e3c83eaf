"""`geom disk list`, `gmultipath list` of FreeBSD: each disk with its size, lunid and serial number, each path with its state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from agents.domain.wwid import normalise
from workflows.engine.core import Situation
from workflows.pasted._sections import Section, sections
from workflows.pasted.base import Reader, Sight, Where, pairs, refused, whole

BAD = ("FAIL", "BROKEN", "DEGRADED")


@dataclass(frozen=True)
class Disk:
    """One geom. `state` is of a multipath device; `failed` are its paths that do not serve."""

    name: str
    wwid: str | None
    serial: str | None
    model: str | None
    size_bytes: int | None
    state: str | None
    failed: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Disks:
    disks: tuple[Disk, ...]


def parse(lines: Sequence[str]) -> Disks | Unparsed:
    rows: list[list[str]] = []
    for line in lines:
        if line.strip().startswith("Geom name:"):
            rows.append([])
        if rows:
            rows[-1].append(line.strip())
    found = tuple(_disk(each, next(sections(each, "Geom name:"))) for each in rows)
    return Disks(found) if found else refused("geom disk list", lines[0] if lines else "")


def _disk(rows: Sequence[str], section: Section) -> Disk:
    lunid, size = section.first("lunid"), (section.first("Mediasize") or "").split(" ")[0]
    failed = tuple(_failed(rows))
    state = section.first("State") if "Mode" in section.values and "UUID" in section.values else None
    wanted = [row for row in rows if row.startswith(("Geom name:", "State:"))]
    return Disk(
        section.values["Geom name"], normalise(f"0x{lunid}") if lunid else None, section.first("ident"), section.first("descr"),
        whole(size), state, failed, tuple(wanted[:3]),
    )  # fmt: skip


def _failed(rows: Sequence[str]) -> Iterator[str]:
    """The names of consumers whose own state is bad. Each consumer begins with "N. Name: da3"."""
    name, inside = "", False
    for row in rows:
        inside = inside or row.startswith("Consumers:")
        pair = pairs(row)
        if inside and ". Name:" in row:
            name = row.partition("Name:")[2].strip()
        elif inside and pair is not None and pair[0] == "State" and pair[1] in BAD:
            yield name


def sights(value: Disks) -> tuple[Sight, ...]:
    return tuple(Sight(each.name, each.wwid, each.serial, None, each.model) for each in value.disks if each.state is None)


def situations(value: Disks, where: Where) -> tuple[Situation, ...]:
    return tuple(_of(each, where) for each in value.disks if each.failed or (each.state or "") in BAD)


def _of(disk: Disk, where: Where) -> Situation:
    name = f"multipath/{disk.name}"
    lost = f"The path {', '.join(disk.failed)} has failed. " if disk.failed else ""
    return Situation(
        "path-lost", f"path-lost:{where.node}:{name}", where.node, "act",
        f"{name} is {disk.state}",
        f"{name} is {disk.state}. {lost}If the last path fails the disk is gone for ZFS. Look at the cable, HBA port and I/O module of the lost "
        "path, then `gmultipath restore`. The disk is not to be replaced while it answers by another path.",
        where.evidence(*disk.lines),
        subject={"node": where.node, "disk": name},
    )  # fmt: skip


def notes(value: Disks) -> tuple[str, ...]:
    return (f"{len(value.disks)} disks were read. The list says which disk is which, and nothing of their health.",)


READER = Reader(
    name="geom_list",
    first=r"Geom name: ",
    tools=("geom", "gmultipath", "gpart", "gmirror"),
    asks=lambda tool, rest: "list" in rest,
    parse=parse,
    situations=situations,
    notes=notes,
    sights=sights,
    again="geom disk list",
)
