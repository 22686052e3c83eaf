"""The command of an operation as lines for `sh`, for a person's hands: its argv, or what its own hand would write.

An operation that writes attributes has no argv that a tool would take. Here stands what comes to the same in a shell: the disk is found by its
WWID and the bay by its enclosure's id in that very moment, never by a kernel name.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence

from agents.collectors.boot_tool import UUIDS
from agents.collectors.enclosure import PORTS, light_of
from agents.collectors.light_tools import HBA, LEDCTL, PROGRAMS
from agents.domain.wwid import by_id_path, scheme
from agents.operations import partition_copy, proxmox_boot_init
from agents.operations._partitions import NO_TABLE
from agents.operations.locate_led import ABSENT, ANY
from agents.operations.zpool_import_fenced import FENCE_SECONDS_MAX, STILL_SECONDS
from workflows.by_hand.systems import SYSTEMS

Lines = tuple[str, ...]


def lines(operation: str, params: Mapping[str, str], argv: Sequence[str]) -> Lines:
    """The body of the function that carries it out; () where it is none that a person could give."""
    if make := _WRITTEN.get(operation):
        return make(params, argv)
    return (shlex.join(argv),)


def can_be_given(operation: str, system: str = "") -> bool:
    """Whether a person can carry it out, on `system` ("" is Linux); the agent alone does the others, or nobody does them from here."""
    return _WRITTEN.get(operation) is not _none and (not system or (system in SYSTEMS and operation in SYSTEMS[system].given))


def in_words(operation: str, argv: Sequence[str]) -> str:
    """What is about to be run, for a person to read."""
    return shlex.join(argv) if operation not in _WRITTEN else " ".join(argv)


def _tunable(params: Mapping[str, str], argv: Sequence[str]) -> Lines:
    if argv[0] != "write":
        return (shlex.join(argv),)
    path, value = map(shlex.quote, argv[1:])
    return (f"printf '%s\\n' {value} >{path} || return 1", f"cat {path}")


def as_the_kernel_writes(wwid: str) -> str:
    """naa.5000c500a65b207b, eui.…; of a SATA disk without a WWN what the snippet makes of the kernel's name, ata-MODEL_SERIAL."""
    return f"ata-{wwid[len('ata:') :].replace(':', '_')}" if scheme(wwid) == "ata" else wwid.replace(":", ".", 1)


def _delete(params: Mapping[str, str], argv: Sequence[str]) -> Lines:
    if scheme(params["wwid"]) == "ata":
        return ()  # the kernel pads that name with blanks, and a comparison in one line could match another disk
    return (
        "found=0",
        "for device in /sys/class/block/*; do",
        f'  case "$(cat "$device/device/wwid" 2>/dev/null)" in {_wwid(params)})',
        '    printf 1 >"$device/device/delete" || return 1; found=1; printf \'%s\\n\' "deleted ${device##*/}" ;;',
        "  esac",
        "done",
        '[ "$found" = 1 ]',
    )


def _rescan(params: Mapping[str, str], argv: Sequence[str]) -> Lines:
    return (
        "found=0",
        "for scan in /sys/class/scsi_host/host*/scan; do",
        "  printf '%s\\n' '- - -' >\"$scan\" || return 1",
        "  found=1; printf '%s\\n' \"scanned ${scan%/scan}\"",
        "done",
        '[ "$found" = 1 ]',
    )


def _locate(params: Mapping[str, str], argv: Sequence[str]) -> Lines:
    if params["enclosure"] in PROGRAMS:
        return _by_tool(params, argv[1:])
    if params["enclosure"] == PORTS:
        return _at_a_port(params, "1" if params["light"] == "on" else "0")
    return _bay(params, "locate", "1" if params["light"] == "on" else "0")


