"""That the worker and beat live: each says so to Valkey as it works, and /readyz and /metrics read when that was."""

import time

import redis
from celery import signals

from app.core.valkey import valkey

BEAT, WORKER = "pulse:beat", "pulse:worker"
WRITE_EVERY_SECONDS = 5.0
FORGOTTEN_SECONDS = 24 * 3600
_written: dict[str, float] = {}


def beat(who: str) -> None:
    now = time.monotonic()
    if now - _written.get(who, -WRITE_EVERY_SECONDS) < WRITE_EVERY_SECONDS:
        return
    _written[who] = now
    try:
        valkey().set(who, f"{time.time():.0f}", ex=FORGOTTEN_SECONDS)
    except redis.RedisError:
        pass  # without Valkey there is neither a worker nor beat; /readyz names Valkey itself


def age_seconds(who: str) -> float | None:
    """How long ago it last said so; None when it never did. Raises RedisError."""
    stored = valkey().get(who)
    return None if stored is None else max(0.0, time.time() - float(stored))


@signals.beat_init.connect
def _beat_begins(**_: object) -> None:
    """From then on, in this process and no other, each task that is sent was sent by beat."""
    beat(BEAT)
    signals.after_task_publish.connect(_beat_sent, weak=False)


def _beat_sent(**_: object) -> None:
    beat(BEAT)


@signals.worker_ready.connect
@signals.task_postrun.connect
def _worker_lives(**_: object) -> None:
    """Beat has it do something every ten seconds, so a worker that is silent for longer does nothing."""
    beat(WORKER)
