"""Labels, configurations, histograms and events of which an end was not pasted: what is whole of them stays, and what was cut is left out and named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from agents.collectors import zpool_events
from agents.collectors._log_stamps import MONTHS
from agents.collectors._rows import is_gap
from agents.collectors.base import Unparsed
from agents.collectors.zpool_iostat_w import BUCKETS
from workflows.analysis.read_tail import READS_MIN, percentile
from workflows.facts.read.latency import duration
from workflows.pasted.base import Reader


class Whole(NamedTuple):
    """The lines that can be read, and what is missing behind them; "" where nothing is."""

    lines: list[str]
    missing: str


_LABELS_NAMED = re.compile(r"LABEL ([0-3])|failed to \w{1,20} label ([0-3])$| {1,12}labels = ([0-3 ]{1,12})$")
_TITLE = re.compile(r"LABEL [0-3](?: |$)")
_RULE = re.compile(r"-{10,}$")
_TREE = re.compile(r" {4}vdev_tree:$")
_FIELD = re.compile(r" {4}[^ ]")
_POOL = re.compile(r"[A-Za-z0-9]\S{0,255}:$")
_HISTOGRAM = re.compile(r"\S{1,255} +total_wait +disk_wait")
_BUCKET = re.compile(r"[0-9]{1,12}(?:ns|us|ms|s)? +[0-9]")
UNKNOWN = "-"  # a count that is not known
RULE = "-" * 36


_MORE = {  # what of the same kind may have stood before or behind it
    "zpool_status": "other pools, if there are any",
    "zpool_status_guid": "other pools, if there are any",
    "kstat_pools": "other pools, if there are any",
    "ses": "elements and enclosures that are not in it, if there are any",
    "zdb_label": "labels of other disks",
}


def seen(source: str, value: Any) -> str:
    """What of a text that reads well by itself is not in it, in words; "" where nothing shows that something is missing."""
    if source == "kernel_log":
        first = min(((event.at_us, event.printed) for event in (*value.events, *value.unexplained) if event.printed), default=(0, ""))[1]
        return f"what the log says before {first}" if first else "what the log says before and behind these lines"
    if source == "zpool_iostat_w":
        return f"how long I/Os take now (zpool iostat -v -l 5 2): these counts are since the import and are not judged{_waits(value)}"
    if (
        source == "smart"
        and value.passed is not None
        and value.details is not None
        and value.details.in_text
        and value.details.self_tests is None
    ):
        return "the report has no self-tests: it was not asked for them, or was cut before them (smartctl -x DEVICE)"
    return f"{_MORE[source]}: nothing in this text shows that it is all that was printed" if source in _MORE else ""


TAILS = {"syncq_read": "synchronous reads in the queue", "syncq_write": "synchronous writes in the queue", "disk_read": "reads on the disk", "disk_write": "writes on the disk"}  # fmt: skip


def _waits(value: Any) -> str:
    """Of the first pool or vdev the longest waits, where its counts are exact."""
    if not value:
        return ""
    found = []
    for kind, words in TAILS.items():
        counts = value[0].counts.get(kind, ())
        if counts and None not in counts and sum(counts) >= READS_MIN:
            found.append(f"99 of 100 {words} at most {duration(percentile(counts, 99))}")
    return f"; {value[0].name}: {', '.join(found)}" if found else ""


def of_list(reader: Reader, lines: Sequence[str]) -> str:
    """What may be missing of an output that no agent asks for: its first or last line, or what stood behind a list that does not show its end."""
    if not all(any(re.match(form, line) for line in lines) for form in reader.always):
        return f"{reader.name} begins or ends with a line that is not there, so more may have been printed"
    if reader.open_ended:
        return f"nothing that {reader.name} prints shows where its list ends, so more may have been printed"
    return ""


_BEGUN = re.compile(r" {1,12}(name|pool_guid|txg|hostid|hostname): (.{1,80})$")
_ENDS_BEFORE = {"zdb_label": "the guid of the disk", "zdb_config": "the guid of the pool"}


def begun(source: str, lines: Sequence[str]) -> str:
    """What a label, a configuration or an event says of which an end is missing; "" of any other text, and where it says nothing."""
    if source == "zpool_events":
        return _of_event(lines)
    if source == "zdb_config" and any(map(is_gap, lines)):
        guids = sum(re.match(r" +guid: [0-9]", line) is not None for line in lines)
        return f"Lines were left out of it, so it is joined with nothing. It shows {guids} guids." if guids else ""
    if source == "zdb_label" and len(lines) == 1 and _is_torn(lines[0]):
        return "It ends before it says anything of the first label."
    if source not in _ENDS_BEFORE or any(re.match(r" +(?:guid|vdev_tree):", line) for line in lines):
        return ""
    found = {name: value.strip("'") for line in lines if (match := _BEGUN.match(line)) for name, value in [match.groups()]}
    if "name" not in found and "pool_guid" not in found:
        return ""
    fields_here = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in found.items())
    return f"It ends before {_ENDS_BEFORE[source]}, so it is joined with nothing. It says: {fields_here}."


_OF_EVENT = re.compile(r" {8}(pool|vdev_path|vdev_guid|zio_err) = \"?([^\"]{1,200}?)\"?\s*$")


def _of_event(lines: Sequence[str]) -> str:
    """What a record says of which the first line is not here, and so not what happened."""
    found = {name: value for line in lines if (match := _OF_EVENT.match(line)) for name, value in [match.groups()]}
    if "pool" not in found:
        return ""
    fields_here = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in found.items())
    return f"The first line of this event is not here, so what happened is not known, nor when. It says: {fields_here}."


_OF_A_LABEL = "failed to unpack label 0"
TORN_MIN = 8  # characters
PROPERTY_COLUMNS = 4  # name, property, value, source


def _is_torn(line: str) -> bool:
    """Whether it is the beginning of the line for a label that is not there."""
    return TORN_MIN <= len(line) < len(_OF_A_LABEL) and _OF_A_LABEL.startswith(line)


def _outdented(lines: Sequence[str]) -> Sequence[str]:
    """Without what all its lines are indented by: a label's own title stands at the left."""
    width = min((len(line) - len(line.lstrip(" ")) for line in lines if line), default=0)
    return [line[width:] for line in lines] if width else lines


