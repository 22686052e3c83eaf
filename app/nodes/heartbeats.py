"""Reports that say "as before", many at a time: checked on the event loop, written together, answered after COMMIT.

Each is signed like every request and raises its key's counter. The database decides whether it does, in the same statement
that moves the node's times: a heartbeat that was acknowledged is one that cannot be sent again. What is not simply as
before goes the way of all other reports.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection
from django.utils import timezone

from agents.domain.times import seconds_of
from agents.portal.wire import BadSignature, Signed, canonical, check_fresh, key_id_of, sign_answer, verify_request
from app.core import access_log
from app.core.access_log import App, Receive, Scope, Send
from app.core.threads import Threads
from app.fleet.ingest import intake
from app.fleet.ingest.payload import BadReport, check
from app.nodes import sessions
from app.nodes.door import TROUBLE, BadBody, read_json, trouble, unpacked
from app.nodes.keys import AHEAD_MAX, Key, Repeat, look_up, looked_up_since, milliseconds, not_taken, remembered
from app.nodes.kinds import KEY
from app.nodes.models import NodeKey
from app.runs import tasks
from app.runs.models import OpenLoop, Run

BYTES_MAX = 8192  # a hundred sources with their ages
FIELDS, MORE = {"v", "node", "set", "taken_at", "ages"}, {"nonce", "journal", "held"}
GATHER_SECONDS = 0.003  # how long the first one waits for company
TOGETHER_MAX = 200
JSON = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
WRITER, THREADS = Threads(1, "heartbeats"), Threads(2, "reports")
NO_SET = "-"  # the digest of no set, not even that of a node that has never reported


@dataclass(frozen=True)
class Beat:
    """A verified heartbeat, not yet written."""

    key: Key
    signed: Signed
    set: str
    at: datetime
    asked: str  # JSON
    nonce: str = ""
    journal: str = ""
    held: str = ""


class Kept(NamedTuple):
    """What became of a beat, how far the journal of its agent had come before it, and the newest event about its key."""

    outcome: str
    journal: str = ""
    newest: int | None = None


class Together:
    """Beats of one loop, written in one statement for all that came while the last was under way."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[Beat, asyncio.Future[Kept]]] = {}
        self._writer: asyncio.Task[None] | None = None

    async def write(self, beat: Beat) -> Kept:
        """ "kept", "differs" (the node stands by another set, is being changed just now, or its key is to be looked up again), "stay" (it
        comes from another stay, or two machines have its key) or "refused". Raises django.db.Error."""
        while (before := self._waiting.get(beat.key.pk)) is not None:  # one of each key at a time
            await asyncio.wait([before[1]])
        future: asyncio.Future[Kept] = asyncio.get_running_loop().create_future()
        self._waiting[beat.key.pk] = (beat, future)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        return await future

    async def _write(self) -> None:
        await asyncio.sleep(GATHER_SECONDS)
        while self._waiting:
            taken = dict(list(self._waiting.items())[:TOGETHER_MAX])
            for pk in taken:
                del self._waiting[pk]
            [outcome] = await asyncio.gather(WRITER.run(keep, [beat for beat, _ in taken.values()], timezone.now()), return_exceptions=True)
            for pk, (_, future) in taken.items():
                if future.cancelled():
                    continue
                if isinstance(outcome, BaseException):
                    future.set_exception(outcome)
                else:
                    future.set_result(outcome.get(pk, Kept("refused")))


_together = Together()


