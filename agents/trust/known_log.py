"""The portal's ledger as this agent pinned it: its witness, and the checkpoints it has accepted since it started.

Proofs count against any of those. While an order is on its way through the gates a newer checkpoint may come in, which by its
consistency proof says the same of every event before it.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict
from typing import Any, Optional

from agents.domain.times import iso
from agents.host.host import Host
from agents.trust.identity import Identity
from agents.trust.log_witness import ALARM, FileStore, Witness
from agents.trust.transparency_log import Checkpoint

FILE = "witness.json"
BELIEVED_MAX = 64
log = logging.getLogger("slotlight.agent")


class Log:
    """Safe to share between threads. A person may end an alarm while the agent runs, so the witness is read anew when its file changed."""

    def __init__(self, host: Host, folder: str, identity: Identity) -> None:
        self._host, self._path, self._identity = host, os.path.join(folder, FILE), identity
        self._lock = threading.Lock()
        self._believed: OrderedDict[str, Checkpoint] = OrderedDict()
        self._witness, self._stamp = self._open(), _stamp(self._path)
        self._believe()

    @property
    def size(self) -> int:
        """The size of the newest checkpoint held, for the next poll; 0 when there is none."""
        return self._fresh().size

    @property
    def why_observe_only(self) -> str:
        return self._fresh().why_observe_only

    @property
    def as_text(self) -> str:
        """What is held, for a person."""
        held = self._fresh().held
        return self.why_observe_only or (f"holds the checkpoint over {held.size} events" if held.size else "holds no checkpoint yet")

    def follow(self, identity: Identity) -> None:
        """The portal's keys are others from now on; what is held stays."""
        with self._lock:
            self._identity = identity
            self._witness = self._open()

    def hear(self, reply: object) -> None:
        """Take the checkpoint in a portal's answer: {"checkpoint": note, "consistency": [hex, ...]}."""
        if not isinstance(reply, dict) or not self._identity.can_check:
            return
        witness = self._fresh()
        with self._lock:
            before = witness.why_observe_only
            try:
                verdict = witness.accept(reply.get("checkpoint"), reply.get("consistency", []))
            except OSError as error:
                log.error("The ledger's checkpoint could not be kept: %s. Proofs against it do not count.", error)
                return
            finally:
                self._stamp = _stamp(self._path)
            self._believe()
        if verdict.outcome == ALARM and not before:
            log.critical("%s", verdict.reason)
        elif verdict.outcome != ALARM and verdict.reason:
            log.warning("The ledger's checkpoint was not taken: %s", verdict.reason)

    def believed(self, note: str) -> Optional[Checkpoint]:
        """The checkpoint a note states, if the witness has accepted it. The first one ever seen is taken here."""
        if not self.size and not self.why_observe_only:
            self.hear({"checkpoint": note})
        with self._lock:
            return self._believed.get(_stated(note))

    def accept(self, who: str, now: float) -> str:
        """A person ends the alarm; what is so afterwards. Raises OSError."""
        return self._fresh().clear(who, iso(now))

    def _believe(self) -> None:
        checkpoint = self._witness.checkpoint()
        if checkpoint is not None:
            self._believed[_stated(self._witness.held.note)] = checkpoint
        elif self._witness.why_observe_only:
            self._believed.clear()
        while len(self._believed) > BELIEVED_MAX:
            self._believed.popitem(last=False)

    def _fresh(self) -> Witness:
        with self._lock:
            stamp = _stamp(self._path)
            if stamp != self._stamp:
                self._witness, self._stamp = self._open(), stamp
                self._believe()
            return self._witness

    def _open(self) -> Witness:
        return Witness(self._host, FileStore(self._path), self._identity.log_key, self._identity.portal_key)


def _stated(note: str) -> str:
    """The part of a note that is signed."""
    return note.partition("\n\n")[0]


def _stamp(path: str) -> Any:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
