"""`zpool list` and `zpool list -v` as people ask for them. Sizes are rounded; CAP, FRAG and HEALTH are exact and are judged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted._rounded import about, percent
from workflows.pasted.base import Reader, Where, refused, unread

DEFAULT = ("NAME", "SIZE", "ALLOC", "FREE", "CKPOINT", "EXPANDSZ", "FRAG", "CAP", "DEDUP", "HEALTH", "ALTROOT")
WORDS = frozenset((*DEFAULT, "USED", "AVAIL", "READONLY", "GUID", "ASHIFT", "COMMENT", "VERSION", "BOOTFS", "LEAKED", "FREEING"))
TELLING = frozenset(("CAP", "HEALTH", "FRAG", "ALLOC", "FREE"))
SIZES = ("SIZE", "ALLOC", "FREE", "CKPOINT", "USED", "AVAIL")
SECTIONS = frozenset(("dedup", "special", "log", "logs", "cache", "spare", "spares", "indirect"))
GOOD = frozenset(("ONLINE", "-", "AVAIL", "INUSE", ""))
DOWN = frozenset(("FAULTED", "UNAVAIL", "REMOVED"))
ILL = frozenset(("DEGRADED", "OFFLINE", "SPLIT"))
FILL = ((95, "act"), (90, "watch"), (80, "info"))  # percent; what each means is in `_fills`


@dataclass(frozen=True)
class Space:
    """One row. None where a dash is printed or the column is not there. Sizes are text: they are rounded."""

    name: str
    size: str | None
    free: str | None
    capacity_percent: float | None
    fragmentation_percent: float | None
    health: str | None
    checkpoint: str | None
    section: str  # "special", "logs", "cache", "spare"; "" for data
    line: str


@dataclass(frozen=True)
class Pool:
    space: Space
    vdevs: tuple[Space, ...]


@dataclass(frozen=True)
class Pools:
    pools: tuple[Pool, ...]
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Pools | Unparsed:
    """Every pool with its rows, and the rows that do not fit; none below a heading alone. Unparsed without either."""
    heading, section, seen = list(DEFAULT), "", False
    pools: list[tuple[Space, list[Space]]] = []
    stray: list[str] = []
    for line in filter(str.strip, lines):
        words = line.split()
        if words[0] == "NAME":
            known = set(words) <= WORDS
            heading = words if known else []  # of another tool, whose rows follow without a gap
            seen = seen or known
            continue
        if words[0] in SECTIONS and set(words[1:]) <= {"-"}:
            section = words[0]
            continue
        is_vdev = line.startswith(" ") and bool(pools)
        space = _space(heading, words, section if is_vdev else "", line)
        if space is None:
            stray.append(line)
        elif is_vdev:
            pools[-1][1].append(space)
        else:
            section = ""
            pools.append((space, []))
    found = tuple(Pool(pool, tuple(vdevs)) for pool, vdevs in pools)
    return Pools(found, tuple(stray)) if found or seen else refused("zpool list", (stray or [""])[0])


def _space(heading: Sequence[str], words: Sequence[str], section: str, line: str) -> Space | None:
    """Cells stand in the order of the heading; the last ones of a vdev's row are left out by some releases."""
    said: Mapping[str, str] = dict(zip(heading, words, strict=False))
    if any(said.get(name, "-") != "-" and about(said[name]) is None for name in SIZES):
        return None
    cap, frag = said.get("CAP", "-"), said.get("FRAG", "-")
    if (
        not heading
        or len(words) < 2
        or len(words) > len(heading)
        or (cap != "-" and percent(cap) is None)
        or (frag != "-" and percent(frag) is None)
    ):
        return None
    health = said.get("HEALTH")
    if health is not None and not re.fullmatch(r"[A-Z]+|-", health):
        return None
    size, free, checkpoint = (_told(said.get(name)) for name in ("SIZE", "FREE", "CKPOINT"))
    return Space(words[0], size, free or _told(said.get("AVAIL")), percent(cap), percent(frag), health, checkpoint, section, line)


def _told(text: str | None) -> str | None:
    return None if text in (None, "-") else text


def situations(value: Pools, where: Where) -> tuple[Situation, ...]:
    return tuple(found for pool in value.pools for found in (*_fills(pool, where), *_states(pool, where), *_holds(pool, where)))


