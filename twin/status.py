"""`zpool status` as text, in the words of OpenZFS 2.0 to 2.4."""

from collections.abc import Iterator
from dataclasses import dataclass

from twin.figures import nicenum
from twin.model import Pool, Vdev
from twin.scan import progress, scan_lines
from twin.vdevs import base_path, kind_name, pool_state, state_of
from twin.view import View

MSG = "https://openzfs.github.io/openzfs-docs/msg/"
NAME_WIDTH_MIN = 10
SECTIONS = (("dedup", "dedup\t"), ("special", "special\t"), ("log", "logs\t"))  # zpool prints a tab behind these
AUX_NOTES = {
    "corrupt_data": "corrupted data",
    "open_failed": "cannot open",
    "bad_label": "invalid label",
    "err_exceeded": "too many errors",
    "external": "external device fault",
}
CANNOT_OPEN = ("corrupt_data", "open_failed", "bad_label")


@dataclass(frozen=True)
class Why:
    """What `status:`, `action:` and `see:` say."""

    status: str
    action: str
    msgid: str = ""


RESILVERING = Why(
    "One or more devices is currently being resilvered.  The pool will\n\tcontinue to function, possibly in a degraded state.\n",
    "Wait for the resilver to complete.\n",
)
SUSPENDED_MMP = Why(
    "The pool is suspended because multihost writes failed or were delayed;\n\tanother system could import the pool undetected.\n",
    "Make sure the pool's devices are connected, then reboot your system and\n\timport the pool.\n",
    "ZFS-8000-MM",
)
MAY_BE_CLEARED = Why(
    SUSPENDED_MMP.status,
    "Make sure the pool's devices are connected, then reboot your system and\n\timport the pool or run 'zpool clear' to resume the pool.\n",
    "ZFS-8000-MM",
)
SUSPENDED_IO = Why(
    "One or more devices are faulted in response to IO failures.\n",
    "Make sure the affected devices are connected, then run 'zpool clear'.\n",
    "ZFS-8000-HC",
)
NO_REPLICAS = Why(
    "One or more devices could not be opened.  There are insufficient\n\treplicas for the pool to continue functioning.\n",
    "Attach the missing device and online it using 'zpool online'.\n",
    "ZFS-8000-3C",
)
DATA_ERRORS = Why(
    "One or more devices has experienced an error resulting in data\n\tcorruption.  Applications may be affected.\n",
    "Restore the file in question if possible.  Otherwise restore the\n\tentire pool from backup.\n",
    "ZFS-8000-8A",
)
FAULTED = Why(
    "One or more devices are faulted in response to persistent errors.\n\tSufficient replicas exist for the pool to continue functioning in a\n"
    "\tdegraded state.\n",
    "Replace the faulted device, or use 'zpool clear' to mark the device\n\trepaired.\n",
)
MISSING = Why(
    "One or more devices could not be opened.  Sufficient replicas exist for\n\tthe pool to continue functioning in a degraded state.\n",
    "Attach the missing device and online it using 'zpool online'.\n",
    "ZFS-8000-2Q",
)
BAD_LABEL = Why(
    "One or more devices could not be used because the label is missing or\n\tinvalid.  Sufficient replicas exist for the pool to continue\n"
    "\tfunctioning in a degraded state.\n",
    "Replace the device using 'zpool replace'.\n",
    "ZFS-8000-4J",
)
FAILING = Why(
    "One or more devices has experienced an unrecoverable error.  An\n\tattempt was made to correct the error.  Applications are unaffected.\n",
    "Determine if the device needs to be replaced, and clear the errors\n\tusing 'zpool clear' or replace the device with 'zpool replace'.\n",
    "ZFS-8000-9P",
)
OFFLINE = Why(
    "One or more devices has been taken offline by the administrator.\n\tSufficient replicas exist for the pool to continue functioning in a\n"
    "\tdegraded state.\n",
    "Online the device using 'zpool online' or replace the device with\n\t'zpool replace'.\n",
)
REMOVED = Why(
    "One or more devices has been removed by the administrator.\n\tSufficient replicas exist for the pool to continue functioning in a\n"
    "\tdegraded state.\n",
    "Online the device using zpool online' or replace the device with\n\t'zpool replace'.\n",  # the odd quote is zpool's own
)
REMOVED_SINCE_2_3_3 = Why(
    "One or more devices have been removed.\n\tSufficient replicas exist for the pool to continue functioning in a\n\tdegraded state.\n",
    REMOVED.action,
)


