"""Pool health as `zpool status` prints it, OpenZFS 0.6 to 2.4, FreeBSD and illumos: the whole tree, every scan, nothing rounded.

`read` takes a text as far as it goes: what is not understood is named with its line and hides nothing else. `parse` is for who must
know all of it: there one line that is not understood makes the text `Unparsed`, as a lost `scan:` line would hide a resilver.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from agents.collectors._passing import without_progress as lasting
from agents.collectors._rows import NO_CONFIG, NO_NAME, blocks_by_line, root_name, tree_by_row
from agents.collectors._vdevs import (
    STATES,
    Block,
    Fields,
    Sections,
    Vdev,
    first_line,
    first_of_each,
    layout,
    lines_of,
    prose_of,
    read_fields,
    read_tree,
    stripped,
)
from agents.collectors.base import Capture, Reading, Unparsed, UnreadLine, ask
from agents.collectors.node import module_version
from agents.host.host import Host

NAME = "zpool_status"
EVERY_SECONDS = 10
HISTORY_SECONDS = 1800  # how far a resilver came in half an hour says whether it moves at all
LATELY_SECONDS = 240  # and how fast one is that began since
ARGV = ("zpool", "status", "-P", "-p")
TIMEOUT_SECONDS = 20
EXACT_SINCE = (0, 8)  # before, there is no -p; a text with rounded counters is then refused

NAMELESS = "(a pool that is not named)"  # its line pool: is missing, and its tree does not show its name either

__all__ = ["Pool", "Scan", "Vdev", "collect", "lasting", "parse", "read"]


class Scan(NamedTuple):
    """One `scan:` entry. Bytes stay in the text: it prints them rounded."""

    function: str  # "none", "scrub", "resilver", "rebuild"
    state: str  # "none", "running", "paused", "finished", "canceled"
    text: str  # as printed, lines joined by newline
    percent: str | None = None  # "3.91", with a point whatever the node's language
    errors: int | None = None
    eta: str | None = None  # as printed, without "to go"
    began: str | None = None  # "2024-01-14T03:35:24" where it is given beside `text`: by the JSON
    ended: str | None = None
    repaired: str | None = None


class Pool(NamedTuple):
    """One imported pool. `vdevs` is the root vdev; `sections` are logs, cache, spares, special and dedup as printed.

    Where something was not understood, `unread` has the line, and the field it belongs to is as empty as `errors` is None.
    """

    name: str
    state: str  # "" where it was not read
    status: str
    action: str
    see: str
    scans: tuple[Scan, ...]
    vdevs: Vdev
    sections: Sections
    errors: str | None  # None where the text has no such line
    remove: str = ""
    checkpoint: str = ""
    expand: str = ""
    guid: int | None = None  # the JSON says it, and Solaris of some pools
    unread: tuple[UnreadLine, ...] = ()


def collect(host: Host) -> tuple[Capture, ...]:
    return (ask_status(host, NAME, ARGV),)


def ask_status(host: Host, source: str, argv: Sequence[str]) -> Capture:
    """Silence is an answer only when it comes with "no pools available"; some versions print that to standard error."""
    if (module_version(host) or EXACT_SINCE) < EXACT_SINCE:
        argv = [word for word in argv if word != "-p"]
    capture = ask(host, source, argv, TIMEOUT_SECONDS)
    if capture.outcome == "data" and not capture.text.strip() and "no pools available" not in capture.stderr:
        return replace(capture, outcome="failed", reason=f"{' '.join(argv)} printed nothing, not even that there are no pools")
    return capture


def parse(text: str) -> tuple[Pool, ...] | Unparsed:
    """Every pool in `text`, or the first line that made no sense. Never raises."""
    pools = _plain(text)
    if not pools:
        found: tuple[Pool, ...] | Unparsed = _read(text).whole
        return found
    for pool in pools:
        if pool.unread:
            return Unparsed(pool.unread[0].reason, pool.unread[0].line)
    return pools


def read(text: str) -> Reading:
    """Every pool in `text` as far as it could be read. Never raises."""
    pools = _plain(text)
    return Reading(pools) if pools else _read(text)


def _read(text: str) -> Reading:
    """By field, and where that does not do, line by line."""
    if text.strip() in ("", "no pools available"):
        return Reading(())
    blocks = read_fields(text, _LAYOUT)
    if isinstance(blocks, list):
        return Reading(tuple([_pool(block, ()) for block in blocks]))
    odd, stray = blocks_by_line(text, _LAYOUT)
    if not odd and not stray:
        stray = [UnreadLine(blocks.line, "", blocks.reason)]
    return Reading(tuple(_pool(lines.block, lines.unread) for lines in odd), tuple(stray))


_BELOW_PLAIN = r"(?:\n(?:\t| {4})(?! *\S+ {2,}[A-Z]{4}|(?:logs|cache|spares|special|dedup)[^\S\n]*\n).+)*"  # no row and no heading
_PLAIN = re.compile(
    r"  pool: (\S+)\n state: ([A-Z]+)\n"
    rf"(?:status: (.+{_BELOW_PLAIN})\n)?(?:action: (.+{_BELOW_PLAIN})\n)?(?:   see: (.+)\n)?(?:  scan: (.+{_BELOW_PLAIN})\n)?"
    r"config:\n\n\t(NAME .+(?:\n\t.+)+)\n\nerrors: (.+)(?:\n+|\Z)"
)
_PLAIN_PARTS = _PLAIN.groups + 1  # and what stands before


def _plain(text: str) -> tuple[Pool, ...]:
    """Every pool, by one expression, if all of `text` is of the fields that most pools have, each once and in this order. Else nothing.

    `_read` would find the same: it is asked for all other texts, and this is there because a node prints little else, every few seconds.
    """
    parts = _PLAIN.split(text)
    if any(parts[::_PLAIN_PARTS]):
        return ()
    return tuple([_plain_pool(*parts[end - _PLAIN.groups : end]) for end in range(_PLAIN_PARTS, len(parts), _PLAIN_PARTS)])


def _plain_pool(name: str, state: str, status: str, action: str, see: str, scan: str, config: str, errors: str) -> Pool:
    """The fields as matched: what is not printed is None, and blanks stand at the ends of lines as in the text."""
    unread: list[UnreadLine] = []
    root, sections = _tree(config.strip(), name, unread)
    state = _state(state, name, unread)
    scanned = _scan(stripped(scan, "\n"), _SCAN, unread) if scan else None
    return Pool(
        name,
        state,
        stripped(status, " ") if status else "",
        stripped(action, " ") if action else "",
        see.strip() if see else "",
        (scanned,) if scanned else (),
        root,
        sections,
        errors.strip(),
        unread=tuple(unread),
    )


_KEYS = (
    "pool",
    "id",
    "state",
    "status",
    "action",
    "see",
    "scan",
    "scrub",
    "remove",
    "checkpoint",
    "expand",
    "condense",
    "config",
    "errors",
    "dedup",
)
_OTHERS = (
    "trim",
    "device details",
    "prune",
)  # FreeBSD's and ZFS on Linux' of one time; Solaris 11; QuTS hero (its dedup table). Nothing is read of them
_DEVELOPED = {"raidz expand:": "expand"}  # what `zpool status` printed before 2.3 was released
_FIELDS = layout(_KEYS + _OTHERS, below=r"\t| {4}")
_LAYOUT = _FIELDS._replace(keys=_FIELDS.keys | _DEVELOPED)  # 0.6 indents what goes on below scan: by blanks


def _pool(block: Block, odd: Sequence[UnreadLine]) -> Pool:
    fields = first_of_each(block)
    unread = [*odd, *_printed_twice(block)] if len(fields) < len(block) else list(odd)
    config = fields.get("config", "")
    name = lines_of(fields, "pool") or root_name(config) or NAMELESS
    beheaded = "pool" not in fields and name != NAMELESS
    if beheaded:
        unread = [_beginning(fields), *(line for line in unread if line.reason not in (NO_NAME, NO_CONFIG))]
    root, sections = _tree(config, name, unread)
    if "condense" in fields and not _CONDENSE.fullmatch(lines_of(fields, "condense")):
        unread.append(UnreadLine(f"condense: {lines_of(fields, 'condense')}", "condense", "the condense: line cannot be read"))
    if "errors" not in fields and config != NO_TREE:
        unread.append(UnreadLine("", "errors", f"the text of {name} ends before its errors: line"))
    guid = lines_of(fields, "id")  # Solaris and OpenSolaris print it of a pool that is down
    if "id" in fields and not re.fullmatch("[0-9]{1,20}", guid):
        unread.append(UnreadLine(f"id: {guid}".strip(), "id", f"the id of {name} is no number"))
    return Pool(
        name,
        "" if beheaded and "state" not in fields else _state(lines_of(fields, "state"), name, unread),
        prose_of(fields, "status"),
        prose_of(fields, "action"),
        lines_of(fields, "see"),
        _scans(block, unread) if "scan" in fields or "scrub" in fields else (),
        root,
        sections,
        lines_of(fields, "errors") if "errors" in fields else None,
        lines_of(fields, "remove"),
        lines_of(fields, "checkpoint"),
        lines_of(fields, "expand"),
        int(guid) if re.fullmatch("[0-9]{1,20}", guid) else None,
        tuple(unread),
    )


def _beginning(fields: Fields) -> UnreadLine:
    """That the beginning of a text is not there whose tree names the pool."""
    first = next((key for key in ("state", "status", "scan", "scrub") if key in fields), "")
    return UnreadLine("", "pool", f"what stands above {f'{first}:' if first else 'its tree'} is not here", missing=True)


def _state(printed: str, name: str, unread: list[UnreadLine]) -> str:
    """As printed, also where we do not know it: who judges it must see the word."""
    if printed not in STATES:
        why = f"the state of {name} is none that a release we know prints" if printed else f"the state of {name} is not there"
        unread.append(UnreadLine(printed and f"state: {first_line(printed)}", "state", why))
    return first_line(printed)


NO_TREE = "The configuration cannot be determined."
# Since 2.5: space maps or the mappings of a removed vdev are being rewritten. It harms nothing and asks for nothing.
_CONDENSE = re.compile(r"\S+: (?:condensing|cancell?ed|done), \S+ \S+ done in \S.{0,40}")


def _tree(config: str, name: str, unread: list[UnreadLine]) -> tuple[Vdev, Sections]:
    if config == NO_TREE:
        unread.append(UnreadLine(f"config: {NO_TREE}", "config", "zpool itself could not read which vdevs the pool has"))
        return Vdev(name, ""), ()
    tree = read_tree(config, name)
    if not isinstance(tree, Unparsed):
        return tree
    root, sections, odd = tree_by_row(config, "" if name == NAMELESS else name)
    unread += odd
    return root, sections


def _printed_twice(block: Block) -> list[UnreadLine]:
    """What is printed again of a field that a pool has once. The first is used."""
    seen: set[str] = set()
    twice = []
    for key, pieces in block:
        if key in seen and key not in ("scan", "scrub"):
            twice.append(UnreadLine(f"{key}: {first_line(pieces[0]).strip()}", key, f"{key}: is printed twice for one pool"))
        seen.add(key)
    return twice


def _scans(block: Block, unread: list[UnreadLine]) -> tuple[Scan, ...]:
    scans: list[Scan] = []
    for key, pieces in block:
        if key in ("scan", "scrub"):
            scan = _scan(stripped("".join(pieces).strip(), "\n"), _SCAN if key == "scan" else _SCRUB_OF_OLD, unread)
            if scan is not None:
                scans.append(scan)
    return tuple(scans)


_SCRUB = r"(?:error |thorough )?scrub"
_REPAIR = r"(?:resilver|rebuild)(?: \([^)]+\))?"
_REPAIRED = r"(?:resilvered|rebuilt)(?: \([^)]+\))?"
_FORMS = (
    r"(?P<none>none requested)"
    rf"|(?:{_SCRUB}|{_REPAIR}) (?:(?P<running>in progress since)|(?P<paused>paused since)|(?P<canceled>canceled on)) "
    rf"|(?P<finished>(?:{_SCRUB} repaired|{_REPAIRED}) \S+ in .* with (?P<errors>[0-9]{{1,20}}) errors(?: on |\n|$))"
    r"|(?P<scrubbed>scrubbed [0-9]+ error blocks? in .* on )"
)
_SCAN = re.compile(_FORMS)
# Before there was "scan:": OpenSolaris, and illumos and FreeBSD of that age. What a scrub repaired is not said.
_SCRUB_OF_OLD = re.compile(
    rf"{_FORMS}|(?:scrub|resilver) (?:(?P<going>in progress(?:,| for))|(?P<completed>completed)|(?P<stopped>stopped))"
    r"(?: (?:after )?[0-9dhms]+)?(?:,| with (?P<found>[0-9]{1,20}) errors on| [0-9])"
)
_STATES = {"going": "running", "scrubbed": "finished", "completed": "finished", "stopped": "canceled", "errors": "finished"}
_NUMBER_AT_END = re.compile(r"(?<![0-9.,])[0-9]+(?:[.,][0-9]+)?\Z")
_ETA_0_6 = re.compile(r", (\S+) to go|(no estimated time)")  # 0.6 says it one line above the percentage
_BELOW = re.compile(
    r" scanned|(?:resilvered|repaired|rebuilt), |% done|scan warning: skipp|(?:scrub|resilver) started on |that are only referenced by"
    r"|(?:issued|total|/s)$| to go$|completion time$|^(?:[A-Z][a-z]{2} )*[0-9: ]*[0-9]{4}$"  # the rest of a line that mail cut in two
)


_BEGIN = ("none requested", "resilvered ", "resilver in progress since ", "resilver paused since ", "scrub repaired ", "scrub in progress since ", "scrub canceled on ", "scrub paused since ")  # fmt: skip
CUT_MIN = 4  # letters: fewer are the beginning of any word


def _scan(text: str, forms: re.Pattern[str], unread: list[UnreadLine]) -> Scan | None:
    form = forms.match(text)
    if form is None:
        cut = len(text) >= CUT_MIN and any(words.startswith(text) for words in _BEGIN)
        unread.append(
            UnreadLine(first_line(text), "scan", "the scan: line is cut within" if cut else "the scan: line cannot be read", missing=cut)
        )
        return None
    below = text.split("\n")[1:] if "\n" in text else ()
    if below and not (len(below) == 2 and " scanned" in below[0] and "% done" in below[1]):
        unread += [UnreadLine(line, "scan", "a line below scan: cannot be read") for line in below if line and not _BELOW.search(line)]
    state = form.lastgroup or ""
    if state == "none":
        return Scan("none", "none", text)
    function = "resilver" if text.startswith(("resilver", "reb")) else "scrub"
    if text.startswith(("resilver (", "resilvered (", "reb")):
        function = "rebuild"  # sequential, onto the named top-level vdev
    if state == "found":
        state = "completed" if form.group("completed") else "stopped"
    state = _STATES.get(state, state)
    if state in ("running", "paused"):
        return _unfinished(function, state, text, unread)
    if state == "finished" and " on " not in first_line(text):
        unread.append(UnreadLine(first_line(text), "scan", "the day on which a scan ended is not there", missing=True))
    errors = (
        form.group("errors") if state == "finished" and forms is _SCAN else form.groupdict().get("found") or form.groupdict().get("errors")
    )
    return Scan(function, state, text, errors=None if errors is None else int(errors))


def _unfinished(function: str, state: str, text: str, unread: list[UnreadLine]) -> Scan:
    before, _, after = text.partition("% done")
    percent = _NUMBER_AT_END.search(before.rpartition(" ")[2])
    if percent is None or len(before) == len(text):
        unread.append(UnreadLine(first_line(text), "scan", "a scan does not show how far it is", missing=True))
        return Scan(function, state, text)
    eta: str | None = first_line(after[2:]) if after.startswith(", ") else ""
    if eta and "error blocks" in eta:
        eta = ""  # an error scrub counts the blocks it looked at
    if not eta:
        above = _ETA_0_6.search(text)
        eta = above and (above.group(1) or above.group(2))
    how_far = percent.group().replace(",", ".")
    return Scan(function, state, text, how_far, eta=eta.replace(" to go", "") if eta and state == "running" else None)