def _at_a_port(params: Mapping[str, str], value: str) -> Lines:
    """The kernel carries the write out a moment later. Lit only where the disk that is meant, and no other, is directly below the port."""
    wanted = "''" if params["wwid"] == ABSENT else _wwid(params)
    below = (
        "below=$(for disk in /sys/block/nvme*; do",
        '  port=$(readlink -f "$disk/device"); port=${port%/nvme/*}; port=${port%/*}',
        f'  if [ "${{port##*/}}" = {params["slot"]} ]; then cat "$disk/wwid"; fi',
        "done)",
        f'[ "$below" = {wanted} ] || {{ printf \'%s\\n\' "below the port is: $below"; return 1; }}',
    )
    light = f"{light_of(params['slot'])}/brightness"
    return (
        *(() if params["wwid"] == ANY else below),
        f"printf {value} >{light} || return 1",
        f'[ "$(cat {light})" = {value} ] || sleep 2',
        f'printf "%s\\n" "{light} reads $(cat {light})"',
        f'[ "$(cat {light})" = {value} ]',
    )


def _by_tool(params: Mapping[str, str], words: Sequence[str]) -> Lines:
    """Lit only where ledctl or the HBA has the disk that is meant there. storcli prints another name of a disk than the kernel, so what it has there is shown alone."""
    tool, place = params["enclosure"], params["slot"]
    meant = params["wwid"] not in (ABSENT, ANY)
    shows: Lines = (f'"$tool" {place} show all nolog || return 1',) if meant else ()
    if tool in HBA and meant:
        shows = _on_the_hba(params)
    slot = _slot_of_ledctl(place) if tool == LEDCTL else ""
    if tool == LEDCTL and meant:
        shows = (
            f"there=$({slot} | sed -n 's/.* device: *//p'); there=${{there%% *}}",
            f'[ "$(cat "/sys/block/${{there##*/}}/wwid")" = {_wwid(params)} ] || {{ printf \'%s\\n\' "there is: $there"; return 1; }}',
        )
    state = "LOCATE" if params["light"] == "on" else "NORMAL"
    return (
        "found=",
        f"for tool in {' '.join(PROGRAMS[tool])}; do",
        '  if command -v "$tool" >/dev/null 2>&1; then found=$tool; break; fi',
        "done",
        f"[ \"$found\" ] || {{ printf '%s\\n' '{tool} is not installed'; return 1; }}",
        *shows,
        f'"$tool" {shlex.join(words)} || return 1',
        *((slot, f"{slot} | grep -q 'led state: {state} '") if slot else ()),
    )


def _slot_of_ledctl(place: str) -> str:
    controller, _, slot = place.partition("/")
    return f'"$tool" --get-slot --controller-type={controller} --slot={shlex.quote(slot)}'


def _on_the_hba(params: Mapping[str, str]) -> Lines:
    """Its DISPLAY gives each drive with enclosure, slot and, as GUID, the name of the logical unit."""
    controller, _, there = params["slot"].partition("/")
    enclosure, _, slot = there.partition(":")
    return (
        f'there=$("$tool" {controller} display | awk -F: \'/^Device is a/ {{ e = s = "" }} $1 ~ /Enclosure #/ {{ e = $2 + 0 }} $1 ~ /Slot #/ {{ s = $2 + 0 }}',
        f'  $1 ~ /GUID/ && e == {enclosure} && s == {slot} {{ gsub(/ /, "", $2); print $2 }}\')',
        f'[ "$there" = {shlex.quote(params["wwid"].partition(":")[2])} ] || {{ printf \'%s\\n\' "there is: $there"; return 1; }}',
    )


def _fault(params: Mapping[str, str], argv: Sequence[str]) -> Lines:
    return _bay(params, "fault", "0")


