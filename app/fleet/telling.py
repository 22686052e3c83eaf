"""What of the situations somebody may have to be told."""

from collections.abc import Iterable, Iterator

from app.fleet.models import Situation
from app.fleet.severity import rank
from app.outbox import Happening


def is_worse(before: str, now: str) -> bool:
    return rank(now) < rank(before)


def happened(opened: Iterable[Situation], closed: Iterable[Situation], worse: Iterable[tuple[Situation, str]]) -> Iterator[Happening]:
    for row in opened:
        yield _about("situation-opened", row)
    for row in closed:
        yield _about("situation-closed", row)
    for row, severity in worse:
        yield _about("situation-worse", row, to=severity)


def _about(kind: str, row: Situation, **said: str) -> Happening:
    key = ":".join([kind, str(row.pk), *said.values()])
    return Happening(kind, key, row.node.name, said={"situation": row.pk, **said})
