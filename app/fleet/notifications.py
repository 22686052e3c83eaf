"""Which situations are sent as notices."""

from collections.abc import Collection, Iterable, Iterator

from app.core.outbox import Happening
from app.fleet.models import Situation
from app.fleet.pages.judging import rules
from app.fleet.severity import rank


def is_worse(before: str, now: str) -> bool:
    return rank(now) < rank(before)


def happened(
    opened: Iterable[Situation], closed: Iterable[Situation], worse: Iterable[tuple[Situation, str]], anew: Collection[int] = ()
) -> Iterator[Happening]:
    """`anew` are the nodes, by primary key, that this release judges for the first time: what it opens there is sent as one."""
    first: dict[str, list[int]] = {}
    for row in opened:
        if row.node_id in anew:
            first.setdefault(row.node.name, []).append(row.pk)
        else:
            yield _about("situation-opened", row)
    for node, found in first.items():
        yield Happening("node-judged-anew", f"node-judged-anew:{node}:{rules()}", node, details={"situations": found})
    for row in closed:
        yield _about("situation-closed", row)
    for row, severity in worse:
        yield _about("situation-worse", row, to=severity)


def _about(kind: str, row: Situation, **fields: str) -> Happening:
    key = ":".join([kind, str(row.pk), *fields.values()])
    return Happening(kind, key, row.node.name, details={"situation": row.pk, **fields})
