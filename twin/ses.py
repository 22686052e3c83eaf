"""`sg_ses --page=aes /dev/sgN`: what the enclosure says of its bays, as sg3_utils 1.46 prints it; and `--page=es`, how its parts are."""

from typing import Any

from twin.model import Bay, Disk, Enclosure, Node
from twin.sas import expander_address


def enclosure_at(node: Node, device: str) -> Enclosure | None:
    return next((e for e in node.seen_enclosures if device == f"/dev/sg{e.sg}"), None)


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


_STATUS = "        Predicted failure=0, Disabled=0, Swap=0, status: {}\n"
_PARTS = (  # type, how many, what follows the status of each
    (
        "Power supply",
        2,
        "        Ident=0, Do not remove=0, DC overvoltage=0, DC undervoltage=0\n"
        "        DC overcurrent=0, Hot swap=1, Fail=0, Requested on=1, Off=0\n"
        "        Overtmp fail=0, Temperature warn=0, AC fail=0, DC fail=0\n",
    ),
    (
        "Cooling",
        4,
        "        Ident=0, Do not remove=0, Hot swap=1, Fail=0, Requested on=1\n"
        "        Off=0, Actual speed=5120 rpm, Fan at intermediate speed\n",
    ),
    (
        "Temperature sensor",
        1,
        "        Ident=0, Fail=0, OT failure=0, OT warning=0, UT failure=0\n        UT warning=0\n        Temperature=29 C\n",
    ),
)


def status_page(node: Node, enclosure: Enclosure) -> str:
    """Every part of it is well."""
    head = (
        f"  {enclosure.vendor:<8}  {enclosure.model:<16}  {enclosure.rev:<4}\n"
        f"  Primary enclosure logical identifier (hex): {enclosure.id[2:]}\n"
        "Enclosure Status diagnostic page:\n"
        "  INVOP=0, INFO=0, NON-CRIT=0, CRIT=0, UNRECOV=0\n"
        "  generation code: 0x0\n"
        "  status descriptor list\n"
    )
    kinds = [(kind, ["OK"] * count, more) for kind, count, more in _PARTS]
    bays = ["OK" if any(d.wwid == bay.wwid for d in node.disks) else "Not installed" for bay in enclosure.bays]
    kinds.insert(0, ("Array device slot", bays, "        OK=0, Reserved device=0, Hot spare=0, Cons check=0\n"))
    return head + "".join(_kind(i, *each) for i, each in enumerate(kinds))


def _kind(number: int, kind: str, states: list[Any], more: str) -> str:
    head = f"    Element type: {kind}, subenclosure id: 0 [ti={number}]\n      Overall descriptor:\n{_STATUS.format('Unsupported')}"
    return head + "".join(f"      Element {i} descriptor:\n{_STATUS.format(state)}{more}" for i, state in enumerate(states))


def _bay(node: Node, enclosure: Enclosure, index: int, bay: Bay) -> str:
    disk: Disk | None = next((d for d in node.disks if d.wwid == bay.wwid), None)
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
