"""A second factor that is deleted in the database is gone, and with it the question for it. So each person's sealed row says how many
rows of factors there are, and whoever has fewer or more is not accepted.

Nothing else lends a right by being deleted. A role, a link to the identity provider, a session, a token or an approval that is gone only shuts
out; what comes back in its place is refused as an old one, because its end is an event. A person's row cannot be deleted while the ledger's
tables hold it. A row of `Hand` is asked of the ledger too (`app.runs.ordering.plan_approvals`). A `Refusal` that is deleted comes back with the next look,
and the ledger keeps the first of each. Counts of failed sign-ins are not in the database.
"""

from collections.abc import Iterator
from typing import Any

from allauth.mfa.models import Authenticator
from django.db.models import Count, F

from app.accounts import seals
from app.accounts.kinds import USER
from app.accounts.models import User
from app.core.compiled_queries import Row


def count(pk: int) -> int:
    return int(Authenticator.objects.filter(user_id=pk).count())


def changed(sender: object, instance: Authenticator, **_: object) -> None:
    """One was set up or removed through the portal."""
    person, there = User.objects.get(pk=instance.user_id), count(instance.user_id)
    if person.factors != there:
        person.factors = there
        person.save(update_fields=["factors"])


def why_not(person: User) -> str:
    """Why this person's factors are not accepted to be all there are; "" when they are. The alarm learns of it."""
    found = next((one for one in _wrong(pk=person.pk)), None)
    if found is None:
        return ""
    seals.note(*found)
    return f"{found[2]} {seals.HOW}"


def faults() -> Iterator[tuple[seals.Kind, Row, str]]:
    return _wrong()


def _wrong(**which: Any) -> Iterator[tuple[seals.Kind, Row, str]]:
    people = User.objects.filter(**which).annotate(there=Count("authenticator")).exclude(there=F("factors"))
    for pk, factors, there in people.values_list("pk", "factors", "there"):
        why = f"This account has {factors} rows of second factors by its seal, and {there} are there: that was changed outside the portal."
        yield from ((USER, row, why) for row in seals.read(USER, pk=pk))


def recount(pk: int) -> None:
    """As the database says it now; for who has looked at it."""
    User.objects.filter(pk=pk).update(factors=count(pk))
