"""The state of pools as exporters print it for Prometheus and InfluxDB, and as scripts put it into one line of a mail or a log.

Forms: node_exporter (collector/zfs_linux.go: one gauge for each state, 1 for the one that is), zfs_exporter (collector/pool.go: zfs_pool_health,
0 ONLINE, 1 DEGRADED, 2 FAULTED, 3 OFFLINE, 4 UNAVAIL, 5 REMOVED, 6 SUSPENDED), cmd/zpool_influxdb of OpenZFS (zpool_stats with name, state and vdev). Others write a number for each state and say in the HELP of the metric what each means.
Monitors that read the tree of `zpool status` print a row of it as "disk NAME - STATE (read|write|checksum): note".
A script's line counts where the state stands in it as ZFS writes it and ends it, so that people's own sentences are none. A colon behind a name is of a chat or a log,
and what follows it a line of `zpool status`. Each is of its moment; ONLINE in it says nothing of the errors of members or of damaged data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted.base import Reader, Where, refused

HEALTH = ("ONLINE", "DEGRADED", "FAULTED", "OFFLINE", "UNAVAIL", "REMOVED", "SUSPENDED")  # by the number that zfs_exporter gives
SLUGS = {
    "SUSPENDED": "pool-suspended",
    "FAULTED": "pool-down",
    "UNAVAIL": "pool-down",
    "DataCorruption": "data-errors",
}  # every other one is vdev-degraded
_LINE = (
    r" {0,8}(?:(?:node_zfs|zfs_(?:pool|zpool)|zpool)_\w{1,80}(?:[{,]| [-+0-9])|# (?:HELP|TYPE) (?:node_zfs|zfs_(?:pool|zpool)|zpool)_\w)"
)
_STATE = r"(?P<state>ONLINE|DEGRADED|FAULTED|UNAVAIL|SUSPENDED|OFFLINE|REMOVED)"
_NAME = r"['\"]?(?P<pool>[A-Za-z](?:[\w.:-]{0,79}[\w.-])?)['\"]?"
_IN_ONE_LINE = tuple(
    re.compile(form)
    for form in (
        rf"[ >*#!-]{{0,8}}(?:(?:Subject|WARNING|ALERT|CRITICAL|ERROR|ZFS)[: ] ?){{0,4}}(?:The )?(?:ZFS )?[Zz]?[Pp]ool {_NAME}(?: on (?:host )?[\w.-]{{1,80}})?(?: is)?(?: in)?"
        rf"(?: state| status| health)?(?: is)?(?: not healthy)?[:=]? {{0,3}}['\"]?{_STATE}['\"]?[.!]? *$",
        rf" {{0,8}}{_NAME} {{1,8}}(?:state|health|status)[:=] {{0,8}}{_STATE} *$",
    )
)
_STATED = "|".join(form.pattern.replace("?P<pool>", "?:").replace("?P<state>", "?:") for form in _IN_ONE_LINE)
_COUNTS = r"\((?P<read>[0-9]{1,20})\|(?P<write>[0-9]{1,20})\|(?P<cksum>[0-9]{1,20})\)"
_COUNTED = re.compile(
    rf" {{0,8}}(?P<what>pool|vdev|disk) (?P<name>\S{{1,160}}) - (?P<state>[A-Z]{{4,12}})? ?{_COUNTS}(?:: ?(?P<more>.{{0,300}}))? *$"
)
_COUNTED_ROW = r" {0,8}(?:pool|vdev|disk) \S{1,160} - (?:[A-Z]{4,12})? ?\([0-9]{1,20}\|[0-9]{1,20}\|[0-9]{1,20}\)"
_NO_ERRORS = "No known data errors"
_NAMES = re.compile(f"{_LINE}|{_STATED}|{_COUNTED_ROW}")
_OF_NODE = re.compile(r" {0,8}node_zfs_zpool_state\{(?P<labels>[^}]{1,600})\} (?P<value>[01])(?:\.0)?\b")
_OF_ZFS = re.compile(r" {0,8}zfs_(?:pool|zpool)_health\{(?P<labels>[^}]{1,600})\} (?P<value>[0-6])(?:\.0)?\b")
_HELP = re.compile(r" {0,8}# HELP (?P<metric>\w{1,80}) (?P<text>.{1,600})")
_CODE = re.compile(r"\b([A-Z][A-Za-z]{2,39}) ?= ?([0-9]{1,4})\b")
_CODED = re.compile(
    r" {0,8}(?P<metric>\w{0,60}(?:pool|vdev)_(?:state|health|status)(?:_desc)?)\{(?P<labels>[^}]{1,600})\} (?P<value>[0-9]{1,4})(?:\.0)?(?:\s|$)"
)
_WELL = ("Normal", "FeaturesAvailable")  # reasons of `zpool status` that are no trouble
_LABEL = re.compile(r"(\w{1,40})=\"([^\"]{0,200})\"")
_INFLUX = re.compile(r" {0,8}zpool_stats,(?P<tags>\S{1,600}) (?P<fields>\S{1,2000})")
LINE_MAX = 600
_ERRORS = ("read_errors", "write_errors", "checksum_errors")


@dataclass(frozen=True)
class State:
    pool: str
    state: str  # as ZFS writes it
    line: str
    vdev: str = ""  # of zpool_influxdb: "root/raidz-0"; "" for the pool itself
    errors: tuple[int, ...] = ()  # read, write, checksum


@dataclass(frozen=True)
class States:
    states: tuple[State, ...]
    stray: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> States | Unparsed:
    if not any(map(_NAMES.match, lines)):
        return refused("an exporter of metrics", next(iter(lines), ""))
    found: list[State] = []
    stray: list[str] = []
    words: dict[str, dict[int, str]] = {}  # of a metric the word for each number, as its HELP has them
    pool = ""  # whose rows follow
    for line in filter(str.strip, lines):
        if row := _COUNTED.match(line[:LINE_MAX]):
            pool = row.group("name") if row.group("what") == "pool" else pool
            found += _of_row(row, pool)
            continue
        if explained := _HELP.match(line):
            words[explained.group("metric")] = {int(number): word for word, number in _CODE.findall(explained.group("text"))}
        coded = _CODED.match(line)
        state = _state(line) or (_of_code(coded, words, line) if coded else None)
        if state is not None:
            found.append(state)
        elif not _NAMES.match(line) or (coded and not _is_read(coded, words, line)):
            stray.append(line)
    return States(tuple(found), tuple(stray))


def _of_row(row: re.Match[str], pool: str) -> Iterator[State]:
    """A row with its counts. The heading of spares, logs and caches has no state; a spare that waits is AVAIL."""
    line, name, state = row.group(), row.group("name"), row.group("state") or ""
    errors = tuple(int(row.group(each)) for each in ("read", "write", "cksum"))
    if state or any(errors):
        vdev = "" if row.group("what") == "pool" else name
        yield State(pool or "a pool that is not named", "ONLINE" if state == "AVAIL" else state, line, vdev, errors)
    data = re.match(r"errors: (.{1,200})", row.group("more") or "")
    if data and data.group(1).strip() != _NO_ERRORS:
        yield State(name, "DataCorruption", line)


def _of_code(coded: re.Match[str], words: Mapping[str, Mapping[int, str]], line: str) -> State | None:
    """The state that a number stands for, by the words of the metric's own HELP; None where that has none for it, or it is of no state of a pool."""
    word = words.get(coded.group("metric"), {}).get(int(coded.group("value")), "")
    labels = dict(_LABEL.findall(coded.group("labels")))
    pool = labels.get("zpool") or labels.get("pool") or labels.get("name", "")
    if not word or not pool:
        return None
    if coded.group("metric").endswith(("pool_state", "pool_health")):
        return State(pool, word.upper(), line)
    return State(pool, word, line) if "status" in coded.group("metric") and word not in _WELL else None


