"""What the worker does for the ledger. Beat rings every ten seconds."""

from celery import shared_task

from app.ledger.checkpoints import checkpoint_now


@shared_task(ignore_result=True)
def checkpoint() -> None:
    """Sign what was added since the last time; does nothing when nothing was."""
    checkpoint_now()
