"""What a report must look like. Everything is bounded, and whatever is wrong is said by name."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from agents.collectors.base import TEXT_BYTES_MAX
from agents.wire import canonical, sha256_hex

CAPTURES_MAX = 4000  # two per disk of four 90-bay shelves, with room
SOURCE = re.compile(r"[a-z][a-z0-9_]{0,39}")
KEY = re.compile(r"[A-Za-z0-9._:-]{0,64}")
DIGEST = re.compile(r"[0-9a-f]{64}")
WORD = re.compile(r"[A-Za-z0-9._+-]{0,40}")  # version, mode, boot id
BODY_FIELDS = {"exit_code", "outcome", "reason", "stderr", "text"}
OUTCOMES = ("data", "nothing", "failed")
MODES = ("observe", "operate")


class BadReport(ValueError):
    """The report cannot be kept."""


@dataclass(frozen=True)
class Payload:
    """A report that has been checked."""

    boot_id: str
    version: str
    mode: str
    captures: dict[str, str]  # "zdb_label/sda1" -> digest
    bodies: dict[str, bytes]  # digest -> canonical bytes

    @property
    def digest(self) -> str:
        """Names everything that would make this report differ from the one before."""
        return sha256_hex(canonical([self.boot_id, self.version, self.mode, self.captures]))


def check(node_name: str, payload: object) -> Payload:
    """The report as we keep it. Raises BadReport with the first thing that is wrong."""
    said = _object(payload, "The report")
    _need(said.get("v") == "1", f"The report has version {said.get('v')!r}. This portal reads version '1'; update the agent or the portal.")
    _need(said.get("node") == node_name, f"The report is about node {said.get('node')!r} and was signed with the key of {node_name}.")
    _need(said.get("mode") in MODES, f"The mode {said.get('mode')!r} is neither 'observe' nor 'operate'.")
    captures = read_captures(said.get("captures"))
    return Payload(
        boot_id=_match(WORD, said.get("boot_id"), "boot_id"),
        version=_match(WORD, said.get("version"), "version"),
        mode=said["mode"],
        captures=captures,
        bodies=read_bodies(said.get("bodies"), captures.values()),
    )


def read_captures(said: object) -> dict[str, str]:
    """ "source/key" (or "source") -> digest, from the list a report or a receipt carries."""
    _need(isinstance(said, list), "captures is not a list.")
    _need(len(said) <= CAPTURES_MAX, f"captures has {len(said)} entries; {CAPTURES_MAX} are the most a report may have.")
    found: dict[str, str] = {}
    for item in said:
        entry = _object(item, "A capture")
        source, key = _match(SOURCE, entry.get("source"), "source"), _match(KEY, entry.get("key"), "key")
        where = f"{source}/{key}" if key else source
        _need(where not in found, f"The capture {where} is listed twice.")
        found[where] = _match(DIGEST, entry.get("digest"), "digest")
    return found


def read_bodies(said: object, digests: Iterable[str]) -> dict[str, bytes]:
    """Digest -> canonical bytes, each checked against its name."""
    listed = set(digests)
    found: dict[str, bytes] = {}
    for digest, body in _object(said, "bodies").items():
        _need(digest in listed, f"The body {str(digest)[:64]} belongs to no capture of this report.")
        found[digest] = _body(digest, _object(body, f"The body {digest}"))
    return found


def _body(digest: str, body: dict) -> bytes:
    _need(set(body) == BODY_FIELDS, f"The body {digest} has not exactly the fields {', '.join(sorted(BODY_FIELDS))}.")
    _need(body["outcome"] in OUTCOMES, f"The body {digest} has the outcome {body['outcome']!r}.")
    try:
        data = canonical(body)
    except (TypeError, UnicodeEncodeError) as error:
        raise BadReport(f"The body {digest} is not text throughout: {error}.") from None
    _need(len(data) <= 2 * TEXT_BYTES_MAX, f"The body {digest} has {len(data)} bytes; {2 * TEXT_BYTES_MAX} are the most that are kept.")
    _need(sha256_hex(data) == digest, f"The body {digest} has another digest than its name says. It was changed on the way.")
    return data


def _object(value: object, what: str) -> dict:
    _need(isinstance(value, dict), f"{what} is not a JSON object.")
    return value


def _match(pattern: re.Pattern, value: object, field: str) -> str:
    _need(
        isinstance(value, str) and pattern.fullmatch(value) is not None,
        f"{field} is {str(value)[:80]!r}, which does not match {pattern.pattern}.",
    )
    return value


def _need(fact: bool, otherwise: str) -> None:
    if not fact:
        raise BadReport(otherwise)