def _is_read(coded: re.Match[str], words: Mapping[str, Mapping[int, str]], line: str) -> bool:
    """Whether a number that stands for a state was understood: by its own HELP, or as one gauge for each state."""
    return int(coded.group("value")) in words.get(coded.group("metric"), {}) or bool(_OF_NODE.match(line) or _OF_ZFS.match(line))


def _state(line: str) -> State | None:
    """None of a line that says of no state, and of a gauge that is 0."""
    of_node = _OF_NODE.match(line)
    if match := of_node or _OF_ZFS.match(line):
        labels = dict(_LABEL.findall(match.group("labels")))
        pool = labels.get("zpool") or labels.get("pool", "")
        if of_node:
            return State(pool, labels.get("state", "").upper(), line) if match.group("value") == "1" else None
        return State(pool, HEALTH[int(match.group("value"))], line)
    if stated := next(filter(None, (form.match(line) for form in _IN_ONE_LINE)), None):
        return State(stated.group("pool"), stated.group("state"), line)
    if influx := _INFLUX.match(line):
        tags, fields = (dict(part.partition("=")[::2] for part in influx.group(name).split(",")) for name in ("tags", "fields"))
        vdev = tags.get("vdev", "root")
        errors = tuple(int(digits) for name in _ERRORS if (digits := fields.get(name, "0").rstrip("ui")).isdecimal())
        return State(tags.get("name", ""), tags.get("state", ""), line, "" if vdev == "root" else vdev, errors)
    return None


