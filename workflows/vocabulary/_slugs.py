"""Groups of situations that explain the same words."""

LOSS = frozenset(
    ("disk-missing", "disk-faulted", "wwid-mismatch", "many-disks-offline", "hidden-by-resilver", "replacing-dead", "names-moved", "disk-hangs")
)  # fmt: skip
DOWN = frozenset(("pool-down", "pool-suspended", "names-moved", "many-disks-offline"))
FILLING = frozenset(("resilver-running", "resilver-slow", "resilver-stuck", "hidden-by-resilver"))
ERRORS = frozenset(("disk-errors", "data-errors", "errors-everywhere", "disk-failing", "member-degraded"))
DAMAGE = frozenset(("data-errors", "scrub-errors", "errors-not-listed"))
AUXILIARY = frozenset(("log-device-lost", "cache-device-lost", "spare-unavailable", "spare-unused"))
LABELS = frozenset(("labels-missing", "label-corrupt"))
IMPORT = frozenset(("import-blocked", "foreign-pool-imported-elsewhere"))
LINKS = frozenset(("hba-fault", "kernel-errors", "phy-errors", "path-lost", "many-disks-offline", "refused-command", "slow-inquiry"))
DISK = frozenset(("disk-failing", "disk-worn", "disk-hot"))
