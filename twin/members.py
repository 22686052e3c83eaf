"""`zpool online`, `offline`, `clear` and `detach` of one member, by guid or by the name it was given; `zpool scrub` and `resilver`; `zpool set path`.

`zpool remove` is in `twin.auxiliary`.
"""

import copy
from collections.abc import Sequence

from twin import auxiliary
from twin.answer import Answer, refused
from twin.model import Node, Pool, Scan, Vdev
from twin.scan import catch_up, end_replacements, forget, pause, resume, stand_alone, start_resilver
from twin.vdevs import Place, find, has_replicas, member, notes_removal, notes_removal_of_offline, state_of
from twin.view import View

EXIT_DETACH_REFUSED = 255
RESILVERS_SINCE = (0, 8)
# `zpool online` looks the device up by itself, and of one that is not there says nothing at all; later it says what it cannot find (zpool_do_online).
LOOKS_UP_SINCE, IS_NAMED_SINCE = (2, 1, 12), (2, 3)
_WORDS = {"clear": (1, 2), "scrub": (1,), "pause": (1,), "stop": (1,), "resilver": (1,), "online": tuple(range(2, 200))}
WAS_REMOVED = "removed"  # of a leaf that is OFFLINE
FAULTED = ("err_exceeded", "external")  # by ZED for its errors, or by `zpool offline -f`; only a clear ends it


def change(node: Node, verb: str, args: Sequence[str], now: float) -> Answer | None:
    """None for options and shapes the twin does not know."""
    if verb == "scrub" and list(args[:1]) == ["-p"]:
        verb, args = "pause", args[1:]
    if verb == "scrub" and list(args[:1]) == ["-s"]:
        verb, args = "stop", args[1:]
    if any(a.startswith("-") for a in args) or len(args) not in _WORDS.get(verb, (2,)):
        return None
    pool = next((p for p in node.imported if p.name == args[0]), None)
    if pool is None and verb == "online" and node.release >= IS_NAMED_SINCE:
        return Answer(1, "", f"cannot open '{args[0]}': no such pool\nfailed to open pool \"{args[0]}\"")  # and no line break
    if pool is None:
        return refused(1, f"cannot open '{args[0]}': no such pool")
    if verb == "clear":
        return _clear(node, pool, args[1:], now)
    if verb == "scrub":
        return _scrub(node, pool, now)
    if verb == "resilver":
        return _resilver(node, pool, now)
    if verb == "pause":
        return _pause(node, pool, now)
    if verb == "stop":
        return _stop(pool, now)
    if len(args) > 2:
        answers = [change(node, verb, (args[0], word), now) for word in args[1:]]
        return next((a for a in answers if a and a.exit_code), None) or Answer(0, "".join(a.stdout for a in answers if a))
    if verb == "remove":
        return auxiliary.remove(node, pool, args[1], now)
    found = member(pool, args[1])
    if pool.suspended and verb in ("online", "offline"):
        more = f'\nFailed to online "{args[1]}" in pool "{pool.name}": -1' if verb == "online" and node.release >= IS_NAMED_SINCE else ""
        return refused(1, f"cannot {verb} {args[1]}: pool I/O is currently suspended{more}")
    if found is None and verb == "online" and node.release >= LOOKS_UP_SINCE:
        return refused(1, f'couldn\'t find device "{args[1]}" in pool "{pool.name}"') if node.release >= IS_NAMED_SINCE else Answer(1)
    if found is None:
        return refused(EXIT_DETACH_REFUSED if verb == "detach" else 1, f"cannot {verb} {args[1]}: no such device in pool")
    return {"online": _online, "offline": _offline, "detach": _detach}[verb](node, pool, args[1], found, now)


def set_path(node: Node, args: Sequence[str]) -> Answer | None:
    """The kernel writes the string down and opens nothing. None for what else can be set, and where members have no properties yet."""
    if len(args) != 3 or not args[0].startswith("path=") or node.release < (2, 2):
        return None
    pool = next((p for p in node.imported if p.name == args[1]), None)
    if pool is None:
        return refused(1, f"cannot open '{args[1]}': no such pool")
    found, path = member(pool, args[2]), args[0][len("path=") :]
    if found is None or not path.startswith("/dev/"):
        return None
    found[0].path = path
    return Answer(0)


