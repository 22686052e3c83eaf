"""The disks of illumos: who they are and how large, their names, and who has each of them open.

    diskinfo -Hcp        name, maker, model, serial number, bytes of each disk that answers   cmd/diskinfo/diskinfo.c: enumerate_disks
    ls -l /dev/rdsk      what a name leads to, and whether the disk has an EFI label          cmd/devfsadm/disk_link.c: disk_common
    fuser -d NAME        processes and kernel modules that have any slice of it open          cmd/fuser/fuser.c: report; uts/common/syscall/utssys.c
    prtvtoc -h NAME      the slices of a disk with an EFI label                               cmd/prtvtoc/prtvtoc.c: print_table_row
    stmfadm list-lu -v   the devices that COMSTAR exports, which `fuser` does not see         cmd/stmfadm/stmfadm.c

A disk that gives no medium information is not listed by `diskinfo` (dm_get_attributes), so one that it lists answers. The name c0t5000C500A65B207Bd0
has the name of the logical unit where it leads to scsi_vhci, else the address of a port (`wwid.of_vhci`). Read in illumos' source, tried nowhere
on illumos.
"""

from __future__ import annotations

import re

from agents.collectors._lines import torn_end
from agents.collectors.base import Capture, Unparsed, ask, decode
from agents.domain.listed_disks import FREE, ILLUMOS, ListedDisk, Part
from agents.domain.wwid import device_path, of_vhci
from agents.host.host import Host

TIMEOUT_SECONDS, DISKS_TIMEOUT_SECONDS = 20, 60
FOLDER = "/dev/rdsk"  # no other system has it
DISKS, NAMES, EXPORTED = ("diskinfo", "-Hcp"), ("ls", "-l", FOLDER), ("stmfadm", "list-lu", "-v")
_DISKS, _NAMES, _EXPORTED = " ".join(DISKS), " ".join(NAMES), " ".join(EXPORTED)
_USERS, _SLICES = "fuser -d", "prtvtoc -h"
NO_EXPORTS = "not installed"
FIRST = "s0"  # what ZFS makes of a whole disk is slice 0, and 8, which is reserved (lib/libzfs/common/libzfs_pool.c: zpool_label_disk)
_COLUMNS = 8
_NAME = r"c[0-9]{1,4}(?:t[0-9A-F]{1,32})?d[0-9]{1,5}"
_LINK = re.compile(rf"l\S{{9,10}} .{{1,120}} ({_NAME})((?:[sp][0-9]{{1,2}})?) -> (?:\.\./)*/?devices(/\S{{1,400}}):([a-z,]{{1,8}})")
_SLICE = re.compile(
    r" {1,12}([0-9]{1,3}) {1,12}[0-9]{1,5} {1,8}[0-9a-f]{2,4} {1,16}[0-9]{1,20} {1,16}[0-9]{1,20} {1,16}[0-9]{1,20}(?: {3}.{1,400})?"
)
_USER = re.compile(r" {1,20}(?:([0-9]{1,7})[crtomyan]{0,9}|\[([a-zA-Z0-9_]{1,32})(?:,[^\]]{0,400})?\])")


def is_here(host: Host) -> bool:
    return bool(host.list(FOLDER))


def collect(host: Host, source: str, *, with_users: bool = False) -> Capture:
    """The answers in one text, each line behind its question."""
    lines: list[str] = []
    for argv in (DISKS, NAMES):
        answer = ask(host, source, argv, DISKS_TIMEOUT_SECONDS if argv == DISKS else TIMEOUT_SECONDS)
        if answer.outcome != "data":
            return answer
        lines += [f"{' '.join(argv)}:{line}" for line in answer.text.rstrip("\n").split("\n")]
    if with_users:
        names = [line[len(_DISKS) + 1 :].split("\t")[1] for line in lines if line.startswith(f"{_DISKS}:") and line.count("\t") > 1]
        labelled = {found.group(1) for line in lines if (found := _LINK.fullmatch(line[len(_NAMES) + 1 :])) and not found.group(2)}
        lines += [
            *(_users(host, name) for name in names),
            *(line for name in names if name in labelled for line in _slices(host, name)),
            *_exported(host),
        ]
    return Capture(source, "", "data", "".join(f"{line}\n" for line in lines))


