"""Puts back what mail and chat do to an output: joined lines where they were wrapped, tabs where they became blanks.

Nothing is added or guessed. A text that cannot be read even so stays unread, with the parser's own reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agents.collectors import COLLECTORS
from agents.collectors._kernel_lines import classify
from agents.collectors._log_stamps import stamped
from agents.collectors.base import Unparsed

_Mend = Callable[[Sequence[str]], tuple[str, tuple[str, ...]]]

KEYS = (
    ("pool", "id", "state", "status", "action", "comment", "see", "scan", "scrub", "remove", "checkpoint", "expand", "config", "errors", "dedup")
)  # fmt: skip
KEY = re.compile(rf" {{0,8}}({'|'.join(KEYS)}):(?: |$)")
_STATE = r"(?:ONLINE|DEGRADED|OFFLINE|REMOVED|FAULTED|UNAVAIL|SPLIT|AVAIL|INUSE|SUSPENDED)"
_ROUNDED = re.compile(rf"^( +\S+ +{_STATE})((?: +[0-9][0-9.]*[KMGTPE]?){{3}})(?= |$)")


@dataclass(frozen=True)
class Mended:
    """A text that its parser reads, or why it does not; and what was done to it, for the reader to know."""

    text: str
    value: Any  # what the parser made of it, or Unparsed
    notes: tuple[str, ...] = ()


def read(source: str, lines: Sequence[str]) -> Mended:
    """Parse as it is, then mended, the least change first."""
    parse = COLLECTORS[source].parse
    first = Mended("\n".join(lines) + "\n", Unparsed("nothing was tried"))
    for mend in _MENDS.get(source.removesuffix("_guid"), (_as_is,)):
        text, notes = mend(lines)
        tried = Mended(text, parse(text), notes)
        if not isinstance(tried.value, Unparsed):
            return tried
        first = tried
    return first


def _as_is(lines: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    return "\n".join(lines) + "\n", ()


def _zpool(lines: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    said, joined = _fields(lines)
    return said, (f"{joined} wrapped lines were joined.",) if joined else ()


def _zpool_rounded(lines: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Rounded counters are no numbers: they are left out, and the reader is told for which vdevs."""
    rounded = [line.split()[0] for line in lines if _is_rounded(line)]
    said, notes = _zpool([_ROUNDED.sub(r"\1", line) if _is_rounded(line) else line for line in lines])
    return said, (*notes, f"The error counters of {', '.join(rounded)} are rounded and were not read; ask with -p.") if rounded else notes


def _is_rounded(line: str) -> bool:
    found = _ROUNDED.match(line)
    return found is not None and not all(word.isdigit() for word in found.group(2).split())


def _fields(lines: Sequence[str]) -> tuple[str, int]:
    """The text with a tab before whatever continues a field, and the vdev rows indented from that tab on."""
    out: list[str] = []
    key, width, joined = "", 0, 0
    for line in lines:
        found = KEY.match(line)
        if found and not (key == "config" and _indent(line) >= width > 0):
            key, width = found.group(1), 0
            out.append(line)
        elif not line.strip():
            out.append("")
        elif key == "config" and _indent(line) < width and out[-1]:
            out[-1] += "  " + line.strip()
            joined += 1
        elif key == "config":
            width = width or _indent(line)
            out.append("\t" + " " * (_indent(line) - width) + line.strip())
        elif line[0] != " " and key in ("status", "action", "comment"):
            out[-1] += " " + line.strip()
            joined += 1
        else:
            out.append("\t" + line.strip())
    return "\n".join(out) + "\n", joined


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _lsscsi(lines: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    out: list[str] = []
    for line in lines:
        if out and not line.startswith("["):
            out[-1] += " " + line.strip()
        else:
            out.append(line)
    joined = len(lines) - len(out)
    return "\n".join(out) + "\n", (f"{joined} wrapped lines were joined.",) if joined else ()


def _joined(begins: str) -> _Mend:
    """A line that does not begin like one of its kind is the rest of the line above."""
    form = re.compile(begins)

    def join(lines: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        out: list[str] = []
        for line in lines:
            if out and line and out[-1] and not form.match(line):
                out[-1] += " " + line.strip()
            else:
                out.append(line)
        joined = len(lines) - len(out)
        return "\n".join(out) + "\n", (f"{joined} wrapped lines were joined.",) if joined else ()

    return join


def _kernel_log(lines: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """A line without a stamp among lines with one is the rest of the line above. Where none has one, each stands for itself."""
    if not any(map(stamped, lines)):
        return _as_is(lines)
    out: list[str] = []
    for line in lines:
        if out and line and out[-1] and stamped(line) is None and not classify(line.strip()):
            out[-1] += " " + line.strip()
        else:
            out.append(line)
    joined = len(lines) - len(out)
    return "\n".join(out) + "\n", (f"{joined} wrapped lines were joined.",) if joined else ()


def _events(lines: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Each record ends with an empty line, and the last one was taken for the end of the paste."""
    text, notes = _joined(r"TIME|[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{4} | {8}")(lines)
    return re.sub(r"(?m)^( {8}\w+ =)$", r"\1 ", text) + "\n", notes  # an empty value ends in a blank that was lost


def _tabs(lines: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Blanks became of the tabs between columns. A vdev's row begins with one, and a heading among the rows has none."""
    return "".join(f"{_columns(line)}\n" for line in lines), ()


def _columns(line: str) -> str:
    words = line.split()
    if words[1:] and set(words[1:]) == {"-"}:
        return line
    return "\t" * line.startswith(" ") + "\t".join(words)


def _uberblocks(lines: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Their fields begin with a tab, the line of labels below them with blanks, and it ends in one."""
    text = re.sub(r"(?m)^ {8}(?!labels)(?=\w+ = )", "\t", "\n".join(lines) + "\n")
    return re.sub(r"(?m)^( {8}labels = [0-3 ]*[0-3])$", r"\1 ", text), ()


def _sysctl(lines: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """`sysctl -a | grep zfs` says other things as well."""
    ours = [line for line in lines if line.startswith("vfs.zfs.") or not re.match(r"[\w.%-]+: ?", line)]
    return _without_others(lines, ours, "other settings")


def _options(lines: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """A file for modprobe holds comments and other modules too."""
    return _without_others(
        lines, [line for line in lines if not re.match(r"/[^:]+\.conf:(?!\s*options\s+(?:zfs|spl)\s)", line)], "other lines"
    )


def _mdb(lines: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """What the debugger says when it starts, and how it is left."""
    return _without_others(lines, [line for line in lines if not re.match(r"Loading modules:|(?:> *)?(?:::\w+|\$q)$", line)], "other lines")


def _without_others(lines: Sequence[str], ours: Sequence[str], what: str) -> tuple[str, tuple[str, ...]]:
    if not any(ours):
        return _as_is(lines)
    left_out = len(lines) - len(ours)
    return "".join(f"{line}\n" for line in ours if line), (f"{left_out} {what} were left out.",) if left_out else ()


_MENDS: dict[str, tuple[_Mend, ...]] = {
    "zpool_status": (_as_is, _zpool, _zpool_rounded),
    "zpool_import": (_as_is, _zpool),
    "lsscsi": (_as_is, _lsscsi),
    "kernel_log": (_kernel_log,),  # a line cut in two reads as one that says less, so joining comes first
    "zpool_events": (_events,),
    "zdb_uberblocks": (_as_is, _uberblocks),
    "zpool_list": (_as_is, _tabs),
    "sysctl": (_sysctl,),
    "parameters": (_options,),
    "mdb": (_mdb,),
    "zpool_iostat": (_as_is, _tabs),
}
