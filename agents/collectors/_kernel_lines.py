"""What a line of the kernel's log can say of ZFS, of disks, HBAs and shelves: one pattern for each kind, the first that fits counts.

A line that names one of these and fits no pattern is "unexplained", unless it is one of those that every healthy boot prints. Drivers talk
freely, so of a disk's, HBA's or shelf's lines only those with a word of trouble in them count.
Sources: OpenZFS module/ and cmd/zed, Linux drivers/scsi, drivers/ata, drivers/nvme, block/blk-core.c, FreeBSD sys/cam and etc/devd/zfs.conf.
"""

from __future__ import annotations

import re
from functools import lru_cache

LINE_MAX = 1000  # characters of a line that are looked at; the kernel prints no longer ones
REMEMBERED = 512  # lines; whoever cuts a text asks several times about the same one

_HCTL = r"(?P<hctl>\d+:\d+:\d+:\d+)"
_SD = (
    rf"(?:sd|scsi|ses|st) {_HCTL}: (?:\[(?P<disk>[\w-]{{2,16}})\] {{1,2}})?(?:tag#\d+ |scsi: )?"  # Linux 3 printed two blanks, 2.6 "scsi: "
)
_CAM = r"\(?(?P<disk>(?:a?da|nda|pass|ses)\d+):(?P<hba>[a-z]+(?:-[a-z]+)?\d+):\d+:\w+:\w+\): "
_ATA = r"(?P<ata>ata\d+(?:\.\d+)?): "
_TASKS = r"(?:txg_|z_|zfs|zpool|zdb|zed|zvol|spa|arc_|dbu|dp_|l2arc|mmp|vdev|spl|zthr|dsl_|metaslab|livelist)"

