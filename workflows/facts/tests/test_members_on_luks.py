"""A member that is a LUKS container is known by the label inside it, and its disk by what the container lies on."""

import re
from dataclasses import replace

import pytest

from agents.collectors import COLLECTORS
from workflows.facts import FleetFacts, known, node_facts
from workflows.facts.tests.played import captures
from workflows.situations import detect_all

BLANK = "".join(f"failed to unpack label {n}\n" for n in range(4))
STEP, WWN, WWID = "healthy-raidz2", "0x5000c500a65b200b", "naa:5000c500a65b200b"
OPEN = "/sys/block/dm-0/dm/name:luks-0\n/sys/block/dm-0/dm/uuid:CRYPT-LUKS2-f406f46bf4394596b5419d9e3dab7060-luks-0\n/sys/block/dm-0/slaves:{below}\n"


def node(below: str):
    """The node with its first member in a container on `below`: "sda", or "sda1" of it."""
    found = dict(captures(STEP))

    def change(where: str, pattern: str, new: str) -> None:
        found[where] = replace(found[where], text=re.sub(pattern, new, found[where].text, flags=re.MULTILINE))

    label = found.pop("zdb_label/sda1")
    found["zdb_label/dm-0"] = replace(label, key="dm-0")
    found[f"zdb_label/{below}"] = replace(label, key=below, text=BLANK, exit_code=2)
    if below == "sda":
        change("block", r"^/sys/block/sda/sda.*\n", "")
    folder = "/sys/block/sda/holders" if below == "sda" else f"/sys/block/sda/{below}/holders"
    change("block", rf"^{folder}:$", f"{folder}:dm-0")
    change("multipath", r"\A.*\Z", f"/sys/block:dm-0\n{OPEN.format(below=below)}")
    for where in [each for each in found if each.startswith("zpool_status")]:
        change(where, rf"/dev/disk/by-id/wwn-{WWN}-part1", "/dev/mapper/luks-0")
    change("disk_links", r"\Z", "/dev/mapper/luks-0 -> /dev/dm-0\n")
    return node_facts("oss01", found, 1.0, (), ages=dict.fromkeys(COLLECTORS, 1.0))


@pytest.mark.parametrize("below", ["sda", "sda1"])
def test_the_disk_below_the_container_is_the_member_and_nothing_is_wrong_with_it(below):
    facts = node(below)
    leaf = next(leaf for _, top in facts.pools[0].tops for leaf in top.leaves() if leaf.name == "/dev/mapper/luks-0")
    assert leaf.wwid == WWID
    disk = next(disk for disk in facts.disks if disk.wwid == WWID)
    assert known(disk.labels)
    assert [label.guid for label in disk.labels] == [leaf.guid]
    assert [found.slug for found in detect_all(FleetFacts({"oss01": facts}))] == []
