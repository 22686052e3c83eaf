"""What lines of the kernel's log that are of no single disk amount to: what ZFS, the node's other parts and its daemons say."""

from workflows.engine.core import Cure

# kinds of lines, a name, what it is called, what it means, what helps
OF_NODES: tuple[tuple[tuple[str, ...], str, str, str, tuple[Cure, ...]], ...] = (
    (("panic",), "panic", "ZFS on {node} stopped at a failed check",
     "ZFS found something in memory or on disk that must not be, and stopped the thread that found it. What waits for that thread hangs, and only a "
     "reboot frees it. The cause is damaged metadata, bad memory or a defect of this release; no disk is to be replaced for it.",
     (Cure("look", "Keep the whole message with its stack, `zfs version` and `zpool status -v`: the line that failed can be looked up in the issues of OpenZFS."),
      Cure("other", "Test the memory of the node when it can be stopped."),
      Cure("import", "After the reboot import the pool read-only first, and copy out what matters before anything else.", needs="No other host has the pool."))),
    (("kernel-fault",), "kernel", "The kernel of {node} reports a fault of its own",
     "A part of the kernel stopped at a fault: a defect of a driver, or bad memory. The line and the stack below it say which part. What was waiting for it can "
     "hang, and after a panic the node is down. No disk is to be replaced for it.",
     (Cure("look", "Keep the whole message with its stack: the names in it say which driver it was. See that every pool is ONLINE: `zpool status -P -p`."),
      Cure("other", "Test the memory of the node when it can be stopped, and compare the release of the kernel and of that driver."))),
    (("zed-fault",), "zed-fault", "zed on {node} took a member out of service",
     "zed gave up a member because of the errors it counted: `fault` takes it out, `degrade` only marks it. The line has its guid. A spare may have taken its place.",
     (Cure("look", "See how it is now: `zpool status -g -p` has the same guid, `zpool status -v -P -p` the disk. Look at cable, port and HBA before the disk is replaced."),)),
    (("zed-case",), "zed-case", "zed on {node} counts errors of a member",
     "zed was told of errors of a disk or of data, and counts them: at ten within ten minutes it gives a member up. The line names their class; by the guid in it "
     "`zpool status -g` finds the member.",
     (Cure("look", "See which member counts errors: `zpool status -v -P -p`, and `zpool events -v` for what failed."),)),
    (("zed-changed",), "zed-changed", "zed on {node} was told that the state of a member changed",
     "To which state, these lines do not say: it may be back, or gone.",
     (Cure("look", "`zpool status -g -p` shows the member by the same guid and how it is; `zpool events` says what it changed to."),)),
    (("zed-spare",), "zed-spare", "zed on {node} looked for a spare",
     "A member is lost, and zed put a spare in its place, or found none for it. The line says which.",
     (Cure("look", "See which member it is and whether the spare resilvers: `zpool status -v -P -p`."),)),
    (("zed-lost",), "zed-lost", "zed on {node} lost events or could not do its work",
     "zed takes the kernel's events, sends mails and puts spares in. What it missed nobody was told of, and no spare was put in for it.",
     (Cure("look", "See that it runs, and what it says: `systemctl status zfs-zed`; then `zpool status -v -P -p` and `zpool events`."),)),
    (("hung-task",), "hung", "Threads of ZFS on {node} wait for minutes",
     "The kernel says that a thread of ZFS has not gone on for two minutes or more. As a rule it waits for a disk or an HBA that does not answer, or its "
     "pool is suspended. Commands that change the pool hang with it; killing them does not help.",
     (Cure("look", "See which disk does not answer: `cat /proc/spl/kstat/zfs/POOL/state`, `iostat -x 2`, and the lines of the log before this one."),)),
    (("blocked",), "blocked", "Programs on {node} wait for minutes in the kernel",
     "The kernel says that a program has not gone on for two minutes or more. It waits for a disk, a file system or a lock; the stack below the line says which. "
     "ZFS is not named in it.",
     (Cure("look", "See which disk is busy or silent, `iostat -x 2` and the lines of the log before this one, and how each pool is: `zpool status -P -p`."),)),
    (("pcie-error",), "pcie", "PCIe links of {node} report errors",
     "An error of a PCIe link is between the slot and what is in it: an HBA, an NVMe disk, a riser. Corrected ones were sent again and lost nothing; they tend to become "
     "more. After one that was not corrected the device may be gone with all disks behind it. No disk is to be replaced for it before the slot was looked at.",
     (Cure("look", "See what is at the address that the lines name: `lspci -nn -s ADDRESS`, and how each pool is: `zpool status -P -p`."),
      Cure("reseat", "Reseat that card, riser or disk when the node is stopped, or try another slot."))),
    (("nvme-warning",), "nvme-warning", "An NVMe disk of {node} raises a critical warning",
     "The disk itself raises it, and FreeBSD's driver prints it: too hot, too few spare blocks, no longer reliable, or read-only. A disk that is too hot throttles itself, and may drop off its bus, "
     "which suspends a pool that has no other; heat is no defect of the disk.",
     (Cure("look", "Ask it: `smartctl -x` or `nvmecontrol logpage -p 2` of that controller shows its temperature, its spare blocks and how long it was too hot; see `zpool status -P -p`."),
      Cure("cooling", "Where it is heat: look at the airflow over the disk, its heat sink and the fans."))),
    (("raid-event",), "raid", "A RAID controller of {node} reports trouble of a disk or of a volume",
     "The controller itself reports it, and its driver prints it: a drive error, a drive that is away, a volume that is degraded, a battery. It counts ports and units in its own way, and ZFS sees "
     "each volume as one disk. A cable or the power of a drive leads to the same words as a drive that fails.",
     (Cure("look", "See in the controller's own tool which drive it is, by its serial number: `tw_cli /c0 show`, `storcli /call show all`; then ask that drive by smartctl -x -d 3ware,N or -d megaraid,N, and see `zpool status -P -p`."),
      Cure("reseat", "Reseat that drive, its cable and its power before it is replaced."))),
    (("hung-io",), "hung", "An I/O of a pool on {node} does not come back",
     "ZFS has waited longer than `zfs_deadman_synctime_ms` (600 s by default) for one I/O. The disk or the HBA below holds it.",
     (Cure("look", "Find the disk: the event `ereport.fs.zfs.deadman` in `zpool events -v` names the member by guid."),)),
    (("oom",), "oom", "{node} ran out of memory and stopped a command of ZFS",
     "The kernel ended a zfs, zpool or zed process to free memory. What that command was doing may be half done; if it was zed, nothing replaces a "
     "failed disk by a spare until it runs again.",
     (Cure("look", "See that zed runs (`systemctl status zfs-zed`), look at the size of the ARC, and at what took the memory."),)),
    (("loader",), "loader", "The boot loader of {node} could not read a pool",
     "FreeBSD's loader reads the pool before the kernel runs, through the disks that the firmware shows it. It fails on a pool that is whole as well: where a disk or an HBA is not shown yet, or "
     "where the pool has features that this loader is too old for. It may be damaged data too; these lines do not say which. The machine does not start until one of the two is mended.",
     (Cure("look", "Start the machine from rescue media of the same release or a newer one, and run `zpool import` without a name: it shows which members are there. Import nothing with -F before that was seen."),
      Cure("reseat", "See in the firmware's setup that every disk of the pool is shown; look at cables, the HBA and the order of boot."),
      Cure("other", "Where the pool is whole and `zpool upgrade` was run: write the loader of the running release to the boot partitions of its disks."))),
    (("log-replay",), "log-replay", "Records of the intent log could not be replayed on {node}",
     "After a crash ZFS writes what was acknowledged and not yet in the pool. Some of it could not be read or written, so the last seconds of that dataset are missing.",
     (Cure("look", "Look at the state of the log device first; its records are gone once the pool is written on."),)),
    (("import-refused",), "import-refused", "An import was refused on {node}",
     "The kernel refused to import a pool, because of its multihost protection or its hostid. The line names the pool and the reason.",
     (Cure("look", "Paste `zpool import` without a name: it says which host has the pool, or had it last."),)),
    (("import-unit",), "import-unit", "The import of pools at boot failed on {node}",
     "systemd's unit that imports the pools failed. Which pool it could not import stands in its own lines. Mostly a disk came after it, or a pool of the "
     "cache file is not on these disks any more.",
     (Cure("look", "Compare what can be imported now with what the unit tried to import.", (("zpool", "import"), ("journalctl", "-b", "-u", "zfs-import-cache"))),)),
    (("vdev-state", "vdev-problem", "checksum", "pool-io-failure"), "vdev", "ZFS on {node} reports a vdev in the system log",
     "The system log says that the state of a vdev changed, or that data of it did not match its checksum. Which state it has now, it does not say.",
     (Cure("look", "`zpool status -v -P -p` and `zpool status -g -p` show its state today."),)),
    (("fma",), "fma", "The fault manager of {node} reports a fault",
     "The message id says what: ZFS-8000-FD is a member with too many I/O errors, -GH one with too many checksum errors, -D3 one that is missing, "
     "-HC a suspended pool, -CS a pool that cannot be opened, -QJ a member that missed writes and waits to be resilvered.",
     (Cure("look", "`fmadm faulty` and `zpool status -v` show which member, and whether it is still so."),)),
)  # fmt: skip
