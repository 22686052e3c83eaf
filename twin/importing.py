"""`zpool import` without a pool: what the labels on this node's disks say could be imported."""

from collections.abc import Iterator

from agents.collectors.zdb_label import DESTROYED
from twin import disk_names
from twin.model import Label, Node, Pool, Vdev
from twin.status import MSG, NAME_WIDTH_MIN, SECTIONS
from twin.vdevs import kind_name
from twin.view import View

DOWN = ("UNAVAIL", "FAULTED")
CAN = "The pool can be imported using its name or numeric identifier.\n"
CAN_WITH_FORCE = "The pool can be imported using its name or numeric identifier and\n\tthe '-f' flag.\n"
CAN_DAMAGED = (
    "The pool can be imported despite missing or damaged devices.  The\n\tfault tolerance of the pool may be compromised if imported.\n"
)
DAMAGED = "The pool cannot be imported due to damaged devices or data.\n"
MAY_BE_ACTIVE = "\tThe pool may be active on another system, but can be imported using\n\tthe '-f' flag.\n"
ELSEWHERE = "The pool was last accessed by another system.\n"
TOO_FEW = "insufficient replicas"
LISTED_WITHOUT_LOGS = (2, 1, 12)  # since then the listing is made with -m: spa_tryimport in module/zfs/spa.c
LACKS = "One or more devices are missing from the system.\n"
ATTACH = "The pool cannot be imported. Attach the missing\n\tdevices and try again.\n"
MORE = "\n\tAdditional devices are known to be part of this pool, though their\n\texact configuration cannot be determined.\n"

Row = tuple[int, str, str]  # depth, name, state


def listing(view: View) -> tuple[str, str]:
    """(stdout, stderr)."""
    pools = [pool for pool in view.node.pools if not pool.imported and pool.state != DESTROYED and _labelled(view.node, pool)]
    if not pools:
        return "", "no pools available to import\n"
    return "\n".join(_pool(view, pool) for pool in pools), ""


def _labelled(node: Node, pool: Pool) -> set[int]:
    """The guids of the pool whose labels can be read here."""
    return {label.guid for label in _labels(node, pool)}


def _labels(node: Node, pool: Pool) -> list[Label]:
    partitions = (p for disk in node.disks if disk.wwid not in node.faults.hangs for p in disk.partitions)
    return [p.label for p in partitions if p.label and p.label.copies and p.label.pool == pool.name]


def _pool(view: View, pool: Pool) -> str:
    present = _labelled(view.node, pool)
    if pool.active_on:
        return _active(view, pool, present)
    if is_damaged(view.node, pool):
        return _damaged(view, pool, present)
    state = _worst(["DEGRADED" if is_lost_log(top, present) else _state(top, present) for top in pool.tops])
    status, action, msgid = _advice(view.node, pool, state)
    if state != "UNAVAIL" and view.node.release < LISTED_WITHOUT_LOGS and any(is_lost_log(top, present) for top in pool.tops):
        return _listing(view, pool, present, "UNAVAIL", "UNAVAIL  missing device", LACKS, ATTACH, "ZFS-8000-6X") + MORE
    return _listing(view, pool, present, state, f"{state}  {TOO_FEW}" if state == "UNAVAIL" else state, status, action, msgid)


def is_damaged(node: Node, pool: Pool) -> bool:
    """Whether what the labels lead to cannot be read: a disk contradicts the others, or the last txgs are lost."""
    return bool(pool.rewind_seconds) or any(disk.wwid in pool.blocked_by for disk in node.disks)


def _damaged(view: View, pool: Pool, present: set[int]) -> str:
    status, msgid = (ELSEWHERE, "ZFS-8000-EY") if was_elsewhere(view.node, pool) else ("The pool metadata is corrupted.\n", "ZFS-8000-72")
    action = DAMAGED + (MAY_BE_ACTIVE if pool.state == 0 else "")
    return _listing(view, pool, present, "FAULTED", "FAULTED  corrupted data", status, action, msgid)


def _active(view: View, pool: Pool, present: set[int]) -> str:
    host, hostid = pool.active_on.split()
    status = "The pool is currently imported by another system.\n"
    action = f"The pool must be exported from {host} (hostid={hostid})\n\tbefore it can be safely imported.\n"
    return _listing(view, pool, present, "UNAVAIL", "UNAVAIL  currently in use", status, action, "ZFS-8000-EY")