def _bay(params: Mapping[str, str], attribute: str, value: str) -> Lines:
    """Over every path to the enclosure, and only where the bay holds what is meant."""
    if scheme(params["wwid"]) == "ata":
        return ()  # as with `_delete`
    return (
        "found=0",
        "for slot in /sys/class/enclosure/*/*/slot; do",
        "  bay=${slot%/slot}",
        f'  [ "$(cat "${{bay%/*}}/id" 2>/dev/null)" = {shlex.quote(params["enclosure"])} ] || continue',
        f'  [ "$(cat "$slot" 2>/dev/null)" = {shlex.quote(params["slot"])} ] || continue',
        *_holds(params),
        f'  printf {value} >"$bay/{attribute}" || return 1',
        f'  printf \'%s\\n\' "$bay/{attribute} reads $(cat "$bay/{attribute}")"',
        f'  [ "$(cat "$bay/{attribute}")" = {value} ] || return 1',
        "  found=1",
        "done",
        '[ "$found" = 1 ]',
    )


def _holds(params: Mapping[str, str]) -> Lines:
    if params["wwid"] == ANY:
        return ()
    if params["wwid"] == ABSENT:
        return ('  if [ -e "$bay/device" ]; then printf \'%s\\n\' "$bay holds a disk"; return 1; fi',)
    other = "printf '%s\\n' \"$bay holds another disk\"; return 1"
    return (f'  case "$(cat "$bay/device/wwid" 2>/dev/null)" in {_wwid(params)}) ;; *) {other} ;; esac',)


def _wwid(params: Mapping[str, str]) -> str:
    return shlex.quote(as_the_kernel_writes(params["wwid"]))


def _snapshot(params: Mapping[str, str], argv: Sequence[str]) -> Lines:
    """ZFS asks by name alone: guid, txg and holds are read on the spot. Clones are refused by ZFS itself, which is given no -R."""
    name = shlex.quote(params["snapshot"])
    wanted = shlex.quote(f"{params['snapshot_guid']} {params['createtxg']} 0 ")
    return (
        f"found=$(zfs get -H -p -o value guid,createtxg,userrefs {name} | tr '\\n' ' ') || return 1",
        f'[ "$found" = {wanted} ] || {{ printf \'%s\\n\' "guid, txg and holds are $found and should be "{wanted}; return 1; }}',
        shlex.join(argv),
    )


def _fenced(params: Mapping[str, str], argv: Sequence[str]) -> Lines:
    """What the node proves before the same order, anew: whom the labels name, and that no ring moves for a minute. zdb reads what is on the disks."""
    name, number = shlex.quote(params["host"]), int(params["hostid"], 16)
    members = (re.search(r" on ([0-9]{1,5}) members", params["rings"]) or ["", "0"])[1]
    old = f"what shows that {params['host']} has no power is {FENCE_SECONDS_MAX} s old or older: have it shown again"
    return (
        f"[ \"$(date +%s)\" -lt {int(params['fenced_at']) + FENCE_SECONDS_MAX} ] || {{ printf '%s\\n' {shlex.quote(old)}; return 1; }}",
        "rings() {",
        '  for device in "$block"/*; do',
        '    text=$(zdb -lu "/dev/${device##*/}" 2>/dev/null)',
        f"    printf '%s\\n' \"$text\" | grep -q '^    pool_guid: {params['pool_guid']}$' || continue",
        "    hosts=$(printf '%s\\n' \"$text\" | sed -n \"s/^    hostname: '\\(.*\\)'$/\\1/p\" | sort -u)",
        "    ids=$(printf '%s\\n' \"$text\" | sed -n 's/^    hostid: \\([0-9]*\\)$/\\1/p' | sort -u)",
        '    case "$text" in *"failed to invalidate cache"*) printf \'%s\\n\' "${device##*/} may show the past" ;; esac',
        f'    if [ "$hosts" = {name} ] && [ "$ids" = {number} ]; then :; else printf \'%s\\n\' "${{device##*/}} names $hosts ($ids)"; fi',
        "    printf '%s %s\\n' \"$(printf '%s\\n' \"$text\" | sed -n 's/^    guid: //p' | sort -u)\" \"$(printf '%s\\n' \"$text\" | cksum)\"",
        "  done | sort -u",
        "}",
        "first=$(rings)",
        "printf '%s\\n' \"$first\"",
        'case "$first" in *" may show the past"*) printf \'%s\\n\' "zdb reads what the kernel remembers, not the disk"; return 1 ;; esac',
        'case "$first" in *" names "*) printf \'%s\\n\' "a label names another host"; return 1 ;; esac',
        f'[ "$(printf \'%s\\n\' "$first" | grep -c .)" -eq {members} ] || {{ printf \'%s\\n\' "not {members} members can be read"; return 1; }}',
        f"sleep {STILL_SECONDS}",
        '[ "$(rings)" = "$first" ] || { printf \'%s\\n\' "some host writes to the pool: import it nowhere"; return 1; }',
        f"[ \"$(date +%s)\" -lt {int(params['fenced_at']) + FENCE_SECONDS_MAX} ] || {{ printf '%s\\n' {shlex.quote(old)}; return 1; }}",
        shlex.join(argv),
    )


