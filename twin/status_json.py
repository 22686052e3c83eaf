"""`zpool status -j --json-int` of OpenZFS 2.3."""

import json
from collections.abc import Sequence
from typing import Any

from twin.model import SECTOR, Node, Pool, Scan, Vdev
from twin.scan import progress
from twin.status import CANNOT_OPEN, MSG, Style, leaf_name, vdev_name, why
from twin.vdevs import LABELS_BYTES, min_asize, pool_state, state_of
from twin.view import View

BLOCK_BYTES = 128 * 1024
CLASSES = {"data": "normal", "special": "special", "dedup": "dedup", "log": "log"}
SECTIONS = (("dedup", "dedup"), ("special", "special"), ("log", "logs"))


def document(view: View, pools: Sequence[Pool], style: Style, now: float) -> str:
    body = {
        "output_version": {"command": "zpool status", "vers_major": 0, "vers_minor": 1},
        "pools": {pool.name: pool_object(view, pool, style, now) for pool in pools},
    }
    return json.dumps(body, separators=(",", ":")) + "\n"


def pool_object(view: View, pool: Pool, style: Style, now: float) -> dict[str, Any]:
    state = "SUSPENDED" if pool.suspended else pool_state(pool)
    out: dict[str, Any] = {"name": pool.name, "state": state, "pool_guid": pool.guid, "txg": pool.txg}
    out.update({"spa_version": 5000, "zpl_version": 5})
    reason = why(pool, view.node.release)
    if reason:
        out.update({"status": reason.status, "action": reason.action})
        if reason.msgid:
            out.update({"msgid": reason.msgid, "moreinfo": MSG + reason.msgid})
    if pool.scan:
        out["scan_stats"] = scan_object(pool.scan, now)
    out["vdevs"] = {pool.name: _root(view, pool, style, now)}
    for cls, section in SECTIONS:
        if any(top.cls == cls for top in pool.tops):
            out[section] = _tops(view, pool, cls, style, now)
    for heading, cls, those in (("l2cache", "l2cache", pool.caches), ("spares", "spare", pool.spares)):
        if those:
            out[heading] = {leaf_name(view, one, style): _aside(view, one, cls, style) for one in those}
    out["error_count"] = pool.errors_counted
    return out


def scan_object(scan: Scan, now: float) -> dict[str, Any]:
    p = progress(scan, now)
    paused = scan.state == "paused"
    running = scan.state == "running" or paused
    return {
        "function": scan.function.upper(),
        "state": "SCANNING" if running else scan.state.upper(),
        "start_time": int(scan.started_at),
        "end_time": 0 if running else int(scan.ends_at),
        "to_examine": p.to_examine,
        "examined": p.examined,
        "skipped": p.skipped,
        "processed": p.processed,
        "errors": scan.errors,
        "bytes_per_scan": 0,
        "pass_start": int(scan.started_at),
        "scrub_pause": int(scan.turned_at) if paused else 0,
        "scrub_spent_paused": 0,
        "issued_bytes_per_scan": p.issued,
        "issued": p.issued,
    }


def _root(view: View, pool: Pool, style: Style, now: float) -> dict[str, Any]:
    spaces = [_space(top) for top in pool.tops if top.cls != "log"]
    total, usable = (sum(column) for column in zip(*spaces, strict=False))
    out: dict[str, Any] = {"name": pool.name, "vdev_type": "root", "guid": pool.guid, "class": "normal", "state": pool_state(pool)}
    out.update({"alloc_space": pool.alloc_bytes, "total_space": total, "def_space": usable})
    out.update(_errors([0, 0, 0]))
    out["vdevs"] = _tops(view, pool, "data", style, now)
    return out


