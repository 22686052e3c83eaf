"""What the firmware of a node calls the machine (DMI): by which serial numbers a person knows that it is this one whose power is off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agents.collectors import node as node_source
from workflows.facts.read.sources import Sources
from workflows.facts.unknown import Known, Unknown, derived, need

SERIAL_LENGTH_MIN = 4
# What vendors leave in the field, in small letters and without blanks and points.
PLACEHOLDERS = frozenset(
    (
        *("tobefilledbyoem", "defaultstring", "none", "notspecified", "notapplicable", "notavailable", "notprovided", "unknown"),
        *("systemserialnumber", "chassisserialnumber", "baseboardserialnumber", "serialnumber", "serial", "unspecified", "empty"),
        *("noassettag", "invalid", "null", "oem", "xxxxxxxxxx"),
    )
)
COUNTED = ("0123456789", "123456789")  # what begins like this was typed by nobody: "0123456789", "01234567890123456789AB"


@dataclass(frozen=True)
class FirmwareFacts:
    """Serial numbers as the firmware has them; None where it has none, or the agent may not read it."""

    vendor: str | None
    serials: Mapping[str, str | None]  # "chassis", "product", "board"

    @property
    def genuine(self) -> Mapping[str, str]:
        """Those that name one machine. A placeholder names any machine of the vendor."""
        return {kind: serial for kind, serial in self.serials.items() if serial is not None and is_genuine(serial)}


def is_genuine(serial: str) -> bool:
    text = "".join(character for character in serial.lower() if character.isalnum())
    counted = text.startswith(COUNTED) or (text.isdigit() and COUNTED[0].startswith(text))
    return len(text) >= SERIAL_LENGTH_MIN and len(set(text)) > 1 and text not in PLACEHOLDERS and not counted


@derived
def read_firmware(sources: Sources) -> Known[FirmwareFacts]:
    reading = need(sources.read(node_source))
    serials = {kind: getattr(reading, f"{kind}_serial") for kind in ("chassis", "product", "board")}
    if not any(serials.values()):
        return Unknown("Its firmware shows no serial number, or the agent may not read it: only root may.")
    return FirmwareFacts(reading.sys_vendor, serials)
