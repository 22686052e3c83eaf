"""`zpool status -j` of OpenZFS 2.3 and later, read into the same `Pool` as the text: whole or flat, by name or by guid, exact or rounded.

A source of its own because it alone says the pool's guid. It does not replace the text: it keys vdevs by name, so of two with
one name the first is lost, and it hides why a leaf that is not present cannot be opened.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

from agents.collectors._passing import json_without_progress as lasting
from agents.collectors._vdevs import COUNTER, STATES, USUAL, Sections, Vdev
from agents.collectors.base import Capture, Reading, Unparsed, UnreadLine, ask
from agents.collectors.node import module_version
from agents.collectors.zpool_status import TIMEOUT_SECONDS, Pool, Scan
from agents.host.host import Host

NAME = "zpool_status_json"
EVERY_SECONDS = 60
HISTORY_SECONDS = 1800  # how far a resilver came in half an hour, to the byte
LATELY_SECONDS = 240  # and how fast one is that began since
ARGV = ("zpool", "status", "-j", "--json-int", "-p")
SINCE = (2, 3)

__all__ = ["collect", "lasting", "parse", "read"]

_SECTIONS = (("dedup", "dedup"), ("special", "special"), ("logs", "logs"), ("l2cache", "cache"), ("spares", "spares"))
_CLASSES = {"dedup": "dedup", "special": "special", "log": "logs", "l2cache": "cache", "spare": "spares"}  # of --json-flat-vdevs
_NOTES = {
    "OPEN_FAILED": "cannot open",
    "BAD_GUID_SUM": "missing device",
    "NO_REPLICAS": "insufficient replicas",
    "VERSION_NEWER": "newer version",
    "UNSUP_FEAT": "unsupported feature(s)",
    "ASHIFT_TOO_BIG": "unsupported minimum blocksize",
    "SPARED": "currently in use",
    "ACTIVE": "currently in use",
    "ERR_EXCEEDED": "too many errors",
    "IO_FAILURE": "experienced I/O failures",
    "BAD_LOG": "bad intent log",
    "EXTERNAL": "external device fault",
    "EXTERNAL_PERSIST": "external device fault",
    "SPLIT_POOL": "split into new pool",
    "CHILDREN_OFFLINE": "all children offline",
    "BAD_LABEL": "invalid label",
    "CORRUPT_DATA": "corrupted data",
    "TOO_SMALL": "corrupted data",  # print_status_config() has no words of its own for these three
    "VERSION_OLDER": "corrupted data",
    "BAD_ASHIFT": "corrupted data",
}
_FUNCTIONS = {"SCRUB": "scrub", "RESILVER": "resilver", "ERRORSCRUB": "scrub"}
_SCAN_STATES = {"SCANNING": "running", "ERRORSCRUBBING": "running", "FINISHED": "finished", "CANCELED": "canceled"}
_REBUILD_STATES = {"ACTIVE": "running", "COMPLETE": "finished", "CANCELED": "canceled"}
_LISTED = "Permanent errors have been detected in the following files:"
_ROUNDED = re.compile(r"[0-9]+(?:[.,][0-9]+)?[KMGTPEZ]?B?")
_DATE = re.compile(r"[A-Z][a-z]{2} (?P<date>[A-Z][a-z]{2} {1,2}[0-9]{1,2} [0-9:]{8}) (?:\S+ )?(?P<year>[0-9]{4})")
_DEPTH_MAX = 8  # as deep as a vdev tree can be, with room


def collect(host: Host) -> tuple[Capture, ...]:
    module = module_version(host)
    if module is None:
        return (Capture(NAME, "", "nothing", "", "the version of the zfs module is not known"),)
    if module < SINCE:
        return (Capture(NAME, "", "nothing", "", f"OpenZFS {module[0]}.{module[1]} has no JSON output"),)
    return (ask(host, NAME, ARGV, TIMEOUT_SECONDS),)


def parse(text: str) -> tuple[Pool, ...] | Unparsed:
    """Every pool in `text`, or the first field that made no sense. Never raises."""
    found: tuple[Pool, ...] | Unparsed = read(text).whole
    return found


def read(text: str) -> Reading:
    """Every pool in `text` as far as it could be read; what lacks a field, or has one of another kind, is named. Never raises."""
    twice: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            keys = [key for key, _ in pairs]
            twice.append(next(key for key in found if keys.count(key) > 1))
        return found

    try:
        document = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError):
        return _nothing("it is no JSON, or only part of one")
    pools = document.get("pools") if isinstance(document, dict) else None
    if not isinstance(pools, dict):
        return _nothing("it is not the JSON of zpool status")
    odd = [UnreadLine(f'"{key}"', "", "a name occurs twice in one object, so one of the two is lost") for key in twice[:1]]
    read = [_pool(key, pool) for key, pool in pools.items() if isinstance(pool, dict)]
    odd += [UnreadLine(f'"{key}"', "pool", "it is no pool") for key, pool in pools.items() if not isinstance(pool, dict)]
    return Reading(tuple(read), tuple(odd))


def _nothing(why: str) -> Reading:
    return Reading((), (UnreadLine("", "", why),))


class _Fields:
    """The fields of one object, and what of them could not be read."""

    def __init__(self, document: dict[str, Any], unread: list[UnreadLine], of: str) -> None:
        self.document, self.unread, self._of = document, unread, of

    def miss(self, key: str, why: str, rounded: bool = False, missing: bool = False) -> None:
        line = f'{self._of}: "{key}": {json.dumps(self.document[key])[:80]}' if key in self.document else f"{self._of}: {key}"
        absent = key not in self.document  # what is not there is no word that nobody knows
        self.unread.append(UnreadLine(line, _FIELD_OF.get(key, "config"), why, rounded, missing or absent))

    def word(self, key: str) -> str:
        """A name; "" where there is none."""
        value = self.document.get(key)
        if not isinstance(value, str) or not value:
            self.miss(key, f"{key} is no word" if key in self.document else f"{key} is missing")
            return ""
        return value

    def prose(self, key: str) -> str:
        value = self.document.get(key, "")
        if not isinstance(value, str):
            self.miss(key, f"{key} is no text")
            return ""
        return " ".join(line.strip() for line in value.strip().split("\n"))

    def number(self, key: str) -> int | None:
        """A whole number, printed as such or as a string of digits; one that is rounded is none."""
        value = self.document.get(key)
        digits = str(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else ""
        if COUNTER.fullmatch(digits):
            return int(digits)
        if digits == "0B":
            return 0
        rounded = bool(_ROUNDED.fullmatch(digits))
        self.miss(key, f"{key} is rounded; ask with -p" if rounded else f"{key} is no whole number", rounded)
        return None

    def objects(self, key: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """What an object of objects holds, by name."""
        value = self.document.get(key, {})
        if not isinstance(value, dict):
            self.miss(key, f"{key} is no object")
            return
        for name, item in value.items():
            if isinstance(item, dict):
                yield name, item
            else:
                self.unread.append(UnreadLine(f'{self._of}: "{name}"', "config", "it is no vdev"))


_FIELD_OF = {
    "state": "state",
    "error_count": "errors",
    "errlist": "errors",
    **dict.fromkeys(("function", "issued", "to_examine", "skipped", "to_scan", "scanned", "errors", "start_time", "end_time"), "scan"),
    **dict.fromkeys(("scan_stats", "err_scrub_examined", "err_scrub_to_examine"), "scan"),
    **dict.fromkeys(("read_errors", "write_errors", "checksum_errors", "slow_ios"), "counters"),
}


def _pool(key: str, document: dict[str, Any]) -> Pool:
    unread: list[UnreadLine] = []
    fields = _Fields(document, unread, key)
    name = document["name"] if isinstance(document.get("name"), str) and document["name"] else fields.word("name") or key
    state = fields.word("state")
    if state and state not in STATES:
        fields.miss("state", f"the state of {name} is none that a release we know prints")
    scans = _scans(fields)
    busy = next((scan.function for scan in scans if scan.state == "running"), "")
    root, sections = _tree(fields, name, busy)
    removal, checkpoint, expansion = (_raw(document.get(stats)) for stats in ("removal_stats", "checkpoint_stats", "raidz_expand_stats"))
    return Pool(
        name,
        state,
        fields.prose("status"),
        fields.prose("action"),
        fields.prose("moreinfo"),
        scans,
        root,
        sections,
        _errors(fields),
        removal,
        checkpoint,
        expansion,
        guid=fields.number("pool_guid" if "pool_guid" in document or "guid" not in document else "guid"),
        unread=tuple(unread),
    )


def _tree(fields: _Fields, name: str, busy: str) -> tuple[Vdev, Sections]:
    """The root vdev and the sections. With --json-flat-vdevs all vdevs stand side by side, and the root among them has its own tree."""
    vdevs = dict(fields.objects("vdevs"))
    roots = [document for document in vdevs.values() if document.get("vdev_type") == "root"] or [
        document for key, document in vdevs.items() if key == name
    ]
    if len(roots) != 1:
        fields.miss("vdevs", "the vdev tree does not begin with the pool")
    root = _vdev(fields, name, roots[0], busy) if roots else Vdev(name, "")
    if root.name != name:
        fields.miss("vdevs", f"the vdev tree does not begin with {name}")
    flat = [(key, document) for key, document in vdevs.items() if not roots or document is not roots[0]]
    sections: dict[str, list[Vdev]] = {}
    for key, heading in _SECTIONS:
        for of, document in fields.objects(key):
            sections.setdefault(heading, []).append(_vdev(fields, of, document, busy))
    if flat and any("parent" in document for _, document in flat):
        for of, document in flat:
            heading = _CLASSES.get(str(document.get("class")), "")
            if heading and document.get("parent", name) in (name, ""):
                sections.setdefault(heading, []).append(_vdev(fields, of, document, busy))
    elif flat:
        fields.miss("vdevs", "it has more than one root")
    return root, tuple((heading, tuple(sections[heading])) for _, heading in _SECTIONS if heading in sections)


def _vdev(above: _Fields, key: str, document: dict[str, Any], busy: str, depth: int = 0) -> Vdev:
    """A leaf is named by its path, as `zpool status -P` does, unless it is absent and only its guid is left.

    With --json-flat-vdevs an object holds its grandchildren as well, each with the name of its parent.
    """
    fields = _Fields(document, above.unread, key)
    name = fields.word("name") or key
    inside = [(of, child) for of, child in fields.objects("vdevs") if child.get("parent", name) == name] if depth < _DEPTH_MAX else []
    if depth >= _DEPTH_MAX and document.get("vdevs"):
        fields.miss("vdevs", "the vdev tree is deeper than any pool")
    children = tuple(_vdev(fields, of, child, busy, depth + 1) for of, child in inside)
    errors, printed = _counters(fields)
    return Vdev(
        name if "not_present" in document or not isinstance(document.get("path"), str) else document["path"],
        _state(fields),
        errors,
        fields.number("slow_ios") if "slow_ios" in document else None,
        _note(fields, busy),
        children,
        printed,
        _columns(fields),
        guid=fields.number("guid") if "guid" in document else None,
    )


_COLUMNS = {"slow_ios": "SLOW", "power_state": "POWER", "dio_verify_errors": "DIO"}


def _columns(fields: _Fields) -> tuple[tuple[str, str], ...]:
    """Those of them that show trouble, as the text prints them; slow I/Os only where they are rounded."""
    cells = ((column, str(fields.document.get(key, "-"))) for key, column in _COLUMNS.items())
    return tuple((column, value) for column, value in cells if value not in USUAL and not (column == "SLOW" and COUNTER.fullmatch(value)))


def _counters(fields: _Fields) -> tuple[tuple[int, int, int] | None, tuple[str, ...]]:
    """The three counters where they are whole, and as printed where they are not; neither where there are none, as of a spare."""
    keys = ("read_errors", "write_errors", "checksum_errors")
    if not any(key in fields.document for key in keys):
        return None, ()
    read, write, checksum = (fields.number(key) for key in keys)
    if read is None or write is None or checksum is None:
        return None, tuple(str(fields.document.get(key, "")) for key in keys)
    return (read, write, checksum), ()


def _state(fields: _Fields) -> str:
    """The word the text prints. JSON gives the kernel's own words for a vdev that cannot be opened or was closed."""
    if "state" not in fields.document:  # fill_vdev_info() finds no vdev by a name that -L has resolved
        fields.miss("state", "it has no state, as happens with -L; ask without", missing=True)
        return ""
    state, aux = fields.word("state"), fields.document.get("aux")
    if state == "CANT_OPEN":
        return {"CORRUPT_DATA": "FAULTED", "BAD_LOG": "FAULTED", "SPLIT_POOL": "SPLIT"}.get(str(aux), "UNAVAIL")
    word = {"CLOSED": "OFFLINE"}.get(state, state)
    if word and word not in STATES:
        fields.miss("state", f"{word} is not a vdev state")
    return word


