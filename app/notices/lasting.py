"""What was sent and lasts: whether it is over, and by which key each channel identifies it. The one place that says firing or resolved.

Only what is known to be over is over: a node that is silent or gone, a review, a row that was forgotten end nothing.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from django.db.models import Q

from app.fleet.models import Situation
from app.notices.kinds import ASKED, KINDS
from app.notices.models import Channel, Happening, Incident, Notice

FIRING, RESOLVED = "firing", "resolved"


def _ended(open_: Iterable[str], every: Iterable[str]) -> set[str]:
    return set(every) - set(open_)


def _situations(keys: Collection[str]) -> set[str]:
    rows = Situation.objects.filter(key__in=keys)
    return _ended(rows.filter(closed_at=None).values_list("key", flat=True), rows.values_list("key", flat=True))


def _lasted(kind: str, field: str) -> Callable[[Collection[str]], set[str]]:
    """Of happenings that are marked when they are over."""

    def ended(names: Collection[str]) -> set[str]:
        rows = Happening.objects.filter(kind=kind, **{f"{field}__in": list(names)})
        return _ended(rows.filter(over=False).values_list(field, flat=True), rows.values_list(field, flat=True))

    return ended


def _asked(keys: Collection[str]) -> set[str]:
    """Of what has no end of its own, such as a wish for an approval: over when there is nothing to report of it any more."""
    return {key for key in keys if (found := list(_happened(key))) and not any(KINDS[one.kind](one) for one in found)}


def _happened(key: str) -> Iterable[Happening]:
    """With its repeats."""
    return Happening.objects.filter(Q(key=key) | Q(key__startswith=f"{key}:"), kind__in=KINDS)


# What stands before the colon of a stable key -> which of these are known to be over.
FAMILIES: Mapping[str, Callable[[Collection[str]], set[str]]] = {
    "situation": _situations,
    "alarm": _lasted("alarm", "details__key"),
    "node-silent": _lasted("node-silent", "node"),
    "ledger": _lasted("ledger-broken", "kind"),
    ASKED: _asked,
}


def over(abouts: Iterable[str]) -> set[str]:
    """Those of `abouts` that are known to be over."""
    families: dict[str, set[str]] = defaultdict(set)
    for about in abouts:
        family, _, name = about.partition(":")
        families[family].add(name)
    return {f"{family}:{name}" for family, names in families.items() if family in FAMILIES for name in FAMILIES[family](names)}


@dataclass
class Book:
    """What one channel was sent, and not yet its end."""

    channel: Channel
    alone: bool  # it keeps incidents: what concerns one that it has goes by itself
    known: dict[str, str] = field(init=False)  # stable key -> the key it was sent under
    lasts: set[str] = field(init=False)  # the keys under which something stands, or may

    def __post_init__(self) -> None:
        self.known = dict(Incident.objects.filter(channel=self.channel).values_list("about", "key"))
        ended = over(self.known)
        self.lasts = {key for about, key in self.known.items() if about not in ended}


def keep(channel: Channel, abouts: Iterable[str], key: str) -> None:
    """What is known under a key already keeps that."""
    Incident.objects.bulk_create([Incident(channel=channel, about=about, key=key) for about in abouts], ignore_conflicts=True)


def standing(notice: Notice) -> set[str]:
    """What stands of all that was sent under the key of this notice."""
    rows = Incident.objects.filter(channel=notice.channel_id, key=notice.incident).values_list("about", flat=True)
    keys = {*notice.members, *rows}
    return keys - over(keys)


def state(notice: Notice, stands: Collection[str]) -> str:
    """As it is at this moment, whatever the notice was made for: one that comes late neither opens what is over nor ends what is back."""
    return (FIRING if stands else RESOLVED) if notice.incident else ""
