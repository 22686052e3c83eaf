"""Why a situation has no runbook: each that names none stands here, with what ends it instead. docs/situations.md prints it."""

from collections.abc import Mapping

LOOK_FIRST = "it is not known yet what is wrong; what the look shows has a situation of its own"
ENDS = "it ends by itself"
REASONS: Mapping[str, str] = {
    "vdev-degraded": LOOK_FIRST,
    "errors-not-listed": "it is a question that reads; `damaged-data` begins when the list is there",
    "pool-filling": "people choose which data goes",
    "pool-read-only": "ask the person who imported it read-only first; after the export by hand `import-pool` begins at the node",
    "pool-errata": "each errata has a cure of its own, which ZFS names",
    "block-size-mismatch": "nothing changes it in place; the data is copied into a new vdev or pool, or it stays",
    "features-disabled": "enabling a feature cannot be undone, and nothing is broken without it",
    "checkpoint-held": "giving up a way back is decided by whoever made it; one command does it",
    "device-removal": ENDS,
    "direct-io-verify": "a program is to be mended, not the pool",
    "hidden-by-resilver": "each member that it hides has a situation, and that has the runbook",
    "scrub-errors": "the list of damaged data has to be read first; `damaged-data` begins then",
    "expansion-running": ENDS,
    "expansion-stuck": "the disk that holds it up has a situation of its own; an expansion cannot be undone",
    "zfs-events": LOOK_FIRST,
    "disk-hot": "fans, filters and air are changed by hands; no disk is at fault",
    "device-used-twice": "which of the two vdevs is right no fact shows; a wrong command loses the pool, so people decide with the labels before them",
    "labels-missing": "the partition was changed by hand; a command that wrote to it again could take what is left",
    "identity-conflict": LOOK_FIRST,
    "background-scan": ENDS,
    "enclosure-fault": "a part of the shelf is changed by hands; no disk is at fault",
    "shared-hostid": "a hostid is changed with all pools of a node exported and a reboot; the commands stand in the advice",
    "foreign-pool-in-cachefile": "no operation of the catalogue writes a cache file; one command has ZFS write it anew",
    "version-mismatch": "it needs a stop of the node, which people plan",
    "refused-command": "nothing was changed; the sentence that was printed leads to its own cure",
    "unexplained": LOOK_FIRST,
    "tunable-written": "ask the person who wrote it; the old value stands in the line",
    "writers-throttled": "nothing is wrong by itself",
}
