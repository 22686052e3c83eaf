"""`zpool list` in every form: for people, -v, -H without a heading, -o, and JSON (-j). CAP, FRAG and HEALTH are judged; sizes may be rounded.

Where the tree of the same pool was pasted as well, that tells more, and is compared: a state that only one of the two has is the finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents.collectors import zpool_list
from agents.collectors.base import Unparsed
from workflows.analysis import pool_fate
from workflows.engine.core import Cure, Severity, Situation
from workflows.facts import PoolFacts, VdevFacts
from workflows.pasted._rounded import about, percent
from workflows.pasted.base import Reader, Where, document, refused, unread
from workflows.pasted.status_rows import INTERIOR

DEFAULT = ("NAME", "SIZE", "ALLOC", "FREE", "CKPOINT", "EXPANDSZ", "FRAG", "CAP", "DEDUP", "HEALTH", "ALTROOT")
# The headings of releases before 0.8, 0.6.4 and of the first ones, known by how many columns a row has where -H leaves the heading out.
WITHOUT_HEADING = {
    len(heading): heading
    for heading in (
        DEFAULT,
        tuple(name for name in DEFAULT if name != "CKPOINT"),
        tuple(name for name in DEFAULT if name not in ("CKPOINT", "EXPANDSZ", "FRAG")),
    )
}
OTHERS = (
    "USED AVAIL USABLE READONLY RDONLY GUID LOAD_GUID ASHIFT COMMENT COMPATIBILITY CACHEFILE VERSION BOOTFS LEAKED FREEING BCLONE_USED BCLONE_SAVED "
    "BCLONE_RATIO DEDUP_USED DEDUP_SAVED DDTSIZE DDTQUOTA DEDUPDITTO DEDUPCACHED LAST_SCRUBBED_TXG DELEGATION REPLACE LISTSNAPS EXPAND MULTIHOST "
    "FAILMODE AUTOTRIM MAXBLOCKSIZE MAXDNODESIZE TNAME"
)  # the other columns that -o can ask for: module/zcommon/zpool_prop.c
WORDS = frozenset((*DEFAULT, *OTHERS.split()))
HEADINGS = {  # property as -o names it -> its heading, where that is another word
    "allocated": "ALLOC", "alloc": "ALLOC", "capacity": "CAP", "dedupratio": "DEDUP", "expandsize": "EXPANDSZ", "fragmentation": "FRAG",
    "checkpoint": "CKPOINT", "available": "AVAIL", "readonly": "RDONLY", "autoexpand": "EXPAND", "autoreplace": "REPLACE", "listsnapshots": "LISTSNAPS",
}  # fmt: skip
TELLING = frozenset(("CAP", "HEALTH", "FRAG", "ALLOC", "FREE"))
SIZES = ("SIZE", "ALLOC", "FREE", "CKPOINT", "USED", "AVAIL")
SECTIONS = frozenset(("dedup", "special", "log", "logs", "cache", "spare", "spares", "indirect"))
GOOD = frozenset(("ONLINE", "-", "AVAIL", "INUSE", ""))
DOWN = frozenset(("FAULTED", "UNAVAIL", "REMOVED"))
ILL = frozenset(("DEGRADED", "OFFLINE", "SPLIT"))
TOOLS = {
    "zpool_get": "zpool get",
    "zpool_status_json": "zpool status -j",
    "zpool_status_guid": "zpool status -g",
}
NOT_NAMED = "a pool that is not named"
OF_POOL = "pool="  # before the pool that the command names, in a heading whose columns do not have it
FILL: tuple[tuple[int, Severity], ...] = ((95, "act"), (90, "watch"), (80, "info"))  # percent; what each means is in `_fills`


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
    first = next(filter(str.strip, lines), "")
    if first.lstrip().startswith("{"):
        return _of_json("\n".join(lines), first)
    if first.startswith(OF_POOL):
        return _of_named(lines)
    lines = _joined(lines)
    first = next(filter(str.strip, lines), "")
    heading, section, seen = _without_heading(first), "", False
    pools: list[tuple[Space, list[Space]]] = []
    stray: list[str] = []
    for line in filter(str.strip, lines):
        words = line.split()
        if words[0] == "NAME" or (not seen and words[0] in WORDS and set(words) <= WORDS):
            known = set(words) <= WORDS
            heading = words if known else []  # of another tool, whose rows follow without a gap
            seen = seen or known
            continue
        if words[0] in SECTIONS and set(words[1:]) <= {"-"}:
            section = words[0]
            continue
        if not pools and not seen and _VDEV_ALONE.match(line):
            pools.append((Space(NOT_NAMED, None, None, None, None, None, None, "", line), []))
        is_vdev = bool(pools) and (line.startswith(" ") or INTERIOR.match(words[0]) is not None)
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


def _of_named(lines: Sequence[str]) -> Pools | Unparsed:
    """What `zpool list -o health POOL` prints: one row, of the pool that the command names. More rows are of nobody knows which."""
    filled = [line for line in lines if line.strip()]
    of_pool, _, heading = filled[0].partition(" ")
    found = parse([line for line in (heading, *filled[1:]) if line])
    if isinstance(found, Unparsed) or len(found.pools) != 1 or found.pools[0].space.name != NOT_NAMED:
        return found
    (one,) = found.pools
    return replace(found, pools=(replace(one, space=replace(one.space, name=of_pool.removeprefix(OF_POOL))),))


_ENDS = frozenset(("CKPOINT", "EXPANDSZ", "FRAG", "CAP", "DEDUP", "HEALTH", "ALTROOT"))


def _joined(lines: Sequence[str]) -> Sequence[str]:
    """Each row in one line where a narrow terminal or a mail has cut the heading, and every row with it, in two."""
    filled = [line for line in lines if line.strip()]
    head = [line.split() for line in filled[:2]]
    if len(filled) < 4 or len(filled) % 2 or head[0][0] != "NAME" or not set(head[0]) <= WORDS or not set(head[1]) <= _ENDS & WORDS:
        return lines
    widths = [len(words) for words in head]
    pairs = [(filled[i], filled[i + 1]) for i in range(0, len(filled), 2)]
    if any([len(above.split()), len(below.split())] != widths for above, below in pairs):
        return lines
    return [f"{above.rstrip()}  {below.strip()}" for above, below in pairs]


def _without_heading(first: str) -> list[str]:
    """The columns of rows that -H prints: the default ones of the release that has so many. A vdev's row ends with its state."""
    of_vdev = 1 if _VDEV_ALONE.match(first) else 0
    return list(WITHOUT_HEADING.get(len(first.split()) + of_vdev, DEFAULT))


