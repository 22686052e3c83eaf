"""What each enclosure itself says of its bays, by `sg_ses --page=aes`: slot number and the SAS address of what sits there.

It needs no ses driver, and it sees disks that the kernel's links miss. The page has no sensor in it, so it stays the same
while no disk is moved. The texts of `sg_ses --join` and `--page=es` are read as well; they say how each part of the enclosure is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from agents.collectors import _disks
from agents.collectors._lines import torn_end
from agents.collectors.base import Capture, Unparsed, ask
from agents.host.host import Host

NAME = "ses"
EVERY_SECONDS = 300
TIMEOUT_SECONDS = 30
ENCLOSURE_TYPE = b"13"


@dataclass(frozen=True)
class SesSlot:
    """One bay. `number` is the device slot number; the element index is something else and is not kept."""

    number: int
    occupied: bool | None  # whether a SAS device answers there; None when the page does not say
    addresses: tuple[str, ...]  # of the ports in the bay: "0x5000c500a6754ab9"; empty for an empty bay
    expander: str | None  # SAS address of the expander phy it is attached to


@dataclass(frozen=True)
class SesElement:
    """One fan, power supply, sensor, bay or other part. What SES-4 calls an element."""

    type: str  # "Cooling", "Power supply", "Temperature sensor", "Array device slot", ...
    name: str  # what the enclosure calls it: "Fan 3"; "element 2" where it has no name for it
    status: str  # "OK", "Critical", "Non-critical", "Unrecoverable", "Not installed", "Unsupported", "Unknown", ...
    flags: tuple[str, ...] = ()  # of `FLAGS`, those that are set: "AC fail"
    predicted: bool = False  # it predicts its own failure
    degrees: int | None = None  # of a temperature sensor, Celsius


@dataclass(frozen=True)
class SesEnclosure:
    """`id` is "" where a page without bays does not say it."""

    id: str  # "0x50050cc11ac016e2"
    slots: tuple[SesSlot, ...]
    elements: tuple[SesElement, ...] = ()  # where the text says how they are
    alarms: tuple[str, ...] = ()  # bits in the head of the status page: some part is so, whichever it is ("CRIT")


def keys(host: Host) -> tuple[str, ...]:
    """Generic devices of the enclosures: sg90."""
    found = []
    for path in host.list("/sys/class/scsi_generic/sg*"):
        try:
            kind = host.read(f"{path}/device/type").strip()
        except OSError:
            continue
        if kind == ENCLOSURE_TYPE and re.fullmatch("sg[0-9]{1,6}", path.rsplit("/", 1)[1]):
            found.append(path.rsplit("/", 1)[1])
    return tuple(sorted(found, key=lambda name: int(name[2:])))


def collect_one(host: Host, key: str) -> Capture:
    return ask(host, NAME, ("sg_ses", "--page=aes", f"/dev/{key}"), TIMEOUT_SECONDS, key=key)


collect = _disks.every(collect_one, keys)


_ID = re.compile(
    r" *(?:Primary enclosure|enclosure) logical identifier \(hex\): ([0-9a-f]{16})"
)  # the second on the page of the configuration
_TYPE = re.compile(r"(?:.*\[-?[0-9]+,-?[0-9]+\] +| +)Element type: ([^,]+?)(?:, subenclosure id.*)?")
_SLOT = re.compile(r" +number of phys: [0-9]+, not all phys: [01], device slot number: ([0-9]{1,3})")
_DEVICE = re.compile(r" +SAS device type: (.*)")
_ATTACHED = re.compile(r" +attached SAS address: (0x[0-9a-f]{16}|0x0)")
_ADDRESS = re.compile(r" +SAS address: (0x[0-9a-f]{16}|0x0)")
_BAYS = ("Array device slot", "Device slot", "Array device", "Device")
_MAYBE = ("SAS address", "device slot number")  # a line with these words that fits no pattern is torn


_NAMED = re.compile(r"(?:(.*\S) +)?\[([0-9]+),(-?[0-9]+)\] +Element type: ([^,]+)")
_NUMBERED = re.compile(r" +Element ([0-9]+) descriptor:?")
_STATUS = re.compile(r" +Predicted failure=([01]), Disabled=[01], Swap=[01], status: (.+)")
_DEGREES = re.compile(r" +Temperature=(-?[0-9]{1,3}) C")
FLAGS = (
    "Fail", "AC fail", "DC fail", "DC overvoltage", "DC undervoltage", "DC overcurrent", "Overtmp fail", "Temperature warn", "OT failure",
    "OT warning", "UT failure", "UT warning", "Warn Over", "Warn Under", "Crit Over", "Crit Under", "Fault sensed", "Batt fail", "UPS fail",
    "Intf fail", "OC",
)  # fmt: skip


def parse(text: str) -> SesEnclosure | Unparsed:
    """The enclosure in `text`, or the first line that made no sense. Never raises."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    lines = text.split("\n")
    elements = _elements(lines)
    identity, in_bays, slots = None, False, []
    for line in lines:
        kind = _TYPE.fullmatch(line)
        if kind:
            in_bays = kind.group(1) in _BAYS
        elif identity is None and (found := _ID.fullmatch(line)):
            identity = "0x" + found.group(1)
        elif in_bays and (found := _SLOT.fullmatch(line)):
            slots.append(_Slot(int(found.group(1))))
        elif in_bays and slots and not slots[-1].take(line) and any(word in line for word in _MAYBE):
            return Unparsed("a line about a bay cannot be read", line)
    if identity is None or int(identity, 16) == 0:
        return SesEnclosure("", (), elements, _alarms(lines)) if elements else Unparsed("the enclosure gives no logical identifier")
    numbers = [slot.number for slot in slots]
    if len(set(numbers)) != len(numbers):
        return Unparsed("two bays have the same slot number", next(f"slot {n}" for n in numbers if numbers.count(n) > 1))
    return SesEnclosure(identity, tuple(slot.read() for slot in sorted(slots, key=lambda slot: slot.number)), elements, _alarms(lines))


