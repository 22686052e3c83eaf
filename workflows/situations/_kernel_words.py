"""What lines of the kernel's log about one disk amount to, what that means, and what helps."""

from workflows.engine.core import Cure

ERROR_NUMBERS = {
    "5": "I/O error",
    "6": "no such device",
    "52": "checksum error",
    "110": "timed out",
    "121": "I/O error on the way to the disk",
    "61": "no data",
}

# The worst first: what a disk's lines amount to, and what that means.
OF_DISKS = {
    "medium": "reports sectors it cannot read",
    "hardware": "reports a fault of its own hardware",
    "unready": "answers that it is not ready",
    "dropped": "dropped off its bus, or its controller hung",
    "gone": "was given up by the kernel",
    "link": "loses its link",
    "usb": "loses its USB link",
    "locked": "is locked and gives no data",
    "protection": "fails the checks of its protection information",
    "timeout": "did not answer in time",
    "io": "failed commands",
    "optional": "refused a command that it need not have",
    "empty": "is a drive without a medium, and a command to it failed",
    "optical": "is an optical drive, and a command to it failed",
}
MEANINGS = {
    "medium": "The disk itself says that it cannot read these sectors, so it is neither the cable nor the HBA. ZFS mends such a block from the "
    "other copies as long as there are any. More of them, or any in a pool without redundancy to spare, mean a new disk.",
    "hardware": "The disk reports that a part of it failed. It may go altogether at any time.",
    "unready": "The disk answers and cannot be read: it does not spin up, or does not come out of its start. Power does this as well as a dying disk.",
    "dropped": "The controller of an NVMe disk did not answer, and the kernel reset it or took it out of use. A link of PCIe that sleeps to save power, firmware, heat, power, a riser or its "
    "slot do this as well as a dying disk; CSTS=0xffffffff says that nothing answered on the bus at all.",
    "gone": "The kernel no longer uses it, or could not reset it. A cable, a power connector or a backplane does this as well as a dying disk.",
    "link": "Resets of the link, and errors on it, come from the cable, the port or power more often than from the disk.",
    "usb": "It hangs on USB. Resets and lost links there come from the bridge, the cable, the hub or the power of its case, and several disks at one moment share a hub or a "
    "power supply. A bridge that fails under UAS (uas_eh_abort_handler) may hold with usb-storage. A disk is not to be replaced for it, and ZFS suspends a pool when its "
    "disks go away together.",
    "locked": "The disk answers Data Protect: it encrypts itself and has not been unlocked, or it is write-protected. Its commands fail for that and it is not ill for it. Nothing on "
    "it is lost as long as it is not erased.",
    "protection": "The disk was formatted with protection information (T10 DIF), and it or the HBA finds its guard or tag wrong. Sectors that were never written since it was formatted so "
    "do this, as do an HBA or a backplane that does not handle that type of protection, which then shows on all disks of the kind. A new disk helps only if one alone does it.",
    "timeout": "Commands ran out of time. That is a disk that retries inside, a link that loses frames, or an HBA that is stuck.",
    "io": "Commands failed on the way or on the disk. The log does not say which of the two.",
    "optional": "It, its bridge or its HBA does not have TRIM (UNMAP), WRITE SAME or another command that a disk need not have, and the kernel asked for it. No data was read or written, "
    "and none is lost. Where it is SYNCHRONIZE CACHE that is refused, see that the disk has no write cache that a power loss empties.",
    "empty": "A slot for memory cards, or another drive whose medium can be taken out, answers so as long as it is empty. No disk failed, and no pool is on it.",
    "optical": "An optical drive without a medium, or an old one, answers late or not at all. PACKET is what such drives are asked with, and no disk is. No pool is on it.",
}
CURES = {
    "medium": (Cure("look", "Ask the disk itself: `smartctl -x` on its by-id path shows pending and reallocated sectors and the error log."),
               Cure("scrub", "Scrub the pool: it reads everything and rewrites what it can mend."),
               Cure("replace", "If the sectors become more, or SMART says so, replace the member by its guid.")),
    "hardware": (Cure("look", "Ask the disk itself: `smartctl -x` on its by-id path."), Cure("replace", "Plan its replacement by guid; until then see that the pool has a spare.")),
    "unready": (Cure("reseat", "Reseat the disk, and look at its power; a shelf may start its disks only one after the other."), Cure("look", "Ask the disk itself: `smartctl -x` on its by-id path.")),
    "dropped": (Cure("look", "Where the disk is there again, ask it: `nvme smart-log` and `nvme error-log` of its controller, its temperature above all, and compare its firmware with the maker's newest."),
                Cure("other", "Try it without power saving, at the next boot: nvme_core.default_ps_max_latency_us=0 pcie_aspm=off."),
                Cure("reseat", "If it comes again: stop the node, reseat the disk, its riser or cable, and try another slot.")),
    "gone": (Cure("reseat", "Reseat the disk, then its cable, then try another port, before it is called dead."),
             Cure("online", "When it is back, bring the member online by its guid."),
             Cure("replace", "Only if it stays away in another bay too.")),
    "link": (Cure("reseat", "Reseat or change the cable, then the port; compare the link's error counters before and after."), Cure("scrub", "Scrub afterwards, and look at the counters again.")),
    "usb": (Cure("reseat", "Another cable, a port of the machine itself in place of a hub, and a power supply of its own for the case; see that no port switches off to save power."),
            Cure("look", "Attach the disk by SATA or SAS if it can be taken out of its case, and ask it there: `smartctl -x`."),
            Cure("scrub", "Scrub afterwards: what was written while the link failed may be incomplete.")),
    "locked": (Cure("look", "See whether it is locked: `sedutil-cli --query`, `hdparm -I` (Security) or `nvme list`; a case with a key or a password is unlocked by its own program."),
               Cure("other", "Unlock it with its key. Do not revert, erase or format it to get it back: that destroys all that is on it.")),
    "protection": (Cure("look", "See how it is formatted: `sg_readcap -l DEVICE` shows prot_en and p_type. Compare it with a disk that works there."),
                   Cure("other", "Attach it to an HBA that handles its type. To format it without protection information erases it: never do that to a member of a pool, nor where anything on it is needed.")),
    "timeout": (Cure("look", "Compare its latency with its peers': `zpool iostat -vl 5`, and its SMART error log."), Cure("reseat", "Reseat the disk and its cable.")),
    "io": (Cure("look", "See in the log whether other disks of the same HBA or shelf failed at that moment; then ask the disk: `smartctl -x`."), Cure("reseat", "Reseat the disk and its cable first.")),
    "optional": (Cure("wait", "Nothing need be done. Where the lines fill the log, switch the trim of its pool off: `zpool get autotrim` shows it."),),
    "empty": (Cure("wait", "Nothing need be done for it."),),
    "optical": (Cure("wait", "Nothing need be done for it. Where it fills the log, unplug the drive when the node is stopped."),),
}  # fmt: skip