def _space(top: Vdev) -> tuple[int, int]:
    """(raw, usable) bytes of a top-level vdev. Usable is counted as the kernel does: by what a block of 128 KiB takes up."""
    total = top.asize >> top.metaslab_shift << top.metaslab_shift
    sectors = data = BLOCK_BYTES >> top.ashift
    if top.type == "raidz":
        sectors += top.nparity * -(-data // (len(top.children) - top.nparity))
        sectors = -(-sectors // (top.nparity + 1)) * (top.nparity + 1)
    ratio = BLOCK_BYTES // (sectors << top.ashift >> 9)
    return total, (total >> 9) * ratio


def _tops(view: View, pool: Pool, cls: str, style: Style, now: float) -> dict[str, Any]:
    chosen = [(i, top) for i, top in enumerate(pool.tops) if top.cls == cls]
    out = {}
    for index, top in chosen:
        entry = _vdev(view, pool, top, index, cls, style, now)
        out[entry["name"]] = entry
    return out


def _vdev(view: View, pool: Pool, vdev: Vdev, index: int, cls: str, style: Style, now: float) -> dict[str, Any]:
    out: dict[str, Any] = {"name": vdev_name(view, vdev, index, style), "vdev_type": vdev.type, "guid": vdev.guid}
    if not vdev.children:
        out.update(_strings(vdev))
    out["class"] = CLASSES[cls]
    out["state"] = _state_word(vdev)
    total, usable = _space(vdev)
    if vdev in pool.tops:
        out.update({"alloc_space": pool.alloc_bytes // len(pool.tops), "total_space": total, "def_space": usable})
    size = total if vdev in pool.tops else min_asize(pool, vdev.guid)
    out["rep_dev_size"] = size + LABELS_BYTES * (not vdev.children)
    if not vdev.children:
        out["phys_space"] = _partition_bytes(view.node, vdev)
    out.update(_errors(vdev.errors))
    written = _written(pool, vdev, now)
    if written:
        out["scan_processed"] = written
    if vdev.children:
        children = [_vdev(view, pool, child, i, cls, style, now) for i, child in enumerate(vdev.children)]
        out["vdevs"] = {child["name"]: child for child in children}
    else:
        out["slow_ios"] = vdev.slow
        out.update({"not_present": 1, "was": vdev.path} if vdev.not_present else {})
    return out


def _strings(leaf: Vdev) -> dict[str, str]:
    pairs = (("path", leaf.path), ("phys_path", leaf.phys_path), ("devid", leaf.devid))
    return {key: value for key, value in pairs if value}


def _state_word(vdev: Vdev) -> str:
    """A leaf that could not be opened is CANT_OPEN here, FAULTED or UNAVAIL in the text."""
    if not vdev.children and vdev.aux in CANNOT_OPEN and vdev.state in ("FAULTED", "UNAVAIL"):
        return "CANT_OPEN"
    return state_of(vdev)


def _errors(counts: Sequence[int]) -> dict[str, int]:
    return {"read_errors": counts[0], "write_errors": counts[1], "checksum_errors": counts[2]}


def _written(pool: Pool, vdev: Vdev, now: float) -> int:
    if not pool.scan or not any(leaf.resilver_txg for leaf in vdev.leaves()):
        return 0
    return progress(pool.scan, now).processed


def _partition_bytes(node: Node, leaf: Vdev) -> int:
    """The size of the partition that holds this leaf's label; of any other member's when this one is gone."""
    sizes = {p.label.guid: p.sectors * SECTOR for d in node.disks for p in d.partitions if p.label}
    return sizes.get(leaf.guid) or max(sizes.values(), default=0)


def _aside(view: View, leaf: Vdev, cls: str, style: Style) -> dict[str, Any]:
    """A spare, which has no counters, or a cache device."""
    out: dict[str, Any] = {"name": leaf_name(view, leaf, style), "vdev_type": leaf.type, "guid": leaf.guid}
    out.update(_strings(leaf) if leaf.type == "disk" else {})
    out.update({"class": cls, "state": leaf.state})
    return {**out, **_errors(leaf.errors)} if cls == "l2cache" else out
