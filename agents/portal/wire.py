"""The protocol of agent and portal: canonical bytes and signed requests. Used on both sides.

Canonical bytes are RFC 8785 for the values we allow: objects, lists, strings, booleans and null. Numbers are
refused, because a vdev guid does not survive a double: whoever sends a number sends it as a decimal string.

Signatures are one fixed shape of RFC 9421 (HMAC-SHA-256, one signature called `slotlight`): a request covers method,
path, query, body digest and counter; an answer covers its status and body digest and carries the nonce of the request
it answers. A signature of any other shape is refused, so there is nothing to negotiate down. A good signature alone
does not make a request new: whoever receives it also asks `check_fresh` and stores the counter.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

KEY_BYTES = 32
SKEW_SECONDS_MAX = 300
PIECES_DEPTH = 2  # in a report that is each text
ENROL_NONCE = "enrol"  # an enrolment is not signed, so it has no nonce of its own; the key in it is new every time

_REQUEST_PARTS = '("@method" "@path" "@query" "content-digest" "slotlight-counter")'
_ANSWER_PARTS = '("@status" "content-digest")'
_REQUEST_INPUT = re.compile(
    re.escape("slotlight=" + _REQUEST_PARTS) + r';created=([0-9]{1,12});nonce="([A-Za-z0-9_-]{16,64})";keyid="([0-9a-f]{16})"'
)
# Keys sort by UTF-16 code units in RFC 8785; `_refuse_numbers` holds keys to ASCII, where both orders agree.
_written = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
_COUNTER = re.compile(r"[1-9][0-9]{0,17}")


class BadSignature(Exception):
    """The message is not what its sender signed, or it is not new."""


@dataclass(frozen=True)
class Signed:
    """What a verified request says about itself."""

    key_id: str
    created: int
    nonce: str
    counter: int


def canonical(value: Any) -> bytes:
    """The one way to write `value` as bytes. Raises TypeError for a number or anything JSON does not have."""
    _refuse_numbers(value, "$")
    return _written(value).encode("utf-8")


def canonical_pieces(value: Any) -> Iterator[bytes]:
    """`canonical`, one after the other: for who sends megabytes and need not hold them as one text besides. Raises TypeError."""
    _refuse_numbers(value, "$")
    return (piece.encode("utf-8") for piece in _pieces(value, PIECES_DEPTH))


def _pieces(value: Any, depth: int) -> Iterator[str]:
    """The members of what is not deeper than that, each by itself."""
    if not depth or not value or not isinstance(value, (dict, list)):
        yield _written(value)
        return
    listed = isinstance(value, list)
    for number, item in enumerate(value if listed else sorted(value)):
        yield "," if number else "[" if listed else "{"
        if not listed:
            yield f"{_written(item)}:"
        yield from _pieces(item if listed else value[item], depth - 1)
    yield "]" if listed else "}"


def read_canonical(text: str) -> Any:
    """The value of canonical text. Raises ValueError when the text is not byte for byte what `canonical` writes."""
    try:
        value = json.loads(text)
        written = canonical(value)
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"The text is not canonical JSON: {error}") from None
    if written != text.encode("utf-8"):
        raise ValueError("The text is JSON and not in canonical form.")
    return value


def sha256_hex(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest_of(value: Any) -> str:
    """SHA-256 (hex) of the canonical bytes of `value`: the name of a plan, an order, a capture's body."""
    return sha256_hex(canonical(value))


def fingerprint(key: bytes) -> str:
    """The key id both sides show: the first 16 hex digits of SHA-256 of the key."""
    return sha256_hex(key)[:16]


def sign_request(
    key: bytes, key_id: str, method: str, path: str, query: str, body: bytes, created: int, nonce: str, counter: int
) -> dict[str, str]:
    """Headers that sign a request. `path` and `query` as sent (query without `?`); `body` as sent, after any compression."""
    digest = _content_digest(body)
    params = f'{_REQUEST_PARTS};created={int(created)};nonce="{nonce}";keyid="{key_id}"'
    base = _request_base(method, path, query, digest, str(counter), params)
    return {
        "Content-Digest": digest,
        "Slotlight-Counter": str(counter),
        "Signature-Input": f"slotlight={params}",
        "Signature": _signature(key, base),
    }


def key_id_of(headers: Mapping[str, str]) -> str:
    """The key id a request claims, for looking up its key. Nothing is verified yet. Raises BadSignature."""
    return _request_input(_lower(headers)).key_id


def verify_request(key: bytes, method: str, path: str, query: str, headers: Mapping[str, str], body: bytes) -> Signed:
    """Check that the owner of `key` signed exactly this request; see `check_fresh` for whether it is new."""
    lower = _lower(headers)
    signed = _request_input(lower)
    if signed.key_id != fingerprint(key):
        raise BadSignature(f"The request names key {signed.key_id}, which is not the key it is checked with.")
    _check_body(lower, body)
    params = lower["signature-input"][len("slotlight=") :]
    base = _request_base(method, path, query, lower["content-digest"], lower["slotlight-counter"], params)
    _check_signature(key, base, lower)
    return signed


