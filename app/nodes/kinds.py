"""Who may enrol as a node, sealed like what says who a person is; see `app.accounts.seals`."""

from django.db.models import QuerySet
from django.utils import timezone

from app.accounts.seals import Kind, register
from app.nodes.models import EnrolToken

FIELDS = ("id", "node_id", "token_hash", "created_by_id", "created_at", "expires_at", "used_at")


def unused(rows: QuerySet) -> QuerySet:
    return rows.filter(used_at=None, expires_at__gt=timezone.now())


(ENROL,) = register(Kind(EnrolToken, "enrolment token", "created_by_id", FIELDS, live=unused))
