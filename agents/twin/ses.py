"""`sg_ses --page=aes /dev/sgN`: what the enclosure says of its bays, as sg3_utils 1.46 prints it."""

from __future__ import annotations

from typing import Optional

from agents.twin.model import Bay, Disk, Enclosure, Node
from agents.twin.sas import expander_address


def enclosure_at(node: Node, device: str) -> Optional[Enclosure]:
    return next((e for e in node.enclosures if device == f"/dev/sg{e.sg}"), None)


def page(node: Node, enclosure: Enclosure) -> str:
    head = (
        f"  {enclosure.vendor:<8}  {enclosure.model:<16}  {enclosure.rev:<4}\n"
        f"  Primary enclosure logical identifier (hex): {enclosure.id[2:]}\n"
        "Additional element status diagnostic page:\n"
        "  generation code: 0x0\n"
        "  additional element status descriptor list\n"
        "    Element type: Array device slot, subenclosure id: 0 [ti=0]\n"
    )
    return head + "".join(_bay(node, enclosure, i, bay) for i, bay in enumerate(enclosure.bays))


def _bay(node: Node, enclosure: Enclosure, index: int, bay: Bay) -> str:
    disk: Optional[Disk] = next((d for d in node.disks if d.wwid == bay.wwid), None)
    address = disk.paths[0].sas_address if disk and disk.paths else "0x0"
    kind, target = ("end device", " SSP") if address != "0x0" else ("no SAS device attached", "")
    return (
        f"      Element index: {index}  eiioe=0\n"
        "        Transport protocol: SAS\n"
        f"        number of phys: 1, not all phys: 0, device slot number: {bay.number}\n"
        "        phy index: 0\n"
        f"          SAS device type: {kind}\n"
        "          initiator port for:\n"
        f"          target port for:{target}\n"
        f"          attached SAS address: {expander_address(enclosure)}\n"
        f"          SAS address: {address}\n"
        "          phy identifier: 0x0\n"
    )
