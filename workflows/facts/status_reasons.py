"""Every reason that `zpool status` and `zpool import` give in their `status:` line: the sentence, its message id, and what explains it.

The list is finite: `check_status` in OpenZFS lib/libzfs/libzfs_status.c picks exactly one reason, `print_status_reason` and
`show_import` in cmd/zpool/zpool_main.c print its sentence, `zfs_msgid_table` its id. illumos, FreeBSD and Solaris print the same ids
under other addresses (illumos.org/msg, sun.com/msg, support.oracle.com/msg, openzfs.github.io/openzfs-docs/msg).

The sentence decides, not the id: one id stands for several reasons (EY for three), twelve reasons have none, and 0.7.9 to 0.7.13 print
K4 for a pool that multihost suspended, because their table was one entry short.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_ID = re.compile(r"\bZFS-8000-([0-9A-Z]{2})\b")
LOST_MEMBERS = (
    "disk-missing",
    "disk-faulted",
    "wwid-mismatch",
    "many-disks-offline",
    "log-device-lost",
    "cache-device-lost",
    "aux-without-redundancy",
    "replacing-dead",
    "names-moved",
    "vdev-degraded",
)  # what a member that serves nothing can turn out to be


@dataclass(frozen=True)
class StatusReason:
    """One reason. `sentences` are the wordings of all releases; each is a tuple of pieces that follow one another in the text."""

    name: str  # the enum of libzfs.h without ZPOOL_STATUS_
    id: str  # "ZFS-8000-2Q"; "" where the table has none
    sentences: tuple[tuple[str, ...], ...]
    means: str  # one sentence for a person
    slugs: tuple[str, ...]  # each of these situations explains it; () where nothing is wrong
    neutral: bool = False  # to know and no more: it makes no pool bad

    def matches(self, status: str) -> bool:
        """Whether `status`, lowered and with single blanks, is one of its sentences in full."""
        return any(_in_order(pieces, status) for pieces in self.sentences)

    def begins(self, status: str) -> bool:
        """Whether `status` has the first piece of one of its sentences: a text that was cut, or goes on in words we do not know."""
        return any(_in_order(pieces[:1], status) for pieces in self.sentences)


def _in_order(pieces: tuple[str, ...], status: str) -> bool:
    at = 0
    for piece in pieces:
        at = status.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


_DEVICES = "one or more devices "
REASONS: tuple[StatusReason, ...] = (
    StatusReason(
        "CORRUPT_CACHE",
        "ZFS-8000-14",
        (),
        "The cache file that says which pools to import at boot cannot be read.",
        ("import-blocked",),
    ),
    StatusReason(
        "MISSING_DEV_R",
        "ZFS-8000-2Q",
        (
            (_DEVICES + "could not be opened", "sufficient replicas exist"),
            (_DEVICES + "are missing from the system",),
        ),
        "A member cannot be opened, and the others hold all data.",
        (*LOST_MEMBERS, "import-blocked", "pool-down"),
    ),
    StatusReason(
        "MISSING_DEV_NR",
        "ZFS-8000-3C",
        ((_DEVICES + "could not be opened", "insufficient replicas"),),
        "Members cannot be opened, and without them the pool cannot serve.",
        ("pool-down", "many-disks-offline", "import-blocked"),
    ),
    StatusReason(
        "UNAVAIL_DEV",  # of Solaris 11, for importable pools, whether or not the others hold all data
        "",
        ((_DEVICES + "are unavailable.",),),
        "A member cannot be used.",
        (*LOST_MEMBERS, "import-blocked", "pool-down"),
    ),
    StatusReason(
        "CORRUPT_LABEL_R",
        "ZFS-8000-4J",
        (
            (_DEVICES + "could not be used because the label is missing or invalid", "sufficient replicas exist"),
            (_DEVICES + "contains corrupted data",),
            (_DEVICES + "could not be used because the the label is missing or invalid", "sufficient replicas exist"),
        ),
        "ZFS found no label of the member, or another's, under the name it knows.",
        (*LOST_MEMBERS, "label-corrupt", "import-blocked"),
    ),
    StatusReason(
        "CORRUPT_LABEL_NR",
        "ZFS-8000-5E",
        (
            (_DEVICES + "could not be used because the label is missing or invalid", "insufficient replicas"),
            (_DEVICES + "could not be used because the the label is missing or invalid", "insufficient replicas"),
        ),
        "ZFS found no labels of so many members that the pool cannot serve; often only their names moved.",
        ("pool-down", "names-moved", "many-disks-offline", "import-blocked"),
    ),
    StatusReason(
        "BAD_GUID_SUM",
        "ZFS-8000-6X",
        (),
        "The members that were found are not all that the pool has: a whole top-level vdev is missing.",
        ("import-blocked", "pool-down"),
    ),
    StatusReason(
        "CORRUPT_POOL",
        "ZFS-8000-72",
        (("pool metadata is corrupted",), ("pool metadata is incomplete or corrupted",)),
        "What finds all data of the pool cannot be read as it is.",
        ("pool-down", "import-blocked"),
    ),
    StatusReason(
        "CORRUPT_DATA",
        "ZFS-8000-8A",
        (
            (_DEVICES + "has experienced an error resulting in data corruption",),
            ("pool data is corrupted",),
            (_DEVICES + "has experienced an error and no valid replicas are available",),  # OpenSolaris
        ),
        "Blocks are damaged of which no good copy is left.",
        ("data-errors", "errors-not-listed", "scrub-errors", "import-blocked"),
    ),
    StatusReason(
        "FAILING_DEV",
        "ZFS-8000-9P",
        ((_DEVICES + "has experienced an unrecoverable error",), (_DEVICES + "have experienced an unrecoverable error",)),
        "A member counted errors that ZFS mended from the others.",
        ("disk-errors", "disk-faulted", "member-degraded", "errors-everywhere", "vdev-degraded", "scrub-repaired"),
    ),
    StatusReason(
        "VERSION_NEWER",
        "ZFS-8000-A5",
        (
            ("has been upgraded to a newer, incompatible",),
            ("formatted using an incompatible version",),
            ("formatted using a newer",),
            ("version for the pool is incompatible",),
        ),
        "The pool has a format that this system cannot read.",
        ("pool-down", "import-blocked"),
    ),
    StatusReason(
        "UNSUP_FEAT_READ",
        "",
        (
            ("cannot be accessed on this system because it uses the following feature(s) not supported",),
            ("pool uses the following feature(s) not supported on this system",),
        ),
        "The pool uses features that this system does not have.",
        ("pool-down", "import-blocked"),
    ),
    StatusReason(
        "UNSUP_FEAT_WRITE",
        "",
        (("can only be accessed in read-only mode on this system",),),
        "The pool uses features that this system can only read.",
        ("pool-read-only", "pool-down", "import-blocked"),
    ),
    StatusReason(
        "HOSTID_MISMATCH",
        "ZFS-8000-EY",
        (("mismatch between pool hostid and system hostid on imported pool",), ("was last accessed by another system",)),
        "The pool was last opened under another hostid than this system has.",
        ("hostid-mismatch", "foreign-pool-imported-elsewhere", "import-blocked"),
    ),
    StatusReason(
        "HOSTID_ACTIVE",
        "ZFS-8000-EY",
        (("currently imported by another system",),),
        "Another host has the pool open; where none is named (hostid=0), that is not proven.",
        ("foreign-pool-imported-elsewhere", "import-blocked"),
    ),
    StatusReason(
        "HOSTID_REQUIRED",
        "ZFS-8000-EY",
        (("has the multihost property on", "hostid is not set"),),
        "The pool is guarded by multihost, and this system has no hostid to say who it is.",
        ("import-blocked", "foreign-pool-imported-elsewhere"),
    ),
    StatusReason(
        "IO_FAILURE_MMP",
        "ZFS-8000-MM",
        (("pool is suspended because multihost writes failed",),),
        "ZFS stopped all I/O, because it could not prove to other hosts that it has the pool.",
        ("pool-suspended",),
    ),
    StatusReason(
        "IO_FAILURE_WAIT",
        "ZFS-8000-HC",
        (
            (_DEVICES + "are faulted in response to io failures",),
            (_DEVICES + "are unavailable in response to io failures",),
            ("there are i/o failures",),
        ),
        "ZFS stopped all I/O, because it could not write.",
        ("pool-suspended",),
    ),
    StatusReason(
        "IO_FAILURE_CONTINUE",
        "ZFS-8000-JQ",
        (),  # the sentence is that of IO_FAILURE_WAIT
        "ZFS stopped all I/O, because it could not write; what is called for meanwhile fails.",
        ("pool-suspended",),
    ),
    StatusReason(
        "BAD_LOG",
        "ZFS-8000-K4",
        (
            ("an intent log record could not be read",),
            ("an intent log record cannot be read",),
            ("one or more of the intent logs could not be read",),
        ),
        "The last synchronous writes before a crash cannot be read from the log.",
        ("pool-down", "import-blocked"),
    ),
    StatusReason(
        "ERRATA",
        "ZFS-8000-ER",
        (("errata #", "detected"),),
        "An older release wrote something of the pool in a way that is not quite right.",
        ("pool-errata", "import-blocked"),
    ),
    StatusReason(
        "FAULTED_DEV_R",
        "",
        (
            (_DEVICES + "are faulted in response to persistent errors", "sufficient replicas exist"),
            (_DEVICES + "are unavailable in response to persistent errors", "sufficient replicas exist"),
            (_DEVICES + "are faulted.",),
        ),
        "ZFS gave up a member, and the others hold all data.",
        (*LOST_MEMBERS, "import-blocked", "pool-down"),
    ),
    StatusReason(
        "FAULTED_FDOM_R",
        "",
        (("one or more failure domains are faulted",),),
        "All members of one failure domain of a dRAID are away at once.",
        ("many-disks-offline", "vdev-degraded", *LOST_MEMBERS),
    ),
    StatusReason(
        "FAULTED_DEV_NR",
        "",
        (
            (_DEVICES + "are faulted in response to persistent errors", "insufficient replicas"),
            (_DEVICES + "are unavailable in response to persistent errors", "insufficient replicas"),
        ),
        "ZFS gave up so many members that the pool cannot serve.",
        ("pool-down", "many-disks-offline"),
    ),
    StatusReason(
        "VERSION_OLDER",
        "",
        (
            ("formatted using a legacy on-disk format",),
            ("formatted using an older on-disk",),
            ("formatted using a legacy on-disk version",),
        ),
        "The pool has an older format, which works.",
        ("features-disabled",),
        neutral=True,
    ),
    StatusReason(
        "FEAT_DISABLED",
        "",
        (("features are not enabled on the pool",),),
        "The pool does not use every feature of this release.",
        ("features-disabled",),
        neutral=True,
    ),
    StatusReason(
        "COMPATIBILITY_ERR",
        "",
        (
            ("has a compatibility list specified, but it could not be read/parsed",),
            ("error reading or parsing the file(s) indicated by the 'compatibility' property",),
        ),
        "The file that says which features the pool may use cannot be read.",
        ("features-disabled",),
        neutral=True,
    ),
    StatusReason(
        "INCOMPATIBLE_FEAT",
        "",
        (("one or more features are enabled on the pool despite not being requested by the 'compatibility' property",),),
        "The pool uses features that its own compatibility list leaves out.",
        ("features-disabled",),
        neutral=True,
    ),
    StatusReason(
        "RESILVERING",
        "",
        (
            (_DEVICES + "is currently being resilvered",),
            (_DEVICES + "are currently being resilvered",),
            (_DEVICES + "were being resilvered",),
            (_DEVICES + "is currently being replaced",),
        ),
        "A disk is being filled; the line hides everything else that is wrong.",
        ("resilver-running", "resilver-slow", "resilver-stuck"),
    ),
    StatusReason(
        "OFFLINE_DEV",
        "",
        (
            (_DEVICES + "has been taken offline by the administrator",),
            (_DEVICES + "have been taken offline by the administrator",),
            (_DEVICES + "are offlined",),
        ),
        "A member was switched off by command.",
        (*LOST_MEMBERS, "import-blocked"),
    ),
    StatusReason(
        "REMOVED_DEV",
        "",
        ((_DEVICES + "has been removed",), (_DEVICES + "have been removed",)),
        "The disk of a member went away while it was in service.",
        LOST_MEMBERS,
    ),
    StatusReason(
        "REBUILDING",
        "",
        (("currently being rebuilt",),),
        "A disk is being rebuilt; the line hides everything else that is wrong.",
        ("resilver-running", "resilver-slow", "resilver-stuck"),
    ),
    StatusReason(
        "REBUILD_SCRUB",
        "",
        ((_DEVICES + "have been sequentially resilvered",), (_DEVICES + "has been sequentially resilvered",)),
        "A disk was rebuilt without checking checksums; a scrub has to follow.",
        ("rebuild-unverified",),
    ),
    StatusReason(
        "NON_NATIVE_ASHIFT",
        "",
        ((_DEVICES + "are configured to use a non-native block size",),),
        "A vdev writes smaller blocks than its disks have sectors.",
        ("block-size-mismatch",),
    ),
)
BY_NAME = {reason.name: reason for reason in REASONS}
AMBIGUOUS = frozenset(("ZFS-8000-EY",))  # one id, several reasons: without the sentence it says only that


def message_id(text: str) -> str:
    """The message id in a `see:` line or address; "" when there is none."""
    found = _ID.search(text)
    return f"ZFS-8000-{found.group(1)}" if found else ""


@lru_cache(maxsize=512)  # a few sentences are asked again and again, each of many pools and by many situations
def reason_of(status: str, see: str = "") -> StatusReason | None:
    """The reason that the text of `status:` gives, else the one of the id; None when neither is known to us."""
    text = " ".join(status.lower().split())
    if text:
        found = next((r for r in REASONS if r.matches(text)), None) or next((r for r in REASONS if r.begins(text)), None)
        if found is not None:
            return found
    id = message_id(see)
    return next((r for r in REASONS if r.id == id), None) if id and id not in AMBIGUOUS and not text else None


_ERRATA = re.compile(r"errata #[0-9]{1,3} detected\.")
TORN_MIN = 8  # characters
BEGUN_MIN = 24  # characters of a sentence that tell it from somebody's own words


@lru_cache(maxsize=512)
def is_begun(text: str) -> bool:
    """Whether this is the first line of one of the sentences, which are printed over several."""
    text = " ".join(text.lower().split())
    firsts = (pieces[0] for reason in REASONS for pieces in reason.sentences)
    return _ERRATA.match(text) is not None or (len(text) >= BEGUN_MIN and any(first in text or _overlaps(text, first) for first in firsts))


@lru_cache(maxsize=512)
def is_torn(text: str) -> bool:
    """Whether it ends within the first words of one of the sentences, as where a text was cut: which of them it is, it does not tell."""
    text = " ".join(text.lower().split())
    return len(text) >= TORN_MIN and any(piece[0].startswith(text) for reason in REASONS for piece in reason.sentences)


def _overlaps(text: str, sentence: str) -> bool:
    """Whether a line ends within this sentence."""
    return any(text.endswith(sentence[:length]) for length in range(BEGUN_MIN, len(sentence)))


def rows() -> Iterator[tuple[str, str, str, str]]:
    """(name, id, what it means, slugs) of each reason, for the docs."""
    for reason in REASONS:
        yield reason.name, reason.id, reason.means, ", ".join(reason.slugs)
