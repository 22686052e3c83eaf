"""The sentences of `zpool status` and `zpool import`: `status:` with its message id, `errors:`, `scan:`, `remove:`, `expand:`, `checkpoint:`.

A `status:` begins as `status_callback` and `show_import` of zpool print it, 0.6 to 2.4; what follows are details. Blanks are single here.
"""

from __future__ import annotations

import re

from workflows.vocabulary._slugs import AUXILIARY, DAMAGE, DISK, DOWN, ERRORS, FILLING, IMPORT, LABELS, LOSS
from workflows.vocabulary._words import GOOD, NEUTRAL, Form, Meaning, Vocabulary, by, form

_MISSING = by(LOSS, DOWN, AUXILIARY, LABELS, "spare-in-use", "vdev-degraded")
_FAULTED = by(LOSS, DOWN, AUXILIARY, ERRORS, "spare-in-use", "vdev-degraded")
_FEATURES = by("features-disabled", "version-mismatch")
_UNSUPPORTED = by(DOWN, "pool-read-only", "features-disabled", "version-mismatch")
_OVER = NEUTRAL  # what is still so of it, the rows of the tree say


def _begins(said: str, meaning: Meaning) -> Form:
    return Form(re.compile(re.escape(said) + ".*", re.DOTALL), f"{said} …", meaning)


STATUS = Vocabulary(
    "zpool_status",
    "status:",
    {"": GOOD},
    (
        _begins("One or more devices could not be opened.", _MISSING),
        _begins("One or more devices could not be used because the label is missing or invalid.", _MISSING),
        _begins(
            "One or more devices has experienced an unrecoverable error.",
            by(ERRORS, DISK, AUXILIARY, LOSS, FILLING, DAMAGE, "vdev-degraded", "spare-in-use"),
        ),
        _begins("One or more devices has been taken offline by the administrator.", _MISSING),
        _begins("One or more devices has been removed by the administrator.", _MISSING),
        _begins("One or more devices have been removed.", _MISSING),
        _begins("One or more devices is currently being resilvered.", by(FILLING, LOSS, "spare-in-use", DOWN, "replacing-dead")),
        _begins("One or more devices have been sequentially resilvered", by("rebuild-unverified", FILLING, LOSS)),
        _begins("One or more devices has experienced an error resulting in data corruption.", by(DAMAGE, DOWN)),
        _begins("The pool metadata is incomplete or corrupted", by(DOWN)),
        _begins("The pool metadata is corrupted", by(DOWN)),
        _begins("The pool is formatted using an older on-disk format.", _FEATURES),
        _begins("The pool is formatted using a legacy on-disk format.", _FEATURES),
        _begins("The pool has been upgraded to a newer, incompatible", by(DOWN, "features-disabled", "version-mismatch")),
        _begins("Some supported features are not enabled on the pool.", _FEATURES),
        _begins("Some supported and requested features are not enabled on the pool.", _FEATURES),
        _begins("This pool has a compatibility list specified", _FEATURES),
        _begins("One or more features are enabled on the pool despite not being requested", _FEATURES),
        _begins("The pool cannot be accessed on this system because it uses the following feature(s)", _UNSUPPORTED),
        _begins("The pool can only be accessed in read-only mode on this system.", _UNSUPPORTED),
        _begins("One or more devices are faulted in response to persistent errors.", _FAULTED),
        _begins("One or more failure domains are faulted.", _FAULTED),
        _begins("The pool is suspended because multihost writes failed or were delayed", by("pool-suspended")),
        _begins("One or more devices are faulted in response to IO failures.", by("pool-suspended", "many-disks-offline")),
        _begins("An intent log record could not be read.", by("pool-down", "log-device-lost")),
        _begins("One or more devices are configured to use a non-native block size.", by("block-size-mismatch")),
        _begins("Mismatch between pool hostid and system hostid on imported pool.", by("hostid-mismatch")),
        _begins("Errata #", by("pool-errata")),
    ),
)