def _online(node: Node, pool: Pool, word: str, found: tuple[Vdev, Place], now: float) -> Answer:
    leaf = found[0]
    if not _opens(node, pool, leaf):
        if leaf.state in ("ONLINE", "OFFLINE", "REMOVED"):
            leaf.state, leaf.aux = ("FAULTED", "corrupt_data") if leaf.not_present else (_without_disk(node, leaf), "")
        warning = f"warning: device '{word}' onlined, but remains in faulted state\n"
        return Answer(0, warning + "use 'zpool replace' to replace devices that are no longer present\n")
    if leaf.aux in FAULTED:
        warning = f"warning: device '{word}' onlined, but remains in faulted state\n"
        return Answer(0, warning + "use 'zpool clear' to restore a faulted device\n")
    if leaf.state != "ONLINE":
        leaf.state, leaf.aux, leaf.not_present = "ONLINE", "", False
        catch_up(pool, now)
    return Answer(0)


def _without_disk(node: Node, leaf: Vdev) -> str:
    """One that was called REMOVED before stays so (vdev_open in module/zfs/vdev.c)."""
    was_removed = leaf.state == "REMOVED" or leaf.aux == WAS_REMOVED or (leaf.state == "OFFLINE" and notes_removal_of_offline(node.release))
    return "REMOVED" if was_removed and notes_removal(node.release) else "UNAVAIL"


def _offline(node: Node, pool: Pool, word: str, found: tuple[Vdev, Place], now: float) -> Answer:
    leaf = found[0]
    if leaf.state == "ONLINE" and not has_replicas(pool, leaf):
        return refused(1, f"cannot offline {word}: no valid replicas")
    leaf.state, leaf.aux = "OFFLINE", WAS_REMOVED if leaf.state == "REMOVED" else ""
    return Answer(0)


def _clear(node: Node, pool: Pool, words: Sequence[str], now: float) -> Answer:
    if pool.suspended == "mmp" and node.release < (2, 2, 4):
        return refused(1, f"cannot clear errors for {pool.name}: invalid argument for this pool operation")
    if pool.suspended == "mmp" and pool.active_on:
        return refused(1, f"cannot clear errors for {pool.name}: pool is imported on a different host")
    if pool.suspended == "io" and not _would_stand(node, pool):
        return refused(1, f"cannot clear errors for {pool.name}: I/O error")
    found = member(pool, words[0]) if words else None
    if words and found is None:
        return refused(1, f"cannot clear errors for {words[0]}: no such device in pool")
    if pool.suspended == "io":
        pool.data_errors = 0  # what waited is written now, as a real node showed
        for vdev in pool.walk():
            vdev.errors = [0, 0, 0]
        catch_up(pool, now)
    pool.suspended = ""
    for leaf in [found[0]] if found else pool.leaves():
        leaf.errors, leaf.slow = [0, 0, 0], 0
        if leaf.state in ("UNAVAIL", "REMOVED", "FAULTED") and _opens(node, pool, leaf):  # every one is opened anew, serves, and catches up
            leaf.state, leaf.aux, leaf.not_present = "ONLINE", "", False
            catch_up(pool, now)
    return Answer(0)


def _would_stand(node: Node, pool: Pool) -> bool:
    """Whether every vdev has enough members once all are opened anew. What a suspended pool's tree says of them counts for nothing."""
    tried = copy.deepcopy(pool)
    for leaf, real in zip(tried.leaves(), pool.leaves(), strict=False):
        if leaf.state != "OFFLINE":
            leaf.state = "ONLINE" if _opens(node, pool, real) else "UNAVAIL"
    return all(state_of(top) != "UNAVAIL" for top in tried.tops)


def _scrub(node: Node, pool: Pool, now: float) -> Answer:
    if pool.suspended:
        return refused(1, f"cannot scrub {pool.name}: pool I/O is currently suspended")
    if pool.scan and pool.scan.state == "running":
        text = (
            "currently resilvering"
            if pool.scan.function == "resilver"
            else f"currently scrubbing; use 'zpool scrub -s' to cancel {'scrub' if node.release >= (2, 2) else 'current scrub'}"
        )
        return refused(1, f"cannot scrub {pool.name}: {text}")
    if pool.scan and pool.scan.state == "paused":
        resume(pool, now)
        return Answer(0)
    pool.scan = Scan("scrub", "running", now, node.knobs.resilver_seconds, pool.alloc_bytes, 0, errors=pool.data_errors + len(pool.damaged))
    return Answer(0)