def check_fresh(signed: Signed, now: float, last_counter: int) -> None:
    """Refuse a request that is old, from the future, or whose counter is not above the last one seen of its key."""
    skew = signed.created - now
    if abs(skew) > SKEW_SECONDS_MAX:
        raise BadSignature(f"The request's clock is {skew:+.0f} s off ours; {SKEW_SECONDS_MAX} s are allowed. Set the node's clock.")
    if signed.counter <= last_counter:
        raise BadSignature(f"The request's counter is {signed.counter} and {last_counter} was already used: it is a repeat.")


def sign_answer(key: bytes, status: int, body: bytes, request_nonce: str) -> dict[str, str]:
    """Headers that bind an answer to the request that carried `request_nonce`."""
    digest = _content_digest(body)
    params = _answer_params(key, request_nonce)
    return {
        "Content-Digest": digest,
        "Signature-Input": f"slotlight={params}",
        "Signature": _signature(key, _answer_base(status, digest, params)),
    }


def verify_answer(key: bytes, status: int, headers: Mapping[str, str], body: bytes, request_nonce: str) -> None:
    """Check that the portal signed exactly this answer to exactly this request. Raises BadSignature."""
    lower = _lower(headers)
    params = _answer_params(key, request_nonce)
    if not hmac.compare_digest(_header(lower, "signature-input").encode(), f"slotlight={params}".encode()):
        raise BadSignature("The answer is not signed as an answer to this request.")
    _check_body(lower, body)
    _check_signature(key, _answer_base(status, lower["content-digest"], params), lower)


def _request_input(lower: Mapping[str, str]) -> Signed:
    match = _REQUEST_INPUT.fullmatch(_header(lower, "signature-input"))
    if match is None:
        raise BadSignature("The Signature-Input header does not have the one shape that is accepted.")
    counter = _header(lower, "slotlight-counter")
    if _COUNTER.fullmatch(counter) is None:
        raise BadSignature("The Slotlight-Counter header is not a positive whole number.")
    return Signed(key_id=match.group(3), created=int(match.group(1)), nonce=match.group(2), counter=int(counter))


def _request_base(method: str, path: str, query: str, digest: str, counter: str, params: str) -> bytes:
    lines = (
        f'"@method": {method.upper()}',
        f'"@path": {path}',
        f'"@query": ?{query}',
        f'"content-digest": {digest}',
        f'"slotlight-counter": {counter}',
        f'"@signature-params": {params}',
    )
    return "\n".join(lines).encode("utf-8")


def _answer_params(key: bytes, request_nonce: str) -> str:
    return f'{_ANSWER_PARTS};nonce="{request_nonce}";keyid="{fingerprint(key)}"'


def _answer_base(status: int, digest: str, params: str) -> bytes:
    return f'"@status": {int(status)}\n"content-digest": {digest}\n"@signature-params": {params}'.encode()


def _content_digest(body: bytes) -> str:
    return "sha-256=:" + base64.b64encode(hashlib.sha256(body).digest()).decode("ascii") + ":"


def _signature(key: bytes, base: bytes) -> str:
    if len(key) != KEY_BYTES:
        raise ValueError(f"A key has {KEY_BYTES} bytes, this one has {len(key)}.")
    return "slotlight=:" + base64.b64encode(hmac.new(key, base, hashlib.sha256).digest()).decode("ascii") + ":"


def _check_body(lower: Mapping[str, str], body: bytes) -> None:
    if not hmac.compare_digest(_header(lower, "content-digest").encode(), _content_digest(body).encode()):
        raise BadSignature("The body is not the one its Content-Digest header names.")


def _check_signature(key: bytes, base: bytes, lower: Mapping[str, str]) -> None:
    if not hmac.compare_digest(_header(lower, "signature").encode(), _signature(key, base).encode()):
        raise BadSignature("The signature does not match the message.")


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _header(lower: Mapping[str, str], name: str) -> str:
    value = lower.get(name)
    if value is None:
        raise BadSignature(f"The {name} header is missing.")
    return value


def _refuse_numbers(value: Any, where: str) -> None:
    if value is None or isinstance(value, (str, bool)):
        return
    if isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            _refuse_numbers(item, f"{where}[{i}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str) or not key.isascii():
                raise TypeError(f"{where}: the key {key!r} is not ASCII text")
            _refuse_numbers(item, f"{where}.{key}")
    else:
        raise TypeError(f"{where}: {type(value).__name__} has no canonical form; send it as a string")