def situations(value: States, where: Where) -> tuple[Situation, ...]:
    """Where the tree of the pool was pasted as well, that tells more."""
    read = {pool.name for pool in where.facts.pools_read if pool.tops_read} if where.facts is not None else set()
    found: dict[str, Situation] = {}
    for one in (one for state in value.states if state.pool not in read for one in _of(state, where)):
        found.setdefault(one.key, one)
    return tuple(found.values())


def _of(state: State, where: Where) -> Iterator[Situation]:
    name = f"{state.vdev} of {state.pool}" if state.vdev else state.pool
    then = f"It does not say {'why' if state.vdev else 'which member nor why'}: run `zpool status -v -P -p {state.pool}` before anything is replaced."
    subject = {"node": where.node, "pool": state.pool}
    if state.state != "ONLINE":
        slug = "vdev-degraded" if state.vdev else SLUGS.get(state.state, "vdev-degraded")
        is_reason = state.state not in ("", state.state.upper())
        how = f"the reason given is {state.state}" if is_reason else f"is {state.state or 'in no state that is known'}"
        yield Situation(
            slug, f"{slug}:{where.node}:{name}", where.node, "act", f"{name}: {how}" if is_reason else f"{name} {how}",
            f"A metric or a script says of {name}: {how}. It is of its moment. {then}",
            where.evidence(state.line[:300]), subject=subject, gate=slug in ("pool-suspended", "pool-down"),
        )  # fmt: skip
    if any(state.errors):
        yield Situation(
            "vdev-degraded", f"vdev-degraded:{where.node}:{state.pool}:errors", where.node, "watch", f"{state.pool} counts errors",
            f"A metric counts errors of {name}: read, write, checksum {', '.join(map(str, state.errors))}. {then}",
            where.evidence(state.line[:300]), subject=subject,
        )  # fmt: skip


READER = Reader(
    name="pool_states",
    first=f"{_LINE}|{_STATED}|{_COUNTED_ROW}",
    goes_on=f"{_LINE}|{_STATED}|{_COUNTED_ROW}",
    inside=frozenset(("zpool_status", "zpool_import", "zed_mail", "alerts", "notices", "checks", "kernel_log", "systemctl_status")),
    strict=True,
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=lambda value: ("It is of one moment, and ONLINE in it says nothing of errors; `zpool status -P -p` shows how each pool is.",),
    again="zpool status -P -p",
)