def _of_json(text: str, first: str) -> Pools | Unparsed:
    """`zpool list -j`, with and without -v."""
    try:
        listed = document(text)["pools"]
        pools = tuple(_pool_of_json(name, one) for name, one in listed.items())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Unparsed("the JSON of zpool list is not complete", first)
    return Pools(pools)


def _pool_of_json(name: str, one: Mapping[str, Any]) -> Pool:
    return Pool(_space_of_json(name, one), tuple(_vdevs_of_json(one)))


def _vdevs_of_json(one: Mapping[str, Any]) -> Iterator[Space]:
    """Every vdev below, however its release nests them."""
    for each in one.values():
        for name, vdev in each.items() if isinstance(each, dict) else ():
            if isinstance(vdev, dict) and "properties" in vdev:
                yield _space_of_json(name, vdev)
                yield from _vdevs_of_json(vdev)


def _space_of_json(name: str, one: Mapping[str, Any]) -> Space:
    """`state` and the property health are printed from one value; the worse counts where somebody has changed one of them."""
    values = {key: str(cell["value"]) for key, cell in one.get("properties", {}).items()}
    states = [state for state in (values.get("health"), one.get("state")) if state]
    health = next((state for state in states if state not in GOOD), states[0] if states else None)
    line = f'"name": "{name}"' if health is None else f'"value": "{health}"'
    return Space(
        name, _value_or_none(values.get("size")), _value_or_none(values.get("free")), percent(values.get("capacity", "-")), percent(values.get("fragmentation", "-")),
        health, _value_or_none(values.get("checkpoint")), "", line,
    )  # fmt: skip


