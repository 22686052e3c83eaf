"""`pvs`, `vgs`, `lvs` and the warnings of LVM: physical volumes that are not there. LVM is no pool; its disks may be those of the machine's own system.

Attributes by lvs(8), vgs(8) and pvs(8): the health of a volume is the ninth letter (p: partial, r: a disk had errors, m: mismatches; of a thin pool F: failed,
D: out of space, M: its metadata read-only), of a group the fourth (p: partial), of a physical volume the third (m: missing). Read are tables, `--reportformat json`
of lvmreport(7), and `--nameprefixes`, which writes each field as LVM2_LV_NAME='root'.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.collectors.base import Unparsed
from workflows.engine.core import Cure, Situation
from workflows.pasted.base import Reader, Where, document, plural, refused

_MISSING = re.compile(
    r"\s{0,8}(?:WARNING: )?(?:Couldn't find (?:device with uuid|all devices for LV) ?(?P<uuid>[\w/-]{4,60})|VG (?P<group>\S{1,80}) is missing PV (?P<pv>\S{1,60})|Device for PV (?P<lost>\S{1,60}) not found)"
)
_UNKNOWN = re.compile(r"\s{0,8}(?:\[unknown\]|unknown device) +(?P<group>\S{1,80}) +lvm2 ")
_VOLUME = re.compile(r"\s{0,8}(?P<name>\S{1,80}) +(?P<group>\S{1,80}) +(?P<attributes>[-a-zA-Z]{10})(?: |$)")
_GROUP = re.compile(r"\s{0,8}(?P<name>\S{1,80}) +[0-9]{1,5} +[0-9]{1,5} +[0-9]{1,5} +(?P<attributes>[wr][z-][x-][p-][cnai-][cs-]) ")
_HEALTH = {
    "p": "is partial: a disk of it is not there",
    "r": "had errors of a disk",
    "m": "has copies that differ",
    "F": "has failed",
    "D": "has no space left",
    "M": "has metadata that is read-only",
    "X": "has a health that LVM does not know",
}
LOOKED_AT = 6  # lines in which a report in JSON says what it lists
NO_POOL = "LVM makes it and it is no pool: ZFS knows nothing of it."


_PREFIXED = re.compile(r"LVM2_(?P<field>[A-Z_]{2,40})='(?P<value>[^']{0,400})'")
_IN_JSON = re.compile(r'"(?:lv|vg|pv|seg|pvseg|fullreport)" ?: ?\[')
_IN_WORDS = {
    "partial": "p",
    "refresh needed": "r",
    "mismatches exist": "m",
    "failed": "F",
    "out_of_data": "D",
    "metadata_read_only": "M",
}  # lv_health_status


@dataclass(frozen=True)
class Volumes:
    missing: tuple[tuple[str, str], ...]  # of which group or which identity, and its line
    ill: tuple[tuple[str, str, str], ...]  # volume, what is so, line


def parse(lines: Sequence[str]) -> Volumes | Unparsed:
    """What is not there and what is ill; Unparsed where no line is LVM's."""
    missing: list[tuple[str, str]] = []
    ill: list[tuple[str, str, str]] = []
    try:
        fields = list(_fields(lines))
    except (ValueError, RecursionError):
        return Unparsed("the JSON of LVM is torn", next(iter(lines), ""))
    for row, line in fields:
        if name := _lost(row):
            missing.append((name, line))
        ill += [(named, words, line) for named, words in _ill(row)]
    for line in () if fields else lines:
        if found := _MISSING.match(line[:400]) or _UNKNOWN.match(line[:400]):
            missing.append((next(filter(None, found.groups())), line.strip()))
        elif (group := _GROUP.match(line[:400])) and group["attributes"][3] == "p":
            ill.append((group["name"], _HEALTH["p"], line.strip()))
        elif (volume := _VOLUME.match(line[:400])) and volume["attributes"][8] in _HEALTH:
            ill.append((f"{volume['group']}/{volume['name']}", _HEALTH[volume["attributes"][8]], line.strip()))
    known = fields or missing or ill or any(map(re.compile(READER.first).match, lines))
    return Volumes(tuple(missing), tuple(ill)) if known else refused("LVM", next(iter(lines), ""))


