"""States of pools and vdevs, as every command of ZFS prints them.

The words come from `zpool_state_to_name` of libzfs; AVAIL and INUSE are printed for spares alone, SUSPENDED for pools alone.
"""

from collections.abc import Mapping

from workflows.vocabulary._slugs import DOWN, FILLING, IMPORT, LOSS
from workflows.vocabulary._words import GOOD, Meaning, Vocabulary, by

_BELOW = LOSS | FILLING | {"vdev-degraded", "spare-in-use", "member-degraded", "disk-errors", "errors-everywhere"}
_OF_A_POOL = _BELOW | DOWN | {"log-device-lost", "top-without-redundancy", "aux-without-redundancy"}


def _states(degraded: frozenset[str], lost: frozenset[str], **more: Meaning) -> Mapping[str, Meaning]:
    """Every state word but ONLINE is not well. OFFLINE, REMOVED and the like are reported of a leaf, and of the vdevs above it."""
    bad = {word: by(lost) for word in ("FAULTED", "UNAVAIL", "OFFLINE", "REMOVED", "SPLIT")}
    return {"ONLINE": GOOD, "DEGRADED": by(degraded), **bad, **more}


_POOL = _states(_OF_A_POOL, DOWN | {"pool-errata", "hostid-mismatch"}, SUSPENDED=by("pool-suspended", "many-disks-offline"))
_TOP = _states(_BELOW | DOWN, DOWN | LOSS | {"pool-down"})
_LEAF = _states(_BELOW | DOWN, LOSS | DOWN | {"spare-in-use", "label-corrupt", "labels-missing"})
_INSIDE = _states(_BELOW | DOWN, LOSS | DOWN | {"spare-in-use"})
_LOG = _states(_BELOW | DOWN | {"log-device-lost"}, DOWN | {"log-device-lost"})
_CACHE = _states(frozenset(("cache-device-lost",)), frozenset(("cache-device-lost",)))
_SPARE = _states(
    frozenset(("spare-unavailable",)),
    frozenset(("spare-unavailable",)),
    AVAIL=GOOD,
    INUSE=by("spare-in-use", "spare-unused", "spare-unavailable", "pool-down"),
)
_ALLOCATION = _states(_BELOW | DOWN | {"aux-without-redundancy"}, DOWN | LOSS)

POOL = Vocabulary("zpool_status", "state of a pool", _POOL)
TOP = Vocabulary("zpool_status", "state of a top-level vdev", _TOP)
INSIDE = Vocabulary("zpool_status", "state of a vdev between", _INSIDE, note="replacing, spare, and a mirror in a log or special class")
LEAF = Vocabulary("zpool_status", "state of a leaf", _LEAF)
LOG = Vocabulary("zpool_status", "state of a log vdev", _LOG)
SPECIAL = Vocabulary("zpool_status", "state of a special vdev", _ALLOCATION)
DEDUP = Vocabulary("zpool_status", "state of a dedup vdev", _ALLOCATION)
SPARE = Vocabulary("zpool_status", "state of a spare", _SPARE)
CACHE = Vocabulary("zpool_status", "state of a cache device", _CACHE)
KERNEL = Vocabulary("kstat_pools", "state of a pool", _POOL)
HEALTH = Vocabulary("zpool_list", "HEALTH of a pool", _POOL)
HEALTH_OF_ROW = Vocabulary(
    "zpool_list", "HEALTH of a row", {word: GOOD for word in (*_POOL, "AVAIL", "INUSE", "-", "")}, note="what each row is, zpool_status shows; here only a new word counts"
)  # fmt: skip
IMPORTABLE = Vocabulary("zpool_import", "state of a pool", _states(IMPORT, IMPORT))
IMPORTABLE_ROW = Vocabulary("zpool_import", "state of a row", {**_states(IMPORT, IMPORT, AVAIL=GOOD, INUSE=GOOD), "": GOOD})

TOPS = {"data": TOP, "log": LOG, "special": SPECIAL, "dedup": DEDUP}  # class of a top-level vdev
ALL = (
    POOL, TOP, INSIDE, LEAF, LOG, SPECIAL, DEDUP, SPARE, CACHE, KERNEL, HEALTH, HEALTH_OF_ROW, IMPORTABLE, IMPORTABLE_ROW,
)  # fmt: skip