_IDS: dict[str, Meaning] = {
    "14": by(DOWN),  # CORRUPT_CACHE
    "2Q": _MISSING,
    "3C": _MISSING,
    "4J": _MISSING,
    "5E": _MISSING,
    "6X": _MISSING,
    "72": by(DOWN),
    "8A": by(DAMAGE, DOWN),
    "9P": by(ERRORS, DISK, AUXILIARY, LOSS, FILLING, DAMAGE, "vdev-degraded", "spare-in-use"),
    "A5": by(DOWN, "features-disabled", "version-mismatch", "pool-read-only"),
    "EY": by("hostid-mismatch", DOWN),
    "HC": by("pool-suspended", "many-disks-offline"),
    "JQ": by("pool-suspended", "many-disks-offline"),
    "MM": by("pool-suspended"),
    "K4": by("pool-down", "log-device-lost", "pool-suspended"),  # 0.7.9 to 0.7.13 print it for multihost, too
    "ER": by("pool-errata"),
}
MESSAGE = Vocabulary("zpool_status", "message id behind see:", {"": GOOD} | {f"ZFS-8000-{code}": meaning for code, meaning in _IDS.items()})

ERRORS_LINE = Vocabulary(
    "zpool_status",
    "errors:",
    {
        "No known data errors": GOOD,
        "No known data errors.": GOOD,
    },
    (
        form(r"[0-9]+ data errors?, use '-v' for a list.*", "3 data errors, use '-v' for a list", by(DAMAGE, "scrub-repaired")),
        form(
            r"Permanent errors have been detected in the following files:.*",
            "Permanent errors have been detected in the following files:",
            by(DAMAGE),
        ),
        form(
            r"List of errors unavailable.*",
            "List of errors unavailable: permission denied",
            by("errors-not-listed", "data-errors", DOWN),
        ),
    ),
    note="an `errors:` that is not there is not known",
)

_REPAIRED = by("scrub-repaired", "scrub-errors", ERRORS, DISK, DAMAGE, LOSS)
_WITH_ERRORS = by(DAMAGE, DOWN)
_SCAN = r"(?:error |thorough )?scrub"
SCAN = Vocabulary(
    "zpool_status",
    "scan:",
    {"none requested": NEUTRAL},
    (
        form(rf"{_SCAN} repaired 0B? in .* with 0 errors on .*", "scrub repaired 0B in 00:10:00 with 0 errors on …", GOOD),
        form(rf"{_SCAN} repaired \S+ in .* with 0 errors on .*", "scrub repaired 64K in 00:10:00 with 0 errors on …", _REPAIRED),
        form(rf"{_SCAN} repaired .* with [0-9]+ errors on .*", "scrub repaired 0B in 00:10:00 with 3 errors on …", _WITH_ERRORS),
        form(r"scrubbed 0 error blocks? in .* on .*", "scrubbed 0 error blocks in 00:10:00 on …", GOOD),
        form(r"scrubbed [0-9]+ error blocks? in .* on .*", "scrubbed 3 error blocks in 00:10:00 on …", NEUTRAL),
        form(rf"{_SCAN} in progress since .*", "scrub in progress since …", NEUTRAL),
        form(rf"{_SCAN} paused since .*", "scrub paused since …", by("scrub-paused")),
        form(rf"{_SCAN} cancell?ed on .*", "scrub canceled on …", NEUTRAL),
        form(r"resilvered .* with 0 errors on .*", "resilvered 10G in 00:10:00 with 0 errors on …", GOOD),
        form(r"resilvered .* with [0-9]+ errors on .*", "resilvered 10G in 00:10:00 with 3 errors on …", _WITH_ERRORS),
        form(
            r"resilver(?: \([^)]*\))? in progress since .*",
            "resilver in progress since …",
            by(FILLING, LOSS, "spare-in-use", DOWN, "replacing-dead", ERRORS),
        ),
        form(r"resilver(?: \([^)]*\))? paused since .*", "resilver paused since …", by(FILLING, "resilver-cancelled")),
        form(r"resilver(?: \([^)]*\))? cancell?ed on .*", "resilver canceled on …", by("resilver-cancelled")),
        form(r"scrub completed after .* with 0 errors on .*", "scrub completed after 1h2m with 0 errors on …", GOOD),
        form(r"scrub completed after .* with [0-9]+ errors on .*", "scrub completed after 1h2m with 3 errors on …", _WITH_ERRORS),
        form(r"scrub stopped after .*", "scrub stopped after 1h2m …", NEUTRAL),
        form(r"resilver completed after .* with 0 errors on .*", "resilver completed after 1h2m with 0 errors on …", GOOD),
    ),
    note="when the last scrub was, `scrub-overdue` watches",
)

