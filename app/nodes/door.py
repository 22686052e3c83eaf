"""The one way into every route of the agents' API, and the one shape of its answers.

A view gets the verified caller and the request's JSON object, and returns (status, JSON object).
"""

import json
import logging
import zlib
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from agents.portal.wire import BadSignature, canonical, sign_answer
from app.core.limits import AGENT_BODY_BYTES_MAX as BODY_BYTES_MAX
from app.ledger.forms import KeyLost
from app.ledger.services import LedgerDown
from app.nodes import sessions, vault
from app.nodes.keys import Caller, Repeat, authenticate

JSON_BYTES_MAX = 64 * 1024 * 1024  # after decompression

# The portal's own: it says nothing of who asks, who may come again.
TROUBLE = (KeyLost, LedgerDown, OperationalError, InterfaceError)
log = logging.getLogger(__name__)

Answer = tuple[int, dict[str, Any]]


class BadBody(Exception):
    """The body cannot be read."""


class Signed(HttpRequest):
    who: str  # the node that signed it


def signed(view: Callable[..., Answer]) -> Callable[..., HttpResponse]:
    """Let in only an enrolled agent with a request that was not sent before, and sign the answer."""

    @csrf_exempt
    @wraps(view)
    def door(request: Signed, **kwargs: str) -> HttpResponse:
        if request.method != "POST":
            return unsigned(405, f"{request.path} takes POST.")
        try:
            body = read_body(request)
            caller = authenticate("POST", request.path, request.META.get("QUERY_STRING", ""), request.headers, body, timezone.now())
        except BadBody as error:
            return unsigned(413, str(error))
        except Repeat as repeat:
            return repeated(repeat, body, request.headers.get("Content-Encoding", ""))
        except BadSignature as error:
            return unsigned(401, str(error))
        except TROUBLE as own:
            return unsigned(503, trouble(own))
        request.who = caller.node
        try:
            status, answer = view(caller, read_json(body, request.headers.get("Content-Encoding", "")), **kwargs)
        except BadBody as error:
            status, answer = 400, {"reason": str(error)}
        except TROUBLE as own:
            status, answer = 503, {"reason": trouble(own)}
        return signed_answer(caller, status, answer)

    vars(door)["is_signed"] = True
    return door


def repeated(repeat: Repeat, body: bytes, encoding: str) -> HttpResponse:
    """A repeat is turned away under its key's signature: whoever signed it may learn that two machines have the key, or go on from there."""
    try:
        nonce = read_json(body, encoding).get("nonce")
    except BadBody:
        nonce = None
    return signed_answer(repeat.caller, *sessions.answer_to_repeat(repeat, nonce, timezone.now()))


def trouble(own: Exception) -> str:
    """What the caller gets of it; the log has more."""
    log.error("An agent was answered 503: %s", own)
    if isinstance(own, LedgerDown):
        return str(own)
    if isinstance(own, KeyLost) and not isinstance(own, vault.KeyLost):
        return "The portal cannot use a key of its data folder; its log names it. Nothing is wrong with this node's key."
    if isinstance(own, KeyLost):
        return "The portal cannot read the secrets of its agents; the reason is in its log and at /readyz. Nothing is wrong with this node's key."
    return "The portal's database does not answer. Try again."


def read_body(request: HttpRequest) -> bytes:
    body = request.read(BODY_BYTES_MAX + 1)
    if len(body) > BODY_BYTES_MAX:
        raise BadBody(f"The body is larger than {BODY_BYTES_MAX} bytes. Send the bodies of captures in several reports.")
    return body


def read_json(body: bytes, encoding: str) -> dict[str, Any]:
    try:
        answer = json.loads(unpacked(body, encoding, JSON_BYTES_MAX))
    except (ValueError, RecursionError) as error:
        raise BadBody(f"The body is not JSON: {error}.") from None
    if not isinstance(answer, dict):
        raise BadBody("The body is not a JSON object.")
    return answer


def unpacked(body: bytes, encoding: str, bytes_max: int) -> bytes:
    """Raises BadBody where it is more than that."""
    return _inflate(body, bytes_max) if encoding == "gzip" else body


def _inflate(body: bytes, bytes_max: int) -> bytes:
    stream = zlib.decompressobj(wbits=31)
    try:
        data = stream.decompress(body, bytes_max)
    except zlib.error as error:
        raise BadBody(f"The body is not gzip: {error}.") from None
    if stream.unconsumed_tail or not stream.eof:
        raise BadBody(f"The body is cut short, or larger than {bytes_max} bytes when unpacked.")
    return data


def signed_answer(caller: Caller, status: int, answer: dict[str, Any]) -> HttpResponse:
    body = canonical(answer)
    return _answer(status, body, sign_answer(caller.secret, status, body, caller.signed.nonce))


def unsigned(status: int, reason: str) -> HttpResponse:
    """A refusal of an unknown caller; there is no key to sign it with."""
    return _answer(status, canonical({"reason": reason}), {})


def _answer(status: int, body: bytes, headers: dict[str, str]) -> HttpResponse:
    return HttpResponse(body, status=status, content_type="application/json", headers=headers | {"Cache-Control": "no-store"})
