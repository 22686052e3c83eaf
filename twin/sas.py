"""The SAS fabric of a node in sysfs: HBA, expander, ports, phys and end devices, as mpt3sas and the SAS transport class show them.

A shelf hangs behind one expander on a wide port of four HBA phys; each of its disks has one expander phy. A host without a shelf has
its disks right on its own phys. Error counters are those of `Node.phys`, by phy name; a phy that is not named there counts nothing.
"""

from collections.abc import Iterator

from twin.model import Disk, Enclosure, Node, Path
from twin.tree import Tree

HBA_PHYS, WIDE = 8, 4
COUNT_SECONDS = 60
LINK_RATE = "12.0 Gbit"
COUNTERS = ("invalid_dword_count", "running_disparity_error_count", "loss_of_dword_sync_count", "phy_reset_problem_count")

End = tuple[str, str, str, str, str]  # H:C:T:L, SAS address, type, enclosure id, bay


def shelf_of(node: Node, host: str) -> Enclosure | None:
    return next((e for e in node.seen_enclosures if e.name.split(":")[0] == host), None)


def host_folder(node: Node, host: str) -> str:
    return f"/sys/devices/pci0000:00/{node.hosts.get(host, '0000:00:17.0')}/host{host}"


def end_folder(node: Node, hctl: str) -> str:
    """Where sysfs keeps the end device of an H:C:T:L."""
    host, _, target, _ = hctl.split(":")
    base = host_folder(node, host)
    if shelf_of(node, host) is None:
        return f"{base}/port-{host}:{target}/end_device-{host}:{target}"
    return f"{base}/port-{host}:0/expander-{host}:0/port-{host}:0:{target}/end_device-{host}:0:{target}"


def expander_address(enclosure: Enclosure) -> str:
    """Vendors number the expanders of a shelf after its logical id."""
    return f"0x{int(enclosure.id, 16) + 0x5D:016x}"


def phy_of(node: Node, hctl: str) -> str:
    """The phy that the disk's link ends at on our side."""
    host, _, target, _ = hctl.split(":")
    return f"phy-{host}:0:{target}" if shelf_of(node, host) else f"phy-{host}:{target}"


def has_grown(node: Node, now: float) -> bool:
    return bool(node.phy_rates) and now - node.phys_at >= COUNT_SECONDS


def grow(node: Node, now: float) -> None:
    """Let every counter that grows come up to now. The first call only sets the clock."""
    if node.phy_rates and node.phys_at:
        for phy, rates in node.phy_rates.items():
            counts = node.phys.get(phy, [0, 0, 0, 0])
            node.phys[phy] = [int(count + rate * (now - node.phys_at) / 3600) for count, rate in zip(counts, rates, strict=False)]
    node.phys_at = now


def build(tree: Tree, node: Node) -> None:
    hosts = sorted({hctl.split(":")[0] for hctl, *_ in _ends(node)})
    for host in hosts:
        base = host_folder(node, host)
        tree.directory(f"{base}/sas_host/host{host}")
        tree.link(f"/sys/class/sas_host/host{host}", f"{base}/sas_host/host{host}")
        if shelf := shelf_of(node, host):
            _expander(tree, node, host, shelf)
    for host in node.hosts:
        base = host_folder(node, host)
        tree.file(f"{base}/scsi_host/host{host}/proc_name", "mpt3sas\n" if host in hosts else "ahci\n")
        tree.file(f"{base}/scsi_host/host{host}/scan", "")
        tree.link(f"/sys/class/scsi_host/host{host}", f"{base}/scsi_host/host{host}")
    for end in _ends(node):
        _end(tree, node, end)


def _ends(node: Node) -> Iterator[End]:
    for disk in node.disks:
        for path in disk.paths:
            if path.sas_address:
                found = node.bay_of(disk.wwid)
                yield path.hctl, path.sas_address, "end device", found[0].id if found else "", str(found[1].number) if found else ""
    for enclosure in node.seen_enclosures:
        yield enclosure.name, f"0x{int(enclosure.id, 16) + 0x5C:016x}", "end device", enclosure.id, ""


def _expander(tree: Tree, node: Node, host: str, shelf: Enclosure) -> None:
    port = f"{host_folder(node, host)}/port-{host}:0"
    name = f"expander-{host}:0"
    _device(tree, f"{port}/{name}", name, expander_address(shelf), "edge expander")
    folder = f"{port}/{name}/sas_expander/{name}"
    for attribute, value in (("vendor_id", shelf.vendor), ("product_id", shelf.model), ("product_rev", shelf.rev), ("level", "0")):
        tree.file(f"{folder}/{attribute}", f"{value}\n")
    tree.link(f"/sys/class/sas_expander/{name}", folder)
    phys = [f"phy-{host}:{number}" for number in range(HBA_PHYS)]
    for number, phy in enumerate(phys):
        _phy(tree, node, f"{host_folder(node, host)}/{phy}", phy, LINK_RATE if number < WIDE else "Unknown", shelf.id)
    _port(tree, port, [(phy, f"{host_folder(node, host)}/{phy}") for phy in phys[:WIDE]])


def _end(tree: Tree, node: Node, end: End) -> None:
    hctl, address, kind, enclosure_id, bay = end
    folder = end_folder(node, hctl)
    port, _, name = folder.rpartition("/")
    _device(tree, folder, name, address, kind)
    for attribute, value in (("enclosure_identifier", enclosure_id), ("bay_identifier", bay)):
        if value:
            tree.file(f"{folder}/sas_device/{name}/{attribute}", f"{value}\n")
    phy = phy_of(node, hctl)
    where = f"{port.rpartition('/')[0]}/{phy}"
    _phy(tree, node, where, phy, _rate(node, hctl), address)
    _port(tree, port, [(phy, where)])


def _device(tree: Tree, folder: str, name: str, address: str, kind: str) -> None:
    for attribute, value in (("sas_address", address), ("device_type", kind), ("phy_identifier", "0")):
        tree.file(f"{folder}/sas_device/{name}/{attribute}", f"{value}\n")
    tree.link(f"/sys/class/sas_device/{name}", f"{folder}/sas_device/{name}")


def _port(tree: Tree, folder: str, phys: list[tuple[str, str]]) -> None:
    name = folder.rpartition("/")[2]
    tree.directory(f"{folder}/sas_port/{name}")
    tree.link(f"{folder}/sas_port/{name}/device", folder)
    tree.link(f"/sys/class/sas_port/{name}", f"{folder}/sas_port/{name}")
    for phy, where in phys:
        tree.link(f"{folder}/{phy}", where)


def _phy(tree: Tree, node: Node, folder: str, name: str, rate: str, address: str) -> None:
    counts = node.phys.get(name, [0, 0, 0, 0])
    values = dict(zip(COUNTERS, map(str, counts), strict=False))
    values |= {"negotiated_linkrate": rate, "maximum_linkrate": LINK_RATE, "sas_address": address, "device_type": "edge expander"}
    for attribute, value in values.items():
        tree.file(f"{folder}/sas_phy/{name}/{attribute}", f"{value}\n")
    tree.link(f"/sys/class/sas_phy/{name}", f"{folder}/sas_phy/{name}")


def _rate(node: Node, hctl: str) -> str:
    disk = next((disk for disk, path in _paths(node) if path.hctl == hctl), None)
    return disk.link_rate if disk else LINK_RATE


def _paths(node: Node) -> Iterator[tuple[Disk, Path]]:
    for disk in node.disks:
        for path in disk.paths:
            yield disk, path
