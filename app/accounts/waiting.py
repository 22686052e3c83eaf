"""What one administrator alone cannot make count at once: giving a role that acts, and changing another person's proof of identity.

Such a change is written at once with the time from which it counts, a day later, in the sealed row itself: a role gives no right before its
`counts_at`, and an account's rights rest until its own. Whoever asks for a right compares the clock with that (`app.accounts.rights`), so
nothing has to run for the day to pass, and a row that says another time, or that is gone, is not accepted. Another administrator may confirm
it earlier; see `app.accounts.confirming`. Shutting a person out never waits.

At once counts what is done before the first node is enrolled that is not the demo's, what a person does on the portal's own machine, and what
the groups of the identity provider give.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from app.accounts.models import Membership, Role, User
from app.core import outbox
from app.ledger import services as ledger
from app.ledger.models import LedgerEvent

WAIT = timedelta(hours=24)
ROLES = frozenset({Role.OPERATOR, Role.APPROVER, Role.BREAKER, Role.ADMIN})
HOST, DEMO = "command line", "demo"  # who acts on the portal's machine, and who enrols the demo's nodes; no person has these names
DONE = {"password": "a new password", "factors": "second factors removed", "on": "switched on again"}
COMMAND = "./run manage people confirm"
Changed = User | Membership


def site_is_new() -> bool:
    """Whether no node is enrolled yet but the demo's. Events are never taken back, so this ends once."""
    token = LedgerEvent.objects.filter(type="token.issued", node=OuterRef("node"), pk__lt=OuterRef("pk"))
    if not User.objects.filter(username=DEMO).exists():  # `createsuperuser` takes any name, and then it may be that person's
        token = token.exclude(actor=DEMO)
    return not LedgerEvent.objects.filter(Exists(token), type="node.enrolled").exists()


def counting_from(by: User | None) -> datetime | None:
    """From when something counts that is done now; None is at once. None in `by` is a person on the portal's machine."""
    return None if by is None or site_is_new() else timezone.now() + WAIT


def change(person: User, what: str, by: User | None) -> tuple[str, ...]:
    """Note on the account what was done to it. Returns the fields to save; the caller holds the row."""
    person.counts_at = counting_from(by)
    if by is None or person.counts_at is None:
        person.changed = None
    else:
        person.changed = " ".join(dict.fromkeys([*(person.changed or "").split(), f"{what}:{by.username}"]))
    return ("changed", "counts_at")


def of(person: User) -> list[Changed]:
    """What waits of this person, the account first."""
    roles = person.memberships.filter(counts_at__gt=timezone.now()).select_related("team", "given_by", "user")
    return [*([person] if person.waits else ()), *roles]


def everything() -> Iterator[Changed]:
    now = timezone.now()
    yield from User.objects.filter(counts_at__gt=now, is_active=True).order_by("counts_at")
    yield from Membership.objects.filter(counts_at__gt=now).select_related("team", "given_by", "user").order_by("counts_at")


def counting(prefix: str = "") -> Q:
    """The rows that count now, for lists of people; what gives a right is asked by `rights.may`."""
    return Q(**{f"{prefix}counts_at": None}) | Q(**{f"{prefix}counts_at__lte": timezone.now()})


def person_of(one: Changed) -> User:
    return one if isinstance(one, User) else one.user


def askers(one: Changed) -> frozenset[str]:
    """Who asked for it; none of them can confirm it."""
    if isinstance(one, Membership):
        return frozenset({one.given_by.username} if one.given_by else ())
    return frozenset(item.partition(":")[2] for item in (one.changed or "").split())


def words(one: Changed) -> str:
    if isinstance(one, Membership):
        return f"{one.role} for {one.where}, given by {', '.join(askers(one)) or HOST}"
    done = [item.partition(":") for item in (one.changed or "").split()]
    return ", ".join(f"{DONE.get(what, what)} by {by}" for what, _, by in done)


def why(one: Changed) -> str:
    """Why a right rests, for whoever asked for it, and what can be done."""
    person, when = person_of(one), f"{one.counts_at:%Y-%m-%d %H:%M} UTC"
    what = f"The rights of {person} rest" if isinstance(one, User) else "That role counts not yet"
    return (
        f"{what} until {when}: {words(one)}. A second administrator can confirm it before that on the page of {person}, or whoever has the"
        f" portal's machine: `{COMMAND} {person}`."
    )


def key(one: Changed) -> str:
    """The same for as long as it is this change that waits."""
    which = f"role {one.pk}" if isinstance(one, Membership) else "account"
    return f"{person_of(one)}:{which}:{one.counts_at.isoformat() if one.counts_at else ''}"


# --- notices


def announce_waiting(one: Changed) -> None:
    """A change that was just written: administrators and the person are to hear of it while it can be withdrawn."""
    if one.waits and one.counts_at is not None:
        fields = {"of": person_of(one).username, "what": words(one), "role": one.pk if isinstance(one, Membership) else None}
        fields["until"] = one.counts_at.isoformat()
        outbox.put([outbox.Happening("person-waits", f"person-waits:{key(one)}", details=fields)])


def announce_change(of: str, what: str, because: str) -> None:
    """A change that counts now, or was withdrawn."""
    fields = {"of": of, "what": what, "because": because}
    outbox.put([outbox.Happening("person-changed", f"person-changed:{of}:{timezone.now().isoformat()}", details=fields)])


def announce_made_on_the_host(sender: object, person: User, **_: object) -> None:
    """`createsuperuser` on a portal that has nodes: on the record, and to everybody who administers."""
    if not site_is_new():
        ledger.record("person.role-given", {"of": person.username, "role": Role.ADMIN, "team": ""}, HOST)
        announce_change(person.username, f"admin for the whole fleet, given by {HOST}", "it was done on the portal's machine")