REMOVE = Vocabulary(
    "zpool_status",
    "remove:",
    {"": GOOD},
    (
        form(r"Removal of .*completed on .*", "Removal of vdev 3 copied 1.2G in 0h1m, completed on …", NEUTRAL),
        form(r"Removal of .* cancell?ed on .*", "Removal of mirror-1 canceled on …", by("device-removal")),
        form(r"Evacuation of .* in progress since .*", "Evacuation of mirror-1 in progress since …", by("device-removal")),
        form(r"[0-9.,]+[KMGTP]?B? memory used for removed device mappings.*", "3.2K memory used for removed device mappings", NEUTRAL),
    ),
)

EXPAND = Vocabulary(
    "zpool_status",
    "expand:",
    {"": GOOD},
    (
        form(r"expanded .* copied .* in .*, on .*", "expanded raidz2-0 copied 10G in 01:00:00, on …", NEUTRAL),
        form(
            r"expansion of .* in progress since .*", "expansion of raidz2-0 in progress since …", by("expansion-running", "expansion-stuck")
        ),
    ),
)

CHECKPOINT = Vocabulary(
    "zpool_status",
    "checkpoint:",
    {"": GOOD},
    (
        form(r"created .*, consumes .*", "created Sun Jan  4 00:00:00 2026, consumes 1.2G", by("checkpoint-held")),
        form(r"discarding, .* remaining.*", "discarding, 1.2G remaining", by("checkpoint-held")),
    ),
)

IMPORT_STATUS = Vocabulary(
    "zpool_import",
    "status:",
    {"": GOOD},
    (
        _begins("The pool was last accessed by another system.", NEUTRAL),
        _begins("Some supported features are not enabled on the pool.", NEUTRAL),
        _begins("Some supported and requested features are not enabled on the pool.", NEUTRAL),
        _begins("The pool is formatted using", NEUTRAL),
        _begins("One or more features are enabled on the pool despite not being requested", NEUTRAL),
        _begins("Error reading or parsing the file(s) indicated by the 'compatibility' property.", NEUTRAL),
        _begins("One or more devices are configured to use a non-native block size.", NEUTRAL),
        _begins("One or more devices were being resilvered.", NEUTRAL),
        _begins("The pool was destroyed, but can be imported", NEUTRAL),
        _begins("One or more devices are missing from the system.", by(IMPORT)),
        _begins("One or more devices contains corrupted data.", by(IMPORT)),
        _begins("One or more devices are offlined.", by(IMPORT)),
        _begins("One or more devices are faulted.", by(IMPORT)),
        _begins("One or more failure domains are faulted.", by(IMPORT)),
        _begins("The pool data is corrupted.", by(IMPORT)),
        _begins("The pool metadata is", by(IMPORT)),
        _begins("The pool uses the following feature(s) not supported", by(IMPORT)),
        _begins("The pool can only be accessed in read-only mode on this system.", by(IMPORT)),
        _begins("The pool is currently imported by another system.", by(IMPORT)),
        _begins("The pool has the multihost property on.", by(IMPORT, "hostid-mismatch")),
        _begins("An intent log record", by(IMPORT)),
        _begins("Errata #", by("pool-errata", IMPORT)),
    ),
)

ALL = (STATUS, MESSAGE, ERRORS_LINE, SCAN, REMOVE, EXPAND, CHECKPOINT, IMPORT_STATUS)
