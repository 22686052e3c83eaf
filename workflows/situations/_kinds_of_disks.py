"""What decides a situation of one disk or of several, and what is advised of it."""

from workflows.situations._cures import BESIDE_IT, BY_GUID, COUNTERS, IN_ITS_BAY
from workflows.situations._kinds import Kind, Kinds, advice

BESIDE = "put the new disk into a free bay, replace by guid, and pull the old disk only when the resilver has ended"
SERVES = "The pool serves, its vdev has redundancy left, and nothing else in it is wrong that could explain this."
WHICH = advice(
    "look",
    "Find out which member of which pool it is before anything is pulled: compare serial number and WWID with `zpool status -P` and the list of disks.",
    "zpool status -P -p",
    "lsscsi -i -g -s",
)
WAY = advice(
    "reseat",
    "Look at the way to the disk first: the seat in the bay, the cable, the port, the shelf's module, the power; change one thing at a time.",
)
SCRUB = advice(
    "scrub",
    "Scrub its pool, so that what the other disks hold is known to be good before it is needed.",
    "zpool scrub POOL",
    needs="No resilver runs.",
)
NO_REPLACEMENT = advice("wait", "Replace nothing for this: no disk is at fault.")

KINDS: Kinds = {
    "disk-missing": Kind(
        ("act", "watch"),
        "a member is REMOVED, UNAVAIL, OFFLINE or FAULTED, and its own disk is not there under its name, or it is called ONLINE and its disk is gone; watch while a spare or a new disk takes its place",
        (
            WHICH,
            WAY,
            advice(
                "online",
                "When its own disk is there again, bring it back by its guid: ZFS writes to it what it missed.",
                "zpool online POOL GUID",
                needs="The disk answers and carries the label of this member.",
            ),
            advice("replace", "Only a disk that is gone for good is replaced, by its guid.", needs=SERVES, runbook=BY_GUID),
        ),
        unattended="its vdev goes on with less redundancy, or none, and the next loss may be one too many.",
    ),
    "disk-faulted": Kind(
        ("act", "watch"),
        "a member is FAULTED or DEGRADED with a reason behind its row, and its disk answers and carries its label",
        (
            WAY,
            advice(
                "clear",
                "When the way to it is mended, clear its errors: ZFS takes it back and counts from 0. Then scrub.",
                "zpool clear POOL GUID",
                needs="The pool is not suspended.",
                save_first=COUNTERS,
            ),
            advice("replace", "Counts that grow again are the disk's own: replace it by its guid.", needs=SERVES, runbook=IN_ITS_BAY),
        ),
        unattended="its vdev goes on with less redundancy, or none, and the next loss may be one too many.",
    ),
    "disk-failing": Kind(
        ("act", "watch"),
        "the disk predicts its failure, failed a self-test, raises an NVMe warning, or its controller gave it up (act); or defects above a threshold of `workflows/facts/read/thresholds.py`",
        (
            WHICH,
            SCRUB,
            advice(
                "replace",
                f"Where it is a member, replace it while it still serves: {BESIDE}. If the number is small and does not grow, look again in a week instead.",
                needs=SERVES,
                runbook=BESIDE_IT,
            ),
        ),
        unattended="it may fail while another disk is away, and data can be lost.",
    ),
    "former-member": Kind(
        ("info",),
        "a disk carries one label of a pool that is imported on this node and does not list that member any more, and it is older than those of the members beside it",
        (
            advice(
                "other",
                "If nothing on it is wanted any more, wipe it, so that it can be used as a new disk. Never with `zpool labelclear -f`.",
                needs="The pool is ONLINE and fills no disk, and every node that may see the disk reported lately.",
                runbook="wipe-disk",
            ),
        ),
    ),
    "destroyed-member": Kind(
        ("info",),
        "a disk carries one label, of a pool that was destroyed, and no node has that pool, lists it for import or reads a label of it that says otherwise",
        (
            advice(
                "import",
                "If it was destroyed by mistake, bring it back before anything is written to its disks.",
                "zpool import -D GUID",
                needs="No disk of it was wiped or given to another pool.",
            ),
            advice(
                "other",
                "If nothing in it is wanted any more, wipe the disk, so that it can be used as a new one; `zpool import -D` does not find it again. Never with "
                "`zpool labelclear -f`.",
                needs="The pool was not brought back on any node, and every node that may see the disk reported lately.",
                runbook="wipe-destroyed-member",
            ),
        ),
    ),
    "disk-worn": Kind(
        ("act", "watch"),
        "an SSD used up its rated life or most of it, or its spare blocks are near the threshold at which it warns",
        (
            WHICH,
            advice(
                "other",
                "Order a replacement, and look at the disks that were bought together: they wear together. Nothing need be done at night.",
            ),
            advice(
                "replace",
                f"Then replace one disk of a vdev at a time, while all of them serve: {BESIDE}.",
                needs=SERVES,
                runbook=BESIDE_IT,
            ),
        ),
        unattended="it may turn read-only or stop, and disks bought with it may do so in the same weeks.",
    ),
    "disk-hot": Kind(
        ("act", "watch"),
        "its temperature is at or near the limit that the disk itself names",
        (
            advice("cooling", "Look at the fans, the filters and the air of its shelf and room; more than one warm disk is the shelf's."),
            advice(
                "wait",
                "Replace nothing for heat alone. A disk that was too hot is looked at again when it has cooled: its defects may have grown.",
            ),
        ),
        unattended="it ages faster, and it may switch itself off.",
    ),
    "disk-errors": Kind(
        ("watch",),
        "a member or cache device in service counts errors that ZFS mended",
        (
            WAY,
            SCRUB,
            advice(
                "replace",
                f"If the count grows again with the way to it in order, replace it while it still serves: {BESIDE}.",
                needs=SERVES,
                runbook=BESIDE_IT,
            ),
        ),
        unattended="the errors may grow until ZFS gives the member up; while others hold the same data, none of it is lost.",
    ),
    "disk-hangs": Kind(
        ("act", "watch"),
        "the kernel aborts commands of one disk, or waits for them, again and again",
        (WHICH, WAY, advice("look", "Compare its SMART report and its link with its peers'.", runbook="slow-disk-triage")),
        unattended="it hangs again, and each time the whole pool waits for it; with multihost on, that can suspend the pool.",
    ),
    "slow-disk": Kind(
        ("act", "watch"),
        "one disk makes I/O wait many times longer than the disks beside it: act where two methods agree, now, and it is the only one. In a mirror of two with nothing else to compare: watch",
        (
            WHICH,
            WAY,
            advice(
                "look",
                "Compare its waits with those of the disks beside it while the pool is busy. Take nothing out for one number.",
                "zpool iostat -v -l POOL 5 3",
                runbook="slow-disk-triage",
            ),
        ),
        unattended="the whole pool goes on at the pace of this one disk.",
    ),
    "slow-ios": Kind(
        ("watch", "info"),
        "members counted I/Os of half a minute (SLOW), and none stands out among its peers",
        (
            advice(
                "look",
                "See whether the count still grows: ask twice, some minutes apart and while the pool is busy.",
                "zpool status -s -p POOL",
            ),
            WAY,
        ),
        unattended="a disk that stalls makes the whole pool wait, and may be given up by ZFS.",
    ),
    "slow-inquiry": Kind(
        ("act", "watch"),
        "a disk took seconds to answer INQUIRY, which reads nothing from the medium; act from 10 s",
        (
            WHICH,
            advice("look", "Ask it again, and ask its peers: all late is the HBA, the cable or the expander.", runbook="slow-disk-triage"),
        ),
        unattended="it hangs again at any time, and every scan and import waits for it.",
    ),
    "device-used-twice": Kind(
        ("act", "watch"),
        "one device is in service in two vdevs of one node",
        (
            advice(
                "look",
                "Ask for whole paths and guids at one moment, and read the label of that disk. Replace, detach and scrub nothing before.",
                "zpool status -P -p",
                "zpool status -g -p",
            ),
        ),
        unattended="two vdevs overwrite each other's data on that device, and scrubs find more damage each time.",
    ),
    "replacing-dead": Kind(
        ("act",),
        "the new half of a `replacing` is lost",
        (
            WAY,
            advice(
                "look",
                "See which half serves, by guid; the new half is detached by its guid if it does not come back.",
                "zpool status -g POOL",
                runbook="finish-replacement",
            ),
        ),
        unattended="the replacement never ends, and the vdev stays as it was before it began, or with less.",
    ),
    "wwid-mismatch": Kind(
        ("act", "watch"),
        "the name or device id by which a lost member is remembered leads to another disk today",
        (
            advice(
                "look",
                "See the whole tree by guid, and read the labels of all disks: the one that carries the guid of the lost member is brought back, under whatever name. "
                "Pull and clear nothing by the old name.",
                "zpool status -g -p",
                "lsscsi -i -g -s",
            ),
            advice(
                "online",
                "If its disk is there under another name, bring it back by its guid.",
                "zpool online POOL GUID",
                needs="The label of that disk carries this guid.",
            ),
            advice(
                "replace",
                "If it is gone for good, replace the guid by a disk that carries no label. Never with -f.",
                needs=SERVES,
                runbook=BY_GUID,
            ),
        ),
        unattended="a command that uses the old name reaches another disk, which may be a healthy member.",
    ),
    "member-degraded": Kind(
        ("watch",),
        "a member is DEGRADED and its row does not say why",
        (advice("look", "Look at what ZFS noted when it was marked. It serves: leave it in.", "zpool events -v POOL"), WAY),
        unattended="ZFS may give it up, and the vdev then has one member less.",
    ),
    "link-crc": Kind(
        ("watch",),
        "transfers over the SATA cable of a disk came damaged",
        (
            advice(
                "reseat", "Write the number down, reseat cable and disk, and look again after a day: where it stays, the cause is gone."
            ),
            NO_REPLACEMENT,
        ),
        unattended="the link gets slower and drops commands, and ZFS may give up a disk that is well.",
    ),
    "label-corrupt": Kind(
        ("act", "watch", "info"),
        "copies of a member's label are gone, differ, are another's or cannot be read",
        (
            advice(
                "look",
                "Read all four copies of its label and of a sibling's with `zdb -l`, and keep the output. Write nothing to the disk.",
                save_first="What `zdb -l` prints.",
            ),
        ),
        unattended="the next import may not find this member, or may take it for another one.",
    ),
    "labels-missing": Kind(
        ("watch",),
        "both label copies at the end of a partition are gone and those at its start are there",
        (advice("look", "Compare the sizes of disk and partition with its siblings'. Write no new partition table."),),
        unattended="the member is found by its other copies; if these are damaged too, the next import does not find it.",
    ),
    "identity-conflict": Kind(
        ("act", "watch"),
        "two disks claim one identity, or sources disagree about which disk is which",
        (
            advice(
                "look",
                "Compare the WWID, the serial number and the bay of both, on each node that sees them: they may be two paths of one disk, a copy that was made "
                "with dd, or a list that is old.",
                "lsscsi -i -g -s",
            ),
            advice(
                "look",
                "Read the label of each, with guid and txg: of two copies the higher txg is the one in service. The other is never brought online, and never "
                "imported: set it aside, unplugged.",
            ),
            advice(
                "wait",
                "Until it is known which is which, pull, replace and online nothing by a name of either: a run that names one of them is refused.",
            ),
        ),
        unattended="a command may reach the wrong one of the disks.",
    ),
    "phy-errors": Kind(
        ("act", "watch", "info"),
        "error counters of a SAS link grow: act from 1000 an hour. The same small count on every lane is one event of the past: info",
        (
            advice(
                "look",
                "Ask the counters again after an hour. Where none grew, nothing is to be done: it was one event, such as a cable put in or a reset.",
                runbook="sas-link-triage",
            ),
            advice(
                "reseat",
                "Where they grow, change one thing at a time, from the disk's end: the disk into another bay, the cable, the port, the module. Note the counters "
                "before each.",
            ),
            NO_REPLACEMENT,
        ),
        unattended="the link loses commands, and ZFS may give up disks that are well.",
    ),
    "path-lost": Kind(
        ("act", "watch"),
        "a disk has fewer working paths than it was built with; act where three disks lost the path of one HBA",
        (
            advice(
                "look",
                "See which disks lost a path, and what the lost paths share: a cable, a module of the shelf, an HBA. One disk alone is its bay's or its own.",
                "multipath -ll",
                "lsscsi -v",
            ),
            advice(
                "reseat",
                "Look at that cable, module and HBA first. The other path serves: take nothing of it out.",
                runbook="sas-link-triage",
            ),
            advice(
                "wait",
                "If nothing is done, the pool serves over the path that is left, and its loss takes the disks away. Replace no disk for a path.",
            ),
        ),
        unattended="the disk is served over what is left, and is gone when that fails too.",
    ),
    "drive-mode-drift": Kind(
        ("act", "watch"),
        "a disk's write cache or background scan is not as of others of its model; act where the cache is on and the kernel never flushes it",
        (
            advice(
                "look",
                "See whether the difference is wanted: modes are a policy for a whole model. Bring the one disk in line, out of service meanwhile.",
                runbook="drive-mode-audit",
            ),
        ),
        unattended="the disk goes on as it is set now, other than its neighbours: slower, unchecked, or unsafe at a loss of power.",
    ),
    "background-scan": Kind(
        ("watch", "info"),
        "the disk's own report of its background scan",
        (
            advice(
                "wait",
                "Nothing need be done while it runs: the disk reads its own medium when it is idle. Look at its defects when the scan has ended.",
            ),
        ),
        unattended="what the disk found stays as it is until that place is read.",
    ),
}
