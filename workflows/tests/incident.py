"""The incident as facts: `ost_0` on oss01 has lost a disk it calls /dev/sdfl1, and sdfl is a healthy member today.

Hand-built, so that a test can change one thing. `FLEET` and `PARAMS` are a case where every guard passes.
"""

from __future__ import annotations

from dataclasses import replace

from agents.collectors import COLLECTORS
from workflows.facts import (
    BayFacts,
    ConditionFacts,
    DiskFacts,
    DiskLink,
    ErrorFacts,
    FleetFacts,
    HealthFacts,
    LabelFacts,
    NodeFacts,
    PathFacts,
    PoolFacts,
    ScanFacts,
    SelfTestFacts,
    Unknown,
    VdevFacts,
)
from workflows.facts.fleet.identity import Statement, weigh
from workflows.facts.read.tunables import TunableFacts, TunablesFacts

POOL_GUID = 15498746923132605816
LOST, TWIN, SDFL = 14718944552882581455, 7602440441426092393, 4242424242424242424  # vdev guids
TOP_GUID = 11005530297424967208
SDFL_WWID, SDCW_WWID, BLANK_WWID = "naa:5000c500a6754abb", "naa:5000cca273a7d9e8", "naa:5000c500a65b207b"
FOREIGN_WWID, SMALL_WWID, SPARE_WWID = "naa:5000c500a65b2f0b", "naa:5000c500a65b2f1b", "naa:5000c500a65b2f2b"
NO_LABEL = Unknown("No disk carries its label.")
DEVID = "scsi-35000cca273a7d9e8-part1"
TEN_TB = 10_000_831_348_736

PARAMS = {
    "node": "oss01",
    "pool": "ost_0",
    "pool_guid": str(POOL_GUID),
    "vdev_guid": str(LOST),
    "was": "/dev/sdfl1",
    "wwid": BLANK_WWID,
}


def by_id(wwid):
    return f"/dev/disk/by-id/wwn-0x{wwid.removeprefix('naa:')}"


def label(partition, guid, pool_guid=POOL_GUID, pool_name="ost_0", state=0, **more):
    return LabelFacts(partition, (0, 1, 2, 3), pool_name, pool_guid, guid, TOP_GUID, state, 4000, 1529846785, "oss01", 12, **more)


WELL = ConditionFacts(
    temperature=31,
    temperature_trip=60,
    power_on_hours=22630,
    grown_defects=0,
    pending_defects=0,
    errors=(ErrorFacts("read", 2170, 0, 214 * 10**12),),
    non_medium=12,
    self_tests=(SelfTestFacts(22540, "Background short", 0, "Completed"),),
    background="scan is active",
    scan_findings=0,
    links=(DiskLink(0, 0, "phy enabled; 12 Gbps", 12.0, (0, 0, 0, 0)),),
    attributes=(),
    percent_used=Unknown("The disk does not say."),
)


def identity(name, wwid, serial, *more):
    """What the kernel and udev say; `more` statements may contradict them."""
    kernel = (
        Statement("wwid", wwid, "block", f"the kernel ({name})", "kernel"),
        Statement("serial", serial, "block", f"the kernel ({name})", "kernel"),
    )
    return weigh((*kernel, Statement("wwid", wwid, "disk_links", f"the link {by_id(wwid)[16:]}", "udev"), *more))


def disk(name, wwid, *labels, slot=1, size_bytes=TEN_TB, **more):
    partitions = (f"{name}1", f"{name}9") if labels else ()
    path = PathFacts(name, "6:0:176:0", "running", f"0x{wwid.removeprefix('naa:')}", (), partitions, (by_id(wwid),), "/dev/sg176")
    bay = BayFacts("0x50050cc11ac016e2", "6:0:89:0", slot, str(slot), "OK", False, False, name)
    return DiskFacts(
        **{
            "wwid": wwid,
            "serial": f"ZA{slot:06}",
            "vendor": "SEAGATE",
            "model": "ST10000NM0256",
            "firmware": "TT54",
            "size_bytes": size_bytes,
            "logical_block_bytes": 512,
            "physical_block_bytes": 4096,
            "paths": (path,),
            "labels": tuple(labels),
            "in_use": (),
            "bay": bay,
            "health": HealthFacts(True, "SMART Health Status: OK", 0),
            "condition": WELL,
            "identity": identity(name, wwid, f"ZA{slot:06}"),
        }
        | more
    )


def leaf(guid, name, state="ONLINE", wwid=NO_LABEL, note="", **more):
    return VdevFacts(guid, name, "disk", 0, state, (0, 0, 0), note, wwid=wwid, **more)


