"""Who an agent is: one-time tokens, keys, and the check that a request is its owner's and new."""

import base64
import binascii
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models.expressions import RawSQL
from django.utils import timezone

from agents.portal.wire import KEY_BYTES, BadSignature, Signed, check_fresh, fingerprint, key_id_of, sha256_hex, verify_request
from app.accounts import sealing, seals
from app.accounts.models import User
from app.core.database import UNHURRIED
from app.fleet.models import Node
from app.ledger import services as ledger
from app.nodes import vault
from app.nodes.kinds import ENROL, KEY
from app.nodes.models import EnrolToken, NodeKey
from app.realtime.publish import ring

TOKEN_SECONDS = 3600
# A request that was acknowledged has committed what it changed, and its counter with it. One that changed nothing says the same again,
# to whoever repeats it to a database that died in that second, and until the agent's next request.
# An agent counts from its clock's milliseconds, one for each request. What is farther ahead of both was not counted by it; taken at its word,
# it would shut out the agent whose key it is.
AHEAD_MAX = 600_000
ABOUT = ("nonce", "doubled_why", "journal", "held")
# The newest event about a key: it is another one as soon as anybody revoked the key, though an old row that is not revoked was put back.
NEWEST = f"(SELECT max(e.id) FROM ledger_event e WHERE e.identity = '{KEY.table}:' || nodes_nodekey.id)"
USE = (
    f"UPDATE nodes_nodekey SET counter = %s, used_at = %s FROM {UNHURRIED} WHERE id = %s AND counter < %s"
    f" AND %s <= greatest(counter, %s) + {AHEAD_MAX} AND revoked_at IS NULL"
    f" RETURNING {NEWEST}, {', '.join(ABOUT)}"
)
KEYS_REMEMBERED = 20_000
NOT_ENROLLED = "This key is not enrolled, or it was revoked. Enrol the node again with a new token."


class EnrolRefused(Exception):
    """The enrolment cannot be accepted."""


@dataclass(frozen=True)
class Caller:
    """An agent whose request was verified."""

    node: str
    secret: bytes
    signed: Signed
    key: int = 0  # of its row
    nonce: str = ""  # the stay the portal saw last
    doubled: str = ""  # why nothing it says is accepted
    journal: str = ""  # the farthest its journal was said to be
    held: str = ""  # why it does nothing but look, as it last said

    def elapsed_seconds(self, taken_at: float) -> float:
        """How long before sending this the agent did something; both times are by the node's clock, so skew cancels out."""
        return max(0.0, self.signed.created - taken_at)


class Repeat(BadSignature):
    """A good signature under a counter that is not taken: it was used before, or is too far `ahead`. `caller` is who signed it, then or now;
    `highest` is the highest counter that was taken, from which its agent can go on."""

    def __init__(self, reason: str, caller: Caller, highest: int, ahead: bool = False) -> None:
        super().__init__(reason)
        self.caller, self.highest, self.ahead = caller, highest, ahead

    @property
    def answer(self) -> dict[str, str]:
        return {"reason": str(self), "counter": str(self.highest)} | ({"ahead": "1"} if self.ahead else {})


def issue_token(name: str, by: str, user: User | None = None) -> str:
    """A new one-time token for the node `name`, which is added when there is none. The token is shown only here."""
    token, now = secrets.token_urlsafe(32), timezone.now()
    with transaction.atomic():
        node = Node.objects.filter(name=name).first() or Node(name=name)
        node.full_clean(validate_unique=False)
        node.save()
        hashed, until = sha256_hex(token.encode()), now + timedelta(seconds=TOKEN_SECONDS)
        made = EnrolToken.objects.create(node=node, token_hash=hashed, created_by=user, created_at=now, expires_at=until)
        ring("fleet")
        body = {"identity": ENROL.name(made.pk), "token_hash": hashed, "expires_at": until.isoformat()}
        ledger.record("token.issued", body, by, node=name)
        sealing.bind(made)
    return token


