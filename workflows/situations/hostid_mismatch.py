"""An imported pool was written under another hostid than this system has: it may be in use by two hosts, and its next import is refused.

OpenZFS says so of an imported pool whose configuration names another hostid (`check_status`, ZPOOL_STATUS_HOSTID_MISMATCH). Mostly the
hostid of this system changed after the import: /etc/hostid was missing in the initramfs, was made later, or came with a cloned image.

What ends it is an export and an import. `rename-members` does both where members have kernel names. Else the export is given by hand, and
`import-pool` begins at the node then: while the pool is imported it refuses.
"""

from collections.abc import Iterator

from workflows.engine.core import Answer, Cure, Evidence, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, known, message_id, reason_of
from workflows.situations import _pools, _words, kernel_names
from workflows.situations._cures import IMPORT, THEN_IMPORT
from workflows.situations._pools import Wording, cure

SLUG = "hostid-mismatch"
MANUALS: tuple[str, ...] = (IMPORT, kernel_names.RENAME)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(node, pool) for node, pool in _pools.pools(fleet) if _speaks_of_it(pool))


def _speaks_of_it(pool: PoolFacts) -> bool:
    """By its sentence; releases before 0.6.4 print the id alone. Its two other reasons are of pools that are not imported."""
    if not pool.status:
        return message_id(pool.see) == "ZFS-8000-EY"
    reason = reason_of(pool.status, pool.see)
    return reason is not None and reason.name == "HOSTID_MISMATCH"


def _situation(node: NodeFacts, pool: PoolFacts) -> Situation:
    meaning = (
        f"{pool.name} is imported on {node.node}, and its configuration names another hostid than this system has. Either the hostid of "
        f"{node.node} changed after the pool was imported, or another host has imported it too; a container has a hostid of its own, so ask on the host itself. If two hosts have it at once, both write, and the "
        f"pool is lost beyond repair. With the hostid of {node.node} as it is, multihost cannot distinguish the two, and the next import asks for -f. "
        "First make sure that no other host has it; then export it and import it again, which writes the right hostid."
    )
    wording = Wording(
        "watch",
        f"{pool.name}: its hostid is not the one of this system",
        meaning,
        (_pools.line(node, "status", pool.status) if pool.status else _pools.line(node, "see", pool.see), *_hostids(node)),
        tuple(_cures(node, pool)),
    )
    return _pools.situation(SLUG, node, pool, wording, answers=_answers(node, pool))


def _answers(node: NodeFacts, pool: PoolFacts) -> tuple[Answer, ...]:
    """None while the node has no hostid: the import would write none either, and the runbook refuses."""
    return kernel_names.renaming(node, pool) if known(node.hostid) and int(node.hostid, 16) else ()


def _hostids(node: NodeFacts) -> Iterator[Evidence]:
    if known(node.hostids):
        for what, value in (
            ("hostid", node.hostids.command),
            ("/etc/hostid", node.hostids.file),
            ("spl_hostid", node.hostids.parameter),
        ):
            if value:
                yield _words.evidence(node, "node", f"{what}: {value}")


def _cures(node: NodeFacts, pool: PoolFacts) -> Iterator[Cure]:
    yield cure(
        "look",
        f"On every other host that can reach these disks, ask whether it has {pool.name} imported. If one has, stop the services that write to it on "
        "all hosts, and export it on the one that should not have it. Import, replace and clear nothing before that is known.",
        ("zpool", "list", "-o", "name,guid,health"),
    )
    unset = known(node.hostids) and node.hostids.file is None
    yield cure(
        "zgenhostid",
        f"See that this system has a hostid of its own that stays: {'it has no /etc/hostid, so make one' if unset else 'make /etc/hostid where it is missing'}. "
        "An initramfs that imports pools needs the same file: build it anew afterwards (`update-initramfs -u` or `dracut -f`).",
        ("zgenhostid",),
        releases="0.7 and newer",
        needs="There is no /etc/hostid yet. Where there is one, it is kept: another hostid makes every imported pool look foreign.",
        save_first="the old hostid, as `hostid` prints it",
    )
    renames = bool(_answers(node, pool))
    yield cure(
        "export-import",
        f"Export {pool.name} and import it again under the hostid that stays. Its file systems are away meanwhile. A pool that the system itself runs "
        "from cannot be exported: build its initramfs anew and reboot." + ("" if renames else f" {THEN_IMPORT}"),
        ("zpool", "export", pool.name),
        *(() if renames else (("zpool", "import", "-N", "-d", "/dev/disk/by-id", str(pool.guid) if known(pool.guid) else pool.name),)),
        needs="No other host has it imported, and nothing on this host uses it.",
        runbook=kernel_names.RENAME if renames else IMPORT,
    )
