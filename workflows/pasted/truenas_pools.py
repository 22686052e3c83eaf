"""`midclt call pool.query` and the pools of the API of TrueNAS: JSON with the state of each pool and its tree (src/middlewared/middlewared/plugins/pool_ of TrueNAS).

ONLINE and `healthy` in it are never good: the guids of the tree are there, and the files whose data is damaged are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agents.collectors.base import Unparsed
from workflows.pasted import pool_states
from workflows.pasted.base import Reader, document_or_list, refused
from workflows.pasted.pool_states import State, States

WELL = frozenset(("ONLINE", "AVAIL"))
COUNTS = ("read_errors", "write_errors", "checksum_errors")
HEAD_LINES = 14  # id, name, guid, encrypt, encryptkey, path and status, in every release
DEPTH_MAX = 8  # a replacement in a mirror in a class of vdevs is five


def parse(lines: Sequence[str]) -> States | Unparsed:
    try:
        pools = _pools("\n".join(lines))
    except (ValueError, RecursionError):
        return Unparsed("the JSON of pool.query is not complete", next(iter(lines), ""))
    if not pools:
        return refused("TrueNAS", next(iter(lines), ""))
    return States(tuple(state for pool in pools for state in _of_pool(pool)))


def _pools(text: str) -> list[Mapping[str, Any]]:
    """Every pool of it; none where the first value is of something else."""
    value = document_or_list(text)
    listed = value if isinstance(value, list) else [value]
    return [one for one in listed if _is_pool(one)] if all(map(_is_pool, listed)) else []


def _is_pool(one: Any) -> bool:
    return isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("status"), str) and "healthy" in one


def _of_pool(pool: Mapping[str, Any]) -> Iterator[State]:
    name, status = pool["name"], pool["status"]
    yield State(name, status, f'"status": "{status}"')
    if status == "ONLINE" and pool["healthy"] is not True:
        yield State(name, "Unhealthy", '"healthy": false')  # a member is ill, or counts errors, while the pool goes on
    scan = pool.get("scan")
    if isinstance(scan, dict) and scan.get("errors") not in (0, None):
        yield State(name, "DataCorruption", f'"errors": {scan["errors"]}')
    topology = pool.get("topology")
    for vdevs in topology.values() if isinstance(topology, dict) else ():
        yield from _of_vdevs(name, vdevs, DEPTH_MAX)


def _of_vdevs(pool: str, vdevs: Any, depth: int) -> Iterator[State]:
    for vdev in vdevs if isinstance(vdevs, list) and depth else ():
        if not isinstance(vdev, dict):
            continue
        status = str(vdev.get("status") or "")
        counted = vdev["stats"] if isinstance(vdev.get("stats"), dict) else {}
        errors = tuple(int(counted.get(each) or 0) if str(counted.get(each) or 0).isdecimal() else 0 for each in COUNTS)
        called = str(vdev.get("disk") or vdev.get("device") or vdev.get("name") or vdev.get("guid") or "a vdev")
        if status not in ("", *WELL) or any(errors):
            yield State(pool, status if status not in ("", *WELL) else "ONLINE", f'"status": "{status}"', called, errors)
        yield from _of_vdevs(pool, vdev.get("children"), depth - 1)


def _begins(lines: Sequence[str], i: int) -> bool:
    """By the keys with which a pool of it begins."""
    head = "".join(lines[i : i + HEAD_LINES])
    begins = '"healthy"' in head or ('"id"' in head and '"guid"' in head)
    return begins and '"name"' in head and '"status"' in head and '"vdev_type"' not in head


READER = Reader(
    name="truenas_pools",
    first=r"\[$|\{$|\[\{\"|\{\"",
    confirm=_begins,
    tools=("midclt",),
    asks=lambda tool, rest: "pool.query" in rest,
    goes_on=r"\s|[\]{}]|\"",
    strict=True,
    parse=parse,
    situations=pool_states.situations,
    silent=lambda value: True,
    notes=lambda value: ("TrueNAS says how it found each pool then; `zpool status -v -P -p` shows how each is, with damaged files.",),
    again="zpool status -P -p",
)
