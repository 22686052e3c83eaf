"""Module parameters of the twin: what the kernel takes, and what a raised one does to a scan and to everybody else.

How much a knob helps is made up; that a scan goes faster and reads wait longer is not. A running scan keeps what it has done when
its speed changes.
"""

import errno
import re

from twin.kernel import MODULE, defaults
from twin.model import Node, Pool

SPEED_MAX = 4.0
WAIT_SHARE = 0.5  # of what a scan gains, this much is added to what a read waits
# A knob and whether more of it is faster.
KNOBS: dict[str, bool] = {
    "zfs_vdev_scrub_max_active": True,
    "zfs_scan_vdev_limit": True,
    "zfs_vdev_nia_credit": True,
    "zfs_vdev_nia_delay": False,
    "zfs_resilver_min_time_ms": True,
    "zfs_scrub_min_time_ms": True,
}
_NUMBER = re.compile(rb"(0|[1-9][0-9]{0,9})\n?")


def parameter_at(real: str) -> str:
    """The parameter whose file this is; "" for any other file."""
    folder, _, name = real.rpartition("/")
    return name if folder == MODULE else ""


def write(node: Node, name: str, data: bytes, now: float) -> None:
    """As the kernel takes it: a whole number or EINVAL. Raises OSError."""
    found = _NUMBER.fullmatch(data)
    if found is None:
        raise OSError(errno.EINVAL, "Invalid argument", f"{MODULE}/{name}")
    before = speed(node)
    node.parameters[name] = found.group(1).decode("ascii")
    for pool in node.pools:
        _keep_pace(pool, before, speed(node), now)


def speed(node: Node) -> float:
    """How fast a scan goes, beside one with the defaults of this release."""
    factor = 1.0
    for name, usual in defaults(node).items():
        if name in KNOBS and name in node.parameters and usual and int(node.parameters[name]):
            ratio = int(node.parameters[name]) / usual
            factor *= ratio if KNOBS[name] else 1 / ratio
    return max(1 / SPEED_MAX, min(SPEED_MAX, factor))


def strain(node: Node, pool: Pool) -> float:
    """How much longer I/O waits because of it: only while something is scanned."""
    scanning = pool.scan is not None and pool.scan.state == "running"
    return 1.0 + WAIT_SHARE * max(0.0, speed(node) - 1.0) if scanning else 1.0


def _keep_pace(pool: Pool, before: float, after: float, now: float) -> None:
    scan = pool.scan
    if scan is None or scan.state != "running" or before == after:
        return
    scan.done_before, scan.turned_at = scan.done(now), now
    scan.speed *= after / before