def labels(lines: Sequence[str]) -> Whole:
    """The last label without its tree where that is not whole; without that label where others stand before it, or it does not say whose it is."""
    lines = _outdented(lines[:-1] if len(lines) > 1 and _is_torn(lines[-1]) else lines)
    kept = list(lines) if not lines or not _TITLE.match(lines[0]) else [RULE, *lines]
    names = {digit for line in kept if (found := _LABELS_NAMED.match(line)) for digit in "".join(found.groups("")) if digit in "0123"}
    lacking = [digit for digit in "0123" if digit not in names]
    if not names or not lacking:
        return Whole(kept, "")
    titles = [i for i, line in enumerate(kept) if _TITLE.match(line)]
    begin = titles[-1] if titles else len(kept)
    if _ends_in_tree(kept[begin:]):
        kept = kept[: begin - 1] if len(titles) > 1 else _without_tree(kept)
    if titles and not any(line.startswith("    guid: ") for line in kept[begin:]) and len(titles) > 1:
        kept = kept[: begin - 1]
    names = {digit for line in kept if (found := _LABELS_NAMED.match(line)) for digit in "".join(found.groups("")) if digit in "0123"}
    lacking = [digit for digit in "0123" if digit not in names]
    missing = f"it ends before all copies of the label, and nothing is known of {', '.join(lacking)}"
    return Whole([*kept, *(f"failed to read label {digit}" for digit in lacking)], missing)


def properties(lines: Sequence[str]) -> Whole:
    """Without a last row that has not its four columns: it was cut within."""
    return (
        Whole(list(lines[:-1]), "its last row is cut within")
        if len(lines) > 1 and len(lines[-1].split()) < PROPERTY_COLUMNS
        else Whole(list(lines), "")
    )


def config(lines: Sequence[str]) -> Whole:
    """The last pool without its vdevs where these are not whole; without that pool where its guid is not there either."""
    kept = _headed_by_name(_of_one_pool(lines))
    names = [i for i, line in enumerate(kept) if _POOL.match(line)]
    if not names:
        return Whole(kept, "")
    last = kept[names[-1] :]
    if _ends_in_tree(last):
        kept, missing = [*kept[: names[-1]], *_without_tree(last)], "the vdevs of its last pool are not all here"
    else:
        missing = "" if any(_TREE.match(line) for line in last) else "its last pool has no vdevs here"
    if missing and not any(line.startswith("    pool_guid: ") for line in last) and len(names) > 1:
        return Whole(kept[: names[-1]], "its last pool is not whole")
    return Whole(kept, missing)


