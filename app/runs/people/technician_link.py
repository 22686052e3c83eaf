"""A technician's link: for one visit to the rack it lets one browser do what one run asks of hands, and nothing else.

    made -> opened by one browser, under a typed name -> left
         -> revoked | expired | nothing is left to do at the rack

Those are the scans, the bay that blinks, and correcting a scan; pulls and inserts are watched on the same page, wrong ones too.

It is 256 random bits, shown once and kept as their hash. Who opens it types a name, which is not checked; so everything done with it
stands in the ledger as done by that name with the link of the person who made it, and counts as that person's hand in the run.
"""

import hashlib
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from app.accounts import sealing, seals
from app.accounts.models import User
from app.ledger import services as ledger
from app.realtime.publish import ring
from app.runs import services
from app.runs.apply_decision import Asker
from app.runs.kinds import LINK
from app.runs.models import Hand, Run, TechnicianLink
from app.runs.rights import OPERATE, may
from workflows.engine import events as ev
from workflows.engine.events import can_be_kept
from workflows.engine.going_back import needs_the_rack
from workflows.engine.transitions import with_hand
from workflows.runbooks import RUNBOOKS

HOURS = 8
NAME_MAX = 80
LINKS_MAX = 5  # of one run, that could still be used
COOKIE = "technician"
NOTHING_LEFT = "Nothing is left to do at the rack in this run."
UNKNOWN = "This link is not known here. Ask the operator to show the code again, and scan it from the screen."


class LinkDead(services.RunRefused):
    """This link opens nothing, or nothing any more."""


def hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def make(run_id: int, user: User) -> tuple[TechnicianLink, str]:
    """A link to the rack for this run, and what opens it: said now, and never again. Raises RunRefused, LedgerDown."""
    ledger.refuse_if_broken()
    token, now = secrets.token_urlsafe(32), timezone.now()
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run_id)
        services.need(user, OPERATE, run.node)
        if not at_hands(run):
            raise services.RunRefused("Nothing is left to do at the rack in this run, so a link would open nothing.")
        if len(usable(run, now)) >= LINKS_MAX:
            raise services.RunRefused(f"{LINKS_MAX} links to this run can still be used. Revoke one, or give one of those away.")
        _is_their_doing(run, user)
        until = now + timedelta(hours=HOURS)
        link = TechnicianLink.objects.create(run=run, step=run.step, token_hash=hashed(token), made_by=user, made_at=now, expires_at=until)
        ring(f"run:{run.pk}")
        _record("technician-link.made", link, user.username, expires_at=until.isoformat(), identity=LINK.name(link.pk))
        sealing.bind(link)
    return link, token


def at_hands(run: Run) -> bool:
    """Whether this run asks for hands at the rack, or may yet."""
    return run.runbook in RUNBOOKS and needs_the_rack(RUNBOOKS[run.runbook], run.here)


def _is_their_doing(run: Run, user: User) -> None:
    """Whoever sends a technician to the rack takes part in the run, and cannot approve it later."""
    run.state = with_hand(run.here, user.username).to_json()
    run.save(update_fields=["state"])
    Hand.objects.get_or_create(run=run, person=user)


def usable(run: Run, now: datetime) -> list[TechnicianLink]:
    """The links of this run that open something yet."""
    found = TechnicianLink.objects.filter(run=run, revoked_at=None, left_at=None, expires_at__gt=now).select_related("made_by", "run")
    return [link for link in found if not why_dead(link, now)]


def why_dead(link: TechnicianLink, now: datetime) -> str:
    """Why this link opens nothing any more, and what to do; "" while it does."""
    whom = f"Ask {link.made_by.username}, who made it"
    if link.left_at is not None:
        return f"{link.name} has ended this visit. {whom}, for a new link if there is more to do."
    if link.revoked_at is not None:
        return f"This link was revoked. {whom}, for a new one."
    if now >= link.expires_at:
        return f"This link has expired; it held for {HOURS} hours. {whom}, for a new one."
    if not at_hands(link.run):
        return NOTHING_LEFT
    if why := seals.why_not(TechnicianLink, pk=link.pk):
        return f"{why} {whom}, for a new one."
    if not may(link.made_by, OPERATE, link.run.node):
        return f"{link.made_by.username}, who made this link, may not act any more. Ask another operator for a new one."
    return ""


