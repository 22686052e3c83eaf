"""The portal: the only floor with a database, a clock and a network."""

# Imported here so that `shared_task` finds the broker in every process, not only in the worker.
from app.celery import celery

__all__ = ["celery"]
