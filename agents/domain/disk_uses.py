"""What uses a disk, or is written on it, and how that is ended: what to save first, and the command for it.

A use is a text, as a refusal shows it: "held by dm-0 (LUKS backup)", "held by md127", "mounted on /srv", "swap", "crypto_LUKS". Which kind of device
mapper device holds a disk is the beginning of its UUID: CRYPT- by cryptsetup, LVM- by LVM (lib/activate/dev_manager.c), mpath- by multipath-tools.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from agents.domain.wwid import DISKID, DSK

_KINDS = (("CRYPT-", "LUKS"), ("LVM-", "LVM"), ("mpath-", "multipath"))  # how the UUID of a device mapper device begins
_PARTITION = re.compile(r"part[0-9]+-(?=mpath-)")  # kpartx puts it before the UUID of the map

_WAYS = (  # a use -> what to save, and what ends it; {0} is the name that was found, {link} a link that names the disk
    (
        r"held by (dm-[0-9]{1,6}) \(LUKS (.+)\)",
        "LUKS: {1} is open on it. Save what is in it, unmount it or stop what has it, then `cryptsetup close {1}`. Keep the header before anything is wiped: "
        "`cryptsetup luksHeaderBackup DEVICE --header-backup-file FILE`; without it what is in it can be read by no key.",
    ),
    (
        r"held by (dm-[0-9]{1,6}) \(LVM (.+)\)",
        "LVM: the logical volume {1} is on it; `pvs -o pv_name,vg_name` shows the group. Move it to other disks with `pvmove DEVICE`, then `vgreduce GROUP DEVICE` "
        "and `pvremove DEVICE`. Where nothing in the group is needed, save what is, then `vgchange --activate n GROUP`.",
    ),
    (
        r"held by (dm-[0-9]{1,6}) \(partition (.+) of a multipath map\)",
        "a partition of a multipath map, which kpartx made: `lsblk -f /dev/{0}` shows what is on {1}. Save what is needed. Where its owner needs nothing, "
        "`kpartx -d {map}` takes the partitions away and `wipefs --all --backup {map}` what they were made from.",
    ),
    (
        r"held by (dm-[0-9]{1,6}) \(multipath (.+)\)",
        "multipath: {0} is the map {1}, and `multipath -ll` shows its paths. Where it is the disk behind all of them, an order that takes a new disk names it as "
        "{map}; no order wipes or deletes what is behind a map. By hand, once nothing uses the map (`lsblk /dev/{0}`), by the WWID in brackets behind its name, "
        "here MAP: `multipathd disablequeueing map MAP` ends what waits for a lost path, and `multipath -f MAP` takes the map away. Its paths stay. To delete the "
        "disk, write 1 to `/sys/block/PATH/device/delete` of each path at once, or multipathd makes the map anew; to keep them without a map, `multipath -w` with one of "
        "them comes first.",
    ),
    (
        r"held by (dm-[0-9]{1,6})(?: .*)?",
        "device mapper: `dmsetup info {0}` and `lsblk` show what that is. Save what is on it, unmount it, then end it with the tool that made it (cryptsetup, LVM, multipath).",
    ),
    (
        r"held by (md[0-9a-z_]+)",
        "md: `mdadm --detail /dev/{0}` shows what the array has left without it. Save what is on the array. To take out this disk alone: `mdadm /dev/{0} --fail DEVICE`, "
        "then `mdadm /dev/{0} --remove DEVICE`; to end the array: unmount it, then `mdadm --stop /dev/{0}`. Then `mdadm --zero-superblock DEVICE`.",
    ),
    (
        r"held by (.+)",
        "the kernel device {0}: `lsblk` and `ls /sys/block/{0}/slaves` show what that is. Save what is on it, and end it with the tool that made it.",
    ),
    (
        r"mounted on (.+?)(?: \([a-z0-9-]+\))?",
        "a mount: `findmnt {0}` shows what it is and `fuser -vm {0}` who uses it. Save what is in it, stop those, `umount {0}`, and take its line out of /etc/fstab.",
    ),
    (
        r"swap(?: \([a-z0-9-]+\))?",
        "swap: nothing on it needs saving. `swapon --show` lists it, `swapoff DEVICE` ends it where memory is enough; take its line out of /etc/fstab. "
        "Where it is only written there and not in use, `wipefs --all --backup DEVICE` takes it off.",
    ),
    (
        r"crypto_LUKS",
        "LUKS, not open: `cryptsetup luksDump DEVICE` shows it. Save what is in it, and the header with `cryptsetup luksHeaderBackup DEVICE --header-backup-file FILE`. "
        "Where its owner needs neither, `wipefs --all --backup DEVICE` takes it off.",
    ),
    (
        r"linux_raid_member",
        "a member of an md array that does not run: `mdadm --examine DEVICE` shows of which. Assemble it and save what is on it, unless the array runs without this disk or no "
        "one needs it; then `mdadm --zero-superblock DEVICE`.",
    ),
    (
        r"LVM2_member",
        "a physical volume of LVM: `pvs -o pv_name,vg_name` shows its group. `pvmove DEVICE` moves what is on it, then `vgreduce GROUP DEVICE` and `pvremove DEVICE`.",
    ),
    (
        r"(gpt|dos|PMBR) partition table",
        "a partition table, and ZFS takes a map as it is, without partitions: `lsblk -f {link}` shows what they hold. Save what is needed. Where its owner needs "
        "nothing, `kpartx -d {link}`, then `wipefs --all --backup {link}`.",
    ),
    (
        r"([A-Za-z0-9_+.-]+)",
        "{0}: `lsblk -f {link}` shows where on the disk. Mount it read-only and save what is in it. Where its owner needs nothing, `wipefs --all --backup DEVICE` takes it off.",
    ),
)
# What the Filesystem Hierarchy Standard 3.0 needs to boot or run the system, and the EFI system partition where distributions mount it.
_SYSTEM = re.compile(r"mounted on (/|/boot(?:/.+?)?|/efi|/usr|/var|/etc)(?: \([a-z0-9-]+\))?")
# The same of FreeBSD, where a use names the class of GEOM that has the disk.
_ON_FREEBSD = (
    (
        r"held by eli (\S+)",
        "geli: {0} is attached on it. Save what is in it and stop what has it, then `geli detach {0}`. Keep its metadata before anything is written: `geli backup`.",
    ),
    (
        r"held by multipath (\S+)",
        "gmultipath: it is one path of {0}, and `gmultipath status` shows the others. No command here names a disk behind it, as /dev/diskid leads past it. Choose a disk that is "
        "behind none, or give the command as your site does.",
    ),
    (
        r"held by what has it open \(r[0-9]+w[0-9]+e[0-9]+\)",
        "something has it open, and GEOM does not list what: `zpool status -P`, `swapinfo`, `mount -p`, `ctladm devlist -v`, `mdconfig -lv` and `fstat` with {link} show it. End it there.",
    ),
    (r"held by ([a-z]{2,20}) (\S+)", "GEOM: `geom {0} list` shows {1}, which is made of it. Save what is on that, and end it with the tool that made it."),
    (r"swap(?: \([a-z0-9-]+\))?", "swap: nothing on it needs saving. `swapinfo` lists it, `swapoff` ends it where memory is enough; take its line out of /etc/fstab."),
    (r"mounted on (.+?)(?: \([a-z0-9-]+\))?", "a mount: `fstat -f {0}` shows who uses it. Save what is in it, stop those, `umount {0}`, and take its line out of /etc/fstab."),
)  # fmt: skip
NOT_BLANK = "data at its ends"  # of illumos, where no tool says what it is
_ON_ILLUMOS = (
    (
        r"held by what has it open \(COMSTAR\)",
        "COMSTAR exports it as a logical unit: `stmfadm list-lu -v` shows which, and its `Data File` is this disk. Ask who uses that unit, end it there, then `stmfadm delete-lu LU`.",
    ),
    (
        r"held by what has it open \((.+)\)",
        "{0} has it open, as `fuser -d {raw}` shows: `zpool status -P`, `swap -l`, `dumpadm`, `metastat` and `stmfadm list-lu -v` show for what. End it there.",
    ),
    (r"swap(?: \([a-zA-Z0-9-]+\))?", "swap: nothing on it needs saving. `swap -l` lists it, `swap -d` ends it where memory is enough; take its line out of /etc/vfstab."),
    (r"mounted on (.+?)(?: \([a-zA-Z0-9-]+\))?", "a mount: `fuser -c {0}` shows who uses it. Save what is in it, stop those, `umount {0}`, and take its line out of /etc/vfstab."),
    (
        NOT_BLANK,
        "a partition table, a label or a file system may be there, of this or another system: `prtvtoc {raw}`, `fstyp {raw}` and `zdb -l {raw}` show some of them. Save what is "
        "needed, and have its owner wipe it as your site does, or take a disk that was never used.",
    ),
)  # fmt: skip
OTHER_ON_ILLUMOS = (
    "`fuser -d {raw}`, `prtvtoc {raw}` and `fstyp {raw}` show what uses it. Save what is needed, and end it with the tool that made it."
)
OTHER_ON_FREEBSD = (
    "`gpart show`, and `fstyp -u` and `file -s` with {link}, show what is on it. Save what is needed, and end it with the tool that made it; an empty partition table "
    "with `gpart destroy`, which asks for nothing: compare the serial number before."
)
_PATTERNS_ON = {
    DISKID: tuple((re.compile(pattern), text) for pattern, text in _ON_FREEBSD),
    DSK: tuple((re.compile(pattern), text) for pattern, text in _ON_ILLUMOS),
}
_PATTERNS = tuple((re.compile(pattern), text) for pattern, text in _WAYS)
OTHERS_ON = {DISKID: OTHER_ON_FREEBSD, DSK: OTHER_ON_ILLUMOS}
OTHER = "`lsblk {link}` shows what uses it. Save what is needed, and end it with the tool that made it."
DEVICE = "DEVICE is {link}, or its partition {link}-partN as `lsblk {link}` shows it; compare the serial number before."


def mapped_as(holder: str, uuid: str, name: str) -> str:
    """A device mapper device with the kind and the name it has: "dm-0 (LUKS backup)"; `holder` alone where that is not known."""
    whole = _PARTITION.sub("", uuid)
    if whole != uuid:
        return f"{holder} (partition {name} of a multipath map)" if name else holder
    kind = next((kind for prefix, kind in _KINDS if whole.startswith(prefix)), "")
    return f"{holder} ({kind} {name})" if kind and name else holder


def way_on(use: str, link: str) -> str:
    """How one use is ended."""
    folder = next((folder for folder in _PATTERNS_ON if link.startswith(folder)), "")
    patterns, raw = _PATTERNS_ON.get(folder, _PATTERNS), f"{link.replace('/dsk/', '/rdsk/', 1)}p0"
    found = next(((match, text) for pattern, text in patterns if (match := pattern.fullmatch(use))), None)
    if found is None:
        return OTHERS_ON.get(folder, OTHER).format(link=link, raw=raw)
    match, text = found
    return text.format(*map(shlex.quote, match.groups()), link=link, raw=raw, map=_map(link))


def _map(link: str) -> str:
    """The link to the multipath map of a disk that is named by its NAA name: multipath puts a 3 before it, which is the type of the designator."""
    return (
        link.replace("/by-id/wwn-0x", "/by-id/dm-uuid-mpath-3")
        if "/by-id/wwn-0x" in link
        else link
        if "/by-id/dm-uuid-mpath-" in link
        else "its /dev/disk/by-id/dm-uuid-mpath-… link"
    )


def ways_on(uses: Iterable[str], link: str) -> str:
    """How each is ended, one after the other, and what DEVICE means in it; of a disk that the node itself runs from only that it must stay."""
    uses = tuple(uses)
    system = next((match[1] for use in uses if (match := _SYSTEM.fullmatch(use))), None)
    if system:
        return f"The node runs from this disk ({system} is on it), so nothing on it may be ended: only another disk will do."
    ways = [way_on(use, link) for use in uses]
    text = " ".join(f"{way[0].upper()}{way[1:]}" for way in ways)
    return f"{text} {DEVICE.format(link=link)}" if "DEVICE" in text else text
