"""`zdb` asked for datasets, objects, the history on disk, or a walk over all blocks. It lists; of trouble it says what it could not read and what leaked.

`zdb` reads a pool that is imported while it changes: errors that only such a walk shows may be of that alone. No disk is judged by it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Cure, Situation
from workflows.pasted.base import Reader, Where, refused
from workflows.pasted.others import TROUBLE

_OBJECTS = re.compile(r" *Dataset \S{1,255} \[[A-Za-z]{2,12}\], ID [0-9]{1,20}, cr_txg [0-9]{1,20}, ")
_TABLE = re.compile(r" +Object +lvl +iblk +dblk ")
_HISTORY = re.compile(r"(?:unrecognized record:| {1,4}history (?:command|zone|who|time|hostname|txg|internal str|event): )")
_WALK = re.compile(r"\s*Traversing all blocks ")
_ROW = re.compile(r" {2,12}-?[0-9]{1,20} +[0-9]{1,2} +[0-9.]+[KMGT]? +[0-9.]+[KMGT]? +\S")
_FAILED = re.compile(
    r"(?:.{0,200} remaining: [0-9hrminsec ]{1,40})?\s*(?:zdb_blkptr_cb: )?Got error [0-9]{1,4} reading .*|\s*zdb: .{1,200} failed, errno [0-9]{1,4}.*|\s*failed to (?:own|hold) dataset .*"
)
_LEAK = re.compile(r"\s*(?:leaked space: |block traversal size [0-9]{1,20} != alloc |\S{1,80} feature refcount mismatch: )")
_FIRST = "|".join((_OBJECTS.pattern, _TABLE.pattern, _HISTORY.pattern, _WALK.pattern))


@dataclass(frozen=True)
class Listed:
    """What it counted, and the lines that tell of trouble."""

    datasets: int
    objects: int
    records: int  # of the history
    walked: bool
    failed: tuple[str, ...]  # what could not be read
    leaked: tuple[str, ...]
    odd: tuple[str, ...] = ()  # words of trouble in another form


def parse(lines: Sequence[str]) -> Listed | Unparsed:
    datasets, objects, records, walked = (sum(bool(form.match(line)) for line in lines) for form in (_OBJECTS, _ROW, _HISTORY, _WALK))
    failed, leaked = (tuple(line for line in lines if form.match(line)) for form in (_FAILED, _LEAK))
    if not (datasets or objects or records or walked or any(map(_TABLE.match, lines))):
        return refused("zdb", lines[0] if lines else "")
    odd = tuple(line for line in lines if TROUBLE.search(line) and not _HISTORY.match(line) and line not in (*failed, *leaked))
    return Listed(datasets, objects, records, bool(walked), failed, leaked, odd)


_LOOK = Cure("look", "See what the pool itself counts and lists.", (("zpool", "status", "-v", "-P", "-p"),))


def situations(value: Listed, where: Where) -> tuple[Situation, ...]:
    return tuple(
        _situation(name, lines, means, where)
        for name, lines, means in (
            ("failed", value.failed, "could not read all that it was asked for"),
            ("leaked", value.leaked, "counts space that belongs to nothing, or a count that does not fit"),
        )
        if lines
    )


def _situation(name: str, lines: Sequence[str], means: str, where: Where) -> Situation:
    count = f"{len(lines)} lines" if len(lines) > 1 else "One line"
    return Situation(
        "unexplained", f"unexplained:{where.node}:zdb:{name}", where.node, "watch",
        f"zdb {means}",
        f"{count} of it say so; the first is: {lines[0].strip()[:160]} Of a pool that is imported and in use zdb prints such lines without a fault, as the pool changes under it. "
        "Where the pool was exported, or `zpool status -v` lists damaged data too, they count. No disk is replaced and nothing is cleared for them.",
        where.evidence(*lines[:4]),
        subject={"node": where.node, "text": f"zdb: {name}"},
        cures=(_LOOK,),
        sure=False,
    )  # fmt: skip


def notes(value: Listed) -> tuple[str, ...]:
    counted = ((value.datasets, "datasets"), (value.objects, "objects"), (value.records, "lines of the history"))
    named = ", ".join(f"{count} {what}" for count, what in counted if count) or ("a walk over all blocks" if value.walked else "no object")
    return (f"It shows {named}, and of no disk how it is; `zpool status -P -p` does.",)


_ASKED = re.compile(r"-[A-Za-z]*[bcdhimsDvO][A-Za-z]*")
_OTHER = re.compile(r"-[A-Za-z]*[lCuSR][A-Za-z]*")

READER = Reader(
    name="zdb_objects",
    first=_FIRST,
    tools=("zdb",),
    asks=lambda tool, rest: any(map(_ASKED.fullmatch, rest)) and not any(map(_OTHER.fullmatch, rest)),
    inside=frozenset(("zdb_label", "zdb_config", "zdb_uberblocks", "zdb_import")),
    goes_on=r"\s|Dataset |[Uu]nrecognized record:|[0-9]{4}-[0-9]{2}-[0-9]{2}\.|Verified |Traversing |loading |zdb|failed |leaked |block traversal |Got error |errno|No leaks|Error counts",
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: not value.failed and not value.leaked,
    doubt=lambda value: f"zdb says of trouble: {value.odd[0].strip()[:120]}" if value.odd else "",
    notes=notes,
    again="zpool status -v -P -p",
)
