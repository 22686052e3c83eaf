"""The one place that writes seals: whenever a model that has a kind in `app.accounts.seals` is saved or deleted through Django.

What goes past Django's `save` and `delete` (an UPDATE of a queryset, SQL) is not sealed, and so is not accepted. A row that was not accepted
before it was saved is saved and stays so: a forged row does not become good by changing something else of it. `app.accounts.blessing` does, on
the portal's machine.
"""

import logging
from collections.abc import Collection, Iterable

from django.db import connection, transaction
from django.db.models import Model
from django.db.models.signals import post_delete, post_save, pre_save

from app.accounts import scheme, seals
from app.accounts.models import Seal
from app.accounts.seals import KINDS, Kind
from app.core.compiled_queries import Row, own_field
from app.ledger import looking

PUT = """
INSERT INTO identity_seal (name, mark, mac) VALUES (%s, %s, %s)
ON CONFLICT (name) DO UPDATE SET mark = EXCLUDED.mark, mac = EXCLUDED.mac
"""
BEFORE = "_row_before_saving"
log = logging.getLogger(__name__)


def watch(kinds: Iterable[Kind]) -> None:
    """From now on rows of these kinds are sealed as they are written; called once, by the app that has them."""
    for kind in kinds:
        pre_save.connect(before, sender=kind.model)
        post_save.connect(saved, sender=kind.model)
        post_delete.connect(deleted, sender=kind.model)


def before(sender: type[Model], instance: Model, update_fields: Collection[str] | None = None, **_: object) -> None:
    kind = KINDS[sender]
    if _concerns(kind, update_fields):
        setattr(instance, BEFORE, next(iter(seals.read(kind, pk=instance.pk)), None) if instance.pk is not None else None)


def saved(sender: type[Model], instance: Model, update_fields: Collection[str] | None = None, **_: object) -> None:
    kind = KINDS[sender]
    if not _concerns(kind, update_fields):
        return
    was = instance.__dict__.pop(BEFORE, None)
    if was is not None and (why := seals.fault(kind, was)):
        seals.note(kind, was, why)
        return
    with transaction.atomic():
        row = seals.read(kind, pk=instance.pk)[0]
        if was is not None and _values(kind, was) == _values(kind, row):
            return
        try:
            _put(kind, row, _mark_of(kind, was, row) if was is not None and kind.is_event(_values(kind, was)) else row[-1])
        except seals.KeyLost as lost:
            if kind.is_event(_values(kind, row)):
                raise
            log.error("Not sealed, and so not accepted: %s. %s", row[len(kind.fields)], lost)  # what a browser does before anybody signs in


def deleted(sender: type[Model], instance: Model, **_: object) -> None:
    """That it ended is an event, so that it cannot be put back. A ledger that takes nothing does not stop a person from being shut out."""
    kind = KINDS[sender]
    values = tuple(getattr(instance, field) for field in kind.fields)
    name = kind.name(instance.pk)
    with transaction.atomic():
        if kind.is_event(values):
            body = {"identity": name, "what": kind.what, "of": seals.person_of(kind, (*values, name))}
            looking.record_if_possible("identity.ended", body, "portal")
        Seal.objects.filter(pk=name).delete()


def bind(one: Model) -> None:
    """A row made in this transaction, to the event just recorded about it with `identity` in its body."""
    kind = KINDS[type(one)]
    *row, _newest = seals.read(kind, pk=one.pk)[0]
    made_just_now = row[-1] == "" and not seals.fault(kind, (*row, None))
    if made_just_now:
        seal(kind, (*row, _newest))


def seal_anew(one: Model) -> None:
    """A row just written without signals."""
    kind = KINDS[type(one)]
    seal(kind, seals.read(kind, pk=one.pk)[0])


def seal(kind: Kind, row: Row) -> None:
    """As it is. Only for who has looked at it; see `app.accounts.blessing`."""
    _put(kind, row, row[-1])


def _concerns(kind: Kind, update_fields: Iterable[str] | None) -> bool:
    if update_fields is None:
        return True
    columns = {own_field(kind.model, name).attname for name in update_fields}
    return bool(columns & set(kind.fields))


def _values(kind: Kind, row: Row) -> Row:
    return row[: len(kind.fields)]


def _mark_of(kind: Kind, was: Row, row: Row) -> str | None:
    """The mark of the event that says what changed, never to what; that of the last one when the ledger takes nothing."""
    changed = [field for field, old, new in zip(kind.fields, was, row, strict=False) if old != new]
    body = {"identity": row[len(kind.fields)], "what": kind.what, "of": seals.person_of(kind, row), "changed": changed}
    event = looking.record_if_possible("identity.changed", body, "portal")
    return seals.mark_of(event) if event is not None else row[-1]


def _put(kind: Kind, row: Row, mark: str | None) -> None:
    """`mark` is the newest event about the row; None while there is none."""
    name = row[len(kind.fields)]
    with connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {Seal._meta.db_table} IN ROW EXCLUSIVE MODE")  # not while a key is changed; see `blessing.rotate`
        cursor.execute(PUT, [name, mark or "", seals.mac(_secret(), kind, name, _values(kind, row), mark or "")])


def _secret() -> bytes:
    """Made at first use, and never anew while something is sealed with it."""
    if not seals.key_path().exists() and not seals.next_path().exists() and not Seal.objects.exists():
        scheme.make_key()
    return seals.secrets()[0]