def enrol(fields: Mapping[str, object], now: datetime) -> NodeKey:
    """Give the node the key its agent made. The same token with the same key answers again; with another key never."""
    secret, name = _secret(fields.get("key")), str(fields.get("node"))
    with transaction.atomic():
        token = EnrolToken.objects.select_for_update(of=["self"]).filter(token_hash=sha256_hex(str(fields.get("token")).encode())).first()
        if token is None or token.node.name != name:
            raise EnrolRefused(f"This token is not one of node {name[:63]}. Make one with `./run manage add_node {name[:63]}`.")
        if why := seals.why_not(EnrolToken, pk=token.pk):
            raise EnrolRefused(why)
        known = NodeKey.objects.filter(node=token.node, key_id=fingerprint(secret), revoked_at__isnull=True).first()
        if known is not None:  # the first answer was lost on the way
            return known
        _use(token, now)
        return _admit(token.node, secret, fields, now)


def revoke(node: Node, by: str, now: datetime) -> list[str]:
    """Shut a node's agent out, and let no token that is still out let it in again; returns the ids of the keys."""
    with transaction.atomic():
        node = Node.objects.select_for_update().get(pk=node.pk)
        revoked = list(node.keys.filter(revoked_at__isnull=True).values_list("key_id", flat=True))
        _forget(node, revoked, now)
        withdrawn = list(node.tokens.filter(used_at__isnull=True, expires_at__gt=now))
        for token in withdrawn:
            _withdraw(token, now)
        Node.objects.filter(pk=node.pk).update(state=Node.State.WAITING)
        for topic in ("fleet", f"node:{node.name}"):
            ring(topic)
        ledger.record("key.revoked", {"keys": revoked, "tokens_withdrawn": len(withdrawn)}, by, node=node.name)
    return revoked


def _withdraw(token: EnrolToken, now: datetime) -> None:
    token.expires_at = now
    token.save(update_fields=["expires_at"])


def _secret(text: object) -> bytes:
    try:
        secret = base64.b64decode(str(text), validate=True)
    except (binascii.Error, ValueError):
        raise EnrolRefused("The key is not base64. Start the agent again; it makes a new one.") from None
    if len(secret) != KEY_BYTES:
        raise EnrolRefused(f"The key has {len(secret)} bytes and must have {KEY_BYTES}. Update the agent.")
    return secret


def _use(token: EnrolToken, now: datetime) -> None:
    if token.used_at is not None:
        raise EnrolRefused(
            f"The token was used at {token.used_at:%Y-%m-%d %H:%M:%S} UTC. If that was not you, revoke the node's key. Make a new token."
        )
    if token.expires_at <= now:
        raise EnrolRefused(f"The token expired at {token.expires_at:%Y-%m-%d %H:%M:%S} UTC. Make a new one.")
    token.used_at = now
    token.save(update_fields=["used_at"])


def _admit(node: Node, secret: bytes, fields: Mapping[str, object], now: datetime) -> NodeKey:
    """The node has one key: whoever enrols last, with a token a person made, is its agent."""
    if NodeKey.objects.filter(key_id=fingerprint(secret)).exists():
        raise EnrolRefused("This key was used before. Remove the agent's key file and enrol again.")
    revoked = [key.key_id for key in node.keys.filter(revoked_at__isnull=True)]
    _forget(node, revoked, now)
    hostname, version = str(fields.get("hostname", ""))[:255], str(fields.get("version", ""))[:40]
    key_id = fingerprint(secret)
    key = NodeKey.objects.create(node=node, key_id=key_id, secret=vault.seal(secret, key_id), hostname=hostname, created_at=now)
    Node.objects.filter(pk=node.pk).update(state=Node.State.ENROLLED, version=version)
    for topic in ("fleet", f"node:{node.name}"):
        ring(topic)
    body = {"identity": KEY.name(key.pk), "key_id": key.key_id, "revoked": revoked, "hostname": hostname, "version": version}
    ledger.record("node.enrolled", body, f"node:{node.name}", node=node.name)
    sealing.bind(key)
    return key


def _forget(node: Node, key_ids: list[str], now: datetime) -> None:
    """Revoke these keys and drop their secrets. Each is saved by itself, so that its end is an event and no old row of it counts again."""
    for key in node.keys.filter(key_id__in=key_ids):
        key.revoked_at, key.secret = now, b""
        key.save(update_fields=["revoked_at", "secret"])


