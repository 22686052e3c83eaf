"""The outbox as a table: what `app.core.outbox.put` writes, in the caller's transaction."""

from collections.abc import Iterable

from django.utils import timezone

from app.core.outbox import Happening as Put
from app.notices.models import Happening


def put(happenings: Iterable[Put]) -> None:
    """A key that is there already stays as it is: a change that is reported twice is sent once."""
    now = timezone.now()
    Happening.objects.bulk_create([Happening(**one._asdict(), at=now) for one in happenings], ignore_conflicts=True)
