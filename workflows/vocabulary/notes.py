"""What stands behind a row of the tree: why a vdev is in its state, and what is done to it.

From `print_status_config` and `print_import_config` of zpool. A row may have several, two blanks apart.
"""

from workflows.vocabulary._slugs import AUXILIARY, DISK, DOWN, ERRORS, FILLING, IMPORT, LABELS, LOSS
from workflows.vocabulary._words import GOOD, NEUTRAL, Vocabulary, by, form

_LOST = by(LOSS, DOWN, AUXILIARY, LABELS, ERRORS, DISK, "spare-in-use", "vdev-degraded")
_FILLED = by(FILLING, LOSS, "spare-in-use", "many-disks-offline", "pool-down", "pool-suspended")
_WHY = (
    *("cannot open", "missing device", "insufficient replicas", "corrupted data", "invalid label", "too many errors"),
    *("too many slow I/Os", "experienced I/O failures", "external device fault", "all children offline", "faulted", "offline"),
)
_IN_USE = by("spare-in-use", "spare-unused", "spare-unavailable", LOSS, DOWN, "foreign-pool-imported-elsewhere", "vdev-degraded")
_REFUSED = by(LOSS, DOWN, AUXILIARY, "features-disabled", "version-mismatch", "block-size-mismatch", "vdev-degraded")
_DATE = r"[^()]*"

ROW = Vocabulary(
    "zpool_status",
    "note behind a row",
    {
        "": GOOD,
        **dict.fromkeys(_WHY, _LOST),
        "bad intent log": by("pool-down", "log-device-lost"),
        "newer version": _REFUSED,
        "unsupported feature(s)": _REFUSED,
        "unsupported minimum blocksize": _REFUSED,
        "currently in use": _IN_USE,
        "split into new pool": by(LOSS, DOWN, "vdev-degraded"),
        "(resilvering)": _FILLED,
        "(awaiting resilver)": _FILLED,
        "(repairing)": by("scrub-repaired", "scrub-errors", FILLING, ERRORS, DISK, LOSS, "data-errors"),
        "(removing)": by("device-removal"),
        "(non-allocating)": by("device-removal", "top-without-redundancy", "aux-without-redundancy"),
        "(initializing)": NEUTRAL,
        "(uninitialized)": NEUTRAL,
        "(trimming)": NEUTRAL,
        "(untrimmed)": NEUTRAL,
        "(trim unsupported)": NEUTRAL,
    },
    (
        form(r"was .+", "was /dev/sdx1", _LOST),
        form(r"in use by pool '.+'", "in use by pool 'tank'", _IN_USE),
        form(r"is part of active pool '.+'", "is part of active pool 'tank'", _IN_USE),
        form(
            r"block size: [0-9]+B configured, [0-9]+B native",
            "block size: 512B configured, 4096B native",
            by("block-size-mismatch"),
        ),
        form(rf"\([0-9]+% initialized{_DATE}\)", "(37% initialized, started at …)", NEUTRAL),
        form(rf"\([0-9]+% trimmed{_DATE}\)", "(100% trimmed, completed at …)", NEUTRAL),
        form(r"[0-9.,]+[KMGTPE]?B? resilvered", "1.2G resilvered", NEUTRAL),  # old releases leave it there when the resilver has ended
        form(r"[0-9.,]+[KMGTPE]?B? repaired", "64K repaired", by("scrub-repaired", "scrub-errors", ERRORS, DISK)),
    ),
)

POOL = Vocabulary(
    "zpool_status",
    "note behind the pool's own row",
    {
        "": GOOD,
        **dict.fromkeys(
            (*_WHY, "bad intent log", "newer version", "incompatible version", "unsupported feature(s)", "split into new pool"),
            by(DOWN, "vdev-degraded"),
        ),
    },
)

IMPORTABLE = Vocabulary(
    "zpool_import",
    "note behind a row",
    {
        "": GOOD,
        **dict.fromkeys(
            (*_WHY, "newer version", "unsupported feature(s)", "unsupported minimum blocksize", "currently in use", "bad intent log"),
            by(IMPORT),
        ),
    },
    (form(r"was .+", "was /dev/sdx1", by(IMPORT)), form(r"in use by pool '.+'", "in use by pool 'tank'", by(IMPORT))),
)

COLUMN = Vocabulary(
    "zpool_status",
    "columns SLOW, POWER and DIO of a row",
    {"POWER off": by(LOSS, AUXILIARY)},
    (
        form(r"SLOW \S+", "SLOW 1.2K", by("slow-ios", "slow-disk", LOSS)),
        form(r"DIO \S+", "DIO 12", by("direct-io-verify")),
    ),
    note="0, a dash and on are good",
)

ALL = (ROW, POOL, IMPORTABLE, COLUMN)