def vdev(guid, name, kind, parity, *children, state="ONLINE"):
    return VdevFacts(guid, name, kind, parity, state, (0, 0, 0), "", tuple(children), ashift=12)


LOST_LEAF = leaf(LOST, str(LOST), "FAULTED", note="was /dev/sdfl1", was="/dev/sdfl1", devid=DEVID)
MEMBERS = (
    leaf(TWIN, "/dev/sdcw1", wwid=SDCW_WWID, devid=DEVID),
    leaf(SDFL, f"{by_id(SDFL_WWID)}-part1", wwid=SDFL_WWID, devid="scsi-35000c500a6754abb-part1"),
    leaf(88, "/dev/disk/by-id/wwn-0x5000c500a65b3a1b-part1", wwid="naa:5000c500a65b3a1b"),
    leaf(89, "/dev/disk/by-id/wwn-0x5000c500a65b3a2b-part1", wwid="naa:5000c500a65b3a2b"),
)
TOP = vdev(TOP_GUID, "raidz2-0", "raidz", 2, LOST_LEAF, *MEMBERS, state="DEGRADED")
POOL = PoolFacts(
    name="ost_0",
    guid=POOL_GUID,
    state="DEGRADED",
    suspended=False,
    scans=(ScanFacts("none", "none", "none requested"),),
    tops=(("data", TOP),),
    removing=False,
    expanding=False,
    checkpoint=False,
    properties={"ashift": "0", "readonly": "off", "feature@resilver_defer": "enabled"},
)
DISKS = (
    disk("sdcw", SDCW_WWID, label("sdcw1", TWIN), slot=68),
    disk("sdfl", SDFL_WWID, label("sdfl1", SDFL), slot=5),
    disk("sda", "naa:5000c500a65b3a1b", label("sda1", 88), slot=1),
    disk("sdb", "naa:5000c500a65b3a2b", label("sdb1", 89), slot=2),
    disk("sdcx", BLANK_WWID, slot=70),
    disk("sdcy", FOREIGN_WWID, label("sdcy1", 5, 777, "scratch9", 1), slot=71),
    disk("sdcz", SMALL_WWID, slot=72, size_bytes=8_001_563_222_016),
)
NODE = NodeFacts(
    node="oss01",
    age_seconds=4.0,
    hostname="oss01",
    hostid="5b2f4c01",
    boot_id="2d6c2f7e-0000-4000-8000-000000000001",
    zfs_userland="zfs-2.1.11-1+deb12u1",
    zfs_module="zfs-kmod-2.1.11-1+deb12u1",
    pools=(POOL,),
    disks=DISKS,
    bays=tuple(d.bay for d in DISKS),
    importable=(),
    leaf_changes=(),
    digests={"zpool_status": "a" * 64, "block": "b" * 64},
    failures={},
    ages=dict.fromkeys(COLLECTORS, 9.0),
    tunables=TunablesFacts((TunableFacts("zfs_resilver_disable_defer", "0", None, (0,)),), ()),
)
OTHER = replace(
    NODE, node="oss02", hostname="oss02", pools=(), disks=(disk("sda", "naa:5000c500a65bffff"),), bays=(), digests={}, age_seconds=7200.0
)


def fleet(node=NODE, *others):
    return FleetFacts({n.node: n for n in (node, *(others or (OTHER,)))})


def with_pool(**changes):
    return fleet(replace(NODE, pools=(replace(POOL, **changes),)))


def with_leaf(lost, *members):
    """The pool with this leaf in the lost one's place; it is whole where each of its leaves is."""
    children = (lost, *(members or MEMBERS))
    state = "ONLINE" if all(child.state == "ONLINE" for child in children) else "DEGRADED"
    return with_pool(state=state, tops=(("data", replace(TOP, state=state, children=children)),))


def with_disk(which, **changes):
    return fleet(replace(NODE, disks=tuple(replace(d, **changes) if d.wwid == which else d for d in DISKS)))


FLEET = fleet()

NEW_LEAF = leaf(1234567890123456789, f"{by_id(BLANK_WWID)}-part1", wwid=BLANK_WWID)
RESILVERED = (ScanFacts("resilver", "finished", "resilvered 9.1T in 17:12:00 with 0 errors on …", None, 0),)


def after(*children, scans=RESILVERED):
    """The pool after the replacement, with these leaves in the lost one's place."""
    members = (*(children or (NEW_LEAF,)), *MEMBERS)
    state = "ONLINE" if all(child.state == "ONLINE" for child in members) else "DEGRADED"
    return with_pool(state="ONLINE", scans=scans, tops=(("data", replace(TOP, state=state, children=members)),))


REPLACED = after()
