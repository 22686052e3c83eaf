"""Words for things that happened: the events of ZFS, and the kernel's log. They are over once the pool is good again by its own rows.

The classes are those of `sys/fm/fs/zfs.h` and `sys/sysevent/eventdefs.h` of OpenZFS.
"""

from workflows.vocabulary._slugs import DAMAGE, DISK, DOWN, ERRORS, FILLING, IMPORT, LABELS, LINKS, LOSS
from workflows.vocabulary._words import GOOD, NEUTRAL, Vocabulary, by

_SYSEVENTS = (
    *(
        "resilver_start",
        "resilver_finish",
        "vdev_remove",
        "vdev_remove_aux",
        "vdev_remove_dev",
        "pool_create",
        "pool_destroy",
        "pool_import",
    ),
    *("pool_export", "vdev_add", "vdev_attach", "vdev_clear", "vdev_check", "vdev_online", "config_sync", "scrub_start", "scrub_finish"),
    *("scrub_abort", "scrub_resume", "scrub_paused", "vdev_spare", "vdev_autoexpand", "bootfs_vdev_attach", "pool_reguid", "history_event"),
    *("trim_start", "trim_finish", "trim_cancel", "trim_resume", "trim_suspend", "errorscrub_start", "errorscrub_finish"),
    *("errorscrub_abort", "errorscrub_resume", "errorscrub_paused", "vdev_degrade"),
)
_TROUBLE = by(
    LOSS, ERRORS, DISK, LINKS, DAMAGE, DOWN, LABELS, FILLING, IMPORT, "slow-disk", "zfs-events", "spare-in-use", "vdev-degraded", past=True
)
_EREPORTS = (
    *(
        "checksum",
        "authentication",
        "io",
        "data",
        "delay",
        "deadman",
        "dio_verify_wr",
        "dio_verify_rd",
        "dio_verify",
        "zpool",
        "io_failure",
    ),
    *("probe_failure", "log_replay", "config_cache_write", "sitout", "vdev.unknown", "vdev.open_failed", "vdev.corrupt_data"),
    *("vdev.no_replicas", "vdev.bad_guid_sum", "vdev.too_small", "vdev.bad_label", "vdev.bad_ashift"),
)
_OF_0_6 = (  # what is a sysevent since 0.7
    *(
        "resilver.start",
        "resilver.finish",
        "scrub.start",
        "scrub.finish",
        "config.sync",
        "bootfs.vdev.attach",
        "pool.destroy",
        "pool.reguid",
    ),
    *("vdev.remove", "vdev.clear", "vdev.check", "vdev.spare", "vdev.autoexpand"),
)
_STATES = ("UNKNOWN", "CLOSED", "OFFLINE", "REMOVED", "UNAVAIL", "CANT_OPEN", "FAULTED", "DEGRADED", "")

EVENT = Vocabulary(
    "zpool_events",
    "class of an event",
    {
        **{f"sysevent.fs.zfs.{name}": NEUTRAL for name in _SYSEVENTS},
        **{f"ereport.fs.zfs.{name}": _TROUBLE for name in _EREPORTS},
        **{f"ereport.fs.zfs.{name}": NEUTRAL for name in _OF_0_6},
        "resource.fs.zfs.autoreplace": NEUTRAL,
        "resource.fs.zfs.removed": _TROUBLE,
        "resource.fs.zfs.statechange ONLINE": GOOD,
        "resource.fs.zfs.statechange HEALTHY": GOOD,
        **{f"resource.fs.zfs.statechange {state}".rstrip(): _TROUBLE for state in _STATES},
    },
)

# What a later event takes back: a member's loss by its return, a suspension by whatever ends it.
LOST = ("resource.fs.zfs.statechange", "resource.fs.zfs.removed")
BACK = ("resource.fs.zfs.statechange ONLINE", "resource.fs.zfs.statechange HEALTHY", "sysevent.fs.zfs.vdev_online")
STOPPED = "ereport.fs.zfs.io_failure"
RESUMED = tuple(f"sysevent.fs.zfs.{name}" for name in ("vdev_clear", "pool_import", "pool_export", "pool_destroy"))

_KERNEL_NEUTRAL = (
    "target",
    "place",
    "unblocked",
    "resumed",
    "parameter-unknown",
    "sense-detail",
    "ata-link",
    "ata-up",
    "reset-occurred",
    "fma",
    "hba",
    "attached",
    "found",
    "cdb",
    "cam-command",
    "usb-found",
    "usb-storage",
    "usb-link",
    "zed-run",
    "path-run",
)
_KERNEL_TROUBLE = (
    *("task-abort-begun", "task-abort", "abort", "command-failed", "io-error", "rejected", "killed", "zio-error", "hung-io", "panic"),
    *(
        "hung-task",
        "blocked",
        "oom",
        "log-replay",
        "loader",
        "import-refused",
        "vdev-io-failure",
        "vdev-open",
        "checksum",
        "vdev-problem",
        "pool-io-failure",
        "vdev-state",
    ),
    *(
        "zed-fault",
        "zed-spare",
        "zed-lost",
        "zed-case",
        "zed-changed",
        "kernel-fault",
        "found-again",
        "nvme-path",
        "path-down",
        "path-none",
    ),
    *("zed", "sense", "offlined", "device-reset", "buffer-error", "ata-error", "ata-gone", "nvme-timeout", "nvme-down", "nvme-error"),
    *(
        "cam-sense",
        "cam-failed",
        "not-ready",
        "usb-error",
        "channel",
        "detached",
        "illumos-disk",
        "hba-other",
        "raid-event",
        "nvme-warning",
        "handle-removed",
        "device-removed",
        "pcie-error",
        "memory",
    ),
)

KERNEL = Vocabulary(
    "kernel_log",
    "class of a kernel line",
    {
        **dict.fromkeys(_KERNEL_NEUTRAL, NEUTRAL),
        **dict.fromkeys(_KERNEL_TROUBLE, _TROUBLE),
        "import-unit": by("import-blocked", "kernel-errors", past=True),
        "hba-silent": by("disk-hangs", "hba-fault", "many-disks-offline", "pool-suspended", past=True),
        **dict.fromkeys(("multihost-suspended", "suspended"), by("pool-suspended", "many-disks-offline", past=True)),
    },
    note="`hba-fault` counts the lines of an HBA's driver, which says FAULT at every boot of some; of lines that name ZFS, a pool, a member, an HBA or a shelf; what the kernel says while it finds its devices is neutral",
)

ALL = (EVENT, KERNEL)
