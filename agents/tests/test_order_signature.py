"""Signatures through the node's openssl: good, forged, of another key, and a node that cannot check."""

from __future__ import annotations

import base64
import subprocess
from hashlib import sha256

import pytest

from agents.host.host import LocalHost, Ran
from agents.tests import rig
from agents.trust import order_signature

DATA = b'{"id":"o1"}'


class Without:
    """A node without openssl, or with one that does not answer."""

    def __init__(self, why):
        self.why = why

    def run(self, argv, timeout_seconds):
        return Ran(tuple(argv), None, b"", b"", 0.0, self.why)


@pytest.fixture(scope="module")
def keys():
    return rig.keys()


def test_it_takes_what_the_key_signed(keys):
    assert order_signature.against(LocalHost(), keys.order_pem, keys.sign(DATA), DATA) == ""


def test_it_refuses_other_bytes_another_key_and_a_changed_signature(keys):
    good = keys.sign(DATA)
    bent = bytearray(base64.b64decode(good))
    bent[-1] ^= 1
    stranger = rig.Keys()
    for pem, signature, data in (
        (keys.order_pem, good, DATA + b" "),
        (stranger.order_pem, good, DATA),
        (keys.order_pem, stranger.sign(DATA), DATA),
        (keys.order_pem, base64.b64encode(bytes(bent)).decode(), DATA),
    ):
        assert "false" in order_signature.against(LocalHost(), pem, signature, data)


@pytest.mark.parametrize("signature", ["", "=", "é", "not base64!", "A" * 204, base64.b64encode(b"nonsense").decode()])
def test_what_is_no_signature_is_refused(keys, signature):
    assert order_signature.against(LocalHost(), keys.order_pem, signature, DATA)


def test_a_signature_is_read_up_to_its_limit(keys):
    against = {size: order_signature.against(LocalHost(), keys.order_pem, "A" * size, DATA) for size in (200, 204)}
    assert "false" in against[200]
    assert against[204] == "The signature is not one."


@pytest.mark.parametrize(("why", "words"), [("not found", "openssl is not installed"), ("timeout", "timeout"), ("stuck", "stuck")])
def test_a_node_that_cannot_check_says_what_it_lacks(keys, why, words):
    against = order_signature.against(Without(why), keys.order_pem, keys.sign(DATA), DATA)
    assert "cannot be checked" in against
    assert words in against
    assert "only observed" in against
    assert words in order_signature.lacks(Without(why))


def test_this_machine_lacks_nothing():
    assert order_signature.lacks(LocalHost()) == ""


def test_both_sides_name_a_key_alike(keys):
    der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "DER"], input=keys.order_pem.encode(), capture_output=True, check=True)
    assert order_signature.key_id(keys.order_pem) == sha256(der.stdout).hexdigest()[:16]


def openssl(*words):
    return rig._openssl(*words).decode()


def test_only_a_key_on_p256_is_one(keys, tmp_path):
    rsa, other = tmp_path / "rsa", tmp_path / "p384"
    openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024", "-out", rsa)
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out", other)
    for pem in (openssl("pkey", "-in", rsa, "-pubout"), openssl("pkey", "-in", other, "-pubout"), "", "PEM", keys.order_pem[:-40]):
        with pytest.raises(order_signature.BadKey):
            order_signature.key_id(pem)


def test_a_key_is_p256_by_what_it_begins_with_and_written_in_one_way(keys):
    other = base64.b64encode(bytes(91)).decode()
    for pem in (f"-----BEGIN PUBLIC KEY-----\n{other}\n-----END PUBLIC KEY-----\n", keys.order_pem.replace("==\n", "===\n")):
        assert pem != keys.order_pem
        with pytest.raises(order_signature.BadKey):
            order_signature.key_id(pem)
