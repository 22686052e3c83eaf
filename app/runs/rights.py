"""Who may act and who may approve. Asked again at every act, when an order is sealed and when the node takes it."""

from app.accounts.models import User

OPERATE, APPROVE = "runs.operate", "runs.approve"


def may(person: User, right: str) -> bool:
    """Whether this person has the right now. Read from the database: what a session remembers may be old."""
    user = User.objects.filter(pk=person.pk, is_active=True).first()
    return user is not None and user.has_perm(right)
