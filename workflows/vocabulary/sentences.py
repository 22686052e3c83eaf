"""The sentences of `zpool status` and `zpool import`: `status:` with its message id, `errors:`, `scan:`, `remove:`, `expand:`, `checkpoint:`.

The sentences of `status:` stand in `workflows.facts.status_reasons`, and here is what explains each. Blanks are single here.
"""

import re
from collections.abc import Callable

from workflows.facts.status_reasons import BY_NAME, REASONS, StatusReason
from workflows.vocabulary._slugs import AUXILIARY, DAMAGE, DISK, DOWN, ERRORS, FILLING, IMPORT, LABELS, LOSS
from workflows.vocabulary._words import GOOD, NEUTRAL, Form, Meaning, Vocabulary, by, form

_MISSING = (LOSS, DOWN, AUXILIARY, LABELS, "spare-in-use", "vdev-degraded")
_FAULTED = (LOSS, DOWN, AUXILIARY, ERRORS, "spare-in-use", "vdev-degraded")
_FILLED = (FILLING, LOSS, "spare-in-use", DOWN, "replacing-dead")
_UNSUPPORTED = (DOWN, "pool-read-only", "features-disabled", "version-mismatch")

# Beside what the reason itself names: what may be found in its place, since the line gives one reason and the pool may have several.
_ALSO: dict[str, tuple[str | frozenset[str], ...]] = {
    **dict.fromkeys(("MISSING_DEV_R", "MISSING_DEV_NR", "CORRUPT_LABEL_R", "CORRUPT_LABEL_NR", "BAD_GUID_SUM"), _MISSING),
    **dict.fromkeys(("OFFLINE_DEV", "REMOVED_DEV"), _MISSING),
    **dict.fromkeys(("FAULTED_DEV_R", "FAULTED_DEV_NR", "FAULTED_FDOM_R"), _FAULTED),
    **dict.fromkeys(("RESILVERING", "REBUILDING"), _FILLED),
    **dict.fromkeys(("VERSION_NEWER", "UNSUP_FEAT_READ", "UNSUP_FEAT_WRITE"), _UNSUPPORTED),
    **dict.fromkeys(("VERSION_OLDER", "FEAT_DISABLED", "COMPATIBILITY_ERR", "INCOMPATIBLE_FEAT"), ("version-mismatch",)),
    **dict.fromkeys(("IO_FAILURE_WAIT", "IO_FAILURE_CONTINUE"), ("many-disks-offline", DOWN)),
    **dict.fromkeys(("CORRUPT_CACHE", "CORRUPT_POOL"), (DOWN,)),
    "CORRUPT_DATA": (DAMAGE, DOWN),
    "FAILING_DEV": (ERRORS, DISK, AUXILIARY, LOSS, FILLING, DAMAGE, "spare-in-use"),
    "BAD_LOG": ("log-device-lost",),
    "REBUILD_SCRUB": (FILLING, LOSS),
}


def _of_imported(reason: StatusReason) -> Meaning:
    return by(frozenset(reason.slugs), *_ALSO.get(reason.name, ()))


# Of a pool that `zpool import` lists: nothing is wrong with it that keeps it from being imported.
_KEEPS_NOTHING = frozenset(
    ("HOSTID_MISMATCH", "FEAT_DISABLED", "VERSION_OLDER", "INCOMPATIBLE_FEAT", "COMPATIBILITY_ERR", "NON_NATIVE_ASHIFT", "RESILVERING")
)


def _of_listed(reason: StatusReason) -> Meaning:
    return NEUTRAL if reason.name in _KEEPS_NOTHING else by(IMPORT, frozenset(reason.slugs))


def _reasons(meaning: Callable[[StatusReason], Meaning]) -> tuple[Form, ...]:
    """A form for each sentence of each reason, and then for the beginning of each, as `status_reasons.reason_of` looks for them."""
    whole = {pieces: reason for reason in REASONS for pieces in reason.sentences}
    begun: dict[tuple[str, ...], StatusReason] = {}
    for pieces, reason in whole.items():
        if len(pieces) > 1:
            begun.setdefault(pieces[:1], reason)
    return tuple(_sentence(pieces, meaning(reason)) for meanings in (whole, begun) for pieces, reason in meanings.items())


def _sentence(pieces: tuple[str, ...], meaning: Meaning) -> Form:
    """Its pieces one after another, in letters of either case. Each is looked for once: an atomic group is not tried again."""
    pattern = "".join(f"(?>.*?{re.escape(piece)})" for piece in pieces)
    return Form(re.compile(f"(?is){pattern}.*"), f"{' … '.join(pieces)} …", meaning)


