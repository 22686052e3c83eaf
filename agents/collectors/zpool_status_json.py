"""`zpool status -j` of OpenZFS 2.3 and later, read into the same `Pool` as the text.

A source of its own because it alone says the pool's guid. It does not replace the text: it keys vdevs by name, so of two with
one name the first is lost, and it hides why a leaf that is not present cannot be opened.
"""

from __future__ import annotations

import json
from typing import Any

from agents.collectors._passing import json_without_progress as lasting
from agents.collectors._vdevs import COUNTER, STATES, Vdev
from agents.collectors.base import Capture, Unparsed, ask
from agents.collectors.node import module_version
from agents.collectors.zpool_status import TIMEOUT_SECONDS, Pool, Scan
from agents.host import Host

NAME = "zpool_status_json"
EVERY_SECONDS = 60
HISTORY_SECONDS = 1800  # how far a resilver came in half an hour, to the byte
ARGV = ("zpool", "status", "-j", "--json-int", "-p")
SINCE = (2, 3)

__all__ = ["collect", "lasting", "parse"]

_SECTIONS = (("dedup", "dedup"), ("special", "special"), ("logs", "logs"), ("l2cache", "cache"), ("spares", "spares"))
_NOTES = {
    "OPEN_FAILED": "cannot open",
    "BAD_GUID_SUM": "missing device",
    "NO_REPLICAS": "insufficient replicas",
    "SPARED": "currently in use",
    "ERR_EXCEEDED": "too many errors",
    "IO_FAILURE": "experienced I/O failures",
    "BAD_LOG": "bad intent log",
    "EXTERNAL": "external device fault",
    "EXTERNAL_PERSIST": "external device fault",
    "SPLIT_POOL": "split into new pool",
    "CHILDREN_OFFLINE": "all children offline",
    "BAD_LABEL": "invalid label",
    "CORRUPT_DATA": "corrupted data",
}
_SCAN_STATES = {"SCANNING": "running", "FINISHED": "finished", "CANCELED": "canceled"}


def collect(host: Host) -> tuple[Capture, ...]:
    module = module_version(host)
    if module is None:
        return (Capture(NAME, "", "nothing", "", "the version of the zfs module is not known"),)
    if module < SINCE:
        return (Capture(NAME, "", "nothing", "", f"OpenZFS {module[0]}.{module[1]} has no JSON output"),)
    return (ask(host, NAME, ARGV, TIMEOUT_SECONDS),)


def parse(text: str) -> tuple[Pool, ...] | Unparsed:
    """Every pool in `text`. Never raises: what lacks a field or has one of another kind is refused as a whole."""
    try:
        pools = json.loads(text, object_pairs_hook=_unique)["pools"]
        return tuple(_pool(pool) for pool in pools.values())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as unlike:
        return Unparsed("this is not the JSON of zpool status", f"{type(unlike).__name__}: {unlike}"[:200])


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice in one object")
    return found


def _pool(said: dict[str, Any]) -> Pool:
    name, state = _word(said["name"]), _word(said["state"])
    scans = _scans(said.get("scan_stats"))
    busy = next((scan.function for scan in scans if scan.state == "running"), "")
    (root,) = (_vdev(vdev, busy) for vdev in said["vdevs"].values())
    if state not in STATES or root.name != name:
        raise ValueError(f"the state or the tree of {name} cannot be read")
    errors = _number(said["error_count"])
    return Pool(
        name,
        state,
        _prose(said.get("status", "")),
        _prose(said.get("action", "")),
        _prose(said.get("moreinfo", "")),
        scans,
        root,
        tuple((heading, tuple(_vdev(vdev, busy) for vdev in said[key].values())) for key, heading in _SECTIONS if said.get(key)),
        f"{errors} data errors" if errors else "No known data errors",
        *(_raw(said.get(key)) for key in ("removal_stats", "checkpoint_stats", "raidz_expand_stats")),
        guid=_number(said.get("pool_guid", said.get("guid"))),
    )


def _vdev(said: dict[str, Any], busy: str) -> Vdev:
    """A leaf is named by its path, as `zpool status -P` does, unless it is absent and only its guid is left."""
    children = tuple(_vdev(child, busy) for child in said.get("vdevs", {}).values())
    counters = [said.get(key) for key in ("read_errors", "write_errors", "checksum_errors")]
    absent = "not_present" in said
    return Vdev(
        _word(said["name"] if absent else said.get("path", said["name"])),
        _state(said["state"], said.get("aux")),
        None if None in counters else (_number(counters[0]), _number(counters[1]), _number(counters[2])),
        _number(said["slow_ios"]) if "slow_ios" in said else None,
        _note(said, busy),
        children,
    )


def _state(state: str, aux: str | None) -> str:
    """The word the text prints. JSON gives the kernel's own words for a vdev that cannot be opened or was closed."""
    if state == "CANT_OPEN":
        return {"CORRUPT_DATA": "FAULTED", "BAD_LOG": "FAULTED", "SPLIT_POOL": "SPLIT"}.get(aux or "", "UNAVAIL")
    word = {"CLOSED": "OFFLINE"}.get(state, state)
    if word not in STATES:
        raise ValueError(f"{word} is not a vdev state")
    return word


def _note(said: dict[str, Any], busy: str) -> str:
    notes = []
    if "not_present" in said:
        notes.append(f"was {_word(said['was'])}")
    elif "aux" in said:
        notes.append(_NOTES.get(said["aux"], "corrupted data"))
    if busy and "vdevs" not in said and said["state"] == "ONLINE" and _number(said.get("scan_processed", 0)):
        notes.append("(repairing)" if busy == "scrub" else "(resilvering)")
    if said.get("resilver_deferred"):
        notes.append("(awaiting resilver)")
    return "  ".join(notes)


def _scans(said: dict[str, Any] | None) -> tuple[Scan, ...]:
    if not said or said["state"] == "NONE":
        return ()
    function = {"SCRUB": "scrub", "RESILVER": "resilver", "ERRORSCRUB": "scrub"}[said["function"]]
    state = _SCAN_STATES[said["state"]]
    if state == "running" and said.get("scrub_pause") not in (None, 0, "-"):
        state = "paused"
    percent = None
    if state in ("running", "paused"):
        total = _number(said["to_examine"]) - _number(said.get("skipped", 0))
        percent = f"{100 * _number(said['issued']) / total if total > 0 else 0:.2f}"
    return (Scan(function, state, _raw(said), percent, _number(said["errors"]) if state == "finished" else None),)


def _number(value: Any) -> int:
    """Counters and guids are whole; --json-int prints them so. A rounded one ("1.2K") is refused."""
    digits = str(value) if isinstance(value, (int, str)) else ""
    if isinstance(value, bool) or not COUNTER.fullmatch(digits):
        raise ValueError(f"{value!r} is not a whole number")
    return int(digits)


def _word(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{value!r} is not a name")
    return value


def _prose(value: str) -> str:
    return " ".join(line.strip() for line in value.strip().split("\n"))


def _raw(value: Any) -> str:
    return json.dumps(value, sort_keys=True) if value else ""
