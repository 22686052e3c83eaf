"""Whether a row about a person was written by this portal. Who can write to the database alone gets no right by it.

Each such row has a seal: an HMAC-SHA256 over its table, its key, its person, its content and the newest event of the ledger about it,
under a key that the database does not hold. A row without a seal, with another's, or changed since is not accepted. Nor is an old row that
was put back with its old seal: each change and each end is an event, so the newest event is another one then, and events cannot be taken back.

`app.accounts.sealing` writes seals. Whoever takes a right from a row asks here first, and reads row and seal in one query.
"""

import hmac
import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from django.db.models import BinaryField, F, Model, OuterRef, QuerySet, Subquery, TextField, Value
from django.db.models.expressions import Combinable, Func
from django.db.models.functions import Cast, Concat
from django.utils import timezone

from app.accounts.models import Refusal, Seal, User
from app.core.compiled_queries import ConvertedWrittenOnce, Row
from app.ledger import forms, keys, looking, secretfile
from app.ledger.models import LedgerEvent

HOW = "On the portal's machine, `./run manage identity` lists such rows and what to do."
AGAIN_SECONDS = 0.1
T = TypeVar("T")
M = TypeVar("M", bound=Model)
NOTED_EVERY, KEPT = timedelta(minutes=1), timedelta(days=1)
log = logging.getLogger(__name__)


def always(values: Row) -> bool:
    return True


@dataclass(frozen=True)
class Kind:
    """One table whose rows identify a person, or give a person a right."""

    model: type[Model]
    what: str  # such a row, in words
    person: str  # the field that holds the person's key; empty where the content says it
    fields: tuple[str, ...]  # what is sealed of a row
    hidden: bool = False  # its key is a secret
    is_event: Callable[[Row], bool] = always  # whether the end or change of a row with these values is an event
    live: Callable[[QuerySet[Any]], QuerySet[Any]] = QuerySet.all  # the rows that can still open something
    later: int = 0  # how many of the last fields came after seals were made without them: while they are NULL, they stand in none

    @property
    def table(self) -> str:
        return self.model._meta.db_table

    def name(self, pk: object) -> str:
        return f"{self.table}:{sha256(str(pk).encode()).hexdigest() if self.hidden else pk}"

    def name_of(self, path: str) -> Combinable:
        """The same as SQL, of the row whose key stands in this column."""
        key: Combinable = Cast(F(path), TextField())
        if self.hidden:
            utf8 = Func(key, Value("UTF8"), function="convert_to", output_field=BinaryField())
            key = Func(Func(utf8, function="sha256"), Value("hex"), function="encode", output_field=TextField())
        return Concat(Value(f"{self.table}:"), key, output_field=TextField())


KINDS: dict[type[Model], Kind] = {}
ALSO: list[Callable[[], Iterator[tuple[Kind, Row, str]]]] = []  # what can be wrong with rows whose seal is good


class KeyLost(forms.KeyLost):
    """No seal can be checked or made, so no row is accepted."""


# --- the key


def key_path() -> Path:
    """Beside the ledger's key, unless `SLOTLIGHT_IDENTITY_KEY` says otherwise."""
    return Path(keys.setting("SLOTLIGHT_IDENTITY_KEY") or keys.key_path().with_name("identity.key"))


def next_path() -> Path:
    """The key that takes the other's place in a moment; while both are there, both are good. See `app.accounts.blessing.rotate`."""
    return key_path().with_name(f"{key_path().name}.next")


def secrets() -> list[bytes]:
    """The keys that are good now, the one to seal with first. Raises KeyLost."""
    found = [path for path in (next_path(), key_path()) if path.exists()]
    try:
        if not found:
            raise FileNotFoundError("it is not there")
        return [secretfile.read(path) for path in found]
    except (OSError, ValueError) as error:
        raise KeyLost(
            f"The key {key_path()} cannot be used: {error}. Without it no account in the database is accepted. Put it back from the"
            " backup of the data folder; if it is lost, `./run manage identity begin-anew` on the portal's machine makes another."
        ) from error


def why_no_key() -> str:
    """Why no seal can be checked, though there are some; "" when they can."""
    try:
        secrets()
    except KeyLost as lost:
        return str(lost) if Seal.objects.exists() else ""
    return ""


def mac(secret: bytes, kind: Kind, name: str, values: Row, mark: str) -> str:
    """`values` are those of `kind.fields`, as the database gives them."""
    person = values[kind.fields.index(kind.person)] if kind.person else None
    count = len(values)
    while count > len(values) - kind.later and values[count - 1] is None:
        count -= 1
    text = json.dumps(["1", kind.table, name, person, values[:count], mark], default=_plain, separators=(",", ":"), sort_keys=True)
    return hmac.new(secret, text.encode(), sha256).hexdigest()


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    raise TypeError(f"There is no seal over a {type(value).__name__}.")


# --- reading a row with its seal


def _mark() -> Combinable:
    leaf = Func(F("leaf"), Value("hex"), function="encode", output_field=TextField())
    return Concat(Cast("id", TextField()), Value(":"), leaf, output_field=TextField())


def mark_of(event: LedgerEvent) -> str:
    return f"{event.pk}:{bytes(event.leaf).hex()}"


def with_seals(rows: QuerySet[M], kind: Kind, path: str = "", prefix: str = "seal") -> QuerySet[M]:
    """These rows with `<prefix>_name`, `_mac`, `_mark` and `_newest` of the row of this kind that `path` leads to."""
    rows = rows.annotate(**{f"{prefix}_name": kind.name_of(f"{path}pk")})
    seals = Seal.objects.filter(pk=OuterRef(f"{prefix}_name"))
    events = LedgerEvent.objects.filter(identity=OuterRef(f"{prefix}_name")).order_by("-id").annotate(found=_mark())
    rows = rows.annotate(
        **{
            f"{prefix}_mac": Subquery(seals.values("mac")),
            f"{prefix}_mark": Subquery(seals.values("mark")),
            f"{prefix}_newest": Subquery(events.values("found")[:1]),
        }
    )
    return rows