_NAME = re.compile(r" {4}name: '(.{1,255})'$")


def _headed_by_name(lines: Sequence[str]) -> list[str]:
    """What stands above a pool's fields may be a file's name, or the name that the pool had; what counts is the name within."""
    kept = list(lines)
    heads = [i for i, line in enumerate(kept) if _POOL.match(line)]
    for head, end in zip(heads, [*heads[1:], len(kept)], strict=False):  # none where only rows of it were kept
        name = next((found.group(1) for line in kept[head + 1 : end] if (found := _NAME.match(line))), "")
        kept[head] = f"{name}:" if name else kept[head]
    return kept


_OF_ONE = re.compile(r"\s*(?:MOS Configuration|Cached configuration):$")


def _of_one_pool(lines: Sequence[str]) -> list[str]:
    """`zdb -C POOL` names no pool above its fields, and indents them by eight (cmd/zdb/zdb.c, dump_config); what is on disk comes last and counts."""
    titles = [i for i, line in enumerate(lines) if _OF_ONE.match(line)]
    if not titles:
        return list(lines)
    body = [line[4:] for line in lines[titles[-1] + 1 :] if line.startswith(" " * 8)]
    name = next((line.partition(": ")[2].strip("'") for line in body if line.startswith("    name: ")), "")
    return [f"{name}:", *body] if name else list(lines)


def histograms(lines: Sequence[str]) -> Whole:
    """Each histogram with a row for every bucket; those that are not there count something that is not known."""
    kept: list[str] = []
    missing, rows, width = "", BUCKETS, 0
    lines = _without_torn_end(lines)
    for line in (*lines, ""):
        if _BUCKET.match(line):
            rows, width = rows + 1, len(line.split()) - 1
        elif rows < BUCKETS and width and (_HISTOGRAM.match(line) or line == "" or _RULE.match(line)):
            missing = "a histogram ends before its last bucket"
            kept += [f"{2 ** (at + 1) - 1}ns{f' {UNKNOWN}' * width}" for at in range(rows, BUCKETS)]
            rows = BUCKETS
        if _HISTOGRAM.match(line):
            rows, width = 0, 0
        kept.append(line)
    return Whole(kept, missing)


def _without_torn_end(lines: Sequence[str]) -> Sequence[str]:
    """Without a last row that has fewer columns than the row above it: it was cut within."""
    rows = [i for i, line in enumerate(lines) if _BUCKET.match(line)]
    if len(rows) < 2 or any(line.strip() for line in lines[rows[-1] + 1 :]):
        return lines
    last, before = (len(lines[i].split()) for i in (rows[-1], rows[-2]))
    return lines[: rows[-1]] if last < before else lines


_RECORD = re.compile(r"[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{4} [0-9:]{8}\.[0-9]{9} +[a-z]+\.[\w.]+$")


_TORN_RECORD = re.compile(r"[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{4} [0-9:.]{1,18}(?: [a-z.]*)?$")
_MARKS = re.compile(
    r" *(?:nvlist version: |\((?:start|end) |\(embedded nvlist\)|TIME +CLASS|(?:__ttl|__injected) = |\w+ = \((?:start|embedded)|\w+ = \(array)"
)
_OWN_TIME = "__tod = "
SECONDS_MAX = 2**34  # of a time since 1970; what is larger is none
_CLASS_OF = re.compile(r' *class = "([a-z]+\.[\w.]{1,80})"$')
_TIME_OF = re.compile(r" *time = 0x([0-9a-f]{1,16}) 0x([0-9a-f]{1,8})\s*$")


def _headed(lines: Sequence[str]) -> Sequence[str]:
    """With the first line of a record that stands there without it, where its class and its time do."""
    end = next((i for i, line in enumerate(lines) if _RECORD.match(line.rstrip()) or not line.strip()), len(lines))
    kind, time = (next(filter(None, map(form.match, lines[:end])), None) for form in (_CLASS_OF, _TIME_OF))
    if kind is None or time is None or end == 0:
        return lines
    seconds, nanoseconds = (int(part, 16) for part in time.groups())
    if seconds > SECONDS_MAX:
        return lines
    day = datetime.fromtimestamp(seconds, UTC)
    stamp = f"{MONTHS[day.month - 1]} {day.day:2} {day:%Y %H:%M:%S}.{nanoseconds:09}"
    return [f"{stamp} {kind.group(1)}", *lines]


