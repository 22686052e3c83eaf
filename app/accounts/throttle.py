"""Slows down whoever guesses passwords or codes: some failures per name and address, then a pause.

The count lives in Valkey. When that is down nobody is locked out: the page must work at 3 a.m., and a guess is slow by itself.
"""

import hashlib
import logging

import redis

from app.valkey import valkey

FAILURES_MAX = 10
PAUSE_SECONDS = 600
SAID = f"There were {FAILURES_MAX} failed sign-ins for this name from here. Wait {PAUSE_SECONDS // 60} minutes, or ask another operator."
log = logging.getLogger(__name__)


def blocked(name: str, address: str) -> bool:
    return _ask(lambda db: int(db.get(_key(name, address)) or 0), 0) >= FAILURES_MAX


def failed(name: str, address: str) -> None:
    _ask(lambda db: db.pipeline().incr(_key(name, address)).expire(_key(name, address), PAUSE_SECONDS).execute(), None)


def forget(name: str, address: str) -> None:
    _ask(lambda db: db.delete(_key(name, address)), None)


def _key(name: str, address: str) -> str:
    return "sign-in:" + hashlib.sha256(f"{name.lower()}\0{address}".encode()).hexdigest()


def _ask(question, otherwise):
    try:
        return question(valkey())
    except redis.RedisError as error:
        log.warning("Failed sign-ins are not counted: Valkey says %s.", error)
        return otherwise