def _fills(pool: Pool, where: Where) -> Iterator[Situation]:
    full = pool.space.capacity_percent
    severity = next((severity for least, severity in FILL if full is not None and full >= least), None)
    if severity is None:
        return
    free = f" {pool.space.free} are free." if pool.space.free else ""
    frag = f" Its free space is fragmented to {pool.space.fragmentation_percent:g} %." if pool.space.fragmentation_percent else ""
    yield Situation(
        "pool-filling", f"pool-filling:{where.node}:{pool.space.name}", where.node, severity,
        f"{pool.space.name} is {full:g} % full",
        f"Pool {pool.space.name} is {full:g} % full.{free}{frag} From about 80 % on ZFS takes longer to find space, and a resilver takes longer too; "
        "from about 95 % on it looks for the best fit in every region and writes get very slow; when it is full, writes fail, and a deletion may "
        "fail too because it must write first. Delete snapshots nobody needs (zfs list -t snapshot -o name,used -s used), or add a vdev of the "
        "same layout as the others.",
        where.evidence(pool.space.line),
        subject={"node": where.node, "pool": pool.space.name, "percent": f"{full:g}"},
    )  # fmt: skip


def _states(pool: Pool, where: Where) -> Iterator[Situation]:
    """What is not ONLINE, unless the tree of the pool was pasted as well, which tells more."""
    if _has_tree(pool.space.name, where):
        return
    health, name = pool.space.health or "", pool.space.name
    ill = [vdev for vdev in pool.vdevs if (vdev.health or "") not in GOOD]
    lines = (pool.space.line, *(vdev.line for vdev in ill))
    if health in DOWN:
        yield _state(
            "pool-down",
            name,
            f"{name} is {health}",
            where,
            lines,
            "Nothing of it can be read. Replace no disk for it before its tree was seen.",
            "act",
            True,
        )
    elif health == "SUSPENDED":
        yield _state(
            "pool-suspended",
            name,
            f"{name} is suspended",
            where,
            lines,
            "All I/O to it waits. Bring its disks back first; replace none.",
            "act",
            True,
        )
    elif health in ILL or (health in GOOD and ill):
        members = ", ".join(f"{vdev.name} ({vdev.health})" for vdev in ill[:8])
        said = f"Not ONLINE: {members}. " if members else ""
        yield _state(
            "vdev-degraded",
            name,
            f"{name}: {ill[0].name + ' is ' + str(ill[0].health) if ill else 'it is ' + health}",
            where,
            lines,
            said,
            "act",
            False,
        )
    elif health not in GOOD:
        yield _state("unexplained", name, f"{name}: the state {health} is not known here", where, lines, "", "act", False)


def _state(slug: str, pool: str, title: str, where: Where, lines: Sequence[str], said: str, severity: str, gate: bool) -> Situation:
    return Situation(
        slug, f"{slug}:{where.node}:{pool}", where.node, severity, title,
        f"{said}`zpool list` does not say why. Run `zpool status -P -p {pool}`: it names the member, its errors and what is under way.",
        where.evidence(*lines), subject={"node": where.node, "pool": pool}, gate=gate,
    )  # fmt: skip


def _holds(pool: Pool, where: Where) -> Iterator[Situation]:
    if pool.space.checkpoint is None or _has_tree(pool.space.name, where):
        return
    yield Situation(
        "checkpoint-held", f"checkpoint-held:{where.node}:{pool.space.name}", where.node, "info",
        f"{pool.space.name} holds a checkpoint of {pool.space.checkpoint}",
        f"Pool {pool.space.name} keeps a checkpoint. While it stands, freed space is not given back, and devices cannot be removed, attached "
        "or split off. When it is needed no more: zpool checkpoint -d.",
        where.evidence(pool.space.line),
        subject={"node": where.node, "pool": pool.space.name},
    )  # fmt: skip


def _has_tree(name: str, where: Where) -> bool:
    return where.facts is not None and any(pool.name == name for pool in where.facts.pools_read)


def notes(value: Pools) -> tuple[str, ...]:
    if not value.pools:
        return (*unread(value.unread), "It lists no pool.")
    return (*unread(value.unread), "Its sizes are rounded and are not compared; `zpool list -v -p -H` prints them exactly.")


def _is_heading(lines: Sequence[str], i: int) -> bool:
    words = set(lines[i].split())
    return words <= WORDS and bool(words & TELLING) and not words <= {"NAME", "AVAIL", "USED"}


READER = Reader(
    name="zpool_list_text",
    first=r"NAME +[A-Z][A-Z ]*$",
    confirm=_is_heading,
    tools=("zpool",),
    asks=lambda tool, rest: rest[:1] == ["list"] or tuple(rest[:1]) == ("list",),
    goes_on=r"NAME +[A-Z]|\S+ +[0-9.,]+[KMGTPE]? +[0-9.,]+[KMGTPE]? | {2}|(?:special|logs?|cache|spares?|dedup) ",
    parse=parse,
    situations=situations,
    notes=notes,
    again="zpool list -v",
)  # fmt: skip
