"""What a snippet reads on illumos: the same as on Linux, by `diskinfo`, /dev/rdsk, `fuser` and /proc. Read in illumos' source, tried nowhere on illumos.

    zone, hostid, boot id   zonename, hostid, the folders of processes 0 and 3     agents/collectors/_boot_of_illumos.py
    a disk                  its name leads to scsi_vhci and the unit's GUID        cmd/devfsadm/disk_link.c: disk_callback_fabric
                            diskinfo: it answers, with the serial number planned   cmd/diskinfo/diskinfo.c: enumerate_disks
    a blank disk            fuser: nobody has it open; COMSTAR does not export it  cmd/fuser/fuser.c: report
                            od: nothing but zeros at both of its ends              cmd/od/od.c: main

The name c0t5000C500A65B207Bd0 is what the command gives. Tools of X/Open come first: those in /usr/bin are older where both are there.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from agents.collectors._boot_of_illumos import YEAR_MIN
from agents.domain.listed_disks import ILLUMOS
from agents.domain.wwid import DSK, by_id_path, unit_of
from agents.zfs_releases import ON_ILLUMOS
from workflows.by_hand.disk import Disk
from workflows.by_hand.system import READ, WRITTEN, System

FOLDERS = "/usr/xpg4/bin"
_IDENTITY = [
    "hostid_here() { hostid 2>/dev/null; }",
    # The same digits as agents/collectors/_boot_of_illumos.py: boot_id_of.
    "boot_id_here() {",
    '  [ "$(uname -o 2>/dev/null) $(zonename 2>/dev/null)" = "illumos global" ] || return 0',
    "  ls -dE /proc/0 /proc/3 2>/dev/null | awk '",
    '    { for (i = 2; i + 2 < NF; i++) if (split($i, day, "-") == 3 && split($(i + 1), time, "[:.]") == 4 && $(i + 2) == "+0000") {',
    '        of[$NF] = day[1] day[2] day[3] "-" time[1] time[2] "-" time[3]; part[$NF] = time[4]; year[$NF] = day[1] } }',
    '    END { first = part["/proc/0"]; other = part["/proc/3"]',
    f'      if (length(first) == 9 && length(other) == 9 && first + 0 > 0 && other + 0 > 0 && year["/proc/0"] + 0 >= {YEAR_MIN})',
    '        print of["/proc/0"] substr(first, 1, 2) "-" substr(first, 3, 4) "-" substr(first, 7) other }\'',
    "}",
]
_DISK = [
    "leads_to() {",
    '  for link in "$rdsk/$1" "$rdsk/$1"[sp][0-9] "$rdsk/$1"[sp]1[0-9]; do',
    '    if [ -h "$link" ]; then ls -l "$link" 2>/dev/null | sed -n \'s|.* -> .*/devices\\(/.*\\):[a-z,]*$|\\1|p\'; fi',
    "  done | sort -u",
    "}",
    "row_of() {",
    '  diskinfo -Hcp 2>/dev/null | awk -F\'\\t\' \'($2 "") == ("\'"$1"\'" "") { print $5 " " $6 }\'',
    "}",
    "users_of() {",
    '  all=$(fuser -d "$rdsk/${1}p0" 2>&1) || { printf \'%s\\n\' "fuser does not answer"; return; }',
    '  case $all in "$rdsk/${1}p0:"*) ;; *) printf \'%s\\n\' "fuser does not answer"; return ;; esac',
    '  all=${all#"$rdsk/${1}p0:"}',
    "  if [ -n \"$(printf '%s' \"$all\" | tr -d ' \\n')\" ]; then printf '%s\\n' \"$all\"; return; fi",
    "  if command -v stmfadm >/dev/null 2>&1; then",
    "    units=$(stmfadm list-lu -v 2>&1) || { printf '%s\\n' \"stmfadm does not answer\"; return; }",
    "    case $units in *\"/$1\"*) printf '%s\\n' COMSTAR; return ;; esac",
    "  fi",
    "  printf '%s\\n' nobody",
    "}",
    'zeros() { awk \'{ for (i = 2; i <= NF; i++) if ($i != "00") bad = 1; last = $1 } END { print (bad ? "data" : "zeros to " last + 0) }\'; }',
    "ends_of() {",
    '  front=$(awk "BEGIN { n = int($2 / 1048576) - 4; print (n < 0 ? 0 : n) }")',
    '  dd if="$rdsk/${1}p0" bs=1048576 count=4 2>/dev/null | od -A d -t x1 | zeros',
    '  dd if="$rdsk/${1}p0" bs=1048576 iseek="$front" 2>/dev/null | od -A d -t x1 | zeros',
    "}",
    "disk() {",
    "  name=${1#/dev/dsk/}; name=${name%s[0-9]}",
    '  same "device of $name" "$(leads_to "$name")" "/scsi_vhci/disk@g$2"',
    '  found=$(row_of "$name")',
    '  if [ -z "$found" ]; then differs "disk $1: diskinfo does not list it"; return; fi',
    "  bytes=${found##* }",
    '  note "disk $1: serial number ${found% *}, $bytes bytes"',
    '  if [ "$3" = any ]; then return; fi',
    '  if [ "$3" = none ]; then',
    '    same "users of $name" "$(users_of "$name")" nobody',
    '    tail=$(awk "BEGIN { n = int($bytes / 1048576) - 4; if (n < 0) n = 0; printf \\"%.0f\\", $bytes - n * 1048576 }")',
    '    same "ends of $name" "$(ends_of "$name" "$bytes" | tr \'\\n\' \' \')" "zeros to 4194304 zeros to $tail "',
    "    return",
    "  fi",
    '  whole=$(zdb -l "$rdsk/${1#/dev/dsk/}" 2>&1) part=',
    '  label "$1" "$3" "$4"',
    "}",
]
DIGEST = 'digest=$(digest -a sha256 "$mark/output" 2>/dev/null)'


def line(disk: Disk, pool_guid: str, argv: Sequence[str]) -> str:
    """The call that compares one disk: name, GUID of the unit, label, pool, and whether the command names it."""
    words = (disk.path, unit_of(disk.wwid), disk.label, pool_guid, WRITTEN if str(by_id_path(disk.wwid)) in argv else READ)
    return f"  disk {' '.join(map(shlex.quote, words))}"


_NAMED = re.compile(rf"{DSK}c[0-9]{{1,4}}t(?:[0-9A-F]{{16}}|[0-9A-F]{{32}})d0(?:s[0-9])?")
SYSTEM = System(ILLUMOS, ON_ILLUMOS, _NAMED, _IDENTITY, _DISK, DIGEST, line, FOLDERS)
