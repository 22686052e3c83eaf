"""Puts back what mail and chat do to an output: joined lines where they were wrapped, tabs where they became blanks.

Nothing is added or guessed. A text that cannot be read even so stays unread, with the parser's own reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from agents.collectors import COLLECTORS
from agents.collectors._kernel_lines import LINE_MAX, classify
from agents.collectors._log_stamps import spelt_out, stamped
from agents.collectors.base import Reading, Unparsed, UnreadLine
from agents.collectors.kernel_log import JOURNAL
from agents.collectors.zpool_status_errors import LIST
from workflows.triage import cut_off, partly, pool_text, torn_json
from workflows.triage.fields import FIELDS


class Change(NamedTuple):
    """A text in its tool's own layout. `rebuilt`: rows were nested by what their words say; `refused`: why they could not be."""

    text: str
    notes: tuple[str, ...] = ()
    rebuilt: bool = False
    refused: str = ""
    cut: str = ""  # what is missing at its end
    unread: tuple[UnreadLine, ...] = ()  # lines that were left out, as nothing is made of them


_Mend = Callable[[Sequence[str]], Change]


@dataclass(frozen=True)
class Mended:
    """A text that its parser reads, or why it does not; and what was done to it, for the reader to know."""

    text: str
    value: Any  # what the parser made of it, or Unparsed
    notes: tuple[str, ...] = ()
    unread: tuple[UnreadLine, ...] = ()  # lines that were not understood; then `value` is what the others say
    rebuilt: bool = False  # its rows are nested by what their words say: to be shown, and for no guard
    refused: str = ""  # why its rows could not be nested; what stands around them can be read all the same


def read(source: str, lines: Sequence[str]) -> Mended:
    """Parse as it is, then mended, the least change first; and as far as it goes where no change makes all of it readable."""
    parse = COLLECTORS[source].parse
    first = Mended("\n".join(lines) + "\n", Unparsed("nothing was tried"))
    all_tried: list[Mended] = []
    for mend in _MENDS.get(source.removesuffix("_guid"), (_as_is,)):
        change = mend(lines)
        missing = (*((UnreadLine("", "", change.cut),) if change.cut else ()), *change.unread)
        tried = Mended(change.text, parse(change.text), change.notes, missing, rebuilt=change.rebuilt, refused=change.refused)
        if not isinstance(tried.value, Unparsed):
            return tried
        first = tried
        all_tried.append(tried)
    found = partly.best((tried, _as_far_as(source, tried)) for tried in all_tried)
    if found is not None:
        made, reading = found
        return replace(made, value=reading.value, unread=reading.every_unread)
    return replace(first, value=Unparsed(first.refused, first.value.line)) if first.refused else first


def _as_far_as(source: str, tried: Mended) -> Reading | None:
    """What is understood, and why a tree was left out."""
    reading = partly.reading(source, tried.text)
    if reading is not None and tried.unread:
        reading = replace(reading, unread=(*tried.unread, *reading.unread))
    if reading is None or not tried.refused:
        return reading
    return replace(reading, unread=(UnreadLine("", "config", tried.refused), *reading.unread))


def _as_is(lines: Sequence[str]) -> Change:
    return Change("\n".join(lines) + "\n")


NO_ERRORS = "No known data errors"
_ERRORS = re.compile(r" {0,4}errors: (.{1,40})$")
_LISTED = re.compile(r" {0,4}errors: Permanent errors have been detected")
_TORN_LIST = re.compile(r" {0,4}errors: Permanent errors have been(?: detected(?: in(?: the(?: following(?: files)?)?)?)?)?\s*$")
# What only that list has: an object by its number, or a file of a dataset that is not mounted
OBJECT_ALONE = re.compile(
    r"\s{0,16}(?:<metadata>|<0x[0-9a-f]{1,16}>|[A-Za-z][\w.:-]{0,100}(?:[/@][\w.:%-]{1,100}){0,12}):<0x[0-9a-f]{1,16}>\s*$"
)
_TORN_ENTRY = re.compile(r"\s+<[^>]{0,40}(?:>(?::(?:<[^>]{0,40})?)?)?$")  # "<metadata>:<0x2", of an object that has no name