def columns(kind: Kind, path: str = "", prefix: str = "seal") -> tuple[str, ...]:
    """For `values_list`, what `fault` takes of such a row."""
    return (*(f"{path}{field}" for field in kind.fields), *(f"{prefix}_{part}" for part in ("name", "mac", "mark", "newest")))


def fault(kind: Kind, found: Row) -> str:
    """Why this row, read as `columns`, is not accepted; "" when it is."""
    *values, name, sealed, mark, newest = found
    if sealed is None:
        return f"This {kind.what} has no seal: it was not written by this portal, or not confirmed after an upgrade."
    try:
        known = secrets()
    except KeyLost as lost:
        return str(lost)
    if any(hmac.compare_digest(mac(secret, kind, name, tuple(values), newest or ""), sealed) for secret in known):
        return ""
    if (mark or "") != (newest or ""):
        return f"This {kind.what} is an old one that was put back: the ledger has a newer event about it."
    return f"This {kind.what} does not fit its seal: it was changed outside the portal, or sealed with another key."


def read(kind: Kind, **which: Any) -> list[Row]:
    """The rows with these values, each as `fault` takes it."""
    if not which or any("__" in name or value is None for name, value in which.items()):
        return list(_rows(kind, **which))
    return _written_once(kind, tuple(which))(*which.values())


def _rows(kind: Kind, **which: Any) -> QuerySet[Model, Row]:
    return with_seals(kind.model._base_manager.filter(**which), kind).values_list(*columns(kind))


@cache
def _written_once(kind: Kind, names: tuple[str, ...]) -> ConvertedWrittenOnce:
    """Writing the SQL takes longer than asking it, and a sign-in asks a dozen times."""
    return ConvertedWrittenOnce(lambda *values: _rows(kind, **dict(zip(names, values, strict=True))), len(names))


# --- asking


def why_not(model: type[Model], **which: Any) -> str:
    """Why one of these rows is not accepted; "" when all are, or there are none. Who is not accepted is noted for the alarm."""
    kind = KINDS[model]
    found = twice(lambda: read(kind, **which), lambda rows: not any(fault(kind, row) for row in rows))
    faults = [why for row in found if (why := noted(kind, row))]
    return f"{faults[0]} {HOW}" if faults else ""


def twice(ask: Callable[[], T], is_good: Callable[[T], bool]) -> T:
    """What was read, and if it is not good what is read a moment later: a row and its seal may be on their way in another transaction."""
    found = ask()
    if is_good(found):
        return found
    time.sleep(AGAIN_SECONDS)
    return ask()


def first_accepted(ask: Callable[[], list[M]]) -> M | None:
    """The first row that a query with `with_seals` finds; None when there is none, or none that is accepted."""
    one = next(iter(twice(ask, lambda rows: all(not fault(KINDS[type(one)], of_model(one)) for one in rows))), None)
    return one if one is not None and not noted(KINDS[type(one)], of_model(one)) else None


def of_model(one: Model) -> Row:
    """A row that came with `with_seals`, as `fault` takes it."""
    parts = (f"seal_{part}" for part in ("name", "mac", "mark", "newest"))
    return tuple(getattr(one, name) for name in (*KINDS[type(one)].fields, *parts))


def noted(kind: Kind, row: Row) -> str:
    """Like `fault`, and the alarm learns of it."""
    why = fault(kind, row)
    if why:
        note(kind, row, why)
    return why


def note(kind: Kind, row: Row, why: str) -> None:
    """For the alarm, and once for the ledger. It never stops who asked."""
    name, now = row[len(kind.fields)], timezone.now()
    known = Refusal.objects.filter(pk=name, why=why).first()
    if known is not None and now - known.last_at < NOTED_EVERY:
        return
    log.error("Not accepted: %s. %s", name, why)
    person = person_of(kind, row)
    Refusal.objects.update_or_create(
        pk=name,
        defaults={"person": person, "why": why, "last_at": now},
        create_defaults={"person": person, "why": why, "first_at": now, "last_at": now},
    )
    if known is None:
        looking.record_if_possible("identity.refused", {"row": name, "of": person, "why": why}, "portal")


def person_of(kind: Kind, row: Row) -> str:
    if not kind.person:
        return ""
    pk = row[kind.fields.index(kind.person)]
    if pk is None:  # the portal's own doing, or a person's on its command line
        return ""
    return User.objects.filter(pk=pk).values_list("username", flat=True).first() or f"person {pk}"


def faults() -> Iterator[tuple[Kind, Row, str]]:
    """Every row that is not accepted now."""
    for kind in KINDS.values():
        rows = with_seals(kind.live(kind.model._base_manager.all()), kind).values_list(*columns(kind))
        yield from ((kind, row, why) for row in rows.iterator() if (why := fault(kind, row)))
    for more in ALSO:
        yield from more()


def sweep() -> None:
    """Look at every row, used or not, and note what is forged; forget what was seen last a day ago. Rung by beat."""
    Refusal.objects.filter(last_at__lt=timezone.now() - KEPT).delete()
    try:
        secrets()
    except KeyLost as lost:  # then the key is reported, and not every row
        log.error("%s", lost)
        return
    found = twice(lambda: list(faults()), lambda bad: not bad)
    for kind, row, why in found:
        note(kind, row, why)


def register(*kinds: Kind) -> Iterable[Kind]:
    KINDS.update({kind.model: kind for kind in kinds})
    return kinds
