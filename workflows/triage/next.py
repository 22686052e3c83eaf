"""What to look up and what to run next: the manual page of each situation, and the commands whose output would tell more.

The facts of a paste are often too few to fill in a runbook. Its page can be read all the same, as a manual.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from workflows.engine.core import Situation
from workflows.situations import SITUATIONS
from workflows.situations._cures import DOES, REPLACING
from workflows.situations._gating import is_gated
from workflows.situations._systems import FREEBSD, ILLUMOS

# situation -> runbooks that answer it, whose pages say what to do by hand
MANUALS: Mapping[str, tuple[str, ...]] = {slug: module.MANUALS for slug, module in SITUATIONS.items()}


IN_ORDER = (
    "missing",
    "incomplete",
    "features",
    "waiting",
    "hostid",
    "names",
    "missing-log",
    "missing-top",
    "destroyed",
    "unclear",
    "marked",
    "half-missing",
)  # why a pool is not imported, where its data is not in question


def manuals(situation: Situation) -> tuple[str, ...]:
    """The runbooks whose pages help: those that answer, and of its kind those that do no harm here. While the pool is gated none changes its
    disks, but for what the gate left among the answers."""
    answers = [answer.runbook for answer in situation.answers]
    kind = () if situation.subject.get("why") in IN_ORDER else MANUALS.get(situation.slug, ())
    if is_gated(situation):
        return tuple(dict.fromkeys((*answers, *(slug for slug in kind if slug not in DOES))))
    nothing_to_replace = bool(situation.cures) and not any(cure.kind == "replace" for cure in situation.cures)
    return tuple(dict.fromkeys((*answers, *(slug for slug in kind if not (nothing_to_replace and slug in REPLACING)))))


@dataclass(frozen=True)
class Command:
    """One command to run, which only reads, and what it would tell."""

    command: str
    why: str


STATUS = Command("zpool status -P -p", "the tree of every pool, with exact counters")
GUIDS = Command("zpool status -g -p", "the same tree by guid: how a lost member is named for sure")
DISKS = Command("lsscsi -i -g -s", "every disk with its WWID, so that names that moved are seen")
LABELS = Command(
    'for d in /dev/sd*1; do echo "# zdb -l $d"; zdb -l "$d"; done', "which pool and member each disk claims to be; it takes some seconds"
)
IMPORT = Command("zpool import", "pools that are there and not imported, and what keeps them from it")
EVENTS = Command("zpool events -v", "what the kernel noticed of the pools, with times")
HISTORY = Command("zpool history -il", "what was done to the pools, and by whom")
KERNEL = Command("dmesg", "resets, timeouts and medium errors; without -T, whose times drift")
SMART = Command("smartctl -x /dev/sdX", "what the disk says of itself; put in the disk in question")
SLOW = Command("zpool iostat -v -l -H -p 5 2", "how long each member takes to answer")
RESETS = Command("dmesg", "resets, timeouts and medium errors")
OF_OTHERS: Mapping[str, Mapping[Command, Command | None]] = {  # how the same is asked elsewhere; None where nothing asks it
    FREEBSD: {
        DISKS: Command("geom disk list", "every disk with its WWN (lunid) and serial number, so that names that moved are seen"),
        LABELS: Command('for d in /dev/da*p* /dev/ada*p*; do echo "# zdb -l $d"; zdb -l "$d"; done', LABELS.why),
        KERNEL: RESETS,
        SMART: Command("smartctl -x /dev/daN", SMART.why),
    },
    ILLUMOS: {
        DISKS: Command("iostat -En", "every disk with its model and serial number, so that names that moved are seen"),
        LABELS: Command('for d in /dev/rdsk/*s0; do echo "# zdb -l $d"; zdb -l "$d"; done', LABELS.why),
        KERNEL: RESETS,
        SMART: Command("smartctl -x /dev/rdsk/cXtYdZs0", SMART.why),
        SLOW: Command("iostat -xn 5 2", SLOW.why),
        EVENTS: None,
    },
}

CALLED: Mapping[str, Mapping[str, str]] = {  # what tells elsewhere what a source tells on Linux; "" where nothing does
    FREEBSD: {
        "kstat_pools": "",
        "block": "geom disk list",
        "kernel_log": "dmesg",
        "multipath": "gmultipath status",
        "enclosure": "sesutil map",
        "ses": "sesutil status",
    },
    ILLUMOS: {
        "kstat_pools": "",
        "zpool_events": "fmdump -eV",
        "block": "iostat -En",
        "kernel_log": "/var/adm/messages",
        "multipath": "mpathadm show lu",
        "enclosure": "/usr/lib/fm/fmd/fmtopo",
        "ses": "",
    },
}
LISTS_OF_DISKS = {"geom_list", "iostat_errors"}  # what they print is as good as lsscsi for which disk is which

# What each way of trouble makes worth knowing, besides the tree: source -> command
FIRST: Mapping[str, Command] = {"zpool_status": STATUS, "zpool_status_guid": GUIDS, "lsscsi": DISKS}
ABOUT: Mapping[str, Mapping[str, Command]] = {
    "disk-missing": {"zdb_label": LABELS, "kernel_log": KERNEL},
    "wwid-mismatch": {"zdb_label": LABELS},
    "disk-faulted": {"smart": SMART, "kernel_log": KERNEL, "zpool_events": EVENTS},
    "disk-errors": {"smart": SMART, "kernel_log": KERNEL, "zpool_events": EVENTS},
    "disk-hangs": {"kernel_log": KERNEL, "smart": SMART},
    "slow-disk": {"zpool_iostat": SLOW, "smart": SMART},
    "slow-ios": {"zpool_iostat": SLOW, "zpool_events": EVENTS, "kernel_log": KERNEL, "smart": SMART},
    "device-used-twice": {"zdb_label": LABELS},
    "direct-io-verify": {"zpool_events": EVENTS},
    "disk-failing": {"kernel_log": KERNEL, "zpool_events": EVENTS},
    "link-crc": {"kernel_log": KERNEL},
    "path-lost": {"kernel_log": KERNEL},
    "enclosure-fault": {"smart": SMART},
    "label-corrupt": {"zdb_label": LABELS},
    "import-blocked": {"zdb_label": LABELS, "kernel_log": KERNEL},
    "pool-suspended": {"zpool_events": EVENTS, "kernel_log": KERNEL},
    "many-disks-offline": {"kernel_log": KERNEL, "zpool_events": EVENTS},
    "data-errors": {"zpool_events": EVENTS, "zpool_history": HISTORY},
    "resilver-stuck": {"zpool_iostat": SLOW, "kernel_log": KERNEL},
    "resilver-slow": {"zpool_iostat": SLOW},
    "errors-not-listed": {"zpool_events": EVENTS},
    "expansion-stuck": {"zpool_iostat": SLOW},
    "labels-missing": {"kernel_log": KERNEL},
    "log-device-lost": {"kernel_log": KERNEL},
    "scrub-errors": {"zpool_events": EVENTS},
    "scrub-repaired": {"zpool_events": EVENTS, "smart": SMART},
}


def missing(read: Iterable[str], situations: Iterable[Situation], system: str = "") -> tuple[Command, ...]:
    """The commands that would tell more about one node, of which these sources were read. `system` is "" for Linux."""
    there = OF_OTHERS.get(system, {})
    known = set(read)
    if known & LISTS_OF_DISKS:
        known.add("lsscsi")
    asked = (there.get(command, command) for command in _missing(known, situations))
    return tuple(command for command in dict.fromkeys(asked) if command is not None)


def _missing(known: set[str], situations: Iterable[Situation]) -> Iterator[Command]:
    if not known & {"zpool_status", "zpool_import", "zpool_status_json"}:
        yield from (STATUS, IMPORT)
    elif "zpool_import" not in known:
        yield from (command for source, command in FIRST.items() if source not in known)
    elif "lsscsi" not in known:
        yield DISKS
    for situation in situations:
        yield from (command for source, command in ABOUT.get(situation.slug, {}).items() if source not in known)
