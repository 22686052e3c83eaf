"""Saying "this changed" from process to process, through Valkey; to who listens in this process, without that way.

A ring carries no truth: whoever hears one reads the database again. So a ring that is lost, late or repeated does no
harm, and a Valkey that is down slows things to the pace of the sweeps and polls but breaks nothing.
"""

import logging
from collections.abc import Callable
from functools import partial

import redis
from django.db import transaction

from app.core.valkey import valkey

PREFIX = "bell:"
log = logging.getLogger(__name__)


class Household:
    """The listener in this process, when there is one: notified at once, and ignores what comes back from Valkey under its own name."""

    name = ""
    notify: Callable[[str], None] | None = None


def sessions_of(person: int) -> str:
    """The topic that is rung when a session of this person ends. No page can ask to hear it."""
    return f"sessions:{person}"


def ring(topic: str) -> None:
    """Notify every process that `topic` changed, once the current transaction has committed."""
    transaction.on_commit(partial(_publish, topic), robust=True)


def _publish(topic: str) -> None:
    if Household.notify is not None:
        Household.notify(topic)
    try:
        valkey().publish(PREFIX + topic, Household.name)
    except redis.RedisError as error:
        log.warning("The change of %s was not published: Valkey reports %s.", topic, error)