def _space(heading: Sequence[str], words: Sequence[str], section: str, line: str) -> Space | None:
    """Cells stand in the order of the heading; the last ones of a vdev's row are left out by some releases."""
    fields: dict[str, str] = dict(zip(heading, words, strict=False))
    if "NAME" not in fields:
        fields["NAME"] = NOT_NAMED
    if any(fields.get(name, "-") != "-" and about(fields[name]) is None for name in SIZES):
        return None
    cap, frag = fields.get("CAP", "-"), fields.get("FRAG", "-")
    if (
        not heading
        or (len(words) < 2 and heading != ["HEALTH"])
        or len(words) > len(heading)
        or set(words) == {"-"}  # the release, or the right to ask, had no value for any column
        or (cap != "-" and percent(cap) is None)
        or (frag != "-" and percent(frag) is None)
    ):
        return None
    health = fields.get("HEALTH")
    if health is not None and not re.fullmatch(r"[A-Z]+|-", health):
        return None
    size, free, checkpoint = (_value_or_none(fields.get(name)) for name in ("SIZE", "FREE", "CKPOINT"))
    return Space(
        fields["NAME"], size, free or _value_or_none(fields.get("AVAIL")), percent(cap), percent(frag), health, checkpoint, section, line
    )


def _value_or_none(text: str | None) -> str | None:
    return None if text in (None, "-") else text


def situations(value: Pools, where: Where) -> tuple[Situation, ...]:
    return tuple(found for pool in value.pools for found in (*filled(pool, where), *_states(pool, where), *_holds(pool, where)))


def filled(pool: Pool, where: Where) -> Iterator[Situation]:
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
    """What is not ONLINE. Where the tree of the pool was pasted as well, that tells more, and only what contradicts it is raised."""
    tree = _tree(pool.space.name, where)
    if tree is not None:
        yield from _contradictions(pool, tree, where)
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
        text = f"Not ONLINE: {members}. " if members else ""
        slug, severity = _without_data(ill)
        yield _state(
            slug,
            name,
            f"{name}: {_worst(ill) if ill else 'it is ' + health}",
            where,
            lines,
            text,
            severity,
            False,
        )
    elif health not in GOOD:
        yield _state("unexplained", name, f"{name}: the state {health} is not known here", where, lines, "", "act", False)


def _without_data(ill: Sequence[Space]) -> tuple[str, Severity]:
    """Slug and severity: a log or a cache alone holds no data of the pool. A pool that is DEGRADED without a row that is has data at stake."""
    sections = {vdev.section.rstrip("s") for vdev in ill}
    if sections == {"log"}:
        return "log-device-lost", "watch"
    return ("cache-device-lost", "watch") if sections == {"cache"} else ("vdev-degraded", "act")


def _worst(ill: Sequence[Space]) -> str:
    """The first member that is down, before what only lost one."""
    vdev = next((each for each in ill if each.health in DOWN and not INTERIOR.match(each.name)), ill[0])
    return f"{vdev.name}{' of its ' + vdev.section if vdev.section else ''} is {vdev.health}"


