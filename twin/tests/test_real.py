"""The twin beside a real node with the same pool: every source of both, line by line, numbers and names aside. What differs is named here, with its reason."""

from __future__ import annotations

import json
import re
from functools import cache

import pytest

from agents.collectors import COLLECTORS
from agents.tests import lab_nodes
from twin.scenarios import add_spare, host, tiny

ANOTHER_MACHINE = "The twin has an expander and disks with SMART and SAS logs, the lab's node QEMU's."
ANOTHER_PAST = "The node made its pool a minute ago, the twin imported it at its boot."
# What one of the two prints and the other does not: source -> (reason, lines of the node, lines of the twin).
OTHERWISE = {
    "block": (
        ANOTHER_MACHINE,
        r"\S*/(device|enclosure_device:\S+) -> .*|\S*/write_cache:write back|\S*/vpd_pg9:.*",
        r"\S*/(device|enclosure_device:\S+) -> .*|\S*/write_cache:write through|\S*/vpd_pg9:.*|\S*/sas_address:W",
    ),
    "dbgmsg": (ANOTHER_PAST, r"9 (ff\w+ )?\w+\.c:9:\w+\(\): .*", r"9 (ff\w+ )?spa\.c:9:spa_import\(\): spa_import: importing ost_9"),
    "drive_modes": (
        ANOTHER_MACHINE,
        r"\S*/cache_type:write back|WCE 9 \[cha: y, def: 9\]",
        r"\S*/cache_type:write through|(WCE|EN_BMS) 9 .*, sav: 9\]",
    ),
    "enclosure": (ANOTHER_MACHINE, "", r".*/status:not installed"),
    "kernel_log": ("The node tells of its boot and of its HBA.", ".*", r".*(Linux version|logical blocks|ZFS: Loaded).*"),
    "lsscsi": (ANOTHER_MACHINE, r"\[9:9:9:9\] enclosu .*", r"\[9:9:9:9\] enclosu .*"),
    "mounts": ("The node mounts what Debian mounts.", r"/proc/9/mounts:\S+ /\S* .*", ""),
    "node": ("Other ids, and the versions of a package.", *2 * (r"\S*(boot_id|hostid|zfs/version):.*|zpool --version:.*",)),
    "sas_phys": (ANOTHER_MACHINE, r"phy-9:9/device_type:end device", r"phy-9:9(:9)?/\w+:.*"),
    "sas_topology": (ANOTHER_MACHINE, *2 * (r"/sys/class/(scsi_host|sas_\w+)/.*",)),
    "ses": (
        ANOTHER_MACHINE,
        r" (LAB SES-SHELF 9|Element type: Enclosure services controller electronics.*|number of phys: 9)",
        r" (LSI SAS9X9 9e9|SAS device type: .*|target port for:|SAS address: X)",
    ),
    "sg_logs": (ANOTHER_MACHINE, "", ".*"),
    "smart": (ANOTHER_MACHINE, ".*", ".*"),
    "zdb_config": (ANOTHER_MACHINE, r" *vdev_enc_sysfs_path: .*", ""),
    "zdb_label": (ANOTHER_MACHINE, r" *vdev_enc_sysfs_path: .*", ""),
    "zpool_events": (ANOTHER_PAST, r".*sysevent\.fs\.zfs\.pool_create.*", r".*sysevent\.fs\.zfs\.pool_import.*"),
    "zpool_get": ("The node was asked before agents asked for this.", "", r"ost_9 feature@resilver_defer enabled local"),
    "zpool_history": (
        ANOTHER_PAST,
        r"9-9-9\.9:9:9 .*| (\[user|scrub|input|pool|output|[a-z_]+:).*",
        r"9-9-9\.9:9:9 (\[txg:9\] create pool|zpool (create|import)) .*",
    ),
}


def form(text: str) -> set[str]:
    """Its lines, those of JSON one value each, with numbers, WWNs and kernel names alike; a table's `-` stands for a number that there was none of."""
    found = set()
    for line in (json.dumps(json.loads(text), indent=1) if text.startswith("{") else text).splitlines():
        line = re.sub(r"(?<=\s)-(?=\s|$)", "9", re.sub(r"\b(lab2[13]|oss01)\b", "HOST", line))
        line = re.sub(r"wwn-0x[0-9a-f]+|(0x5|\b5|(?<=\b3)5)[0-9a-f]{15}\b|(?<=scsi-)35[0-9a-f]{15}", "W", line)
        line = re.sub(r"\bsd[a-z]+", "sdN", re.sub(r"0x[0-9a-f]+", "X", line))
        line = re.sub(r"9(\.9)?[KMGT]\b", "9", re.sub(r"\d+", "9", line))
        found.add(re.sub(r"\s+", " ", line))
    return found


@cache
def twin_output(release: str, folder) -> dict:
    node = tiny(f"{release}-1")
    add_spare(node, "ost_0", node.disks[6])
    played = host(folder, node)
    return {name: module.collect(played) for name, module in COLLECTORS.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("twin")


def both(release: str, source: str, folder) -> tuple[set[str], set[str]]:
    genuine = [body for (name, _), body in lab_nodes.node(release, "healthy").items() if name == source]
    ours = twin_output(release, folder)[source]
    real = set().union(*(form(one["text"]) for one in genuine))
    twin = set().union(*(form(capture.text) for capture in ours))
    assert {one["outcome"] for one in genuine} == {capture.outcome for capture in ours}, source
    return real, twin


# The lab's nodes were recorded before these were asked for. The form of the twin's page of a shelf is that of sg_ses.c.
NOT_RECORDED = frozenset(("boot_tool", "by_hand", "light_tools", "ses_status", "zfs_get", "zfs_snapshots", "zpool_status_errors"))


@pytest.mark.parametrize("source", sorted(set(COLLECTORS) - NOT_RECORDED))
@pytest.mark.parametrize("release", lab_nodes.RELEASES)
def test_the_twin_says_what_a_real_node_says(release, source, folder):
    real, twin = both(release, source, folder)
    _, only_real, only_twin = OTHERWISE.get(source, ("", "", ""))
    assert [line for line in sorted(real - twin) if not re.fullmatch(only_real, line)] == []
    assert [line for line in sorted(twin - real) if not re.fullmatch(only_twin, line)] == []


@pytest.mark.parametrize("source", sorted(OTHERWISE))
def test_what_is_said_to_differ_still_does(source, folder):
    pairs = [both(release, source, folder) for release in lab_nodes.RELEASES]
    assert any(real != twin for real, twin in pairs)