def _resilver(node: Node, pool: Pool, now: float) -> Answer | None:
    """It ends whatever scan runs. Where nothing misses data it begins none, and ends a replacement whose new disk is filled."""
    if node.release < RESILVERS_SINCE:
        return None
    if pool.suspended:
        return refused(1, f"cannot restart resilver on {pool.name}: pool I/O is currently suspended")
    if not pool.defers:
        return refused(1, f"cannot restart resilver on {pool.name}: this action requires the resilver_defer feature")
    if any((leaf.resilver_txg or leaf.deferred) and leaf.state == "ONLINE" for leaf in pool.leaves()):
        start_resilver(node, pool, now)
    else:
        end_replacements(node, pool)
    return Answer(0)


def _pause(node: Node, pool: Pool, now: float) -> Answer:
    """cmd/zpool/zpool_main.c and lib/libzfs/libzfs_pool.c:zpool_scan have the words; the kernel asks dsl_scrub_pause_resume_check."""
    if pool.suspended:
        return refused(1, f"cannot pause scrubbing {pool.name}: pool I/O is currently suspended")
    if pool.scan is None or pool.scan.function != "scrub" or pool.scan.state not in ("running", "paused"):
        return refused(1, f"cannot pause scrubbing {pool.name}: there is no active scrub")
    if pool.scan.state == "paused":
        scrub = " scrub" if node.release >= (2, 2) else ""
        return refused(1, f"cannot pause scrubbing {pool.name}: scrub is paused; use 'zpool scrub' to resume{scrub}")
    pause(pool, now)
    return Answer(0)


def _stop(pool: Pool, now: float) -> Answer:
    """spa_scan_stop refuses a resilver; dsl_scan_done leaves the list of damaged data as far as this scrub came, and the twin's found nothing yet."""
    scan = pool.scan
    if pool.suspended:
        return refused(1, f"cannot cancel scrubbing {pool.name}: pool I/O is currently suspended")
    if scan is not None and scan.state == "running" and scan.function == "resilver":
        return refused(1, f"cannot cancel scrubbing {pool.name}: currently resilvering")
    if scan is None or scan.function != "scrub" or scan.state not in ("running", "paused"):
        return refused(1, f"cannot cancel scrubbing {pool.name}: there is no active scrub")
    pool.scan = Scan("scrub", "canceled", scan.started_at, now - scan.started_at, 0, 0)
    pool.error_log = []
    return Answer(0)


def _detach(node: Node, pool: Pool, word: str, found: tuple[Vdev, Place], now: float) -> Answer:
    leaf, place = found
    parent = place.parent
    if parent is None or parent.type not in ("mirror", "replacing", "spare"):
        return refused(EXIT_DETACH_REFUSED, f"cannot detach {word}: only applicable to mirror and replacing vdevs")
    if not has_replicas(pool, leaf):
        return refused(EXIT_DETACH_REFUSED, f"cannot detach {word}: no valid replicas")
    if not _gave_back(pool, parent, leaf):
        forget(node, pool, place.top, [leaf])
    parent.children.remove(leaf)
    if len(parent.children) == 1:
        above = find(pool, parent.guid)
        assert above is not None
        stand_alone(node, pool, above[1], parent, parent.children[0])
    if pool.scan and pool.scan.state == "running" and not any(v.resilver_txg for v in pool.leaves()):
        pool.scan = Scan("resilver", "canceled", pool.scan.started_at, now - pool.scan.started_at, 0, 0)
    return Answer(0)


def _gave_back(pool: Pool, parent: Vdev, leaf: Vdev) -> bool:
    """Whether the leaf was the hot spare, which goes back to the spares. One that is left alone is no spare any more."""
    listed = {spare.guid: spare for spare in pool.spares}
    if parent.type != "spare":
        return False
    if leaf.guid in listed:
        listed[leaf.guid].state = "AVAIL"
        return True
    pool.spares = [spare for spare in pool.spares if all(spare.guid != child.guid for child in parent.children)]
    return False


def _opens(node: Node, pool: Pool, leaf: Vdev) -> bool:
    """Whether the stored path leads to a disk that answers and carries the leaf's label. The kernel looks nowhere else."""
    device = View(node).device(leaf.path)
    if device is None or device.disk.wwid in node.faults.hangs or device.partition is None or not device.path.runs:
        return False
    label = device.partition.label
    return label is not None and (label.pool, label.guid) == (pool.name, leaf.guid)
