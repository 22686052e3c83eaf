"""Outputs that are recognised and not read: each is named with what to run instead, so that nobody takes silence for an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

TROUBLE = re.compile(
    r"(?i)(?<!without )(?<!no )(?<!0 )\b(?:i/o errors?|errors? (?:on|reading|writing|in)|fail(?:ed|ure|ing|s)|faulty|faulted|degraded|corrupt(?:ed|ion)?|bad[ -]?(?:block|sector)s?"
    r"|uncorrectable|unreadable|offlined?|dead|unrecovered|medium error|predicts?|critical|(?-i:CRIT))\b(?!\s*[:=]\s*(?:0|no|none|ok)\b)"
)


_WHOLE = "The whole report of `smartctl -x DEVICE` is read."
INSTEAD: tuple[tuple[str, str, str], ...] = (  # how it begins, what it is, what is read instead
    (r"Filesystem +(?:1K-blocks|Size|512-blocks|Type) ", "`df`", "It shows file systems and no disk; `zpool list -v` is read."),
    (
        r"/dev/disk[0-9]+(?: \([a-z, ]{1,40}\))?:$|\s*#: +TYPE +NAME +SIZE +IDENTIFIER",
        "`diskutil list`",
        "It shows partitions; `zpool status -P -p` and `smartctl -x DEVICE` are read.",
    ),
    (
        r"(?:\[?[0-9]{2}:[0-9]{2}:[0-9]{2}\]? (?:[AP]M )?)?(?:sd[a-z]{1,3}|nvme[0-9]{1,2}n[0-9]{1,2}|a?da[0-9]{1,3}|dm-[0-9]{1,3}) +(?:[0-9]{1,9}[.,][0-9]{2} +){7,22}[0-9]{1,9}[.,][0-9]{2}$",
        "rows of `iostat -x` without the line that names their columns",
        "Which figure is which differs from release to release; `iostat -dx 5 3` with its headings is read.",
    ),
    (
        r" *Creation Time : |\s*Raid Level : ",
        "a part of `mdadm --detail` or `--examine`",
        "`cat /proc/mdstat` shows how the arrays are, and is read; `zpool status -P -p` shows the pools.",
    ),
    (
        r"Attached devices:\s*$|Host: scsi[0-9]{1,4} Channel: [0-9]{2} Id: [0-9]{2} Lun: [0-9]{2,5}",
        "/proc/scsi/scsi",
        "It lists devices without their kernel names and shows no health; `lsscsi -i -g -s` and `smartctl -x DEVICE` are read.",
    ),
    (
        r"\|--host[0-9]{1,4} *$|\| {1,3}\|--[0-9]{1,2}x--(?:expander|end_device)-",
        "a tree of `sas_discover`",
        "It counts devices and shows no error; `sas_counters`, which shows the counters of each link, and `lsscsi -i -g -s` are read.",
    ),
    (
        r"DEVICE +OFFSET +TYPE +UUID|offset +type$|0x[0-9a-f]{1,16} +\S{2,24} +\[\w{2,12}\]",
        "`wipefs`",
        "It shows marks of file systems; `blkid`, `lsblk -f` and `zdb -l DEVICE` are read.",
    ),
    (r"=> +[0-9]+ +[0-9]+ +\S+ +(?:GPT|MBR)", "`gpart show`", "It shows partitions; `geom disk list` and `zdb -l DEVICE` are read."),
    (
        r"Disk /dev/[^:]{1,80}: [0-9.,]+ ?(?:[KMGT]i?B|cylinders|sectors)|Unpartitioned space /dev/|\s*Device +Boot +Start|label: (?:gpt|dos)$|# partition table of |Disklabel type: "
        r"|GPT fdisk \(gdisk\) version|Partition table scan:|Caution: (?:invalid|INVALID) |Number +Start .*End .*Size|Model: .{1,80} \((?:scsi|ide|nvme|virtblk|md|dm|sd/mmc|file|unknown)\)$"
        r"|Partition Table: (?:gpt|msdos|loop|unknown|mac|bsd|sun)$|BYT;$|Error: /dev/\S+: unrecogni[sz]ed disk label|\*{3,} +CAUTION: GPT|/dev/[^:]{1,80} : start= ",
        "a partition table, of `fdisk`, `sfdisk`, `gdisk` or `parted`",
        "It shows partitions and no health; `lsblk -o NAME,TYPE,SIZE,MODEL,SERIAL,WWN`, `zdb -l DEVICE` and `smartctl -x DEVICE` are read.",
    ),
    (
        r"/dev/[^:]{1,80}: [0-9]{1,4} bytes? w(?:as|ere) erased at offset 0x",
        "`wipefs` that erased marks of file systems",
        "`zdb -l DEVICE` shows which labels of ZFS are left, and `zpool status -P -p` whether the disk was a member; both are read.",
    ),
    (
        r"/sys/(?:devices|bus)/pci\S{1,200} \((?:AHCI|SCSI|VMD|Dell SSD|NPEM|AMD|SATA)\)$|slot: +\S{1,120} +led state: ",
        "`ledctl`",
        "It lists controllers and lights and no health; `lsscsi -i -g -s`, `sg_ses -p es DEVICE` and `smartctl -x DEVICE` are read.",
    ),
    (
        r"\s*(?:Device [Ii]dentification|Supported VPD pages|Unit serial number|Block (?:limits|device characteristics)|ATA information|Extended inquiry data|Mode page policy|Power condition|Logical block provisioning)[^:]{0,40} VPD page:|VPD INQUIRY: |(?:standard|Standard) INQUIRY:|Read Capacity results:|READ CAPACITY \([0-9]{2}\)",
        "`sg_vpd`, `sg_inq` or `sg_readcap`",
        "It says which disk it is and no health; `smartctl -x DEVICE` and `lsscsi -i -g -s` are read.",
    ),
    (
        r"\S{1,120}: [0-9]{1,15} [0-9]{1,15} (?:linear|striped|mirror|raid|crypt|thin|thin-pool|snapshot|snapshot-origin|multipath|cache|error|zero|delay|verity|integrity|writecache)\b",
        "`dmsetup`",
        "It is no pool; `multipath -ll`, `lvs -a`, `lsblk` and `smartctl -x DEVICE` are read.",
    ),
    (
        r"\*?\*?\\?\*? Group superset |\*{3} (?:Group superset|Active Set|Set)|--> (?:Active )?(?:Subset|Superset)|\[dev +[0-9]+, +[0-9]+\] /dev/|AFA[0-9]> |Driver Parameters:$|Disk Array Controller Information:$",
        "the list of an old RAID",
        "It is not judged; `smartctl -x DEVICE` of each disk behind it and `zpool status -P -p` are read.",
    ),
    (
        r"top - [0-9:]{8} up|procs -+memory",
        "`top` or `vmstat`",
        "It shows processes; `zpool iostat -v -l 5 2` shows disks and is read.",
    ),
    (
        r"# dmidecode |SMBIOS [0-9.]+ present|Handle 0x[0-9A-Fa-f]{4}, DMI type|Getting SMBIOS data",
        "`dmidecode`",
        "It shows the machine and its memory, and no disk; errors of memory stand in `dmesg`, which is read, and in `ras-mc-ctl --errors`.",
    ),
    (
        r" +looking at (?:device|parent device) '",
        "`udevadm info -a`",
        "It walks up the devices; `udevadm info --query=property --name=/dev/sdX` is read.",
    ),
    (
        r"Udevadm info starts with the device",
        "`udevadm info -a`",
        "It walks up the devices; `udevadm info --query=property --name=/dev/sdX` is read.",
    ),
    (
        r" *[A-Z]+ .{0,60}IR Configuration Utility|  ?Adapter +Vendor +Device +SubSys",
        "a list of adapters",
        "`sas3ircu 0 display` is read, which shows the disks.",
    ),
    (
        r"Subsystem +Subsystem-NQN +Controllers",
        "`nvme list -v`",
        "`nvme list`, `nvme list-subsys` and `nvme smart-log /dev/nvme0` are read.",
    ),
    (
        r"Additional Smart Log for NVME device",
        "`nvme intel smart-log-add`",
        "It is the maker's own log; `nvme smart-log /dev/nvme0` is read.",
    ),
    (
        r"NVME Identify (?:Controller|Namespace)",
        "`nvme id-ctrl` or `id-ns`",
        "It shows what the disk can do; `nvme smart-log /dev/nvme0` shows how it is and is read.",
    ),
    (
        r"Error: (?:The specified device|No controllers detected|The controller must be identified|Invalid target syntax)",
        "an error of `ssacli`",
        "`ssacli ctrl all show config detail` is read.",
    ),
    (
        r" *\| ARCCONF \||MegaCLI SAS RAID Management Tool",
        "the version or the help of a RAID tool",
        "`arcconf getconfig 1`, `MegaCli64 -PDList -aALL` and `storcli64 /c0/eall/sall show all` are read.",
    ),
    (
        r" *(?:Configuration|Element Descriptor In|Additional element status|Threshold In|Help text|String In|Supported .{0,20}) diagnostic page:",
        "a page of `sg_ses` that shows no state",
        "`sg_ses -p es` and `sg_ses -p aes` of the same enclosure are read.",
    ),
    (
        r"\[[0-9]+\] +(?:mpt[23]?sas|ahci|megaraid_sas|aacraid|smartpqi|hpsa|qla2xxx|lpfc|usb-storage|nvme|isci|arcmsr|iscsi_tcp|ata_piix|virtio_scsi)\b",
        "`lsscsi -H`",
        "It lists HBAs; `lsscsi -i -g -s` lists the disks and is read.",
    ),
    (
        r"(?:Subject: )?(?:\[SMARTD\] )?SMART error \(\w{1,40}\) detected on host",
        "the subject of a mail of smartd: it warns of a disk",
        "Paste the mail itself, which says of which; `smartctl -x DEVICE` is read.",
    ),
    (
        r"(?:Subject: )?ZFS (?:device fault|\w{1,40} (?:event|error)) for (?:pool )?\S{1,120} on \S",
        "the subject of a mail of ZED",
        "Paste the mail itself; `zpool status -P -p` shows how the pool is now.",
    ),
    (
        r"latency +read +write +read +write|[0-9]{1,4}(?:ns|us|ms|s)(?: +[0-9.]{1,6}[KMGT]?){9,11}$",
        "a part of `zpool iostat -w` without the line that names the pool",
        "The whole output of `zpool iostat -w` is read.",
    ),
    (
        r' *"(?:healthy|status_detail|is_upgraded|autotrim)" ?: |\[?\{"id": ?[0-9]{1,6}, ?"name": ?"[^"]{1,80}", ?"guid": ',
        "`midclt call pool.query` or the API of TrueNAS",
        "`zpool status -P -p` shows the same of each pool and is read.",
    ),
    (
        r"hcil +dev +dev_t +pri +dm_st +chk_st|(?:\S{1,20} +){0,8}dm_st +(?:\S{1,20} +){0,4}chk_st\b",
        "`multipathd show paths`",
        "It shows paths without their disks; `multipath -ll` shows the same of each disk and is read.",
    ),
    (
        r".{0,80}\bactivity check (?:is )?required\b",
        "a line of ZFS about a pool that another node may have in use",
        "`zpool import` without a name shows which pool and why, and is read: import nothing by force before that.",
    ),
    (r"\s*MEGARC MegaRAID Configuration Utility", "`megarc`", "`MegaCli64 -PDList -aALL` shows the same of newer controllers and is read."),
    (r"/dev/\S+: \w+, \"[^\"]{1,80}\", ", "`dmraid -r`", "RAID of the BIOS is not judged; `zpool status -P -p` and `lsblk` are read."),
    (
        r"Encl +(?:Status|Controllers) *$|Fan +Status(?: +State +Step| *$)|PowerSupply +Status +State",
        "an enclosure of `tw_cli`",
        "It is not judged; `tw_cli /c0 show` is read.",
    ),
    (
        r".{0,40}SAS[23]? Flash Utility",
        "`sas2flash` or `sas3flash`",
        "It shows firmware; `sas3ircu 0 display` shows disks and is read.",
    ),
    (
        r"cciss[0-9]: HP Smart Array ",
        "/proc/driver/cciss",
        "`ssacli ctrl all show config detail` shows the same of each drive and is read.",
    ),
    (r"\s*(?:Device Statistics \(|0x[0-9a-f]{2}  (?:0x[0-9a-f]{3}  [0-9]|=====  =)) *", "the statistics of a disk", _WHOLE),
    (
        r"\s*(?:\.{3}|[0-9]{1,3}) +(?:\.\.\([ 0-9]+skipped\)\.|[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{5} +[0-9?-]+)",
        "the temperatures of a disk",
        _WHOLE,
    ),
    (
        r" {0,4}kstat\.(?!zfs\.misc\.arcstats)\S{1,120}(?:: |=)",
        "counters of the kernel",
        "They name no disk; `zpool status -P -p` shows how the pools are.",
    ),
    (
        r' {2}"(?:scsi_[a-z_]{3,40}|ata_[a-z_]{3,40}|nvme_[a-z_]{3,60}|smart_status|smart_support|logical_unit_id|power_on_time)" ?: ',
        "a part of the JSON of smartctl without its beginning",
        _WHOLE,
    ),
    (
        r"(?:KERNEL|UDEV {1,2}) ?\[[0-9]{1,9}\.[0-9]{1,9}\] (?:add|change|remove|bind|unbind|move) +/",
        "`udevadm monitor`",
        "It shows which device came or went; `dmesg` says why and is read, and `lsblk -o NAME,TYPE,SIZE,MODEL,SERIAL,WWN` shows what is there.",
    ),
    (
        r"(?:#?crash> ?bt\b|PID: [0-9]{1,9} +TASK: [0-9a-f]{8,16} +CPU: )",
        "the stack of a thread, as `crash` shows it",
        "It shows where a thread waits and not for which disk; `dmesg`, `zpool status -P -p` and `cat /proc/spl/kstat/zfs/POOL/state` are read.",
    ),
    (
        r" {0,8}(?:\[ *[0-9]{1,9}\.[0-9]{1,9}\] {1,2})?(?:\[<[0-9a-f]{1,16}>\] )?(?:\? )?[A-Za-z_]\w{1,80}(?:\.[\w.]{1,40})?\+0x[0-9a-f]{1,8}/0x[0-9a-f]{1,8}(?: \[\w{1,40}(?: [0-9a-f]{1,40})?\])?$",
        "the stack of a thread without the line above it that says why it was printed",
        "`dmesg`, `zpool status -P -p` and `cat /proc/spl/kstat/zfs/POOL/state` are read, which show whether ZFS waits for a disk.",
    ),
    (
        r" {2,12}tty +(?:[a-z]{1,6}[0-9]{1,4} +){1,12}(?:cpu)?$|\s{0,8}(?:tin +tout +)?KB/t +tps +MB/s",
        "`iostat` of FreeBSD without -x",
        "It shows how much each disk does and not how long it takes; `iostat -x -w 5 -c 3` and `zpool iostat -v -l 5 2` are read.",
    ),
    (
        r" {0,8}(?:dT: [0-9.]{1,8}s +w: |L\(q\) +ops/s )",
        "`gstat`",
        "It shows one moment; `iostat -x -w 5 -c 3` and `zpool iostat -v -l 5 2` are read.",
    ),
    (
        r" {0,8}(?:test unit ready(?: cdb)?: |Completed [0-9]{1,9} Test Unit Ready commands|Decode response as sense data|Fixed format, current; Sense key)",
        "`sg_turs` or `sg_requests`",
        "It says whether a disk answers, and why not; `smartctl -x DEVICE` and `dmesg` are read.",
    ),
    (
        r"(?:.{0,60}\{'sbName': |sbName=|mdState=|rdevStatus\.[0-9]{1,2}=)",
        "the state of an Unraid array (`mdcmd status`)",
        "DISK_OK is well, DISK_DSBL a disk that it gave up; `smartctl -x DEVICE` of that disk, `dmesg` and `zpool status -P -p` are read.",
    ),
    (
        r"SATA Phy Event Counters|0x00[0-9a-f]{2} +[0-9] +[0-9]{1,12} +(?:Command failed|R_ERR|Transition from|Device-to-host|CRC errors|Non-CRC|Vendor specific)",
        "the counters of a SATA link (`smartctl -l sataphy`)",
        "R_ERR and ICRC count transfers that came damaged: a cable or a backplane, and no disk to be replaced for it. The whole report of `smartctl -x DEVICE` is read, and `dmesg`.",
    ),
    (
        r" *Adapter Phy [0-9]{1,2}: {1,4}Link |  Invalid DWord Count +[0-9]",
        "the phy counters of `lsiutil`",
        "They count since the HBA's reset, so only growth tells: `sas_counters` or `grep . /sys/class/sas_phy/*/*count` shows the same and is read, as is `dmesg`.",
    ),
    (
        r"(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-9] [A-Z].{2,60}(?: \[[0-9a-f]{4}\])?: |\s{1,8}(?:LnkCap|LnkSta|LnkCtl|UESta|CESta|DevSta):\s",
        "`lspci`",
        "It shows which HBA is there and how wide its slot is; `dmesg`, which says what went wrong on it, and `lsscsi -i -g -s` are read.",
    ),
    (
        r"Enclosure +Port +Sys_Name +Size +Type|Enclosure +Port +Sys_Name ",
        "`qcli_storage` of QNAP",
        "It lists disks; `cat /proc/mdstat`, `smartctl -x DEVICE` and `zpool status -P -p` show how they are and are read.",
    ),
    (
        r"(?:Memory controller events summary|MCE records summary|PCIe AER events summary|Extlog records summary|Disk errors summary|No (?:Memory|PCIe AER|Extlog|MCE|disk) (?:errors|events)\b)",
        "`ras-mc-ctl`",
        "It counts errors of memory and buses since it was installed; `dmesg` says when and where and is read.",
    ),
    (
        r"\s{1,8}[0-9]{1,16}\s{0,12}# (?:sectorsize|mediasize)",
        "`diskinfo` of FreeBSD",
        "It shows one disk; `geom disk list` shows all and is read, and `smartctl -x DEVICE` its health.",
    ),
    (  # usr/src/cmd/diskinfo/diskinfo.c of illumos
        r"TYPE +DISK +VID +PID +S|(?:SCSI|NVME|ATA|SATA|USB|UNKNOWN|-) +c[0-9]{1,3}(?:t[0-9A-F]{1,32})?d[0-9]{1,4} +\S",
        "`diskinfo` of illumos and SmartOS",
        "It lists disks, and an F in the flags of `diskinfo -c` marks one that is called faulty; `fmadm faulty` and `iostat -En` show how they are and are read.",
    ),
    (
        r"Found [0-9]{1,3} IBM ServeRAID controller|Read configuration has been initiated for controller [0-9]{1,3}\.",
        "`ipssend` of IBM's ServeRAID",
        "A logical drive that it calls Critical (CRT) has lost a disk, and one that is Offline (OFL) more than one: their list is read where it stands below. `zpool status -P -p` and `dmesg` are read.",
    ),
    (
        r"FRU Device Description : ",
        "`ipmitool fru`",
        "It lists parts of the machine with their serial numbers, and a part that is not present may never have been there; `ipmitool sdr elist` and `ipmitool sel elist` show what is at fault and are read.",
    ),
    (
        r"Smart Extended Log for NVME device:|SMART Cloud Attributes|OCP Smart",
        "`nvme ocp smart-add-log`",
        "It is the maker's own log; `nvme smart-log` and `smartctl -x DEVICE` are read.",
    ),
    (
        r"Bad-blocks on /dev/",
        "`mdadm --examine-badblocks`",
        "md keeps a list of blocks that it could not read or write; `smartctl -x DEVICE`, which says whether the disk has them, and `cat /proc/mdstat` are read.",
    ),
    (
        r"(?:nvme-pci-|drivetemp-scsi-|coretemp-isa-|k10temp-pci-)[0-9a-f-]{1,12}$",
        "`sensors`",
        "`smartctl -x DEVICE` shows the temperature of each disk and the limits that it names, and is read.",
    ),
    (
        r"(?:mp[rs][0-9]{1,2} )?Adapter:$|\s{0,10}Board Name: ",
        "`mprutil` or `mpsutil`",
        "It shows the HBA and its firmware; `camcontrol devlist`, `sesutil map` and `dmesg` are read.",
    ),
    (
        r"(?:PCI|USB) \[[\w-]{2,20}\] \S.{0,120}\b(?:Bus|controller|Controller|Adapter|SATA|SAS|NVMe|RAID)\b|[├└│ ]{1,8}scsi [0-9]{1,3}:[0-9]{1,3}:[0-9]{1,3}:[0-9]{1,3} \S",
        "`lsdrv`",
        "It lists disks and what is on them; `lsblk -o NAME,TYPE,SIZE,MODEL,SERIAL,WWN`, `cat /proc/mdstat` and `smartctl -x DEVICE` are read.",
    ),
    (
        r"\s{0,8}(?:Subject: info: .{1,40} raid status change|This is a RAID status update from )",
        "a mail of a RAID watcher (mpt-statusd, megaclisas-statusd and their kind)",
        "What it found stands below that line, and is read where it was pasted: `mpt-status`, `megaclisas-status` or `sas2ircu-status` print it again.",
    ),
    (r"zfs-kmod-[0-9]", "`zfs version`", "It shows no pool; `zpool status -P -p` is read."),
    (r"lsblk: invalid option|Usage:\s*$", "an error or the help of a command", "Run it again without that option."),
    (r"AVAILABLE DISK SELECTIONS:", "`format`", "It lists disks; `iostat -En` and `zpool status -P -p` show their health."),
)
_ALL = tuple((re.compile(first), what, instead) for first, what, instead in INSTEAD)

TOOLS: Mapping[str, str] = {
    "zfs": "It shows file systems and no disk; `zpool list -v` and `zpool status -P -p` are read.",
    "df": "It shows file systems and no disk; `zpool list -v` is read.",
    "diskutil": "It shows partitions; `zpool status -P -p` and `smartctl -x DEVICE` are read.",
    "dmidecode": "It shows the machine and its memory, and no disk; `dmesg` and `lsscsi -i -g -s` are read.",
    "gpart": "It shows partitions; `geom disk list` and `zdb -l DEVICE` are read.",
    "fdisk": "It shows partitions; `lsblk -o NAME,TYPE,SIZE,MODEL,SERIAL,WWN` is read.",
    "sfdisk": "It shows partitions; `lsblk -o NAME,TYPE,SIZE,MODEL,SERIAL,WWN` is read.",
    "sgdisk": "It shows partitions; `lsblk -o NAME,TYPE,SIZE,MODEL,SERIAL,WWN` is read.",
    "parted": "It shows partitions; `lsblk -o NAME,TYPE,SIZE,MODEL,SERIAL,WWN` is read.",
    "mount": "It shows file systems and no disk; `zpool status -P -p` is read.",
    "lspci": "It shows which HBA is there; `dmesg` and `lsscsi -i -g -s` are read.",
    "iotop": "It shows processes; `zpool iostat -v -l 5 2` is read.",
    "mpsutil": "It is not read; `sas3ircu 0 display`, `camcontrol devlist` and `sesutil map` are.",
    "mprutil": "It is not read; `sas3ircu 0 display`, `camcontrol devlist` and `sesutil map` are.",
    "diskinfo": "It is not read. On FreeBSD `geom disk list` shows all disks; on SmartOS `fmadm faulty` and `iostat -En` show how they are. These are read.",
    "format": "It lists disks; `iostat -En` and `zpool status -P -p` show their health.",
    "midclt": "`zpool status -P -p` shows the same of each pool and is read.",
    "zed": "Its lines with eid= and class= are read as a kernel log; `zpool events -v` and `zpool status -P -p` show the rest.",
    "mdadm": "`cat /proc/mdstat` and `mdadm --detail` are read, and `zpool status -P -p`.",
    "wipefs": "`zdb -l DEVICE` and `lsblk -f` are read.",
    "ledctl": "`lsscsi -i -g -s` and `sg_ses -p es DEVICE` are read.",
    "sg_vpd": "`lsscsi -i -g -s` and `smartctl -x DEVICE` are read.",
    "sg_inq": "`lsscsi -i -g -s` and `smartctl -x DEVICE` are read.",
    "sg_turs": "`smartctl -x DEVICE` and `dmesg` are read.",
    "sg_requests": "`smartctl -x DEVICE` and `dmesg` are read.",
    "sg_readcap": "`lsblk` and `smartctl -x DEVICE` are read.",
    "hdparm": "`hdparm -I` and `-t` are read, and `smartctl -x DEVICE`.",
    "dmsetup": "`multipath -ll`, `lvs -a` and `lsblk` are read.",
    "lsiutil": "`sas3ircu 0 display` and `dmesg` are read.",
    "sas2flash": "`sas2ircu 0 display` shows disks and is read.",
    "sas3flash": "`sas3ircu 0 display` shows disks and is read.",
    "qcli_storage": "`cat /proc/mdstat` and `smartctl -x DEVICE` are read.",
    "ras-mc-ctl": "`dmesg` is read.",
    "mcelog": "`dmesg` is read.",
    "gstat": "`iostat -x -w 5 -c 3` and `zpool iostat -v -l 5 2` are read.",
    "blktrace": "`btt` is read, and `iostat -dx 5 3`.",
    "blkparse": "`btt` is read, and `iostat -dx 5 3`.",
    "fmadm": "`fmadm faulty` is read.",
    "fmdump": "`fmdump` without options is read, and `fmadm faulty`.",
    "tw_cli": "`tw_cli /c0 show` is read.",
    "cli64": "`cli64 disk info`, `cli64 rsf info` and `cli64 vsf info` are read.",
    "mfiutil": "`mfiutil show drives`, `show volumes` and `show battery` are read.",
}


def meaning(lines: Sequence[str]) -> str:
    """What an output that nobody reads is, and what to run instead; "" when it is not known either."""
    for line in lines[:40]:
        for form, what, instead in _ALL:
            if form.match(line):
                return f"This is {what}. {instead}"
    return ""
