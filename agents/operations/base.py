"""What every operation shares: the answers it gives and how its parameters are checked.

An operation is a module with `NAME`, `EFFECT`, `DESTRUCTIVE`, `PARAMS`, `check(params)` and `argv(params)`. A pure one
has `run(host, params)`. One that writes has `preconditions`, `guards`, `describe`, `probe`, `aftermath` and
`TIMEOUT_SECONDS`, and names the pool it touches in `pool_guid`, because that is what is locked and fenced. One that writes an
attribute file instead of running a command has `perform(host, params)`; its argv, `write PATH VALUE` or the like, is to be read and
compared only. One whose command does not exit 0 when all is well names its good ends in `EXITS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from agents.collectors.base import Capture
from agents.domain.disk_identity import NAMED_BY
from agents.domain.wwid import by_id_path, normalise, scheme
from agents.host.host import Host, Ran

GUID = re.compile(r"[1-9][0-9]{0,19}")
GUID_MAX = 2**64 - 1
POOL = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,254}")
UNKNOWN = "unknown: "
NONE = "none"
Fact = TypeVar("Fact")


class Unread(Exception):
    """A fact could not be read; the message says why."""


@dataclass(frozen=True)
class Probe:
    """Whether an operation whose outcome is not known took place, and what that is concluded from."""

    result: str  # "did", "did_not" or "cannot_tell"
    evidence: tuple[Capture, ...]
    reason: str


@dataclass(frozen=True)
class Answer:
    """What a pure operation found. `result` holds strings, lists and objects of strings; no numbers."""

    result: dict[str, Any]
    captures: tuple[Capture, ...] = ()
    outcome: str = "succeeded"
    reason: str = ""


def needs_approval(effect: str, destructive: bool) -> bool:
    """Whether an order waits for another person's approval: what destroys, and whatever is not known to be safe to do again.

    The one place for this rule: the node asks for the proofs by it, the portal seals by it, and runbooks are checked against it.
    """
    return destructive or effect not in ("pure", "idempotent")


def act(operation: Any, host: Host, params: Mapping[str, str]) -> Ran:
    """Carry it out: by its own hand where it has one, else by running its argv."""
    by_hand = getattr(operation, "perform", None)
    return by_hand(host, params) if by_hand else host.run(operation.argv(params), operation.TIMEOUT_SECONDS)


def good_ends(operation: Any) -> tuple[int, ...]:
    """The exit codes with which its command says that all went well."""
    return getattr(operation, "EXITS", (0,))


def went_well(operation: Any, ran: Ran) -> bool:
    return ran.exit_code in good_ends(operation)


def write_attribute(host: Host, argv: Sequence[str], agrees: Callable[[str, str], bool] = str.__eq__) -> Ran:
    """Carry out `write PATH VALUE` and read it back: an attribute may accept a value without an error and keep another."""
    _, path, value = argv
    begun = host.now()
    try:
        host.write(path, f"{value}\n".encode("ascii"))
        now = host.read(path).decode("ascii", "replace").strip()
    except OSError as error:
        message = f"{path}: {error.strerror or type(error).__name__}\n"
        return Ran(tuple(argv), 1, b"", message.encode(), host.now() - begun)
    if not agrees(now, value):
        return Ran(tuple(argv), 1, f"{now}\n".encode(), f"{path}: still reads {now}\n".encode(), host.now() - begun)
    return Ran(tuple(argv), 0, f"{now}\n".encode(), b"", host.now() - begun)


def check_names(params: Mapping[str, str], names: Sequence[str]) -> str:
    """Exactly these names, each with some text: an empty target is never a target."""
    if sorted(params) != sorted(names):
        return f"The parameters are {', '.join(sorted(params)) or 'none'}; they must be {', '.join(names)}."
    for name in names:
        if not isinstance(params[name], str) or not params[name]:
            return f"The parameter {name} is empty."
    return ""


def check_guid(name: str, value: str) -> str:
    if GUID.fullmatch(value) is None or int(value) > GUID_MAX:
        return f"{name} is {value!r}, which is no guid."
    return ""


def check_pool(value: str) -> str:
    if POOL.fullmatch(value) is None:
        return f"{value!r} is no pool name."
    return ""


def check_wwid(value: str, schemes: Sequence[str] = tuple(NAMED_BY)) -> str:
    """The identity of a disk, in its canonical form and of a kind for which there is one link that names it and no other."""
    named = scheme(value) in schemes and normalise(value) == value and by_id_path(value) is not None
    return "" if named else f"{value!r} is no WWID a disk can be named by ({', '.join(f'{name}:…' for name in schemes)})."


def unknowns(pre: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """A verdict for every reason why facts could not be read, naming the facts. An empty one says nothing, so it is not known either."""
    by_reason: dict[str, list[str]] = {}
    for name, value in sorted(pre.items()):
        if value.startswith(UNKNOWN) or not value.strip():
            by_reason.setdefault(value[len(UNKNOWN) :] or "it is empty", []).append(name)
    return tuple(("unknown", f"{', '.join(names)}: not known, because {reason}.") for reason, names in by_reason.items())


def known(question: Callable[[], str]) -> str:
    """The answer, or "unknown: " and why there is none."""
    try:
        return question()
    except Unread as unread:
        return f"{UNKNOWN}{unread}"


def once(question: Callable[[], Fact]) -> Callable[[], Fact]:
    """Asked now and once, however many facts rest on the answer: a sick disk makes every question slow, and a plan is waited for 90 s."""
    try:
        answer = question()
    except Unread as unread:
        why = str(unread)

        def again() -> Fact:
            raise Unread(why)

        return again
    return lambda: answer


def concluded(question: Callable[[], tuple[str, str]]) -> tuple[str, str]:
    """The result of a probe and its reason; "cannot_tell" where a fact that it rests on cannot be read."""
    try:
        return question()
    except Unread as unread:
        return "cannot_tell", f"Whether it took place is not known: {unread}."
