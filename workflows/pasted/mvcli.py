"""`mvcli` and `mnvcli` of Marvell's RAID controllers, as Dell's BOSS and Lenovo's M.2 kits have them: their volumes, drives and SMART.

    Virtual Disk Information
    id:                  0
    status:              functional

One block of "name: value" for each volume (`info -o vd`) and drive (`info -o pd`), and a table for the SMART of one drive (`smart -p 0`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted import _drives, _volumes
from workflows.pasted._drives import GOOD, Drive, lost
from workflows.pasted._volumes import Listed, Volume
from workflows.pasted.base import Reader, Where, pairs, refused, whole

STATES = {
    "ok": GOOD,
    "online": GOOD,
    "assigned": GOOD,
    "free": GOOD,
    "offline": lost("its state is offline"),
    "failed": lost("it has failed"),
}
VOLUMES = {"functional": "optimal", "degrade": "degraded"}
_VERDICT = re.compile(r"SMART STATUS RETURN: ?([A-Za-z ]{2,40})")
_ROW = re.compile(r"([0-9A-F]{2}) +(\S+(?: \S+){0,5}) +[0-9]{1,3} +[0-9]{1,3} +[0-9]{1,3} +([0-9A-F]{6,16})(?: +(\S.{0,40}))?$")
_NEW_BLOCK = ("adapter", "id", "vd id", "pd id")
_PENDING = ("C5", "C6")  # places that it could not read


def parse(lines: Sequence[str]) -> Listed | Unparsed:
    drives: list[Drive] = []
    volumes: list[Volume] = []
    for block, kept in _blocks(lines):
        if "pd id" in block and "raid mode" not in block:
            drives.append(_drive(block, kept))
        elif "status" in block and ("id" in block or "vd id" in block):
            volumes.append(_volume(block, kept))
    smart = _smart(lines)
    drives += [smart] if smart else []
    seen = bool(drives or volumes) or any("Total # of VD" in line for line in lines)
    return Listed(tuple(drives), tuple(volumes), (), ()) if seen else refused("mvcli", next(iter(lines), ""))


def _blocks(lines: Sequence[str]) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Name in lower case -> value, and -> line, of each volume and drive."""
    block: dict[str, str] = {}
    kept: dict[str, str] = {}
    for line in map(str.strip, lines):
        pair = pairs(line)
        if pair is None:
            continue
        name = pair[0].lower()
        if name in _NEW_BLOCK and name in block:
            yield block, kept
            block, kept = {}, {}
        block.setdefault(name, pair[1])
        kept.setdefault(name, line)
    yield block, kept


def _volume(block: dict[str, str], kept: dict[str, str]) -> Volume:
    state = block["status"].strip().lower()
    judged = VOLUMES.get(state, state)
    own = block.get("vd status", "").lower()
    if judged == "optimal" and own and own != "optimal":
        judged = own
    if judged == "degraded" and "rebuild" in block.get("bga progress", "").lower():
        judged = "rebuilding"
    name = block.get("id") or block.get("vd id") or ""
    return Volume(f"{name} ({block['name']})" if block.get("name") else name, judged, kept["status"])


def _drive(block: dict[str, str], kept: dict[str, str]) -> Drive:
    state = block.get("pd status") or block.get("status") or block.get("assigned status")
    return Drive(
        f"PD {block['pd id']}", slot=whole(block["pd id"]), state=state.lower() if state else None, model=block.get("model"),
        serial=block.get("serial") or block.get("serial number"), lines=(kept.get("pd status") or kept.get("status") or kept["pd id"],),
    )  # fmt: skip


def _smart(lines: Sequence[str]) -> Drive | None:
    """The drive of which the SMART table tells: its verdict, the rows that are not well by their own word, and the places it cannot read."""
    verdict = next((found for line in lines if (found := _VERDICT.match(line.strip()))), None)
    rows = [found for line in lines if (found := _ROW.match(line.strip()))]
    if verdict is None and not rows:
        return None
    ill = [row for row in rows if (row.group(4) or "OK").strip() != "OK"]
    counted = [row for row in rows if row.group(1) in _PENDING and int(row.group(3), 16)]
    media = max((int(row.group(3), 16) for row in rows if row.group(1) in _PENDING), default=None)
    alert = bool(ill) or verdict.group(1).strip() != "OK" if verdict else bool(ill) or None
    lines_shown = (*((verdict.group(),) if verdict else ()), *(row.group() for row in (*ill, *counted)))
    return Drive("the drive of this table", smart_alert=alert, media_errors=media, lines=lines_shown)


def situations(value: Listed, where: Where) -> tuple[Situation, ...]:
    return _volumes.judged(value, STATES, where, "The Marvell controller")


READER = Reader(
    name="mvcli",
    first=r"Virtual Disk Information$|Physical Disk Information$|SMART STATUS RETURN: |Smart Info$|VD ID: {2,}[0-9]",
    tools=("mvcli", "mnvcli", "mnv_cli"),
    asks=lambda tool, rest: any(word in ("info", "smart") for word in rest) and not {"hba", "blk"} & set(rest),
    goes_on=r"[A-Za-z#][\w #()/-]{0,40}: |-{5,}|Total |ID +Attribute|[0-9A-F]{2} +[A-Z]|Smart Info|(?:Virtual|Physical) Disk|SG driver",
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: not value.volumes and not any(drive.media_errors is not None for drive in value.drives),
    doubt=lambda value: _drives.doubt(value.drives, "mvcli smart -p 0"),
    notes=lambda value: _volumes.notes_of(value) if value.drives else _volumes.notes(value.volumes, value.parts),
    again="mvcli info -o vd",
)
