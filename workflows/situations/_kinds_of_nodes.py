"""What decides a situation of a node, of its HBAs, enclosures and settings, or of a text alone, and what is advised of it."""

from workflows.situations._kinds import Kind, Kinds, advice

KINDS: Kinds = {
    "hba-fault": Kind(
        ("act", "watch", "info"),
        "an HBA or RAID controller failed, was reset, resets its disks, or reports its volume, battery or cache as not well; info where all pools are well since",
        (
            advice(
                "look",
                "See what the controller and the kernel say of it now, and which disks hang on it. Replace no disk for it.",
                "lsscsi -v",
                "dmesg",
            ),
            advice(
                "reseat",
                "Look at its temperature, cables, battery and firmware, and compare these with another node's.",
                runbook="many-disks-offline",
            ),
            advice(
                "other",
                "Where a RAID volume lies between ZFS and the disks, mend the volume by the controller's own tool first: ZFS sees one disk, and its redundancy does not "
                "cover what happens below.",
                save_first="The controller's whole configuration, as its tool prints it.",
            ),
        ),
        unattended="it may fail again, and takes every disk behind it away at once.",
    ),
    "kernel-errors": Kind(
        ("act", "watch", "info"),
        "lines of the last 24 hours of the kernel's log report errors of a disk, of memory, or of ZFS; watch where the member is ONLINE and counts none; info "
        "where a disk only refused TRIM or WRITE SAME, which it does not have",
        (
            advice(
                "look", "See how the pools are today, and find the disk by WWID or serial number.", "zpool status -P -p", "lsscsi -i -g -s"
            ),
        ),
        unattended="what the log reports goes on, and ZFS notices it when data has to wait or is lost.",
    ),
    "enclosure-fault": Kind(
        ("act", "watch"),
        "an element of an enclosure has a status that is not OK: act if critical, watch if not",
        (
            advice(
                "look",
                "Look at that part and its cable: a power supply or a fan can be changed in operation. Do it soon: the next one that fails takes every disk along.",
            ),
            advice(
                "wait",
                "Replace no disk for it: a bay with a fault says nothing of the disk in it. What the pool says of that member decides.",
            ),
            advice("look", "Ask the enclosure again after the repair (`sg_ses --join`): the status must be OK."),
        ),
        unattended="the next fan or power supply that fails may switch off the shelf with all its disks.",
    ),
    "tunables-left-raised": Kind(
        ("act", "watch", "info"),
        "a module parameter differs from what the next boot gives it, or has a value that stops or blinds scans; act while a resilver waits for it",
        (
            advice("look", "Ask who set it: a run that tunes puts its value back by itself.", runbook="resilver-tuning"),
            advice(
                "other", "Else put the value of the next boot back, or write the one that is meant to stay into the boot configuration."
            ),
            advice("wait", "If nothing is done, the next boot undoes it, and what is measured until then is of another setting."),
        ),
        unattended="the next boot undoes it, and what is measured until then is of another setting.",
    ),
    "shared-hostid": Kind(
        ("act", "watch"),
        "two nodes that report have one hostid (watch); act where both reach disks of one pool, and then two without a hostid as well",
        (
            advice(
                "look",
                "See which of them has which pool, and import nothing on either before one has another hostid.",
                "zpool list -o name,guid,health",
            ),
            advice(
                "zgenhostid",
                "On the one that can be without its pools: export them, give it a new hostid, build its initramfs anew, reboot, and import them there.",
                needs="Every pool of it is exported.",
            ),
        ),
        unattended="at its next boot one of them may import a pool that the other uses, without being asked for -f, and two hosts that write destroy it.",
    ),
    "foreign-pool-in-cachefile": Kind(
        ("act", "watch"),
        "the cache file of a node names a pool that it has not imported and that another host has, or had last; watch where its release refuses such an import",
        (
            advice("look", "Ask which host is to have the pool, and boot this one only after its cache file was written anew.", "zdb -C"),
            advice(
                "other",
                "Then have ZFS write the file anew, or move it away where no pool of this host is in it.",
                needs="The pool is not to be imported on this host.",
            ),
        ),
        unattended="its next boot may import a pool that another host uses, and two hosts that write destroy it.",
    ),
    "version-mismatch": Kind(
        ("watch", "info"),
        "tools and kernel module are of different releases (watch), or of one that no runbook was tried with (info)",
        (
            advice(
                "other",
                "Where they differ, load the new module in a planned stop: reboot the node, or export every pool and reload the module. The pools serve until then.",
                needs="No resilver runs, and no other host takes the pools meanwhile.",
            ),
            advice(
                "wait",
                "Where they are alike, nothing is to be done: docs/releases.md says what is ordered on this release and what a person gives by hand.",
            ),
        ),
        unattended="commands may fail or mean something else than the tools say, until both are of one release.",
    ),
    "refused-command": Kind(
        ("act", "watch"),
        "a pasted command of zpool, zfs or zdb was refused; act where its sentence means a pool that is down, held or suspended",
        (advice("look", "Read what its sentence means before it is given again. Never add -f because it was refused."),),
        unattended="nothing was changed; things stay as they were before the command.",
    ),
    "unexplained": Kind(
        ("act", "watch"),
        "a source prints a word that no table and no situation explains; act where a pool or vdev is not ONLINE",
        (
            advice(
                "look",
                "Look at the whole of the pools, their events and the kernel's log, in this order: they may say the same in known words.",
                "zpool status -v",
                "zpool events -v",
                "dmesg",
            ),
            advice("wait", "Until it is known what the word means, replace, clear, export and power off nothing for it."),
            advice(
                "other", "Look the word up in the manual of this release; an administrator can then mark it as reviewed, with the reason."
            ),
        ),
        unattended="it may be trouble that nothing here knows yet, and it goes on unseen.",
    ),
    "tunable-written": Kind(
        ("info",),
        "a debugger wrote module parameters into the running kernel",
        (
            advice("look", "Ask who wrote them and why, and note the values of before: they are printed left of the new ones."),
            advice(
                "wait",
                "Where they are meant to last for one repair, nothing need be done but to write the old ones back afterwards; the next boot does the same.",
            ),
        ),
    ),
    "writers-throttled": Kind(
        ("info",),
        "ZFS held writers back, as dirty data reached its limit",
        (
            advice(
                "wait",
                "That is how ZFS keeps memory within its limit: nothing is wrong by itself, and nothing need be done where the speed is good enough.",
            ),
            advice("look", "Where it is not, look for one disk that is slower than its peers.", "zpool iostat -v -l 5 3"),
        ),
    ),
}
