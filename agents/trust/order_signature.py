"""Whether the portal's order key signed exactly these bytes: ECDSA P-256 over SHA-256, checked by the node's own openssl.

The standard library has no public-key signatures, and every storage node has openssl. Only one shape of key is taken, an
uncompressed point on P-256, so there is nothing to negotiate down.
"""

from __future__ import annotations

import base64
import binascii
import re
from hashlib import sha256

from agents.host.host import Host
from agents.trust.transparency_log import ecdsa_verdict

SPKI_P256 = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d03010703420004")
POINT_BYTES = 64
SECONDS = 10.0
SIGNATURE_CHARS_MAX = 200
_PEM = re.compile(r"-----BEGIN PUBLIC KEY-----\n([A-Za-z0-9+/=\n]{1,400})\n-----END PUBLIC KEY-----\n?")


class BadKey(ValueError):
    """This is no public key on P-256."""


def key_id(pem: str) -> str:
    """What both sides call a portal's key: the first 16 hex digits of SHA-256 of its SPKI. Raises BadKey."""
    found = _PEM.fullmatch(pem)
    try:
        der = base64.b64decode(found.group(1).replace("\n", ""), validate=True) if found else b""
    except binascii.Error:
        der = b""
    if len(der) != len(SPKI_P256) + POINT_BYTES or not der.startswith(SPKI_P256):
        raise BadKey("The portal's order key is no ECDSA P-256 public key in PEM.")
    return sha256(der).hexdigest()[:16]


def against(host: Host, pem: str, signature: str, data: bytes) -> str:
    """Why `signature` (base64) is not one of the owner of `pem` over `data`; "" when it is."""
    try:
        der = base64.b64decode(signature, validate=True) if len(signature) <= SIGNATURE_CHARS_MAX else b""
    except (binascii.Error, ValueError):
        der = b""
    if not der:
        return "The signature is not one."
    verdict, reason = ecdsa_verdict(host, data, der, pem)
    if verdict == "good":
        return ""
    if verdict == "bad":
        return "The signature is false: these are not the bytes the portal sealed."
    return f"The signature cannot be checked: {lacks(host) or reason}"


def lacks(host: Host) -> str:
    """What this node needs to check a signature, as sentences; "" when it has it."""
    ran = host.run(("openssl", "version"), SECONDS)
    if ran.exit_code == 0:
        return ""
    so = "openssl is not installed on this node" if ran.why == "not found" else f"`openssl version` fails ({ran.why or ran.exit_code})"
    return f"{so}. Install openssl; without it this node is only observed."