def _contradictions(pool: Pool, tree: PoolFacts, where: Where) -> Iterator[Situation]:
    """What one of the two texts says of the pool or of a member, and the other does not."""
    health, state = pool.space.health or "", "SUSPENDED" if pool_fate.is_suspended(tree) else tree.state
    if health in ("", "-") or not state:
        return
    if health != state:
        yield _contradiction(pool.space, health, state, tree, where)
    shown = {vdev.name: vdev for vdev in _vdevs(tree)} | {vdev.short: vdev for vdev in _vdevs(tree)}
    for row in pool.vdevs:
        vdev = shown.get(row.name) or shown.get(row.name.rsplit("/", 1)[-1])
        if row.health and row.health not in GOOD and vdev is not None and vdev.state != row.health and health == state:
            yield _contradiction(row, row.health, vdev.state, tree, where)


def _vdevs(tree: PoolFacts) -> Iterator[VdevFacts]:
    for _, top in tree.tops_read:
        yield from top.walk()


def _contradiction(row: Space, health: str, state: str, tree: PoolFacts, where: Where) -> Situation:
    source = where.source.partition("/")[0]
    tool = TOOLS.get(source, "zpool list")
    pool, name = tree.name, row.name if row.name == tree.name else f"{row.name} of {tree.name}"
    slug = {"SUSPENDED": "pool-suspended"}.get(health, "pool-down" if health in DOWN and row.name == tree.name else "vdev-degraded")
    return Situation(
        slug, f"{slug}:{where.node}:{pool}:{row.name}:texts", where.node, "act" if health not in GOOD or state not in GOOD else "watch",
        f"{name}: {tool} says {health}, zpool status says {state}",
        f"Two texts about {name} do not fit together: {tool} says {health}, zpool status says {state}. They were taken at different times, or one of them "
        "is of another host. Which of the two is so now is not known, and the worse one counts until it is. Change no disk for it before both were taken again.",
        where.evidence(row.line), subject={"node": where.node, "pool": pool}, gate=True, sure=False,
        cures=(Cure("look", f"Take both again, one directly after the other, on the same host: `zpool status -P -p {pool}`, `zpool list -v {pool}`."),),
    )  # fmt: skip


def _state(slug: str, pool: str, title: str, where: Where, lines: Sequence[str], text: str, severity: Severity, gate: bool) -> Situation:
    return Situation(
        slug, f"{slug}:{where.node}:{pool}", where.node, severity, title,
        f"{text}`zpool list` does not say why. Run `zpool status -P -p{'' if pool == NOT_NAMED else f' {pool}'}`: it names the member, its errors and what is under way.",
        where.evidence(*lines), subject={"node": where.node, "pool": pool}, gate=gate,
    )  # fmt: skip


def _holds(pool: Pool, where: Where) -> Iterator[Situation]:
    if pool.space.checkpoint is None or _tree(pool.space.name, where) is not None:
        return
    yield Situation(
        "checkpoint-held", f"checkpoint-held:{where.node}:{pool.space.name}", where.node, "info",
        f"{pool.space.name} holds a checkpoint of {pool.space.checkpoint}",
        f"Pool {pool.space.name} keeps a checkpoint. While it stands, freed space is not given back, and devices cannot be removed, attached "
        "or split off. When it is needed no more: zpool checkpoint -d.",
        where.evidence(pool.space.line),
        subject={"node": where.node, "pool": pool.space.name},
    )  # fmt: skip


def _tree(name: str, where: Where) -> PoolFacts | None:
    """The pool as `zpool status` of the same node shows it."""
    pools = where.facts.pools_read if where.facts is not None else ()
    return next((pool for pool in pools if pool.name == name), None)


def of_agents(value: Sequence[zpool_list.PoolSpace], lines: Sequence[str], where: Where) -> tuple[Situation, ...]:
    """The same of the form for scripts, which agents ask for too. How full a pool is stands in the facts where its tree is there."""
    pools = [Pool(_as_text(one.pool, lines), tuple(_as_text(row, lines) for row in one.vdevs)) for one in value]
    return tuple(
        found
        for pool in pools
        for found in (*(filled(pool, where) if _tree(pool.space.name, where) is None else ()), *_states(pool, where), *_holds(pool, where))
    )


