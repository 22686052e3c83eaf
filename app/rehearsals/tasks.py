"""The worker plays rehearsals, one at a time; a web process has no seconds to spare. A message that is lost is rung again by the page."""

from celery import shared_task

from app.rehearsals import services

AGAIN_SECONDS = 2


@shared_task(expires=120)
def play(rehearsal_id: int) -> None:
    if not services.play(rehearsal_id):
        play.apply_async((rehearsal_id,), countdown=AGAIN_SECONDS, expires=120)
