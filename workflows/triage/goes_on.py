"""Which lines can be part of an output that has begun: what cannot is somebody's own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from agents.collectors import kernel_log
from agents.collectors.zpool_import import NONE as NO_POOL_TO_IMPORT
from workflows import pasted
from workflows.triage import talk
from workflows.triage.fields import HEADER, HEADING, KEY, ROW
from workflows.triage.piece import Piece


def family(source: str) -> str:
    """`zpool status` by guid begins like any other."""
    return source.removesuffix("_guid")


def belongs(piece: Piece, line: str) -> bool:
    """Whether a line can be part of this output. What cannot is somebody's own words."""
    if not line or not piece.source or (piece.path and piece.source != "node"):
        return True
    if piece.command and not piece.begun:  # whatever it said first
        return True
    if piece.source == "smart" and piece.lines and piece.lines[0] == "{":
        return _json_goes_on(piece, line)
    if piece.source in pasted.READERS:
        return not piece.lines or pasted.belongs(piece.source, piece.lines[-1], line)
    test = _GOES_ON.get(family(piece.source))
    return test is None or test(piece, line)


_OF_MD = re.compile(r"(?:sudo +)?mdadm +-|/dev/\w{2,20}:$|Personalities :")  # what people ask of a disk of Linux RAID behind its report
_OF_DEDUP = re.compile(r"bucket +allocated|_{6} +_|refcnt +blocks|-{6} +-")  # the heading of the table that -D prints


def _status_goes_on(piece: Piece, line: str) -> bool:
    """Behind an empty line nothing goes on at the left but a field, or a row whose indentation was lost."""
    if line.startswith((" ", "device details:")) or KEY.match(line):
        return True
    if piece.heading == "config" and line in talk.LEFT_OUT:
        return True
    if piece.heading == "errors":
        return _is_damaged(piece, line)
    if piece.heading == "dedup" and _OF_DEDUP.match(line):
        return True
    if piece.lines and ROW.match(piece.lines[-1]) and talk.is_somebodys(line):
        return False
    return bool(piece.lines and piece.lines[-1]) or bool(ROW.match(line) or HEADER.match(line) or HEADING.match(line))


_DAMAGED = re.compile(r"/[^/\s]|(?:<metadata>|[A-Za-z][\w.-]{0,250}(?:[/@][^\s:]{1,250}){0,20}):(?:<0x[0-9a-f]{1,16}>|/)")


def _is_damaged(piece: Piece, line: str) -> bool:
    """Whether it is an entry of the list of damaged files whose indentation was lost."""
    above = next((one.strip() for one in reversed(piece.lines[-3:]) if one), "")
    return bool(_DAMAGED.match(line)) and (above.startswith("errors: Permanent errors") or bool(_DAMAGED.match(above)))


def _import_goes_on(piece: Piece, line: str) -> bool:
    wrapped = bool(piece.lines) and bool(piece.lines[-1])  # the rest of a line that a mail has cut in two
    return wrapped or line.startswith(" ") or bool(KEY.match(line)) or line.strip() == NO_POOL_TO_IMPORT or _is_row_below(piece, line)


def _is_row_below(piece: Piece, line: str) -> bool:
    return piece.heading == "config" and bool(ROW.match(line))


def _goes_on_as(form: str) -> Callable[[Piece, str], bool]:
    """Lines of this form, and whatever follows one without an empty line between: mail may have cut it in two."""
    kind = re.compile(form)
    return lambda piece, line: bool(kind.match(line)) or bool(piece.lines and piece.lines[-1])


def _json_goes_on(piece: Piece, line: str) -> bool:
    return not piece.closed


_LABEL_LINE = re.compile(r"-{10,}$|LABEL [0-3]|L2ARC|failed to (?:unpack|read) label|log_blk_count:|No log blocks to read|Uberblock\[| {4}")
_LSSCSI_REST = re.compile(r" *(?:/dev/\S+|0x[0-9a-f]+|[0-9a-f]{16,33}|-|[0-9.]+[kKMGTPE]?i?B)(?: |$)|  (?:\w+=|dir: )")
_GOES_ON: Mapping[str, Callable[[Piece, str], bool]] = {
    "zpool_status": _status_goes_on,
    "zpool_import": _import_goes_on,
    "zpool_status_json": _json_goes_on,
    "zdb_label": lambda piece, line: bool(_LABEL_LINE.match(line)),
    "lsscsi": lambda piece, line: line.startswith("[") or bool(_LSSCSI_REST.match(line)),
    "kernel_log": lambda piece, line: kernel_log.goes_on(line) or bool(piece.lines and piece.lines[-1]),
    "zpool_events": _goes_on_as(r"[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{4} | {8}"),
    "zpool_history": _goes_on_as(r"-?[0-9]{4,9}-[0-9]{2}-[0-9]{2}\.| "),
    "zpool_get": _goes_on_as(r"\S+ +\S+ +\S"),
    "zpool_iostat_w": _goes_on_as(r"\S+ +total_wait|\S+ +(?:[0-9.]+[KMGTPE]? *)+$|-"),
    "smart": lambda piece, line: _OF_MD.match(line) is None,
    "zdb_config": _goes_on_as(r" {4}|\S+:$|(?:MOS|Cached) [Cc]onfiguration:"),
    "sysctl": lambda piece, line: bool(re.match(r"[\w.%]+: ?", line)),
    "parameters": lambda piece, line: line.startswith("/"),
    "mdb": lambda piece, line: bool(
        re.match(r"(?:> *)?(?:\w+/[A-Z]|\w+ *::print|::|\$q)|\w+: *|Loading modules|(?:0t|0x)?[0-9a-f]+$", line)
    ),
    "node": lambda piece, line: bool(re.match(r"[0-9a-f]{1,8}$|zfs-", line)),
}
