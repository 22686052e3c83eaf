"""Take a disk away from the kernel without touching it: write to `device/delete` of every path that leads to it.

The disk spins on in its bay and nothing on it changes; it comes back with a rescan or a boot, perhaps under another name. The kernel
deletes whatever is written, so the disk is found by its WWID in the moment of writing, and each of its names is asked once more right
before its own write: a name may have gone to another disk since the last one, and then nothing more is written.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors import _disks, block
from agents.collectors.base import Capture
from agents.domain.wwid import by_id_path
from agents.host.host import Host, Ran
from agents.operations import _candidate, _member, _released, _tree
from agents.operations._candidate import Candidate
from agents.operations._tree import understood
from agents.operations.base import NONE, UNKNOWN, Probe, Unread, check_guid, check_names, check_pool, check_wwid, unknowns

NAME = "disk_delete"
EFFECT = "at_most_once"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid", "wwid")
TIMEOUT_SECONDS = 120.0
SCSI = ("naa", "ata")  # an NVMe namespace has no `device/delete`
FACTS = (
    "disk.wwid",
    "disk.paths",
    "disk.names",
    "disk.serial",
    "disk.bay",
    "disk.holders",
    "disk.mounts",
    "disk.labels",
    "disk.member",
    *_released.FACTS,
)


def check(params: Mapping[str, str]) -> str:
    bad = check_names(params, PARAMS) or check_pool(params["pool"]) or check_guid("pool_guid", params["pool_guid"])
    if bad:
        return bad
    return check_wwid(params["wwid"], SCSI)


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    """No tool is called by these words; they say what `perform` does."""
    return ("delete", "every-path-of", str(by_id_path(params["wwid"])))


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    try:
        disk = _candidate.find(host, params["wwid"])
        pools = _tree.read(_tree.captures(host)).pools
    except Unread as unread:
        return dict.fromkeys(FACTS, f"{UNKNOWN}{unread}")
    found = _candidate.facts(host, disk, pools)
    return {
        "disk.names": ", ".join(path.name for path in disk.paths),
        **{name: found[name] for name in FACTS if name in found},
        **_member.versions(host),
    }


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    facts = preconditions(host, params)
    leaving = {name: facts[f"disk.{name}"] for name in ("wwid", "serial", "bay", "names", "labels")}
    return {"leaving": leaving, "preconditions": facts}


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    wwid = params["wwid"]
    verdicts = list(unknowns({name: pre.get(name, f"{UNKNOWN}it was not read") for name in FACTS}))
    if verdicts:
        return tuple(verdicts)
    for name, why in (("holders", "is held by"), ("mounts", "is in use:"), ("member", "serves an imported pool:")):
        value = pre[f"disk.{name}"]
        verdicts.append(("pass", f"disk.{name} is none.") if value == NONE else ("refuse", f"The disk {wwid} {why} {value}. It stays."))
    strange = [label for label in pre["disk.labels"].split("; ") if f"({params['pool_guid']})" not in label]
    verdicts.append(
        ("refuse", f"The disk {wwid} carries other labels than of {params['pool']}: {', '.join(strange)}. It stays.")
        if strange
        else ("pass", f"The disk carries labels of {params['pool']} only.")
    )
    return (*verdicts, *_released.verdicts(NAME, pre))


def perform(host: Host, params: Mapping[str, str]) -> Ran:
    begun, output = host.now(), []
    try:
        disk: Candidate = _candidate.find(host, params["wwid"])
        for path in disk.paths:
            still_leads_to(host, path.name, params["wwid"])
            host.write(f"/sys/block/{path.name}/device/delete", b"1")
            output.append(f"{path.name}: deleted\n")
    except (Unread, OSError) as error:
        return Ran(argv(params), 1, "".join(output).encode(), f"{error}.\n".encode(), host.now() - begun)
    return Ran(argv(params), 0, "".join(output).encode(), b"", host.now() - begun)


def still_leads_to(host: Host, name: str, wwid: str) -> None:
    """Raises Unread when this kernel name is another disk's by now, or no disk's."""
    found = _disks.wwid_of(host, name)
    if found != wwid:
        who = f"is {found} by now" if found else "does not report which disk it is any more"
        raise Unread(f"{name} {who}, and was {wwid}. It was not deleted, and nothing after it")


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    evidence = aftermath(host, params)
    try:
        left = paths(host, params["wwid"])
    except Unread as unread:
        return Probe("cannot_tell", evidence, f"Whether it took place is not known: {unread}.")
    if not left:
        return Probe("did", evidence, f"The kernel shows {params['wwid']} no more.")
    if str(len(left)) == pre.get("disk.paths"):
        return Probe("did_not", evidence, f"The kernel still shows {params['wwid']} as {', '.join(left)}.")
    return Probe("cannot_tell", evidence, f"Only some paths to {params['wwid']} are gone; {', '.join(left)} is left.")


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return block.collect(host)


def paths(host: Host, wwid: str) -> tuple[str, ...]:
    """Kernel names that lead to the disk now. Raises Unread."""
    disks = understood(block.collect(host)[0], block.parse, "the block devices")
    return tuple(disk.name for disk in disks if disk.wwid == wwid)
