"""The pools that this node's cache file remembers, as `zdb -C` reads them: what it will import by itself at the next boot.

It reads the cache file only and touches no disk. A pool that is in it and not imported is one that this node should have. A partner asks
about it before it imports a pool that was exported here, so a changed file is read at once; one that did not change is not read again.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace

from agents.collectors._lines import whole_lines
from agents.collectors.base import Capture, Unparsed, ask
from agents.collectors.zdb_label import Label, LabelVdev, label_of, nvlist
from agents.host.host import Host

NAME = "zdb_config"
EVERY_SECONDS = 60
CACHE_FILE = "/etc/zfs/zpool.cache"
ARGV = ("zdb", "-C")
TIMEOUT_SECONDS = 30
NO_CACHE = re.compile(r"cannot open '[^']*zpool\.cache'|failed to unpack nvlist|no such file", re.IGNORECASE)


@dataclass(frozen=True)
class CachedPool:
    name: str
    guid: int
    txg: int | None
    hostid: int | None
    hostname: str | None
    root: LabelVdev | None


def collect(host: Host) -> tuple[Capture, ...]:
    """Without a cache file zdb complains, on either stream, and mostly exits 1; that is an answer: nothing is imported by it."""
    capture = ask(host, NAME, ARGV, TIMEOUT_SECONDS, data_exits=(0, 1))
    silent = capture.exit_code == 0 and not (capture.text + capture.stderr).strip()
    if capture.outcome != "data":
        return (capture,)
    if silent or NO_CACHE.search(capture.text + capture.stderr):
        return (replace(capture, outcome="nothing", reason="this node keeps no cache file of pools"),)
    if capture.exit_code != 0 or not capture.text.strip():
        return (replace(capture, outcome="failed", reason=f"zdb -C exited {capture.exit_code}: {capture.stderr.strip()[:200]}"),)
    return (capture,)


def stamp(host: Host, key: str) -> str:
    """Changes with the file; "" where there is none to be read, and then zdb has to say so."""
    try:
        return hashlib.sha256(host.read(CACHE_FILE)).hexdigest()
    except OSError:
        return ""


def parse(text: str) -> tuple[CachedPool, ...] | Unparsed:
    """Every pool, or the first line that made no sense. Never raises."""
    blocks: list[tuple[str, list[str]]] = []
    texts = whole_lines(text)
    if isinstance(texts, Unparsed):
        return texts
    for line in texts:
        if re.fullmatch(r"[A-Za-z0-9]\S*:", line):
            blocks.append((line[:-1], []))
        elif line.strip() and not blocks:
            return Unparsed("zdb -C does not begin with a pool", line)
        elif line.strip():
            blocks[-1][1].append(line)
    pools = []
    for name, lines in blocks:
        pool = _pool(name, lines)
        if isinstance(pool, Unparsed):
            return pool
        pools.append(pool)
    return tuple(pools)


def _pool(name: str, lines: list[str]) -> CachedPool | Unparsed:
    tree = nvlist(lines)
    if isinstance(tree, Unparsed):
        return tree
    try:
        # It is a label without a guid of its own: the config of the whole pool.
        label: Label = label_of({**tree, "guid": tree["pool_guid"]}, (), False)
    except (KeyError, TypeError) as missing:
        return Unparsed(f"the config of {name} lacks or garbles {missing}")
    if label.name != name or label.pool_guid is None:
        return Unparsed(f"the config of {name} is not about {name}", label.name or "")
    return CachedPool(name, label.pool_guid, label.txg, label.hostid, label.hostname, label.tree)