async def reports(scope: Scope, receive: Receive, send: Send, otherwise: App) -> None:
    """`POST /agent/v1/reports`."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    body = await _short_body(headers, receive)
    heartbeat = _heartbeat(body, headers) if body is not None else None
    if body is None or heartbeat is None:
        return await otherwise(scope, receive if body is None else _again(body, receive), send)
    try:
        status, answer, beat = await _answer(scope, headers, body, heartbeat)
    except BadSignature as error:
        return await _say(send, 401, canonical({"reason": str(error)}), {})
    except TROUBLE as own:
        return await _say(send, 503, canonical({"reason": trouble(own)}), {})
    scope[access_log.WHO] = beat.key.node
    data = canonical(answer)
    await _say(send, status, data, sign_answer(beat.key.secret, status, data, beat.signed.nonce))


async def _answer(scope: Scope, headers: dict[str, str], body: bytes, answer: dict[str, Any]) -> tuple[int, dict[str, Any], Beat]:
    """Raises BadSignature and TROUBLE."""
    now = timezone.now()
    key = await _key(headers)
    signed = verify_request(key.secret, "POST", scope["path"], scope["query_string"].decode("latin-1"), headers, body)
    check_fresh(signed, now.timestamp(), 0)
    try:
        beat = _beat(key, signed, answer, now)
        reason = ""
    except (BadReport, ValueError, OverflowError) as bad:
        beat, reason = Beat(key, signed, NO_SET, now, "{}"), str(bad)  # its counter is used up all the same
    outcome, journal, newest = await _together.write(beat)
    about = {"journal": journal} if journal else {}
    if outcome == "refused":
        return *await THREADS.run(_refused, key, signed, answer.get("nonce"), now), beat
    if newest != key.newest:
        await THREADS.run(looked_up_since, key, signed.key_id, newest)
    if reason:
        return 422, {"reason": reason}, beat
    if outcome == "stay" and (why := await THREADS.run(_other_stay, key.pk, answer.get("nonce", ""), now)):
        return 409, {"reason": why, "duplicate": True}, beat
    if outcome != "kept":
        return 200, await THREADS.run(_receive, beat, answer) | about, beat
    return 200, {"missing": [], "at": now.isoformat()} | about, beat


def _beat(key: Key, signed: Signed, heartbeat: dict[str, Any], now: datetime) -> Beat:
    report = check(key.node, heartbeat)
    at = now - timedelta(seconds=max(0.0, signed.created - seconds_of(str(heartbeat.get("taken_at")))))
    nonce = heartbeat.get("nonce", "")
    if nonce and not sessions.is_nonce(nonce):
        raise BadReport("The nonce is none. Update the agent.")
    return Beat(
        key,
        signed,
        report.set,
        at,
        json.dumps(intake.asked_at(report.ages, at)),
        nonce,
        sessions.journal_of(heartbeat),
        sessions.held_of(heartbeat),
    )


def _refused(key: Key, signed: Signed, nonce: object, now: datetime) -> tuple[int, dict[str, Any]]:
    """Raises BadSignature where the key is none any more."""
    why = not_taken(key, signed, now)
    if not isinstance(why, Repeat):
        raise why
    return sessions.answer_to_repeat(why, nonce, now)


def _other_stay(key: int, nonce: str, now: datetime) -> str:
    """What `sessions` says of it; a key that two machines have is refused whatever it says."""
    return sessions.report_received(key, nonce, now) or NodeKey.objects.values_list("doubled_why", flat=True).get(pk=key)


def _receive(beat: Beat, heartbeat: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"missing": intake.receive(beat.key.node, heartbeat, beat.at), "at": beat.at.isoformat()}
    except intake.NeedFull:
        return {"need": "full", "at": beat.at.isoformat()}


KEEP = f"""
WITH came AS (
    SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::timestamptz[], %s::jsonb[], %s::text[], %s::text[], %s::text[], %s::bigint[])
        AS t(key, counter, set, at, asked, nonce, journal, held, newest)
), mine AS (
    SELECT k.id, k.node_id, k.journal FROM nodes_nodekey k JOIN came c ON c.key = k.id JOIN fleet_node n ON n.id = k.node_id
    WHERE k.counter < c.counter AND c.counter <= greatest(k.counter, %s) + {AHEAD_MAX} AND k.revoked_at IS NULL AND n.state <> 'retired'
    ORDER BY k.id FOR NO KEY UPDATE OF k
), raised AS (
    UPDATE nodes_nodekey k SET counter = c.counter, used_at = %s, held = c.held, journal = CASE
        WHEN c.journal = '' THEN k.journal
        WHEN split_part(k.journal, ':', 1) <> split_part(c.journal, ':', 1) THEN c.journal
        WHEN split_part(k.journal, ':', 2)::bigint < split_part(c.journal, ':', 2)::bigint THEN c.journal
        ELSE k.journal END
    FROM came c, mine m
    WHERE m.id = k.id AND c.key = k.id AND k.counter < c.counter AND k.revoked_at IS NULL
    RETURNING k.id, k.node_id, k.doubled_at IS NULL AND c.nonce IN ('', k.nonce) AS same_stay, m.journal,
        (SELECT max(e.id) FROM ledger_event e WHERE e.identity = '{KEY.table}:' || k.id) AS newest, c.newest AS accepted_at
), free AS (
    SELECT n.id, r.id AS key FROM fleet_node n JOIN raised r ON r.node_id = n.id JOIN came c ON c.key = r.id
    WHERE n.report_digest = c.set AND r.same_stay AND r.newest IS NOT DISTINCT FROM r.accepted_at FOR NO KEY UPDATE OF n SKIP LOCKED
), kept AS (
    UPDATE fleet_node n SET last_report_at = greatest(n.last_report_at, c.at), asked = c.asked FROM free f, came c
    WHERE n.id = f.id AND c.key = f.key AND n.report_digest = c.set RETURNING f.key
)
SELECT r.id, CASE WHEN NOT r.same_stay THEN 'stay' WHEN EXISTS (SELECT FROM kept WHERE kept.key = r.id) THEN 'kept' ELSE 'differs' END,
    r.journal, r.newest
