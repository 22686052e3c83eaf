"""Machines that woke from the same sleep are as different as servers are: portals and pools tell them and their disks apart by guids."""

import re

FILES = "/root/a /root/b"
# Guids are drawn on the CPU that the command runs on, each of which has numbers of its own.
MAKE = (
    f"truncate -s 100M {FILES} && taskset -c 0 zpool create tank mirror {FILES} && zpool get -Hpo value guid tank && zpool status -g tank"
)


def test_no_two_that_woke_from_one_sleep_draw_the_same_guid(boot):
    first, second = guids(boot("oss11", 0)), guids(boot("oss12", 0))
    print(first, second)
    assert len(first) == len(second) == 4  # the pool, the mirror and its members
    assert first.isdisjoint(second)


def guids(machine) -> set[str]:
    assert machine.guest.sh("systemctl is-active zfs-zed") == "active\n"
    return set(re.findall(r"^\s*(\d{5,20})\b", machine.guest.sh(MAKE), re.M))