def _note(fields: _Fields, busy: str) -> str:
    document, notes = fields.document, []
    if "not_present" in document:
        notes.append(f"was {fields.word('was')}")
    elif "aux" in document:
        notes.append(_NOTES.get(str(document["aux"]), str(document["aux"])))
        if str(document["aux"]) not in _NOTES:
            fields.miss("aux", f"{document['aux']} is no reason that a release we know gives")
    elif "configured_ashift" in document and "physical_ashift" in document:
        ours, disks = fields.number("configured_ashift"), fields.number("physical_ashift")
        if ours is not None and disks is not None and max(ours, disks) < 32:
            notes.append(f"block size: {1 << ours}B configured, {1 << disks}B native")
    if "removing" in document:
        notes.append("(removing)")
    elif "noalloc" in document:
        notes.append("(non-allocating)")
    if busy and "vdevs" not in document and document.get("state") == "ONLINE" and str(document.get("scan_processed", 0)) not in ("0", "0B"):
        notes.append("(repairing)" if busy == "scrub" else "(resilvering)")
    if document.get("resilver_deferred"):
        notes.append("(awaiting resilver)")
    return "  ".join(notes)


def _errors(fields: _Fields) -> str | None:
    """The `errors:` line of the text; None where the JSON counts none."""
    listed = fields.document.get("errlist")
    if isinstance(listed, list) and listed and all(isinstance(name, str) for name in listed):
        return "\n".join((_LISTED, "", *listed))
    if "error_count" not in fields.document:
        fields.miss("error_count", "error_count is missing")
        return None
    errors = fields.number("error_count")
    if errors is None:
        return f"{fields.document['error_count']} data errors" if _ROUNDED.fullmatch(str(fields.document["error_count"])) else None
    return f"{errors} data errors, use '-v' for a list" if errors else "No known data errors"