def _without_torn_errors(lines: Sequence[str]) -> tuple[Sequence[str], str]:
    """Without a last `errors:` line, or a last entry of its list, that was cut within: it says neither that there are none nor which.

    One that says that there is damage stays, as it does, without its list. A list alone gets the line that stands above one.
    """
    if (first := next((line for line in lines if line.strip()), "")) and OBJECT_ALONE.match(first):
        return [
            LIST,
            "",
            *(f"        {line.strip()}" for line in lines if line.strip()),
        ], "what stands above its list of damaged data is not here"
    if any(map(_TORN_LIST.match, lines)):
        return [LIST if _TORN_LIST.match(line) else line for line in lines], "its list of damaged data is not here"
    end = next((i for i in range(len(lines) - 1, -1, -1) if lines[i].strip()), -1)
    if end >= 0 and _TORN_ENTRY.match(lines[end]) and any(map(_LISTED.match, lines)):
        return lines[:end], "its list of damaged data is cut within an entry"
    if end > 0 and (_is_torn_field(lines[end]) or _TORN_SCAN.fullmatch(lines[end])):
        return lines[:end], "its last line is cut within"
    last = _ERRORS.match(lines[end]) if end >= 0 else None
    if last is None or last.group(1) == NO_ERRORS or not NO_ERRORS.startswith(last.group(1)):
        return lines, ""
    return lines[:end], "its errors: line is cut within"


_ONE_WORD = re.compile(r" {0,7}([a-z]{3,12})\s*")
# A whole one ends with a year. One that has counted errors says so, wherever it ends.
_TORN_SCAN = re.compile(r" {0,4}scan: (?:scrub repaired|resilvered) (?!.{0,120} with [1-9]).{0,120}(?<![0-9]{4})\s*")


def _is_torn_field(line: str) -> bool:
    """Whether a last line is the beginning of "config:" or of another field's name: its colon is not here, nor what stood behind it."""
    found = _ONE_WORD.fullmatch(line)
    return found is not None and any(name.startswith(found.group(1)) for name in FIELDS)


def _status_as_is(lines: Sequence[str]) -> Change:
    kept, cut = _without_torn_errors(lines)
    return _as_is(kept)._replace(cut=cut)


def _status(lines: Sequence[str]) -> Change:
    kept, cut = _without_torn_errors(lines)
    return _zpool(kept)._replace(cut=cut)


def _zpool(lines: Sequence[str]) -> Change:
    return Change(*pool_text.put_back(_without_details(lines)))


def _without_details(lines: Sequence[str]) -> list[str]:
    """Solaris explains below the tree what the rows say: each field there is that of one device."""
    kept, inside = [], False
    for line in lines:
        inside = line.startswith("device details:") or (inside and (not line.strip() or line[0] in " \t"))
        if not inside:
            kept.append(line)
    return kept


def _lsscsi(lines: Sequence[str]) -> Change:
    out: list[str] = []
    for line in lines:
        if out and not line.startswith("["):
            out[-1] += " " + line.strip()
        else:
            out.append(line)
    joined = len(lines) - len(out)
    return Change("\n".join(out) + "\n", (f"{joined} wrapped lines were joined.",) if joined else ())


def _rows_of_lsscsi(lines: Sequence[str]) -> Change:
    """Row by row: one that was changed on the way hides no other disk."""
    change = _lsscsi(lines)
    rows = change.text.splitlines()
    odd = [row for row in rows if row and isinstance(COLLECTORS["lsscsi"].parse(f"{row}\n"), Unparsed)]
    if not odd or 2 * len(odd) > len(rows):
        return change
    unread = tuple(UnreadLine(row[:200], "row", "lsscsi prints no such row") for row in odd)
    return change._replace(text="".join(f"{row}\n" for row in rows if row not in odd), unread=unread)


def _joined(begins: str) -> _Mend:
    """A line that does not begin like one of its kind is the rest of the line above."""
    form = re.compile(begins)

    def join(lines: Sequence[str]) -> Change:
        out: list[str] = []
        for line in lines:
            if out and line and out[-1] and not form.match(line):
                out[-1] += " " + line.strip()
            else:
                out.append(line)
        joined = len(lines) - len(out)
        return Change("\n".join(out) + "\n", (f"{joined} wrapped lines were joined.",) if joined else ())

    return join


_POINTED = re.compile(
    r" {0,8}(?:>{1,4}|-{1,3}>|=>|\*{1,3}) {1,4}(?=\[ {0,24}[0-9]{1,9}\.[0-9]{1,6}\] )"
)  # somebody points at the line that matters


_BOOT = re.compile(r"-- (?:Reboot|Boot [0-9a-f]{32}) ?--$")  # journalctl's: what stands below is of a later boot


