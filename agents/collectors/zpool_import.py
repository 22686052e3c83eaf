"""Pools that could be imported, as `zpool import` lists them. Looking imports nothing.

It opens every disk, so one that hangs can hold it up, and of each pool with multihost that another host did not export it listens for that
host: 20 to 25 s by default, one pool after another (seen on 2.1.11 and 2.3.2). That is why it has a long deadline and is asked seldom, and
not while a disk sleeps.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.at_work import IMPORT, Busy, importing, no_other_import
from agents.collectors._vdevs import STATES, Block, Sections, Vdev, first_of_each, layout, lines_of, prose_of, read_fields, read_tree
from agents.collectors.base import Capture, Unparsed, ask
from agents.host import Host

NAME = "zpool_import"
EVERY_SECONDS = 300
ARGV = IMPORT
TIMEOUT_SECONDS = 300
WAKES_ALL = True
DOUBT_SECONDS = 20
NONE = "no pools available to import"


@dataclass(frozen=True)
class Importable:
    """One pool on disks that this node does not have imported. No counters; spares and caches have no state."""

    name: str
    guid: int
    state: str
    status: str
    action: str
    comment: str
    see: str
    vdevs: Vdev
    sections: Sections
    destroyed: bool = False
    more_devices: bool = False  # "Additional devices are known to be part of this pool": whole top-levels are missing


def collect(host: Host) -> tuple[Capture, ...]:
    """Once, and once more where somebody began a `zpool import` meanwhile: what it held open is not in the first listing."""
    try:
        with no_other_import(host):
            capture = _ask(host)
            if importing(host):
                with no_other_import(host):
                    capture = _ask(host)
    except Busy as busy:
        return (Capture(NAME, "", "failed", "", str(busy)),)
    return (capture,)


def _ask(host: Host) -> Capture:
    capture = ask(host, NAME, ARGV, TIMEOUT_SECONDS, data_exits=(0, 1))
    silent = capture.outcome == "data" and not capture.text.strip()
    if (capture.exit_code == 1 or silent) and NONE not in capture.stderr + capture.text:
        said = capture.stderr.strip().split("\n")[0]
        capture = replace(capture, outcome="failed", reason=f"zpool import exited {capture.exit_code}: {said or 'it said nothing'}")
    return capture


def doubtful(before: Sequence[Capture], said: Sequence[Capture]) -> bool:
    """Pools were listed, and now there are none. So it is said, too, of a pool whose disks somebody else's `zpool import` held open for
    a moment, and that one may have ended before anybody could see it; see agents/at_work.py."""
    return all(one.outcome == "data" for one in said) and _listed(before) and not _listed(said)


def _listed(captures: Sequence[Capture]) -> bool:
    return any(parse(one.text) != () for one in captures if one.outcome == "data")


def parse(text: str) -> tuple[Importable, ...] | Unparsed:
    """Every pool in `text`, or the first line that made no sense. Never raises."""
    if text.strip() in ("", NONE):
        return ()
    blocks = read_fields(text, _LAYOUT)
    if isinstance(blocks, Unparsed):
        return blocks
    pools: list[Importable] = []
    for block in blocks:
        pool = _pool(block)
        if isinstance(pool, Unparsed):
            return pool
        pools.append(pool)
    return tuple(pools)


_LAYOUT = layout(("pool", "id", "state", "status", "action", "comment", "see", "config"), below=r"\t")  # "    see:" is a field
_MORE = "\n\tAdditional devices are known to be part of this pool"


def _pool(block: Block) -> Importable | Unparsed:
    fields = first_of_each(block)
    name, guid = lines_of(fields, "pool"), lines_of(fields, "id")
    state, _, destroyed = lines_of(fields, "state").partition(" ")
    if not name or len(fields) < len(block) or not re.fullmatch("[0-9]{1,20}", guid):
        return Unparsed(f"the pool {name} lacks its name or id, or says one thing twice", guid)
    if state not in STATES or destroyed not in ("", "(DESTROYED)"):
        return Unparsed(f"the state of {name} cannot be read", lines_of(fields, "state"))
    rows, more, _ = fields.get("config", "").partition(_MORE)
    tree = read_tree("NAME STATE\n\t" + rows, name)  # it prints no header
    if isinstance(tree, Unparsed):
        return tree
    return Importable(
        name,
        int(guid),
        state,
        prose_of(fields, "status"),
        prose_of(fields, "action"),
        prose_of(fields, "comment"),
        lines_of(fields, "see"),
        *tree,
        destroyed=bool(destroyed),
        more_devices=bool(more),
    )
