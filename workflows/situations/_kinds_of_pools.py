"""What decides a situation of a whole pool or of one of its vdevs, and what is advised of it."""

from dataclasses import replace

from workflows.situations._kinds import Kind, Kinds, advice

TREE = ("zpool status -P -p POOL", "zpool status -g -p POOL", "zpool events -v POOL")
KEEP = "What `zpool status -P -p -v`, `zpool status -g -p` and the kernel's log print now."
NO_OTHER_HOST = "No other host has the pool."
SCRUB = advice(
    "scrub", "Then scrub it to its end: only 0 errors say that the data is whole.", "zpool scrub POOL", needs="No resilver runs."
)
LOOK = advice(
    "look", "Look at the whole tree, by path and by guid, and at what ZFS noted: that names the member, or says that none is lost.", *TREE
)
RESEAT = advice("reseat", "Look at what the disks share first: power, cable, expander, HBA, shelf. Change one thing at a time.")
ONLINE = advice(
    "online", "When the disks answer again, bring the members back by guid, the vdev that lacks most first.", needs="No pool is suspended."
)

KINDS: Kinds = {
    "many-disks-offline": Kind(
        ("act",),
        "several members went together: all behind one thing, within a minute, in bays side by side, or too many of one pool",
        (
            advice("reseat", RESEAT.text, runbook="many-disks-offline"),
            advice(
                "wait",
                "Wait until no link error was added for ten minutes: what flaps is not brought back. Replace no disk and clear nothing before.",
            ),
            ONLINE,
        ),
        unattended="the disks that are still there may go the same way, and the pool stops when one vdev has lost more than it can do without.",
    ),
    "pool-suspended": Kind(
        ("act",),
        "the kernel's state, `zpool status` or its log says that the I/O of a pool is stopped",
        (
            advice(
                "look",
                "Keep what the tree, the events and the kernel say now, and find out whether multihost or I/O did it.",
                *TREE,
                "dmesg",
            ),
            RESEAT,
            advice(
                "other",
                "What resumes it depends on the cause and the release: `zpool clear` is right after I/O errors with multihost off; after a multihost suspension it is "
                "refused or unsafe before 2.2.4. Prove first that no other host has the pool.",
                needs=NO_OTHER_HOST,
                save_first=KEEP,
                runbook="suspended-pool",
            ),
        ),
        unattended="every program that writes to the pool goes on waiting, and what it has not written yet is lost with the next restart.",
    ),
    "pool-down": Kind(
        ("act",),
        "a pool or a vdev that holds data is FAULTED or UNAVAIL",
        (
            advice(
                "look",
                "Keep the output, and see which vdev cannot be opened and why. Destroy, force and replace nothing.",
                *TREE,
                save_first=KEEP,
            ),
            RESEAT,
            advice(
                "import",
                "What cannot be brought back is copied out of a read-only import.",
                needs="It is exported, and no other host has it.",
                runbook="read-only-import",
            ),
        ),
        unattended="the data stays out of reach. Waiting does not make it worse; a wrong command can.",
    ),
    "names-moved": Kind(
        ("act",),
        "at the paths of all lost members of a pool ZFS finds disks without its labels",
        (
            advice(
                "look",
                "Compare the labels of the disks with the guids of the pool: mostly only names moved.",
                "zpool status -g POOL",
                "lsscsi -i -g -s",
            ),
            advice(
                "export-import",
                "Then export the pool and import it by stable names and by its id.",
                needs=NO_OTHER_HOST,
                runbook="import-pool",
            ),
        ),
        unattended="the pool stays out of service, and the next one who looks may take disks that are well for broken ones.",
    ),
    "errors-everywhere": Kind(
        ("act",),
        "every disk of a vdev counts errors of one kind",
        (
            RESEAT,
            advice(
                "look",
                "Look at the memory of the node, the HBA's messages and the counters of the SAS links.",
                "dmesg",
                runbook="sas-link-triage",
            ),
            SCRUB,
        ),
        unattended="what all of them share goes on damaging data, and ZFS gives up disk after disk.",
    ),
    "vdev-degraded": Kind(
        ("act", "watch"),
        "a pool or vdev is DEGRADED or counts errors, and no leaf says why; or its rows contradict each other",
        (
            LOOK,
            advice(
                "wait",
                "Until the member is found, take no disk out. A member is replaced by its guid, never by a name that was printed elsewhere.",
            ),
        ),
        unattended="it is not known how many more disks the vdev can lose, and the next loss may be one too many.",
    ),
    "import-blocked": Kind(
        ("act", "watch", "info"),
        "labels or `zpool import` show a pool that is not imported here: how severe, its cause and whether it is this node's decide",
        (
            advice(
                "look", "List it by stable names, and see which of its disks are there; that only reads.", "zpool import -d /dev/disk/by-id"
            ),
            advice(
                "wait",
                "Nothing on its disks is lost by waiting. Force, rewind, clear and create nothing before it is known what is missing.",
            ),
        ),
        unattended="the pool stays out of service. Its data is as it was while nothing is written to its disks.",
    ),
    "data-errors": Kind(
        ("act", "watch"),
        "`errors:` lists or counts damaged data, or a vdev counts errors that redundancy could not mend; watch while members are away or the pool is suspended",
        (
            advice(
                "look",
                "Ask which files are damaged; it only reads. Replacing a disk does not bring this data back.",
                "zpool status -v POOL",
            ),
            advice(
                "restore",
                "Restore each damaged file from a copy, or delete it and the snapshots that hold it.",
                save_first="what can still be read of a damaged file, before it is written over",
            ),
            advice(
                "scrub",
                "Then scrub to the end, and once more where the list is not empty then: an entry ends with a scrub that does not find it.",
                "zpool scrub POOL",
                needs="No resilver runs.",
            ),
        ),
        unattended="the damaged files stay damaged, and programs that read them get errors; copies that were good may be overwritten by bad ones.",
    ),
    "errors-not-listed": Kind(
        ("act", "watch"),
        "`zpool status` could not ask which data is damaged",
        (advice("look", "Ask again as root; it only reads.", "zpool status -v POOL"),),
        unattended="damaged files may be read, copied and kept as good, as it is not known which they are.",
    ),
    "top-without-redundancy": Kind(
        ("act",),
        "a single disk is a top-level vdev beside redundant ones",
        (
            advice(
                "look",
                "See how it got there, and attach a second disk to it. Take it not out: its loss loses the pool.",
                "zpool history -il POOL",
            ),
        ),
        unattended="the first failure of that one disk loses the whole pool.",
    ),
    "aux-without-redundancy": Kind(
        ("act", "watch"),
        "a special or dedup vdev is a single disk beside redundant data, or lost disks of its mirror",
        (advice("look", "See which disk is left. Leave it in: its loss loses the pool.", "zpool status -P -p POOL"),),
        unattended="the first failure of that disk loses the whole pool, as its metadata is nowhere else.",
    ),
    "log-device-lost": Kind(
        ("watch",),
        "a log device is out of service, and all data is on other vdevs",
        (advice("reseat", "Look at its slot and power, and bring it back. The data of the pool is whole without it."),),
        unattended="synchronous writes are slow, and a crash of the node in this state may lose writes that programs take for done.",
    ),
    "cache-device-lost": Kind(
        ("watch",),
        "a cache device is out of service",
        (
            advice("wait", "No data is at stake: nothing need be done in a hurry. While the pool itself does not serve, that comes first."),
            advice("look", "See whether the device is there, by serial number, before it is removed or brought online.", TREE[0]),
        ),
        unattended="reads are slower than they could be; no data is at risk.",
    ),
    "pool-filling": Kind(
        ("act", "watch", "info"),
        "at 80, 90 and 95 % of its size: info, watch, act",
        (
            advice("look", "See what holds the space: datasets, snapshots, reservations.", "zfs list -r -o space POOL"),
            advice(
                "other",
                "Delete what is not needed, snapshots with it: what a snapshot holds stays until it is destroyed.",
                save_first="what is deleted, where it may be wanted again",
            ),
            advice(
                "wait",
                "Below 90 % nothing need be done today but to order disks; near 97 % every write ends with “No space left on device”.",
            ),
        ),
        unattended="writes get slower and slower, and then fail: programs stop, and even deleting becomes difficult.",
    ),
    "class-filling": Kind(
        ("watch", "info"),
        "a special or dedup class is full to 75 or 90 %: info, watch",
        (advice("look", "See what each vdev of the class holds, and order disks for another mirror in it.", "zpool list -v POOL"),),
        unattended="new metadata goes to the data vdevs, and the pool gets as slow as those for it; nothing is lost.",
    ),
    "kernel-names": Kind(
        ("info",),
        "members of a pool that is ONLINE stand under names that the kernel gives anew at each boot",
        (
            advice(
                "export-import",
                "In a maintenance window, export the pool and import it by the names in /dev/disk/by-id.",
                needs="Every member is ONLINE, and nothing of the pool is in use.",
                save_first="The keys of encrypted datasets.",
                runbook="rename-members",
            ),
        ),
    ),
    "hostid-mismatch": Kind(
        ("watch",),
        "an imported pool names another hostid than the system has",
        (
            advice(
                "look",
                "Ask every host that reaches these disks whether it has the pool, before anything is imported or replaced.",
                "zpool list -o name,guid,health",
            ),
        ),
        unattended="a second host may import the pool while this one uses it, and two hosts that write destroy it.",
    ),
    "foreign-pool-imported-elsewhere": Kind(
        ("act", "watch", "info"),
        "this node sees a pool that another host has imported, or had last and never exported; act where two nodes have it at once",
        (
            advice(
                "look",
                "Ask each host that sees these disks whether it has the pool. It is imported here only after it was exported there, or that host is proven off.",
                "zpool list -o name,guid,health",
            ),
            advice(
                "wait",
                "Otherwise nothing is to be done here. Never import it with -f while another host may have it: two that write destroy it.",
            ),
        ),
        unattended="the next person who imports it here with force makes two hosts write to it, and that destroys it.",
    ),
    "pool-read-only": Kind(
        ("watch", "info"),
        "its property readonly is on",
        (
            advice(
                "look",
                "Find out who imported it so, and why: most often to copy away what can still be read. No disk is changed meanwhile.",
                "zpool history -il POOL",
            ),
            advice(
                "export-import",
                "When that is done and what was wrong is mended, export it and import it writable.",
                "zpool export POOL",
                needs=NO_OTHER_HOST,
            ),
        ),
        unattended="everything that wants to write to it fails; what is on it stays as it is.",
    ),
    "pool-errata": Kind(
        ("watch",),
        "ZFS names an errata of the pool's format by a number",
        (advice("look", "Read the action line and the page that its see line names. No disk is to blame.", "zpool status POOL"),),
        unattended="what the errata breaks stays broken, and a later import or receive may fail for it.",
    ),
    "block-size-mismatch": Kind(
        ("watch", "info"),
        "a vdev writes smaller blocks than its disks have sectors",
        (advice("wait", "Leave it where the speed is good enough. Nothing is lost, and it cannot be changed in place."),),
        unattended="each small write costs a read and a write of the whole sector, and the pool stays slow; no data is at risk.",
    ),
    "features-disabled": Kind(
        ("info",),
        "`status:` says that features or the format are not of this release, or the compatibility list does not fit",
        (advice("wait", "Leave it, as long as an older release or boot loader may have to read the pool."),),
    ),
    "checkpoint-held": Kind(
        ("watch", "info"),
        "the pool has a checkpoint, which forbids changes of its vdevs; watch while the pool is not ONLINE",
        (
            advice(
                "other",
                "Discard it, once going back to that state is not wanted any more: it keeps all space that was freed since, and no disk can be replaced meanwhile.",
                "zpool checkpoint -d POOL",
                releases="0.8 and newer",
                save_first="the way back: afterwards the pool cannot be rewound to that state any more",
            ),
            advice("wait", "If it is wanted, leave it for the length of that upgrade, and no longer."),
        ),
        unattended="the space of all that is deleted stays in use, and no vdev can be removed, attached or changed.",
    ),
    "device-removal": Kind(
        ("watch", "info"),
        "`remove:` says that a vdev is being removed, was removed, or that this was cancelled",
        (advice("wait", "While it runs, wait and pull none of its disks.", "zpool status POOL"),),
        unattended="the pool goes on as it is: what was to leave stays in it, or what has left stays out.",
    ),
    "direct-io-verify": Kind(
        ("watch",),
        "the DIO column counts: a program changed its buffer during Direct I/O",
        (
            advice(
                "look", "Find the program by the time of the events. No disk is at fault.", "zpool events -v POOL", releases="2.3 and newer"
            ),
        ),
        unattended="the program's writes go on failing.",
    ),
    "spare-in-use": Kind(
        ("watch",),
        "a hot spare stands in for a member",
        (
            advice(
                "look",
                "Replace the lost member by its guid, and the spare goes back; or let the spare stay.",
                "zpool status -g POOL",
                runbook="spare-return",
            ),
        ),
        unattended="the spare goes on serving, and the next failure of any member finds no spare.",
    ),
    "spare-unavailable": Kind(
        ("watch", "info"),
        "a hot spare cannot be opened or carries something else (watch), or serves another pool (info)",
        (
            advice("reseat", "See whether its disk is there, and which disk its name leads to now. No data is at stake."),
            advice("wait", "A spare that serves another pool comes back by itself when the member there is replaced."),
        ),
        unattended="the next failure has no spare, and the vdev stays without its redundancy until a person replaces the disk.",
    ),
    "spare-unused": Kind(
        ("watch",),
        "a spare is INUSE and no vdev of this node holds it",
        (
            advice(
                "look",
                "Look at all pools of every node that reaches the disk before it is removed from the list.",
                "zpool status -P",
                "zpool status -g",
            ),
        ),
        unattended="the spare protects nothing, and the next failure does not get it.",
    ),
    "hidden-by-resilver": Kind(
        ("watch",),
        "a resilver runs, and the tree shows more than that is wrong",
        (
            advice(
                "look",
                "Read the rows of the tree, not the status line: each member that it names has a situation and a cure of its own here.",
                *TREE,
            ),
            advice(
                "wait",
                "Wait for the end of the resilver, then look again. Take no other disk out before: what is being filled does not count yet.",
            ),
        ),
        unattended="the resilver ends, and what it hides is seen only then, or when the next disk is lost.",
    ),
    "resilver-running": Kind(
        ("watch", "info"),
        "a resilver or rebuild runs; watch while the next loss would lose the pool",
        (advice("wait", "Wait until it has ended; take no disk out meanwhile.", "zpool status POOL"),),
        unattended="it ends by itself. Until then each further loss counts against what the vdev can still lose.",
    ),
    "resilver-slow": Kind(
        ("watch",),
        "a resilver was measured, between two looks, to need days",
        (
            advice("look", "Look for one disk that is slower than its peers, the new one above all.", "zpool iostat -v -l POOL 5 3"),
            advice("other", "Where no disk stands out, give it more of the pool's I/O for a while.", runbook="resilver-tuning"),
            advice("wait", "Otherwise wait, with every disk left connected, the old one too: a busy pool resilvers slowly by design."),
        ),
        unattended="the vdev stays without its full redundancy for days longer than it needs to.",
    ),
    "resilver-stuck": Kind(
        ("act", "watch"),
        "a resilver stands still, began anew, ended without finishing the replacement, or never came",
        (
            advice(
                "look", "Look for a disk that answers slowly or comes and goes. Take nothing out.", "zpool iostat -v -l POOL 5 3", "dmesg"
            ),
            advice(
                "resilver",
                "Where none runs and the new disk is not filled, begin one.",
                "zpool resilver POOL",
                releases="0.8 and newer",
                needs="No scan of the pool is running, and no disk comes and goes.",
                runbook="begin-resilver",
            ),
        ),
        unattended="the replacement never ends, and the vdev stays without its full redundancy.",
    ),
    "resilver-cancelled": Kind(
        ("watch",),
        "the last resilver or rebuild was cancelled, and nothing ended since",
        (
            advice(
                "resilver",
                "Begin it again: ZFS fills what misses data, and begins none where nothing does.",
                "zpool resilver POOL",
                releases="0.8 and newer",
                needs="Nothing else is being filled or scrubbed.",
                runbook="begin-resilver",
            ),
            SCRUB,
        ),
        unattended="the new disk holds only a part of its data, and the vdev may have less redundancy than it seems to.",
    ),
    "rebuild-unverified": Kind(
        ("watch",),
        "a sequential rebuild ended, and no scrub came after it",
        (replace(SCRUB, runbook="scrub-due"),),
        unattended="what was copied wrongly is found only when the disk that it was copied from is gone.",
    ),
    "scrub-errors": Kind(
        ("watch",),
        "the last scrub or resilver ended with errors, and none is listed now",
        (advice("look", "Ask for the list of damaged files; it only reads.", "zpool status -v POOL"), SCRUB),
        unattended="what could not be read or mended stays so, and is met again when the data is needed.",
    ),
    "scrub-repaired": Kind(
        ("info",),
        "the last scrub wrote something anew",
        (
            advice(
                "look",
                "See which disk it was, by its counters or the events; scrub once more before any disk is replaced.",
                "zpool events -v POOL",
            ),
        ),
    ),
    "scrub-overdue": Kind(
        ("watch", "info"),
        "no scrub ended for 35 days; info of a paste, which has no clock",
        (
            advice(
                "scrub",
                "Scrub it to its end.",
                "zpool scrub POOL",
                needs="No member is lost that has to be replaced first.",
                runbook="scrub-due",
            ),
        ),
        unattended="errors on data that is not read stay unseen, and are found when a disk was lost and they cannot be mended any more.",
    ),
    "scrub-paused": Kind(
        ("watch", "info"),
        "a scrub is paused; watch after 35 days",
        (
            advice(
                "scrub",
                "Let it go on where it stopped, when the reason for the pause is over: it never does by itself.",
                "zpool scrub POOL",
                releases="0.7 and newer",
                runbook="scrub-due",
            ),
        ),
        unattended="the rest of the pool is not checked.",
    ),
    "expansion-running": Kind(
        ("info",), "a raidz expansion runs", (advice("wait", "Wait; take no disk of that vdev out.", "zpool status POOL"),)
    ),
    "expansion-stuck": Kind(
        ("act", "watch"),
        "a raidz expansion stands still or waits for a resilver or a clear",
        (advice("look", "Look for the disk that answers slower than the others, or counts errors.", "zpool iostat -v -l POOL 5 3"),),
        unattended="the new space never comes, and the vdev cannot be changed otherwise.",
    ),
    "zfs-events": Kind(
        ("act", "watch"),
        "ZFS's events report errors of a pool whose tree was not read",
        (advice("look", "See how the pool is today.", "zpool status -P -p", "zpool status -g -p"), RESEAT),
        unattended="whatever made the events goes on unseen: the pool's tree was not looked at.",
    ),
}
