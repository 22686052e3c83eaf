"""The command of an operation as lines for `sh`, for a person's hands: its argv, or what its own hand would write.

An operation that writes attributes has no argv that a tool would take. Here stands what comes to the same in a shell: the disk is found by its
WWID and the bay by its enclosure's id in that very moment, never by a kernel name.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence

from agents.domain.wwid import scheme
from agents.operations.locate_led import ABSENT, ANY

Lines = tuple[str, ...]


def lines(operation: str, params: Mapping[str, str], argv: Sequence[str]) -> Lines:
    """The body of the function that carries it out; () where it is none that a person could give."""
    if make := _WRITTEN.get(operation):
        return make(params, argv)
    return (shlex.join(argv),)


def can_be_given(operation: str) -> bool:
    """Whether a person can carry it out; the agent alone does the others."""
    return _WRITTEN.get(operation) is not _none


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
    return _bay(params, "locate", "1" if params["light"] == "on" else "0")


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


def _none(params: Mapping[str, str], argv: Sequence[str]) -> Lines:
    return ()


_WRITTEN: Mapping[str, Callable[[Mapping[str, str], Sequence[str]], Lines]] = {
    "set_tunable": _tunable,
    "disk_delete": _delete,
    "disk_rescan": _rescan,
    "locate_led": _locate,
    "fault_led_off": _fault,
    "zfs_destroy_snapshot": _snapshot,
    "zdb_without": _none,  # it hides a disk from zdb in a mount namespace; the agent alone does that
}