def _users(host: Host, name: str) -> str:
    """The name and who uses it; without them where that was not answered. Process ids come on one output and all else on the other."""
    ran = host.run(("fuser", "-d", device_path(name)), TIMEOUT_SECONDS)
    head, _, rest = decode(ran.stderr).strip("\n").partition(": ")
    if ran.exit_code != 0 or ran.why or head != device_path(name) or "\n" in rest:
        return f"{_USERS} {name}:"
    pids = [f"{pid} " for pid in decode(ran.stdout).split()]
    return f"{_USERS} {name}:{''.join(pids)}{rest}".rstrip() + "."


def _slices(host: Host, name: str) -> list[str]:
    """Only what was answered without a complaint: a table that is read in part says nothing."""
    answer = ask(host, "block", ("prtvtoc", "-h", device_path(f"{name}{FIRST}")), TIMEOUT_SECONDS)
    return [f"{_SLICES} {name}:{line}" for line in answer.text.rstrip("\n").split("\n")] if answer.outcome == "data" else []


def _exported(host: Host) -> list[str]:
    answer = ask(host, "block", EXPORTED, TIMEOUT_SECONDS)
    if answer.outcome == "nothing":
        return [f"{_EXPORTED}:{NO_EXPORTS}"]
    return [f"{_EXPORTED}:{line}" for line in answer.text.rstrip("\n").split("\n")] if answer.outcome == "data" else []


def is_listing(text: str) -> bool:
    return text.startswith(f"{_DISKS}:")


def parse(text: str) -> tuple[ListedDisk, ...] | Unparsed:
    """Every disk, or the first line that made no sense. Never raises."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    rows: dict[str, list[str]] = {}
    names: dict[str, dict[str, str]] = {}
    users: dict[str, str] = {}
    slices: dict[str, list[int]] = {}
    exported: list[str] = []
    for line in text.rstrip("\n").split("\n"):
        question, _, answer = line.partition(":")
        if question == _DISKS:
            row = answer.split("\t")
            if not answer:
                continue
            if len(row) != _COLUMNS or not re.fullmatch(_NAME, row[1]) or row[1] in rows or not re.fullmatch("[0-9]{1,20}", row[5]):
                return Unparsed("a row of diskinfo cannot be read", line)
            rows[row[1]] = row
        elif question == _NAMES:
            if found := _LINK.fullmatch(answer):
                names.setdefault(found.group(1), {})[found.group(2)] = found.group(3)
        elif question == _EXPORTED:
            exported.append(answer)
        elif question.startswith(f"{_USERS} ") and re.fullmatch(_NAME, question[len(_USERS) + 1 :]):
            users[question[len(_USERS) + 1 :]] = answer
        elif question.startswith(f"{_SLICES} ") and (found := _SLICE.fullmatch(answer)):
            slices.setdefault(question[len(_SLICES) + 1 :], []).append(int(found.group(1)))
        else:
            return Unparsed("a line of the disks cannot be read", line)
    return tuple(
        _disk(row, names.get(name, {}), slices.get(name, [0]), _mode(name, users.get(name, ""), exported)) for name, row in rows.items()
    )


def _disk(row: list[str], links: dict[str, str], slices: list[int], mode: str) -> ListedDisk:
    """Every name of a disk must lead to one device. It has an EFI label where its name without a slice is there; which other slices it has only its
    table says."""
    _, name, vendor, model, serial, size, _, _ = row
    targets = set(links.values())
    target = targets.pop() if len(targets) == 1 else ""
    wwid, parts = (
        of_vhci(name, target),
        tuple(Part(f"{name}s{number}", number, None, ()) for number in sorted(slices)) if "" in links else (),
    )
    return ListedDisk(
        ILLUMOS, name, wwid, is_there=int(size) > 0, size_bytes=int(size), mode=mode, ident="" if serial == "-" else serial.strip(),
        descr=" ".join(part for part in (vendor.strip(), model.strip()) if part != "-"), bus=target.split("/")[1] if target else "", parts=parts,
        labels=((f"dsk/{name}", name), *((f"dsk/{part.name}", part.name) for part in parts)) if wwid else (),
    )  # fmt: skip


def _mode(name: str, answer: str, exported: list[str]) -> str:
    """Who has it open: "zfs", "process 412"; FREE; "" where one of the two questions was not answered, or not understood."""
    if not answer.endswith(".") or not exported:
        return ""
    if any(re.search(rf"/{name}(?![0-9A-F])", line) for line in exported):
        return "COMSTAR"
    found, rest = [], f" {answer[:-1]}"
    while rest.strip():
        user = _USER.match(rest)
        if user is None:
            return ""
        found.append(user.group(2) or f"process {user.group(1)}")
        rest = rest[user.end() :]
    return " and ".join(dict.fromkeys(found)) or FREE[1]
