"""Notices of monitors and of NAS systems about disks: Scrutiny, Alertmanager, QNAP, Synology, Unraid, iDRAC. A sentence says what is wrong, and fields which disk.

A notice is of its moment: it reports what was so then, and nothing of how the disk is now. Words that are not in the table are raised as they stand.
Forms: Scrutiny webapp/backend/pkg/notify, Alertmanager's default templates, and what these systems put into their logs and mails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Severity, Situation
from workflows.pasted._notice_kinds import TOPICS, of_language, of_sentence
from workflows.pasted._stated import IS_RULE, is_of_action, of_statement
from workflows.pasted.base import Reader, Where, plural, refused


@dataclass(frozen=True)
class Notice:
    """One notice: the sentence that says what it is about, and what its fields name."""

    sentence: str
    fields: tuple[tuple[str, str], ...]
    line: str

    def field(self, *names: str) -> str:
        """The first of these fields that it has; "" where it has none."""
        return next((value for name in names for key, value in self.fields if key == name and value), "")


@dataclass(frozen=True)
class Notices:
    notices: tuple[Notice, ...]


_Kind = tuple[re.Pattern[str], str, Severity, str]
KINDS: tuple[_Kind, ...] = (  # what the sentence has, the situation, how grave, in which words
    (re.compile(r"EmailTest|test (?:message|notification|alert|mail)|[Tt]his is a test"), "", "info", ""),
    (re.compile(r"(?i)(?:RaidSet|Raid Set|Volume|logical device|unit)\b.{0,40} degraded|degraded unit|failed disks? ?= ?[1-9]|RAID (?:disk failure|insufficient)|RAID array .{1,80}(?:insufficient|needs attention)|RAID.{0,60}degraded|degraded.{0,30}RAID|(?:storage |z)?pool .{1,60}(?:degraded|has degraded|unhealthy|not online)|z(?:fs)?_?pool.{0,30}(?:degraded|unhealthy|notonline|not_online)|virtual disk .{1,80}degraded"), "vdev-degraded", "act", "an array or a pool is degraded"),
    (re.compile(r"(?i)(?:storage |z)?pool .{1,60}suspended"), "pool-suspended", "act", "a pool is suspended"),
    (re.compile(r"(?i)(?:storage |z)?pool .{1,60}(?:crashed|inactive|not active|failed|faulted|unavail)|virtual disk .{1,80}failed|volume .{1,60}(?:crashed|unmounted)"), "pool-down", "act", "an array, volume or pool is down"),
    (re.compile(r"(?i)SmartFailure|SMART (?:device |critical )?warning|Smart(?:Device|Critical)Warning|has SMART warning|NVMe critical warning|BothFailure|ScrutinyFailure|SMART.{0,40}(?:health|self-assessment|status).{0,30}(?:fail|abnormal)|SMARTDeviceHealthFailed|predictive failure|failure predict|predicts? .{0,20}failure|(?:is )?(?:failing|about to fail)"),
     "disk-failing", "act", "its own record says that it fails or will fail"),
    (re.compile(r"(?i)fault detected on|(?:disk|drive) .{0,80}(?:severely damaged|been deactivated|been disabled|is faulted)|[Dd]etected a failed disk|disk .{0,80}(?:has )?failed|drive .{0,80}(?:has )?failed|(?:disk|drive) (?:failure|fault)|FAILED state|in error state"), "disk-failing", "act", "a disk has failed"),
    (re.compile(r"(?i)medium error|bad (?:block|sector)|uncorrect|unrecovered|read error|reallocat|pending[ _]sector|media error|MediaErrors|I/O error|read/write error|array (?:has errors|health report \[FAIL\])"), "disk-errors", "watch", "a disk has blocks or commands that failed"),
    (re.compile(r"(?i)(?:plugged|unplugged|pulled) out|unplugged|(?:disk|drive) .{0,80}(?:removed|missing|lost|disconnected|not (?:found|detected|responding))|device (?:is )?(?:gone|missing)"), "disk-missing", "watch", "a disk is away"),
    (re.compile(r"(?i)(?:disk|drive|hdd|ssd|temperature).{0,80}(?:overheat|too hot|temperature|exceed|high)|Temperature(?:High|Critical)"), "disk-hot", "watch", "a disk is too hot"),
    (re.compile(r"(?i)wear|lifespan|life (?:left|remaining)|endurance|spare (?:blocks?|capacity)"), "disk-worn", "watch", "an SSD is worn"),
)  # fmt: skip
_SENTENCE = re.compile(
    r"[ >*-]{0,8}(?:(?:Subject|Message|Event Message|Description|Event|Warning|summary|description|alertname) ?[:=] ?)?(?P<text>\S.{2,600})"
)
_BEGINS = (
    r"[ >]{0,8}(?:Subject: )?Scrutiny SMART error \(|[ >]{0,8}(?:Subject: )?\[(?:FIRING|RESOLVED):[0-9]{1,4}\]"
    r"|\[(?:Warning|Error|Information|Info)\].{0,80}\[(?:Storage & Snapshots|Hardware Status|Storage Manager|Disk)\]|NAS Name: \S"
    r"|SeqNumber {1,12}= [0-9]|Message ID {1,12}= [A-Z]{3}[0-9]{1,5}|Event: Unraid |System Host Name: \S"
    r"|(?:NAS-Name|Nom du NAS|Nombre (?:del )?NAS|Nome (?:do |del )?NAS|NAS-naam|Nazwa NAS|Имя NAS|NAS ?名[称稱前]?) ?[:：] ?\S"
    r"|\s{0,40}\"string\": \"Completed: [a-z ]{2,40}failure\"|\*\*(?:Firing|Resolved)\*\*|[ >]{0,8}(?:Subject: )?(?:Problem|PROBLEM|Resolved|RESOLVED|OK): \S|Problem (?:started|has been resolved) at [0-9]|Trigger: \S"
    r"|[ >*]{0,8}(?:alertname|Alertname|alert_name|Alert) ?[:=] ?[A-Z]\w{3,80}$|[ >*]{0,8}(?:[Ss]ummary|description|Service|Notification Type) ?[:=] ?\S|\*{3,5} .{1,40} \*{3,5}$"
    r"|.{1,120} (?:(?:raised|changed) to (?:CRITICAL|WARNING)\b|is (?:CRITICAL|WARNING): )"
    r"|\S{1,80} (?:needs attention|is critical|is warning|recovered|was (?:warning|critical)), [`*_]?[\w-]{1,60}[._][\w./-]{0,80}[`*_]?(?:,| \()"
    r"|[ >*-]{0,8}alertname ?[=:] ?\S|(?!SMART )[^.?!|]{0,100}\bSMART\b[^.?!|]{0,60}\bFAIL(?:ED|ING)\b[^.?!|]{0,60}$"
)
# How a monitor or a machine begins a line of its own; with a kind that is known and a word of storage behind it, it is taken for one
_SEVERITY_WORD = r"(?:CRITICAL|WARNING|ERROR|ALERT|ALARM|PROBLEM|FAILURE|FAULT|Critical|Warning|Error|Alert|Alarm|Problem|Failure|Fault)"
_SHAPED = (
    rf"(?:[^\x00-\x7f]{{1,3}} ?)?(?:P[1-5] ?\| ?\S|{_SEVERITY_WORD}(?: ?[:|(\[]|\t| {{2}}| +\w{{1,12}} +[0-9]{{4}}[/-][0-9]{{2}}[/-][0-9]{{2}} )|FQX[A-Z0-9]{{5,12}}: |EVENT \(.{{1,40}}\): |Event: (?!Unraid|[A-Z]{{2,12}} -> )\S"
    r"|\[(?:Storage & Snapshots|Hardware Status|Storage Manager|Disk|Datadog|SMARTD?|RAID)\] ?\S|[0-9]{4} [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8} [A-Z]|Subject: Raid System Event|Event (?:Device|Type): \S"
    r"|(?:The )?(?:Physical |Logical |Hard |Virtual )?(?:[Dd]is[ck]|[Dd]rive|HDD|SSD) [#(\[]?[0-9][\w:.\])]{0,12} .{0,90}\b(?:is|has been|has|was) (?:severely |now )?(?:faulted|failed|degraded|damaged|deactivated|removed|missing|offline|disabled|predict)\w*\b)"
)
# With these words mails of a NAS begin, and say below which disk or pool they are about; the sentence may stand there alone, too
_JSON_ALERT = r"\{.{0,600}?\"alertname\": ?\""
_SALUTATION = r"(?:Dear|Sehr geehrte[rs]?|Cher|Chère|Estimado|Estimada|Gentile|Beste|Geachte|Prezado|Caro|Szanowny|Уважаемый|尊敬的|親愛的|亲爱的) ?.{1,60}[,.:，：、!]$"
_OF_NAS = rf"(?i:(?:the |der |die |das |le |la |el |il |het |de |o |a )?(?:{TOPICS}) ?['\"]?[A-Z]?[0-9]{{1,3}}\b.{{0,160}}(?:on|auf|sur|en|de|su|op|em|na|на|at) \S|\S{{1,60}} ?上[的の](?:{TOPICS}))"
_NEW = re.compile(
    rf"{_SHAPED}|"
    r"(?:SeqNumber {1,12}= |\[(?:Warning|Error|Information|Info)\]|NAS Name: |Event: Unraid |[ >]{0,8}(?:Subject: )?(?:Scrutiny SMART error|\[(?:FIRING|RESOLVED):))"
)
_FIELD = re.compile(r"[ >*-]{0,8}([^\W\d_][\w /'-]{1,30}?) {0,12}[:=：] {0,4}(\S.{0,400})$")
_SENTENCES = (
    *(
        "message",
        "event message",
        "description",
        "summary",
        "alertname",
        "subject",
        "failure type",
        "warning",
        "problem name",
        "notification type",
        "alert",
        "alert_name",
        "service",
        "event",
        "additional info",
        "output",
        "details",
        "trigger",
        "operational data",
    ),
    *("meldung", "nachricht", "mensaje", "messaggio", "bericht", "mensagem", "komunikat", "сообщение", "消息", "訊息"),
)
STATED = "stated"  # a field with the clause by which alone it is judged
OF_MACHINE = "of a machine"  # a field of what a machine's own event log says: its words come before those of monitors
_OVER = re.compile(
    r"\[RESOLVED:|\[(?:Information|Info)\]|^(?:Subject: )?(?:Resolved|RESOLVED|OK): |\*\*Resolved\*\*|Problem has been resolved| recovered, |\bRECOVERY\b|\"status\": ?\"resolved\"|returned to normal|turned good|(?:is )?operating normally|-> OK\b"
)
_QUIET_SEVERITY = (
    "informational",
    "information",
    "info",
    "normal",
    "ok",
    "none",
    "informationen",
    "informations",
    "información",
    "informazioni",
)
_PATH = re.compile(r"/dev/[a-z](?:[\w/.-]{0,60}[\w])|(?<![\w-])(sd[a-z]{1,3}[0-9]{0,2}|nvme[0-9]{1,3}n[0-9](?:p[0-9]{1,2})?)(?![\w-])")
_NO_NAME = r"(?!(?:is|was|are|has|state|status|health|usage|capacity|space|members?|disks?|drives?|on|of|in|at|with|and|which|that|still|now|alerts?|warning|errors?)\b)"
_NAMED_POOL = re.compile(
    rf"\b(?:(?:ZFS (?:z?pool|storage pool)|zpool) ['\"]?{_NO_NAME}([A-Za-z][\w.:-]{{0,80}})['\"]?(?= )"
    rf"|[Pp]ool ['\"]?{_NO_NAME}([A-Za-z][\w.:-]{{0,80}})['\"]? (?:reports?|is|has|(?:health|state|status)(?: is|:| changed)?) )"
)
_PLACE = re.compile(
    r"(?i)\b((?:p?disk|drive|physical disk|bay|slot|HDD|SSD|Laufwerk|Festplatte|Datenträger|disque|disco|unidade?|unità|schijf|dysk|диск)[ :]{0,2}#?(?:0x[0-9a-f]{2}|[0-9][a-z]\.[0-9]{1,3}(?:\.[0-9]{1,3})?|[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}|[0-9]{1,3}(?::[0-9]{1,3}){0,2})(?!\w|\.[0-9])"
    r"(?: in (?:backplane|disk drive bay|enclosure) ?[0-9]{1,3})?|PD [0-9a-f]{1,3}(?:\(e0x[0-9a-f]{1,4}/s[0-9]{1,3}\)|(?= |$)))"
)


_IS_JSON = re.compile(r"\s{0,8}\{.{0,600}?\"alertname\"")  # what Alertmanager sends to others
_JSON_PAIR = re.compile(r"\"(\w{1,30})\": ?\"([^\"]{1,300})\"")


def parse(lines: Sequence[str]) -> Notices | Unparsed:
    """Every notice, in their order; Unparsed where no line says anything."""
    found: list[tuple[list[str], dict[str, str]]] = []
    for line in _with_values(lines):
        greeted = found and len(found[-1][0]) == 1 and _IS_SALUTATION.match(found[-1][0][0])
        if not found or (_NEW.match(line) and found[-1][0] and not greeted):
            found.append(([], {}))
        texts, fields = found[-1]
        for name, value in _JSON_PAIR.findall(line[:4000]) if _IS_JSON.match(line) else ():
            fields.setdefault(name.lower(), value)
        field = _FIELD.match(line[:500])
        if field and not _NEW.match(line):
            fields.setdefault(field.group(1).strip().lower(), field.group(2).strip())
        texts.append(line.strip())
    notices = tuple(notice for texts, fields in found if (notice := _notice(texts, fields)) is not None)
    return Notices(notices) if notices else refused("a monitor", next(iter(lines), ""))


_VALUE_BELOW = re.compile(r"[ >*]{0,8}(?:Additional Info|Info|Output|Message|Description|Details) ?: *$")


def _with_values(lines: Sequence[str]) -> Iterator[str]:
    """Every written line; a field whose value stands below it in the line of its value."""
    waits = ""
    for line in filter(str.strip, lines):
        if _VALUE_BELOW.match(line[:100]):
            waits = line.rstrip()
        else:
            yield f"{waits} {line.strip()}" if waits and not _FIELD.match(line[:500]) else line
            waits = ""


def _notice(texts: Sequence[str], fields: dict[str, str]) -> Notice | None:
    sentences = [fields[name] for name in _SENTENCES if name in fields]
    head = texts[0] if texts else ""
    if _IS_SALUTATION.match(head):
        return Notice(" ".join(texts[1:])[:900], tuple(fields.items()), next(iter(texts[1:]), head))
    over = next((each for each in texts if _OVER.search(each)), "")
    is_field = _FIELD.match(head) and not _NEW.match(head) and sentences
    text = " ".join(dict.fromkeys([over, "" if is_field else head, *sentences])).strip()
    return Notice(text[:900], tuple(fields.items()), head) if text else None


def situations(value: Notices, where: Where) -> tuple[Situation, ...]:
    found: dict[str, Situation] = {}
    for situation in (one for notice in value.notices for one in _of(notice, where)):
        found.setdefault(situation.key, situation)
    return tuple(found.values())


def _of(notice: Notice, where: Where) -> Iterator[Situation]:
    quiet = notice.field("severity").lower() in _QUIET_SEVERITY
    if _OVER.search(notice.sentence) or quiet:
        return
    own = next((kind for kind in KINDS if kind[0].search(notice.sentence)), None)
    machines = of_sentence(notice.sentence)
    found = (machines or own) if notice.field(OF_MACHINE) else (own or machines)
    if found and found[1] in ("pool-down", "disk-failing") and is_of_action(notice.sentence):
        found = of_statement(notice.sentence)  # a backup that failed is no volume that did
    if (clause := notice.field(STATED)) or found is None or found[1] == "pool-down":  # a disk of a pool that failed is no pool that failed
        stated = of_statement(clause or notice.sentence)
        found = stated if stated and (clause or found is None or stated[1] not in NO_DISK) else found
    kind = found[1:] if found else None
    if kind is None and _IS_SHAPED.match(notice.line) and not _OF_STORAGE.search(notice.sentence):
        return  # another matter of that machine
    if kind is None:
        yield _situation("unexplained", "watch", "a notice whose words are not known here", notice, where)
    elif kind[0]:
        yield _situation(*kind, notice, where)
        if (other := _of_other(notice.sentence, kind[0])) is not None:
            yield _situation(*other, notice, where)


_SENTENCE_END = re.compile(r"(?<=[.!]) +")
_ADVICE = re.compile(r"(?i)\b(?:if|please|may|might|can|could|would|possible|should|otherwise|do not|recommend|run)\b")


def _of_other(text: str, slug: str) -> tuple[str, Severity, str] | None:
    """A mail may say of a disk and of its array: the matter of the other kind, by a sentence that reports and does not advise."""
    for sentence in _SENTENCE_END.split(text):
        found = None if _ADVICE.search(sentence) else next((kind for kind in KINDS if kind[0].search(sentence)), None)
        if found and found[1] and found[2] == "act" and (found[1] in NO_DISK) != (slug in NO_DISK):
            return found[1], found[2], found[3]
    return None


NO_DISK = ("vdev-degraded", "pool-down", "data-errors", "unexplained", "enclosure-fault", "hba-fault")  # these are of no single disk


_PART = re.compile(
    r"(?i)\b((?:power (?:supply|unit)|psu|fan|temperature sensor|enclosure|shelf|controller|VD|virtual (?:disk|drive)|logical (?:drive|device|disk)|volume|array|raid group|unit|md|(?:sas|sata|fc|expander|phy) (?:port|link)|phy)\b ?[#:(\[]{0,2} ?['\"]?(?=[\w./:-]{0,12}[0-9])[\w./:-]{0,30}[\w])"
)


def _situation(slug: str, severity: Severity, words: str, notice: Notice, where: Where) -> Situation:
    path = _PATH.search(notice.field("device name", "device", "disk") or notice.sentence)
    bay = _PLACE.search(notice.sentence)
    serial = notice.field("device serial", "serial", "serial_number", "serial number")
    name = (path.group(1) or path.group()) if path else bay.group(1) if bay else notice.field("device name", "device", "disk")
    of = f"{name or 'a disk that it does not name'}{f' (serial {serial})' if serial else ''}"
    member = where.member(serial or None, name.rsplit("/", 1)[-1] if name else None)
    is_of_part = slug in (*NO_DISK, "pool-filling", "pool-suspended") or (slug in ("link-crc", "path-lost") and not name and not serial)
    part = found.group(1) if is_of_part and (found := _PART.search(notice.field(STATED) or notice.sentence)) else ""
    gate = slug == "pool-down"
    pool = notice.field("zpool", "pool", "pool name") or (
        named.group(1) or named.group(2) if (named := _NAMED_POOL.search(notice.sentence)) else ""
    )
    return Situation(
        slug, f"{slug}:{where.node}:notice:{serial or part or name or notice.sentence[:60]}", where.node, severity,
        f"{of}: {words}" if not is_of_part else f"{pool or part}: {words}" if pool or part else words[0].upper() + words[1:],
        f"A monitor says: {notice.sentence[:300]} It is a notice of its moment. {member.sentence + ' ' if member else ''}Ask the disk itself (smartctl -x) and the pool "
        "(`zpool status -P -p`), and find the disk by its serial number, before anything is taken out: a kernel name or a number of a bay in a notice may be another disk's today.",
        where.evidence(notice.line),
        subject={"node": where.node, "text": notice.sentence[:200]} | ({"disk": name} if name else {}) | ({"serial": serial} if serial else {}) | ({"pool": pool} if pool else {}) | (member.subject if member else {}),
        sure=False, gate=gate,
    )  # fmt: skip


def notes(value: Notices) -> tuple[str, ...]:
    over = sum(bool(_OVER.search(notice.sentence)) for notice in value.notices)
    return (
        f"{plural(len(value.notices), 'notice')} of a monitor {'was' if len(value.notices) == 1 else 'were'} read{f', {over} of them that a matter is over' if over else ''}. "
        "How the disks are now stands in smartctl -x and `zpool status -P -p`.",
    )


_IS_SALUTATION = re.compile(_SALUTATION)
_IS_OF_NAS = re.compile(_OF_NAS)
_IS_PROBLEM = re.compile(r"[ >]{0,8}(?:Subject: )?(?:Problem|PROBLEM|Resolved|RESOLVED|OK): |Trigger: ")
_OF_ZABBIX = re.compile(
    r"Problem (?:started|has been resolved) at|Problem name: |Trigger (?:status|severity)?: |Host: \S|Severity: \S|Original problem ID: "
)
_IS_BEGUN = re.compile(_BEGINS)
_OF_A_NAS_ALONE = re.compile(
    r"(?i)has (?:degraded|crashed)|\([0-9]{1,2}/[0-9]{1,2} |has been (?:removed|deactivated|plugged)|entered"
)  # in words of no person
_NAMES_A_NAS = re.compile(r"Synology|DiskStation|RackStation|\bDSM\b|QNAP|\bQTS\b|Storage Manager|TrueNAS|ReadyNAS|Asustor|TerraMaster")
_IS_OF_SMART = re.compile(r"(?!SMART )[^.?!|]{0,100}\bSMART\b[^.?!|]{0,60}\bFAIL(?:ED|ING)\b[^.?!|]{0,60}$")
_IS_SHAPED, _IS_BEGUN_ELSE = re.compile(_SHAPED), re.compile(rf"{_BEGINS}|{_SALUTATION}")
_OF_PERSON = re.compile(r"(?i)\b(?:I|I'm|I've|my|mine|we|our|you|your|me)\b|\?\s*$")
_IS_FIELD_ALONE = re.compile(
    r"[ >*]{0,8}(?:alertname|Alertname|alert_name|Alert|[Ss]ummary|description|Service|Notification Type) ?[:=] ?\S|\*{3,5} .{1,40} \*{3,5}$|.{1,120} (?:(?:raised|changed) to (?:CRITICAL|WARNING)\b|is (?:CRITICAL|WARNING): )"
)
_IS_TASK = re.compile(  # the title of a page or of a piece of work: what somebody does or shows, and not what is so
    r"(?i)[:=] {0,4}[\"']?(?:(?:steps|guide|procedures?|notes|instructions|runbook|tutorial|howto)\b|how (?:to|i|we)\b|(?:replac|fix|recover|repair|swapp|remov|add|migrat|restor|handl|deal|identify|troubleshoot|diagnos|monitor|simulat|test)ing\b)"
)
_OF_STORAGE = re.compile(
    r"(?i)\b(?:disks?|drives?|smart|raid|md[0-9]|nvme\w*|sd[a-z]{1,2}|zpool|zfs\w*|pools?|volumes?|arrays?|hdd|ssd|HostRaid\w*|Smart\w*)\b|_sector|SMART"
)
LOOKED_AT = 8  # lines below a salutation or a problem's name


def _is_sure(lines: Sequence[str], i: int) -> bool:
    """Whether a line with which people's own mails begin, too, is a monitor's, by what stands below it; every other beginning is."""
    line, below = lines[i], lines[i + 1 : i + 1 + LOOKED_AT]
    if _IS_SHAPED.match(line) and not _IS_BEGUN_ELSE.match(line):
        return _OF_PERSON.search(line) is None and any(
            of_any(each) and _OF_STORAGE.search(each) and not _ADVICE.search(each) for each in _SENTENCE_END.split(line)
        )
    if _IS_SALUTATION.match(line):
        return any(_IS_OF_NAS.match(each) and of_any(each) for each in below)
    if _IS_OF_SMART.match(line) and (_OF_PERSON.search(line) or re.search(r"\b(?:when|if|that|as)\b", line)):
        return False
    if _IS_PROBLEM.match(line):
        return any(map(_OF_ZABBIX.match, below))
    if _IS_FIELD_ALONE.match(line):
        if _IS_TASK.search(line) or any(map(IS_RULE.match, lines[max(0, i - LOOKED_AT) : i + LOOKED_AT])):
            return False
        if any("RECOVERY" in each for each in (line, *below)):
            return any(map(_OF_STORAGE.search, (line, *below)))
        return any(map(of_any, (line, *below))) and any(map(_OF_STORAGE.search, (line, *below)))
    if _IS_OF_NAS.match(line) and not _IS_BEGUN.match(line):
        around = lines[max(0, i - LOOKED_AT) : i + LOOKED_AT]
        return of_any(line) and (_OF_A_NAS_ALONE.search(line) is not None or of_language(line) or any(map(_NAMES_A_NAS.search, around)))
    return True


def of_any(sentence: str) -> bool:
    """Whether a sentence is of a kind that is known here."""
    return any(kind[0].search(sentence) for kind in KINDS) or of_sentence(sentence) is not None


READER = Reader(
    name="notices",
    first=rf"{_BEGINS}|{_SALUTATION}|{_OF_NAS}|{_SHAPED}|{_JSON_ALERT}",
    confirm=_is_sure,
    goes_on=rf"{_BEGINS}|{_SHAPED}|{_OF_NAS}|[ >*-]{{0,8}}[^\W\d_][\w /'-]{{1,30}}? {{0,12}}[:=：] {{0,4}}\S|(?:CRITICAL|WARNING|UNKNOWN|OK|CRIT|WARN) ?[-:] ?\S|Labels:|Annotations:|Disk [0-9]",
    inside=frozenset(
        (
            "smartd",
            "alerts",
            "kernel_log",
            "fmadm",
            "storcli",
            "megacli",
            "systemctl_status",
            "zed_mail",
            "smart",
            "checks",
            "machine_events",
        )
    ),
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="smartctl -x DEVICE",
)