def _kernel_log(lines: Sequence[str]) -> Change:
    """A line without a stamp among lines with one is the rest of the line above. Where none has one, each stands for itself."""
    if not any(map(stamped, lines)):
        return _as_is(lines)
    spelt = spelt_out([_POINTED.sub("", line, count=1) for line in lines])
    lines = [line for line in spelt if _BOOT.match(line[:LINE_MAX]) or not JOURNAL.match(line[:LINE_MAX])]
    out: list[str] = []
    for line in lines:
        if out and line and out[-1] and stamped(line) is None and not _BOOT.match(line[:LINE_MAX]) and not classify(line.strip()):
            out[-1] += " " + line.strip()
        else:
            out.append(line)
    joined = len(lines) - len(out)
    return Change("\n".join(out) + "\n", (f"{joined} wrapped lines were joined.",) if joined else ())


def _events(lines: Sequence[str]) -> Change:
    """Each record ends with an empty line, and the last one was taken for the end of the paste."""
    lines, torn = _without_torn_class(lines)
    change = _joined(r"TIME|[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{4} | {8}")(lines)
    text = re.sub(r"(?m)^( {8}\w+ =)$", r"\1 ", change.text) + "\n"  # an empty value ends in a blank that was lost
    return change._replace(text=text, cut=torn)


def _without_torn_class(lines: Sequence[str]) -> tuple[Sequence[str], str]:
    """Without a last line that ends within the name of its class: no class ends so."""
    torn = bool(lines) and not lines[-1].startswith(" ") and lines[-1].endswith(("_", ".")) and ".fs.zfs" in lines[-1]
    return (lines[:-1], "its last line is cut within") if torn else (lines, "")


def _tabs(lines: Sequence[str]) -> Change:
    """Blanks became of the tabs between columns. A vdev's row begins with one, and a heading among the rows has none."""
    return Change("".join(f"{_columns(line)}\n" for line in lines))


def _columns(line: str) -> str:
    words = line.split()
    if words[1:] and set(words[1:]) == {"-"}:
        return line
    return "\t" * line.startswith(" ") + "\t".join(words)


def _uberblocks(lines: Sequence[str]) -> Change:
    """Their fields begin with a tab, the line of labels below them with blanks, and it ends in one."""
    text = re.sub(r"(?m)^ {8}(?!labels)(?=\w+ = )", "\t", "\n".join(lines) + "\n")
    return Change(re.sub(r"(?m)^( {8}labels = [0-3 ]*[0-3])$", r"\1 ", text))


_RECORD = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\.")
_ODD_RECORD = re.compile(r"-?[0-9]{1,12}-[0-9]{2}-[0-9]{2}\.[0-9:]{8} ?")