def find(token: str, now: datetime) -> TechnicianLink:
    """The link that this opens, not opened yet. Raises LinkDead."""
    link = _links().filter(token_hash=hashed(token)).first()
    if link is None:
        raise LinkDead(UNKNOWN)
    return _unopened(link, now)


def _unopened(link: TechnicianLink, now: datetime) -> TechnicianLink:
    if why := why_dead(link, now):
        raise LinkDead(why)
    if link.opened_at is not None:
        raise LinkDead(
            f"This link was opened before, by a browser under the name {link.name}. It opens once only. If that was not you, inform "
            f"{link.made_by.username} at once; ask for a new link in any case."
        )
    return link


def open_for(token: str, name: str) -> str:
    """Bind the link to whoever opens it first; returns what its browser is known by from now on. Raises RunRefused, LedgerDown."""
    ledger.refuse_if_broken()
    typed = " ".join(name.split())[:NAME_MAX]
    if not typed or not can_be_kept(typed) or not typed.isprintable():
        raise services.RunRefused("Type your name, so that others know who was at the rack.")
    browser, now = secrets.token_urlsafe(32), timezone.now()
    with transaction.atomic():
        link = _links(lock=True).filter(token_hash=hashed(token)).first()
        if link is None:
            raise LinkDead(UNKNOWN)
        _unopened(link, now)
        link.browser_hash, link.name, link.opened_at = hashed(browser), typed, now
        link.save(update_fields=["browser_hash", "name", "opened_at"])
        ring(f"run:{link.run_id}")
        _record("technician-link.opened", link, actor(link))
    return browser


def of_browser(browser: str) -> TechnicianLink | None:
    return _links().filter(browser_hash=hashed(browser)).first() if browser else None


def act(browser: str, version: int, kind: type[ev.Event], fields: Mapping[str, str]) -> None:
    """What hands did, or a scan corrected. Raises RunRefused, which the ledger keeps, and LedgerDown."""
    now = timezone.now()
    with _in_use(browser, now) as link:
        if link.run.version != version:
            raise services.RunMoved("This run has moved on since this page was loaded. Read it again.")
        refused = services.attempt(link.run, kind, Asker(actor(link)), now, dict(fields))
    if refused is not None:
        raise services.RunRefused(refused.reason, refused.verdicts)


def leave(browser: str) -> None:
    """The visit is over: its holder says so. Raises RunRefused, LedgerDown."""
    now = timezone.now()
    with _in_use(browser, now) as link:
        link.left_at = now
        link.save(update_fields=["left_at"])
        ring(f"run:{link.run_id}")
        _record("technician-link.left", link, actor(link))


@contextmanager
def _in_use(browser: str, now: datetime) -> Iterator[TechnicianLink]:
    """The link that this browser holds, with the run's row locked, in one transaction with what is done by it."""
    ledger.refuse_if_broken()
    with transaction.atomic():
        link = _links(lock=True).filter(browser_hash=hashed(browser)).first() if browser else None
        if link is None:
            raise LinkDead(UNKNOWN)
        link.run = Run.objects.select_for_update().get(pk=link.run_id)
        if why := why_dead(link, now):
            raise LinkDead(why)
        yield link


def revoke(run_id: int, link_id: int, user: User) -> None:
    """Raises RunRefused, LedgerDown."""
    ledger.refuse_if_broken()
    services.need(user, OPERATE, Run.objects.values_list("node", flat=True).get(pk=run_id))
    with transaction.atomic():
        link = _links(lock=True).filter(pk=link_id, run=run_id).first()
        if link is None or link.revoked_at is not None or link.left_at is not None:
            raise services.RunRefused("This link opens nothing any more. There is nothing to revoke.")
        link.revoked_at = timezone.now()
        link.save(update_fields=["revoked_at"])
        ring(f"run:{run_id}")
        _record("technician-link.revoked", link, user.username)


def actor(link: TechnicianLink) -> str:
    """How the ledger calls who holds it. No user name holds a colon, so the name cannot pass for a user's."""
    return f"technician:{link.name} (link of {link.made_by.username})"


def _links(lock: bool = False) -> QuerySet[TechnicianLink]:
    found = TechnicianLink.objects.select_related("made_by", "run")
    return found.select_for_update(of=["self"]) if lock else found


def _record(what: str, link: TechnicianLink, who: str, **more: str) -> None:
    body = {"link": str(link.pk), "step": link.step, "made_by": link.made_by.username, "typed_name": link.name, **more}
    ledger.record(what, body, who, run=str(link.run_id), node=link.run.node)