def events(lines: Sequence[str]) -> Whole:
    """Each record that is whole, in the layout of `zpool events -v`; what stands before the first one, or cannot be read, is left out.

    `fmdump -eV` of illumos prints the same records with marks around what is nested, and without quotes.
    """
    lines = _headed([line for line in lines if not zpool_events.DROPPED.fullmatch(line.strip())])
    records: list[list[str]] = []
    of_fmdump = any(line.strip().startswith(_OWN_TIME) for line in lines)
    torn = False
    for line in lines:
        if _RECORD.match(line.rstrip()):
            records.append([line.rstrip()])
        elif _TORN_RECORD.match(line):
            torn = True  # the first line of another one
        elif records and line.strip() and not (of_fmdump and _MARKS.match(line.expandtabs())):
            records[-1].append(" " * 8 + _field(line.strip(), of_fmdump))
    texts = ["\n".join(record) + "\n\n" for record in map(_once, records)]
    readable = list(filter(_is_readable, texts))
    first = records[-1][0] if records and not _is_readable(texts[-1]) else ""
    if first and not any(first.split()[-1] in text for text in readable) and _is_readable(f"{first}\n\n"):
        readable, torn = [*readable, f"{first}\n\n"], True  # its end is not here, and its first line says what happened
    missing = (
        "" if readable and len(readable) == len(texts) and not torn and _RECORD.match(_first(lines)) else "not every record of it is whole"
    )
    return Whole(["TIME CLASS", *"".join(readable).split("\n")[:-1]] if readable else list(lines), missing)


def _is_readable(record: str) -> bool:
    return not isinstance(zpool_events.parse(f"TIME CLASS\n{record}"), Unparsed)


def _field(text: str, of_fmdump: bool) -> str:
    name, equals, value = text.partition(" = ")
    if not of_fmdump or not equals:
        return f"{text} " if text.endswith(" =") else text
    name = "time" if name == "__tod" else name.replace("-", "_")
    return f"{name} = {value}" if value.startswith(("0x", '"')) or value.isdigit() else f'{name} = "{value}"'


def _once(record: Sequence[str]) -> list[str]:
    """A field of the record itself stands below the same one of what is nested in it; the later one counts."""
    fields = {line.partition(" = ")[0]: line for line in record[1:]}
    return [record[0], *fields.values()]


def _first(lines: Sequence[str]) -> str:
    """The first line that is no heading."""
    return next((line.rstrip() for line in lines if line.strip() and not line.startswith("TIME")), "")


def _ends_in_tree(lines: Sequence[str]) -> bool:
    """Whether nothing of the label's own stands behind its vdevs: a label of today goes on with its features."""
    own = [line for line in lines if _FIELD.match(line)]
    return bool(own) and bool(_TREE.match(own[-1]))


def _without_tree(lines: Sequence[str]) -> list[str]:
    begin = next(i for i, line in enumerate(lines) if _TREE.match(line))
    return list(lines[:begin])


_BEGINNING = re.compile(r"smartctl (?:pre-|version )?[0-9]+\.[0-9]+ |\s*\{")


# Of file systems that no pool is: what they print is not judged here, and a disk below them need not be well
_OF_OTHERS = re.compile(
    r"(?:\bBTRFS:? (?:error|critical|warning)|\bEXT[234]-fs (?:error|warning)|\bJBD2: .{0,80}(?:[Ee]rror|[Aa]bort)|\bXFS \([^)]{1,60}\): .{0,120}(?:[Ee]rror|[Cc]orrupt|[Ss]hut)"
    r"|\bBTRFS.{0,80} errs: wr [0-9]|\b(?:F2FS|FAT)-fs .{0,80}[Ee]rror)"
)


