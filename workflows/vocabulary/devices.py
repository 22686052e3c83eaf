"""What disks, paths and enclosures say of themselves in words. Numbers have thresholds and stand with the situations that judge them."""

from workflows.vocabulary._slugs import DISK, DOWN, LABELS, LINKS, LOSS
from workflows.vocabulary._words import GOOD, NEUTRAL, Vocabulary, by

_PATH = by(LINKS, LOSS, DOWN, DISK)

VERDICT = Vocabulary("smart", "verdict of a disk", {"passed": GOOD, "none": NEUTRAL, "failed": by(DISK, "disk-faulted")})
WARNING = Vocabulary(
    "smart", "NVMe critical warning", {"0": GOOD}, note="any other number is explained by disk-failing, disk-worn or disk-hot"
)
SELF_TEST = Vocabulary(
    "smart",
    "result of the newest self-test",
    {"0": GOOD, **dict.fromkeys(("1", "2", "15"), NEUTRAL), **dict.fromkeys(("3", "4", "5", "6", "7", "8"), by(DISK))},
    note="vendors' attributes without a verdict are neutral",
)
LABEL_COUNT = Vocabulary(
    "zdb_label", "label copies of a member", {"4 of 4": GOOD} | {f"{count} of 4": by(LABELS, LOSS, DISK) for count in (1, 2, 3)}
)
KERNEL_DEVICE = Vocabulary(
    "block",
    "kernel's state of a disk",
    {
        **dict.fromkeys(("running", "live"), GOOD),
        **dict.fromkeys(("created", "created-block", "quiesce", "new", "cancel", "deleted", "deleting"), NEUTRAL),
        **dict.fromkeys(("blocked", "offline", "transport-offline", "resetting", "connecting", "dead"), _PATH),
    },
)
PATH_STATE = Vocabulary("multipath", "state of a path", {"active": GOOD, "undef": NEUTRAL, "failed": _PATH})
CHECKER = Vocabulary(
    "multipath",
    "checker of a path",
    {
        "ready": GOOD,
        **dict.fromkeys(("ghost", "undef", "unchecked", "i/o pending", "pending", "maybe"), NEUTRAL),
        **dict.fromkeys(("faulty", "shaky", "wild", "down", "i/o timeout", "timeout", "delayed", "removed", "disconnected"), _PATH),
    },
)
BAY = Vocabulary(
    "enclosure",
    "status of an element",
    {
        "OK": GOOD,
        **dict.fromkeys(("not installed", "unsupported", "unknown"), NEUTRAL),
        **dict.fromkeys(
            ("critical", "noncritical", "non-critical", "unrecoverable", "unavailable", "not available"), by("enclosure-fault", DISK, LOSS)
        ),
    },
)

ALL = (VERDICT, WARNING, SELF_TEST, LABEL_COUNT, KERNEL_DEVICE, PATH_STATE, CHECKER, BAY)
