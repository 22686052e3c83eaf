"""An archive becomes the captures of one host, with what it holds and lacks. Pure; it runs in a process with limits (`confined/`)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.collectors import COLLECTORS, node
from agents.collectors.base import Capture, Unparsed, left_asleep
from workflows.facts import source_names
from workflows.snapshot import forms, recorded, replay
from workflows.snapshot.unpack import Refused, body_of
from workflows.triage import NAMELESS, Triage, decoded, triage

NO_RIGHT = re.compile(r"[Pp]ermission denied|[Oo]peration not permitted|must be root|[Aa]re you root|only root")
# An agent reads every file that modprobe reads; of saved outputs it is not known which are left out, so what is set at boot is not taken.
NOT_OF_SAVED = frozenset(("parameters",))
HOST_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
LISTED_MAX = 200


@dataclass(frozen=True)
class Lack:
    """What the archive does not hold, and why."""

    what: str
    why: str


@dataclass(frozen=True)
class Snapshot:
    """One host at one moment."""

    form: str
    host: str  # "" where the archive does not name it
    hostid: str
    boot_id: str
    taken_at: int  # seconds since 1970 by the host's clock: nothing of it was read before; 0 where that is not known
    captures: tuple[Capture, ...]
    holds: tuple[str, ...]
    lacks: tuple[Lack, ...]
    others: int  # files that are not read here and were dropped
    recording: Mapping[str, bytes]  # what slotlight-collect wrote, kept so that later questions can be answered from it


def read(data: bytes) -> Snapshot:
    """Raises Refused."""
    taken = forms.take(body_of(data))
    return _collected(taken) if taken.form == forms.COLLECT else _saved(taken)


def safely(files: Sequence[tuple[str, bytes]]) -> Snapshot | str:
    """The snapshot, or why there is none: an error does not come out of a process of its own as what it is."""
    try:
        return read(files[0][1])
    except Refused as why:
        return str(why)


def _collected(taken: forms.Taken) -> Snapshot:
    try:
        recording = recorded.read(taken.parts)
    except recorded.NotAnArchive as why:
        raise Refused(f"{why} Nothing of it was kept. Collect it again.") from None
    captures = replay.captures(recording)
    about, info = recording.about, _info(captures)
    for name, by_itself in (("host", info.get("hostname")), ("hostid", info.get("hostid")), ("boot_id", info.get("boot_id"))):
        if by_itself and by_itself != about[name]:
            raise Refused(
                f"The manifest says the {name.replace('_', ' ')} is {about[name][:80]!r}, and what was read on the host says {by_itself[:80]!r}:"
                " these are two hosts, or the archive was changed. Nothing of it was kept. Collect it again on the host itself."
            )
    lacks = [] if recording.was_root else [Lack("what only root may read", "The script did not run as root.")]
    lacks += [Lack(prefix, f"{why[0].upper()}{why[1:]}.") for prefix, why in recording.unread]
    lacks += _lacks(captures)
    return Snapshot(
        taken.form, about["host"], about["hostid"], about["boot_id"], int(about["began"]), captures, _holds(captures), tuple(lacks), 0, taken.parts
    )  # fmt: skip


def _info(captures: Iterable[Capture]) -> dict[str, str]:
    text = next((one.text for one in captures if one.source == node.NAME and one.outcome == "data"), "")
    found = node.parse(text)
    return {} if isinstance(found, Unparsed) else {name: value for name, value in vars(found).items() if isinstance(value, str)}


def _saved(taken: forms.Taken) -> Snapshot:
    texts = [(name, decoded(content)) for name, content in forms.texts(taken)]
    found = triage(texts)
    names = [name for name in found.captures if name != NAMELESS and found.captures[name]]
    host = forms.host_of(taken)
    others = sorted({_short(name) for name in names} - {_short(host)} if host else {_short(name) for name in names})
    if len(others) > (0 if host else 1):
        listed = ", ".join(sorted({*others, *([host] if host else [])})[:4])
        raise Refused(f"These are the outputs of more than one host: {listed}. Nothing of it was kept. Send each host by itself.")
    merged = _merged(found)
    captures = tuple(one for one in merged.values() if one.source not in NOT_OF_SAVED)
    if not captures:
        raise Refused(
            f"Nothing in this file ({taken.form}) could be read: no file of it is an output of ZFS or of disks that is known here."
        )
    host, info = host or (others[0] if others else ""), _info(captures)
    lacks = _unread(found) + _not_there(captures)
    return Snapshot(
        taken.form, host or info.get("hostname", ""), info.get("hostid", ""), info.get("boot_id", ""), taken.unpacked.oldest, captures,
        _holds(captures), tuple(lacks[:LISTED_MAX]), taken.unpacked.others, {},
    )  # fmt: skip


def _merged(found: Triage) -> dict[str, Capture]:
    """What stands below a prompt with the host's name, and what has no prompt."""
    merged: dict[str, Capture] = {}
    for name in sorted(found.captures, key=lambda name: name != NAMELESS):
        merged |= found.captures[name]
    return merged


def _short(name: str) -> str:
    return name.partition(".")[0].lower()


def _holds(captures: Iterable[Capture]) -> tuple[str, ...]:
    counts: dict[str, int] = {}
    for one in captures:
        if one.outcome == "data":
            counts[one.source] = counts.get(one.source, 0) + 1
    return tuple(source_names.of(source) + (f" ({count})" if count > 1 else "") for source, count in counts.items())


def _lacks(captures: Iterable[Capture]) -> list[Lack]:
    """What failed, and what slept; that there is no such thing on the host is an answer."""
    found = []
    for one in captures:
        where = source_names.of(one.source) + (f" of {one.key}" if one.key else "")
        if one.outcome == "failed":
            right = " Run it as root." if NO_RIGHT.search(one.stderr + one.text[:400]) else ""
            found.append(Lack(where, f"{one.reason.rstrip('.')}.{right}"))
        elif left_asleep(one.outcome, one.reason) or one.reason.endswith("is not installed"):
            found.append(Lack(where, f"{one.reason.rstrip('.')}."))
    return found


def _unread(found: Triage) -> list[Lack]:
    return [Lack(read.name, read.reason or "It was not understood.") for read in found.reads if read.outcome == "not read" and read.source]


def _not_there(captures: Iterable[Capture]) -> list[Lack]:
    there = {one.source for one in captures}
    return [Lack(source_names.of(source), "No file of it was there.") for source in COLLECTORS if source not in there]


def plain(snapshot: Snapshot) -> dict[str, Any]:
    """For a page or a program."""
    return {
        "form": snapshot.form,
        "host": snapshot.host,
        "holds": list(snapshot.holds),
        "lacks": [{"what": one.what, "why": one.why} for one in snapshot.lacks],
        "others": snapshot.others,
    }