def doubt(source: str, value: Any, lines: Sequence[str]) -> str:
    """Why what lists no trouble that is known here is not good all the same; "" where it may be."""
    if source == "kernel_log":
        odd = next((line.strip() for line in lines if _OF_OTHERS.search(line)), "")
        return f"Another file system or array reports trouble here, which is not judged: {odd[:120]}" if odd else ""
    return _doubt_of_disk(value, lines) if source == "smart" else ""


def _doubt_of_disk(smart: Any, lines: Sequence[str]) -> str:
    """Why a report that lists no trouble does not say that the disk is well; "" where it does, or was not asked for it."""
    if smart.is_empty and any(map(_SCANNED.match, lines)):
        return "It lists devices and says nothing of their health; `smartctl -x DEVICE` of each does."
    if smart.silent:
        return f"It says nothing of its health: {smart.silent}."
    if smart.passed is None and not smart.is_empty and not _BEGINNING.match(lines[0]):
        return "Its beginning is not here, nor the disk's verdict on itself; what stood before these lines is not known."
    if smart.passed is None and not smart.is_empty and not any(_OWN_VERDICT.search(line) for line in lines):
        return "The disk's verdict on itself is not in it; smartctl -H DEVICE prints it."
    if smart.details is not None and smart.details.in_text and (missing := _ends_before(lines)):
        return f"It ends before {missing}; the whole report of `smartctl -x DEVICE` shows them."
    odd = next((line.strip() for line in lines if _COUNTER.search(line) and not _IN_TABLE.match(line)), "")
    if odd:
        return f"It names a counter in a form that smartctl does not print: {odd[:80]}"
    alone = smart.passed and smart.is_verdict
    return f"{ALONE} smartctl -x DEVICE shows its counters." if alone else ""


_SCANNED = re.compile(r' *"devices": ?\[')  # `smartctl --scan -j`
ALONE = "It shows the disk's verdict on itself alone: a disk that fails reads says PASSED all the same."


_CAPABILITIES = re.compile(r"\s{0,8}General SMART Values:")
# scsiprint.cpp of smartmontools: what -A prints of a SAS disk, and what -a prints behind it in any case
_OF_SCSI = re.compile(r"\s{0,8}Elements in grown defect list:")
_OF_ALL = re.compile(r"=== START OF INFORMATION SECTION")  # with what -A prints, only -a and -x print it
_COUNTERS_OF_SCSI = re.compile(r"\s{0,8}(?:Error counter log:|Error Counter logging not supported|(?:read|write|verify): +[0-9])")
_AFTER_CAPABILITIES = re.compile(
    r"\s{0,8}(?:ID# +ATTRIBUTE|SCT capabilities|SMART Attributes Data|SMART Error Log|Read SMART (?:Data|Log)|SMART capabilities|Error logging|(?:Short|Extended) self-test)"
)


def _ends_before(lines: Sequence[str]) -> str:
    """What a report of an ATA disk stops short of, where it breaks off within the disk's capabilities, which stand before its counters."""
    last = next((line.rstrip() for line in reversed(lines) if line.strip()), "")
    if last.endswith(("=", ":")):
        return "what its last line would have said, and all behind it"
    if any(map(_OF_SCSI.match, lines)) and any(map(_OF_ALL.match, lines)) and not any(map(_COUNTERS_OF_SCSI.match, lines)):
        return "the error counters of the disk"
    begun = next((i for i, line in enumerate(lines) if _CAPABILITIES.match(line)), None)
    if begun is None or any(_AFTER_CAPABILITIES.match(line) for line in lines[begun:]) or len(lines) - begun < 2:
        return ""
    return "the counters of the disk"


# What says of each counter whether it failed, where the verdict was not asked for: the table of an ATA disk, and the warnings of NVMe
_OWN_VERDICT = re.compile(r"(?i)WHEN_FAILED|\bFAIL RAW_VALUE|critical[ _]warning|ata_smart_attributes")

# Counters that say most of a disk, and the row of smartctl's table in which they stand, with -A and with -x
_COUNTER = re.compile(
    r"\b(?:Reallocated_(?:Sector_Ct|Event_Count)|Current_Pending_Sector|Offline_Uncorrectable|Reported_Uncorrect)\b(?!\")"
)
_IN_TABLE = re.compile(r"[\s|]*[0-9]{1,3} +[A-Z][\w-]* +(?:0x[0-9a-f]{4}|[POSRCK+-]{6,7}) ")
