"""Confirming rows about people that carry no good seal, and the life of the key: by a person on the portal's machine, on the record.

That an existing installation is taken over happens once, when there is neither a key nor an event that says it was done before. Whoever can
write to the database alone can bring about neither.
"""

import os
from collections.abc import Collection, Iterable

from django.db import connection, transaction

from app.accounts import factors, scheme, sealing, seals
from app.accounts.kinds import USER
from app.accounts.models import Refusal, Seal
from app.accounts.seals import Kind
from app.core.compiled_queries import Row
from app.ledger import secretfile
from app.ledger import services as ledger
from app.ledger.models import LedgerEvent

BLESSED = "identity.blessed"
Found = tuple[Kind, Row, str]


class NotNow(Exception):
    """Nothing was changed; the text says what to do."""


def name_of(found: Found) -> str:
    kind, row, _why = found
    return str(row[len(kind.fields)])


def line(found: Found) -> str:
    """One row for a person to judge. No secret of it is shown."""
    kind, row, why = found
    shown = [f"{field} {value}" for field, value in zip(kind.fields, row, strict=False) if field in SHOWN and value not in (None, "", [])]
    of = seals.person_of(kind, row)
    return f"{name_of(found)}: {kind.what}{f' of {of}' if of else ''} ({', '.join(shown)}). {why}"


SHOWN = {
    "username",
    "is_active",
    "team_id",
    "role",
    "type",
    "provider",
    "uid",
    "name",
    "prefix",
    "scopes",
    "expires_at",
    "expire_date",
    "created_at",
    "changed",
    "counts_at",
}


def not_accepted() -> list[Found]:
    """Every row that is not accepted now, whether or not there is a key."""
    if not seals.key_path().exists() and not seals.next_path().exists():
        rows = ((kind, row) for kind in seals.KINDS.values() for row in seals.read(kind))
        return [(kind, row, "There is no key.") for kind, row in rows]
    return list(seals.faults())


def at_first(by: str) -> list[Found]:
    """Take over what an installation from before there were seals holds, or from before this version sealed more; nothing when that was done."""
    if seals.key_path().exists() and scheme.grown() and not seals.why_no_key():
        found = scheme.not_sealed_before()
        _bless(found, "This version seals more than the one before it.", by)
        scheme.keep()
        return found
    if seals.key_path().exists() or Seal.objects.exists() or LedgerEvent.objects.filter(type=BLESSED).exists():
        return []
    found = not_accepted()
    scheme.make_key()
    _bless(found, "This installation was taken over by the first version that seals them.", by)
    return found


def bless(names: Collection[str], why: str, by: str) -> list[Found]:
    """Those of these names that are not accepted now."""
    found = [one for one in not_accepted() if name_of(one) in names]
    if strange := set(names) - {name_of(one) for one in found}:
        raise NotNow(f"Nothing was confirmed. There is no such row, or it is accepted already: {', '.join(sorted(strange))}.")
    _bless(found, why, by)
    return found


def _bless(found: Iterable[Found], why: str, by: str) -> None:
    with transaction.atomic():
        for one in found:
            kind, row, _why = one
            if kind is USER:
                factors.recount(row[0])
                row = seals.read(kind, pk=row[0])[0]
            sealing.seal(kind, row)
        Refusal.objects.filter(pk__in=[name_of(one) for one in found]).delete()
        ledger.record(BLESSED, {"rows": [name_of(one) for one in found], "why": why}, by)


def rotate(why: str, by: str) -> int:
    """Another key, under which everything that is accepted is sealed again. Returns how many rows. Both keys are good meanwhile."""
    secretfile.make(seals.next_path())  # one that is there already was begun by a rotation that did not end
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {Seal._meta.db_table} IN SHARE ROW EXCLUSIVE MODE")
        count = 0
        for kind in seals.KINDS.values():
            for row in seals.read(kind):
                if not seals.fault(kind, row):
                    sealing.seal(kind, row)
                    count += 1
        ledger.record("identity.key-rotated", {"rows": count, "why": why}, by)
    os.replace(seals.next_path(), seals.key_path())
    return count


def begin_anew(why: str, by: str) -> list[Found]:
    """Another key in place of one that is lost. Everything is sealed as the database says it, so a person must have looked at it."""
    if seals.key_path().exists() or seals.next_path().exists():
        raise NotNow(f"The key {seals.key_path()} is there. Change it with `identity rotate`.")
    found = not_accepted()
    with transaction.atomic():
        Seal.objects.all().delete()
        ledger.record("identity.key-lost", {"why": why}, by)
    scheme.make_key()
    _bless(found, why, by)
    Refusal.objects.all().delete()
    return found
