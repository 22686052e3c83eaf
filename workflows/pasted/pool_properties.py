"""Properties of `zpool get all` that tell how a pool is: its health, how full it is, whether it is read-only. Agents do not ask for these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agents.collectors.zpool_get import Property
from workflows.engine.core import Situation
from workflows.pasted import zpool_list_text
from workflows.pasted._rounded import percent
from workflows.pasted.base import Where
from workflows.pasted.zpool_list_text import Pool, Pools, Space

UNSET = ("-", "")


def situations(value: Sequence[Property], lines: Sequence[str], where: Where) -> tuple[Situation, ...]:
    """What `zpool list` would say of the same, and in the same words."""
    pools = tuple(Pool(space, ()) for space in _spaces(value, lines))
    return (*zpool_list_text.situations(Pools(pools), where), *_read_only(value, lines, where))


def _spaces(value: Sequence[Property], lines: Sequence[str]) -> Iterator[Space]:
    for pool in dict.fromkeys(each.pool for each in value if "/" not in each.pool):
        properties = {each.name: each.value for each in value if each.pool == pool}
        if {"health", "capacity", "checkpoint"} & properties.keys():
            shown = [name for name in ("health", "capacity", "checkpoint") if properties.get(name) not in (None, *UNSET, "ONLINE")]
            line = _line(lines, pool, shown[0] if shown else "health")
            full, fragmented = percent(properties.get("capacity", "-")), percent(properties.get("fragmentation", "-"))
            checkpoint = properties.get("checkpoint")
            yield Space(
                pool, properties.get("size"), properties.get("free"), full, fragmented, properties.get("health"), None if checkpoint in UNSET else checkpoint, "", line
            )  # fmt: skip


def _read_only(value: Sequence[Property], lines: Sequence[str], where: Where) -> Iterator[Situation]:
    for each in value:
        if (each.name, each.value) == ("readonly", "on") and "/" not in each.pool:
            yield Situation(
                "pool-read-only", f"pool-read-only:{where.node}:{each.pool}", where.node, "watch", f"{each.pool} is imported read-only",
                f"Nothing can be written to {each.pool}, and no member of it can be replaced, until it is exported and imported again without -o readonly=on.",
                where.evidence(_line(lines, each.pool, "readonly")), subject={"node": where.node, "pool": each.pool}, gate=True,
            )  # fmt: skip


def _line(lines: Sequence[str], pool: str, name: str) -> str:
    return next((line for line in lines if line.split()[:2] == [pool, name]), "")
