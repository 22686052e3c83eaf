"""Saying "this changed" from process to process, through Valkey.

A ring carries no truth: whoever hears one reads the database again. So a ring that is lost, late or repeated does no
harm, and a Valkey that is down slows things to the pace of the sweeps and polls but breaks nothing.
"""

import json
import logging
from functools import partial

import redis
from django.db import transaction

from app.valkey import valkey

PREFIX = "bell:"
log = logging.getLogger(__name__)


def ring(topic: str, data: dict | None = None) -> None:
    """Tell every process that `topic` changed, once the current transaction has committed."""
    transaction.on_commit(partial(_publish, topic, data), robust=True)


def _publish(topic: str, data: dict | None) -> None:
    try:
        valkey().publish(PREFIX + topic, json.dumps(data or {}))
    except redis.RedisError as error:
        log.warning("Nobody heard that %s changed: Valkey says %s.", topic, error)