def _scans(pool: _Fields) -> tuple[Scan, ...]:
    """As the text prints them: the newest scrub or resilver, and rebuilds of top-level vdevs."""
    stats = pool.document.get("scan_stats")
    if not stats:
        return ()
    if not isinstance(stats, dict):
        pool.miss("scan_stats", "scan_stats is no object")
        return ()
    fields = _Fields(stats, pool.unread, "scan_stats")
    found = []
    if stats.get("err_scrub_state") not in (None, "NONE"):
        found.append(_error_scrub(fields))
    elif stats.get("state") != "NONE" and "state" in stats:
        found.append(_scan(fields))
    rebuilds = [_rebuild(_Fields(rebuild, pool.unread, name), name) for name, rebuild in fields.objects("rebuild_stats")]
    return tuple(scan for scan in (*found, *rebuilds) if scan is not None)


def _scan(fields: _Fields) -> Scan | None:
    function, state = _FUNCTIONS.get(fields.word("function")), _SCAN_STATES.get(fields.word("state"))
    if function is None or state is None:
        fields.miss("function" if function is None else "state", "scan_stats cannot be read")
        return None
    if state == "running" and fields.document.get("scrub_pause") not in (None, 0, "0", "-"):
        state = "paused"
    percent = None
    if state in ("running", "paused"):
        issued, total = fields.number("issued"), fields.number("to_examine")
        skipped = fields.number("skipped") if "skipped" in fields.document else 0
        if issued is not None and total is not None and skipped is not None:
            percent = f"{100 * issued / (total - skipped) if total > skipped else 0:.2f}"
    return _scan_of(fields, function, state, percent, "processed" if function == "scrub" else "")


