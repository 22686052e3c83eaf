"""The wire: what was signed is what arrives, once, from whom it says."""

from __future__ import annotations

import pytest

from agents.portal import wire

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))
BODY = b'{"v":"1"}'
NONCE = "n" * 22
ASK = ("POST", "/agent/v1/reports", "wait=25")


def signed(**change):
    what = {
        "key": KEY, "key_id": wire.fingerprint(KEY), "method": ASK[0], "path": ASK[1], "query": ASK[2],
        "body": BODY, "created": 1_000, "nonce": NONCE, "counter": 7,
    }  # fmt: skip
    return wire.sign_request(**{**what, **change})


def test_it_accepts_what_was_signed():
    assert wire.verify_request(KEY, *ASK, signed(), BODY) == wire.Signed(wire.fingerprint(KEY), 1_000, NONCE, 7)


def test_it_reads_headers_in_any_case():
    headers = {name.upper(): value for name, value in signed().items()}
    assert wire.key_id_of(headers) == wire.fingerprint(KEY)
    assert wire.verify_request(KEY, *ASK, headers, BODY).counter == 7


@pytest.mark.parametrize(
    "got",
    [
        ("GET", ASK[1], ASK[2], BODY),
        (ASK[0], "/agent/v1/orders", ASK[2], BODY),
        (ASK[0], ASK[1], "", BODY),
        (ASK[0], ASK[1], ASK[2], BODY + b" "),
        (ASK[0], ASK[1], ASK[2], b""),
    ],
    ids=["method", "path", "query", "body", "no body"],
)
def test_it_refuses_an_altered_request(got):
    method, path, query, body = got
    with pytest.raises(wire.BadSignature):
        wire.verify_request(KEY, method, path, query, signed(), body)


def test_it_refuses_another_key():
    with pytest.raises(wire.BadSignature, match="not the key"):
        wire.verify_request(OTHER, *ASK, signed(), BODY)
    with pytest.raises(wire.BadSignature, match="does not match"):
        wire.verify_request(KEY, *ASK, signed(key=OTHER), BODY)


@pytest.mark.parametrize("name", ["Content-Digest", "Slotlight-Counter", "Signature-Input", "Signature"])
def test_it_refuses_a_missing_or_altered_header(name):
    headers = signed()
    with pytest.raises(wire.BadSignature, match=f"{name.lower()} header is missing"):
        wire.verify_request(KEY, *ASK, {k: v for k, v in headers.items() if k != name}, BODY)
    for altered in ("", headers[name] + "1", headers[name].replace(":", "", 1), "é"):
        with pytest.raises(wire.BadSignature):
            wire.verify_request(KEY, *ASK, {**headers, name: altered + "x"}, BODY)


def test_it_refuses_fewer_signed_parts():
    """An attacker who drops the body from the list must not have it accepted as a weaker signature."""
    headers = signed()
    headers["Signature-Input"] = headers["Signature-Input"].replace(' "content-digest"', "")
    with pytest.raises(wire.BadSignature, match="one shape"):
        wire.verify_request(KEY, *ASK, headers, BODY)


def test_it_refuses_a_repeat():
    request = wire.verify_request(KEY, *ASK, signed(), BODY)
    wire.check_fresh(request, now=1_000, last_counter=6)
    for last in (7, 8):
        with pytest.raises(wire.BadSignature, match="repeat"):
            wire.check_fresh(request, now=1_000, last_counter=last)


@pytest.mark.parametrize("now", [1_000 - 301, 1_000 + 301])
def test_it_refuses_a_clock_that_is_off(now):
    request = wire.verify_request(KEY, *ASK, signed(), BODY)
    with pytest.raises(wire.BadSignature, match="clock"):
        wire.check_fresh(request, now, last_counter=0)
    wire.check_fresh(request, now + (1 if now < 1_000 else -1), last_counter=0)


def test_it_binds_an_answer_to_its_request():
    headers = wire.sign_answer(KEY, 200, BODY, NONCE)
    wire.verify_answer(KEY, 200, headers, BODY, NONCE)
    for key, status, body, nonce in (
        (OTHER, 200, BODY, NONCE),
        (KEY, 409, BODY, NONCE),
        (KEY, 200, b'{"v":"2"}', NONCE),
        (KEY, 200, BODY, "m" * 22),
    ):
        with pytest.raises(wire.BadSignature):
            wire.verify_answer(key, status, headers, body, nonce)
    with pytest.raises(wire.BadSignature, match="missing"):
        wire.verify_answer(KEY, 200, {}, BODY, NONCE)


def test_it_does_not_take_a_request_for_an_answer():
    with pytest.raises(wire.BadSignature):
        wire.verify_answer(KEY, 200, signed(), BODY, NONCE)


def test_it_writes_one_text_per_value():
    assert wire.canonical({"b": ["x", None, True], "a": "é\n"}) == '{"a":"é\\n","b":["x",null,true]}'.encode()
    assert wire.digest_of({}) == wire.sha256_hex(b"{}")


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        "é",
        None,
        {
            "b": {},
            "a": [],
            "c": [{}, [], ""],
            "d": {"z": {"y": {"x": ["1", True]}}, "a": None},
            "captures": [{"source": "é", "key": ""}, {"k": "2"}],
        },
    ],
)
def test_its_pieces_are_the_same_bytes(value):
    assert b"".join(wire.canonical_pieces(value)) == wire.canonical(value)


@pytest.mark.parametrize("value", [1, 1.5, {"a": 2}, [3], {"é": ""}, {1: ""}, b"", object()])
def test_it_refuses_what_has_no_canonical_form(value):
    with pytest.raises(TypeError):
        wire.canonical_pieces(value)
    with pytest.raises(TypeError):
        wire.canonical(value)


@pytest.mark.parametrize("text", ["", "{", '{"a": "b"}', '{"b":"","a":""}', '{"a":"","a":""}', '{"a":1}', '"\\ud800"', "[" * 5_000])
def test_it_reads_only_canonical_text(text):
    with pytest.raises(ValueError, match="canonical"):
        wire.read_canonical(text)


def test_it_reads_what_it_wrote():
    value = {"argv": ["zpool", "status"], "params": {"pool_guid": "15498746923132605816"}, "probe": None}
    assert wire.read_canonical(wire.canonical(value).decode()) == value
