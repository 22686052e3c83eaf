"""Sessions whose data the database does not hold in clear: a form that waits for a fresh proof lies there with all that was typed into it,
and so does the secret of an authenticator app until its first code was right.

The key follows from SECRET_KEY, as for factors. With another one, everybody signs in anew.
"""

import base64
from functools import cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.contrib.sessions.backends import db
from django.utils.crypto import salted_hmac


class SessionStore(db.SessionStore):
    def encode(self, session_dict: dict[str, Any]) -> str:
        return _fernet(settings.SECRET_KEY).encrypt(super().encode(session_dict).encode()).decode()

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        return super().decode(_in_clear(session_data))


def read(session_data: str) -> dict[str, Any]:
    """What a row of the sessions' table holds; nothing where it was not written by this portal."""
    return SessionStore().decode(session_data)


def _in_clear(session_data: bytes | str) -> bytes | str:
    """One of an older version is in clear until it is written again. What is neither is no session: its signature is not right."""
    try:
        return _fernet(settings.SECRET_KEY).decrypt(session_data).decode()
    except InvalidToken:
        return session_data


@cache
def _fernet(secret: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(salted_hmac("slotlight.sessions", "key", secret, algorithm="sha256").digest()))
