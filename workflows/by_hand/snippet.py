"""One snippet for `sh`, made for one plan and one showing: it reads again what the plan rests on, and then runs its command, or says what differs.

    begun before            ->  says so, runs nothing        (exit 4)
    something differs       ->  says what, runs nothing      (exit 3)
    cannot be recorded      ->  says why, runs nothing       (exit 5)
    ran                     ->  says with which exit code    (exit 0, or 1 where the command failed)

It is pasted into a root shell on the node. A shell of its own reads it, with an environment of its own, and only when the last line has
arrived: a paste that was cut runs nothing. It is POSIX, so dash, bash, busybox and ksh give the same. That it runs once is kept by a folder
made with `mkdir`, which is made or is not; what it did is recorded there, where the agent reads it.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agents.collectors.by_hand import FOLDER, WITHOUT_RUN
from agents.domain.listed_disks import ILLUMOS
from agents.domain.multipath_maps import LINK
from agents.host.host import PATH
from workflows.by_hand import commands
from workflows.by_hand.disk import ANY, NONE, Disk
from workflows.by_hand.grounds import Grounds
from workflows.by_hand.systems import SYSTEMS
from workflows.engine.plans import argv_problems

NONCE = re.compile("[0-9a-f]{32}")
_BY_ID = re.compile(r"/dev/disk/by-id/.{1,250}")
LINE_CHARS_MAX = 4000  # a terminal takes 4095 in a line
SECONDS, CLOCK_SECONDS = 900, 120  # how long after its showing it runs, and how far the node's clock may be behind the portal's
DIFFERS, BEGUN_BEFORE, NOT_RECORDED = 3, 4, 5


class CannotMake(Exception):
    """There is no snippet for this plan. The message says why, and what to do."""


@dataclass(frozen=True)
class Paths:
    """Where on the node things are; tests have a node in a folder."""

    path: str = ":".join(PATH)
    shell: str = "sh"
    marks: str = FOLDER
    boot_id: str = "/proc/sys/kernel/random/boot_id"
    hostid: str = "/etc/hostid"
    block: str = "/sys/class/block"
    marks_without_run: str = WITHOUT_RUN
    rdsk: str = "/dev/rdsk"


def make(plan: Mapping[str, Any], nonce: str, until: int, paths: Paths = Paths()) -> str:  # noqa: B008
    """The snippet of a plan to be carried out by hand, which runs nothing after `until` (Unix seconds, by the node's clock). Raises CannotMake."""
    grounds = Grounds.from_plan(plan)
    if grounds is None:
        raise CannotMake("This plan is not one to be carried out by hand. Ask the node for a new plan.")
    if NONCE.fullmatch(nonce) is None:
        raise CannotMake("The nonce of this showing is none. Report this as a fault of the portal.")
    _refuse_odd(plan, grounds)
    body = commands.lines(plan["operation"], plan["params"], plan["argv"])
    if not body:
        raise CannotMake(f"{plan['operation']} is no command that a person could give; the agent alone does it.")
    lines = (
        *_head(nonce, until, paths, grounds.system),
        *_means(grounds.system),
        *_of_maps(grounds),
        *_checks(plan, grounds),
        *_command(body),
        *_main(plan, grounds),
        "main",
        f"END_{nonce}",
    )
    if long := next((line for line in lines if len(line) > LINE_CHARS_MAX), ""):
        raise CannotMake(f"A line of the snippet would be longer than a terminal takes: {long[:80]}…")
    return "".join(f"{line}\n" for line in lines)


def _refuse_odd(plan: Mapping[str, Any], grounds: Grounds) -> None:
    """Nothing but printable ASCII is ever put into it: a control character could do on a terminal what is not visible."""
    for problem in argv_problems(plan["argv"]):
        raise CannotMake(problem)
    if grounds.system and (why := SYSTEMS[grounds.system].why_not(plan["operation"], plan["argv"])):
        raise CannotMake(why)
    texts = [
        *plan["argv"],
        *plan["params"].values(),
        grounds.hostid,
        grounds.boot_id,
        *(word for member in grounds.members for word in member),
    ]
    texts += [word for disk in grounds.disks for word in (disk.path, disk.wwid, disk.label)]
    for text in texts:
        if not (text.isascii() and text.isprintable()) or "!" in text:
            raise CannotMake(
                f"{text!r} holds a character that a terminal or its shell may take for something else. It is not shown as a command."
            )
    for disk in grounds.disks:
        if not (SYSTEMS[grounds.system].disks if grounds.system else _BY_ID).fullmatch(disk.path):
            raise CannotMake(f"{disk.path} may be another disk by now. Report this as a fault of the portal.")


def _head(nonce: str, until: int, paths: Paths, system: str) -> Iterator[str]:
    first = f"{SYSTEMS[system].folders}:" if system and SYSTEMS[system].folders else ""
    yield f"env -i PATH={shlex.quote(first + paths.path)} LC_ALL=C TZ=UTC HOME=/ {paths.shell} <<'END_{nonce}'"
    yield f"nonce={nonce}"
    yield f"since={int(until) - SECONDS - CLOCK_SECONDS}"
    yield f"until={int(until)}"
    yield f"marks={shlex.quote(paths.marks_without_run if system else paths.marks)}"
    yield 'mark="$marks/$nonce"'
    if system == ILLUMOS:
        yield f"rdsk={shlex.quote(paths.rdsk)}"
    if system:
        return
    yield f"boot_id_file={shlex.quote(paths.boot_id)}"
    yield f"hostid_file={shlex.quote(paths.hostid)}"
    yield f"block={shlex.quote(paths.block)}"


# Guids are compared as text: a tool that takes them for numbers calls two of them equal that are not.
_NOTES = [
    "bad=0",
    "note() { printf 'slotlight: %s\\n' \"$*\"; }",
    'differs() { note "DIFFERS: $*"; bad=1; }',
    "same() {",
    '  if [ "$2" = "$3" ]; then note "$1: $2, as planned"; else differs "$1: \'$2\', planned as \'$3\'"; fi',
    "}",
]
_HOSTID = [
    "hostid_here() { hostid 2>/dev/null || od -An -tx4 -N4 \"$hostid_file\" 2>/dev/null | tr -d ' '; }",
]
_POOL = [
    "state_of() {",
    '  zpool status -g "$1" 2>/dev/null | while read -r name state rest; do',
    '    if [ "$name" = "$2" ]; then printf \'%s\\n\' "$state"; break; fi',
    "  done",
    "}",
    "member() {",
    '  state=$(state_of "$1" "$2")',
    '  if [ -z "$state" ]; then differs "member $2: not in the tree of $1"',
    '  elif [ "$3" = any ]; then note "member $2: $state, in the tree of $1"',
    '  else same "member $2" "$state" "$3"',
    "  fi",
    "}",
    "not_imported() {",
    "  if guids=$(zpool list -H -o guid 2>/dev/null); then",
    '    for guid in $guids; do if [ "$guid" = "$1" ]; then differs "pool $1: imported here, planned as not imported"; return; fi; done',
    '    note "pool $1: not imported here, as planned"',
    "  else",
    '    differs "pools: zpool list does not answer"',
    "  fi",
    "}",
]
_DISK = [
    # A SATA disk without a WWN: the kernel pads model and serial number with blanks, udev's link has one underscore for each gap.
    "as_udev='/^t10\\.ATA /{s/^t10\\.ATA *//;s/ *$//;s/  */_/g;s/[^A-Za-z0-9#+.=@_-]/_/g;s/^/ata-/;}'",
    "wwid_of() {",
    '  for file in "$block/$1/device/wwid" "$block/$1/wwid" "$block/$1/dm/uuid"; do',
    '    if [ -r "$file" ]; then sed "$as_udev" "$file"; return; fi',
    "  done",
    '  lsblk -dno WWN "/dev/$1" 2>/dev/null',
    "}",
    "disk() {",
    '  device=$(readlink -f "$1" 2>/dev/null)',
    '  if [ -e "$1" ] && [ -n "$device" ]; then note "disk $1: ${device##*/}"; else differs "disk $1: not there"; return; fi',
    '  case "$(wwid_of "${device##*/}")" in',
    '    "$2"|"0x${2#naa.}"|"mpath-3${2#naa.}") note "disk $1: WWID $2, as planned" ;;',
    '    *) differs "disk $1: WWID \'$(wwid_of "${device##*/}")\', planned as $2"; return ;;',
    "  esac",
    '  if [ "$3" = any ]; then return; fi',
    '  whole=$(zdb -l "$1" 2>&1)',
    "  part=",
    '  if [ -e "$1-part1" ]; then part=$(zdb -l "$1-part1" 2>&1); fi',
    '  label "$1" "$3" "$4"',
    "}",
]
_LABEL = [
    "label() {",
    '  case "$whole$part" in',
    "    *'failed to invalidate cache'*) differs \"disk $1: zdb shows its labels from memory, and not the disk\"; return ;;",
    "  esac",
    "  guids=$(printf '%s\\n' \"$whole\" \"$part\" | sed -n 's/^    guid: \\([0-9]*\\)$/\\1/p' | sort -u)",
    "  pools=$(printf '%s\\n' \"$whole\" \"$part\" | sed -n 's/^    pool_guid: \\([0-9]*\\)$/\\1/p' | sort -u)",
    '  if [ "$2" = none ]; then',
    "    case \"$guids$pools\" in '') ;; *) differs \"disk $1: label of pool '$pools' guid '$guids', planned as none\"; return ;; esac",
    '    case "$whole$part" in',
    "      *'failed to read label'*) differs \"disk $1: its labels cannot be read\"; return ;;",
    "    esac",
    '    for text in "$whole" ${part:+"$part"}; do',
    '      case "$text" in',
    "        *'failed to unpack label'*) ;;",
    '        *) differs "disk $1: zdb does not say that it carries no label"; return ;;',
    "      esac",
    "    done",
    '    note "disk $1: no label, as planned"',
    "    return",
    "  fi",
    '  same "label guid on $1" "$guids" "$2"',
    '  same "label pool guid on $1" "$pools" "$3"',
    "}",
]


_MAP = [  # its UUID is compared by `disk`; here what it leads to
    "paths_of() {",
    '  device=$(readlink -f "$1" 2>/dev/null); device=${device##*/}; slaves=0',
    '  for slave in "$block/$device/slaves"/*; do',
    '    [ -e "$slave" ] || continue',
    "    slave=${slave##*/}; slaves=$((slaves + 1))",
    '    if [ "$(wwid_of "$slave")" = "$2" ]; then note "path $slave of $device: WWID $2, as planned"',
    '    else differs "path $slave of $device: WWID \'$(wwid_of "$slave")\', planned as $2"; fi',
    '    for holder in "$block/$slave/holders"/*; do',
    '      if [ -e "$holder" ] && [ "${holder##*/}" != "$device" ]; then differs "path $slave: held by ${holder##*/} too"; fi',
    "    done",
    "  done",
    '  if [ "$slaves" = 0 ]; then differs "map $device: no path of it is there"; fi',
    '  for holder in "$block/$device/holders"/*; do',
    '    if [ -e "$holder" ]; then differs "map $device: held by ${holder##*/}"; fi',
    "  done",
    "}",
]


def _means(system: str) -> list[str]:
    """The functions that read and compare, as the system of the plan has them."""
    if system:
        return [*_NOTES, *SYSTEMS[system].identity, *_POOL, *SYSTEMS[system].disk, *_LABEL]
    return [*_NOTES, *_HOSTID, *_POOL, *_DISK, *_LABEL]


def _is_map(disk: Disk) -> bool:
    return disk.path.startswith(LINK)


def _of_maps(grounds: Grounds) -> list[str]:
    return _MAP if any(map(_is_map, grounds.disks)) else []


def _checks(plan: Mapping[str, Any], grounds: Grounds) -> Iterator[str]:
    params = plan["params"]
    pool, guid = shlex.quote(params["pool"]), shlex.quote(params["pool_guid"])
    yield "checks() {"
    if grounds.system:
        yield f"  note {shlex.quote(f'made from the source of {grounds.system}, and tried nowhere on it')}"
    yield '  same user "$(id -u)" 0'
    yield f'  same hostid "$(hostid_here)" {shlex.quote(grounds.hostid)}'
    boot_id = "boot_id_here" if grounds.system else 'cat "$boot_id_file" 2>/dev/null'
    yield f'  same "boot id" "$({boot_id})" {shlex.quote(grounds.boot_id)}'
    yield "  now=$(date +%s)"
    yield '  if [ "$now" -le "$until" ] 2>/dev/null; then :; else differs "time: this snippet has run out, or the clock does not answer"; fi'
    # One whose clock is behind would run it long after it was settled that nothing ran.
    yield '  if [ "$now" -ge "$since" ] 2>/dev/null; then :; else differs "time: the clock of this node is behind that of the portal; set it first"; fi'
    if grounds.imported:
        yield f'  same "pool guid of "{pool} "$(zpool get -Hpo value guid {pool} 2>/dev/null)" {guid}'
    else:
        yield f"  not_imported {guid}"
    for member, state in grounds.members:
        yield f"  member {pool} {shlex.quote(member)} {shlex.quote(state)}"
    if grounds.system:
        yield from (SYSTEMS[grounds.system].line(disk, guid, plan["argv"]) for disk in grounds.disks)
        yield "}"
        return
    yield from (_disk(disk, guid) for disk in grounds.disks)
    for disk in filter(_is_map, grounds.disks):
        yield f"  paths_of {shlex.quote(disk.path)} {shlex.quote(commands.as_the_kernel_writes(disk.wwid))}"
    yield "}"


def _disk(disk: Disk, pool_guid: str) -> str:
    label = disk.label if disk.label in (ANY, NONE) else shlex.quote(disk.label)
    return f"  disk {shlex.quote(disk.path)} {shlex.quote(commands.as_the_kernel_writes(disk.wwid))} {label} {pool_guid}"


def _command(body: commands.Lines) -> Iterator[str]:
    yield "command_of_the_plan() {"
    yield from (f"  {line}" for line in body)
    yield "}"


def _main(plan: Mapping[str, Any], grounds: Grounds) -> tuple[str, ...]:
    digest = SYSTEMS[grounds.system].digest if grounds.system else 'digest=$(sha256sum <"$mark/output" 2>/dev/null)'
    text = shlex.quote(commands.in_words(plan["operation"], plan["argv"]))
    who = f"{shlex.quote(grounds.hostid)} {shlex.quote(grounds.boot_id)}"
    return tuple(
        f"""\
main() {{
  note "nonce $nonce"
  if [ -e "$mark" ]; then note "This was begun before: $mark is there. Nothing was run."; return {BEGUN_BEFORE}; fi
  checks
  if [ "$bad" -ne 0 ]; then note "Nothing was run. Ask for a new plan, which looks again."; return {DIFFERS}; fi
  umask 077
  mkdir -p "$marks" 2>/dev/null
  if mkdir "$mark" 2>/dev/null; then :; else note "$mark cannot be made: begun elsewhere, or no room. Nothing was run."; return {BEGUN_BEFORE}; fi
  printf 'nonce %s\\nhostid %s\\nboot_id %s\\nat %s\\n' "$nonce" {who} "$(date +%s)" >"$mark/begun" || {{
    note "$mark/begun cannot be written. Nothing was run."; return {NOT_RECORDED}
  }}
  note "runs now: "{text}
  command_of_the_plan </dev/null >"$mark/output" 2>&1
  code=$?
  {digest}
  printf 'nonce %s\\nexit_code %s\\nat %s\\noutput %s\\n' "$nonce" "$code" "$(date +%s)" "${{digest%% *}}" >"$mark/ended.new" &&
    mv "$mark/ended.new" "$mark/ended"
  cat "$mark/output"
  note "ended with exit code $code, nonce $nonce"
  note "Paste all of this into the page of the run, and have the node look again there."
  if [ "$code" -eq 0 ]; then return 0; fi
  return 1
}}""".split("\n")
    )
