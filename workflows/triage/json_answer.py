"""The answer of triage for programs: one JSON object whose shape is documented in docs/guide/triage-json.md.

Guids are decimal strings. What is not known is null, and `unknown` beside it says why, by the name of the field.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agents.collectors.base import UnreadLine
from workflows.analysis.pool_fate import fate, losses_left
from workflows.engine.core import Situation
from workflows.facts import DiskFacts, ImportableFacts, Known, NodeFacts, PoolFacts, ScanFacts, Unknown, VdevFacts, known
from workflows.facts.read.data_errors import NONE as NO_DATA_ERRORS
from workflows.facts.read.data_errors import data_errors
from workflows.triage.answer import NO_OUTPUT, SILENT, Read, Triage
from workflows.triage.next import manuals

VERSION = 1
GOOD, NOT_GOOD, NOTHING_READ, STOPPED = 0, 1, 2, 3  # exit codes of `./run triage --json`
OUTCOMES = {"read": "read", "partly": "partly", "not read": "refused", "left out": "refused"}
COUNTERS = ("read", "write", "cksum")
ROLES = ("data", "special", "dedup", "log", "spare", "cache")


def answer(found: Triage) -> dict[str, Any]:
    """What was pasted, as one JSON object."""
    texts, other = _texts(found)
    return {
        "version": VERSION,
        "texts": texts,
        "other_lines": other,
        "pools": [pool for node in found.fleet.nodes.values() for pool in _pools(node)],
        "disks": [_disk(node, disk) for node in found.fleet.nodes.values() if known(node.disks) for disk in node.disks],
        "situations": [_situation(one, found) for one in found.situations],
        "unexplained": [_unexplained(one) for one in found.situations if one.slug == "unexplained"],
        "good": found.good,
        "not_good_because": list(found.not_good_because),
        "not_looked_at": list(found.not_looked_at),
        "error": None,
    }


def stopped(why: str, words: str) -> dict[str, Any]:
    """The answer where there is none: a limit was reached ("cpu", "memory", "time") or the reading process ended ("crash")."""
    empty: dict[str, Any] = {name: [] for name in ("texts", "other_lines", "pools", "disks", "situations", "unexplained", "not_looked_at")}
    return {"version": VERSION, **empty, "good": False, "not_good_because": [words], "error": {"why": why, "text": words}}


def exit_code(answered: Mapping[str, Any]) -> int:
    if answered["error"] is not None:
        return STOPPED
    if not any(text["outcome"] in ("read", "partly") for text in answered["texts"]):
        return NOTHING_READ
    return GOOD if answered["good"] else NOT_GOOD


def _texts(found: Triage) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Outputs, and apart from them the lines of a text that are nobody's output. A text without any output is one that was refused."""
    outputs = [read for read in found.reads if not _is_prose(read)]
    named = {read.name for read in outputs}
    outputs += [read for read in found.reads if read.name not in named]
    other = [read for read in found.reads if read.name in named and _is_prose(read)]
    place = {id(read): i for i, read in enumerate(found.reads)}
    return [_text(read) for read in sorted(outputs, key=lambda read: place[id(read)])], [_lines(read) for read in other]


def _is_prose(read: Read) -> bool:
    """Lines of nobody's output: somebody's words, and a command that printed nothing."""
    return read.outcome == "left out" and (read.reason == SILENT or (not read.source and not read.command and read.reason == NO_OUTPUT))


def _lines(read: Read) -> dict[str, Any]:
    return {"file": read.name, "first": read.first, "last": read.last}


def _text(read: Read) -> dict[str, Any]:
    reason = " ".join(word for word in (read.reason, *read.notes) if word)
    return {
        **_lines(read),
        "outcome": OUTCOMES[read.outcome],
        "source": read.source or None,
        "key": read.key or None,
        "node": read.node or None,
        "command": read.command or None,
        "reason": reason or None,
        "line": read.line or None,
        "unread": [{"line": number, "reason": why} for number, why in read.unread],
    }