FROM raised r
"""


def keep(beats: list[Beat], now: datetime) -> dict[int, Kept]:
    """Key -> "kept", "differs" or "stay"; a key that is missing was refused. Committed when this returns."""
    columns = zip(
        *(
            (beat.key.pk, beat.signed.counter, beat.set, beat.at, beat.asked, beat.nonce, beat.journal, beat.held, beat.key.newest)
            for beat in beats
        ),
        strict=True,
    )
    with connection.cursor() as cursor:
        cursor.execute(KEEP, [*map(list, columns), milliseconds(now), now])
        outcomes = {pk: Kept(*kept) for pk, *kept in cursor.fetchall()}
    for node in _waited_for({beat.key.node for beat in beats if beat.key.pk in outcomes and outcomes[beat.key.pk].outcome == "kept"}):
        tasks.soon(tasks.facts_arrived, node)
    return outcomes


def _waited_for(nodes: set[str]) -> set[str]:
    left = OpenLoop.objects.filter(run__ended_at__isnull=False, node__in=nodes).values_list("node", flat=True)
    return set(Run.objects.filter(status="waiting", node__in=nodes).values_list("node", flat=True).union(left))


async def _key(headers: dict[str, str]) -> Key:
    key_id = key_id_of(headers)
    key = remembered(key_id)
    return key if key is not None else await THREADS.run(look_up, key_id)


def _heartbeat(body: bytes, headers: dict[str, str]) -> dict[str, Any] | None:
    """What it says, when it is one that says no more than "as before"."""
    try:
        parsed = read_json(unpacked(body, headers.get("content-encoding", ""), BYTES_MAX), "")
    except BadBody:
        return None  # much that packs well is no heartbeat either, and to read it here would hold up everybody
    return parsed if parsed.keys() - MORE == FIELDS else None


async def _short_body(headers: dict[str, str], receive: Receive) -> bytes | None:
    """The whole body when it is short enough for a heartbeat and says so."""
    length = headers.get("content-length", "")
    if re.fullmatch(r"[0-9]{1,4}", length) is None or int(length) > BYTES_MAX:
        return None
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    """A `receive` that begins with what was read already."""
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def again() -> Mapping[str, Any]:
        message = next(messages, None)
        return await receive() if message is None else message

    return again


async def _say(send: Send, status: int, body: bytes, headers: dict[str, str]) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [*JSON, *_encoded(headers)]})
    await send({"type": "http.response.body", "body": body})


def _encoded(headers: dict[str, str]) -> Iterator[tuple[bytes, bytes]]:
    return ((name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items())
