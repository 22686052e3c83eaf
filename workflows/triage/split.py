"""Cuts pasted lines into the outputs they hold: by the prompts between them, else by how each kind of output begins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from agents.collectors import kernel_log
from agents.collectors.base import Unparsed
from agents.collectors.kstat_pools import ROOT
from agents.collectors.parameters import FOLDERS, VALUES
from agents.collectors.zpool_import import NONE as NO_POOL_TO_IMPORT
from workflows import pasted
from workflows.facts import status_reasons
from workflows.pasted import ata_errors, uberblock
from workflows.triage import prompts, talk
from workflows.triage.alone import as_alerts
from workflows.triage.commands import Asked, asked, behind, kernel_file
from workflows.triage.fields import HEADER, KEY
from workflows.triage.goes_on import belongs, family
from workflows.triage.piece import SECTION, Piece
from workflows.triage.refused import refusals
from workflows.triage.rewrap import OBJECT_ALONE
from workflows.triage.torn_json import PART_OF_SMARTCTL, is_json

NO_PROMPT = re.compile(
    r" *(?:ID# +ATTRIBUTE_NAME|[0-9]{1,3}% of test remaining|# {0,1}[0-9]{1,2} {1,4}(?:Short|Extended|Conveyance|Vendor|Selective|Background|Foreground|Offline)\b)"
)  # smartctl's own lines that look like one


def cut(lines: Sequence[str], turns: Mapping[int, str] | None = None) -> list[Piece]:
    """Every line in exactly one piece; prompt lines belong to none. `turns` says where another text begins, and on which host."""
    pieces = [Piece("", 1)]
    node = prompt = ""
    turns = turns or {}
    goes_on = False  # whether the command above ended in a backslash
    for i, line in enumerate(lines):
        if i in turns and not (turns[i] == "" and pasted.goes_on(pieces[-1].source, line or next(filter(None, lines[i : i + 3]), ""))):
            node = turns[i] or node
            pieces.append(_turned(pieces[-1], node, i + 1, _begun_at(lines, i)))
        if not line:
            pieces[-1].lines.append(line)
            continue
        if goes_on or (pieces[-1].command and not pieces[-1].begun and _PASSWORD.match(line)):
            goes_on = goes_on and line.endswith("\\")
            pieces[-1] = replace(pieces[-1], first=i + 2, lines=[])
            continue
        if line.strip() == prompt:  # without a command behind it
            pieces.append(Piece("", i + 2, node=node))
            continue
        command = None if NO_PROMPT.match(line) else asked(line) or behind(line, prompt)
        if command is not None and not (pieces[-1].path.endswith(".conf") and line.startswith("#") and not command.source):  # a comment
            node = command.node or node
            if pieces[-1].lines and _ABOVE_PROMPT.fullmatch(pieces[-1].lines[-1]):
                pieces[-1].lines.pop()
            pieces.append(_of_command(command, node, i + 2))
            prompt, goes_on = _prompt(line, command), line.endswith("\\")
            continue
        source, key = begins(lines, i)
        if not source and not pieces[-1].source and not pieces[-1].command and OBJECT_ALONE.match(line):
            source = "zpool_status"  # damaged data without what stands above the list of it
        if source and _is_talk(pieces[-1], source):
            pieces.append(_turned(pieces[-1], node, i + 1, source))
        shut = pieces[-1].path or (pieces[-1].hint and source not in _IN_ANY_ANSWER)
        if source and not shut and _another(pieces[-1], source, key, line, lines[i + 1 : i + 3]):
            key = key or (_named_above(lines, i) if source in _OF_A_DISK else "")
            pieces.append(Piece(source, i + 1, key=key, node=node))
        elif not (source and source == family(pieces[-1].source)) and not belongs(pieces[-1], line):
            pieces.append(Piece("", i + 1, node=node))
        pieces[-1].add(line)
        pieces[-1].sure |= family(pieces[-1].source) == source
    whole = _with_heads_of_mails([trimmed for piece in pieces if (trimmed := _trim(piece)).lines or trimmed.command])
    return list(as_alerts(list(whole)))


_HEAD_OF_MAIL = re.compile(r"[> ]{0,4}(?:Subject|From|To|Cc|Date|Reply-To|Message-I[Dd]): ")


def _with_heads_of_mails(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """A mail of smartd begins with its head: the subject above it is no other output."""
    for piece, after in zip_longest(pieces, pieces[1:]):
        if (
            after is not None
            and after.source == "smartd"
            and not piece.source
            and not piece.command
            and any(map(_HEAD_OF_MAIL.match, piece.lines))
        ):
            after.lines = [*piece.lines, *[""] * (after.first - piece.last - 1), *after.lines]
            after.first = piece.first
        else:
            yield piece


_IN_ANY_ANSWER = frozenset(
    ("zpool_import", "kernel_log")
)  # an import by name can list pools, too, and a journal has lines of the kernel and of zed

_ABOVE_PROMPT = re.compile(r"\s{0,8}[\[(\u250c\u256d]\S{0,80}[@\u327f]\S{1,80}[\])]\S{0,40}\s{0,8}")  # the first line of a prompt of two

_PASSWORD = re.compile(
    r"\[sudo[^\]]{0,40}\] .{1,80}|doas \([^)]{1,80}\) password:|(?:\S{1,80} )?[Pp]assword(?: for \S{1,80})?: *$|Sorry, try again\."
)


def _prompt(line: str, command: Asked) -> str:
    """What stands before a command, where it ends as a prompt does: alone on a line it ends the output."""
    before = _AS_ROOT.sub("", line.partition(command.words[0])[0].strip()) if command.words else ""
    return before if before and before[-1] in prompts.ENDS and (len(before) > 1 or before in "$%") else ""


_AS_ROOT = re.compile(r" (?:sudo|doas)(?: -\S{1,20}){0,4}$")
_OF_A_DISK = ("smart", "zdb_label")
_DEVICE = re.compile(
    r"[^\w/]{0,40}(?:/dev/(?:disk/by-[a-z]{1,12}/)?)?((?:sd|hd|vd)[a-z]{1,4}[0-9]{0,3}|nvme[0-9]{1,3}(?:n[0-9]{1,3}(?:p[0-9]{1,3})?)?|(?:a?da|nda|nvd)[0-9]{1,4}(?:p[0-9]{1,3})?"
    r"|c[0-9]{1,3}t[0-9A-F]{1,20}d[0-9]{1,4}(?:s[0-9]{1,2})?|(?:wwn|ata|scsi|nvme)-[\w.:+-]{4,100})[^\w/]{0,40}"
)


def _named_above(lines: Sequence[str], i: int) -> str:
    """The device in the line above, alone there, as a loop over disks prints it before each report; "" where none stands there."""
    above = next((line for line in reversed(lines[max(0, i - 2) : i]) if line.strip()), "")
    found = _DEVICE.fullmatch(above.strip())
    return found.group(1) if found else ""


TURN_LOOKED_AT = 4  # lines: a fence stands close to what it holds


def _begun_at(lines: Sequence[str], i: int) -> str:
    """The source of the output that begins here, or below a few empty lines; "" where none does."""
    return next((begins(lines, j)[0] for j in range(i, min(i + TURN_LOOKED_AT, len(lines))) if lines[j]), "")


def _is_talk(piece: Piece, source: str) -> bool:
    """Whether what stands below a command is somebody's own words, as its output begins only here. What refuses it is an output, too.
    Only zpool and zdb begin with a line that tells what they print; others print one about themselves or the device first."""
    return (
        source.startswith(("zpool_", "zdb_"))
        and bool(piece.command)
        and piece.begun
        and not piece.sure
        and family(piece.source) == source
        and not refusals(piece.lines, piece.command)
    )


def _turned(before: Piece, node: str, first: int, source: str) -> Piece:
    """Where another text begins, what went before has ended; but for a command whose output, of this source, has not begun."""
    if not before.command or (before.begun and not _is_talk(before, source)):
        return Piece("", first, node=node)
    again = replace(before, first=first, lines=[], begun=False, node=before.node or node, pools=set(), labels=set())
    before.source = before.command = before.hint = ""
    return again


def _of_command(command: Asked, node: str, first: int) -> Piece:
    words = " ".join(command.words)
    return Piece(
        command.source, first, key=command.key, node=node, command=words, path=command.path, question=command.question, hint=command.hint
    )


def begins(lines: Sequence[str], i: int) -> tuple[str, str]:
    """Source and key of the output that begins with this line; both "" when it is not the beginning of any."""
    line, after = lines[i], next((after for after in lines[i + 1 : i + 4] if after), "")
    if _POOL.match(line):
        if _NOTICE.match(lines[i - 1] if i else "") and not KEY.match(lines[i + 1] if i + 1 < len(lines) else ""):
            return "", ""  # a field of a mail that ZED sent
        return ("zpool_import" if re.match(r" *id:(?: |$)", after) and not _is_headed(lines, i) else "zpool_status"), ""
    if _IMPORT_ABOVE.match(line) and _is_import_beheaded(lines, i):
        return "zpool_import", ""
    if _LABEL_TITLE.match(line) and re.match(r"-{10,}$", after) and not re.match(r"-{10,}$", lines[i - 1] if i else ""):
        return "zdb_label", ""  # the rule above its title is not here
    if re.match(r"-{10,}$", line) and re.match(r"LABEL [0-3]", after):
        return "zdb_label", ""
    if line.startswith((f"{ROOT}/", f"{VALUES}/")) or _OPTIONS.match(line):
        return kernel_file(line.partition(":")[0])
    if (line == "{" or line.startswith(('{"', '{ "'))) and (of_json := _json(lines[i : i + JSON_LOOKED_AT])):
        return of_json, ""
    if of_person := pasted.begins(lines, i):
        return of_person, ""
    if PART_OF_SMARTCTL.match(line) and not is_json(lines[i - 1] if i else ""):
        return "smart", ""  # JSON of which the beginning is not here
    if _COLUMNS.match(line) or (_STATE.match(line) and KEY.match(after)) or (_FIELD_ABOVE.match(line) and _is_headed(lines, i)):
        return "zpool_status", ""  # its beginning is not here
    if _DAMAGE.match(line) or UNDER_WAY.match(line) or _is_reason(line):
        return "zpool_status", ""  # all that somebody kept of it
    for source, form, second in _SIGNS if _SIGN.match(line) else ():
        found = form.match(line)
        if found and (not second or re.match(second, after)):
            return source, found.group(1) if form.groups else ""
    return ("kernel_log", "") if kernel_log.begins(line) else ("", "")


POOL_LOOKED_AT = 40


def _is_headed(lines: Sequence[str], i: int) -> bool:
    """Whether the tree of the pool that this line names has columns: only `zpool status` prints them, and on Solaris an id as well."""
    for line in lines[i + 1 : i + 1 + POOL_LOOKED_AT]:
        if _POOL.match(line) or asked(line) is not None:
            return False
        if HEADER.match(line):
            return True
    return False


_IMPORT_ABOVE = re.compile(r" {0,6}(?:id: [0-9]{1,20}$|(?:state|status|action|see|comment|config):(?: |$))")
_IMPORT_ROW = re.compile(r"\s+\S{0,299}[^\s:] +(?:ONLINE|DEGRADED|OFFLINE|REMOVED|FAULTED|UNAVAIL)(?:  +[a-z].{0,200})?$")
_LABEL_TITLE = re.compile(r"LABEL [0-3](?: |$)")


def _is_import_beheaded(lines: Sequence[str], i: int) -> bool:
    """Whether this field stands in a listing of `zpool import` whose first lines are not here: its rows have no counters."""
    for line in lines[i + 1 : i + 1 + POOL_LOOKED_AT]:
        if _POOL.match(line) or HEADER.match(line) or asked(line) is not None:
            return False
        if _IMPORT_ROW.match(line):
            return True
    return False


JSON_LOOKED_AT = 12  # lines
_STATUS_JSON = re.compile(r'"command": ?"zpool status"')
_SMART_JSON = re.compile(r'"smartctl" ?: ?\{')


_OF_SMARTCTL = re.compile(r' *"(?:json_format_version|smartctl|device|(?:ata|nvme|scsi)_[a-z0-9_]+)" ?:')  # also with its keys sorted


def _json(lines: Sequence[str]) -> str:
    text = "\n".join(lines)
    return (
        "smart"
        if _SMART_JSON.search(text) or any(map(_OF_SMARTCTL.match, lines[1:3]))
        else "zpool_status_json"
        if _STATUS_JSON.search(text)
        else ""
    )


_POOL = re.compile(r" {0,6}pool: (?!.{0,255}[/(,;])\S")  # no name has one of these; a line that has is somebody's own
_DAMAGE = re.compile(r" {0,4}errors: (?:Permanent errors have been|[0-9]{1,20} data errors?,)")
UNDER_WAY = re.compile(  # print_scan_status, print_removal_status, print_raidz_expand_status in cmd/zpool/zpool_main.c
    r" {0,4}(?:(?:scan|scrub): (?:scrub|resilver(?:ed)?|rebuilt|rebuild) |(?:raidz )?expand: [Ee]xpan(?:sion of|ded) |remove: (?:Removal of|Evacuation of) )"
)
_REASON = re.compile(r" {0,4}status: (\S.{0,200})")


def _is_reason(line: str) -> bool:
    """Whether it begins a reason that `zpool status` gives: it alone is kept at times."""
    found = _REASON.match(line)
    return found is not None and status_reasons.is_begun(found.group(1))


_FIELD_ABOVE = re.compile(r" {0,4}(?:status|scan|scrub|config):(?: |$)")
_COLUMNS = re.compile(r" *NAME +STATE +READ +WRITE +CKSUM(?: |$)")
_STATE = re.compile(r" {0,4}state: [A-Z]{4,16}$")
_NOTICE = re.compile(r" {0,8}(?:eid|class|host|time|vpath|vguid|vphys|devid|impact|vtype|objid|error|cksum|read|write): ")
_OPTIONS = re.compile(rf"(?:{'|'.join(map(re.escape, FOLDERS))})/[^:]+\.conf: *options ")
# How a part of smartctl's text begins that was pasted without its first lines.
SMART_PART = (
    r"=== START OF (?:INFORMATION|READ SMART DATA|SMART DATA) SECTION ===|SMART Health Status: |SMART overall-health self-assessment test result: "
    r"| {0,4}ID# +ATTRIBUTE_NAME| {0,4}Vendor Specific SMART Attributes with Thresholds:| {0,4}SMART Attributes Data Structure revision|Error counter log:"
    r"|SMART Self-test log|SMART Extended Self-test Log|Num  Test|Num +Test[_ ]Description|SMART/Health Information \(NVMe"
    r"|General SMART Values:|Self-test execution status: {1,8}\( |Background scan results log|Error Counter logging not supported"
    r"| {0,8}[0-9]{1,5} {1,6}[0-9]{1,8}:[0-9]{2} {1,4}[0-9a-f]{16} {1,4}\[[0-9a-f]{1,2},[0-9a-f]{1,2},[0-9a-f]{1,2}\] "
    r"|0x[0-9a-f]{2}  0x[0-9a-f]{3}  [0-9] +\S+ +\S{3} +[A-Z]"
    r"|# {0,1}[0-9]{1,2} {1,4}(?:Short|Extended|Conveyance|Vendor|Selective|Background|Foreground|Offline|Short offline)\b.{1,60}(?:%|-) +[0-9]"
    r"|Self-test Log \(NVMe| {0,2}[0-9]{1,3} [A-Z][A-Za-z_-]+ +(?:0x[0-9a-f]{4}|[POSRCK-]{6}) +[0-9]{3} +[0-9]{3} "
)
_PROPERTIES = re.compile(r"NAME +PROPERTY +VALUE +SOURCE$")
_SIGNS = (  # source, how the output begins (a group in it is the key), how its next line begins where the first alone is not sure
    ("zpool_import", re.compile(f"{NO_POOL_TO_IMPORT}$"), ""),
    ("zpool_status", re.compile(r"no pools available$|all pools are healthy$|pool '[^']{1,256}' is healthy$"), ""),
    ("zdb_label", re.compile(r"failed to (?:unpack|read) label [0-3]$"), ""),
    ("lsscsi", re.compile(r"\[(?:N|[0-9]+):[0-9]+:[0-9]+(?::[0-9]+)?\] +\S"), ""),
    ("zpool_events", re.compile(r"TIME +CLASS$"), ""),
    ("zpool_events", re.compile(r"[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{4} [0-9:]{8}\.[0-9]{9} +(?:ereport|resource|sysevent)\.fs\.zfs\."), ""),
    ("zpool_events", re.compile(r' {8}class = "(?:ereport|resource|sysevent)\.fs\.zfs\.'), r" {8}(?:ena|pool|pool_guid|version) = "),
    ("zpool_events", re.compile(r" {8}detector = \(embedded nvlist\)$"), r" {16}version = 0x"),  # its first line is not here
    ("zpool_history", re.compile(r"History for '([^']+)':$"), ""),
    (
        "zpool_history",
        re.compile(r"\s{0,8}[0-9]{4}-[0-9]{2}-[0-9]{2}\.[0-9]{2}:[0-9]{2}:[0-9]{2} (?:zpool|zfs|\[txg:[0-9]+\]|\[internal|\([0-9]+ms\)) ?"),
        "",
    ),
    ("zpool_get", _PROPERTIES, ""),
    ("zpool_get", re.compile(r"[A-Za-z][\w.:-]* +size +[0-9.]+[KMGTPE]? +-$"), r"\S+ +capacity "),  # -H prints no heading
    ("zpool_iostat_w", re.compile(r"\S+ +total_wait +disk_wait"), ""),
    ("zdb_config", re.compile(r"\S+:$"), r"    version: [0-9]+$"),
    ("zdb_config", re.compile(r"\s*(?:MOS Configuration|Cached configuration):$"), r" {8}version: [0-9]+$"),
    ("smart", re.compile(r"smartctl (?:pre-|version )?[0-9]+\.[0-9]+ "), ""),
    ("smart", re.compile(SMART_PART), ""),
    (
        "sg_logs",
        re.compile(
            r"(?:Write|Read|Verify|Non-medium|Self-test|Background scan|Informational Exceptions|Pending defects|Temperature) {1,2}.{0,30}page +\[0x[0-9a-f]{1,2}\]$"
        ),
        "",
    ),
    ("ses", re.compile(r" *Primary enclosure logical identifier \(hex\): [0-9a-f]{16}$"), ""),
    ("ses", re.compile(r"(?:.*\S )?\[[0-9]+,-?[0-9]+\] +Element type: "), ""),
    ("ses", re.compile(r"Enclosure [Ss]tatus diagnostic page:"), ""),
    ("drive_modes", re.compile(r" {4}/dev/(\w+): \S"), r"(?:WCE|EN_BMS) +[01] "),
    ("dbgmsg", re.compile(r"timestamp +message *$"), ""),
    ("dbgmsg", re.compile(r"ZFS_DBGMSG\(zdb\) START:$"), ""),  # `zdb -G` prints it without times
    ("dbgmsg", re.compile(r"[0-9]{9,11} +(?:[0-9a-f]{16} +)?\w{1,40}\.c:[0-9]{1,6}:\w{1,80}\(\): "), ""),  # its last lines alone
    ("sysctl", re.compile(r"vfs\.zfs\.[\w.]+: "), ""),
    ("mdb", re.compile(r"zfs_\w+/[DEX]$"), r"zfs_\w+: *"),
    ("mdb", re.compile(r"(?:> *)?zfs_\w+(?: *::print(?: -\w+)?|/[WZ](?:0t|0x)?[0-9a-f]+)$"), ""),
)
_SIGN = re.compile("|".join(f"(?:{form.pattern})" for _, form, _ in _SIGNS))  # to see at a glance that none fits
_ONE_BY_ONE = ("zpool_events", "zpool_history", "zpool_get", "smart", "ses", "dbgmsg", "drive_modes", "zpool_status_json")  # one heading


HEADED = {
    "zpool_events": "TIME",
    "zpool_get": "NAME",
    "zpool_history": "History",
    "dbgmsg": "timestamp",
}  # what a new run begins with; another line that may begin one is the next record


def _another(piece: Piece, source: str, key: str, line: str, after: Sequence[str] = ()) -> bool:
    """Whether a line that begins `source` begins a new output, or goes on with the one before."""
    if piece.command and piece.source and not piece.begun and source in pasted.READERS:
        return False  # the command says better than a heading whose output it is
    if (
        source == "zpool_status"
        and piece.source in ("zpool_import", "zpool_status", "zpool_status_guid")
        and (
            _COLUMNS.match(line)
            or _STATE.match(line)
            or _FIELD_ABOVE.match(line)
            or _DAMAGE.match(line)
            or UNDER_WAY.match(line)
            or _is_reason(line)
        )
    ):
        return False
    if family(piece.source) != source or (key and piece.key and key != piece.key):
        return _LOGGED.match(line) is not None if (piece.source, source) == ("smart", "smartd") else not _is_inside(piece, source)
    if source in ("zpool_status", "zpool_import"):
        return line.strip() in piece.pools  # the same pool again: another run
    if source == "smart":
        return _another_report(piece, line)
    if source == "ses":
        return bool(_ID.match(line)) and any(map(_OF_SHELF.match, piece.lines))  # the shelf's make and model stand before its id
    if source in HEADED and not line.startswith(HEADED[source]):
        return False  # the next record
    if source in _ONE_BY_ONE:
        return piece.begun
    above = piece.lines[-2] if len(piece.lines) > 1 else ""
    if source == "zdb_label" and (title := _LABEL_TITLE.match(above)) and line.endswith(f"label {title.group()[6]}"):
        return False  # old releases title a label that they cannot read, too
    return source == "zdb_label" and len(piece.labels) == LABELS  # what follows is another disk's


LABELS = 4  # on every disk
_LOGGED = re.compile(r".{0,160}?\bsmartd\[[0-9]{1,10}\]: ")  # a line of the system's log, which no report of smartctl has
_REPORT = re.compile(r"smartctl |[{]")
_ID = re.compile(r" *Primary enclosure logical identifier")
_OF_SHELF = re.compile(
    r" *Primary enclosure logical identifier|.*\bElement (?:type|[0-9]+ descriptor)|Enclosure [Ss]tatus diagnostic page:"
)
_ELEMENT = re.compile(r"(?:.*\S )?\[[0-9]+,-?[0-9]+\] ")


def _another_report(piece: Piece, line: str) -> bool:
    """Whether a line of smartctl's begins the report of another disk: its first line, or a section that this report has already."""
    if _REPORT.match(line):
        return piece.begun
    section = SECTION.match(line)
    return section is not None and section.group() in piece.sections


