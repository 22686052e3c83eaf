"""What a report must look like. Everything is bounded, and whatever is wrong is said by name.

A report names its set of captures by digest. With it comes nothing more (it is as before), what changed, or all of it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.collectors.base import TEXT_BYTES_MAX
from agents.portal.wire import canonical, sha256_hex
from agents.reporting.capture_set import place, set_digest

VERSION = "2"
CAPTURES_MAX = 16384  # ten per path of 400 disks with two paths each, with room
SOURCES_MAX = 200
SOURCE = re.compile(r"[a-z][a-z0-9_]{0,39}")
_NAME = "[A-Za-z0-9._:-][A-Za-z0-9._: -]{0,254}"  # of a disk, a shelf, or a pool, which may hold spaces (zfs_namecheck.c)
KEY = re.compile(rf"({_NAME})?")
DIGEST = re.compile(r"[0-9a-f]{64}")
SECONDS = re.compile(r"[0-9]{1,8}(\.[0-9]{1,3})?")
PLACE = re.compile(rf"{SOURCE.pattern}(/{_NAME})?")
WORD = re.compile(r"[A-Za-z0-9._+-]{0,40}")  # version, mode, boot id
BODY_FIELDS = {"exit_code", "outcome", "reason", "stderr", "text"}
OUTCOMES = ("data", "nothing", "failed")
MODES = ("observe", "operate")


class BadReport(ValueError):
    """The report cannot be kept."""


@dataclass(frozen=True)
class Payload:
    """A report that has been checked. One that says only its set says nothing of what is in it."""

    set: str  # digest
    ages: Mapping[str, float]  # source -> how many seconds before the report it was asked
    boot_id: str = ""
    version: str = ""
    mode: str = ""
    captures: Mapping[str, str] | None = None  # "zdb_label/sda1" -> digest, of all
    changed: Mapping[str, str] | None = None  # the same, of what differs
    gone: frozenset[str] = frozenset()
    bodies: Mapping[str, bytes] = field(default_factory=dict)  # digest -> canonical bytes
    is_late: bool = False  # it is of a time when the portal was away

    @property
    def has_only_its_set(self) -> bool:
        return self.captures is None and self.changed is None

    def applied_to(self, before: Mapping[str, str]) -> dict[str, str] | None:
        """The set this report is about, given the one that stood before; None when it does not come out as the report names it."""
        if self.captures is not None:
            return dict(self.captures)
        now = {where: digest for where, digest in before.items() if where not in self.gone} | dict(self.changed or {})
        as_named = len(now) <= CAPTURES_MAX and set_digest(self.boot_id, self.version, self.mode, now) == self.set
        return now if as_named else None


def check(node_name: str, payload: object) -> Payload:
    """The report as we keep it. Raises BadReport with the first thing that is wrong."""
    answer = _object(payload, "The report")
    _need(
        answer.get("v") == VERSION,
        f"The report has version {str(answer.get('v'))[:40]!r}. This portal reads version {VERSION!r}; update the agent or the portal.",
    )
    _need(
        answer.get("node") == node_name,
        f"The report is about node {str(answer.get('node'))[:63]!r} and was signed with the key of {node_name}.",
    )
    name, ages = _match(DIGEST, answer.get("set"), "set"), read_ages(answer.get("ages"))
    return _with_content(name, ages, answer) if "captures" in answer or "changed" in answer else Payload(name, ages)


def _with_content(name: str, ages: Mapping[str, float], fields: dict[str, Any]) -> Payload:
    _need(fields.get("mode") in MODES, f"The mode {str(fields.get('mode'))[:40]!r} is neither 'observe' nor 'operate'.")
    boot_id, version = _match(WORD, fields.get("boot_id"), "boot_id"), _match(WORD, fields.get("version"), "version")
    about = (boot_id, version, str(fields["mode"]))
    full = "captures" in fields
    listed = read_captures(fields["captures"] if full else fields["changed"])
    bodies = read_bodies(fields.get("bodies"), listed.values())
    if not full:
        return Payload(name, ages, *about, changed=listed, gone=_places(fields.get("gone")), bodies=bodies)
    _need(
        set_digest(*about, listed) == name,
        "The captures do not make the set that the report names. Update the agent or the portal.",
    )
    return Payload(name, ages, *about, captures=listed, bodies=bodies, is_late=fields.get("late") == "1")


def read_ages(value: object) -> dict[str, float]:
    """Source -> seconds, as a report carries them."""
    found = _object(value, "ages")
    _need(len(found) <= SOURCES_MAX, f"ages has {len(found)} entries; {SOURCES_MAX} are the most a report may have.")
    return {
        _match(SOURCE, source, "a source in ages"): float(_match(SECONDS, age, f"the age of {source}")) for source, age in found.items()
    }


def read_seconds(listed: object) -> dict[str, float]:
    """Source -> how long its slowest answer took, from the list a receipt carries, which has been read."""
    found: dict[str, float] = {}
    for entry in listed if isinstance(listed, list) else ():
        seconds = entry.get("seconds", "0")
        found[entry["source"]] = max(found.get(entry["source"], 0.0), float(_match(SECONDS, seconds, f"seconds of {entry['source']}")))
    return found


def _places(value: object) -> frozenset[str]:
    if not isinstance(value, list) or len(value) > CAPTURES_MAX:
        raise BadReport(f"gone is not a list of at most {CAPTURES_MAX} captures.")
    return frozenset(_match(PLACE, where, "a capture in gone") for where in value)


def read_captures(value: object) -> dict[str, str]:
    """ "source/key" (or "source") -> digest, from the list a report or a receipt carries."""
    if not isinstance(value, list):
        raise BadReport("captures is not a list.")
    _need(len(value) <= CAPTURES_MAX, f"captures has {len(value)} entries; {CAPTURES_MAX} are the most a report may have.")
    found: dict[str, str] = {}
    for item in value:
        entry = _object(item, "A capture")
        source, key = _match(SOURCE, entry.get("source"), "source"), _match(KEY, entry.get("key"), "key")
        where = place(source, key)
        _need(where not in found, f"The capture {where} is listed twice.")
        found[where] = _match(DIGEST, entry.get("digest"), "digest")
    return found


def read_bodies(value: object, digests: Iterable[str]) -> dict[str, bytes]:
    """Digest -> canonical bytes, each checked against its name."""
    listed = set(digests)
    found: dict[str, bytes] = {}
    for digest, body in _object(value, "bodies").items():
        _need(digest in listed, f"The body {str(digest)[:64]} belongs to no capture of this report.")
        found[digest] = _body(digest, _object(body, f"The body {digest}"))
    return found


def _body(digest: str, body: dict[str, Any]) -> bytes:
    _need(set(body) == BODY_FIELDS, f"The body {digest} has not exactly the fields {', '.join(sorted(BODY_FIELDS))}.")
    _need(body["outcome"] in OUTCOMES, f"The body {digest} has the outcome {body['outcome']!r}.")
    try:
        data = canonical(body)
    except (TypeError, UnicodeEncodeError) as error:
        raise BadReport(f"The body {digest} is not text throughout: {error}.") from None
    _need(len(data) <= 2 * TEXT_BYTES_MAX, f"The body {digest} has {len(data)} bytes; {2 * TEXT_BYTES_MAX} are the most that are kept.")
    _need(sha256_hex(data) == digest, f"The body {digest} has another digest than the one in its name. It was changed on the way.")
    return data


def _object(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadReport(f"{what} is not a JSON object.")
    return value


def _match(pattern: re.Pattern[str], value: object, field: str) -> str:
    if not isinstance(value, str) or pattern.fullmatch(value) is None:
        raise BadReport(f"{field} is {str(value)[:80]!r}, which does not match {pattern.pattern}.")
    return value


def _need(fact: bool, otherwise: str) -> None:
    if not fact:
        raise BadReport(otherwise)