# kind -> what the rest of a line looks like
PATTERNS = {
    # mptscsih names no disk here; the line after it does. The command's address ties the result to its beginning.
    "task-abort-begun": r"(?:sd (?P<hctl>\d+:\d+:\d+:\d+): |mptscsih: ioc\d+: |mpt\dsas\w*: )attempting task abort!(?: ?\(?sc(?:md\(|=)(?P<scmd>\w+)\b.*)?",
    "task-abort": (
        r"(?:sd (?P<hctl>\d+:\d+:\d+:\d+): |mptscsih: ioc\d+: |mpt\dsas\w*: )?task abort: (?P<result>SUCCESS|FAILED)\b"
        r"(?:.*?\bsc(?:md\(|=)(?P<scmd>\w+)\b.*|.*)"
    ),
    "target": r".*\bhandle\((?P<handle>0x[0-9a-f]+)\), sas_addr(?:ess)?\((?P<sas_address>0x[0-9a-f]{16})\), phy\((?P<phy>\d+)\).*",
    # mpt3sas_scsih.c, _scsih_mark_responding_sas_device: only after a reset of the HBA
    "found-again": r"scsi target(?P<target>\d+:\d+:\d+): handle\((?P<handle>0x[0-9a-f]+)\), sas_addr\((?P<sas_address>0x[0-9a-f]{16})\)",
    "place": r".*\benclosure[_ ]logical[_ ]id ?\((?P<enclosure>0x[0-9a-f]{16})\), slot\((?P<slot>\d+)\).*",
    "command-failed": r".*\[(?P<disk>sd[a-z]+)\].*hostbyte=(?P<host>DID_\w+|invalid)(?: driverbyte=(?P<driver>\w+)\b.*)?",
    "io-error": (
        r"(?:blk_update_request: |print_req_error: |end_request: )?(?P<class>I/O|critical [a-z ]+|[a-z]+(?: [a-z]+){0,2}) error, "
        r"dev (?P<disk>(?!fd\d)[\w!-]+), sector (?P<sector>\d+)(?: .*)?"
    ),
    "rejected": rf"(?:.*?(?<!\d){_HCTL}: )?.*rejecting I/O to (?P<what>offline|dead) device.*",
    "unblocked": rf"(?:sd {_HCTL}: )?.*device_unblock and setting to running, handle\((?P<handle>0x[0-9a-f]+)\).*",
    "killed": r".*killing request.*",
    "hba": (
        r"(?P<hba>mpt\dsas(?:_cm)?\d+|mpt(?:base|scsih|sas): ioc\d+): .*"
        r"(?:Command Timeout|issue target reset|fault_state|log_info\(0x\w+\)|FAULT|host reset|diag reset|hard reset|non-operational).*"
        r"|(?P<driver_of>mpt\dsas(?:_cm)?\d+):? (?:fault info from func|failure at \S+:\d+/\w+\(\)|_base_\w+: timeout).*"
    ),
    "hba-silent": r"(?P<hba>mpt(?:base|scsih|sas): ioc\d+): ERROR - Doorbell (?:INT|ACK) timeout .*",
    "multihost-suspended": r"(?:Solaris: )?(?:WARNING: )?MMP writes to pool '(?P<pool>.+)' have not succeeded in over (?P<after>\d+) ?(?P<unit>ms|s); suspending pool.*",
    "suspended": (
        r"(?:Solaris: )?(?:WARNING: )?(?:Pool '(?P<pool>.+)' has encountered an uncorrectable I/O failure and has been suspended.*"
        r"|catastrophic pool I/O failure, zpool=(?P<zpool>\S+)(?!\S).*)"
    ),
    "resumed": r"(?:Solaris: )?(?:WARNING: )?Pool '(?P<pool>.+)' was suspended and is being resumed.*",
    "zio-error": (
        r"zio pool=(?P<pool>\S+) vdev=(?P<vdev>\S+) error=(?P<error>\d+)(?!\d)(?: type=(?P<type>\d+) offset=(?P<offset>\d+) "
        r"size=(?P<size>\d+) flags=.*|.*)"
    ),
    "parameter-unknown": r"zfs: unknown parameter '(?P<name>\w+)' ignored",
    # ZFS itself
    "hung-io": (
        r"(?:WARNING: |panic: )?(?:.* determined I/O to pool '(?P<pool>.+)' is hung.*"
        r"|I/O to pool '(?P<zpool>.+)' appears to be hung(?: on vdev guid (?P<vdev_guid>\d+)(?!\d)(?: at '(?P<vdev>[^']+)')?)?.*)"
    ),
    "panic": (
        r"(?:VERIFY[0-9A-Z_]*\(.*|ASSERT[0-9A-Z_]*\(.*\).*|PANIC: .*|PANIC at \S+:\d+:.*|SPL PANIC.*|SPLError: .*"
        r"|(?:Kernel panic - not syncing|panic: |panic\[cpu\d+\]|panic\(cpu \d+ caller 0x[0-9a-f]+\): ).*(?:VERIFY|ASSERT|assert|\b[Zz][Ff][Ss]|ZFS|blkptr|range tree|avl_find|\bspa_|zio).*|(?:WARNING: )?zfs: (?:adding existent|removing nonexistent|freeing free|allocating allocated|blkptr at|bad DVA).*|(?:WARNING: )?blkptr at \S+ (?:DVA \d+ )?has (?:invalid|bad) .*"
        r"|RIP: .* \[(?:zfs|spl)\].*)"
    ),
    "kernel-fault": (
        r"(?:Kernel panic - not syncing|panic: |panic\[cpu\d+\]|panic\(cpu \d+ caller 0x[0-9a-f]+\): |BUG: (?!unable to handle (?:page|kernel NULL).* userspace)|kernel BUG at |Oops: "
        r"|general protection fault|watchdog: BUG: soft lockup|NMI watchdog: .*lockup|Internal error: Oops).*"
    ),
    "hung-task": rf"(?:INFO: )?task (?P<task>{_TASKS}[^: ]*(?: [^: ]+)?):(?P<pid>\d+) blocked (?:in I/O wait )?for more than (?P<seconds>\d+) seconds.*",
    "blocked": r"(?:INFO: )?task (?P<task>[^:]{1,40}(?::[^: ]{1,40})?):(?P<pid>\d{1,10}) blocked (?:in I/O wait )?for more than (?P<seconds>\d{1,9}) seconds.*",
    "oom": r".*(?:Out of memory|out of memory|oom-kill).*\b(?P<task>zfs|zpool|zed|zdb)\b.*",
    "log-replay": r"(?:WARNING: )?ZFS (?:replay transaction|read log block) error (?P<error>\d+), dataset (?P<dataset>[^,]+), seq .*",
    # FreeBSD's boot loader, before any kernel runs: stand/libsa/zfs/zfsimpl.c
    "loader": (
        r"ZFS: (?:i/o error - all block copies unavailable|can't read MOS of pool (?P<pool>\S{1,255})|corrupted MOS of pool (?P<of_pool>\S{1,255})"
        r"|failed to read pool (?P<read_pool>\S{1,255}) directory object|can't find (?:pool by guid|root filesystem|dataset \d+)|can't open root filesystem.*|can't read object set for dataset \d+"
        r"|inconsistent nvlist contents|pool (?P<old_pool>\S{1,255}) is not supported.*|unsupported (?:ZFS version|feature: ).*|can only boot from .*)|zio_read error: \d{1,4}|(?:gpt)?zfsboot: No ZFS pools located, can't boot"
    ),
    "import-refused": (
        r"(?:WARNING: )?pool '(?P<pool>.+)' (?:could not be loaded as it was last accessed by another system|activity detected, aborted"
        r"|system hostid not set|could not claim every device|had I/O errors writing the claim).*"
    ),
    # systemd, of the units of etc/systemd/system; 249 and newer print the name of the unit before its description
    "import-unit": (
        r"(?:systemd\[\d+\]: )?(?:Failed to start (?:(?P<unit>zfs-import-(?:cache|scan)\.service) - )?Import ZFS pools by (?P<by>cache file|device scanning)\.?"
        r"|(?P<failed>zfs-import-(?:cache|scan)\.service): (?:[Mm]ain process exited, code=exited, status=(?P<status>\d+)/\w+|Failed with result '(?P<result>[\w-]+)'\.?|Unit entered failed state\.)"
        r"|Unit (?P<entered>zfs-import-(?:cache|scan)\.service) entered failed state\.)"
    ),
    "vdev-io-failure": (
        r"vdev (?P<what>I/O failure|probe failure), zpool=(?P<pool>\S+)(?!\S)(?: path=(?P<vdev>\S+)(?!\S))?(?: offset=(?P<offset>\d+) size=(?P<size>\d+) error=(?P<error>\d+)(?!\d))?.*"
    ),
    # module/os/macos/zfs/vdev_disk.c of OpenZFS on OS X
    "vdev-open": r"ZFS: vdev_disk_open\('(?P<vdev>[^']{1,250})'\) failed error (?P<error>\d+)(?!\d).*",
    "checksum": r"checksum mismatch, zpool=(?P<pool>\S+) path=(?P<vdev>\S+)(?!\S).*",
    "vdev-problem": r"vdev (?:problem|failure), zpool=(?P<pool>\S+)(?: path=(?P<vdev>\S+))? type=(?P<type>\S+)(?!\S).*",
    "pool-io-failure": r"pool I/O failure, zpool=(?P<pool>\S+) error=(?P<error>\d+)(?!\d).*",
    "vdev-state": r"vdev (?:state changed|is removed), pool_guid=(?P<pool_guid>\d+) vdev_guid=(?P<vdev_guid>\d+)(?!\d).*",
    "zed": (
        r"eid=(?P<eid>\d+) (?!class=(?:[\w.]+\.)?statechange(?![\w.])(?!.* vdev_state=))class=(?P<class>[\w.]+)(?![\w.])(?: subclass=\S+(?!\S))?(?: pool(?:_guid)?=(?P<pool>'[^']*'|\S+(?!\S)))?"
        r"(?: vdev(?:_path|_guid)?=(?P<vdev>\S+)(?!\S))?"
        r"(?:.*? vdev_state=(?P<state>[A-Z]+)(?![A-Z]))?.*"
    ),
    # zed itself, in the system log and as `zed -F` and -v print it; cmd/zed of OpenZFS
    "zed-fault": r"(?:zed: )?(?:Retire Agent: )?zpool_vdev_(?P<what>fault|degrade): vdev (?P<vdev>\d+) on '(?P<pool>[^']+)'.*",
    "zed-spare": (
        r"(?:zed: )?(?:Retire Agent: )?(?:zpool_vdev_replace '(?P<vdev>[^']+)' with spare '(?P<spare>[^']+)'.*|(?P<none>no spare) for '(?P<lost>[^']+)'.*)"
    ),
    "zed-lost": (
        r"(?:zed: )?(?:Missed \d+ events|Failed to (?:seek|service zevent|fork|wait for|lookup|open state|read state|create PID|lock).*|Exceeded buffer size.*)"
    ),
    "zed-case": (
        r"(?:zed: )?(?:Diagnosis Engine: (?:opening case for vdev (?P<vdev>\d+) due to '(?P<class>[\w.]+)'.*|error event '(?P<ereport>[\w.]+)'.*|solving fault .*)"
        r"|Invoking \"[^\"]{1,200}\" eid=\d+ class=(?P<invoked>ereport[\w.]+) .*)"
    ),
    "zed-changed": (
        r"(?:zed: )?(?:Diagnosis Engine: (?:discarding|resource event) 'resource\.fs\.zfs\.(?:statechange|removed)\b.*"
        r"|Retire Agent: zfs_retire_recv: 'resource\.fs\.zfs\.(?:statechange|removed)'.*"
        r"|eid=\d+ class=(?:[\w.]+\.)?statechange(?![\w.])(?!.* vdev_state=).*)"
    ),
    "zed-run": (
        r"(?:zed: )?(?:(?:Invoking|Finished|Registered zedlet|Ignoring) \"[^\"]{1,200}\".*|ZFS Event Daemon \d.*|Processing events (?:since|after) eid=\d+"
        r"|Waiting for new udev disk events.*|zed_(?:disk_event|udev_monitor|fault_event)\w*(?::.*)?|Locked all pages in memory|Bumping queue length.*"
        r"|(?:Diagnosis Engine|Retire Agent|Add Agent): .*|zfs_(?:agent|deliver|process|mod|iter|retire|slm|unavail)\w*: .*|zfsdle_\w+: .*|agent post event: .*)"
    ),
    "fma": r"SUNW-MSG-ID: (?P<id>(?:ZFS|DISK|SCSI)-8000-\w\w), TYPE: (?P<type>[\w ]+)(?![\w ]).*",
    # disks
    # Linux 2.6 printed the disk's name alone, drivers/scsi/constants.c: print_sense_internal
    "sense": rf"{_SD}Sense Key ?: (?P<key>[A-Za-z]+(?: [A-Za-z]+)?|0x[0-9a-f]+)\b.*|(?P<of>sd[a-z]{{1,3}}): (?:Current|Deferred)(?: \[\w+\])?: sense key: (?P<old_key>[A-Z][a-z]+(?: [A-Z][a-z]+)?)",
    "sense-detail": rf"{_SD}(?:Add\. Sense|ASC)[:=] ?(?P<detail>.*)",
    "not-ready": rf"{_SD}(?:Device not ready(?: .*)?|NOT READY.*|Not Ready .*|(?:\.{{1,80}})?not responding\.{{0,3}})",
    "reset-occurred": rf"{_SD}Power-on or device reset occurred.*",
    # drivers/scsi/scsi_error.c, scmd_eh_abort_handler and scsi_abort_command
    "abort": rf"{_SD}(?:abort scheduled|aborting command|WARNING: (?:\(0x\w+:0x\w+\): )?Command \(0x\w+\) timed out, resetting card\.|timing out command, waited \d+s(?!\w)|cmd abort failed|retry aborted command|(?:not aborting|finish aborted|previous abort failed|aborted ).*)",
    "offlined": rf"{_SD}(?:Device offlined - .*|Medium access timeout failure.*)",
    "device-reset": (
        rf"(?:sd {_HCTL}: |scsi target[\d:]+: |mptscsih: ioc\d+: |mpt\dsas\w*: )?[Aa]ttempting (?P<what>device|target|bus|host) reset.*"
        r"|hpsa [\w:.]{4,20}: (?:scsi [\d:]{7,20}: )?(?:(?i:abort request)\b.*|resetting (?:device|logical|physical)\b.*)"
        r"|(?:sd [\d:]+: |mptscsih: ioc\d+: |mpt\dsas\w*: )?(?P<reset>device|target|bus|host) reset: (?P<result>SUCCESS|FAILED).*"
    ),
    "cdb": rf"{_SD}CDB: (?P<command>[A-Z][A-Za-z ]*\((?P<bytes>\d+)\)).*",
    # Linux drivers/usb: core/hub.c, core/message.c, storage/uas.c, storage/usb.c
    "usb-error": rf"{_SD}(?:uas_\w{{3,40}}(?: .*|$)|(?:data|cmd) cmplt err -\d.*)",
    "usb-link": (
        r"usb (?P<usb>\d{1,3}-\d[\d.]{0,20}): (?:reset (?P<speed>[A-Za-z-]{3,10}(?: ?(?:[Ss]peed|[Ss]peed ?[Pp]lus))?(?: Gen \dx?\d?)?) USB device number \d.*|USB disconnect, device number \d+|device descriptor read/\w+, error -\d+"
        r"|device not (?:accepting address|responding).*|device firmware changed|(?:can't|cannot) (?:set config|reset device|disable|enable).*|unable to enumerate USB device.*|Disable of device-initiated .* failed.*)"
        r"|usb (?P<port>usb\d{1,3}-port\d{1,3}|\d{1,3}-\d[\d.]{0,20}-port\d{1,3}): (?:[Cc]annot (?:reset|enable).*|unable to enumerate USB device|over-current.*|disabled by hub.*)"
    ),
    "usb-storage": (
        r"(?:usb-storage|uas) (?P<usb>\d{1,3}-\d[\d.]{0,20}):\d{1,3}\.\d{1,3}: .*"
        r"|scsi host(?P<scsi_host>\d{1,5}): (?:usb-storage|uas)(?: (?P<at>\d{1,3}-\d[\d.]{0,20}):\d{1,3}\.\d{1,3})?"
    ),
    "usb-found": (
        r"usb (?P<usb>\d{1,3}-\d[\d.]{0,20}): (?:new .{1,40} USB device number \d.*|New USB device (?:found|strings).*|(?:Product|Manufacturer|SerialNumber): .*)"
        r"|hub (?P<hub>\d{1,3}-\d[\d.]{0,20}):\d{1,3}\.\d{1,3}: .*|input: .{1,120} as /devices/\S{1,200}/(?P<input>\d{1,3}-\d[\d.]{0,20})/\S*"
    ),
    "attached": rf"{_SD}Attached SCSI (?:removable )?disk",
    "buffer-error": r"Buffer I/O error on (?:dev|device) (?P<disk>(?!fd\d)[\w!-]+), logical block (?P<sector>\d+)(?!\d).*",
    "ata-error": rf"{_ATA}(?:exception Emask .*|failed command: (?P<command>.*)|device reported invalid CHS sector.*|illegal qc_active transition.*|failed to read SCR .*|NCQ disabled due to excessive errors|failed to read log page .*|VERIFY failed .*|(?:irq_stat|BMDMA2? stat|edma_err_cause)\b.*|CPB resp_flags .*|error: \{{(?P<error>.*)\}}|status: \{{.*\}}|cmd [0-9a-f].*|res [0-9a-f].*)",
    "ata-link": (
        rf"{_ATA}(?:(?:hard|soft) resetting link.*|COMRESET failed.*|SATA link down.*|link is slow to respond.*|limiting SATA link speed.*|link offline, clearing class .*"
        r"|(?:soft)?reset failed.*|SError: .*)"
    ),
    "ata-gone": rf"{_ATA}(?:disable device.*|disabled|revalidation failed.*|failed to (?:IDENTIFY|set xfermode|read native max address).*|both IDENTIFYs aborted, assuming NODEV|detaching .*|qc timeout .*|failed to reset PMP.*|Port Multiplier detaching)",
    # what it prints when a link comes up, drivers/ata/libata-core.c: ata_dev_configure, ata_do_set_mode, sata_print_link_status
    "ata-up": rf"{_ATA}(?:SATA link up .*|configured for (?:[UM]W?DMA|PIO)[\w/:]{{0,12}}|ATA(?:PI)?-\d+: .*|\d+ sectors, .*|[SP]ATA max .*)",
    # multipathd's own lines, multipathd/main.c, and the kernel's, drivers/md/dm-mpath.c
    "path-down": (
        r"(?:\S+: )?(?P<disk>sd[a-z]+|nvme\w+) - (?:[\w ]+ checker (?:reports path is down|timed out).*|path offline)|(?P<nvme>sd[a-z]+): mark as failed"
        r"|device-mapper: multipath: (?:\d+:\d+: )?Failing path (?P<number>\d+:\d+)\.?|checker failed path (?P<path>\d+:\d+) in map \S+"
    ),
    "path-none": r"(?P<disk>[\w.:-]{1,80}): (?:remaining active paths: 0|Disable queueing)",
    "path-run": (
        r"(?:-{4,12}(?:start up|shut down)-{4,12}|path checkers start up|read /etc/\S*multipath\S*|reconfigure(?: .{0,80})?|exit \(signal\)"
        r"|(?:[\w.:-]{1,80}: )?(?:load table \[.*|remaining active paths: [1-9]\d{0,4}|reinstated|(?:add|update|remove) (?:path|map) \(.{1,40}\)"
        r"|queue_if_no_path (?:en|dis)abled|event checker started|switch to path group #\d{1,9}|stop event checker thread.*|path added to devmap \S+"
        r"|devmap (?:already registered|not registered|event #\d{1,9})(?!\d).*|\S{1,80} - \w{1,40} checker (?:reports path is up|is up).*|uev_(?:add|remove|update)_.*|Recovered to normal mode))"
    ),
    # over a network, drivers/nvme/host/tcp.c, rdma.c, fc.c, fabrics.c
    "nvme-path": (
        r"nvme (?P<disk>nvme\d+): (?:NVME-FC\{\d+\}: |NVME-FC\{\d+\.\d+\}: )?(?:starting error recovery|Reconnecting in \d+ seconds.*|Failed reconnect attempt \d.*"
        r"|queue \d+: timeout request .*|queue \d+ connection .*|failed to (?:connect (?:socket|queue)|send request|recv).*|failed nvme_keep_alive.*|rdma connection establishment failed.*"
        r"|Property (?:Set|Get) error.*|Connect (?:command failed|Invalid|rejected|Failed).*|qid \d+: authentication (?:setup )?failed.*"
        r"|io timeout: .*|transport association event: .*|controller connectivity lost.*|resetting controller|(?:reset: )?Reconnect attempt .*|connect attempt failed.*)"
        r"|block (?P<nvme>nvme\d+n\d+): no (?:(?:usable )?path available|available path).*"
    ),
    "nvme-timeout": r"nvme (?P<disk>nvme\d+): (?:I/O (?:tag )?\d+(?!\d).* timeout.*|invalid id \d+ completed on queue .*|Abort status.*|new error during reset)|(?:nvme\d+: )?(?P<nvme>nvme\d+): (?:Resetting controller due to a timeout.*|aborting outstanding i/o.*|ABORTED - .*)",
    "nvme-down": (
        r"nvme (?P<disk>nvme\d+): (?:controller is down.*|Removing after probe failure.*|Device not ready.*|Disabling device after reset failure.*"
        r"|Device shutdown incomplete.*|frozen state error.*|failed to .*|Identify Controller failed.*|Duplicate cntlid \d+ with .*)"
        r"|(?P<nvme>nvme\d+): (?:controller ready did not become .*|failing outstanding i/o.*|failed to .*)"
    ),
    # FreeBSD sys/dev/nvme/nvme_ctrlr.c, nvme_ctrlr_log_critical_warnings; bits of the critical warning of the health log
    "nvme-warning": r"(?P<disk>nvme\d+): (?P<warning>available spare space below threshold|temperature (?:above|outside) threshold|device reliability degraded|media placed in read only mode|volatile memory backup device failed)",
    "nvme-error": r"(?P<disk>nvme\d+(?:c\d+)?n\d+): I/O Cmd\(.*I/O Error.*",
    # FreeBSD to 8 printed no "SCSI sense:", sys/cam/scsi/scsi_all.c: scsi_sense_sbuf
    "cam-sense": rf"{_CAM}(?:SCSI sense: )?(?P<key>[A-Z][A-Za-z ]{{1,40}}?)(?: info\??:[0-9a-f]{{1,16}})? asc:(?P<asc>[0-9a-f]+),(?P<ascq>[0-9a-f]+)(?: \((?P<detail>.*)\))?",
    "cam-command": rf"{_CAM}(?:[A-Z][A-Z0-9_ ]{{1,40}}(?:\(\d{{1,2}}\))?\. (?:CDB|ACB|NCB): .*|RES: [0-9a-f].*)",
    "cam-failed": rf"{_CAM}(?:Error \d+, (?:Retries exhausted|Unretryable error|Periph was invalidated).*|CAM status: (?P<status>Command timeout|Uncorrectable parity/CRC error|ATA Status Error|Unconditionally Re-queue Request|SCSI Bus.*|CCB request .*)|lost device.*|removing device entry.*|ATA status: .*\((?P<ata_status>.*ERR.*)\).*)",
    # FreeBSD sys/dev/ahci/ahci.c, siis.c, mvs.c: the driver of a channel, behind which is one disk or a port multiplier
    "channel": (
        r"(?P<disk>(?:ahci|siis|mvs)ch\d+): (?:Timeout on slot \d+(?!\d).*|(?:\w+ )?reset: (?:device|port) not (?:ready|found).*|SATA (?:connect timeout|offline).*"
        r"|(?:stopping|clearing) AHCI (?:FR )?engine failed.*|Poll timeout.*|Error while READ LOG EXT.*|DISCONNECT requested.*)"
    ),
    # what FreeBSD prints of its devices at boot
    "found": r"FreeBSD is a registered trademark .*|\S{1,20}: registered as a time-of-day clock.*|\S{1,20}: <.{1,120}> (?:at|on|port|mem|irq) .*",
    "detached": r"(?P<disk>(?:a?da|nda|nvd)\d+): (?:<.*> (?:s/n \S+ +)?detached|lost device.*)",
    "illumos-disk": r"WARNING: (?P<path>/\S+) \((?P<disk>s?sd\d+)\):(?P<said>.*)",
    # HBAs, and what stands between
    "hba-other": (
        r"(?P<smp>mpt\dsas(?:_cm)?\d+): (?:SMP command sent to the expander .* has (?:timed out|failed).*|mpt\dsas_transport_port_remove: removed: .*)|"
        r"(?P<xhci>xhci_hcd) [\w:.]{4,20}: (?:xHCI host (?:controller )?not responding.*|HC died.*|xHCI host not responding.*|WARNING: Host Controller Error.*|Abort failed to stop command ring.*|Host halt failed.*)"
        r"|(?:WARNING: |(?:sd [\d:]+: )?(?:\[\w+\] )?)(?P<hba>megaraid_sas|megasas|mr_sas\d+|hpsa|smartpqi|aacraid|arcmsr\d*|pm80xx|mvsas|isci|qla2xxx|lpfc|mp[rst]\d+)\b.*"
        r"(?:FAULT|IOC Fault|lockup|Host (?:adapter|bus) (?:reset|dead)|outstanding cmd: |failed \d+ commands|reset (?:logical|physical|device) +failed|[Cc]ontroller (?:is )?offline|adapter is dead|killing adapter|[Rr]esetting (?:fusion )?(?:adapter|controller)"
        r"|[Aa]bort request|timed out|Reinitializing controller|HOST RESET|not responding|LOOP DOWN detected|LIP reset occurred|[Ll]ink [Dd]own [Ee]vent|RESET (?:cmd|FAILED)|FW Fault|io_timeout_checker|task abort failed|executing (?:hw )?bus reset|abort device command|bus reset eh|Controller reset type is|Init cmd return status FAILED|Failed from megasas_init_fw|Failed to transition controller to ready|: wait '[^']{1,60}' timeout).*"
    ),
    # drivers/scsi/3w-xxxx.c, 3w-9xxx.c, 3w-sas.c (twa_aen_queue_event), megaraid_sas_base.c (megasas_decode_evt), aacraid/commsup.c (aac_printf): what a RAID controller reports by itself
    "raid-event": (
        r"(?P<card>3w-(?:xxxx|9xxx|sas)): (?:scsi\d+: )?(?:AEN: (?:ERROR|WARNING)\b.*|Command failed: status = .*)"
        r"|(?P<raid>megaraid_sas) [\w:.]{4,20}: \d+ \([^()]{1,40}/(?:WARN|CRIT|FATAL|DEAD)\) - .*"
        r"|(?P<adaptec>aacraid):(?:Drive [\d:]{5,12} returning error.*|SCSI Channel\[\d{1,3}\]: Timeout Detected .*|ID\([\d:]{5,12}\);? (?:Timeout detected |Abort Timeout|Aborted Command |Error Event |Unit Attention ).*)"
    ),
    "handle-removed": r"(?P<hba>mpt\dsas(?:_cm)?\d+): removing handle\((?P<handle>0x[0-9a-f]+)\), sas_addr(?:ess)?\s?\((?P<sas_address>0x[0-9a-f]{16})\).*",
    "device-removed": r"end_device-[\d:]+: \w+: ioc\d+: removing \w+ device: .*sas_addr (?P<sas_address>0x[0-9a-f]+)(?![0-9a-f]).*",
    "pcie-error": r".*(?:PCIe Bus Error: se[a-z]{4,9}=(?P<severity>[A-Za-z]+)(?![A-Za-z]).*|AER: .*\berror.*|AER: (?:can't recover|device recovery failed).*|DPC: containment event.*)",
    "memory": (
        r"(?:EDAC \S+(?: \d*)?: \d+ (?P<ecc>CE|UE)\b.*|.*mce: \[Hardware Error\]: .*|\{\d+\}\[Hardware Error\]: .*|MCA: .*|Memory failure: .*"
        r"|\[Hardware Error\]: .*)"
    ),
}  # fmt: skip
_PATTERNS = {kind: re.compile(pattern) for kind, pattern in PATTERNS.items()}
_HINTS = (
    *(
        "zed",
        "Event Daemon",
        " Agent: ",
        "Diagnosis Engine",
        "zfs_",
        "zfsdle_",
        "zpool_vdev_",
        "no spare for",
        "Missed ",
        "Failed to ",
        "Exceeded buffer",
    ),
    *(
        "Invoking ",
        "Finished ",
        "Ignoring ",
        "Waiting for new udev",
        "Locked all",
        "Bumping queue",
        "Processing events",
        "agent post event",
        "Import ZFS pools",
        "ZFS: ",
        "zio_read error",
        "No ZFS pools located",
        "zfs-import-",
    ),
    *(
        "checker",
        "mark as failed",
        "path offline",
        "Failing path",
        "active paths",
        "queueing",
        "start up-",
        "shut down-",
        "reinstated",
        "load table [",
        "multipath",
        "queue_if_no_path",
    ),
    *(" path (", " map (", "path group", "devmap", "uev_", "exit (signal)", "reconfigure", "normal mode"),
    *("vdev_disk_open", "usb", "hub ", "uas", "input: ", "cmplt err", "CDB: ", "ACB: ", "NCB: ", "RES: ", "xhci_hcd"),
    *("BUG", "Oops", "protection fault", "lockup", "megasas", "mr_sas"),
    *("Attached SCSI", " CDB: ", "removing ", "removed, pool_guid"),
    *("task abort", "sas_addr", "slot(", "hostbyte=", " error, dev ", "rejecting I/O", "device_unblock", "killing request"),
    *("mpt", "MMP writes", "Pool '", "zio pool=", "unknown parameter", "catastrophic pool", "I/O to pool", "VERIFY", "ASSERT", "PANIC"),
    *(
        "panic",
        "blkptr",
        "zfs:",
        "SPLError",
        "[zfs]",
        "[spl]",
        " blocked ",
        "memory",
        "oom-kill",
        "ZFS re",
        "pool '",
        ", zpool=",
        "pool_guid=",
        "eid=",
    ),
    *(
        "SUNW-MSG-ID",
        "Sense",
        "sense key: ",
        "ASC=",
        "Power-on or",
        "ot ready",
        "NOT READY",
        "not responding",
        "abort",
        "Device offlined",
        "ttempting",
        " reset: ",
        "Buffer I/O",
        "ata",
        "timing out",
        "Medium access",
        "hpsa ",
        "registered ",
        "> at ",
        "> on ",
        "> port ",
        "> mem ",
        "> irq ",
        "ahcich",
        "siisch",
        "mvsch",
        "nvme",
        "CAM status",
        "ATA status",
    ),
    *(
        "SCSI sense",
        " asc:",
        "Error ",
        "detached",
        "lost device",
        "removing device",
        "WARNING: /",
        "megaraid",
        "3w-",
        "timed out, resetting",
        "hpsa",
        "smartpqi",
        "aacraid",
        "arcmsr",
    ),
    *(
        "pm80xx",
        "mvsas",
        "isci",
        "qla2",
        "lpfc",
        "mpr",
        "mps",
        "removing handle",
        "PCIe",
        "AER:",
        "EDAC",
        "Hardware Error",
        "MCA:",
        "reset",
    ),
)