class _Object:
    """Collects fields; what is not known becomes null with its reason under `unknown`."""

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}
        self.unknown: dict[str, str] = {}

    def add(self, name: str, value: Known[Any], shown: Any = None) -> None:
        if known(value):
            self.fields[name] = value if shown is None else shown(value)
        else:
            self.fields[name], self.unknown[name] = None, value.reason

    def done(self) -> dict[str, Any]:
        return {**self.fields, "unknown": self.unknown}


def _pools(node: NodeFacts) -> Iterator[dict[str, Any]]:
    for pool in node.pools_read:
        yield _pool(node, pool)
    imported = {(pool.name, pool.guid) for pool in node.pools_read if known(pool.guid)}
    for listed in node.importable_read:
        if (listed.name, listed.guid) not in imported:
            yield _importable(node, listed)


def _pool(node: NodeFacts, pool: PoolFacts) -> dict[str, Any]:
    one, verdict = _Object(), fate(node, pool)
    one.fields |= {"name": pool.name, "node": node.node, "imported": True}
    one.add("id", pool.guid, str)
    one.fields |= {"state": pool.state or None, "verdict": verdict.verdict, "verdict_reason": verdict.reason}
    one.fields |= {"contradiction": verdict.contradiction or None, "no_replacement": verdict.gates}
    one.add("losses_survived", _survived(pool))
    _scans(one, pool)
    _errors(one, pool)
    one.fields |= {"status": pool.status or None, "see": pool.see or None}
    one.fields["vdevs"] = [_vdev(vdev, role) for role, vdev in _roles(pool)]
    one.fields["unread"] = _unread(pool.unread)
    return one.done()


def _survived(pool: PoolFacts) -> Known[int]:
    """A number of losses is never below 0: a pool whose data is out of reach has none."""
    left = losses_left(pool.shown)
    return Unknown(f"{pool.name} has lost more than it survives, and its data is out of reach.") if known(left) and left < 0 else left


def _unread(lines: Iterable[UnreadLine]) -> list[dict[str, Any]]:
    return [{"text": line.line or None, "field": line.field or None, "reason": line.reason} for line in lines]


def _roles(pool: PoolFacts) -> Iterator[tuple[str, VdevFacts]]:
    yield from pool.tops_read
    yield from (("spare", vdev) for vdev in pool.spares)
    yield from (("cache", vdev) for vdev in pool.caches)


def _scans(one: _Object, pool: PoolFacts) -> None:
    """`scan` is the one that runs, else the first that is printed; `scans` all of them."""
    listed = [_scan(scan) for scan in pool.scans_read]
    if not listed and not known(pool.scans):
        one.add("scan", pool.scans)
        one.fields["scans"] = []
        return
    runs = [scan for scan in listed if scan["state"] in ("running", "paused")]
    one.fields["scan"] = next(iter(runs or listed), None)
    one.fields["scans"] = listed
    if not listed:
        one.unknown["scan"] = "The text has no scan: line."


def _scan(scan: ScanFacts) -> dict[str, Any]:
    return {
        "kind": scan.function,
        "state": scan.state,
        "percent": None if scan.percent is None else float(scan.percent),
        "seconds_left": scan.seconds_left,
        "errors": scan.errors,
        "repaired": scan.repaired,
        "began": scan.began,
        "ended": scan.ended,
        "text": scan.text,
    }


def _errors(one: _Object, pool: PoolFacts) -> None:
    damaged = data_errors(pool)
    if not pool.errors:
        one.fields["errors"], one.unknown["errors"] = None, "The text has no errors: line."
        return
    count = damaged.count if damaged is not None else 0 if pool.errors == NO_DATA_ERRORS else None
    one.fields["errors"] = {"text": pool.errors, "count": count, "files": list(damaged.listed) if damaged else []}


