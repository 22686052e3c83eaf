"""Finding a disk by a part of its WWID or serial number, and a pool or vdev by a part of its guid, as it came through the phone.

Each disk's row holds every run of four characters in them, under an index; the runs of a guid PostgreSQL takes itself for its index.
What is looked for has its own runs: a row that holds them all is looked at, and no other. PostgreSQL needs no extension for that.
"""

from collections.abc import Iterable
from typing import TypeVar

from django.db.models import Model, QuerySet

from app.fleet.models import Runs

RUN = 4  # characters: what is shorter names too many disks
HELD_MAX = 1000
M = TypeVar("M", bound=Model)


def parts_of(texts: Iterable[str]) -> list[str]:
    return sorted({part for text in texts for part in runs(text)})


def runs(text: str) -> set[str]:
    """Every run of characters in it, without regard to case."""
    text = text.lower()
    return {text[at : at + RUN] for at in range(len(text) - RUN + 1)}


def holding(found: QuerySet[M], field: str, part: str) -> QuerySet[M]:
    """Those of `found` whose `field` holds this part, by the index over its runs. Of a part that is in everything, some: no one reads on."""
    held = found.order_by().alias(held=Runs(field)).filter(held__contains=sorted(runs(part)), **{f"{field}__contains": part})
    return found.filter(pk__in=held.values("pk")[:HELD_MAX])
