"""What zpool, zfs and zdb say when they refuse: one sentence of theirs -> what it means, what to do next, and what -f would do.

The sentences are those of OpenZFS: libzfs_error_description and zpool_standard_error_fmt in lib/libzfs/libzfs_util.c, zfs_error_aux in
lib/libzfs/*.c, vdev_error in cmd/zpool/zpool_vdev.c and os/linux/zpool_vdev_os.c, labelclear in cmd/zpool/zpool_main.c.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Force = Literal["", "harms", "useless", "may"]  # what -f would do: nothing to say, destroys, changes nothing, can be right

FORCE_WORDS = {
    "": "",
    "harms": "Do not use -f: it would destroy what the check protects.",
    "useless": "-f does not help: this check is not overridden by it.",
    "may": "-f is right only when that has been proven; until then it is not.",
}


@dataclass(frozen=True)
class Sentence:
    """One sentence. `verbs` are the commands it is for; () is all of them. The first that fits a refusal says what it means."""

    slug: str
    form: re.Pattern[str]
    means: str
    next: str
    force: Force = ""
    verbs: tuple[str, ...] = ()


def _s(slug: str, form: str, means: str, next: str, force: Force = "", verbs: tuple[str, ...] = ()) -> Sentence:
    return Sentence(slug, re.compile(form), means, next, force, verbs)


_FILLS = ("replace", "attach")
_NEW = ("replace", "attach", "add", "create", "invalid vdev specification")
_IMPORT = ("import",)
_ZFS = (
    "mount",
    "unmount",
    "destroy",
    "rename",
    "receive",
    "rollback",
    "promote",
    "load key",
    "unload key",
    "change key",
    "snapshot",
    "send",
    "share",
    "unshare",
    "create",
    "set property for",
)
MORE = "Paste `zpool import` without a name, and `zdb -l` of every disk."

SENTENCES: tuple[Sentence, ...] = (
    # import: the gravest first
    _s("imported-unknown-host", r"imported on host '<unknown>' \(hostid=0\)|must be exported from \S+ \(hostid=0\)",
       "ZFS found signs of activity and knows no host that made them. That is no proof of another host: since 2.3.6 and 2.4.1 the import writes a claim first, "
       "and a pool that this node itself left without an export, or a claim that could not be written, looks the same.",
       "Ask every partner for the pool (`zpool list`). If none has it, wait a minute and import again; look in the kernel log for errors of its disks.", "useless", _IMPORT),
    _s("claim-not-written", r"multihost claim could not be written|writing the multihost claim",
       "The import must write a claim to the disks first, and could not write it to one of them. It says nothing of another host. A read-only import of such a pool always ends so.",
       "Find the disk that failed in the kernel log, mend its path, and import again. `zhack mmp reclaim` is only for a disk that is gone for ever.", "useless", _IMPORT),
    _s("imported-elsewhere", r"is imported on (?!host '<unknown>')\S|currently imported by another(?!.*hostid=0\))|must be exported from (?!\S+ \(hostid=0\))\S|pool is imported on a different host",
       "Another host has the pool imported now. To import it here as well, with -f or without, destroys it.",
       "Export it there, or fence that host and prove that it is off; then import again.", "harms"),
    _s("hostid-not-set", r"system'?s? hostid is not set|hostid is not set|requires a non-zero system hostid",
       "The pool has multihost on, and this node has no hostid, so it cannot say who it is.",
       "Run `zgenhostid` once on this node, so that the id outlives the reboot, reload the module or reboot, and import again. No disk is at fault.", "useless"),
    _s("other-system-had-it", r"was previously in use from another system|last accessed by another system|may be in use from other system|Last accessed by ",
       "Another host had the pool and never exported it, or this node's hostid changed since. It may be imported there at this moment.",
       "Ask that host (`zpool list` there), or prove that it is off. Only then import with -f.", "may"),
    _s("rewind-offered", r"Recovery is possible|Would be able to return",
       "The newest transactions do not fit together. ZFS offers to go back; what was written since is lost for ever by that.",
       f"Going back discards the newest writes for ever. First see whether one disk contradicts the others. {MORE}", "harms", _IMPORT),
    _s("destroy-offered", r"Destroy and re-create the pool",
       "Do not destroy it: this is printed as well for a pool that is whole but for one disk.",
       f"Its newest data does not fit together, or one disk contradicts the others. {MORE}", "harms"),
    _s("import-io-error", r"^I/O error|: I/O error|Input/output error|Invalid exchange|[Ii]ntegrity check failed",  # a wrong checksum is the last two on Linux and FreeBSD
       "Its newest data does not fit together, or a disk cannot be read.", f"See which disk stands out before anything is forced. {MORE}", "harms", _IMPORT),
    _s("features-write-only", r"All unsupported features are only required for writing",
       "This node's OpenZFS is too old for the pool. Nothing is wrong with the pool, and it can be read here.",
       "Import it with `-o readonly=on`, or on a node with a newer OpenZFS.", "useless", _IMPORT),
    _s("features", r"unsupported version or feature|unsupported feature|feature\(s\) not supported|newer (?:ZFS )?version",
       "This node's OpenZFS is too old for the pool. Nothing is wrong with the pool.",
       "Import it on a node whose OpenZFS has the features that are named, or install that release here.", "useless"),
    _s("missing-use-m", r"missing(?: or corrupted)?, use '-m' to import",
       "Only devices that the pool can do without are missing, as a rule its log. What was acknowledged and stood only in that log is lost by -m: the last seconds before it went down.",
       "Look for the log device first. If it is gone for ever, import with -m, and then remove it by its guid.", "useless", _IMPORT),
    _s("devices-unavailable", r"one or more devices (?:is|are) currently unavailable",
       "Not all disks it needs could be opened. It does not say which.",
       "`zpool import` without a name does, or `zpool status -P` of an imported pool. Look for power, cable, HBA and multipath before any disk is given up.", "useless"),
    _s("devices-in-use", r"one or more devices are already in use",
       "Another program holds a disk of the pool: multipath, LVM, md, a mount, or a second import.",
       "`lsblk` and `multipath -ll` show who has it. Under multipath import with `-d /dev/mapper`; one path of a map cannot be used.", "useless"),
    _s("name-taken", r"a pool with that name (?:already exists|is already created/imported)|: pool already exists",
       "A pool of this name is imported here already, perhaps this very one.",
       "`zpool status -P -p` shows which. If it is another pool, import by the numeric id and give a new name: `zpool import ID NEWNAME`.", "useless"),
    _s("name-ambiguous", r"more than one matching pool", "Two pools have this name.", "`zpool import` without a name lists their ids; import by id.", "useless"),
    _s("not-found", r"no such pool available|no pools available",
       "No disk that it could open carries a label of it. Another `zpool import` at work, a script's as well, hides its disks from this one.",
       "See that there is none (`pgrep -a zpool`), then `zpool import -d /dev/disk/by-id` looks at all that have a stable name.", "useless"),
    _s("already-exported", r"pool was destroyed, but can be imported", "The pool was destroyed on purpose; its labels are still there.",
       "`zpool import -D` lists it. Importing it so brings it back as it was; do that only if it is wanted, and before its disks are used for anything else.", "may", _IMPORT),
    _s("unit-failed", r"Failed to start (?:zfs-\S+ - )?(?:Import|Mount) ZFS|Failed to start zfs-import",
       "systemd says that a unit of ZFS failed when the node started, and not why: often a disk came later than the unit, or the cache file names one that is gone. A failed unit changes nothing on the disks; what is behind it may be more.",
       "`zpool status -P -p` shows what is imported all the same, and `journalctl -b -u zfs-import-cache -u zfs-import-scan -u zfs-mount` what zpool printed."),
    _s("events-not-got", r"cannot get event", "`zpool events` could not ask the kernel for its list of events. It says nothing of a pool or a disk: the tools and the module are of two releases, or the module has no such list here.",
       "`zfs version` shows both releases. `zpool status -v -P -p` and the kernel's log show how the pools are meanwhile.", "", ("events",)),
    # what is given as a new disk
    _s("part-of-active", r"is part of active pool|is part of active|part of active pool",
       "The disk under this name is a member of a pool that is imported on this node now. It is in service, whatever its name was yesterday.",
       "Find who it is: `zdb -l` of it names pool and guid. A lost member that is remembered by this name is another disk: name it by its guid, and give a disk that carries no label.", "useless"),
    _s("active-member", r"is a member \(ACTIVE\)", "The label says that the disk is in service in that pool.",
       "Is it so? `zpool status -g` lists the pool's guids, and `zdb -l` shows this disk's. A label of a member that serves must never be cleared.", "harms"),
    _s("part-of-exported", r"is part of (?:exported|potentially active|destroyed)|is a member of (?:exported|potentially active) pool|is a member \((?:exported|potentially active|ACTIVE|EXPORTED)",
       "The disk carries the label of a pool that is not imported here. It may be another host's, or one that is still needed.",
       "`zdb -l` of it names pool, host and when. If that pool is not needed any more, `zpool labelclear` exactly this disk by its by-id name; else take another disk.", "harms"),
    _s("reserved-spare", r"is reserved as a hot spare|device is reserved as a hot spare",
       "The disk is a hot spare of a pool.", "To use it as the spare it is: `zpool replace POOL GUID SPARE` in that same pool. For anything else remove it there first.", "harms"),
    _s("active-spare", r"active shared spare", "A spare of this pool stands in somewhere and is shared with other pools.",
       "Finish the replacement and detach the spare first; then export.", "may"),
    _s("l2cache", r"device is in use as a cache|is in use as (?:a )?cache", "The disk is a cache device of a pool.", "Remove it there first: `zpool remove POOL GUID`.", "harms"),
    _s("filesystem", r"contains a filesystem|in use and contains a|contains a (?:corrupt primary EFI|valid EFI) label|does not contain an EFI label|is currently mounted|is in use",
       "The disk is not blank: it has a filesystem or a partition table on it, or is in use now. It may be the wrong disk.",
       "Compare WWID and serial number, and `lsblk -f` of it. If it is in use, it stays refused. If what is on it is not needed, `wipefs` exactly this by-id name.", "harms", _NEW),
    _s("same-device-twice", r"refer to the same device|active md or lvm", "Two of the names lead to one disk, or it belongs to md or LVM.",
       "Compare WWIDs (`lsscsi -i`, `multipath -ll`): two paths to one disk are one disk.", "useless"),
    _s("too-small", r"device is too small|less than the minimum|is too small", "The new disk is smaller than the old one, if only by some sectors; or it has a host protected area, or another partition table.",
       "Compare sizes in bytes: `blockdev --getsize64`. A disk at least as large as the smallest member is needed.", "useless"),
    _s("sector-size", r"different optimal sector size|higher alignment requirement|different physical sector sizes|block size out of range or does not match|ashift",
       "The new disk has larger sectors (4,096 bytes) than the vdev was made for (512).",
       "Take a disk with 512-byte sectors or 512e. Through `-o ashift=9` a 512e disk is accepted, and slow; a 4Kn disk never is.", "useless"),
    _s("already-replacing", r"already in replacing/spare config|cannot replace a replacing device",
       "This member is already being replaced, or a spare stands in for it. From 2.0 to 2.2 the same is said, wrongly, of a disk with larger sectors than the vdev was made for.",
       "`zpool status -g` shows the two children. If one fills, wait. If the new half is dead, detach the new guid; if the spare shall stay, detach the old guid. If there are no two children, compare the sector sizes.", "useless", _FILLS),
    _s("double-spare", r"double spares?", "A second spare would stand in where one does already.", "Wait for the first, or detach it.", "useless"),
    _s("spare-only", r"can only be replaced by another hot spare|dRAID spares can only|dRAID spares cannot|cannot replace a log with a spare",
       "A spare cannot take this place: a distributed spare serves only its own dRAID vdev, and no spare replaces a log.", "Give an ordinary disk, and name the member by its guid.", "useless"),
    _s("single-disk", r"new device must be a single disk", "A whole disk or partition is wanted here, and no group of them.", "Name one disk, by its by-id path.", "useless"),
    _s("attach-where", r"can only attach to mirrors|raidz_expansion'? feature must be enabled|doesn't support raidz expansion",
       "A disk can be attached to a single disk or a mirror; to a raidz only where the release has expansion (2.3.0) and the feature is enabled.",
       "Was it meant to replace? Then `zpool replace POOL GUID NEW`. Do not `add` it instead: that makes a top-level vdev without redundancy.", "useless"),
    _s("raidz-not-whole", r"raidz vdev has devices that are", "The raidz vdev has a member that is offline or being replaced.", "Make it whole first, then expand it.", "useless"),
    _s("rebuild-where", r"only mirror and dRAID vdevs support sequential|device_rebuild feature must|doesn't support device rebuilds", "A sequential rebuild (-s) is for mirrors and dRAID, and needs the feature device_rebuild (2.0.0).",
       "Leave out -s; raidz resilvers in the ordinary way.", "useless"),
    _s("mismatched", r"mismatched replication level", "The new vdev has another redundancy than the pool's. Forced, one weak vdev makes the whole pool as weak as it is, and a raidz pool cannot remove it again.",
       "Was `attach` or `replace` meant? Else give the new vdev the same layout as the others; a special or dedup vdev is a mirror of one disk more than a raidz has parity, and the runbook add-special adds it.", "harms"),
    _s("different-sizes", r"contains devices of different sizes", "The disks of the new vdev differ in size; the smallest counts for all.", "Compare them in bytes; where it is meant so, -f makes it.", "may"),
    # members
    _s("not-in-pool", r"no such device in pool|: no such device$|device not in pool|couldn't find device|not in pool",
       "The pool has no member of this name. Names move at every boot, and a lost member goes by its guid alone.",
       "`zpool status -g -p` lists the guids; use the guid.", "useless"),
    _s("no-replicas", r"no valid replicas|insufficient replicas",
       "Without this member data would be missing that only it holds. The refusal protects the data.",
       "Do not take it away. Let the resilver end, or bring the others back, and ask again.", "useless"),
    _s("only-mirror", r"only applicable to mirror and replacing vdevs", "Only a half of a mirror, or one of two that replace each other, can be detached. A member of raidz or dRAID cannot.",
       "To take a raidz member out of service: `zpool offline`, or replace it. `zpool remove` is for spares, caches, logs and whole vdevs.", "useless"),
    _s("remove-config", r"all top-level vdevs must have the same sector size and not be raidz|must have the same sector size|invalid config; all top-level",
       "A top-level vdev can only be removed from a pool without any raidz or dRAID, with one sector size throughout.",
       "It cannot be removed. To give a single disk redundancy, attach a second one to it: `zpool attach`. The rest is a new pool and a copy.", "useless", ("remove",)),
    _s("remove-busy", r"removal for this vdev is already in progress|removal may already be in progress|device removal in progress", "A removal runs already.",
       "`zpool status` shows how far it is; `zpool remove -s POOL` ends it.", "useless"),
    _s("replay-logs", r"Mount encrypted datasets to replay logs|unplayed intent logs", "The log still holds records of datasets that are not mounted.",
       "Load the keys and mount those datasets, so that they are replayed; then remove the log. Forced, those seconds of data are gone.", "harms"),
    _s("is-resilvering", r"currently (?:sequentially )?resilvering", "A resilver runs, and this must wait for it.", "Wait; `zpool status` says how long.", "useless"),
    _s("is-scrubbing", r"currently (?:error )?scrubbing|scrub is paused", "A scrub runs or is paused.", "Nothing is wrong. `zpool scrub -s` ends it, `zpool scrub` resumes a paused one.", "useless"),
    _s("nothing-runs", r"there is no active (?:scrub|initialization|trim)|operation is not in progress", "Nothing of the kind runs.", "There is nothing to stop; `zpool status` shows what does run.", "useless"),
    _s("initializing", r"currently (?:initializing|trimming)", "An initialize or trim of it runs.", "Wait, or stop it with -c or -s of that command.", "useless"),
    _s("expanding", r"raidz expansion in progress", "A raidz expansion runs, and this must wait.", "`zpool status` shows how far it is.", "useless"),
    _s("checkpoint", r"checkpoint exists|discarding checkpoint|checkpoint does not exist", "The pool holds a checkpoint, or is dropping one. While it does, vdevs cannot be removed, attached to raidz, or detached.",
       "Is the checkpoint still wanted? It is dropped with `zpool checkpoint -d POOL`; after that there is no way back to it.", "useless"),
    _s("export-in-progress", r"pool export in progress", "An export of it runs already.", "Wait for it. If it hangs, look for a disk that does not answer.", "useless"),
    # state of the pool
    # zpool_open in lib/libzfs/libzfs_pool.c: it is imported, and its state is UNAVAIL
    _s("unavailable", r"pool is unavailable",
       "The pool is imported, and so many of its devices are missing that nothing of it can be read. Nothing can be changed in it until they are back.",
       "`zpool status -P` names them. Look for power, cables, HBA and names first; replace, detach and clear nothing before.", "useless"),
    _s("suspended", r"I/O is currently suspended|pool is suspended",
       "The pool is suspended: its writes stopped, because disks did not answer or its multihost protection stopped it. Everything that changes it fails or hangs.",
       "Mend what it waits for first (disks, cables, HBA), see `zpool status` why; then `zpool clear`. After a multihost suspension first prove that no other host has it; on 0.7 `clear` is never right then.", "useless"),
    _s("clear-refused", r"invalid argument for this pool operation", "From 0.8.0 to 2.2.3 a suspended pool with multihost on refuses `clear`.",
       "`clear` does not help there: the node must be rebooted, after it was proven that no other host imports the pool meanwhile.", "useless", ("clear errors for", "clear")),
    _s("clear-io", r"clear errors for .*: I/O error", "The pool is suspended, and the disks it waits for still do not answer, so it stays suspended.",
       "See that each of its disks is there and answers (`lsscsi`, the kernel log), mend cable, power or HBA, then clear again. A disk that came back under another name is not found until the node is rebooted.", "useless", ("clear errors for", "clear")),
    _s("onlined-faulted", r"onlined, but remains in", "The member was switched on, and ZFS cannot use what it found there: no label of it, another disk's, or a disk that fails.",
       "`zdb -l` of the disk shows whether it is this member (its guid). If it is, look at cable and kernel log; if it is not, find the right disk; `zpool replace` only for a disk that is lost.", "useless", ("online",)),
    _s("read-only-pool", r"pool is read-only|dataset is read-only|read-only file system", "The pool is imported read-only, so nothing in it can be changed.",
       "That is what a rescue import is for. To change it, export and import it again without `readonly=on`, once it is known that it may be written to.", "useless"),
    _s("busy-dataset", r"(?:dataset|pool or dataset|target|'[^']*') is busy|Device or resource busy|device is busy|pool is busy|unmount failed|umount failed",
       "Something still uses it: an open file, a shell in the directory, an export to NFS, a swap or iSCSI volume, a receive that runs, a hold, or a container.",
       "Find it: `fuser -vm MOUNTPOINT`, `lsof`, `zfs holds`, `mount | grep`, `exportfs -v`. Stop that, then ask again. Forcing an unmount takes files away from who writes them.", "may",
       (*_ZFS, "export", "umount")),
    _s("disk-busy", r"(?<!dataset )(?<!pool )(?<!target )is busy|Device or resource busy",
       "The new disk is in use: multipath, md, LVM, a mount, swap, or a pool that has it as a spare or as another member.",
       "`lsblk`, `multipath -ll`, `zdb -l` and `zpool status` of all pools show what uses it. Under multipath name the map (/dev/mapper/...), and not one path.", "useless"),
    _s("permission", r"[Pp]ermission denied|must be run as root|Insufficient privileges", "The command needs root, or a right that `zfs allow` gives.", "Run it as root; whether it would then succeed, this does not show.", ""),
    _s("no-such-pool", r"^(?!cannot unmount '/).*(?:no such pool(?: or dataset)?|dataset does not exist|is not a pool|does not exist|no such dataset)",
       "Nothing of this name is imported here. It may be exported, imported elsewhere, or spelt differently.", "`zpool list` and `zfs list` show what is here, `zpool import` what could be imported.", "useless"),
    _s("no-such-disk", r"no such device in /dev|must be a full path or shorthand|cannot resolve path|(?<!key material file: )No such file or directory|^(?!zdb: ).*No such device|must be a block device",
       "There is no such device on this node at the moment. Where a guid stands alone after `replace`, ZFS takes it for the new disk.",
       "Name the new disk by its path in /dev/disk/by-id; for the member use its guid. `ls -l /dev/disk/by-id` and `lsscsi -i` show what is there.", "useless"),
    _s("missing-link", r"missing link: |Error preparing/labeling disk|write of label failed|cannot label", "ZFS could not write the new disk's partition table, or udev did not make the name of the partition in time.",
       "Wait for udev (`udevadm settle`), see that nothing holds the disk, look for I/O errors of it in the kernel log, and ask again.", "useless"),
    _s("label-not-cleared", r"failed to (?:clear|read) label|failed to check state", "There is no label that it could read or clear there. As a rule the label is in the first partition and not on the whole disk.",
       "`zdb -l` of the partition (by-id ...-part1) shows it. Clear nothing that names a pool which is still wanted.", "harms"),
    _s("killed", r"", "Something ended the program before it was done: it ran into a fault of its own, or the kernel ended it, for want of memory or after a fault in ZFS itself. Whether it changed anything it does not say.",
       "`dmesg` says which; a fault there has a stack with it, and what was asked may hang in the kernel until a reboot. `zpool status -P -p` shows what took place. Do not try it with more force.", "harms", ("killed",)),
    _s("does-not-fit-the-module", r": [Bb]ad address",
       "The command and the module that is loaded do not fit together, so nothing could be asked. As a rule one of the two is of another release, as after an upgrade. The disks are not concerned.",
       "`zfs version`, `cat /sys/module/zfs/version` and `dkms status` show both releases. Load the module that fits in a planned stop, and import nothing with force before.", "useless"),
    _s("pools-not-listed", r"[Ff]ailed to read pool configuration|[Cc]annot discover pools",
       "`zpool import` could not list what is on the disks. It says nothing of any pool.",
       "As root, and with the module loaded (`zfs version`), ask again; `dmesg` shows a disk that does not answer. Force and create nothing before.", "useless", _IMPORT),
    _s("hangs", r"", "The command did not come back: it waits in the kernel, mostly for a pool that is suspended or for a disk that does not answer.",
       "`zpool status` and `dmesg`, in another shell, show which. It cannot be ended while it waits, and a second one waits as well: mend what it waits for, the disks, cables or the HBA, first.", "useless", ("hangs",)),
    _s("mount-io-error", r"^cannot mount '[^']{1,300}': (?:Input/output|I/O) error", "What ZFS reads first of this file system cannot be read or does not fit: its own data is damaged, its key does not fit, or disks do not answer.",
       "`zpool status -v` lists what is damaged and which disks count errors; `zfs get keystatus,encryptionroot` shows whether its key is loaded. Destroy and roll back nothing for it yet.", "useless", ("mount",)),
    _s("stopped", r"", "The program stopped at a check of its own, which is a fault of that release. Whether it changed anything it does not say.",
       "`zpool history` and `zpool status` show what took place; `zfs version` says which release it is. Do not try it again before that.", "useless", ("stopped",)),
    _s("zdb-assertion", r"Assertion .*failed|ASSERT at ",
       "zdb met data that does not fit together and stopped. Of a pool that is imported it can do so where nothing is wrong as well: the disks change while it reads.",
       f"`zpool status -v` says how an imported pool is. Of one that is not imported, import it read-only before anything else is tried. {MORE}", "useless", ("zdb",)),
    _s("usage", r"", "The command was not typed as this release takes it, so it did nothing: an option, a property or a name is not known to it, or is missing.",
       "`zpool help` or `zfs help`, and the manual page, show what it takes; `zfs version` says which release it is.", "useless", ("usage",)),
    _s("lustre", r"mount\.lustre: ", "Lustre could not mount its target. That is as often its MGS or the network as the pool below it.",
       "`zpool status -P` shows how the pool is, and the kernel log what Lustre met: the lines with LustreError.", "useless", ("mount",)),
    _s("already-mounted", r"filesystem already mounted", "It is mounted already, perhaps in another mount namespace: that of a container, or of a service.",
       "`grep zfs /proc/*/mounts` shows in which; the data is as it was.", "useless", ("mount",)),
    _s("not-mounted-here", r"unmount '/.{1,300}': (?:no such pool or dataset|not (?:currently )?mounted|not a mountpoint)", "There is no such mount where this command looked. The pool itself need not be away.",
       "`zfs get mounted,mountpoint DATASET`, and `grep zfs /proc/*/mounts` where it is mounted in another namespace.", "useless", ("unmount",)),
    _s("zdb-io-error", r"can't open '[^']{1,300}': (?:Input/output|I/O) error",
       "What zdb read does not fit together, or a disk cannot be read. Of a pool that is imported zdb says so where nothing is wrong as well: the disks change while it reads.",
       f"`zpool status` says how an imported pool is. Of one that is not imported, see which disk stands out before anything is forced. {MORE}", "useless", ("zdb",)),
    _s("zdb-no-device", r"can't {1,2}open '[^']{1,300}': No such device or address",
       "zdb could not open the pool: a top-level vdev that it cannot do without was not among the disks that it looked at.",
       "Nothing was changed. `zpool import -d /dev/disk/by-id` shows which vdev; look for its disks before anything else.", "useless", ("zdb",)),
    _s("zdb-name-taken", r"can't open '[^']{1,300}': File exists", "`zdb -e` was asked for a pool whose name is in the cache file of this node, or imported here.",
       "Nothing was changed. Ask `zdb` without -e, or name the pool by its id.", "useless", ("zdb",)),
    _s("zdb-no-such-pool", r"can't open '[^']{1,300}': No such (?:file or directory|pool)", "The name stands in no cache file of this node: the pool is exported, or was never here.",
       "Nothing was changed. `zdb -e -p DIRECTORY POOL` looks for it on the disks of that directory.", "useless", ("zdb",)),
    _s("zdb-does-not-fit", r"can't open '[^']{1,300}': Invalid argument", "What `zdb` found on the disks gives no whole pool of this name.",
       f"Nothing was changed. {MORE}", "useless", ("zdb",)),
    _s("labelclear", r"labelclear|to clear the label|force the label to be cleared|override the following error", "The disk carries a label that is not to be cleared without a look.",
       "`zdb -l` of it names pool, guid and host. Only if that pool is not needed any more: clear exactly this by-id name.", "harms", ("labelclear",)),
    _s("split", r"Source pool must be composed only of mirrors|at most one disk from each mirror", "Only a pool of mirrors can be split, with one disk of each.", "Nothing was changed.", "useless"),
    _s("post-split", r"was split from this pool", "This disk belongs to the pool that was split off.", "Detach it here by guid: it is no longer a member.", "useless"),
    _s("compat", r"'compatibility'", "The property `compatibility` forbids features that are not in its list.", "That is meant so, for hosts with an older release or a boot loader. Change it only when all of them can read the features.", "useless"),
    _s("old-module", r"loaded zfs module does(?:n't| not) support|not supported by zfs kernel module|unsupported by (?:the )?kernel|A reboot may be required",
       "The commands are of a newer release than the module that is loaded.", "`zfs version` shows both. Reboot into the new module in a planned stop; until then this cannot be done.", "useless"),
    _s("pool-upgrade", r"pool must be upgraded|pool must be re-created|feature .* (?:is not enabled|must be enabled)", "The pool does not have the feature that this needs.",
       "`zpool upgrade -v` lists them. A feature once active cannot be taken back, and older hosts and boot loaders may not read the pool then.", "useless"),
    _s("modules", r"ZFS modules (?:are not|cannot be)|/dev/zfs and /proc/self/mounts|[Uu]nable to open /dev/zfs|initialize the libzfs library|failed to initialize ZFS library",
       "The ZFS module is not loaded, so nothing can be said of the pools. As a rule the kernel was updated and the module was not built for it.",
       "`modprobe zfs` and the kernel log say why; `dkms status` shows whether it was built. The disks are not concerned.", ""),
    # datasets
    _s("key", r"[Kk]ey load(?:ing)? |Incorrect key|[Kk]eys? (?:is not currently|must be|already|not) (?:loaded|unloaded)|key not loaded|Key (?:is )?not |[Kk]ey (?:too|material)|Passphrase|Raw key|Hex key|Invalid keylocation|not encrypted|Parent key must",
       "It is about the key of an encrypted dataset, and not about disks. The data is as it was.",
       "`zfs get -r keystatus,keylocation,encryptionroot DATASET` shows whose key is wanted and where it is looked for; `zfs load-key` that encryption root, then mount.", "useless"),
    _s("has-children", r"has children|has dependent clones|has snapshots|snapshot has dependent|filesystem has", "Other datasets, snapshots or clones hang on it.",
       "List them: `zfs list -t all -r`. With -r or -R they are destroyed as well, and there is no way back: look at `-nv` first.", "harms"),
    _s("not-empty", r"directory is not empty|exists and is not (?:empty|a directory)|mountpoint or dataset is busy|failed to create mountpoint", "Files lie in the directory where it is to be mounted, perhaps written while it was not.",
       "Look what they are, move them away, then mount. Mounting over them (-O) hides them.", "harms"),
    _s("newer-snapshots", r"more recent snapshots?(?: or bookmarks)? exist", "The dataset has newer snapshots or bookmarks, which a rollback would destroy.",
       "Keep what is wanted of them: clone the older snapshot, or copy single files out of .zfs/snapshot. `zfs rollback -r` destroys everything newer for ever.", "harms", ("rollback to", "rollback")),
    _s("io-error", r"I/O error|Input/output error|Invalid exchange|[Ii]ntegrity check failed", "What the command needed could not be read or written: a disk failed, or data is damaged.",
       "`zpool status -v -P -p` shows which member counts errors and which data is damaged, `dmesg` which disk failed. Change nothing before."),
    _s("trim-not", r"trim operations", "The disks, or the controller or USB bridge before them, take no TRIM.", "Nothing is wrong by that. `lsblk -D` shows which disks take it.", "useless"),
    _s("no-capacity", r"unable to read disk capacity|failed to detect device partitions|failed to rescan the partition table", "The disk does not answer as it should, or something holds it: its size or its partitions could not be read.",
       "See `dmesg` and `smartctl -x` of it, and what holds it (`lsblk`, multipath).", "useless"),
    _s("remove-what", r"only inactive hot spares", "This kind of member cannot be removed: spares not in use, caches, logs and, without raidz, whole vdevs can.",
       "A member of a vdev is replaced; a half of a mirror is detached. `zpool status -g -p` shows which it is.", "useless", ("remove",)),
    _s("no-memory", r"Cannot allocate memory|out of memory|Out of memory", "The node had too little memory for it. It says nothing of a disk.", "See `free -m` and what holds memory, and try again.", "useless"),
    _s("raw-needed", r"without the raw flag", "The dataset is encrypted, and this stream would carry it in clear.", "`zfs send -w` sends it as it is, encrypted.", "useless", ("send",)),
    _s("no-such-thing", r"there is no (?:active|checkpoint)|dataset already exists|no checkpoint|not a cloned filesystem", "What the command is about is not there, or is there already.", "Nothing was changed, and nothing is wrong by that.", "useless"),
    _s("mountpoint-away", r"no mountpoint set|[Nn]o such file or directory", "It has no directory to be mounted on.", "`zfs get mountpoint,canmount` shows which it should be; a parent that is not mounted, or an altroot, explains it as a rule.", "useless", ("mount",)),
    _s("share", r"share failed|share\(1M\) failed", "The dataset is there; the NFS or SMB server did not take the share.", "Look at that server's log. No disk is at fault.", "useless"),
    _s("receive", r"invalid stream|cannot be set for incremental|destination .*(?:has been modified|exists|does not exist|is a clone|is the root|contains partially)|most recent snapshot|invalid backup stream|incremental source|checksum mismatch or incomplete|failed to read from stream|Partially received|IV set guid|Resuming recv",
       "The stream and the destination do not fit: their newest common snapshot is missing or was changed since, or the stream is not whole.",
       "Compare the snapshots of both by guid (`zfs get guid`). `receive -F` rolls the destination back and destroys what is newer there; after a broken transfer resume by its token.", "harms"),
    _s("no-space", r"out of space|No space left|quota exceeded", "The pool, or a quota, is full. On a full pool even deleting may fail.",
       "Free space by destroying snapshots that are no longer wanted (look with `zfs list -t snapshot -o space`), or remove the quota. Do not fill it above 80 to 90 % again.", "useless"),
    _s("mount-not", r"mountpoint set to '?(?:legacy|none)|canmount|legacy mountpoint", "It is not mounted by ZFS, as its properties say.", "`zfs get mountpoint,canmount` shows it; for `legacy` the mount stands in fstab.", "useless"),
    _s("part-of-a-mirror", r"operation not supported on this type of pool",
       "What was named is a part of a vdev, as a rule one disk of a mirrored log; only a whole vdev is removed.",
       "`zpool status -g` shows both: `zpool remove POOL` with the guid or name of the whole vdev (mirror-1), or `zpool detach POOL` with the guid of the one disk.", "useless", ("remove",)),
    _s("log-counted-as-full", r"pool already exists", "ZFS counts the device as not empty, and did not remove it. Seen with log devices on 0.6.5.",
       "Nothing was changed. Mount all datasets of the pool, so that their records are replayed, and ask again by the guid. `zpool status -g` shows it, and afterwards whether it is gone.", "useless", ("remove",)),
    _s("not-on-this-type", r"operation not supported on this type of (?:pool|vdev)|operation not supported|not applicable to|vdev specification is not supported",
       "This release, this pool's version or this kind of vdev does not allow it.", "`zfs version` and the layout of the pool show which. Nothing was changed.", "useless"),
    _s("invalid-property", r"invalid property|is readonly|can only be set|property value|bad numeric value|must be (?:a|an|one of|set)", "The property has no such value, or cannot be set now.", "`zpool get all` or `zfs get all`, and the manual page zpoolprops or zfsprops, show what it takes.", "useless"),
    _s("too-many", r"too many devices in one vdev", "The vdev would have more children than a label can hold.", "Nothing was changed. Finish the replacements that run in it first.", "useless"),
    _s("invalid-config", r"invalid vdev configuration|removing/removed vdevs", "The layout is not possible, or labels of the disks contradict each other.", f"For an import: {MORE} For `add`: a pool with a removed vdev takes no raidz.", "useless"),
    _s("vdev-spec", r"invalid vdev specification", "The list of disks that was given is not possible as it stands.", "The lines below it say which disk and why.", "harms"),
)  # fmt: skip

UNKNOWN = Sentence("unknown", re.compile(""), "The command was refused. What this sentence means is not known here.", "Nothing was changed by it. Look at `zpool status -P -p` before it is tried again, and force nothing.", "")  # fmt: skip


@dataclass(frozen=True)
class Refusal:
    """One command that did not take place, as it was pasted."""

    verb: str  # "replace", "import", "invalid vdev specification", "zdb"
    about: str  # what stands between the verb and the colon, or in quotes: a pool, a disk, "A with B"
    lines: tuple[str, ...]  # as printed
    command: str = ""  # what was typed, where it stands there

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.lines).split())

    def sentences(self) -> tuple[Sentence, ...]:
        """Every sentence that fits, the gravest first; UNKNOWN where none does."""
        return tuple(self._sentences()) or (UNKNOWN,)

    def _sentences(self) -> Iterator[Sentence]:
        for sentence in SENTENCES:
            if (not sentence.verbs or self.verb in sentence.verbs) and sentence.form.search(self.text[:4000]):
                yield sentence

    @property
    def forced(self) -> bool:
        """Whether -f was given already."""
        return "must be manually repaired" in self.text or " -f" in f" {self.command}"