@dataclass(frozen=True)
class Key:
    """What never changes about a key that was accepted when `newest` was the newest event about it."""

    pk: int
    node: str
    secret: bytes
    newest: int | None


_remembered: dict[str, Key] = {}


def remembered(key_id: str) -> Key | None:
    return _remembered.get(key_id)


def look_up(key_id: str) -> Key:
    """The key from the database, to be remembered. Raises BadSignature when there is none (any more), or its row or its node's is not
    accepted; KeyLost when that cannot be checked."""
    rows = NodeKey.objects.filter(key_id=key_id, revoked_at__isnull=True).annotate(newest=RawSQL(NEWEST, []))
    found = rows.values_list("pk", "node__name", "secret", "newest", "node_id").first()
    if found is None:
        raise BadSignature(NOT_ENROLLED)
    pk, name, sealed, newest, node = found
    seals.secrets()
    if why := seals.why_not(NodeKey, pk=pk) or seals.why_not(Node, pk=node):
        raise BadSignature(why)
    key = Key(pk, name, vault.reveal(bytes(sealed), key_id), newest)
    if len(_remembered) >= KEYS_REMEMBERED:
        _remembered.clear()
    _remembered[key_id] = key
    return key


def authenticate(method: str, path: str, query: str, headers: Mapping[str, str], body: bytes, now: datetime) -> Caller:
    """Who sent this request. Raises BadSignature unless it is a live key's, unchanged, and never seen before; Repeat for the last."""
    key_id = key_id_of(headers)
    key = remembered(key_id) or look_up(key_id)
    signed = verify_request(key.secret, method, path, query, headers, body)
    check_fresh(signed, now.timestamp(), 0)
    # The condition decides between two copies of one request that arrive at the same moment.
    with connection.cursor() as cursor:
        cursor.execute(USE, [signed.counter, now, key.pk, signed.counter, signed.counter, milliseconds(now)])
        about = cursor.fetchone()
    if about is None:
        raise not_taken(key, signed, now)
    newest, *rest = about
    key = looked_up_since(key, key_id, newest)
    return Caller(key.node, key.secret, signed, key.pk, *rest)


def looked_up_since(key: Key, key_id: str, newest: int | None) -> Key:
    """The remembered key, looked up again when the ledger has an event about it since. Raises what `look_up` raises."""
    if newest == key.newest:
        return key
    _remembered.pop(key_id, None)
    return look_up(key_id)


def milliseconds(now: datetime) -> int:
    return int(now.timestamp() * 1000)


def not_taken(key: Key, signed: Signed, now: datetime) -> BadSignature:
    """Why a good signature opens nothing."""
    about = NodeKey.objects.filter(pk=key.pk, revoked_at__isnull=True).values_list("counter", *ABOUT).first()
    if about is None:
        _remembered.pop(signed.key_id, None)
        return BadSignature(NOT_ENROLLED)
    caller = Caller(key.node, key.secret, signed, key.pk, *about[1:])
    if signed.counter <= about[0]:
        reason = f"The request's counter is {signed.counter} and {about[0]} was already used: it is a repeat."
        return Repeat(reason, caller, about[0])
    _jumped(key, signed.counter, about[0], now)
    reason = f"The request's counter is {signed.counter}, and no agent can have come so far: the highest one taken is {about[0]}."
    return Repeat(reason, caller, about[0], ahead=True)


def _jumped(key: Key, counter: int, highest: int, now: datetime) -> None:
    """Remember the first such request of a key. It changes nothing else: the reports of the agent itself are accepted as before."""
    why = f"A request with a good signature came with the counter {counter}; the highest that was taken is {highest}. It was turned away."
    with transaction.atomic():
        if not NodeKey.objects.filter(pk=key.pk, jumped_at__isnull=True).update(jumped_at=now, jumped_why=why):
            return
        for topic in ("fleet", f"node:{key.node}"):
            ring(topic)
        fields = {"key_id": fingerprint(key.secret), "counter": str(counter), "highest": str(highest)}
        ledger.record("node.counter-jump", fields, "portal", node=key.node)