# What a healthy machine prints, too.
_EXPECTED = re.compile(
    r"(?:ZFS: (?:Loaded|Unloaded) module|SPL: (?:Loaded|Unloaded) module|SPL: using hostid|ZFS filesystem version|ZFS storage pool version"
    r"|ZFS: Posix ACLs disabled|ZFS NOTICE: |zfs: (?:module|loading)|spl: (?:module|loading|Kicked taskq)|z(?:common|nvpair|avl|unicode|lua|zstd): (?:module|loading)"
    r"|icp: (?:module|loading)|Checking MMP activity|(?:NOTICE: )?pool '.+' activity check (?:required|completed)|Trying to mount root from zfs:|(?:Kernel c|C)ommand line: |Modules linked in:"
    r"|0x[0-9a-f]{8,16} : 0x[0-9a-f]{8,16} |#\d{1,3} +0x[0-9a-f]{8,16} (?:in|at) |\w{1,80}\(\) at \w{1,80}\+0x"  # frames as macOS and FreeBSD print them
    r"|CPU: \d+ (?:UID: \d+ )?PID: |Workqueue: |Call Trace|.* \[zfs\]$|.*\+0x[0-9a-f]+/0x[0-9a-f].*|task:\S+ +state:|systemd\[|audit: |.*taints kernel"
    r"|(?:Starting|Started|Stopping|Stopped|Finished|Reached target) (?:Mount ZFS filesystems|Import ZFS pools by [a-z ]{4,20}|ZFS [\w ()-]{3,60})\.{0,3}$"  # systemd before 219 logs without its number
    r"|nvme\d+: resetting controller$|nvme nvme\d+: (?:Shutdown timeout set to |Removing ctrl: NQN \".{1,223}\"|resetting controller$)"
    r"|megaraid_sas \S+: (?:\S.{0,60} ?: \(?(?:[Dd]isabled|[Ee]nabled|\d+ secs/\d+ secs)\)?|FW provided .*|.*reset successful)|megaraid_sas:? .*no pending cmds after reset"
    r"|ata\d+(?:\.\d+)?: (?:READ LOG DMA EXT failed, trying PIO|Read log (?:0x[0-9a-f]{2} )?page 0x[0-9a-f]{2} failed, Emask )"  # libata asks for logs that not every disk has
    r"|mpt\dsas\S*: High IOPs queues : (?:dis|en)abled$"
    r"|nvme nvme\d+: (?:missing or invalid SUBNQN field|Does your device have a faulty power saving mode|Try \"nvme_core|Ignoring bogus Namespace)|SPL: Showing stack for process \d+|Pid: \d+, comm: "
    r"|(?:sas: )?(?:ata\d+: )?end_device-[\d:]+: (?:cmd|dev) error handler|sas: (?:Enter|Exit|---|\*\*\*|trying to|broadcast|ex phy|phy-)"
    r"|(?:BTRFS|EXT[234]-fs|XFS|F2FS-fs|FAT-fs|NTFS|reiserfs|JBD2|bcache|md|raid\d{1,2}|ISOFS|UDF-fs)(?:/\w+)?\b[ :(]"  # of no pool
    r"|device-mapper: (?!multipath)"
    r"|kobject: |ZFS: Sending event|ZFS: Using ZFS with kernel"
    r"|mpt\dsas\S*: (?:sending (?:message unit reset|port enable|diag reset)|message unit reset: SUCCESS|diag reset: SUCCESS|port enable: SUCCESS"
    r"|[Rr]emoving unresponding devices: [a-z -]{1,20}$)"  # its steps after a reset, whatever they find (mpt3sas_scsih.c)
    r"|megaraid_sas \S+: JBOD sequence map is (?:disabled|enabled)\b"
    r"|(?:sd|scsi|ses) [\d:]+: .*(?:Unhandled (?:error|sense) code|Write Protect is off|Mode Sense|Write cache|Attached|logical blocks|physical blocks|serial_number|qdepth"
    r"|Asking for cache data failed|Assuming drive cache: |No Caching mode page|Test WP failed, assume Write Enabled|Got wrong page"
    r"|Incomplete mode parameter data|Missing header in MODE_SENSE response)"  # what a bridge cannot say of its cache
    r"|\(\w+:[\w-]+:\d+:\w+:\w+\): (?:CAM status: |SCSI status: |ATA status: |Retrying|Info: |[A-Z_].*\. (?:CDB|ACB): |RES: |Actual Retry|Field|Deferred|Error \d)"
    r"|\w{1,20} +[DRSTXZ] (?:[0-9a-f]{8,16} )? *\d+ +\d+ +\d+ +0x[0-9a-f]{8}$"  # the stack of a thread that hangs begins so before 5.10
    r"|(?:EVENT-TIME|EVENT-ID|PLATFORM|SOURCE|DESC|AUTO-RESPONSE|IMPACT|REC-ACTION): |.{0,200}\bhttps?://\S{1,100}/msg/|Run 'zpool status -\w{1,3}' |'(?:zpool|fmadm) \w{1,12}'\.?$"  # below SUNW-MSG-ID:
    r"|(?:\S{1,64} )?z(?:pool|fs)(?:\[\d{1,9}\])?: {1,4}cannot (?:import|export|open|u?n?mount|create|destroy) ['\"]"  # a command that was refused, which is told as such
    r"|(?:EDAC MC|mce: CPU|MCE: In-kernel|EDAC .*: Giving out))"
)
_ZFS = re.compile(r"\b(?:ZFS|zfs|SPL|spl|zpool|zio|zil|zvol|txg_\w+|vdev)\b|\bPool '|\bpool '|\bMMP\b")
_HARDWARE = re.compile(
    r"\b(?:sd[a-z]{1,3}|(?:sd|ses|scsi) \d+:\d+:\d+:\d+|nvme\d+(?:n\d+)?|mpt\dsas\S*|mpt(?:base|scsih|sas)|megaraid_sas|hpsa|smartpqi|aacraid"
    r"|arcmsr\d*|pm80xx|mvsas|isci|ata\d+(?:\.\d+)?|a?da\d+|nvd\d+|nda\d+|mp[rs]\d+|[Ee]nclosure|expander|sas(?:_expander)?-\d|end_device-\S+)\b"
)
_TROUBLE = re.compile(
    r"(?i)\b(?:fault(?:ed|y)?|fail(?:s|ed|ure|ing)?|errors?|time[d ]?-?out|timed|resett?(?:ing)?|abort(?:ed|ing)?|offlin\w*|dead|lost|gone|removed|removing"
    r"|not respond\w*|unrespons\w*|invalid|overflow|illegal|unexpected|exception|panic|corrupt\w*|uncorrect\w*|bad|hung|stuck|disabled|down|degraded|overheat\w*)\b"
)
_WARNED = re.compile(
    r"WARNING: CPU: \d+ PID: \d+ at (?:\S{1,200}/)?(?:drivers/(?:scsi|ata|nvme|block|message|md)|block|zfs|spl)/"
)  # WARN_ON
UNEXPLAINED = "unexplained"
_SPL = re.compile(r"^SPLError: \d+:\d+:\([\w.-]+:\d+:\w+\(\)\) ")  # before 0.6.5 each warning came with its place in the source


