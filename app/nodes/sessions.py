"""Which stay of which machine uses a key, and how two machines with one key are found out.

An agent makes a random nonce that a boot, a copy of the disk or a restored backup loses. So a nonce changes now and then and
never comes back: one that does belongs to a second machine. A copy whose request counter lags behind never gets so far as to
be seen, but it sends its own nonce with good signatures, again and again.
"""

import logging
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from app.ledger import services as ledger
from app.nodes.keys import Caller, Repeat
from app.nodes.models import NodeKey
from app.realtime.publish import ring

NONCE = re.compile(r"[A-Za-z0-9_-]{16,64}")
JOURNAL = re.compile(r"([0-9a-f]{1,40}):([0-9]{1,18})")
HELD_MAX = 1000
BEFORE_MAX = 16  # stays that are remembered
ODD_MAX = 5  # a request that was overtaken by another of the same agent is late once or twice, and its next one is not
SETTLE = "Nothing is ordered until a person revokes this key and enrols the right machine again, on the page of the node's agent."
log = logging.getLogger(__name__)


def session_fault(caller: Caller, nonce: object, now: datetime) -> str:
    """Why what this caller says is not accepted: two machines have its key. "" is accepted."""
    return caller.doubled if caller.doubled or nonce in ("", caller.nonce) else report_received(caller.key, nonce, now)


def report_received(key: int, nonce: object, now: datetime) -> str:
    """A report came from this stay. "" when it may be accepted, else why nothing with this key is."""
    if not is_nonce(nonce):
        return ""  # an agent that does not say it yet; nothing that changes anything is sealed for it
    with transaction.atomic():
        known = _live(key)
        if known is not None and known.doubled_at is None and known.nonce != nonce:
            _changed(known, str(nonce), now)
        return known.doubled_why if known else ""


def repeat_received(key: int, nonce: object, now: datetime) -> str:
    """The same, of a report whose signature is good and whose counter was used before: a repeat, or a second machine."""
    if not is_nonce(nonce):
        return ""
    with transaction.atomic():
        known = _live(key)
        if known is None:
            return ""
        if known.doubled_at is None and nonce != known.nonce and nonce not in known.nonces_before:
            known.odd_count = known.odd_count + 1 if known.odd_nonce == nonce else 1
            known.odd_nonce = str(nonce)
            known.save(update_fields=["odd_nonce", "odd_count"])
            if known.odd_count >= ODD_MAX:
                _double(known, "a copy of it keeps sending requests that the first one is past", now)
        return known.doubled_why


def answer_to_repeat(repeat: Repeat, nonce: object, now: datetime) -> tuple[int, dict[str, Any]]:
    """Status and words for a request whose signature is good and whose counter is not taken."""
    why = repeat.caller.doubled or ("" if repeat.ahead else repeat_received(repeat.caller.key, nonce, now))
    return (409, {"reason": why, "duplicate": True}) if why else (401, repeat.answer)


def journal_of(fields: Mapping[str, object]) -> str:
    """How far the agent says its journal is; "" when it says nothing that can be read."""
    text = fields.get("journal", "")
    return text if isinstance(text, str) and JOURNAL.fullmatch(text) else ""


def held_of(fields: Mapping[str, object]) -> str:
    """Why the agent says it holds itself back."""
    text = fields.get("held", "")
    return text.replace("\0", "")[:HELD_MAX] if isinstance(text, str) else ""


NOTE = """
UPDATE nodes_nodekey SET held = %(held)s, journal = CASE
    WHEN %(journal)s = '' THEN journal
    WHEN split_part(journal, ':', 1) <> split_part(%(journal)s, ':', 1) THEN %(journal)s
    WHEN split_part(journal, ':', 2)::bigint < split_part(%(journal)s, ':', 2)::bigint THEN %(journal)s
    ELSE journal END
WHERE id = %(key)s
"""


def note(key: int, fields: Mapping[str, object]) -> None:
    """Keep what an agent reports on itself. The farthest journal stays: the agent of one that was put back gets that answer."""
    with connection.cursor() as cursor:
        cursor.execute(NOTE, {"key": key, "journal": journal_of(fields), "held": held_of(fields)})


def is_nonce(nonce: object) -> bool:
    return isinstance(nonce, str) and NONCE.fullmatch(nonce) is not None


def _live(key: int) -> NodeKey | None:
    return NodeKey.objects.select_for_update(of=["self"]).select_related("node").filter(pk=key, revoked_at__isnull=True).first()


def _changed(key: NodeKey, nonce: str, now: datetime) -> None:
    if nonce in key.nonces_before:
        return _double(key, "two machines use it in turn", now)
    key.nonces_before = [key.nonce, *key.nonces_before][:BEFORE_MAX] if key.nonce else key.nonces_before
    key.nonce, key.nonce_at, key.odd_nonce, key.odd_count = nonce, now, "", 0
    key.save(update_fields=["nonce", "nonce_at", "nonces_before", "odd_nonce", "odd_count"])
    return None


def _double(key: NodeKey, how: str, now: datetime) -> None:
    """Say so once, to everybody. Both machines hear it with the answer to whatever they send next."""
    name = key.node.name
    key.doubled_at = now
    key.doubled_why = f"Two machines use the key {key.key_id} of {name}: {how}. {SETTLE}"
    key.save(update_fields=["doubled_at", "doubled_why"])
    log.error("%s", key.doubled_why)
    for topic in ("fleet", f"node:{name}", f"orders:{name}"):
        ring(topic)
    ledger.record("node.duplicate", {"key_id": key.key_id, "how": how}, "portal", node=name)
