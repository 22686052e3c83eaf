"""Outputs that are recognised and not read: each is named with what to run instead, so that nobody takes silence for an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

TROUBLE = re.compile(
    r"(?i)(?<!without )(?<!no )(?<!0 )\b(?:i/o errors?|errors? (?:on|reading|writing|in)|fail(?:ed|ure|ing|s)|faulty|faulted|degraded|corrupt(?:ed|ion)?|bad[ -]?(?:block|sector)s?"
    r"|uncorrectable|unreadable|offlined?|dead|unrecovered|medium error|predicts?|critical)\b(?!\s*[:=]\s*(?:0|no|none|ok)\b)"
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
        r"\|--host[0-9]{1,4} *$|\| {1,3}\|--[0-9]{1,2}x--(?:expander|end_device)-",
        "a tree of `sas_discover`",
        "It counts devices and shows no error; `sas_counters`, which shows the counters of each link, and `lsscsi -i -g -s` are read.",
    ),
    (
        r"DEVICE +OFFSET +TYPE +UUID|offset +type$",
        "`wipefs`",
        "It shows marks of file systems; `blkid`, `lsblk -f` and `zdb -l DEVICE` are read.",
    ),
    (r"=> +[0-9]+ +[0-9]+ +\S+ +(?:GPT|MBR)", "`gpart show`", "It shows partitions; `geom disk list` and `zdb -l DEVICE` are read."),
    (r"Disk /dev/\S+: [0-9.,]+ [KMGT]i?B", "`fdisk -l`", "It shows partitions; `lsblk -o NAME,TYPE,SIZE,MODEL,SERIAL,WWN` is read."),
    (r"Number +Start .*End .*Size", "`parted` or `sgdisk`", "It shows partitions; `lsblk -o NAME,TYPE,SIZE,MODEL,SERIAL,WWN` is read."),
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
        r"Encl +Status *$|Fan +Status +State +Step|PowerSupply +Status +State",
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
    (r"smartctl_device\w{0,60}\{", "metrics of smartctl_exporter", "`smartctl -x DEVICE` of each disk is read."),
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
    "diskinfo": "It shows one disk; `geom disk list` shows all and is read.",
    "format": "It lists disks; `iostat -En` and `zpool status -P -p` show their health.",
    "midclt": "`zpool status -P -p` shows the same of each pool and is read.",
    "zed": "Its lines with eid= and class= are read as a kernel log; `zpool events -v` and `zpool status -P -p` show the rest.",
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
