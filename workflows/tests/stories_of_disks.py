"""Stories about disks: wwid-mismatch-replace, blink-and-replace, spare-return."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from twin import scenarios
from twin.build import add_pool, by_id, guid_of, member, top
from twin.disk_kinds import at_ports, multipath, nvme, sata_without_wwn, turned
from twin.disk_names import pci_address
from twin.light_tools import with_tool
from twin.model import Disk, Node, Pool
from workflows.facts import FleetFacts
from workflows.guards.bay import has_no_bay
from workflows.situations import detect_all
from workflows.tests.walks import Story, Walk

SICK_BAY = 3


def sick() -> Mapping[str, Node]:
    return {"oss01": scenarios.sick_disk()}


def faulted() -> Mapping[str, Node]:
    return {"oss01": scenarios.sick_disk(faulted=True)}


def answer(facts: FleetFacts, runbook: str) -> Mapping[str, str]:
    """The parameters that a situation of these facts fills in."""
    found = [a.params for s in detect_all(facts) for a in s.answers if a.runbook == runbook]
    assert found, f"no situation is answered by {runbook}: {[s.slug for s in detect_all(facts)]}"
    return found[0]


def bay(node: Node, number: int):
    return next(b for b in node.enclosures[0].bays if b.number == number)


def pull(walk: Walk) -> str:
    with walk.changing() as node:
        old = walk.state.params["old_wwid"] if has_no_bay(walk.state.params) else bay(node, SICK_BAY).wwid
        walk.kept["pulled"] = scenarios.unplug(node, old)
    return ""


def insert(walk: Walk) -> str:
    with walk.changing() as node:
        scenarios.plug(node, scenarios.shelf_disk(), bay(node, SICK_BAY))
    return ""


def insert_sata(walk: Walk) -> str:
    with walk.changing() as node:
        scenarios.plug(node, sata_without_wwn(scenarios.shelf_disk()), bay(node, SICK_BAY))
    return ""


def insert_mapped(walk: Walk) -> str:
    with walk.changing() as node:
        scenarios.plug(node, multipath(scenarios.shelf_disk()), bay(node, SICK_BAY))
    return ""


def insert_without_bay(walk: Walk) -> str:
    with walk.changing() as node:
        scenarios.plug(node, sata_without_wwn(scenarios.shelf_disk()), None)
    return ""


def put_back_without_bay(walk: Walk) -> str:
    old, new = walk.state.params["old_wwid"], sata_without_wwn(scenarios.shelf_disk()).wwid
    with walk.changing() as node:
        if all(disk.wwid != old for disk in node.disks):
            if any(disk.wwid == new for disk in node.disks):
                scenarios.unplug(node, new)
            scenarios.plug(node, walk.kept["pulled"], None)
    return ""


def on_the_mainboard() -> Mapping[str, Node]:
    """The sick disk is one of SATA disks on ports that no enclosure knows of, so no light leads to it."""
    node = turned(scenarios.sick_disk(), sata_without_wwn)
    node.enclosures = []
    for leaf in node.pool("ost_0").leaves():
        leaf.enc_path = ""
    return {"oss01": node}


def below_ports() -> Mapping[str, Node]:
    """The sick disk is one of NVMe disks, each below a PCIe port that has a locate light."""
    return {"oss01": at_ports(turned(scenarios.sick_disk(faulted=True), nvme))}


def insert_below_the_port(walk: Walk) -> str:
    disk, pulled = nvme(scenarios.shelf_disk()), walk.kept["pulled"]
    disk.paths[0].phys_path = pulled.paths[0].phys_path
    with walk.changing() as node:
        scenarios.plug(node, disk, None)
    return ""


def put_back_below_the_port(walk: Walk) -> str:
    old, new = walk.state.params["old_wwid"], nvme(scenarios.shelf_disk()).wwid
    with walk.changing() as node:
        if all(disk.wwid != old for disk in node.disks):
            if any(disk.wwid == new for disk in node.disks):
                scenarios.unplug(node, new)
            scenarios.plug(node, walk.kept["pulled"], None)
    return ""


def find_by_the_light(walk: Walk) -> str:
    """The serial number of the disk below the one port that is lit."""
    (below,) = (port.below for port in walk.node.ports if port.locate)
    return next(disk.serial for disk in walk.node.disks for path in disk.paths if pci_address(path) == below)


def by_tool(name: str) -> Mapping[str, Node]:
    """The sick disk is one of disks to which only a tool of the node leads."""
    node = scenarios.sick_disk(faulted=True)
    return {"oss01": with_tool(turned(node, nvme) if name == "ledctl" else node, name)}


def for_the_tool(name: str) -> Disk:
    return nvme(scenarios.shelf_disk()) if name == "ledctl" else scenarios.shelf_disk()


def find_by_the_tool(walk: Walk) -> str:
    """The serial number of the disk in the one place that is lit."""
    (tool,) = walk.node.light_tools
    (lit,) = tool.lit
    return walk.node.disk(tool.places[lit]).serial


def insert_where_the_tool_leads(walk: Walk) -> str:
    old = walk.kept["pulled"]
    with walk.changing() as node:
        (tool,) = node.light_tools
        new = for_the_tool(tool.name)
        new.paths[0].phys_path = old.paths[0].phys_path
        scenarios.plug(node, new, None)
        tool.places = {place: new.wwid if wwid == old.wwid else wwid for place, wwid in tool.places.items()}
    return ""


def put_back_where_the_tool_leads(walk: Walk) -> str:
    old = walk.state.params["old_wwid"]
    with walk.changing() as node:
        (tool,) = node.light_tools
        new = for_the_tool(tool.name).wwid
        if all(disk.wwid != old for disk in node.disks):
            if any(disk.wwid == new for disk in node.disks):
                scenarios.unplug(node, new)
            scenarios.plug(node, walk.kept["pulled"], None)
            tool.places = {place: old if wwid == new else wwid for place, wwid in tool.places.items()}
    return ""


def with_no_light_left(walk: Walk) -> None:
    as_it_was(walk)
    assert not any(tool.lit for tool in walk.node.light_tools)


def put_the_old_one_back(walk: Walk) -> str:
    old = walk.state.params["old_wwid"]
    with walk.changing() as node:
        place = bay(node, SICK_BAY)
        if place.wwid != old:
            if place.wwid is not None:
                scenarios.unplug(node, place.wwid)
            scenarios.plug(node, walk.kept["pulled"], place)
    return ""


def as_it_was(walk: Walk) -> None:
    """Every member serves that did, and nothing is lit."""
    leaf = next(leaf for leaf in walk.node.pool("ost_0").leaves() if str(leaf.guid) == walk.state.params["vdev_guid"])
    assert leaf.state in ("ONLINE", "DEGRADED", "FAULTED")
    assert not any(b.locate for e in walk.node.enclosures for b in e.bays)


BLINK = Story(
    runbook="blink-and-replace",
    twins=sick,
    params=lambda facts: answer(facts, "blink-and-replace"),
    choices={"take": lambda options: scenarios.shelf_disk().wwid},
    hands={
        "spare": lambda walk: scenarios.shelf_disk().serial,
        "blinks": lambda walk: str(next(b.number for b in walk.node.enclosures[0].bays if b.locate)),
        "pull": pull,
        "insert": insert,
        "seat": put_the_old_one_back,
    },
    restored=as_it_was,
)
BLINK_A_FAULTED_DISK = Story(
    **{**vars(BLINK), "twins": faulted, "name": "blink-and-replace, ZFS gave the disk up"},
)

BLINK_SATA = Story(
    **{
        **vars(BLINK),
        "twins": lambda: {"oss01": turned(scenarios.sick_disk(), sata_without_wwn)},
        "choices": {"take": lambda options: sata_without_wwn(scenarios.shelf_disk()).wwid},
        "hands": {**BLINK.hands, "spare": lambda walk: sata_without_wwn(scenarios.shelf_disk()).serial, "insert": insert_sata},
        "name": "blink-and-replace, SATA disks without a WWN",
    },
)

BLINK_MAPPED = Story(
    **{
        **vars(BLINK),
        "twins": lambda: {"oss01": turned(scenarios.sick_disk(faulted=True), multipath)},
        "choices": {"take": lambda options: scenarios.shelf_disk().wwid},
        "hands": {**BLINK.hands, "insert": insert_mapped},
        "name": "blink-and-replace, disks behind multipath maps",
    },
)

BLINK_NO_BAY = Story(
    **{
        **vars(BLINK_SATA),
        "twins": on_the_mainboard,
        "hands": {
            **BLINK_SATA.hands,
            "find": lambda walk: walk.state.params["old_serial"],
            "insert": insert_without_bay,
            "seat": put_back_without_bay,
        },
        "name": "blink-and-replace, SATA disks without an enclosure",
    },
)

BLINK_PORT = Story(
    **{
        **vars(BLINK),
        "twins": below_ports,
        "choices": {"take": lambda options: nvme(scenarios.shelf_disk()).wwid},
        "hands": {
            **BLINK.hands,
            "spare": lambda walk: nvme(scenarios.shelf_disk()).serial,
            "find": find_by_the_light,
            "insert": insert_below_the_port,
            "seat": put_back_below_the_port,
        },
        "name": "blink-and-replace, NVMe disks below ports with a light",
    },
)

BLINK_TOOLS = tuple(
    Story(
        **{
            **vars(BLINK),
            "twins": partial(by_tool, tool),
            "choices": {"take": lambda options, tool=tool: for_the_tool(tool).wwid},
            "hands": {
                **BLINK.hands,
                "spare": lambda walk, tool=tool: for_the_tool(tool).serial,
                "find": find_by_the_tool,
                "insert": insert_where_the_tool_leads,
                "seat": put_back_where_the_tool_leads,
            },
            "restored": with_no_light_left,
            "name": f"blink-and-replace, a light by {tool}",
        }
    )
    for tool in ("ledctl", "sas3ircu", "storcli")
)


def give_the_spare_back(walk: Walk) -> str:
    """What ZFS does when another run's new disk is filled."""
    with walk.changing() as node:
        pool = node.pool("ost_0")
        place = next(i for i, child in enumerate(pool.tops[0].children) if child.type == "spare")
        pool.tops[0].children[place] = pool.tops[0].children[place].children[0]
        pool.spares[0].state = "AVAIL"
    return ""


