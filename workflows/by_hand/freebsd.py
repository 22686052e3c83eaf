"""What a snippet reads on FreeBSD: the same as on Linux, by GEOM and `sysctl`. Read in FreeBSD's source, tried nowhere on FreeBSD.

    hostid, boot id         sysctl kern.hostid, kern.boot_id                       sys/kern/kern_mib.c: sysctl_hostid, sysctl_bootid
    a disk                  geom disk list: serial number and unit name            sys/geom/geom_disk.c: g_disk_dumpconf
    what a name leads to    sysctl kern.geom.conftxt: the name lies on its disk    sys/geom/geom_dump.c: g_conftxt_geom; sys/geom/label/g_label.c

A kernel name (da3) is found from the serial number in that moment and serves only to ask. The command itself names a disk by /dev/diskid alone.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from agents.domain.listed_disks import FREEBSD
from agents.domain.wwid import DISKID, by_id_path, parts_of_geom
from agents.zfs_releases import ZPOOL_ALONE
from workflows.by_hand.disk import Disk
from workflows.by_hand.system import READ, WRITTEN, System

IDENTITY = [
    "hostid_here() { printf '%08x\\n' \"$(sysctl -n kern.hostid 2>/dev/null)\" 2>/dev/null; }",
    "boot_id_here() {",
    "  sysctl -nx kern.boot_id 2>/dev/null | sed -n 's/^Format:[^ ]* Length:16 Dump:0x"
    + "".join(rf"\([0-9a-f]\{{{digits}\}}\)" for digits in (8, 4, 4, 4, 12))
    + r"$/\1-\2-\3-\4-\5/p'",
    "}",
]
# Serial numbers are compared as text: awk takes two for one number where they look like numbers.
DISK = [
    "named_by() {",
    '  geom disk list 2>/dev/null | awk -v unit="$1" -v ident="$2" \'',
    '    function shown() { if (name != "" && (id "") == (ident "") && (unit == "" || (lun "") == (unit ""))) print name " " mode }',
    '    /^Geom name:/ { shown(); name = "" }',
    '    $1 == "1." && $2 == "Name:" { name = $3; mode = "unknown"; lun = ""; id = "" }',
    '    $1 == "Mode:" { mode = $2 }',
    '    $1 == "lunid:" && NF == 2 { lun = tolower($2) }',
    '    $1 == "ident:" && NF == 2 { id = $2 }',
    "    END { shown() }'",
    "}",
    "name_of() {",
    '  sysctl -n kern.geom.conftxt 2>/dev/null | awk -v name="$1" \'',
    '    $1 == 0 { disk = $2 == "DISK" ? $3 : "" }',
    '    $1 == 1 && $2 == "LABEL" && ($3 "") == (name "") { print disk }\'',
    "}",
    "made_of() {",
    '  sysctl -n kern.geom.conftxt 2>/dev/null | awk -v disk="$1" \'',
    '    $1 == 0 { here = $2 == "DISK" && ($3 "") == (disk ""); if (here) print "the disk" }',
    '    here && $1 > 0 && $2 != "LABEL" { print $2 " " $3 }\'',
    "}",
    "disk() {",
    '  found=$(named_by "$2" "$3")',
    '  if [ "$(printf \'%s\\n\' "$found" | grep -c .)" != 1 ]; then',
    '    differs "disk $1: GEOM lists not one disk with serial number $3${2:+ and unit name $2}, but: $found"; return',
    "  fi",
    "  name=${found%% *} mode=${found##* }",
    '  note "disk $1: $name, serial number $3${2:+, unit name $2}, as planned"',
    '  if [ "$7" = written ]; then',
    '    there=; [ -e "$1" ] && there=yes',
    '    if [ -z "$there" ]; then differs "disk $1: not there"; return; fi',
    '    same "disk that ${1#/dev/} is a name of" "$(name_of "${1#/dev/}")" "$name"',
    "  fi",
    '  if [ "$5" = any ]; then return; fi',
    '  if [ "$5" = none ]; then',
    '    same "openers of $name" "$mode" r0w0e0',
    '    same "made of $name" "$(made_of "$name")" "the disk"',
    "  fi",
    '  whole=$(zdb -l "/dev/$name$4" 2>&1) part=',
    '  label "$1" "$5" "$6"',
    "}",
]
DIGEST = 'digest=$(sha256 -q <"$mark/output" 2>/dev/null)'


def line(disk: Disk, pool_guid: str, argv: Sequence[str]) -> str:
    """The call that compares one disk: name, unit name, serial number, partition, label, pool, and whether the command names it."""
    whole = str(by_id_path(disk.wwid))
    unit, ident = parts_of_geom(disk.wwid) or ("", "")
    words = (disk.path, unit, ident, disk.path[len(whole) :], disk.label)
    return f"  disk {' '.join(shlex.quote(word) for word in words)} {pool_guid} {WRITTEN if disk.path in argv else READ}"


# zpool alone: what else a person would give differs there, and so do imports, which look in /dev/disk/by-id.
SYSTEM = System(FREEBSD, ZPOOL_ALONE, re.compile(rf"{DISKID}\S{{1,80}}"), IDENTITY, DISK, DIGEST, line)
