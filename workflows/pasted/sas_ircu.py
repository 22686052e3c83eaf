"""`sas2ircu N display`, `sas3ircu N display`, `status` and `list`: drives behind an LSI HBA, with slot, serial number and state.

States by the SAS-2 and SAS-3 Integrated RAID users' guides (LSI/Broadcom).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted import _drives
from workflows.pasted._drives import GOOD, Drive, busy, lost
from workflows.pasted.base import NOT_PROSE, Reader, Where, pairs, plural, refused, whole

STATES = {
    "opt": GOOD,
    "onl": GOOD,
    "hsp": GOOD,
    "rdy": GOOD,
    "avl": GOOD,
    "sby": GOOD,
    "fld": lost("its state is Failed"),
    "dgd": lost("its state is Degraded"),
    "mis": lost("its state is Missing: the controller does not see it"),
    "rbld": busy("it is being rebuilt by the controller"),
    "oof": lost("its state is Out of sync"),
}
VOLUMES = {
    "oky": "",
    "opt": "",
    "optimal": "",
    "okay": "",
    "dgd": "a volume of the controller is degraded",
    "fld": "a volume of the controller has failed",
    "mis": "a volume of the controller is missing",
    "rsy": "a volume of the controller is being rebuilt",
    "init": "a volume of the controller is being initialised",
    "inact": "a volume of the controller is inactive",
}


@dataclass(frozen=True)
class Volume:
    number: str
    state: str | None
    line: str


@dataclass(frozen=True)
class Adapter:
    """What one controller tells. `firmware` is None where it is not printed."""

    drives: tuple[Drive, ...]
    volumes: tuple[Volume, ...]
    enclosures: tuple[str, ...]  # logical ids
    firmware: str | None
    listed: int = 0  # adapters that `list` names; it tells of nothing else


def parse(lines: Sequence[str]) -> Adapter | Unparsed:
    """Every drive and volume; Unparsed when the text is of no controller."""
    sections = list(_sections(lines))
    drives = tuple(_drive(fields, rows) for title, fields, rows in sections if title.startswith("Device is a Hard disk"))
    volumes = tuple(
        Volume(
            title.rpartition(" ")[2],
            _code(fields.get("Status of volume") or fields.get("Volume state")),
            _line(rows, ("Status of volume", "Volume state")),
        )
        for title, fields, rows in sections
        if title.startswith("IR volume") or title.startswith("IR Volume")
    )
    enclosures = tuple(fields["Logical ID"] for _, fields, _ in sections if "Logical ID" in fields)
    firmware = next((values[name] for _, values, _ in sections for name in ("Firmware version",) if name in values), None)
    listed = sum(_LISTED.match(line) is not None for line in lines)
    if not (drives or volumes or enclosures or firmware or listed) and not any(map(_NO_VOLUMES.match, lines)):
        return refused("sas3ircu", lines[0] if lines else "")
    return Adapter(drives, volumes, enclosures, firmware, listed)


_LISTED = re.compile(r" +[0-9]{1,3} +SAS[0-9A-Za-z_-]{1,20} +[0-9A-Fa-f]{1,4}h +[0-9A-Fa-f]{1,4}h +[0-9A-Fa-f]{1,2}h:")
_NO_VOLUMES = re.compile(r"SAS[23]IRCU: there are no IR volumes on the controller")


def _sections(lines: Sequence[str]) -> Iterator[tuple[str, dict[str, str], list[str]]]:
    title = ""
    fields: dict[str, str] = {}
    rows: list[str] = []
    for line in lines:
        pair = pairs(line) if line.startswith((" ", "\t")) or re.match(r"[A-Z][\w #()/]+ : ", line) else None
        if pair is None and line.strip() and not line.startswith("-"):
            if fields:
                yield title, fields, rows
            title, fields, rows = line.strip(), {}, []
        elif pair is not None:
            if pair[0] in fields and pair[0] in ("Enclosure#", "Enclosure #"):
                yield title, fields, rows
                fields, rows = {}, []
            fields.setdefault(pair[0], pair[1])
            rows.append(line)
    if fields:
        yield title, fields, rows


def _drive(fields: dict[str, str], rows: Sequence[str]) -> Drive:
    enclosure, slot = fields.get("Enclosure #"), whole(fields.get("Slot #"))
    return Drive(
        f"{enclosure}:{fields.get('Slot #')}",
        enclosure,
        slot,
        _code(fields.get("State")),
        fields.get("Model Number"),
        fields.get("Unit Serial No(VPD)") or fields.get("Serial No"),
        _drives.wwid(fields.get("GUID")),
        lines=(_line(rows, ("State",)), _line(rows, ("Unit Serial No(VPD)", "Serial No"))),
    )


def _code(state: str | None) -> str | None:
    """ "Failed (FLD)" -> "FLD"; the word itself where no code is printed."""
    found = re.search(r"\(([A-Z]+)\)$", state or "")
    return found.group(1) if found else state


def _line(rows: Sequence[str], names: Sequence[str]) -> str:
    return next((row.strip() for name in names for row in rows if row.strip().startswith(name)), "")


def situations(value: Adapter, where: Where) -> tuple[Situation, ...]:
    return (*_drives.judged(value.drives, STATES, where, "The HBA"), *_of_volumes(value, where))


def _of_volumes(value: Adapter, where: Where) -> Iterator[Situation]:
    for volume in value.volumes:
        means = VOLUMES.get((volume.state or "").lower())
        if means != "":
            yield Situation(
                "hba-fault" if means else "unexplained", f"hba-volume:{where.node}:{volume.number}", where.node, "act" if means else "watch",
                f"RAID volume {volume.number} of the HBA: {volume.state or 'no state'}",
                f"{(means or 'The state of a volume of the controller is not known here').capitalize()}. ZFS sees such a volume as one disk and "
                "does not know which drive behind it is bad. Replace the drive by the controller's tool.",
                where.evidence(volume.line),
                subject={"node": where.node, "volume": volume.number},
            )  # fmt: skip


def notes(value: Adapter) -> tuple[str, ...]:
    if value.listed:
        return (f"It lists {plural(value.listed, 'adapter')} and shows no drive; `sas3ircu 0 display` does.",)
    return _drives.notes(value.drives) if value.drives else ("It shows the controller and its volumes, and of no drive.",)


READER = Reader(
    name="sas_ircu",
    first=r"(?:LSI Corporation|Avago Technologies|Broadcom Limited|Broadcom Inc\.?) SAS[23] IR Configuration Utility|Read configuration has been initiated for controller(?! [0-9]{1,3}\.)|Device is a Hard disk$|Background command progress status for controller",
    tools=("sas2ircu", "sas3ircu", "sas2flash", "sas3flash"),
    asks=lambda tool, rest: any(word.lower() in ("display", "status", "list") for word in rest),
    goes_on=NOT_PROSE,
    parse=parse,
    situations=situations,
    silent=lambda value: not value.drives,
    doubt=lambda value: _drives.doubt(value.drives, "smartctl -x"),
    notes=notes,
    again="sas3ircu 0 display",
    always=(r"SAS[23]IRCU: ",),
)  # fmt: skip