def _vdev(vdev: VdevFacts, role: str) -> dict[str, Any]:
    one = _Object()
    one.fields |= {"role": role, "name": vdev.name, "kind": vdev.kind}
    one.add("guid", vdev.guid, str)
    one.fields |= {"state": vdev.state or None, "note": vdev.note or None}
    _counters(one, vdev)
    one.add("wwid", vdev.wwid)
    one.fields["children"] = [_vdev(child, role) for child in vdev.children]
    return one.done()


def _counters(one: _Object, vdev: VdevFacts) -> None:
    """Each counter as a number; one that is printed rounded is not known, and the reason says how it is printed."""
    for name, figure in zip(COUNTERS, vdev.figures or ("",) * len(COUNTERS), strict=True):
        if figure.isdigit():
            one.fields[name] = int(figure)
        else:
            one.add(name, Unknown(f"It is printed rounded: {figure}." if figure else str(getattr(vdev.errors, "reason", ""))))


def _importable(node: NodeFacts, pool: ImportableFacts) -> dict[str, Any]:
    one = _Object()
    one.fields |= {
        "name": pool.name,
        "node": node.node,
        "imported": False,
        "id": str(pool.guid) if pool.guid else None,
        "state": pool.state or None,
    }
    if not pool.guid:
        one.unknown["id"] = "The listing of this pool lacks its id."
    one.fields |= {
        "verdict": "not imported",
        "verdict_reason": f"{pool.name} is listed by `zpool import` and not imported.",
        "destroyed": pool.destroyed,
    }
    one.fields |= {"contradiction": None, "no_replacement": True, "losses_survived": None, "scan": None, "scans": [], "errors": None}
    one.unknown |= dict.fromkeys(("losses_survived", "scan", "errors"), "`zpool import` does not show it.")
    one.fields |= {"status": pool.status or None, "see": pool.see or None, "comment": pool.comment or None}
    one.fields |= {"note": pool.note or None, "more_devices": pool.more_devices, "readonly_possible": pool.readonly_possible}
    one.fields["unsupported_features"] = [{"name": name, "does": does or None} for name, does in pool.features]
    one.fields |= {"hostname": pool.hostname or None, "hostid": None if pool.hostid is None else f"{pool.hostid:08x}"}
    one.fields["vdevs"] = [_vdev(vdev, role) for role, vdev in pool.tops]
    one.fields["unread"] = _unread(pool.unread)
    return one.done()


def _disk(node: NodeFacts, disk: DiskFacts) -> dict[str, Any]:
    one = _Object()
    one.fields |= {"node": node.node, "names": list(disk.names)}
    one.add("wwid", disk.wwid)
    one.add("serial", disk.serial)
    one.fields |= {"vendor": disk.vendor or None, "model": disk.model or None, "firmware": disk.firmware or None}
    one.add("size_bytes", disk.size_bytes, str)
    one.add("health", disk.health, lambda health: {"passed": health.passed, "text": health.text})
    one.add("bay", disk.bay, lambda bay: {"enclosure": bay.enclosure_id, "slot": bay.slot})
    return one.done()


def _situation(one: Situation, found: Triage) -> dict[str, Any]:
    return {
        "slug": one.slug,
        "severity": one.severity,
        "node": one.node,
        "subject": dict(one.subject),
        "title": one.title,
        "meaning": one.meaning,
        "sure": one.sure,
        "no_replacement": one.gate,
        "cause": one.cause or None,
        "advice": [cure.as_dict() for cure in one.cures],
        "runbooks": list(manuals(one)),
        "evidence": [{"source": line.source, "text": line.line} for line in one.evidence],
        "lines": [{"file": mark.name, "line": mark.line} for mark in found.marks(one)],
    }


def _unexplained(one: Situation) -> dict[str, Any]:
    return {"text": one.subject.get("text", one.title), "where": one.subject.get("where", one.node)}