def nothing_changed(walk: Walk) -> None:
    assert walk.commands() == []


SPARE_BACK = Story(
    runbook="spare-return",
    twins=lambda: {"oss01": scenarios.spare_in_use()},
    params=lambda facts: answer(facts, "spare-return"),
    choices={"way": lambda options: "cancel"},
    restored=nothing_changed,
    name="spare-return, given back",
)
SPARE_STAYS = Story(
    runbook="spare-return",
    twins=lambda: {"oss01": scenarios.spare_in_use(healed=False)},
    params=lambda facts: answer(facts, "spare-return"),
    choices={"way": lambda options: "promote"},
    restored=nothing_changed,
    name="spare-return, promoted",
)
SPARE_WAITS = Story(
    runbook="spare-return",
    twins=lambda: {"oss01": scenarios.spare_in_use()},
    params=lambda facts: answer(facts, "spare-return"),
    choices={"way": lambda options: "replace"},
    hands={"wait": give_the_spare_back},
    restored=nothing_changed,
    name="spare-return, a new disk comes",
)
MISMATCH = Story(
    runbook="wwid-mismatch-replace",
    twins=lambda: {"oss01": scenarios.drifted()},
    params=lambda facts: answer(facts, "wwid-mismatch-replace"),
    restored=nothing_changed,
)


