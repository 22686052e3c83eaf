"""Which host and which boot it is, where the system is illumos.

illumos has no random boot id. Taken are the times at which the kernel made its processes 0 (sched) and 3 (fsflush), to the nanosecond, which /proc
shows as the times of their folders:

    written     once each: 0 by main (uts/common/os/main.c: gethrestime(&PTOU(curproc)->u_start)), 3 by newproc, whose getproc writes u_start
                (uts/common/os/fork.c). Neither is ever started anew, as init may be (restart_init)
    shown       as they are: uts/common/fs/proc/prvnops.c, prgetattr. `ls -E` prints nine digits (cmd/ls/ls.c: format_time)
    a set clock moves hrestime alone (uts/common/os/clock.c: set_hrestime), so the times of these folders stay for the whole boot
    a new boot  reads its second from the clock chip (clkset), which goes on while the machine is off. Where the chip was set back to that very
                second, two fractions must be equal, too: of the time from clkset to process 0, in which drivers are plumbed, and of the time from
                there to process 3, in which the other processors are started

Doubt is no boot id: a chip that had lost its time (clkset then begins in 1987), a fraction of nought, a time in another zone than UTC, a zone that
is not the global one, whose /proc is another. kstat's boot_time is not taken, which clkset writes in whole seconds. hostid is what ZFS takes, too
(cmd/hostid/hostid.c). Oracle's Solaris calls itself SunOS 5.11 as well, so `uname -o` must say illumos. Read in illumos' source, tried nowhere on illumos.
"""

from __future__ import annotations

import re

from agents.collectors import _illumos
from agents.collectors.base import decode
from agents.domain.listed_disks import ILLUMOS
from agents.host.host import Host

TIMEOUT_SECONDS = 10
KIND, NODE, RELEASE, ZONE = ("uname", "-o"), ("uname", "-n"), ("uname", "-v"), ("zonename",)
PROCESSES = ("ls", "-dE", "/proc/0", "/proc/3")
QUESTIONS = (KIND, NODE, RELEASE, ZONE, PROCESSES)
GLOBAL = "global"
YEAR_MIN = 2001  # clkset takes a chip that says 1970 or 1971 for one that lost its time, and begins in 1987
_MADE = re.compile(r"d\S{9,10} .{1,80} ([0-9]{4})-([0-9]{2})-([0-9]{2}) ([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{9}) \+0000 /proc/([03])")


def lines(host: Host) -> list[str]:
    """Each line behind its question; none on another system."""
    found: list[str] = []
    for argv in QUESTIONS if _illumos.is_here(host) else ():
        ran = host.run(argv, TIMEOUT_SECONDS)
        if ran.stdout:
            found += [f"{' '.join(argv)}:{line}" for line in decode(ran.stdout).rstrip("\n").split("\n")]
    return found


def take(source: str, value: str, fields: dict[str, str]) -> bool:
    """Keep what one line says; whether it is one of these lines."""
    if source == " ".join(PROCESSES):
        made = _MADE.fullmatch(value)
        if made is not None:
            fields[f"process {made.group(8)}"] = " ".join(made.groups()[:7])
        return True
    for argv, name in ((KIND, "kind"), (NODE, "hostname"), (RELEASE, "release"), (ZONE, "zone")):
        if source == " ".join(argv):
            fields[name] = value
            return True
    return False


def fields_of(fields: dict[str, str]) -> dict[str, str]:
    """What the lines say together, as fields of the node; {} on another system."""
    if fields.get("kind") != ILLUMOS:
        return {}
    release = fields.get("release", "")
    versions = {"zfs_userland": f"{ILLUMOS} {release}", "zfs_module": f"{ILLUMOS} {release}"} if release else {}
    found = {"system": ILLUMOS, "kernel": f"5.11 {release}".strip(), **versions}
    boot_id = boot_id_of(fields.get("process 0", ""), fields.get("process 3", "")) if fields.get("zone") == GLOBAL else ""
    return {**found, **({"boot_id": boot_id} if boot_id else {})}


def boot_id_of(first: str, other: str) -> str:
    """The time of process 0 and the fraction of process 3, in the form of a boot id; "" in doubt.

    "2026 11 29 21 04 11 123456789" and "… 654321098" are 20261129-2104-1112-3456-789654321098.
    """
    if not first or not other:
        return ""
    year, month, day, hour, minute, second, fraction = first.split()
    beside = other.split()[-1]
    if int(year) < YEAR_MIN or not int(fraction) or not int(beside):
        return ""
    return f"{year}{month}{day}-{hour}{minute}-{second}{fraction[:2]}-{fraction[2:6]}-{fraction[6:]}{beside}"
