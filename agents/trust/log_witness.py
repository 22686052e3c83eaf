"""The agent as a witness of the portal's ledger: it keeps the newest checkpoint it was shown and wants each later one to continue it.

A ledger that shrank, that was rewritten, or whose checkpoint is not signed raises an alarm. The alarm is kept with the two checkpoints
that contradict each other, the agent only observes while it stands, and nothing but a person at the node ends it (`clear`).
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol

from agents.host.host import Host
from agents.trust.transparency_log import BadNote, Checkpoint, NotChecked, read_note, read_path, verify_consistency, verify_note

ACCEPTED, UNKNOWN, ALARM = "accepted", "unknown", "alarm"
ACCEPT = "slotlight-agent witness --accept"  # in every alarm and in nothing else an agent says of itself: by it the portal knows one
CLEARED_KEPT = 20


class Store(Protocol):
    """Where the witness keeps its one text. It must outlive the agent and the machine's power."""

    def load(self) -> str:
        """What was saved last; "" when nothing ever was. Raises OSError."""

    def save(self, text: str) -> None:
        """Keep `text`, whole or not at all. Raises OSError."""


class FileStore:
    """A file, replaced whole and flushed."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)

    def load(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""

    def save(self, text: str) -> None:
        draft = self.path.with_name(self.path.name + ".new")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@dataclass(frozen=True)
class Held:
    """What is kept: the checkpoint accepted last, the alarm if one stands, and which alarms a person has ended."""

    note: str = ""
    size: int = 0
    root: str = ""
    alarm: str = ""
    against: str = ""  # the note that raised the alarm
    path: tuple[str, ...] = ()  # and the proof that came with it
    cleared: tuple[tuple[str, str, str], ...] = ()  # when, who, which alarm


@dataclass(frozen=True)
class Verdict:
    """What became of a checkpoint: accepted, unknown (it could not be checked and was not kept) or alarm."""

    outcome: str
    reason: str = ""


class Witness:
    """Watches one ledger. `log_key` and `portal_key` are the keys this agent pinned when it enrolled."""

    def __init__(self, host: Host, store: Store, log_key: str, portal_key: str = "") -> None:
        self.host, self.store, self.log_key, self.portal_key = host, store, log_key, portal_key
        self.held, self.unreadable = Held(), ""
        try:
            self.held = _read(store.load(), log_key)
        except (OSError, ValueError, TypeError, KeyError, BadNote) as error:
            # Forgetting the checkpoint would let a rewritten ledger pass as the first one ever seen.
            self.unreadable = f"What this agent knew of the ledger cannot be read: {error}"

    @property
    def size(self) -> int:
        """The size of the newest checkpoint held, for the next poll; 0 when there is none."""
        return self.held.size

    @property
    def why_observe_only(self) -> str:
        """Why nothing may be changed on this node on behalf of this ledger; "" when all is well."""
        return self.held.alarm or self.unreadable

    def holds(self, note: str) -> bool:
        """Whether `note` states exactly the checkpoint that is held: only proofs against that one count."""
        return bool(self.held.note) and not self.why_observe_only and _stated(note) == _stated(self.held.note)

    def checkpoint(self) -> Checkpoint | None:
        """The checkpoint held, whose signature was checked when it came."""
        return read_note(self.held.note, self.log_key) if self.held.note and not self.why_observe_only else None

    def accept(self, note: object, consistency: object) -> Verdict:
        """Take the next checkpoint. Total: whatever is handed over ends in a verdict. Raises OSError when it cannot be kept."""
        if self.why_observe_only:
            return Verdict(ALARM, self.why_observe_only)
        if not isinstance(note, str):
            return self._alarm("", consistency, "The portal sent no checkpoint where one belongs.")
        try:
            newer = verify_note(self.host, note, self.log_key, self.portal_key)
        except NotChecked as error:
            return Verdict(UNKNOWN, str(error))
        except BadNote as error:
            return self._alarm(note, consistency, str(error))
        if why := self._contradiction(newer, consistency):
            return self._alarm(note, consistency, why)
        if newer.size > self.held.size:
            self._keep(replace(self.held, note=note, size=newer.size, root=_text(newer.root)))
        return Verdict(ACCEPTED)

    def _contradiction(self, newer: Checkpoint, consistency: object) -> str:
        """Why `newer` does not continue what is held; "" when it does."""
        held, path = self.held, read_path(consistency)
        if not held.size:
            return ""
        if newer.size < held.size:
            return f"The ledger shrank: it had {held.size} events and is now signed over {newer.size}."
        if newer.size == held.size:
            same = _text(newer.root) == held.root
            return "" if same else f"The ledger was forked: two different checkpoints are signed over {newer.size} events."
        if path is not None and verify_consistency(held.size, base64.b64decode(held.root), newer.size, newer.root, path):
            return ""
        return f"The ledger was rewritten: the checkpoint over {newer.size} events does not continue the one over {held.size}."

    def _alarm(self, note: str, consistency: object, why: str) -> Verdict:
        alarm = f"{why} This node only observes until a person has looked at it and runs `{ACCEPT}`."
        path = tuple(str(item)[:64] for item in consistency[:64]) if isinstance(consistency, list) else ()
        self._keep(replace(self.held, alarm=alarm, against=note[:8192], path=path))
        return Verdict(ALARM, alarm)

    def clear(self, who: str, at: str) -> str:
        """A person ends the alarm. The checkpoint that raised it is accepted from now on when it is signed; else the next one is.

        Says what is held now, for that person to read. Raises OSError.
        """
        ended = self.why_observe_only
        if not ended:
            return "No alarm stands; nothing was changed."
        cleared = (*self.held.cleared, (at, who, ended))[-CLEARED_KEPT:]
        accepted = Held(cleared=cleared)
        try:
            newer = verify_note(self.host, self.held.against, self.log_key, self.portal_key)
            accepted = replace(accepted, note=self.held.against, size=newer.size, root=_text(newer.root))
        except BadNote:
            pass
        self.unreadable = ""
        self._keep(accepted)
        now = f"the checkpoint over {accepted.size} events is" if accepted.size else "the next checkpoint will be"
        return f"The alarm is ended. From now on {now} what later ones must continue."

    def _keep(self, held: Held) -> None:
        self.held = held  # first: an alarm stands in this process even if it cannot be written
        self.store.save(json.dumps(asdict(held), sort_keys=True))


def _read(text: str, log_key: str) -> Held:
    if not text:
        return Held()
    value = json.loads(text)
    if not isinstance(value, dict) or not all(isinstance(value.get(name), str) for name in ("note", "root", "alarm", "against")):
        raise ValueError("it is not what this agent writes.")
    cleared = tuple(_three(item) for item in value["cleared"])
    held = Held(value["note"], 0, "", value["alarm"], value["against"], tuple(map(str, value["path"])), cleared)
    if not held.note:
        return held
    note = read_note(held.note, log_key)
    if (note.size, _text(note.root)) != (value["size"], value["root"]):
        raise ValueError("it does not contain what its own checkpoint signs.")
    return replace(held, size=note.size, root=value["root"])


def _three(item: Sequence[str]) -> tuple[str, str, str]:
    at, who, alarm = item
    return str(at), str(who), str(alarm)


def _stated(note: str) -> str:
    """The part of a note that is signed; the signatures under it may differ from one signing to the next."""
    return note.partition("\n\n")[0]


def _text(root: bytes) -> str:
    return base64.b64encode(root).decode("ascii")