def _is_inside(piece: Piece, source: str) -> bool:
    """A line of a command's own output that only looks like the beginning of another."""
    return (piece.source, source) in (("ses", "drive_modes"), ("fmadm", "kernel_log")) or pasted.is_inside(piece.source, source)


def _trim(piece: Piece) -> Piece:
    """Without empty lines at either end."""
    end = len(piece.lines)
    while end and not piece.lines[end - 1]:
        end -= 1
    start = next((place for place in range(end) if piece.lines[place]), end)
    piece.lines = piece.lines[start:end]
    piece.first += start
    if piece.source == "smart" and ata_errors.is_alone(piece.lines):
        piece.source = "ata_errors"
    if piece.source == "zdb_label" and (rest := uberblock.of_labels(piece.lines)):
        piece.source, piece.lines = "uberblock", rest
    if piece.source == "kernel_log" and piece.lines and all(not line or kernel_log.JOURNAL.match(line) for line in piece.lines):
        piece.source = piece.command = ""  # which time the journal is of, and no line of it
    if piece.source == "zdb_objects" and not piece.sure and isinstance(pasted.READERS["zdb_objects"].parse(piece.lines), Unparsed):
        piece.source = ""  # zdb was refused, or something else stands here
    if piece.command and piece.source and not piece.sure and talk.is_talk(piece.lines) and not refusals(piece.lines, piece.command):
        piece.source, piece.lines = "", []  # the command, and what somebody says of it
    return piece
