"""What this node lacks for the agent to see and to do everything, each with what to do about it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from agents import zfs_releases
from agents.collectors import mounts, node
from agents.host import paths
from agents.host.host import Host, find
from agents.orders import journal, policy
from agents.orders.session import in_memory
from agents.orders.write_permission import holds
from agents.portal import last_contact, reach
from agents.portal.wire import SKEW_SECONDS_MAX
from agents.service import zed_hook
from agents.trust import identity, order_signature

FREE_BYTES_LEAST = 256 * 1024 * 1024  # the spool's bound and the journal, with room


@dataclass(frozen=True)
class Finding:
    """`level` is "ok", "lacks" (something is not seen, or cannot be done) or "bad" (the agent cannot work, or must not)."""

    level: str
    about: str
    so: str
    do: str = ""


@dataclass(frozen=True)
class Tool:
    name: str
    package: str  # Debian's
    gives: str
    needed: bool = False


TOOLS = (
    Tool("zpool", "zfsutils-linux", "pools, their state and everything that is done to them", needed=True),
    Tool("zdb", "zfsutils-linux", "labels, the only proof of which disk is which member", needed=True),
    Tool("lsscsi", "lsscsi", "SCSI devices and their sg nodes"),
    Tool("smartctl", "smartmontools", "the disks' own health reports; without them no new disk is accepted"),
    Tool("sg_ses", "sg3-utils", "slots that the kernel does not link to a disk"),
    Tool("sg_logs", "sg3-utils", "error counters and self-tests of SAS disks"),
    Tool("sdparm", "sdparm", "write cache and background scan settings"),
    Tool("blkid", "util-linux", "the last check that a new disk carries nothing", needed=True),
)


def examine(
    host: Host, folder: str, policy_path: str, which: Callable[[str], str | None] = find, run_folder: str = paths.RUN, root: str = "/"
) -> Iterator[Finding]:
    """Every finding, in the order in which they should be put right."""
    yield _python()
    yield _root()
    yield from _tools(which)
    yield from _zfs(host)
    yield _openssl(host)
    yield _hostid(host)
    yield _enclosures(host)
    yield from _folder(host, folder)
    yield _run_folder(host, run_folder)
    yield _policy(policy_path)
    yield _hook(host, folder)
    yield from _portal(host, folder, root)


def _python() -> Finding:
    return Finding("ok", "python", f"{'.'.join(map(str, sys.version_info[:3]))}.")  # an older one than 3.9 does not come this far


def _root() -> Finding:
    if os.geteuid() != 0:
        return Finding("lacks", "user", "Not root: labels, SMART and pool events cannot be read.", "Run it as root, as the unit does.")
    return Finding("ok", "user", "root.")


def _tools(which: Callable[[str], str | None]) -> Iterator[Finding]:
    for tool in TOOLS:
        path = which(tool.name)
        if path:
            yield Finding("ok", tool.name, f"{path}.")
        else:
            level = "bad" if tool.needed else "lacks"
            yield Finding(level, tool.name, f"It is not installed. It gives {tool.gives}.", f"Install it (Debian: {tool.package}).")


def _zfs(host: Host) -> Iterator[Finding]:
    parsed = node.parse(node.collect(host)[0].text)
    module = getattr(parsed, "zfs_module", None)
    userland = getattr(parsed, "zfs_userland", None)
    if module is None:
        yield Finding("bad", "zfs module", "It is not loaded.", "Load it with `modprobe zfs`; if that fails, build it for this kernel.")
    elif userland is None:
        yield Finding(
            "bad",
            "zfs",
            f"module {module}, tools that do not report their version.",
            "Run `zpool --version`; no change of a pool is ordered.",
        )
    else:
        yield _released(userland, module)
    if module is not None and not host.list("/proc/spl/kstat/zfs"):
        do = "Without it a pool whose `zpool` hangs is not seen. Mount /proc as usual."
        yield Finding("lacks", "kstat", "/proc/spl/kstat/zfs is not there.", do)


def _released(userland: str, module: str) -> Finding:
    """By the same table that every order is held to."""
    so, refused = f"module {module}, tools {userland}.", zfs_releases.not_ordered(userland, module)
    if not refused:
        return Finding("ok", "zfs", so)
    reasons: dict[str, list[str]] = {}
    for operation, why in refused.items():
        reasons.setdefault(why, []).append(operation)
    here, theirs = zfs_releases.numbers(module), zfs_releases.numbers(userland)
    level = "bad" if here and theirs and here[:2] != theirs[:2] else "lacks"
    return Finding(level, "zfs", f"{so} Not ordered here: {'; '.join(', '.join(names) for names in reasons.values())}.", " ".join(reasons))


def _openssl(host: Host) -> Finding:
    lacks = order_signature.lacks(host)
    if lacks:
        so, _, do = lacks.partition(". ")
        return Finding(
            "lacks", "openssl", f"{so}. The signature of an order cannot be checked, so none that changes anything is taken.", do
        )
    words = host.run(("openssl", "version"), order_signature.SECONDS).stdout.decode("utf-8", "replace").split()
    version = words[1] if len(words) > 1 else "unknown"
    more = "" if version.split(".")[0].isdigit() and int(version.split(".")[0]) >= 3 else " Checkpoints are checked by the order key only."
    return Finding("ok", "openssl", f"version {version}.{more}")


def _run_folder(host: Host, folder: str) -> Finding:
    there = folder if os.path.isdir(folder) else os.path.dirname(folder)
    if not os.access(there, os.W_OK):
        so = "It cannot be written, so no session can be kept and nothing is carried out."
        return Finding("lacks", folder, so, "The unit makes it; by hand: mkdir -m 700 it, as root.")
    parsed = mounts.parse(mounts.collect(host)[0].text)
    if not in_memory(getattr(parsed, "mounts", ()), os.path.realpath(there)):
        so = "It does not lie in memory: a copy of this node's disk could pass for this node."
        return Finding("lacks", folder, so, "Mount a tmpfs on /run, as every usual system does.")
    return Finding("ok", folder, "lies in memory.")


def _hostid(host: Host) -> Finding:
    hostid = getattr(node.parse(node.collect(host)[0].text), "hostid", None)
    if hostid in (None, "00000000"):
        so = "This node has no hostid: two nodes on one shelf cannot see which of them has a pool imported."
        return Finding("lacks", "hostid", so, "Make one with `zgenhostid`, once, before pools are shared.")
    return Finding("ok", "hostid", f"{hostid}.")


def _enclosures(host: Host) -> Finding:
    found = host.list("/sys/class/enclosure/*")
    if not found:
        do = "Load the ses driver (`modprobe ses`) if this node has shelves with slot lights."
        return Finding("lacks", "enclosures", "The kernel knows none, so no disk has a known bay.", do)
    return Finding("ok", "enclosures", f"{len(found)}.")


def _folder(host: Host, folder: str) -> Iterator[Finding]:
    if not os.path.isdir(folder):
        yield Finding("bad", folder, "It is not there.", "Enrol the node; that makes it.")
        return
    room = os.statvfs(folder)
    free_bytes = room.f_bavail * room.f_frsize
    if free_bytes < FREE_BYTES_LEAST:
        do = "Make room: without a journal nothing is carried out."
        yield Finding("bad", folder, f"Only {free_bytes // 1024 // 1024} MiB are free.", do)
    fstype, where = _filesystem(host, os.path.realpath(folder))
    if fstype == "zfs":
        so = f"It lies on {where}, which is ZFS. A pool that hangs would take the journal with it."
        yield Finding("lacks", folder, so, "Keep it on a disk that belongs to no pool under repair.")
    elif free_bytes >= FREE_BYTES_LEAST:
        yield Finding(
            "ok", folder, f"{free_bytes // 1024 // 1024} MiB free, on {fstype or 'a file system that /proc/mounts does not name'}."
        )


def _filesystem(host: Host, folder: str) -> tuple[str, str]:
    """(type, device) of the mount that holds `folder`."""
    parsed = mounts.parse(mounts.collect(host)[0].text)
    known = getattr(parsed, "mounts", ())
    holding = [m for m in known if folder == m[1] or folder.startswith(m[1].rstrip("/") + "/")]
    device, _, fstype = max(holding, key=lambda mount: len(mount[1]), default=("", "", ""))
    return fstype, device


def _policy(path: str) -> Finding:
    rule = policy.load(path)
    if rule.mode == "observe":
        return Finding("ok", "policy", f"observes only: {rule.why}")
    return Finding(
        "ok", "policy", f"may operate: {', '.join(rule.operations) or 'nothing'} on {', '.join(rule.pools) or 'no pool'}. {rule.why}"
    )


def _hook(host: Host, folder: str) -> Finding:
    if not host.list(paths.ZED_FOLDER):
        return Finding("lacks", "zed", f"{paths.ZED_FOLDER} is not there: pool events are noticed seconds later.", "Install zfs-zed.")
    if not host.list(f"{paths.ZED_FOLDER}/{zed_hook.HOOK_NAME}"):
        do = f"slotlight-agent zed --dir {folder} > {paths.ZED_FOLDER}/{zed_hook.HOOK_NAME}; chmod 755 it."
        return Finding("lacks", "zed", "ZED does not ring the agent: pool events are noticed seconds later.", do)
    return Finding("ok", "zed", "rings the agent on pool events.")


def _portal(host: Host, folder: str, root: str) -> Iterator[Finding]:
    try:
        who = identity.load(folder)
    except identity.NoIdentity as error:
        yield Finding("bad", "identity", str(error), "The portal's Add node page has the line that enrols this node.")
        return
    yield Finding("ok", "identity", f"{who.node}, key {who.key_id}. The portal must show the same key.")
    if not who.can_check:
        so = "It enrolled before orders were signed, so it has no key of the portal and only observes."
        yield Finding("lacks", "portal's keys", so, "Get a new token and run `slotlight-agent enrol --again`.")
    for reason in _held(host, folder, who):
        yield Finding("bad", "held", reason, "Until then this agent only observes.")
    relay = reach.relay(root)
    try:
        answer = reach.probe(who.portal, who.ca_file, relay)
        date = parsedate_to_datetime(answer).timestamp() if answer else None
    except (reach.Unreachable, OSError, ValueError) as error:
        do = "Check name, port, firewall and certificate. Reports wait on disk meanwhile."
        yield Finding("bad", who.portal, f"It does not answer: {error}", do)
        return
    skew = host.now() - date if date is not None else 0.0
    if abs(skew) > SKEW_SECONDS_MAX / 2:
        so = (
            f"This node's clock is {abs(skew):.0f} s {'ahead of' if skew > 0 else 'behind'} the portal's; {SKEW_SECONDS_MAX} s are refused."
        )
        yield Finding("bad", "clock", so, "Let a time service set it (chrony, systemd-timesyncd).")
    else:
        yield Finding("ok", who.portal, f"answers {'through the relay' if relay else 'directly'}, and the clocks agree.")
    yield _reports(folder, host.now())


def _reports(folder: str, now: float) -> Finding:
    contact = last_contact.read(folder)
    if contact is not None and contact.taken_at and not contact.trouble:
        return Finding("ok", "reports", f"enrolled, and the first report arrived; the last one {now - contact.taken_at:.0f} s ago.")
    why = f": {contact.trouble}" if contact is not None and contact.trouble else "."
    so = (
        f"The last report was not taken{why}"
        if contact is not None and contact.taken_at
        else f"No report has ever arrived at the portal{why}"
    )
    return Finding(
        "bad", "reports", so, f"Start the agent (`systemctl start {paths.UNIT_NAME}`); `slotlight-agent status` shows how it continues."
    )


def _held(host: Host, folder: str, who: identity.Identity) -> tuple[str, ...]:
    path = os.path.join(folder, journal.FILE)
    if not who.can_check or not os.path.exists(path):
        return ()
    kept = journal.Journal(path, anyway=True)
    try:
        return holds(host, who, kept, folder)
    finally:
        kept.close()