def why(pool: Pool, release: tuple[int, ...]) -> Why | None:
    """The one thing zpool says is wrong: the first that holds, in its order. A resilver hides all others."""
    leaves = pool.leaves()
    cases = (
        (pool.scan is not None and pool.scan.state == "running" and pool.scan.function == "resilver", RESILVERING),
        (pool.suspended == "mmp", MAY_BE_CLEARED if release >= (2, 2, 4) else SUSPENDED_MMP),
        (pool.suspended == "io", SUSPENDED_IO),
        (pool_state(pool) == "UNAVAIL", NO_REPLICAS),
        (pool.errors_counted > 0, DATA_ERRORS),
        (any(leaf.state == "FAULTED" and leaf.aux not in CANNOT_OPEN for leaf in leaves), FAULTED),
        (any(leaf.aux == "open_failed" and leaf.state == "UNAVAIL" for leaf in leaves), MISSING),
        (any(leaf.aux in CANNOT_OPEN and leaf.state in ("FAULTED", "UNAVAIL") for leaf in leaves), BAD_LABEL),
        (any(leaf.state == "UNAVAIL" for leaf in leaves), BAD_LABEL),  # opened once, and not any more: zpool says the same of it
        (any(any(leaf.errors) for leaf in leaves), FAILING),
        (any(leaf.state == "OFFLINE" for leaf in leaves), OFFLINE),
        (any(leaf.state == "REMOVED" for leaf in leaves), REMOVED_SINCE_2_3_3 if release >= (2, 3, 3) else REMOVED),
    )
    return next((text for holds, text in cases if holds), None)


@dataclass(frozen=True)
class Style:
    """How names and counters are to be printed: -P, -g, -L, -p, -s. And whether damaged data is listed: -v."""

    full_paths: bool = False
    guids: bool = False
    real_paths: bool = False
    exact: bool = False
    slow: bool = False
    lists: bool = False


def leaf_name(view: View, leaf: Vdev, style: Style) -> str:
    if style.guids or leaf.not_present:
        return str(leaf.guid)
    path = leaf.path
    if style.real_paths:
        device = view.device(path)
        path = f"/dev/{device.name}" if device else path
    if style.full_paths:
        return path
    return (base_path(path) if leaf.whole_disk else path).rpartition("/")[2]


def vdev_name(view: View, vdev: Vdev, index: int, style: Style) -> str:
    if not vdev.children:
        return leaf_name(view, vdev, style)
    return str(vdev.guid) if style.guids else kind_name(vdev, index)


def note(pool: Pool, leaf: Vdev, now: float) -> str:
    if leaf.children:
        return ""
    text = ""
    if leaf.not_present:
        text = f"  was {leaf.path}"
    elif leaf.state in ("FAULTED", "UNAVAIL", "DEGRADED") and leaf.aux:
        text = f"  {AUX_NOTES[leaf.aux]}"
    if leaf.deferred:
        return text + "  (awaiting resilver)"
    running = pool.scan if leaf.resilver_txg and leaf.state == "ONLINE" and pool.scan is not None and pool.scan.state == "running" else None
    return text + ("  (resilvering)" if running is not None and progress(running, now).processed else "")


Row = tuple[int, str, str, str, str]  # depth, name, state, counters, note


