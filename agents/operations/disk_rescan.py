"""Have the kernel look for disks again behind every SCSI host: what was deleted comes back, under whatever name is free.

A disk that contradicts the others must not come back under a pool that does without it. So either the pool is not imported, or its bay is
seen to be empty or to hold another disk: then the look finds what is new, and proves that the old one stays away.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors import block
from agents.collectors.base import Capture
from agents.host.host import Host, Ran
from agents.operations import _importing, disk_delete, locate_led
from agents.operations.base import NONE, UNKNOWN, Probe, Unread, check_names, known, unknowns

NAME = "disk_rescan"
EFFECT = "idempotent"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid", "wwid", "enclosure", "slot")
TIMEOUT_SECONDS = 300.0
EVERYTHING = b"- - -"  # channel, target, unit: all of them
EMPTY = "not installed"
FACTS = ("pool.here", "scsi.hosts", "bay.disk", "bay.status")


def check(params: Mapping[str, str]) -> str:
    bad = check_names(params, PARAMS) or disk_delete.check({name: params[name] for name in disk_delete.PARAMS})
    return bad or locate_led.check_bay(params)


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    """No tool is called by these words; they say what `perform` does."""
    return ("rescan", "every-scsi-host")


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return {
        "pool.here": known(lambda: _importing.imported(host, params)),
        "scsi.hosts": known(lambda: _hosts(host)),
        "bay.disk": known(lambda: locate_led.disk_in(host, params)),
        "bay.status": known(lambda: locate_led.status_of(host, params)),
    }


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    return {"preconditions": preconditions(host, params)}


def asked(params: Mapping[str, str]) -> tuple[str, ...]:
    """The facts that must be known in any case. The bay is asked about only while the pool is imported."""
    return ("pool.here", "scsi.hosts")


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    verdicts = unknowns({name: pre.get(name, f"{UNKNOWN}it was not read") for name in asked(params)})
    if verdicts:
        return verdicts
    if pre["pool.here"] == NONE:
        return (("pass", f"{params['pool']} is not imported here."),)
    return unknowns({name: pre.get(name, f"{UNKNOWN}it was not read") for name in FACTS}) or (_of_its_bay(pre, params),)


def _of_its_bay(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[str, str]:
    """Of a disk that was deleted the kernel shows nothing, so the enclosure's own word counts."""
    pool, bay, disk = params["pool"], f"bay {params['slot']} of {params['enclosure']}", pre["bay.disk"]
    if disk == NONE and pre["bay.status"] == EMPTY:
        return "pass", f"The {bay} is empty."
    if disk not in (NONE, params["wwid"]):
        return "pass", f"The {bay} holds another disk, {disk}."
    reason = f"the {bay} is {pre['bay.status']}, so the disk is still in it"
    return "refuse", f"{pool} is imported here and {reason}. It must not come back under the pool: pull it, or export the pool first."


def perform(host: Host, params: Mapping[str, str]) -> Ran:
    begun, output, failed = host.now(), [], []
    for path in host.list("/sys/class/scsi_host/host*"):
        try:
            host.write(f"{path}/scan", EVERYTHING)
            output.append(f"{path}: scanned\n")
        except OSError as error:
            failed.append(f"{path}: {error.strerror or error}\n")
    return Ran(argv(params), 1 if failed or not output else 0, "".join(output).encode(), "".join(failed).encode(), host.now() - begun)


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    try:
        there = disk_delete.paths(host, params["wwid"])
    except Unread as unread:
        return Probe("cannot_tell", aftermath(host, params), f"Whether it took place is not known: {unread}.")
    reason = f"The kernel shows {params['wwid']} as {', '.join(there)}." if there else f"The kernel does not show {params['wwid']}."
    return Probe("did" if there else "did_not", aftermath(host, params), reason)


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return block.collect(host)


def _hosts(host: Host) -> str:
    hosts = host.list("/sys/class/scsi_host/host*")
    if not hosts:
        raise Unread("the kernel shows no SCSI host")
    return ", ".join(path.rsplit("/", 1)[1] for path in hosts)