def _listing(view: View, pool: Pool, present: set[int], state: str, of_root: str, status: str, action: str, msgid: str) -> str:
    """In the layout of the release: up to 2.2 all but status and see stand one column further right (openzfs/zfs pull request 16218)."""
    wide = 6 if view.node.release >= (2, 3) else 7
    lines = [f"{'pool':>{wide}}: {pool.name}\n", f"{'id':>{wide}}: {pool.guid}\n", f"{'state':>{wide}}: {state}\n"]
    lines.append(f"status: {status}" if status else "")
    lines.append(f"{'action':>{wide}}: {action}")
    lines.append(f"   see: {MSG}{msgid}\n" if msgid else "")
    lines.append(f"{'config':>{wide}}:\n\n{_table(view, pool, present, of_root)}")
    return "".join(lines)


def last_user(node: Node, pool: Pool) -> tuple[str, int]:
    """Host and hostid of who wrote the newest label that can be read here: that is whom ZFS asks about."""
    labels = [label for label in _labels(node, pool) if label.writer]
    newest = max(labels, key=lambda label: label.txg, default=None)
    if newest is None or newest.txg < pool.txg:
        return pool.hostname, pool.hostid
    hostname, hostid = newest.writer.split()
    return hostname, int(hostid, 16)


def was_elsewhere(node: Node, pool: Pool) -> bool:
    return pool.state == 0 and last_user(node, pool)[1] != int(node.hostid, 16)


def _advice(node: Node, pool: Pool, state: str) -> tuple[str, str, str]:
    if state == "UNAVAIL":  # also where no disk is damaged and two are just not plugged in
        return "One or more devices contains corrupted data.\n", DAMAGED, "ZFS-8000-5E"
    if was_elsewhere(node, pool):
        return ELSEWHERE, CAN_WITH_FORCE, "ZFS-8000-EY"
    if state == "DEGRADED":
        return "One or more devices contains corrupted data.\n", CAN_DAMAGED, "ZFS-8000-4J"
    return "", CAN, ""


def _state(vdev: Vdev, present: set[int]) -> str:
    if not vdev.children:
        return "ONLINE" if vdev.guid in present else "UNAVAIL"
    states = [_state(child, present) for child in vdev.children]
    down = sum(state in DOWN for state in states)
    if down > (vdev.nparity if vdev.type in ("raidz", "draid") else len(states) - 1):
        return "UNAVAIL"
    return "DEGRADED" if down or "DEGRADED" in states else "ONLINE"


def is_lost_log(top: Vdev, present: set[int]) -> bool:
    """Makes the pool DEGRADED and no more, but for the listing of before 2.1.12."""
    return top.cls == "log" and _state(top, present) in DOWN


def _worst(states: list[str]) -> str:
    return next((state for state in ("UNAVAIL", "DEGRADED") if state in states), "ONLINE")


def _table(view: View, pool: Pool, present: set[int], state: str) -> str:
    rows: list[Row] = [(0, pool.name, state)]
    for cls, heading in (("data", ""), *SECTIONS):
        tops = [(i, top) for i, top in enumerate(pool.tops) if top.cls == cls]
        if heading and tops:
            rows.append((0, heading, ""))
        for index, top in tops:
            rows += _rows(view, pool, top, index, 1, present)
    width = max([NAME_WIDTH_MIN] + [2 * depth + len(name) for depth, name, word in rows if word])
    return "".join(f"\t{'  ' * depth + name:<{width}}  {word}\n" if word else f"\t{name}\n" for depth, name, word in rows)


def _rows(view: View, pool: Pool, vdev: Vdev, index: int, depth: int, present: set[int]) -> Iterator[Row]:
    name = kind_name(vdev, index) if vdev.children else _leaf_name(view, pool, vdev)
    state = _state(vdev, present)
    yield depth, name, f"{state}  {TOO_FEW}" if vdev.children and state == "UNAVAIL" else state
    for i, child in enumerate(vdev.children):
        yield from _rows(view, pool, child, i, depth + 1, present)


def _leaf_name(view: View, pool: Pool, leaf: Vdev) -> str:
    """The by-id name of the disk whose label carries the guid; the stored name of one that is not here."""
    for disk in view.node.disks:
        if any(p.label and p.label.guid == leaf.guid and p.label.pool == pool.name for p in disk.partitions):
            return disk_names.whole(disk).rpartition("/")[2]
    return leaf.path.rpartition("/")[2].partition("-part")[0]
