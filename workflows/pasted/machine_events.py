"""Lines of a machine's own event log and of its RAID controller's: `ipmitool sel list`, OpenManage in the system's log, Insight agents, MegaRAID events, DDN.

Each line is of its moment: what it reports was so then. Forms: ipmitool lib/ipmi_sel.c (sensor type Drive Slot, IPMI 2.0 table 42-3, event type 0Dh), Dell OpenManage's
storage messages, HP's cmaidad, the events of MegaCli and storcli.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agents.collectors.base import Unparsed
from workflows.pasted import notices
from workflows.pasted.base import Reader, plural, refused
from workflows.pasted.notices import Notice, Notices

_SEL = re.compile(
    r"\s{0,8}[0-9a-f]{1,5} {0,4}\| {0,4}(?:[0-9/.-]{8,10}|Pre-Init[^|]{0,30}) {0,4}\| {0,4}[0-9:]{5,8}[^|]{0,12}\| {0,4}(?P<sensor>[^|]{1,80}?) {0,4}\| {0,4}(?P<event>[^|]{1,80}?) {0,4}\| {0,4}(?P<way>Asserted|Deasserted)\b"
)
# FreeIPMI's ipmi-sel, also with --output-event-state and with the direction of an event
_FREE_SEL = re.compile(
    r"\s{0,8}[0-9]{1,6} {0,6}\| {0,4}(?:[A-Z][a-z]{2}-[0-9]{2}-[0-9]{4}|PostInit|N/A) {0,6}\| {0,4}(?:[0-9:]{8}|PostInit|N/A) {0,6}\| {0,4}(?P<sensor>[^|]{1,80}?) {0,60}\| {0,4}(?P<kind>[A-Z][^|]{1,40}?) {0,40}\|"
    r"(?: {0,4}(?P<state>Nominal|Warning|Critical|N/A) {0,6}\|)?(?: {0,4}(?P<way>Assertion|Deassertion) Event {0,6}\|)? {0,4}(?P<event>[^|]{1,160}?) {0,8}$"
)
_OPENMANAGE = re.compile(
    r".{0,160}?\bServer[ _]Administrator(?:\[[0-9]{1,9}\])?: Storage Service EventID: (?P<id>[0-9]{4}) +(?P<sentence>\S.{1,500})"
)
_INSIGHT = re.compile(r".{0,160}?\b(?:cmaidad|cmaeventd|cmasm2d|hpasmlited|amsd)(?:\[[0-9]{1,9}\])?: (?P<sentence>\S.{1,500})")
_EVENT = re.compile(r"\s{0,8}(?:Event Description|EVENT DESCRIPTION) ?: {0,2}(?P<sentence>\S.{1,500})")
_MONITOR = re.compile(
    r"\s{0,8}Controller ID: {0,4}[0-9]{1,2} {1,8}(?P<sentence>(?:PD|VD|BBU|Battery|Controller|Enclosure|Fan|Power|Temperature)\b.{1,400})"
)
_DDN = re.compile(r"[# ]{0,4}Error (?:ID|Code) = [0-9]{1,6} : (?P<sentence>\S.{1,300})")
_MANAGEMENT = re.compile(
    r"\s{0,8}(?:[0-9]{1,6} {1,4}(?:Critical|Caution|Repaired|Informational) .{0,60})?(?:LOG|CRITICAL|CAUTION|REPAIRED|INFORMATIONAL): {1,4}(?P<sentence>(?:Internal Storage Enclosure|Drive Array|Smart Storage|Power Supply|System Fan)\b.{1,400})"
)
# OpenManage's sentences of a machine's event log, also without what stands before them (Messages Reference Guide, drive events)
_DRIVE = re.compile(
    r"(?:.{0,120}?(?:\||: ) {0,4})?(?P<sentence>Drive [0-9]{1,3} (?:de-?)?(?:asserted fault state|(?:drive presence|predictive failure|hot spare|consistency check in progress|in critical array|in failed array|rebuild in progress|rebuild aborted) was (?:de-?)?asserted)\.?)$"
)
# Dell's lifecycle log and alert mails: the id of a message, and its sentence (Event and Error Message Reference Guide)
_DELL = re.compile(
    r"(?:.{0,80}?[\s|,:(])?(?:(?:PDR|VDR|STOR|CTL|ENC)[0-9]{1,5}|(?:BAT|PSU|FAN|TMP|SSD|HWC|RDU|CBL)[0-9]{4})[\s|,:)-]{1,6}(?P<sentence>[A-Z][^|]{5,400})"
)
_READYNAS = re.compile(
    r"(?:.{0,80}?: )?(?P<sentence>(?:Disk in channel [0-9]{1,2} .{0,40}changed state from|Volume \S{1,60} health changed from|Detected (?:increasing|high) [a-z ]{3,60}count: ).{1,200})"
)
_TERMINAL = re.compile(
    r"(?:.{0,60}?\bEVT#[0-9]{1,9}-(?:T[0-9]{1,12}|[0-9/]{6,8} {1,3}[0-9:]{7,8}): {1,4}[0-9]{1,5}=)(?P<sentence>[A-Z].{5,300})"
)  # the firmware's own log of MegaRAID
_RECORD = re.compile(r"Record: {1,12}[0-9]{1,6}$|Severity {1,12}: (?:Critical|Non-Critical|Ok|Warning)$")
_SEVERITY = re.compile(r"Severity {0,12}: {1,12}(?P<severity>\S{2,20})")
_DESCRIPTION = re.compile(r"Description {0,12}: {1,12}(?P<sentence>\S.{3,400})")
_FORMS = (_OPENMANAGE, _INSIGHT, _EVENT, _MONITOR, _DDN, _MANAGEMENT, _DRIVE, _DELL, _READYNAS, _TERMINAL)
_OF_HP = re.compile(r"^Drive Array ?- ?")  # what HP calls all that its controllers report, and no array
_STATUS = re.compile(r"has a new status of (?P<status>[0-9]{1,2})")
_FINE, _OF_LOGICAL = "2", re.compile(r"(?i)logical drive")  # CPQIDA-MIB: 2 is ok in each of its lists
_QUIET = re.compile(
    r"(?i)returned to normal|de-?asserted|operating normally|\bis (?:now )?(?:online|ready)\b|from (?:FAILED|OFFLINE|MISSING|Degraded) to |drive presence was asserted|hot spare was asserted|Controller log file entry|Patrol|consistency check|learn|rebuild (?:complete|progress|start)|Inserted|drive present|presence detected|fully redundant|to (?:ONLINE|OPTIMAL|HOTSPARE|UNCONFIGURED_GOOD|REBUILD)\b|correct(?:ed|ing)|recovered|repaired|Time established|boot|Power off/down|State (?:De)?[Aa]sserted|Shutdown command|Raw Sense|initialization|Log area|Sense: {0,2}5/|power state change"
)


def parse(lines: Sequence[str]) -> Notices | Unparsed:
    """Every event, in their order; Unparsed where no line is one."""
    found = tuple(_events(lines))
    return Notices(found) if found else refused("an event log", next(iter(lines), ""))


def _events(lines: Sequence[str]) -> Iterator[Notice]:
    severity = ""
    of_records = any(map(_RECORD.match, lines))
    for line in lines:
        if of_records and (graded := _SEVERITY.match(line[:80])):
            severity = graded["severity"].lower()
        elif of_records and (described := _DESCRIPTION.match(line[:500])):
            quiet = severity in ("ok", "normal", "informational") or _QUIET.search(described["sentence"]) is not None
            yield Notice(described["sentence"].strip(), _fields(quiet), line.strip())
        elif sel := _SEL.match(line[:400]):
            yield _of_sensor(sel["sensor"], sel["event"], sel["way"], line)
        elif free := _FREE_SEL.match(line[:500]):
            yield _of_free(free, line)
        elif found := event(line):
            yield found


def event(line: str) -> Notice | None:
    """What a line of an event log reports; None for any other line."""
    found = next((match for form in _FORMS if (match := form.match(line[:900]))), None)
    return _of_words(found.group("sentence").strip(), line) if found else None


_GONE = (
    ("Drive Present", "drive not present"),
    ("Presence detected", "power supply is missing"),
    ("Fully Redundant", "redundancy lost"),
)  # once deasserted


def _of_free(row: re.Match[str], line: str) -> Notice:
    """An event whose state FreeIPMI calls Nominal is none; another one counts by its words."""
    way = "Deasserted" if row["way"] == "Deassertion" else "Asserted"
    if row["state"] == "Nominal" and way == "Asserted":
        return Notice(f"{row['sensor']}: {row['event']}", _fields(True), line.strip())
    return _of_sensor(row["sensor"], row["event"], way, line)


def _of_sensor(sensor: str, event: str, way: str, line: str) -> Notice:
    gone = next((words for name, words in _GONE if event.startswith(name)), "") if way == "Deasserted" else ""
    words = gone or event
    over = not gone and (way == "Deasserted" or _QUIET.search(event) is not None)
    return Notice(f"{sensor}: {words} ({event} {way})", _fields(over), line.strip())


def _of_words(sentence: str, line: str) -> Notice:
    status = _STATUS.search(sentence)
    if status:
        what = "" if status["status"] == _FINE else "logical drive failed: " if _OF_LOGICAL.search(sentence) else "drive is FAILED: "
        return Notice(f"{what}{sentence}", _fields(not what), line.strip())
    own = _OF_HP.sub("", sentence)
    return Notice(own, _fields(_QUIET.search(own) is not None), line.strip())


def _fields(quiet: bool) -> tuple[tuple[str, str], ...]:
    """What it is of, and that it tells of no trouble where that is so."""
    return ((notices.OF_MACHINE, "yes"), ("severity", "info")) if quiet else ((notices.OF_MACHINE, "yes"),)


def notes(value: Notices) -> tuple[str, ...]:
    quiet = sum(notice.field("severity") == "info" for notice in value.notices)
    return (
        f"{plural(len(value.notices), 'event')} of a machine or of its controller {'was' if len(value.notices) == 1 else 'were'} read{f', {quiet} of them of no trouble, or of one that is over' if quiet else ''}. "
        "Each is of its moment; how the disks are now stands in smartctl -x and `zpool status -P -p`.",
    )


_FIRST = "|".join(f"(?:{re.sub(r'[?]P<[a-z]+>', '?:', form.pattern)})" for form in (_SEL, _FREE_SEL, *_FORMS, _RECORD))
READER = Reader(
    name="machine_events",
    first=_FIRST,
    tools=("ipmitool", "racadm", "ipmi-sel"),
    asks=lambda tool, rest: tool == "ipmi-sel" or "sel" in rest or "getsel" in rest or "lclog" in rest,
    goes_on=rf"{_FIRST}|ID +\| Date|(?:Date/Time|Date and Time|Source|Severity|Description|ID|Category) {0, 12}: |-{{20,}}$|\s{{0,8}}(?:seqNum|Time|Code|Class|Locale|Event Data|EVENT ID|SEVERITY LEVEL|LOCATION|Generated on) ?:|={{3,}}|[# ]{{0,4}}Error (?:ID|Code) = ",
    open_ended=True,
    inside=frozenset(("notices", "alerts", "zed_mail")),
    parse=parse,
    situations=notices.situations,
    silent=lambda value: True,
    notes=notes,
    again="ipmitool sel elist",
)
