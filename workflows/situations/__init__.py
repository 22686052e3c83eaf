"""Every situation we detect. To add one: add a file with `SLUG`, `MANUALS` (runbooks whose pages help) and `detect(fleet)`, list it here.

A situation that can be the cause of others also has `explains(cause, other)`; one that can forbid replacing has `GATES = True`.
"""

from collections.abc import Iterable
from dataclasses import replace

from agents.collectors.zpool_status import NAMELESS
from workflows.analysis import unexplained
from workflows.engine.core import Situation
from workflows.facts import FleetFacts
from workflows.situations import (
    _kinds_of_disks,
    _kinds_of_nodes,
    _kinds_of_pools,
    aux_without_redundancy,
    block_size_mismatch,
    cache_device_lost,
    checkpoint_held,
    class_filling,
    data_errors,
    destroyed_member,
    device_removal,
    device_used_twice,
    direct_io_verify,
    disk_errors,
    disk_failing,
    disk_faulted,
    disk_hangs,
    disk_hot,
    disk_missing,
    disk_worn,
    drive_mode_drift,
    enclosure_fault,
    errors_everywhere,
    errors_not_listed,
    expansion_running,
    expansion_stuck,
    features_disabled,
    foreign_pool_imported_elsewhere,
    foreign_pool_in_cachefile,
    former_member,
    hba_fault,
    hidden_by_resilver,
    hostid_mismatch,
    identity_conflict,
    import_blocked,
    kernel_errors,
    kernel_names,
    label_corrupt,
    labels_missing,
    link_crc,
    log_device_lost,
    many_disks_offline,
    member_degraded,
    names_moved,
    path_lost,
    phy_errors,
    pool_down,
    pool_errata,
    pool_filling,
    pool_read_only,
    pool_suspended,
    rebuild_unverified,
    refused_command,
    replacing_dead,
    resilver_cancelled,
    resilver_running,
    resilver_slow,
    resilver_stuck,
    scrub_errors,
    scrub_overdue,
    scrub_paused,
    scrub_repaired,
    shared_hostid,
    slow_disk,
    slow_inquiry,
    slow_ios,
    spare_in_use,
    spare_unavailable,
    spare_unused,
    top_without_redundancy,
    tunables_left_raised,
    vdev_degraded,
    version_mismatch,
    wwid_mismatch,
    zfs_events,
)
from workflows.situations._gating import gated, gating
from workflows.situations._kinds import Kinds, advised
from workflows.situations._ranking import ranked
from workflows.situations._systems import in_its_words, system_of

SITUATIONS = {
    module.SLUG: module
    for module in (
        many_disks_offline,
        pool_suspended,
        pool_down,
        names_moved,
        device_used_twice,
        errors_everywhere,
        hba_fault,
        disk_hangs,
        vdev_degraded,
        replacing_dead,
        wwid_mismatch,
        disk_faulted,
        disk_missing,
        disk_failing,
        enclosure_fault,
        import_blocked,
        data_errors,
        errors_not_listed,
        top_without_redundancy,
        aux_without_redundancy,
        log_device_lost,
        pool_filling,
        hostid_mismatch,
        shared_hostid,
        foreign_pool_imported_elsewhere,
        foreign_pool_in_cachefile,
        slow_disk,
        slow_ios,
        slow_inquiry,
        direct_io_verify,
        resilver_stuck,
        resilver_slow,
        label_corrupt,
        identity_conflict,
        phy_errors,
        path_lost,
        disk_hot,
        disk_worn,
        link_crc,
        disk_errors,
        member_degraded,
        kernel_errors,
        zfs_events,
        drive_mode_drift,
        hidden_by_resilver,
        spare_in_use,
        pool_read_only,
        resilver_running,
        tunables_left_raised,
        version_mismatch,
        labels_missing,
        scrub_errors,
        resilver_cancelled,
        rebuild_unverified,
        expansion_stuck,
        spare_unavailable,
        spare_unused,
        cache_device_lost,
        pool_errata,
        block_size_mismatch,
        device_removal,
        expansion_running,
        scrub_repaired,
        scrub_overdue,
        scrub_paused,
        class_filling,
        checkpoint_held,
        features_disabled,
        kernel_names,
        former_member,
        destroyed_member,
        refused_command,
    )
}
KINDS: Kinds = {**_kinds_of_pools.KINDS, **_kinds_of_disks.KINDS, **_kinds_of_nodes.KINDS}  # of pasted texts too
CAUSES = (many_disks_offline, hba_fault, pool_down, names_moved, errors_everywhere, disk_hangs, data_errors)  # the farthest up first
GATING = tuple(module for module in SITUATIONS.values() if getattr(module, "GATES", False))  # whose situations may have `gate`
URGENT = frozenset((pool_suspended.SLUG, pool_down.SLUG))  # everything stands still, whatever the cause


def detect_all(fleet: FleetFacts, situations: Iterable[Situation] = ()) -> tuple[Situation, ...]:
    """Everything wrong in the fleet, causes first. One lost disk is one situation: the more specific one.

    Each has advice. Nothing that replaces a disk is left in a situation of a pool whose own fate comes first. `situations` are those that no fact bears, of outputs
    that were pasted. One about the same thing as a detected one is left out, and none explains another: their subjects hold less than a detector's.
    """
    detected = [situation for module in SITUATIONS.values() for situation in module.detect(fleet)]
    new = [situation for situation in situations if not any(_is_same(situation, other) for other in detected)]
    found = gated(fleet, advised((*detected, *new), KINDS))
    own, others = found[: len(detected)], found[len(detected) :]
    explained = ranked(own, [(module.SLUG, module.explains) for module in CAUSES], URGENT)
    rest = (*others, *advised(unexplained.detect(fleet, found), KINDS))
    systems = {node.node: system_of(node) for node in fleet.nodes.values()}
    return tuple(map(_of_a_named_pool, in_its_words(ranked((*explained, *rest), (), URGENT) if rest else explained, systems)))


def _of_a_named_pool(situation: Situation) -> Situation:
    """Without commands for a pool whose name was not read: nobody can type them."""
    if situation.subject.get("pool") != NAMELESS:
        return situation
    return replace(situation, cures=tuple(replace(cure, argv=()) for cure in situation.cures))


def gates_of(fleet: FleetFacts, node: str, pool: str) -> tuple[Situation, ...]:
    """What stands on this pool of this node and forbids replacing any member of it for now."""
    return tuple(gating(fleet, GATING, node, pool))


IDENTITY = ("vdev_guid", "wwid", "serial", "disk", "pool")  # of a subject, the most specific first


def _is_same(situation: Situation, other: Situation) -> bool:
    """Whether both are about the same thing, by the most specific name that both give."""
    if (situation.slug, situation.node) != (other.slug, other.node):
        return False
    both = next((name for name in IDENTITY if name in situation.subject and name in other.subject), None)
    return situation.key == other.key if both is None else situation.subject[both] == other.subject[both]
