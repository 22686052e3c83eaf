"""What the worker does for the ledger. Beat rings every ten seconds."""

import logging

from celery import shared_task

from app.ledger import grants, outside, terms
from app.ledger.checkpoints import checkpoint_now

log = logging.getLogger(__name__)


@shared_task(ignore_result=True)
def checkpoint() -> None:
    """Check that the triggers were not touched, then sign what was added since the last time.

    While something is wrong nothing is signed: a signature would say that all is well.
    """
    if found := grants.faults():
        log.error("The ledger is not as it was made, so nothing is signed and nothing is changed. %s", " ".join(found))
        return
    checkpoint_now()
    terms.catch_up()


@shared_task(ignore_result=True)
def send_out() -> None:
    """The newest checkpoint, to the places outside that SLOTLIGHT_CHECKPOINTS_TO names."""
    for place, why in outside.send_out().items():
        if why:
            log.error("The checkpoint was not sent to %s. %s", place, why)
