"""Replace a member that is one partition of a disk which also boots the node: the table is copied, the partition replaced, the boot partition made.

    new disk chosen (-> scanned) -> checked -> table copied -> read back -> partition replaced -> boot loader -> filled -> verified

The disks are named by WWID, the member by its guid, the partition by its number. The serving disk of the mirror is only read. Each command is planned by
the node, confirmed and approved by itself. Whole disks are replaced by other runbooks, which refuse such a member: a whole disk in its place would
hold the data and could not boot. What is lost by each step is what was on the new disk, which must be blank. The old disk is not touched.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agents.operations import partition_copy, proxmox_boot_init, zpool_replace_partition
from workflows.engine.core import (
    CheckStep,
    ConfirmStep,
    DecideStep,
    Loop,
    ManualStep,
    Option,
    Params,
    Runbook,
    Verdict,
    WaitStep,
    ask,
    ok,
    refuse,
)
from workflows.facts import FleetFacts, known
from workflows.facts.lookup import disk as disk_of
from workflows.guards import CANDIDATE_GUARDS, facts_are_fresh
from workflows.guards.candidate import CHOICE_GUARDS, the_disk_has_no_partitions
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.guards.mapped import the_pool_is_not_encrypted_below
from workflows.guards.policy import allowed
from workflows.guards.protection import the_disk_has_the_protection_of_its_siblings
from workflows.guards.releases import released
from workflows.guards.replaced import REPLACED_GUARDS, the_new_disk_has_taken_over
from workflows.guards.target import (
    its_siblings_read_true,
    no_expansion_is_under_way,
    no_mass_event_is_under_way,
    no_resilver_touches_the_vdev,
    nothing_blocks_attaching,
    the_lost_member_is_not_being_replaced,
    the_lost_member_is_one_known_vdev,
    the_pool_asks_for_no_larger_blocks,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    the_vdev_can_still_rebuild,
)
from workflows.runbooks._orders import POOL_SOURCES, argv_is_ours, named, order, verify
from workflows.runbooks._replacing import (
    RESILVER_SECONDS_MAX,
    every_disk,
    how_far_the_resilver_is,
    pool_disk_and_bay,
    scan_chosen,
    the_disk_that_comes,
    what_is_left_meanwhile,
)
from workflows.runbooks.replace_boot_member.guards import (
    OTHER,
    a_lost_member_is_not_back,
    a_serving_disk_has_the_partitions,
    no_boot_tool_keeps_the_serving_disk,
    proxmox_boot_tool_keeps_the_serving_disk,
    the_boot_loader_is_by_hand,
    the_boot_partition,
    the_boot_partition_is_by_the_tool,
    the_copy_is_in_use_or_gone,
    the_member_is_a_partition_beside_others,
    the_new_disk_can_boot,
    the_new_disk_has_the_partitions_copied,
    the_new_disk_serves_nothing,
    the_new_partition_is_in_the_pool,
    the_node_was_booted_by_uefi,
    the_partition,
    the_source,
    there_is_a_copy_to_clear,
    what_the_old_disk_still_serves,
)

MEMBER_GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    the_lost_member_is_one_known_vdev,
    the_member_is_a_partition_beside_others,
    a_serving_disk_has_the_partitions,
    the_lost_member_is_not_being_replaced,
    the_pool_is_not_encrypted_below,
    a_lost_member_is_not_back,
    the_vdev_can_still_rebuild,
    no_mass_event_is_under_way,
    its_siblings_read_true,
    no_resilver_touches_the_vdev,
    nothing_blocks_attaching,
    no_expansion_is_under_way,
    the_pool_asks_for_no_larger_blocks,
    nothing_of_the_pool_comes_first,
)
COPY_GUARDS = (*MEMBER_GUARDS, *CANDIDATE_GUARDS, the_disk_has_the_protection_of_its_siblings)
REPLACE_GUARDS = tuple(the_new_disk_has_the_partitions_copied if one is the_disk_has_no_partitions else one for one in COPY_GUARDS)
BOOT_GUARDS = (
    facts_are_fresh,
    the_new_partition_is_in_the_pool,
    a_serving_disk_has_the_partitions,
    proxmox_boot_tool_keeps_the_serving_disk,
)
BOOT_SOURCES = ("boot_tool", "block", "disk_links")
PROXMOX = {"uefi": "proxmox-boot-tool with systemd-boot", "grub": "proxmox-boot-tool with grub"}
NOTE_CHARS_MIN = 10
BY_HAND = (
    "Debian and Ubuntu with BIOS: `grub-install` on the new disk by its name in /dev/disk/by-id. With UEFI: the EFI partition of the new disk formatted with "
    "`mkfs.vfat -F 32`, filled as the one of the serving disk, listed in /etc/fstab or by `efibootmgr`. A pool that nothing boots from needs none of it: say so."
)


def disks_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    """Every disk of the node. The choice settles which disk's table is copied to it, and which partition takes the member's place."""
    source, part = the_source(facts, params), the_partition(facts, params)
    if not known(source) or not known(part):
        return every_disk(facts, params, (*CHOICE_GUARDS, a_serving_disk_has_the_partitions))
    fixes = {"from_wwid": str(source[1].wwid), "from_serial": str(source[1].serial), "partition": str(part)}
    guards = (*CHOICE_GUARDS, the_disk_has_the_protection_of_its_siblings)
    return tuple(
        replace(option, fixes=fixes | {"new_serial": _serial(facts, params, option)}) for option in every_disk(facts, params, guards)
    )


def _serial(facts: FleetFacts, params: Params, option: Option) -> str:
    """ "" of a disk whose serial number is not known, which is not fit: nobody could tell it at the rack."""
    disk = disk_of(facts, params.get("node", ""), option.value)
    return str(disk.serial) if known(disk) and disk is not None and known(disk.serial) else ""


def ways_to_boot(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    part = the_boot_partition(facts, params)
    esp = str(part) if known(part) and part else ""
    kept = ask((proxmox_boot_tool_keeps_the_serving_disk,), facts, params)
    uefi = ask((the_node_was_booted_by_uefi,), facts, params)
    detail = "As `proxmox-boot-tool status` shows for the serving disk. The EFI partition of the new disk is formatted and filled."
    return (
        Option("proxmox-uefi", PROXMOX["uefi"], detail, (*kept, *uefi), fixes={"esp": esp, "mode": "uefi"}),
        Option("proxmox-grub", PROXMOX["grub"], detail, kept, fixes={"esp": esp, "mode": "grub"}),
        Option(
            OTHER,
            "Another boot loader, or none",
            "A person installs it by hand, and says what was done. No source of the node shows whether that boots.",
            ask((no_boot_tool_keeps_the_serving_disk,), facts, params),
            fixes={"esp": "", "mode": ""},
        ),
    )


def both_serial_ends_and_pool(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{params['from_serial'][-6:]} {params['new_serial'][-6:]} {params['pool']}"


def member_and_disk_and_pool(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{params['vdev_guid'][-6:]} {params['new_serial'][-6:]} {params['pool']}"


copy_params = named(*partition_copy.PARAMS)
replace_params = named(*zpool_replace_partition.PARAMS)
boot_params = named(*proxmox_boot_init.PARAMS)


def copy_is_for_these_disks(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> tuple[Verdict, ...]:
    return (*argv_is_ours(partition_copy, copy_params)(facts, params, plan), *the_disk_that_comes(facts, params, plan))


def replacement_is_for_this_disk(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> tuple[Verdict, ...]:
    return (*argv_is_ours(zpool_replace_partition, replace_params)(facts, params, plan), *the_disk_that_comes(facts, params, plan))


def what_is_overwritten(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "overwritten": f"The partition table of {params['new_serial']}, which is blank. {params['from_serial']} is only read.",
        **what_is_left_meanwhile(facts, params, plan),
    }


def what_is_formatted(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "given_up": f"What is on partition {params.get('esp', '')} of the new disk {params.get('new_serial', '')}: it is formatted. It must be empty."
    }


def what_was_installed(facts: FleetFacts, params: Params, text: str) -> tuple[Verdict, ...]:
    if len(text) < NOTE_CHARS_MIN:
        return (refuse("Say which boot loader was installed and with which command, or that nothing boots from this pool."),)
    return (ok("It is noted."),)


def what_was_done(facts: FleetFacts, params: Params, text: str) -> tuple[Verdict, ...]:
    if len(text) < NOTE_CHARS_MIN:
        return (refuse("Say with which command the new disk was made blank."),)
    return (ok("It is noted."),)


COPIED = Loop(
    slug="copied",
    what=lambda params: (
        f"The disk {params.get('new_serial', '')} on {params['node']} has the partitions of {params.get('from_serial', '')} and is in no pool yet."
    ),
    undo="Begin the runbook anew with another blank disk; or, to make this one blank again, `sgdisk --zap-all` with its name in /dev/disk/by-id, after its "
    "serial number was compared. Its partitions hold nothing.",
    over=the_copy_is_in_use_or_gone,
)

RUNBOOK = Runbook(
    slug="replace-boot-member",
    title="Replace a member that is a partition of a boot disk",
    purpose="A member of a mirror is one partition of its disk, as on Proxmox, and the others boot the node. The partition table of the serving disk is copied "
    "to a blank one and read back, the right partition replaces the member, and the new disk is made bootable. Each command is planned and approved by itself.",
    states="new disk chosen -> checked -> table copied -> read back -> partition replaced -> boot loader -> filled -> verified",
    point_of_no_return="copy",
    params={
        "node": "the node that has the pool imported",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
        "vdev_guid": "the guid of the member that is to go",
    },
    locks=pool_disk_and_bay,
    undo="see",
    steps=(
        DecideStep(
            slug="choose",
            title="Choose the new disk",
            why="Every disk the node sees is listed, with the reasons for and against it. Only a blank, healthy disk that is not smaller than the others of the "
            "vdev can be chosen. The partition table of a serving disk of the same vdev is copied to it. Nothing changes on the node.",
            guards=(
                facts_are_fresh,
                the_member_is_a_partition_beside_others,
                a_serving_disk_has_the_partitions,
                nothing_of_the_pool_comes_first,
            ),
            param="wwid",
            options=disks_there_are,
            learned=("new_serial", "from_wwid", "from_serial", "partition"),
        ),
        scan_chosen(),
        CheckStep(
            slug="check",
            title="Check pool, member and both disks",
            why="Every guard must pass. What is not known counts as a refusal.",
            guards=(
                *COPY_GUARDS,
                allowed(partition_copy, zpool_replace_partition),
                released(partition_copy, zpool_replace_partition),
            ),
            warns=(what_the_old_disk_still_serves,),
        ),
        *order(
            "copy",
            "Copy the partition table to the new disk",
            partition_copy,
            copy_params,
            COPY_GUARDS,
            "The partition table of the new disk is overwritten; the serving disk is only read. The copy gets GUIDs of its own, and is read back. No data is copied.",
            then=(zpool_replace_partition,),
            confirm=ConfirmStep(
                "confirm-copy",
                "Confirm which table goes where",
                "You type both disks: the one that is read, and the one that is overwritten.",
                phrase=both_serial_ends_and_pool,
                phrase_hint="Type the last 6 characters of the serial number of the disk that is read, a space, those of the new disk's, a space, and the pool's name.",
            ),
            approvals=1,
            agrees=copy_is_for_these_disks,
            adds=what_is_overwritten,
            opens=COPIED,
        ),
        verify(
            "verify-copy",
            "Verify that the new disk has the partitions",
            "The node looks again. It compares places, types and GUIDs once more when the replacement is planned.",
            (facts_are_fresh, the_new_disk_has_the_partitions_copied),
            ("block", "disk_links", "zdb_label"),
        ),
        *order(
            "replace",
            "Have ZFS fill the partition of the new disk",
            zpool_replace_partition,
            replace_params,
            REPLACE_GUARDS,
            "The partition of the new disk takes the member's place. A member that still serves stays until it is filled.",
            confirm=ConfirmStep(
                "confirm-replace",
                "Confirm which member is replaced",
                "You type the member that goes and the disk that comes.",
                phrase=member_and_disk_and_pool,
                phrase_hint="Type the last 6 digits of the member's guid, the last 6 characters of the new disk's serial number, and the pool's name, with spaces.",
            ),
            approvals=1,
            agrees=replacement_is_for_this_disk,
            adds=what_is_left_meanwhile,
        ),
        verify(
            "verify-replace",
            "Verify that the partition is in the pool",
            "The node looks again. Filling goes on meanwhile.",
            (facts_are_fresh, the_new_partition_is_in_the_pool),
            (*POOL_SOURCES, "block"),
            closes=(COPIED.slug,),
        ),
        DecideStep(
            slug="boot",
            title="Choose what boots the node",
            why="Until this is done the node boots from the other disk alone. `proxmox-boot-tool status` and `efibootmgr -v` on the node show what boots it. "
            "What the node reports decides which choice fits.",
            guards=(facts_are_fresh, the_new_partition_is_in_the_pool),
            param="boot",
            options=ways_to_boot,
            learned=("esp", "mode"),
        ),
        *order(
            "init-boot",
            "Make the new disk bootable",
            proxmox_boot_init,
            boot_params,
            BOOT_GUARDS,
            "The EFI partition of the new disk is formatted, filled, and kept filled from then on. The tool refuses a partition that holds a file system.",
            approvals=1,
            needed=the_boot_partition_is_by_the_tool,
            adds=what_is_formatted,
        ),
        verify(
            "verify-boot",
            "Verify that the new disk can boot",
            "The node looks again at the list of proxmox-boot-tool. Of another boot loader nothing but a restart shows it.",
            (facts_are_fresh, the_new_disk_can_boot),
            BOOT_SOURCES,
        ),
        ManualStep(
            slug="boot-by-hand",
            title="Install the boot loader on the new disk",
            why=f"No order is made for this boot loader. {BY_HAND}",
            guards=(facts_are_fresh, the_new_partition_is_in_the_pool, no_boot_tool_keeps_the_serving_disk),
            asks="Say which boot loader was installed and with which command, or that nothing boots from this pool.",
            judges=what_was_installed,
            needed=the_boot_loader_is_by_hand,
        ),
        WaitStep(
            slug="resilver",
            title="Wait until the partition is filled",
            why="ZFS fills it and lets the old member go by itself. Leave both disks in.",
            until=the_new_disk_has_taken_over,
            sources=POOL_SOURCES,
            progress=how_far_the_resilver_is,
            deadline_seconds=RESILVER_SECONDS_MAX,
        ),
        verify(
            "verify",
            "Verify that the new disk has taken over",
            "The node looks again, and every answer uses what it reports after the resilver has ended.",
            (*REPLACED_GUARDS, the_new_partition_is_in_the_pool, the_new_disk_can_boot),
            (*POOL_SOURCES, *BOOT_SOURCES),
        ),
        CheckStep(
            slug="old-disk",
            title="See what the old disk still serves",
            why="Before it is pulled: swap, mounts and boot files on its other partitions. Nothing of it is ended by the portal.",
            guards=(facts_are_fresh,),
            warns=(what_the_old_disk_still_serves,),
        ),
        # the way back
        CheckStep(
            slug="see",
            title="See whether the copy serves",
            why="A partition that is in the pool stays there: it is being filled, or is filled. Only a copy in no pool is taken away again.",
            guards=(facts_are_fresh,),
            undoes=COPIED.slug,
        ),
        ManualStep(
            slug="make-blank",
            title="Make the new disk blank again",
            why="On the node, with the name of the new disk in /dev/disk/by-id and after its serial number was compared: `sgdisk --zap-all`. What is lost is the "
            "copied partition table; the partitions hold nothing.",
            guards=(facts_are_fresh, the_new_disk_serves_nothing),
            asks="Say with which command the new disk was made blank.",
            judges=what_was_done,
            needed=there_is_a_copy_to_clear,
            undoes=COPIED.slug,
        ),
        verify(
            "see-blank",
            "Verify that nothing is left of the copy",
            "The node looks again: the new disk has no partitions, or is in the pool.",
            (facts_are_fresh, the_copy_is_in_use_or_gone),
            ("block", "disk_links", "zdb_label"),
            undoes=COPIED.slug,
            closes=(COPIED.slug,),
        ),
    ),
)