def rows(view: View, pool: Pool, style: Style, now: float) -> Iterator[Row]:
    yield 0, pool.name, pool_state(pool), _counters(None, style), ""
    for cls, heading in (("data", ""), *SECTIONS):
        tops = [(i, top) for i, top in enumerate(pool.tops) if top.cls == cls]
        if heading and tops:
            yield 0, heading, "", "", ""
        for index, top in tops:
            yield from _rows(view, pool, top, index, 1, style, now)
    if pool.caches:
        yield 0, "cache", "", "", ""
    for cache in pool.caches:
        yield 1, leaf_name(view, cache, style), cache.state, _counters(cache, style), note(pool, cache, now)
    if pool.spares:
        yield 0, "spares", "", "", ""
    for spare in pool.spares:
        # Spares have no counters, and their state is padded.
        yield 1, leaf_name(view, spare, style), f"{spare.state:<8}", "", "  currently in use" if spare.state == "INUSE" else ""


def _rows(view: View, pool: Pool, vdev: Vdev, index: int, depth: int, style: Style, now: float) -> Iterator[Row]:
    yield depth, vdev_name(view, vdev, index, style), state_of(vdev), _counters(vdev, style), note(pool, vdev, now)
    for i, child in enumerate(vdev.children):
        yield from _rows(view, pool, child, i, depth + 1, style, now)


def _counters(vdev: Vdev | None, style: Style) -> str:
    """READ, WRITE and CKSUM; interior vdevs show their own and none of their leaves', the pool none. Slow I/Os are counted of leaves alone: what
    has leaves shows a dash, and 0 with -p."""
    leaf = vdev is not None and not vdev.children
    counts = vdev.errors if vdev is not None else [0, 0, 0]
    text = "".join(f" {str(n) if style.exact else nicenum(n):>5}" for n in counts)
    if style.slow:
        slow = str(vdev.slow) if vdev is not None and leaf else "0" if style.exact else "-"
        text += f" {slow:>5}"
    return text


def table(view: View, pool: Pool, style: Style, now: float) -> str:
    found = list(rows(view, pool, style, now))
    width = max([NAME_WIDTH_MIN] + [2 * depth + len(name) for depth, name, state, _, _ in found if state])
    heading = f"\t{'NAME':<{width}}  {'STATE':<8}  READ WRITE CKSUM" + ("  SLOW" if style.slow else "")
    lines = [heading] + [_line(row, width) for row in found]
    return "\n".join(lines) + "\n"


def _line(row: Row, width: int) -> str:
    depth, name, state, counters, text = row
    if not state:
        return f"\t{name}"
    padded = f"{'  ' * depth + name:<{width}}"
    return f"\t{padded}  {state:<8}{counters}{text}" if counters else f"\t{padded}  {state}{text}"


def pool_text(view: View, pool: Pool, style: Style, now: float) -> str:
    reason = why(pool, view.node.release)
    parts: list[str] = [f"  pool: {pool.name}\n state: {'SUSPENDED' if pool.suspended else pool_state(pool)}\n"]
    if reason:
        parts.append(f"status: {reason.status}action: {reason.action}")
        parts.append(f"   see: {MSG}{reason.msgid}\n" if reason.msgid else "")
    if pool.scan:
        parts.append(scan_lines(pool.scan, now, view.node.release))
    parts.append(pool.removal)
    parts.append(f"config:\n\n{table(view, pool, style, now)}\nerrors: {_errors(pool, style.lists)}\n")
    return "".join(parts)


def _errors(pool: Pool, lists: bool) -> str:
    """A list has an empty line before it, and each entry eight spaces (cmd/zpool/zpool_main.c:print_error_log)."""
    if not pool.errors_counted:
        return "No known data errors"
    if not lists or not pool.error_log:
        return f"{pool.errors_counted} data errors, use '-v' for a list"
    return "\n".join(("Permanent errors have been detected in the following files:", "", *(f"        {entry}" for entry in pool.error_log)))


def is_healthy(view: View, pool: Pool) -> bool:
    """Whether `zpool status -x` has nothing to say of it."""
    return why(pool, view.node.release) is None
