"""What is mounted and what is swapped on: a disk that serves either is not free.

The mounts of the first process are asked for, which are the machine's: our own unit hides /home, /root and /tmp with all that is
mounted below them from us, and a disk mounted there is no free disk. On FreeBSD `mount -p` (sbin/mount/mount.c: putfsent) and `swapinfo -k` (usr.sbin/swapinfo)
list both, on illumos /etc/mnttab and `swap -l` (cmd/swap/swap.c).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors._lines import torn_end
from agents.collectors._sysfs import attribute
from agents.collectors.base import Capture, Unparsed, ask, decode
from agents.host.host import Host

NAME = "mounts"
EVERY_SECONDS = 60
MACHINE, OWN = "/proc/1/mounts", "/proc/mounts"
MOUNTED, SWAPPED = ("mount", "-p"), ("swapinfo", "-k")  # of FreeBSD
MNTTAB, SWAPS, NO_SWAP = "/etc/mnttab", ("swap", "-l"), "No swap devices configured"  # of illumos
TIMEOUT_SECONDS = 10


@dataclass(frozen=True)
class Mounts:
    """(device, mount point, type) of each mount, and the swap devices. None: the node did not say."""

    mounts: tuple[tuple[str, str, str], ...]
    swaps: tuple[str, ...] | None


def collect(host: Host) -> tuple[Capture, ...]:
    if host.list(MNTTAB):
        return (_of_illumos(host),)
    if not host.list(OWN) and not host.list("/sys/block"):
        return (_of_freebsd(host),)
    if not host.list(OWN):
        return (Capture(NAME, "", "nothing", "", f"{OWN} is not there"),)
    mounts = attribute(host, MACHINE) or attribute(host, OWN)  # who is not root may not ask the first process
    if not mounts:
        return (Capture(NAME, "", "failed", "", f"{OWN} cannot be read"),)
    return (Capture(NAME, "", "data", "\n".join(mounts + attribute(host, "/proc/swaps")) + "\n"),)


def _of_illumos(host: Host) -> Capture:
    """Without a swap device `swap` says so, and ends with 1."""
    mounted, ran = attribute(host, MNTTAB), host.run(SWAPS, TIMEOUT_SECONDS)
    none = NO_SWAP in decode(ran.stdout + ran.stderr)
    if not mounted or ran.why or (ran.exit_code != 0 and not none):
        return Capture(NAME, "", "failed", "", f"{MNTTAB} or `{' '.join(SWAPS)}` cannot be read")
    swapped = [NO_SWAP] if none else decode(ran.stdout).rstrip("\n").split("\n")
    return Capture(NAME, "", "data", "".join(f"{line}\n" for line in (*mounted, *(f"{' '.join(SWAPS)}:{line}" for line in swapped))))


def _of_freebsd(host: Host) -> Capture:
    """`swapinfo` is asked first: no other system has it."""
    answers = [(argv, ask(host, NAME, argv, TIMEOUT_SECONDS)) for argv in (SWAPPED, MOUNTED)]
    for _, answer in answers:
        if answer.outcome == "nothing":
            return Capture(NAME, "", "nothing", "", f"{OWN} is not there")
        if answer.outcome != "data":
            return answer
    lines = [f"{' '.join(argv)}:{line}" for argv, answer in answers for line in answer.text.rstrip("\n").split("\n")]
    return Capture(NAME, "", "data", "".join(f"{line}\n" for line in lines))


def parse(text: str) -> Mounts | Unparsed:
    """The mounts in `text`, or the first line that made no sense. Never raises."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    mounts = []
    swaps: list[str] | None = None
    for line in text.rstrip("\n").split("\n"):
        path, _, entry = line.partition(":")
        fields = [_plain(field) for field in entry.split()]
        if (path in (MACHINE, OWN, MNTTAB) and len(fields) >= 4) or (path == " ".join(MOUNTED) and len(fields) >= 4):
            mounts.append((fields[0], fields[1], fields[2]))
        elif (path, fields[:1]) in (("/proc/swaps", ["Filename"]), (" ".join(SWAPPED), ["Device"]), (" ".join(SWAPS), ["swapfile"])):
            swaps = swaps or []
        elif (path, entry) == (" ".join(SWAPS), NO_SWAP):
            swaps = []
        elif path in ("/proc/swaps", " ".join(SWAPPED), " ".join(SWAPS)) and len(fields) >= 4 and swaps is not None:
            swaps += [fields[0]] if fields[0] != "Total" else []  # `swapinfo` adds them up where there are several
        else:
            return Unparsed("a line of the mounts cannot be read", line)
    return Mounts(tuple(mounts), None if swaps is None else tuple(swaps))


def _plain(field: str) -> str:
    """The kernel writes blanks, line breaks and backslashes as three octal digits."""
    return re.sub(r"\\([0-3][0-7]{2})", lambda octal: chr(int(octal.group(1), 8)), field)
