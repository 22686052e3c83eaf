"""Pool health as `zpool status` prints it, OpenZFS 0.6 to 2.4: the whole tree, every scan, nothing rounded.

A line we do not know makes the text `Unparsed`: a lost `scan:` line would hide a resilver.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from agents.collectors._passing import without_progress as lasting
from agents.collectors._vdevs import (
    STATES,
    Block,
    Sections,
    Vdev,
    first_line,
    first_of_each,
    layout,
    lines_of,
    prose_of,
    read_fields,
    read_tree,
    stripped,
)
from agents.collectors.base import Capture, Unparsed, ask
from agents.collectors.node import module_version
from agents.host import Host

NAME = "zpool_status"
EVERY_SECONDS = 10
HISTORY_SECONDS = 1800  # how far a resilver came in half an hour says whether it moves at all
ARGV = ("zpool", "status", "-P", "-p")
TIMEOUT_SECONDS = 20
EXACT_SINCE = (0, 8)  # before, there is no -p; a text with rounded counters is then refused

__all__ = ["Pool", "Scan", "Vdev", "collect", "lasting", "parse"]


class Scan(NamedTuple):
    """One `scan:` entry. Bytes stay in the text: it prints them rounded."""

    function: str  # "none", "scrub", "resilver", "rebuild"
    state: str  # "none", "running", "paused", "finished", "canceled"
    text: str  # as printed, lines joined by newline
    percent: str | None = None
    errors: int | None = None
    eta: str | None = None


class Pool(NamedTuple):
    """One imported pool. `vdevs` is the root vdev; `sections` are logs, cache, spares, special and dedup as printed."""

    name: str
    state: str
    status: str
    action: str
    see: str
    scans: tuple[Scan, ...]
    vdevs: Vdev
    sections: Sections
    errors: str
    remove: str = ""
    checkpoint: str = ""
    expand: str = ""
    guid: int | None = None  # only the JSON says it


def collect(host: Host) -> tuple[Capture, ...]:
    return (ask_status(host, NAME, ARGV),)


def ask_status(host: Host, source: str, argv: Sequence[str]) -> Capture:
    """Silence is an answer only when it comes with "no pools available"; some versions print that to standard error."""
    if (module_version(host) or EXACT_SINCE) < EXACT_SINCE:
        argv = [word for word in argv if word != "-p"]
    capture = ask(host, source, argv, TIMEOUT_SECONDS)
    if capture.outcome == "data" and not capture.text.strip() and "no pools available" not in capture.stderr:
        return replace(capture, outcome="failed", reason=f"{' '.join(argv)} printed nothing, not even that there are no pools")
    return capture


def parse(text: str) -> tuple[Pool, ...] | Unparsed:
    """Every pool in `text`, or the first line that made no sense. Never raises."""
    if text.strip() in ("", "no pools available"):
        return ()
    blocks = read_fields(text, _LAYOUT)
    if isinstance(blocks, Unparsed):
        return blocks
    pools: list[Pool] = []
    for block in blocks:
        pool = _pool(block)
        if isinstance(pool, Unparsed):
            return pool
        pools.append(pool)
    return tuple(pools)


_KEYS = ("pool", "state", "status", "action", "see", "scan", "scrub", "remove", "checkpoint", "expand", "config", "errors", "dedup")
_LAYOUT = layout(_KEYS, below=r"\t| {4}")  # 0.6 indents what goes on below scan: by blanks


def _pool(block: Block) -> Pool | Unparsed:
    fields = first_of_each(block)
    twice = _printed_twice(block) if len(fields) < len(block) else None
    if twice:
        return twice
    name, state = lines_of(fields, "pool"), lines_of(fields, "state")
    if not name or state not in STATES:
        return Unparsed(f"the state of {name or 'a pool'} cannot be read", state)
    tree = read_tree(fields.get("config", ""), name)
    if isinstance(tree, Unparsed):
        return tree
    if "errors" not in fields:
        return Unparsed(f"the text of {name} ends before its errors: line")
    scans = _scans(block) if "scan" in fields or "scrub" in fields else ()
    if isinstance(scans, Unparsed):
        return scans
    return Pool(
        name,
        state,
        prose_of(fields, "status"),
        prose_of(fields, "action"),
        lines_of(fields, "see"),
        scans,
        *tree,
        errors=lines_of(fields, "errors"),
        remove=lines_of(fields, "remove"),
        checkpoint=lines_of(fields, "checkpoint"),
        expand=lines_of(fields, "expand"),
    )


def _printed_twice(block: Block) -> Unparsed | None:
    values: dict[str, list[str]] = {}
    for key, pieces in block:
        values.setdefault(key, []).append(pieces[0])
    for key, printed in values.items():
        if len(printed) > 1 and key not in ("scan", "scrub"):
            return Unparsed(f"{key}: is printed twice for one pool", first_line(printed[1]))
    return None


def _scans(block: Block) -> tuple[Scan, ...] | Unparsed:
    scans: list[Scan] = []
    for key, pieces in block:
        if key in ("scan", "scrub"):
            scan = _scan(stripped("".join(pieces).strip(), "\n"))
            if isinstance(scan, Unparsed):
                return scan
            scans.append(scan)
    return tuple(scans)


_SCRUB = r"(?:error |thorough )?scrub"
_SCAN = re.compile(
    r"(?P<none>none requested)"
    rf"|(?:{_SCRUB}|resilver(?: \([^)]+\))?) (?:(?P<running>in progress since)|(?P<paused>paused since)|(?P<canceled>canceled on)) "
    rf"|(?P<finished>(?:{_SCRUB} repaired|resilvered(?: \([^)]+\))?) \S+ in .* with (?P<errors>[0-9]{{1,20}}) errors on )"
    r"|(?P<scrubbed>scrubbed [0-9]+ error blocks? in .* on )"
)
_NUMBER_AT_END = re.compile(r"(?<![0-9])[0-9]+(?:\.[0-9]+)?\Z")
_ETA_0_6 = re.compile(r", (\S+) to go|(no estimated time)")  # 0.6 says it one line above the percentage


def _scan(text: str) -> Scan | Unparsed:
    form = _SCAN.match(text)
    if form is None:
        return Unparsed("the scan: line cannot be read", first_line(text))
    state = form.lastgroup or ""
    if state == "none":
        return Scan("none", "none", text)
    function = "resilver" if text.startswith("resilver") else "scrub"
    if text.startswith(("resilver (", "resilvered (")):
        function = "rebuild"  # sequential, onto the named top-level vdev
    if state in ("running", "paused"):
        return _unfinished(function, state, text)
    errors = form.group("errors")
    return Scan(function, "finished" if state == "scrubbed" else state, text, errors=None if errors is None else int(errors))


def _unfinished(function: str, state: str, text: str) -> Scan | Unparsed:
    before, _, after = text.partition("% done")
    percent = _NUMBER_AT_END.search(before.rpartition(" ")[2])
    if percent is None or len(before) == len(text):
        return Unparsed("a scan does not say how far it is", first_line(text))
    eta: str | None = first_line(after[2:]) if after.startswith(", ") else ""
    if not eta:
        above = _ETA_0_6.search(text)
        eta = above and (above.group(1) or above.group(2))
    return Scan(function, state, text, percent.group(), eta=eta.replace(" to go", "") if eta and state == "running" else None)
