"""`zpool remove` of a data vdev: it runs, was cancelled, or is done and left its mark. OpenZFS 0.8 and newer.

While it runs, ZFS refuses to replace, attach, and make a checkpoint, and does not start a second removal.
"""

import re

from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts
from workflows.situations import _pools
from workflows.situations._pools import Wording, cure

SLUG = "device-removal"
MANUALS: tuple[str, ...] = ()
_RUNS = re.compile(r"Evacuation of .{1,300}? in progress|\bSCANNING\b")
_OVER = re.compile(r"cancell?ed|\bCANCELED\b")
_DONE = re.compile(r"completed on|\bFINISHED\b")
_PERCENT = re.compile(r"([0-9]{1,6}[.,]?[0-9]{0,2})% done")


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        _make(node, pool, *found)
        for node, pool in _pools.pools(fleet)
        if (found := (_by_text(node, pool) if pool.removal_line else None) or _by_rows(node, pool))
    )


def _by_rows(node: NodeFacts, pool: PoolFacts) -> tuple[str, Wording] | None:
    """What the notes behind the top-level vdevs say where no line `remove:` has it."""
    tops = [top for _, top in pool.tops_read]
    leaving = next((top for top in tops if "(removing)" in top.note), None)
    if leaving is not None:
        meaning = (
            f"{leaving.short} is being removed from {pool.name} on {node.node}; how far that is, this text does not show. Until it is over replace, attach "
            "and checkpoint are refused, and its disks still hold data: pull none."
        )
        wording = Wording(
            "info", f"{pool.name}: {leaving.short} is being removed", meaning, (_pools.row(node, leaving),), _while_it_runs(pool)
        )
        return "running", wording
    idle = [top for top in tops if "(non-allocating)" in top.note]
    if not idle:
        return None
    named = ", ".join(one.short for one in idle)
    meaning = (
        f"Nothing new is written to {named} of {pool.name} on {node.node}: its property `allocating` is off, by hand or because a removal was begun and stopped. What "
        "it holds is read and protected as before, and the pool has less room for new data."
    )
    on = cure(
        "other",
        "Let it take data again, if that is not wanted.",
        *_pools.of(pool, idle[0], "set", "allocating=on", "POOL", "VDEV"),
        releases="2.2 and newer",
        needs=_pools.guid_needed(idle[0]),
    )
    return "non-allocating", Wording(
        "info", f"{pool.name}: {named} takes no new data", meaning, tuple(_pools.row(node, top) for top in idle), (on,)
    )


def _make(node: NodeFacts, pool: PoolFacts, how: str, wording: Wording) -> Situation:
    return _pools.situation(SLUG, node, pool, wording, subject={"removal": how})


def _by_text(node: NodeFacts, pool: PoolFacts) -> tuple[str, Wording] | None:
    """What is said of it; None where its words are not known, which is said elsewhere."""
    text = pool.removal_line
    lines = (_pools.line(node, "remove", text.split("\n")[0]),)
    if _OVER.search(text):
        meaning = (
            f"A removal of a data vdev of {pool.name} on {node.node} was cancelled: the vdev stays in the pool and takes new data again, with all that it held. "
            "Nothing is lost. Begin it again if it is still wanted."
        )
        return "cancelled", Wording("info", f"{pool.name}: the removal of a vdev was cancelled", meaning, lines, _again())
    if _DONE.search(text):
        meaning = (
            f"A data vdev was removed from {pool.name} on {node.node}, and all its data is on the others. A table of what was moved stays, on disk and in "
            "memory, for as long as such blocks live; the line stays as well. The copying checks no checksums, so scrub the pool once. The disks of the removed vdev are free."
        )
        return "finished", Wording(
            "info",
            f"{pool.name}: a vdev was removed",
            meaning,
            lines,
            (cure("scrub", "Scrub it, if that was not done since.", ("zpool", "scrub", pool.name)),),
        )
    if _RUNS.search(text):
        done = _PERCENT.search(text)
        slow = "copy is slow" in text
        meaning = (
            f"{pool.name} on {node.node} is moving the data of a vdev that is being removed{f', {done.group(1)} % done' if done else ''}. Until that is over "
            "replace, attach and checkpoint are refused, and its disks still hold data: pull none. "
            + (
                "ZFS prints no time to go because it is slow: look for a disk that answers slowly."
                if slow
                else "If a disk of it fails meanwhile, cancel the removal first."
            )
        )
        title = f"{pool.name}: a vdev is being removed{f', {done.group(1)} % done' if done else ''}"
        return "running", Wording("watch" if slow else "info", title, meaning, lines, _while_it_runs(pool))
    return None


def _again() -> tuple[Cure, ...]:
    return (cure("look", "Look in the pool's history who cancelled it, and why, before it is begun again."),)


def _while_it_runs(pool: PoolFacts) -> tuple[Cure, ...]:
    return (
        cure("wait", f"Wait; `zpool status {pool.name}` says how far it is."),
        cure(
            "other",
            "Cancel it, when a disk has to be replaced or the pool is to be spared: what was copied is given up, and the vdev stays.",
            ("zpool", "remove", "-s", pool.name),
            releases="0.8 and newer",
        ),
    )