STATUS = Vocabulary("zpool_status", "status:", {"": GOOD}, _reasons(_of_imported))


def _ids() -> dict[str, Meaning]:
    """What explains each message id: all that explains one of its reasons. 0.7.9 to 0.7.13 print K4 for a multihost suspension, too."""
    slugs: dict[str, frozenset[str]] = {BY_NAME["BAD_LOG"].id: frozenset(("pool-suspended",))}
    for reason in REASONS:
        if reason.id:
            slugs[reason.id] = slugs.get(reason.id, frozenset()) | _of_imported(reason).slugs
    return {id: by(explained) for id, explained in slugs.items()}


MESSAGE = Vocabulary("zpool_status", "message id behind see:", {"": GOOD} | _ids())

ERRORS_LINE = Vocabulary(
    "zpool_status",
    "errors:",
    {
        "No known data errors": GOOD,
        "No known data errors.": GOOD,
        "No known errors": GOOD,
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
_FILL = r"(?:resilver|rebuild)(?: \([^)]*\))?"
_FULL = r"(?:resilvered|rebuilt)(?: \([^)]*\))?"
_GOES = r"in progress(?: since|,| for)"  # the last two: before 2011, behind `scrub:`
_AFTER = r"completed(?: after)?"  # the same
SCAN = Vocabulary(
    "zpool_status",
    "scan:",
    {"none requested": NEUTRAL},
    (
        form(rf"{_SCAN} repaired 0B? in .* with 0 errors(?: on .*)?", "scrub repaired 0B in 00:10:00 with 0 errors on …", GOOD),
        form(rf"{_SCAN} repaired \S+ in .* with 0 errors(?: on .*)?", "scrub repaired 64K in 00:10:00 with 0 errors on …", _REPAIRED),
        form(rf"{_SCAN} repaired .* with [0-9]+ errors(?: on .*)?", "scrub repaired 0B in 00:10:00 with 3 errors on …", _WITH_ERRORS),
        form(r"scrubbed 0 error blocks? in .* on .*", "scrubbed 0 error blocks in 00:10:00 on …", GOOD),
        form(r"scrubbed [0-9]+ error blocks? in .* on .*", "scrubbed 3 error blocks in 00:10:00 on …", NEUTRAL),
        form(rf"{_SCAN} {_GOES} .*", "scrub in progress since …", NEUTRAL),
        form(rf"{_SCAN} paused since .*", "scrub paused since …", by("scrub-paused")),
        form(rf"{_SCAN} cancell?ed on .*", "scrub canceled on …", NEUTRAL),
        form(rf"{_FULL} .* with 0 errors(?: on .*)?", "resilvered 10G in 00:10:00 with 0 errors on …", GOOD),
        form(rf"{_FULL} .* with [0-9]+ errors(?: on .*)?", "resilvered 10G in 00:10:00 with 3 errors on …", _WITH_ERRORS),
        form(rf"{_FILL} {_GOES} .*", "resilver in progress since …", by(FILLING, LOSS, "spare-in-use", DOWN, "replacing-dead", ERRORS)),
        form(rf"{_FILL} paused since .*", "resilver paused since …", by(FILLING, "resilver-cancelled")),
        form(rf"{_FILL} cancell?ed on .*", "resilver canceled on …", by("resilver-cancelled", FILLING, "replacing-dead")),
        form(rf"scrub {_AFTER} .*with 0 errors on .*", "scrub completed after 1h2m with 0 errors on …", GOOD),
        form(rf"scrub {_AFTER} .*with [0-9]+ errors on .*", "scrub completed after 1h2m with 3 errors on …", _WITH_ERRORS),
        form(r"scrub stopped.*", "scrub stopped after 1h2m …", NEUTRAL),
        form(rf"resilver {_AFTER} .*with 0 errors on .*", "resilver completed after 1h2m with 0 errors on …", GOOD),
        form(rf"resilver {_AFTER} .*with [0-9]+ errors on .*", "resilver completed after 1h2m with 3 errors on …", _WITH_ERRORS),
        form(r"resilver stopped.*", "resilver stopped after 1h2m …", by("resilver-cancelled", FILLING)),
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
            r"[Ee]xpansion of .* in progress since .*",
            "expansion of raidz2-0 in progress since …",
            by("expansion-running", "expansion-stuck"),
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
        *_reasons(_of_listed),
        form(r"The pool was destroyed, but can be imported.*", "The pool was destroyed, but can be imported …", NEUTRAL),
    ),
)

ALL = (STATUS, MESSAGE, ERRORS_LINE, SCAN, REMOVE, EXPAND, CHECKPOINT, IMPORT_STATUS)