def _error_scrub(fields: _Fields) -> Scan | None:
    state = _SCAN_STATES.get(str(fields.document.get("err_scrub_state")))
    if state is None:
        fields.miss("err_scrub_state", "scan_stats cannot be read")
        return None
    if state == "running" and fields.document.get("err_scrub_pause") not in (None, 0, "0", "-"):
        state = "paused"
    began, ended = _moment(fields.document.get("err_scrub_start_time")), _moment(fields.document.get("err_scrub_end_time"))
    return Scan("scrub", state, _raw(fields.document), began=began, ended=ended if state in ("finished", "canceled") else None)


def _rebuild(fields: _Fields, vdev: str) -> Scan | None:
    state = _REBUILD_STATES.get(fields.word("state"))
    if state is None:
        fields.miss("state", f"the rebuild of {vdev} cannot be read")
        return None
    percent = None
    if state == "running":
        done, total = fields.number("scanned"), fields.number("to_scan")
        if done is not None and total is not None:
            percent = f"{min(100.0, 100 * done / (total + 1)):.2f}"
    return _scan_of(fields, "rebuild", state, percent, "")


def _scan_of(fields: _Fields, function: str, state: str, percent: str | None, repaired: str) -> Scan:
    over = state in ("finished", "canceled")
    return Scan(
        function,
        state,
        _raw(fields.document),
        percent,
        fields.number("errors") if state == "finished" else None,
        began=_moment(fields.document.get("start_time")),
        ended=_moment(fields.document.get("end_time")) if over else None,
        repaired=str(fields.document[repaired]) if repaired in fields.document else None,
    )


def _moment(value: Any) -> str | None:
    """ "2024-01-14T03:35:24": by the node's own zone where a date is printed, in UTC where seconds since 1970 are."""
    text = str(value)
    if isinstance(value, (int, str)) and re.fullmatch(r"[0-9]{9,11}", text):
        return datetime.fromtimestamp(int(text), timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    found = _DATE.fullmatch(text)
    try:
        return datetime.strptime(f"{found['date']} {found['year']}", "%b %d %H:%M:%S %Y").isoformat() if found else None
    except ValueError:
        return None  # a day that no month has


def _raw(value: Any) -> str:
    return json.dumps(value, sort_keys=True) if value else ""
