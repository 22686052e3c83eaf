"""What stands around a run's steps for the people who share it: who is responsible, who else looks, who may be sent to the rack."""

from typing import Any

from django.utils import timezone

from app.accounts.models import User
from app.runs.models import Run
from app.runs.people import owners, presence, technician_link
from app.runs.rights import MANUAL, OPERATE, may


def around(run: Run, user: User) -> dict[str, Any]:
    able, mine = may(user, OPERATE, run.node), run.minder == user
    shown: dict[str, Any] = {
        "minder": run.minder,
        "mine": mine,
        "handed_to_me": mine and run.handed_by,
        "handed_by": run.handed_by,
        "looking": presence.others(run.pk, user.get_username()),
        "may_comment": may(user, MANUAL, run.node),
    }
    if able and run.ended_at is None:
        shown["colleagues"] = [one.get_username() for one in owners.colleagues(run) if one != user]
        shown["may_take"] = not mine
        shown["links"] = technician_link.usable(run, timezone.now())
        shown["may_link"] = technician_link.at_hands(run)
    return shown