def _records(lines: Sequence[str]) -> Change:
    """Without records whose date is none: whoever wrote them had no clock. Each is named."""
    odd = [line for line in lines if _ODD_RECORD.match(line) and not _RECORD.match(line)]
    change = _joined(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\.|History for ")([line for line in lines if line not in odd])
    return change._replace(unread=tuple(UnreadLine(line[:200], "record", "its date is none") for line in odd))


_OF_POOL = re.compile(
    r"\s{0,8}[0-9]{4}-[0-9]{2}-[0-9]{2}\.[0-9:]{8} zpool (?:scrub|export|clear|online|offline|replace|add|remove|attach|detach|resilver|trim)(?: -\S{1,40}){0,4} ([A-Za-z][\w.:-]{0,80})(?: |$)"
    r"|\s{0,8}[0-9]{4}-[0-9]{2}-[0-9]{2}\.[0-9:]{8} zpool import(?: \S{1,200}){0,30}? ([A-Za-z][\w.:-]{0,80})$"
)


def _headless(lines: Sequence[str]) -> Change:
    """A history without its heading: its commands name the pool, where all that do name one."""
    if any(line.lstrip().startswith("History for ") for line in lines):
        return _as_is(lines)
    named = {found.group(1) or found.group(2) for line in lines if (found := _OF_POOL.match(line[:1000]))}
    name = named.pop() if len(named) == 1 else "(not named)"
    whose = f"its commands are of {name}" if name[0] != "(" else "it does not show which pool it is of"
    change = _records([f"History for '{name}':", *(line.strip() if _RECORD.match(line.strip()) else line for line in lines)])
    return change._replace(notes=(*change.notes, f"The line `History for ...` is not here; {whose}."))


_OLD_UBERBLOCK = re.compile(r"Uberblock\[[0-9]{1,3}\](?: invalid)?$")


def _labels(lines: Sequence[str]) -> Sequence[str]:
    """Uberblocks as they are printed since 0.7. Before, each stood at the left, below the one label that it is of."""
    if not any(map(_OLD_UBERBLOCK.match, lines)):
        return lines
    out: list[str] = []
    label, inside = "", False
    for line in [*lines, ""]:
        begins = _OLD_UBERBLOCK.match(line) is not None
        if inside and (begins or not line.startswith((" ", "\t"))):
            out.append(f"        labels = {label} ")
        inside = begins or (inside and line.startswith((" ", "\t")))
        label = line.split()[1] if line.startswith("LABEL ") else label
        out.append(f"    {line}" if begins else line)
    return out[:-1]


def _whole_labels(lines: Sequence[str]) -> cut_off.Whole:
    return cut_off.labels(_labels(lines))


def _sysctl(lines: Sequence[str]) -> Change:
    """`sysctl -a | grep zfs` says other things as well."""
    ours = [line for line in lines if line.startswith("vfs.zfs.") or not re.match(r"[\w.%-]+: ?", line)]
    return _without_others(lines, ours, "other settings")


def _options(lines: Sequence[str]) -> Change:
    """A file for modprobe holds comments and other modules too."""
    return _without_others(
        lines, [line for line in lines if not re.match(r"/[^:]+\.conf:(?!\s*options\s+(?:zfs|spl)\s)", line)], "other lines"
    )


def _mdb(lines: Sequence[str]) -> Change:
    """What the debugger says when it starts, and how it is left."""
    return _without_others(lines, [line for line in lines if not re.match(r"Loading modules:|(?:> *)?(?:::\w+|\$q)$", line)], "other lines")


_EDGE_OF_ZDB = re.compile(r"ZFS_DBGMSG\(zdb\) (?:START:|END)$")
_PLACE = re.compile(r"\w{1,40}\.c:[0-9]{1,6}:\w{1,80}\(\): ")


def _debug_log(lines: Sequence[str]) -> Change:
    """The debug log that `zdb -G` prints of itself has two edges and no times; each of its messages gets the time 0."""
    if not any(map(_EDGE_OF_ZDB.match, lines)):
        return _as_is(lines)
    inner = [line for line in lines if not _EDGE_OF_ZDB.match(line)]
    return _as_is([f"000000000 {line}" if _PLACE.match(line) else line for line in inner])


def _without_others(lines: Sequence[str], ours: Sequence[str], what: str) -> Change:
    if not any(ours):
        return _as_is(lines)
    left_out = len(lines) - len(ours)
    return Change("".join(f"{line}\n" for line in ours if line), (f"{left_out} {what} were left out.",) if left_out else ())


def _cut(whole: Callable[[Sequence[str]], cut_off.Whole]) -> _Mend:
    """What of it is whole, and what is missing."""

    def cut(lines: Sequence[str]) -> Change:
        kept, missing = whole(lines)
        return Change("\n".join(kept) + "\n", cut=missing)

    return cut


_OF_DESTROYED = re.compile(r" {4}state: 2$")
DESTROYED = (
    "This label says that its pool was destroyed with `zpool destroy`; `zpool import -D` lists such pools, and `zpool import` does not."
)


def _destroyed(mend: _Mend) -> _Mend:
    """The same mend; its change notes as well that a label is one of a destroyed pool."""

    def noted(lines: Sequence[str]) -> Change:
        change = mend(lines)
        return change._replace(notes=(*change.notes, DESTROYED)) if any(map(_OF_DESTROYED.match, lines)) else change

    return noted


_MENDS: dict[str, tuple[_Mend, ...]] = {
    "zpool_status": (_status_as_is, _status),
    "zpool_import": (_as_is, _zpool),
    "lsscsi": (_as_is, _lsscsi, _rows_of_lsscsi),
    "kernel_log": (_kernel_log,),  # a line cut in two reads as one that says less, so joining comes first
    "zpool_events": (_events, _cut(cut_off.events)),
    "zpool_history": (_as_is, _records, _headless),
    "zdb_uberblocks": (_as_is, _uberblocks),
    "zpool_list": (_as_is, _tabs),
    "zpool_status_json": (_as_is, _cut(torn_json.head)),
    "smart": (_as_is, _cut(torn_json.head), _cut(torn_json.body_of_smartctl)),
    "zpool_get": (_as_is, _cut(cut_off.properties)),
    "zdb_label": (_destroyed(lambda lines: _as_is(_labels(lines))), _destroyed(_cut(_whole_labels))),
    "zdb_config": (_cut(cut_off.config),),
    "zpool_iostat_w": (_as_is, _cut(cut_off.histograms)),
    "sysctl": (_sysctl,),
    "dbgmsg": (_debug_log,),
    "parameters": (_options,),
    "mdb": (_mdb,),
    "zpool_iostat": (_as_is, _tabs),
}