def old_path(walk: Walk) -> None:
    """The member is lost as before, under the name it had; or it serves, which is what everybody wanted."""
    leaf = next(leaf for leaf in walk.node.pool("ost_1").leaves() if str(leaf.guid) == walk.state.params["vdev_guid"])
    assert leaf.state == "ONLINE" or leaf.not_present
    assert not [argv for argv in walk.commands() if argv[1] == "replace"]


MEMBER_BACK = Story(
    runbook="wwid-mismatch-replace",
    twins=lambda: {"oss01": scenarios.member_back()},
    params=lambda facts: answer(facts, "wwid-mismatch-replace"),
    restored=old_path,
    name="wwid-mismatch-replace, the member itself is back",
)


def lost_nvme() -> Mapping[str, Node]:
    """Half of a mirror of two NVMe disks is gone since the boot; a blank one is in the third slot, and no enclosure knows of any."""
    disks = [scenarios.lab_disk(number, number) for number in range(3)]
    node = scenarios.lab_node(disks=disks)
    leaves = [member(node, disk, guid_of("fast", disk.wwid)) for disk in disks[:2]]
    mirror = top("mirror", guid_of("fast", "mirror"), leaves, disks[0].size_bytes)
    add_pool(node, Pool("fast", guid_of("fast"), [mirror], int(node.hostid, 16), node.hostname, alloc_bytes=65396736), disks, leaves)
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    turned(node, nvme)
    scenarios.lose(node, node.disks[1].wwid, f"{by_id(node.disks[1])}")
    return {"oss01": node}


