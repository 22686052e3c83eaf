"""The scan of a pool as `zpool status -j` prints it, torn out of its JSON: the fields of "scan_stats" without the pool that they are of.

Fields: pool_scan_stats in lib/libzfs and cmd/zpool/zpool_main.c, since 2.3. With --json-int the numbers are bytes and Unix times.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted.base import Reader, Where, refused, whole

_NAMES = (
    "function|state|start_time|end_time|to_examine|examined|skipped|processed|errors|bytes_per_scan|pass_start|scrub_pause|scrub_spent_paused"
    "|issued_bytes_per_scan|issued|scan_errors|percent_done|pause"
)
_OPENS = r'\s{0,60}"scan_stats" ?: ?\{?\s*$'
_FUNCTION = r'\s{0,60}"function" ?: ?"(?:SCRUB|RESILVER|ERRORSCRUB|NONE)",?\s*$'
_FIELD = re.compile(rf'\s{{0,60}}"(?P<name>{_NAMES})" ?: ?"?(?P<value>[^"]{{0,80}}?)"?,?\s*$')
_BRACE = re.compile(r'\s{0,60}(?:[{}\]],?|"vdevs" ?: ?\{)\s*$')


_BEGINS = re.compile(f"{_OPENS}|{_FUNCTION}")
_OF_JSON = re.compile(r"\s*[\"{}\[\],]")


def _is_torn(lines: Sequence[str], i: int) -> bool:
    """Whether no brace opens the JSON that this line stands in: it has no pool. Where a scan stands above it in the same JSON, that one begins it."""
    for line in (lines[at] for at in range(i - 1, -1, -1)):
        if line.startswith("{") or _BEGINS.match(line[:300]):
            return False
        if not _OF_JSON.match(line):
            return True
    return True


@dataclass(frozen=True)
class Scan:
    """`function` is SCRUB, RESILVER or ERRORSCRUB, `state` NONE, SCANNING, FINISHED or CANCELED; "" where its line is not here."""

    function: str
    state: str
    errors: int | None
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Scans:
    scans: tuple[Scan, ...]
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Scans | Unparsed:
    found: list[dict[str, tuple[str, str]]] = []
    stray: list[str] = []
    for line in filter(str.strip, lines):
        field = _FIELD.match(line[:300])
        if field is None:
            stray += [] if re.match(_OPENS, line[:300]) or _BRACE.match(line[:300]) else [line]
        else:
            if not found or field.group("name") in found[-1]:
                found.append({})
            found[-1][field.group("name")] = (field.group("value"), line)
    scans = tuple(_scan(fields) for fields in found if "function" in fields or "state" in fields)
    return Scans(scans, tuple(stray)) if scans else refused("zpool status -j", next(iter(lines), ""))


def _scan(fields: dict[str, tuple[str, str]]) -> Scan:
    function, state, errors = (fields.get(name, ("", ""))[0] for name in ("function", "state", "errors"))
    return Scan(
        function, state, whole(errors), tuple(line for name, (_, line) in fields.items() if name in ("function", "state", "errors"))
    )


def situations(value: Scans, where: Where) -> tuple[Situation, ...]:
    return tuple(found for i, scan in enumerate(value.scans) for found in _of_scan(scan, i, where))


def _of_scan(scan: Scan, i: int, where: Where) -> tuple[Situation, ...]:
    """A resilver that runs, and errors that a scan could not mend. A scrub that runs, or ended with none, is nothing to act upon."""
    if scan.errors:
        what = "resilver" if scan.function == "RESILVER" else "scrub"
        return (
            Situation(
                "scrub-errors", f"scrub-errors:{where.node}:unnamed:{i}", where.node, "act",
                f"a pool that is not named: its {what} counted {scan.errors} errors that it could not mend",
                f"The {what} counted {scan.errors} errors: blocks that no copy and no parity gave back. Which pool it is, and which files these are, is not in this piece. "
                "`zpool status -v -P -p` lists them. No new disk brings them back.",
                where.evidence(*scan.lines),
                subject={"node": where.node},
                sure=False,
            ),
        )  # fmt: skip
    if scan.function == "RESILVER" and scan.state == "SCANNING":
        return (
            Situation(
                "resilver-running", f"resilver-running:{where.node}:unnamed:{i}", where.node, "watch",
                "a pool that is not named resilvers",
                "A resilver is under way; whose, and how many more losses that pool survives meanwhile, these lines do not say. Wait for its end, and take no disk out or "
                "offline before it. `zpool status -P -p` shows the rest.",
                where.evidence(*scan.lines),
                subject={"node": where.node},
                sure=False,
            ),
        )  # fmt: skip
    return ()


def notes(value: Scans) -> tuple[str, ...]:
    listed = [f"{scan.function.lower() or 'a scan'} {scan.state.lower()}".strip() for scan in value.scans]
    return (
        *listed[:4],
        "A scan out of `zpool status -j`, and neither its pool nor the state of any disk. Paste the whole output of `zpool status -P -p`.",
    )


READER = Reader(
    name="scan_stats",
    first=_BEGINS.pattern,
    confirm=_is_torn,
    goes_on=f"{_FIELD.pattern}|{_OPENS}|{_BRACE.pattern}".replace("?P<name>", "").replace("?P<value>", ""),
    strict=True,
    inside=frozenset(("zpool_status_json",)),
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="zpool status -P -p",
)
