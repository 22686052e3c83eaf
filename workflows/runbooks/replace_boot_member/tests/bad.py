"""What makes each guard that replace-boot-member alone asks refuse, and not know."""

from __future__ import annotations

from agents.collectors.boot_tool import BootTool
from workflows.tests import bad_disks
from workflows.tests.bends import UNREAD, Bad, disk, each, leaf, node, on_disk, pool, siblings

KEPT = BootTool(("1B21-C4A2",), (("1B21-C4A2", "sda2"),), True)
KEPT_NOWHERE = BootTool(("1B21-C4A2",), (), True)

REFUSED = (
    Bad("the_member_is_a_partition_beside_others", "as of a whole disk", leaf(name="/dev/sdb1", was=None, devid=None)),
    Bad("the_member_is_a_partition_beside_others", "a name of FreeBSD", leaf(name="ada1p3", was=None, devid=None)),
    Bad("a_lost_member_is_not_back", "the member is back", bad_disks.it_came_back),
    Bad("the_new_disk_has_the_partitions_copied", "The kernel shows no partitions", disk("wwid", paths=each(partitions=()))),
    Bad("the_new_partition_is_in_the_pool", "was planned", on_disk("wwid", name="/dev/disk/by-id/wwn-0x5000c500a65b202b-part2")),
    Bad("the_copy_is_in_use_or_gone", "is in no pool", disk("wwid", paths=each(partitions=("sdc1",)))),
    Bad("the_new_disk_serves_nothing", "so it stays as it is", disk("wwid", in_use=("mounted on /mnt",))),
    Bad("proxmox_boot_tool_keeps_the_serving_disk", "installed by hand", node(boot=KEPT_NOWHERE)),
    Bad("no_boot_tool_keeps_the_serving_disk", "Choose that tool", node(boot=KEPT)),
    Bad("the_new_disk_can_boot", "may not boot from it", node(boot=KEPT_NOWHERE)),
)
UNSURE = (
    Bad("the_member_is_a_partition_beside_others", "neither its name nor a label", leaf(name="4711", was=None, devid=None)),
    Bad("a_serving_disk_has_the_partitions", "no partition table to copy", siblings(state="DEGRADED")),
    Bad("a_lost_member_is_not_back", "are not known", pool(tops=UNREAD)),
    Bad("the_new_disk_has_the_partitions_copied", "not known", node(disks=UNREAD)),
    Bad("the_new_partition_is_in_the_pool", "are not known", pool(tops=UNREAD)),
    Bad("the_copy_is_in_use_or_gone", "not known", node(disks=UNREAD)),
    Bad("the_new_disk_serves_nothing", "are not known", disk("wwid", labels=UNREAD)),
    Bad("proxmox_boot_tool_keeps_the_serving_disk", "not known", node(boot=UNREAD)),
    Bad("no_boot_tool_keeps_the_serving_disk", "is not known", node(boot=UNREAD, absent={})),
    Bad("the_new_disk_can_boot", "is not known", node(boot=UNREAD)),
)
NEVER = {  # (guard, outcome) that cannot be -> why
    ("a_serving_disk_has_the_partitions", "refuse"): "There is a disk to copy from, or none is known.",
}
ANSWERS = {  # what judges an answer at the rack -> a phrase with which it refuses a wrong one
    "what_was_installed": "Say which boot loader was installed",
    "what_was_done": "Say with which command",
}
