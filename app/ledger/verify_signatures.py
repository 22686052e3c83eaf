"""Whether a key made a signature: by the package `cryptography` where it is installed, else by `openssl`. A part of `verify.py`."""

from __future__ import annotations

import base64
import subprocess
import tempfile
from pathlib import Path

GOOD, BAD = "", "bad"  # any other verdict says why it is not known
OPENSSL_SECONDS = 20
ED25519_SPKI = bytes.fromhex("302a300506032b6570032100")  # what stands before the 32 bytes of an Ed25519 key in DER


def signature_verdict(kind: str, key: bytes, signature: bytes, text: bytes) -> str:
    """`kind` is "ed25519" with the raw public key, or "ecdsa" over SHA-256 with the key in DER."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePublicKey
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        return by_openssl(kind, key, signature, text)
    try:
        if kind == "ed25519":
            Ed25519PublicKey.from_public_bytes(key).verify(signature, text)
        else:
            found = serialization.load_der_public_key(key)
            if not isinstance(found, EllipticCurvePublicKey):
                return BAD
            found.verify(signature, text, ECDSA(hashes.SHA256()))
    except (InvalidSignature, ValueError, TypeError):
        return BAD
    return GOOD


def by_openssl(kind: str, key: bytes, signature: bytes, text: bytes) -> str:
    der = ED25519_SPKI + key if kind == "ed25519" else key
    pem = f"-----BEGIN PUBLIC KEY-----\n{base64.encodebytes(der).decode()}-----END PUBLIC KEY-----\n"
    words = {
        "ed25519": "pkeyutl -verify -pubin -inkey key -rawin -in text -sigfile signature",
        "ecdsa": "dgst -sha256 -verify key -signature signature text",
    }[kind]
    try:
        with tempfile.TemporaryDirectory(prefix="slotlight-") as folder:
            for name, data in {"key": pem.encode(), "signature": signature, "text": text}.items():
                (Path(folder) / name).write_bytes(data)
            ran = subprocess.run(["openssl", *words.split()], cwd=folder, capture_output=True, timeout=OPENSSL_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"neither the Python package `cryptography` nor `openssl` is usable here ({error})"
    output = (ran.stdout + ran.stderr).decode("utf-8", "replace")
    if ran.returncode == 0 and any(good in output for good in ("Verified OK", "Signature Verified Successfully")):
        return GOOD
    if ran.returncode and any(bad in output for bad in ("erification failure", "erification Failure", "rror verifying data")):
        return BAD
    return f"`openssl` cannot check it (Ed25519 needs OpenSSL 3): {output.strip()[:200] or 'it printed nothing'}"
