"""Who may enrol as a node, and with which key its agent signs, sealed like what says who a person is; see `app.accounts.seals`.

Of a key what it opens is sealed. Its secret is encrypted for its `key_id` alone (`app.nodes.vault`), and its counter only rises.
"""

from django.db.models import QuerySet
from django.utils import timezone

from app.accounts.seals import Kind, register
from app.nodes.models import EnrolToken, NodeKey

FIELDS = ("id", "node_id", "token_hash", "created_by_id", "created_at", "expires_at", "used_at")


def unused(rows: QuerySet[EnrolToken]) -> QuerySet[EnrolToken]:
    return rows.filter(used_at=None, expires_at__gt=timezone.now())


def not_revoked(rows: QuerySet[NodeKey]) -> QuerySet[NodeKey]:
    return rows.filter(revoked_at=None)


ENROL, KEY = KINDS = register(
    Kind(EnrolToken, "enrolment token", "created_by_id", FIELDS, live=unused),
    Kind(NodeKey, "agent's key", "", ("id", "node_id", "key_id", "revoked_at"), live=not_revoked),
)