def lost_sata() -> Mapping[str, Node]:
    """A member of a raidz2 of SATA disks on the mainboard's ports is gone; a blank one is beside it, and there is no enclosure."""
    node = turned(scenarios.tiny(), sata_without_wwn)
    node.enclosures, node.mounts = [], ["sysfs /sys sysfs rw,nosuid 0 0"]
    for leaf in node.pool("ost_0").leaves():
        leaf.enc_path = ""
    scenarios.lose(node, node.disks[2].wwid, by_id(node.disks[2]))
    return {"oss01": node}


def lost_mapped() -> Mapping[str, Node]:
    """A member of a raidz2 of multipath maps is gone, known by an alias that a map had; a blank disk behind a map is beside it, one path of which is down."""
    node = turned(scenarios.tiny(), multipath)
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    scenarios.lose(node, node.disks[2].wwid, "/dev/mapper/mpathc")
    node.disks[-1].paths[1].state = "offline"
    return {"oss01": node}


def mapped_back() -> Mapping[str, Node]:
    """A member of a raidz2 was known by the alias of its map, which leads nowhere since the boot; its map is there under another alias."""
    node = turned(scenarios.tiny("2.3.2-1"), multipath)
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    disk = node.disks[2]
    scenarios.lose(node, disk.wwid, "/dev/mapper/mpathc")
    disk.map.name = "mpathz"
    scenarios.plug(node, disk, bay(node, 3))
    return {"oss01": node}


def mapped_path(walk: Walk) -> None:
    """The member is lost as before, or serves by its map."""
    leaf = next(leaf for leaf in walk.node.pool("ost_0").leaves() if str(leaf.guid) == walk.state.params["vdev_guid"])
    assert leaf.not_present or (leaf.state, leaf.path) == ("ONLINE", "/dev/disk/by-id/dm-uuid-mpath-35000c500a65b202b")
    assert not [argv for argv in walk.commands() if argv[1] == "replace"]


def scanned(walk: Walk) -> str:
    return walk.node.disk(walk.state.params["wwid"]).serial


def without_enclosure(name: str, twins) -> Story:
    return Story(**{**vars(MISMATCH), "twins": twins, "hands": {"scan": scanned}, "name": f"wwid-mismatch-replace, {name}"})


NVME_LOST = without_enclosure("an NVMe mirror", lost_nvme)
SATA_LOST = without_enclosure("SATA disks without a WWN", lost_sata)
MAPPED_LOST = Story(**{**vars(MISMATCH), "twins": lost_mapped, "name": "wwid-mismatch-replace, disks behind multipath maps"})
MAPPED_BACK = Story(
    **{
        **vars(MISMATCH),
        "twins": mapped_back,
        "restored": mapped_path,
        "name": "wwid-mismatch-replace, a member behind a multipath map is back",
    }
)
STORIES = (
    MISMATCH,
    MAPPED_LOST,
    MAPPED_BACK,
    NVME_LOST,
    SATA_LOST,
    MEMBER_BACK,
    BLINK,
    BLINK_A_FAULTED_DISK,
    BLINK_SATA,
    BLINK_MAPPED,
    BLINK_NO_BAY,
    BLINK_PORT,
    *BLINK_TOOLS,
    SPARE_BACK,
    SPARE_STAYS,
    SPARE_WAITS,
)
