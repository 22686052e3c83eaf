"""Alerts of TrueNAS and FreeNAS, from their mails, chat messages and their list: sentences about pools, disks and enclosures.

What an alert says stands until it is cleared; one in the list of cleared alerts is told and not raised.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from agents.collectors.base import Unparsed
from workflows.engine.core import Severity, Situation
from workflows.facts.status_reasons import reason_of
from workflows.pasted import smartd
from workflows.pasted.base import Reader, Where, refused
from workflows.pasted.zpool_list_text import FILL

SUSPENDED, DOWN, ILL = frozenset(("SUSPENDED",)), frozenset(("FAULTED", "UNAVAIL", "LOCKED")), frozenset(("DEGRADED", "OFFLINE", "REMOVED"))


@dataclass
class Alert:
    """One alert: its sentence in one line, and the lines it stood on."""

    text: str
    lines: list[str] = field(default_factory=list)
    cleared: bool = False


@dataclass(frozen=True)
class Alerts:
    alerts: tuple[Alert, ...]
    disks: smartd.Notices | None = None  # what smartd said in the words of an alert
    host: str = ""


_HOST = re.compile(r"[ >]{0,8}(?:TrueNAS|FreeNAS|TrueNAS CORE|TrueNAS SCALE) @ ([\w.-]{1,120})")
_SECTION = re.compile(
    r"[ >]{0,8}(?:(New|Current) alerts?|(?:The following|These) alerts? ha(?:s|ve) been (cleared|gone)|(?:Gone|Cleared) alerts?(?P<gone>)) ?: ?$"
)
_ITEM = re.compile(
    r"[ >\"“]{0,12}(?:[*•-] {1,4})?(?:(?:CRITICAL|WARNING|ERROR|ALERT|EMERGENCY|NOTICE|INFO|INFORMATION)[:,]? {1,4})?(?:[*•-] {1,4})?(\S.{0,1200})"
)
_JSON = re.compile(r' {0,40}(?:[\[\]{}]|"[a-z_]{1,30}": ?)')  # of `midclt call alert.list`
_FORMATTED = re.compile(r'"(?:formatted|message)": ?"((?:[^"\\]|\\.){1,1200})"')
_BULLET = re.compile(r"[ >]{0,12}[*•-] {1,4}\S")
_NAMED = r"(?:(?:The )?(?:[Pp]ool|volume) [\"'`]{0,2}(?P<name>[A-Za-z\[][\w.:\[\]-]{0,120})[\"'`]{0,2}(?: \(ZFS\))?|Boot [Pp]ool)"
_POOL = re.compile(rf"{_NAMED},? (?:state|status) is (?P<state>[A-Z]{{4,12}})(?::(?P<why> ?.{{0,900}})|\.?[\"”]?$)")
_FULL = re.compile(
    r"(?:Space usage for pool|The capacity for the volume) [\"']?(?P<name>[\w.:-]{1,120})[\"']? is (?:currently at )?(?P<percent>[0-9]{1,3})%"
)
_DEVICE = re.compile(r"Disk (\S.{0,160}?) is (FAULTED|DEGRADED|UNAVAIL|REMOVED|OFFLINE|CANT_OPEN|CLOSED|UNKNOWN)")
_GOES_ON = re.compile(
    r"The following devices are not healthy|Sufficient replicas exist|Insufficient replicas|An attempt was made|Applications are|functioning in a degraded"
)
_KNOWN = re.compile(
    f"{_POOL.pattern}|{_FULL.pattern}".replace("?P<name>", "").replace("?P<state>", "").replace("?P<why>", "").replace("?P<percent>", "")
)
_Other = tuple[re.Pattern[str], str, Callable[[re.Match[str]], tuple[Severity, str]], str]
_OTHERS: tuple[_Other, ...] = (  # the sentence, the situation, how grave and in which words, what to do
    (re.compile(r"Scrub for pool [\"']?([\w.:-]{1,120})[\"']? is paused"), "scrub-paused", lambda f: ("watch", f"the scrub of {f.group(1)} is paused"), "Let it go on: zpool scrub, with the name of the pool."),
    (re.compile(r"Enclosure \((.{1,160}?)\): Element \"(.{1,80}?)\" is reporting a status of \"(.{1,40}?)\""), "enclosure-fault",
     lambda f: ("act" if f.group(3).lower() in ("critical", "unrecoverable") else "watch", f"{f.group(2)} of the enclosure {f.group(1)} is {f.group(3)}"), "See `sg_ses -p es` of that enclosure, its fans, power supplies and sensors."),
    (re.compile(r"([0-9]{1,12}) uncorrectable errors reported for (\S{1,80}) \((\S{1,60})\)"), "disk-failing", lambda f: ("watch", f"{f.group(2)} (serial {f.group(3)}) counts {f.group(1)} errors that it could not correct"), "Ask the disk itself: smartctl -x."),
    (re.compile(r"(\S{1,80}) \((\S{1,60})\) failed a SMART self-?test"), "disk-failing", lambda f: ("act", f"{f.group(1)} (serial {f.group(2)}) failed a self-test"), "Ask the disk itself: smartctl -x. See that its vdev has redundancy left, and plan its replacement."),
    (re.compile(r"(\S{1,80}) \((\S{1,60})\) has a high erase cycle count"), "disk-worn", lambda f: ("watch", f"{f.group(1)} (serial {f.group(2)}) is worn: its blocks were erased often"), "Plan its replacement: smartctl -x shows how much of its life is left."),
    (re.compile(r"([0-9]{1,3})% of lifetime left on SATA DOM (\S{1,40})"), "disk-worn", lambda f: ("act" if int(f.group(1)) < 10 else "watch", f"the SATA DOM {f.group(2).rstrip('.')} is worn: {f.group(1)} % of its life is left"), "It holds the system: plan its replacement."),
    (re.compile(r"Disk (\S{1,80}) \(with serial: (\S{1,60})\) critical temperature threshold is ([0-9]{1,3}) degrees celsius and the current temp is ([0-9]{1,3})"), "disk-hot",
     lambda f: ("act" if int(f.group(4)) >= int(f.group(3)) else "watch", f"{f.group(1)} (serial {f.group(2)}) is at {f.group(4)} C, its limit is {f.group(3)} C"), "Look at the airflow of its bay and at the fans."),
    (re.compile(r"Sensor (\S.{0,60}?) is (below|above) (recommended|critical) value: (.{1,80})"), "enclosure-fault", lambda f: ("act" if f.group(3) == "critical" else "watch", f"the sensor {f.group(1)} is {f.group(2)} its {f.group(3)} value: {f.group(4)}"), "Look at the part at the machine, and at `ipmitool sdr elist`."),
    (re.compile(r"(PS[U0-9]\S{0,20}|Power Supply.{0,30}?) is (\S{1,30}) showing: ([^.]{1,160})"), "enclosure-fault", lambda f: ("act", f"{f.group(1)} is {f.group(2)}: {f.group(3)}"), "Look at the power supply and its cord; `ipmitool sdr elist` shows how it is now."),
    (re.compile(r"JBOF: \"(.{1,80}?)\" \(.{1,80}?\) (\S.{0,80}?) is (critical|noncritical): (.{1,80})"), "enclosure-fault", lambda f: ("act" if f.group(3) == "critical" else "watch", f"{f.group(2)} of the JBOF {f.group(1)} is {f.group(3)}: {f.group(4)}"), "Look at the part at the shelf."),
    (re.compile(r"Sensor: '(?:Drive|Disk)(.{1,80}?)' had an 'Assertion Event' \(((?i:drive fault|.{0,40}fail).{0,60})\)"), "disk-failing", lambda f: ("act", f"the drive of the sensor{f.group(1)} failed: {f.group(2)}"), "Find it by its serial number and ask it: smartctl -x. A number of a bay may be another disk's today."),
    (re.compile(r"Sensor: '(.{1,80}?)' had an 'Assertion Event' \((.{0,60}(?i:fail|lost|fault|critical|non-recoverable|redundancy|over).{0,60})\)"), "enclosure-fault", lambda f: ("act", f"{f.group(1)}: {f.group(2)}"), "Look at the part at the machine; `ipmitool sdr elist` shows how it is now."),
    (re.compile(r"([0-9]{1,9}) total uncorrected errors detected for (\S.{0,60}?)\.?$"), "kernel-errors", lambda f: ("act", f"{f.group(1)} errors of memory that could not be corrected, of {f.group(2).rstrip('.')}"), "Memory that fails damages data before ZFS sees it: change the module, and scrub then."),
    (re.compile(r"Disk\(s\): (\S.{0,300}?) are formatted with Data Integrity Feature"), "unexplained", lambda f: ("watch", f"{f.group(1)} are formatted with protection information (DIF)"), "`sg_readcap -l` shows it; TrueNAS does not support it, and formatting anew destroys what is on them."),
    (re.compile(r"(\S{1,80}) \((\S{1,60})\) is reporting a low spare block reserve"), "disk-failing", lambda f: ("act", f"{f.group(1)} (serial {f.group(2)}) runs out of spare blocks"), "See that its vdev has redundancy left, then replace it in place."),
)  # fmt: skip
_KERNEL_NAME = re.compile(r"(?:sd[a-z]{1,3}|nvme[0-9]|a?da[0-9]|nvd[0-9]|pmem[0-9])")
_BEGUN = "|".join(form.pattern for form, *_ in _OTHERS)
_NEUTRAL = re.compile(
    r"(?:New (?:ZFS version|feature)|ZFS version|.{0,80}[Nn]ew feature flags|[Ss]crub (?:of|for|on) pool .{1,140} (?:started|finished|is finished)|[Rr]esilver(?:ing)? (?:of|for|on) pool .{1,140} (?:started|finished)"
    r"|Enclosure \(.{1,160}\) is healthy|The volume .{1,140} status is HEALTHY|This is a test alert|.{0,200}[Uu]pdate)"
)
_OF_STORAGE = re.compile(
    r"\b(?:pools?|disks?|drives?|SMART|S\.M\.A\.R\.T\.|scrub|resilver|ZFS|zfs|enclosure|multipath|vdev|ses|SAS|HBA)\b", re.IGNORECASE
)


def parse(lines: Sequence[str]) -> Alerts | Unparsed:
    found: list[Alert] = []
    host, cleared, going = "", False, False
    for line in lines:
        if _JSON.match(line):
            found += [Alert(text.replace("\\n", " "), [line]) for text in _FORMATTED.findall(line)]
            going = False
        elif of_host := _HOST.match(line[:200]):
            host, going = host or of_host.group(1), False
        elif section := _SECTION.match(line[:120]):
            cleared, going = section.group(2) is not None or section.group("gone") is not None, False
        elif not line.strip():
            going = False
        elif item := _ITEM.match(line[:1400]):
            text = item.group(1).strip()
            if found and (_DEVICE.match(text) or _GOES_ON.match(text) or (going and _is_rest(text, line, found[-1]))):
                _more(found[-1], text, line)
            else:
                found.append(Alert(text, [line], cleared))
                going = True
    open_alerts = [one for one in found if not one.cleared]
    disks = smartd.parse([one.text for one in open_alerts if one.text.startswith("Device")])
    if not found and not host:
        return refused("TrueNAS", next(iter(lines), ""))
    return Alerts(tuple(found), None if isinstance(disks, Unparsed) else disks, host)


def _is_rest(text: str, line: str, before: Alert) -> bool:
    """Whether a mail has cut the sentence before in two here."""
    return not _BULLET.match(line) and not before.text.endswith((".", "!", ")", ":")) and not _begins(text)


def _begins(text: str) -> bool:
    return bool(_KNOWN.match(text) or text.startswith("Device: ") or any(form.match(text) for form, *_ in _OTHERS) or _NEUTRAL.match(text))


def _more(alert: Alert, text: str, line: str) -> None:
    alert.text = f"{alert.text} {text}"
    alert.lines.append(line)


def situations(value: Alerts, where: Where) -> tuple[Situation, ...]:
    found = [one for alert in value.alerts if not alert.cleared for one in _of_alert(alert, where)]
    return (*found, *(smartd.situations(value.disks, where) if value.disks is not None else ()))


def _of_alert(alert: Alert, where: Where) -> Iterator[Situation]:
    text = alert.text
    if pool := _POOL.match(text):
        yield from _of_pool(alert, pool, where)
    elif full := _FULL.match(text):
        yield from _fills(alert, full.group("name"), int(full.group("percent")), where)
    elif other := next(((match, slug, words, then) for form, slug, words, then in _OTHERS if (match := form.match(text))), None):
        match, slug, words, then = other
        severity, sentence = words(match)
        yield _situation(slug, sentence, severity, f"An alert says that {sentence}. {then}", alert, where, {"text": sentence})
    elif not text.startswith("Device") and not _NEUTRAL.match(text) and _OF_STORAGE.search(text):
        sentence = f"An alert about storage whose words are not known here: {text[:300]} It is not taken for good. See `zpool status -P -p` and smartctl -x."
        yield _situation(
            "unexplained",
            f"an alert that is not known here: {text[:100]}",
            "watch",
            sentence,
            alert,
            where,
            {"source": "alerts", "text": text[:200]},
        )


def _of_pool(alert: Alert, found: re.Match[str], where: Where) -> Iterator[Situation]:
    """Where the tree of the pool was pasted as well, that tells more."""
    name, state, why = found.group("name") or "boot-pool", found.group("state"), (found.group("why") or "").strip()
    if where.facts is not None and any(pool.name == name and pool.tops_read for pool in where.facts.pools_read):
        return
    slug, severity = _judged(state, why)
    if not slug:
        return
    devices = ", ".join(f"{disk} ({what})" for disk, what in _DEVICE.findall(alert.text))
    reason = reason_of(why)
    means = f" {reason.means}" if reason else ""
    text = (
        f"An alert says that the pool {name} is {state}.{means}{f' Not well: {devices}.' if devices else ''} It does not say which member is concerned by its guid, nor "
        f"what is under way: run `zpool status -P -p {name}` before anything is replaced."
    )
    yield _situation(
        slug,
        f"{name} is {state}" + (f": {why[:120]}" if state == "ONLINE" else ""),
        severity,
        text,
        alert,
        where,
        {"pool": name, "state": state},
    )


def _judged(state: str, why: str) -> tuple[str, Severity]:
    """("", …) where nothing is wrong."""
    reason = reason_of(why)
    if state in SUSPENDED:
        return "pool-suspended", "act"
    if state in DOWN:
        return "pool-down", "act"
    if state in ILL:
        return "vdev-degraded", "act"
    if state not in ("ONLINE", "HEALTHY"):
        return "unexplained", "act"
    if not why or (reason is not None and (reason.neutral or not reason.slugs)):
        return "", "info"
    if reason is None:
        return "unexplained", "watch"
    return reason.slugs[0], "act" if reason.slugs[0] == "data-errors" else "watch"


def _fills(alert: Alert, name: str, percent: int, where: Where) -> Iterator[Situation]:
    severity = next((severity for least, severity in FILL if percent >= least), None)
    if severity is not None:
        text = f"An alert says that the pool {name} is {percent} % full. The fuller it is, the longer writes and a resilver take; when it is full, writes fail."
        yield _situation(
            "pool-filling", f"{name} is {percent} % full", severity, text, alert, where, {"pool": name, "percent": str(percent)}
        )


def _situation(slug: str, title: str, severity: Severity, text: str, alert: Alert, where: Where, about: dict[str, str]) -> Situation:
    gate = slug in ("pool-suspended", "pool-down")
    return Situation(
        slug, f"{slug}:{where.node}:{about.get('pool') or title}", where.node, severity,
        title if "pool" in about or _KERNEL_NAME.match(title) else title[0].upper() + title[1:],
        text, where.evidence(*alert.lines[:4]), subject={"node": where.node} | about, sure=slug != "unexplained", gate=gate,
    )  # fmt: skip


def notes(value: Alerts) -> tuple[str, ...]:
    of = f" of {value.host}" if value.host else ""
    cleared = [one.text for one in value.alerts if one.cleared]
    gone = (
        (f"{len(cleared)} of them are listed as cleared and are not raised; whether all is well again stands in `zpool status -P -p`.",)
        if cleared
        else ()
    )
    return (f"Alerts{of}: {len(value.alerts)} were read. That there is no other says nothing of what was not watched.", *gone)


READER = Reader(
    name="alerts",
    first=r"\[?\{.{0,1000}?\"formatted\": ?\"| {1,40}\"formatted\": ?\"| {1,40}\"message\": ?\"(?:Pool|The volume|Device: /dev/|Space usage for pool) | {0,8}(?:TrueNAS|FreeNAS|TrueNAS CORE|TrueNAS SCALE) @ \S| {0,8}(?:New|Current) alerts?: ?$| {0,8}(?:The following|These) alerts? ha(?:s|ve) been (?:cleared|gone):"
    r"|[ >\"“]{0,12}(?:[*•-] {1,4})?(?:(?:CRITICAL|WARNING|ERROR|ALERT)[:,]? {1,4})?(?:[*•-] {1,4})?(?:(?:(?:The )?(?:[Pp]ool|volume) [\"'`]{0,2}[A-Za-z\[][\w.:\[\]-]{0,120}[\"'`]{0,2}(?: \(ZFS\))?|Boot [Pp]ool),? (?:state|status) is [A-Z]{4,12}(?::|\.?[\"”]?$)"
    r"|(?:Space usage for pool|The capacity for the volume) [\"']|Scrub for pool [\"'].{1,120} is paused|Enclosure \(.{1,160}\): Element )"
    rf"|[ >\"“]{{0,12}}(?:[*•-] {{1,4}})?(?:{_BEGUN})",
    goes_on=r" {0,8}(?:TrueNAS|FreeNAS|TrueNAS CORE|TrueNAS SCALE) @ \S| {0,8}(?:New|Current) alerts?:| {0,8}(?:The following|These) |\s*[*•-] | {0,12}(?:CRITICAL|WARNING|ERROR|ALERT|NOTICE|INFO)\b"
    r"| {0,12}Disk \S.{0,160} is [A-Z]{4,12}\b|(?:The )?(?:Pool|pool|volume|Boot [Pp]ool) \S+ |Space usage|The capacity|Device: /dev/|Disk \S|Scrub |Enclosure \(|Current alerts?"
    rf"|[ >\"“]{{0,12}}(?:[*•-] {{1,4}})?(?:{_BEGUN})",
    parse=parse,
    situations=situations,
    notes=notes,
    again="zpool status -P -p",
)  # fmt: skip