_HEAD = re.compile(r"\s{1,8}INVOP=[01], INFO=[01], NON-CRIT=([01]), CRIT=([01]), UNRECOV=([01])\s*")


def _alarms(lines: list[str]) -> tuple[str, ...]:
    """The bits of SES-4, 6.1.4 (enclosure status page) that are set; that of information is none."""
    head = next(filter(None, map(_HEAD.fullmatch, lines)), None)
    return tuple(name for name, bit in zip(("NON-CRIT", "CRIT", "UNRECOV"), head.groups(), strict=True) if bit == "1") if head else ()


def _elements(lines: list[str]) -> tuple[SesElement, ...]:
    """Every part whose status is given. The overall descriptor of a type describes no part and is left out."""
    found: list[SesElement] = []
    kind, name = "", None
    for line in lines:
        named, numbered, typed = _NAMED.fullmatch(line), _NUMBERED.fullmatch(line), _TYPE.fullmatch(line)
        if named:
            kind = named.group(4)
            name = None if named.group(3) == "-1" else named.group(1) or f"element {named.group(3)}"
        elif typed:
            kind, name = typed.group(1), None
        elif numbered:
            name = f"element {numbered.group(1)}"
        elif "Overall descriptor" in line:
            name = None
        elif name is not None and (status := _STATUS.fullmatch(line)):
            found.append(SesElement(kind.strip(), name.strip(), status.group(2).strip(), predicted=status.group(1) == "1"))
        elif name is not None and found and "=" in line:
            found[-1] = _with(found[-1], line)
    return tuple(found)


def _with(element: SesElement, line: str) -> SesElement:
    """The element with what one more of its lines says: "Ident=0, Fail=1, OT failure=0"."""
    degrees = _DEGREES.fullmatch(line)
    if degrees:
        return replace(element, degrees=int(degrees.group(1)))
    pairs = (part.strip().partition("=") for part in line.split(","))
    flags = tuple(name for name, _, value in pairs if value == "1" and name in FLAGS)
    return replace(element, flags=element.flags + flags) if flags else element


class _Slot:
    """A bay while its lines are read."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.kinds: list[str] = []
        self.addresses: list[str] = []
        self.expander: str | None = None

    def take(self, line: str) -> bool:
        """Whether the line said something of this bay."""
        for pattern, keep in ((_DEVICE, self.kinds.append), (_ATTACHED, self._attached), (_ADDRESS, self.addresses.append)):
            found = pattern.fullmatch(line)
            if found:
                keep(found.group(1))
                return True
        return False

    def _attached(self, address: str) -> None:
        self.expander = None if address == "0x0" else address

    def read(self) -> SesSlot:
        occupied = any(kind != "no SAS device attached" for kind in self.kinds) if self.kinds else None
        addresses = tuple(dict.fromkeys(address for address in self.addresses if address != "0x0"))
        return SesSlot(self.number, occupied, addresses if occupied else (), self.expander)