def of_other_trees(value: Sequence[Any], where: Where) -> tuple[Situation, ...]:
    """A tree that was asked for in another way (-j, -g), where the one by name says something else of the pool."""
    pools = [Pool(Space(one.name, None, None, None, None, one.state or None, None, "", f"state: {one.state}"), ()) for one in value]
    return tuple(found for pool in pools if _tree(pool.space.name, where) is not None for found in _states(pool, where))


def _as_text(row: zpool_list.Space, lines: Sequence[str]) -> Space:
    line = next((line for line in lines if line.split()[:1] == [row.name]), row.name)
    total, free = (None if size is None else f"{size} bytes" for size in (row.size_bytes, row.free_bytes))
    held = None if row.checkpoint_bytes is None else f"{row.checkpoint_bytes} bytes"
    return Space(row.name, total, free, row.capacity_percent, row.fragmentation_percent, row.health, held, row.section, line)


def notes(value: Pools) -> tuple[str, ...]:
    if not value.pools and value.unread:
        return (*unread(value.unread), "No pool of it could be read: ask it again as root.")
    if not value.pools:
        return ("It lists no pool: ask `zpool import`, and whether the disks are there (`lsblk -o NAME,SIZE,MODEL,SERIAL,WWN`).",)
    return (*unread(value.unread), "Its sizes are rounded and are not compared; `zpool list -v -p -H` prints them exactly.")


JSON_LOOKED_AT = 12  # lines
_JSON = re.compile(r'"command" ?: ?"zpool list"')
_CELL = r"(?:-|[0-9.,]+[BKMGTPE]?%?)"
_STATES = "ONLINE|DEGRADED|FAULTED|OFFLINE|REMOVED|UNAVAIL|SUSPENDED"


def _begins(lines: Sequence[str], i: int) -> bool:
    """Whether this is a heading, a row of -H, or the JSON of `zpool list`."""
    if lines[i].startswith("{"):
        return bool(_JSON.search("\n".join(lines[i : i + JSON_LOOKED_AT])))
    if _VDEV_ALONE.match(lines[i]):
        return i == 0 or _ABOVE.match(lines[i - 1]) is None
    words = lines[i].split()
    if not lines[i].isupper() or "-" in words:
        return True
    if not set(words) <= WORDS:
        return False
    if len(words) == 1:
        return words == ["HEALTH"] and bool(re.fullmatch(_STATES, (lines[i + 1] if i + 1 < len(lines) else "").strip()))
    return bool(TELLING.intersection(words)) and not set(words) <= {"NAME", "AVAIL", "USED"}


_VDEV_ALONE = re.compile(
    rf"(?: {{1,8}}|(?=mirror|raidz|draid))[\w./:+-]{{2,120}}(?: +{_CELL}){{6,9}} +(?:{_STATES})(?: +-)?$"
)  # of -v, where the row of its pool was not pasted
_ABOVE = re.compile(rf" {{0,8}}\S{{1,120}}(?: +{_CELL}x?){{5}}")  # another row of the same list

READER = Reader(
    name="zpool_list_text",
    first=rf"{_VDEV_ALONE.pattern}|[A-Z][A-Z_]+(?: +[A-Z][A-Z_]+)* *$|[A-Za-z][\w.:-]*(?:\s+{_CELL}){{5,9}}x?\s+(?:{_STATES})\s+(?:-|/\S*)$|\{{",
    confirm=_begins,
    tools=("zpool",),
    asks=lambda tool, rest: rest[:1] == ["list"] or tuple(rest[:1]) == ("list",),
    goes_on=r"NAME +[A-Z]|\S+ +[0-9.,]+[KMGTPE]? +[0-9.,]+[KMGTPE]? | {2}|(?:special|logs?|cache|spares?|dedup) ",
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: all(pool.space.name == NOT_NAMED and pool.space.health is None for pool in value.pools),
    notes=notes,
    again="zpool list -v",
)  # fmt: skip