def classify(message: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """Kind and named parts of a line; None where it says nothing of our matters that a pattern knows."""
    return _classified(message[:LINE_MAX])


@lru_cache(maxsize=REMEMBERED)
def _classified(message: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    if message.startswith("SPLError"):
        message = _SPL.sub("", message, count=1)
    for hint in _HINTS:
        if hint in message:
            break
    else:
        return None
    for kind, pattern in _PATTERNS.items():
        found = pattern.fullmatch(message)
        if found:
            return kind, tuple([(_NAMES.get(name, name), value) for name, value in found.groupdict().items() if value is not None])
    return None


_NAMES = {
    "number": "disk",
    "path": "disk",
    "ereport": "class",
    "invoked": "class",
    "zpool": "pool",
    "of_pool": "pool",
    "read_pool": "pool",
    "old_pool": "pool",
    "nvme": "disk",
    "reset": "what",
    "driver_of": "hba",
    "xhci": "hba",
    "smp": "hba",
    "failed": "unit",
    "entered": "unit",
    "at": "usb",
    "of": "disk",
    "old_key": "key",
}  # a name may stand once in a pattern


def counts(message: str) -> bool:
    """Whether a line that no pattern knows is about ZFS, or reports trouble of a disk, an HBA or a shelf."""
    return _counted(message[:LINE_MAX])


@lru_cache(maxsize=REMEMBERED)
def _counted(message: str) -> bool:
    if _WARNED.match(message):
        return True
    if _EXPECTED.match(message):
        return False
    if _ZFS.search(message):
        return True
    return _HARDWARE.search(message) is not None and _TROUBLE.search(message) is not None