def _fields(lines: Sequence[str]) -> Iterator[tuple[Mapping[str, str], str]]:
    """Each row with its fields by name, where LVM wrote their names beside them, and the line that names it. Raises ValueError where its JSON is torn."""
    if next(iter(lines), "").lstrip().startswith("{"):
        for row in _rows(document("\n".join(lines))):
            name = next((row[key] for key in ("lv_name", "pv_name", "vg_name") if row.get(key)), "")
            yield row, next((line.strip()[:400] for line in lines if f'"{name}"' in line), name)
        return
    for line in lines:
        if found := _PREFIXED.findall(line[:8000]):
            yield {field.lower(): value for field, value in found}, line.strip()[:400]


def _rows(whole: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    """Every row of every report. `json_std` writes numbers, and null for what is not set."""
    reports = whole.get("report")
    for report in reports if isinstance(reports, list) else ():
        for rows in report.values() if isinstance(report, dict) else ():
            for row in rows if isinstance(rows, list) else ():
                if isinstance(row, dict):
                    yield {key: "" if value is None else str(value) for key, value in row.items()}


def _lost(row: Mapping[str, str]) -> str:
    """Of which group, or under which identity, a physical volume of this row is not there; "" where none is."""
    missing = (
        row.get("pv_missing", "") not in ("", "0")  # a number with `--binary`
        or row.get("pv_attr", "").strip()[2:3] == "m"
        or row.get("pv_name", "") in ("[unknown]", "unknown device")
    )
    return (row.get("vg_name") or row.get("pv_uuid") or row.get("pv_name") or "one without a name") if missing else ""


def _ill(row: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    name = row.get("lv_full_name") or "/".join(filter(None, (row.get("vg_name"), row.get("lv_name"))))
    letter = row.get("lv_attr", "")[8:9]
    stated = row.get("lv_health_status", "")
    health = _HEALTH.get(letter) or (
        stated and (_HEALTH.get(_IN_WORDS.get(stated, "")) or f"has a health that is not known here: {stated[:40]}")
    )
    if name and health:
        yield name, health
    if row.get("vg_attr", "")[3:4] == "p" and row.get("vg_name"):
        yield row["vg_name"], _HEALTH["p"]


def situations(value: Volumes, where: Where) -> tuple[Situation, ...]:
    return tuple(_of(value, where))


_LOOK = Cure("look", "See which disk it was: `pvs -o +uuid,devices`, the kernel's log of the last boot, and the list of disks.")
_SEAT = Cure("reseat", "Look at its seat, cable, port and power first; when it is there again, LVM finds it by itself.")


def _of(value: Volumes, where: Where) -> Iterator[Situation]:
    if value.missing:
        names = ", ".join(dict.fromkeys(name for name, _ in value.missing))
        yield Situation(
            "disk-missing", f"disk-missing:{where.node}:lvm", where.node, "watch",
            f"LVM does not find a physical volume ({names[:120]})",
            f"LVM names {names}, of which a disk is not there. {NO_POOL} `vgreduce --removemissing` gives up for good what was on it: do not run it before the disk was looked for.",
            where.evidence(*(line for _, line in value.missing[:6])),
            subject={"node": where.node, "names": names[:200]}, sure=False, cures=(_LOOK, _SEAT),
        )  # fmt: skip
    for name, words, line in value.ill:
        yield Situation(
            "vdev-degraded", f"vdev-degraded:{where.node}:lvm:{name}", where.node, "watch",
            f"{name} of LVM {words}",
            f"LVM says by its attributes that {name} {words}. {NO_POOL}",
            where.evidence(line),
            subject={"node": where.node, "array": name}, sure=False, cures=(_LOOK, _SEAT),
        )  # fmt: skip


def notes(value: Volumes) -> tuple[str, ...]:
    lines = len(value.missing) + len(value.ill)
    trouble = f"Trouble of LVM stands in {plural(lines, 'line')}." if lines else "No line is about trouble of LVM."
    return (f"{trouble} It is no pool, and says nothing of the health of its disks; `zpool status -P -p` shows the pools.",)


READER = Reader(
    name="lvm",
    first=r"\{|\s{0,8}LVM2_[A-Z_]{2,40}='|\s{0,8}(?:WARNING: )?(?:Couldn't find (?:device with uuid|all devices for LV)|VG \S{1,80} is missing PV|Device for PV )|\s{1,8}(?:PV +VG +Fmt |VG +#PV +#LV |LV +VG +Attr )",
    tools=("pvs", "vgs", "lvs"),
    confirm=lambda lines, i: (
        not lines[i].startswith("{")
        or (_IN_JSON.search("".join(lines[i : i + LOOKED_AT])) is not None and '"report"' in "".join(lines[i : i + LOOKED_AT]))
    ),
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="pvs -o +uuid,devices",
)
