"""The figures of a pool for its page: how full it is, how far and fast a scan is, and which disks wait longest."""

from typing import Any

from workflows.analysis import eta
from workflows.facts import LeafLatency, NodeFacts, PoolFacts, PoolLatency, ScanProgress, known
from workflows.facts.read.latency import duration
from workflows.facts.read.scan_progress import size

LEAVES_SHOWN = 10
SHOWN = ("failmode", "autoreplace", "autoexpand", "multihost", "readonly", "cachefile", "ashift", "altroot")


def of(pool: PoolFacts, node: NodeFacts) -> dict[str, Any]:
    to_go = eta.of(node, pool)
    return {
        "to_go": to_go.lines if known(to_go) else (),
        "fill": _fill(pool),
        "properties": _properties(pool),
        "scans": [_scan(scan) for scan in pool.progress] if known(pool.progress) else [],
        "waits": _waits(pool.latency) if known(pool.latency) else [],
        "waits_unknown": "" if known(pool.latency) else pool.latency.reason,
        "leaves": len(pool.latency.leaves) if known(pool.latency) else 0,
    }


def _fill(pool: PoolFacts) -> str:
    if not known(pool.space):
        return pool.space.reason
    row = pool.space.pool
    if row.size_bytes is None or row.alloc_bytes is None:
        return "zpool list gives no size for it."
    percent = "" if row.capacity_percent is None else f", {row.capacity_percent} % full"
    fragments = "" if row.fragmentation_percent is None else f", free space fragmented by {row.fragmentation_percent} %"
    return f"{size(row.alloc_bytes)} of {size(row.size_bytes)}{percent}{fragments}"


def _properties(pool: PoolFacts) -> list[tuple[str, str]]:
    if not known(pool.properties):
        return [("properties", pool.properties.reason)]
    return [(name, pool.properties[name]) for name in SHOWN if pool.properties.get(name, "-") != "-"]


def _scan(scan: ScanProgress) -> str:
    """What is really known of its speed: between two looks, or only since it began."""
    advance = scan.advance
    if known(advance) and not advance.restarted:
        rate = advance.bytes_per_second
        speed = size(rate.high) if rate.low == rate.high else f"{size(rate.low)} to {size(rate.high)}"
        return f"{scan.function.capitalize()}: {speed}/s over the last {_minutes(advance.seconds)}."
    if known(scan.average):
        return f"{scan.function.capitalize()}: {size(scan.average.high)}/s on average since it began; its speed now takes a second look."
    return f"{scan.function.capitalize()}: its speed takes a second look."


def _minutes(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{seconds:.0f} s" if minutes < 2 else f"{minutes} minutes"


def _waits(latency: PoolLatency) -> list[dict[str, Any]]:
    """The leaves that wait longest first; those that stand out from their peers before all others."""
    lines = [_line(latency, one) for one in latency.leaves]
    return sorted(lines, key=lambda line: (not line["outlier"], -line["longest"]))[:LEAVES_SHOWN]


def _line(latency: PoolLatency, one: LeafLatency) -> dict[str, Any]:
    row = one.now if one.now is not None and (one.now.disk_read_ns or one.now.disk_write_ns) else one.since_import
    reads, writes = (row.disk_read_ns, row.disk_write_ns) if row is not None else (None, None)
    return {
        "name": one.leaf.name.rsplit("/", 1)[-1],
        "top": one.top.name,
        "read": duration(reads) if reads else "no reads",
        "write": duration(writes) if writes else "no writes",
        "when": "" if row is None else "in the last seconds" if row is one.now else "since the import",
        "slow": one.slow if known(one.slow) else "not known",
        "outlier": bool(latency.gaps(one) or latency.slow_among_peers(one)),
        "longest": max(reads or 0, writes or 0),
    }