def _copy(params: Mapping[str, str], argv: Sequence[str]) -> Lines:
    """Only onto a disk that has no table at this moment; both are compared afterwards, as the agent does."""
    source, new = (shlex.quote(str(by_id_path(params[name]))) for name in ("from_wwid", "wwid"))
    return (
        "layout() { sfdisk -d \"$1\" | sed -n 's/^[^:]* : start=/start=/p' | sed 's/, uuid=[^,]*//'; }",
        "ids() { sfdisk -d \"$1\" | sed -n -e 's/^label-id: //p' -e 's/.*, uuid=\\([^,]*\\).*/\\1/p'; }",
        f"found=$(sfdisk --json {new} 2>&1)",
        'case "$found" in',
        f"  *{shlex.quote(NO_TABLE)}) ;;",
        "  *) printf '%s\\n' \"the new disk has a partition table, or it cannot be read: $found\"; return 1 ;;",
        "esac",
        *(f"{shlex.join(command)} || return 1" for command in partition_copy.commands(params)),
        f"layout=$(layout {source})",
        f'[ -n "$layout" ] && [ "$(layout {new})" = "$layout" ] || {{ printf \'%s\\n\' "the copy differs"; return 1; }}',
        f'for id in $(ids {source}); do case "$(ids {new})" in *"$id"*) printf \'%s\\n\' "the copy has the id $id"; return 1 ;; esac; done',
    )


def _boot(params: Mapping[str, str], argv: Sequence[str]) -> Lines:
    """The EFI partition of the serving disk must be on the tool's list, and the new one is on it afterwards."""
    source, new = (shlex.quote(f"{by_id_path(params[name])}-part{params['esp']}") for name in ("from_wwid", "wwid"))
    listed = '"$(blkid -p -s UUID -o value %s)"'
    return (
        f'listed() {{ [ -n "$1" ] && grep -Fqx -- "$1" {UUIDS}; }}',
        f"listed {listed % source} || {{ printf '%s\\n' \"proxmox-boot-tool does not boot from the disk beside it\"; return 1; }}",
        *(f"{shlex.join(command)} || return 1" for command in proxmox_boot_init.commands(params)),
        f"listed {listed % new}",
    )


def _none(params: Mapping[str, str], argv: Sequence[str]) -> Lines:
    return ()


_WRITTEN: Mapping[str, Callable[[Mapping[str, str], Sequence[str]], Lines]] = {
    "set_tunable": _tunable,
    "disk_delete": _delete,
    "disk_rescan": _rescan,
    "locate_led": _locate,
    "fault_led_off": _fault,
    "zfs_destroy_snapshot": _snapshot,
    "zpool_import_fenced": _fenced,
    "partition_copy": _copy,
    "proxmox_boot_init": _boot,
    "disk_wipe": _none,  # no tool opens the disk for itself alone and compares whose label it has through that very descriptor
    "disk_wipe_destroyed": _none,  # the same
    "zdb_without": _none,  # it hides a disk from zdb in a mount namespace; the agent alone does that
}
