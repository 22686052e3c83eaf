"""Everything that is recorded without a database, worked out in as many processes as there are processors."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from agents.tests.scenarios import STEPS
from tests.frozen import guards, operations, runbooks, signed_bytes, situations
from tests.frozen.record import Record, Texts, add, add_texts
from workflows.rehearsal import scenarios
from workflows.tests.stories import STORIES

Unit = Callable[[str, Path], tuple[Record, Texts]]
WHOLE = {operations.GROUP: operations.record, signed_bytes.GROUP: signed_bytes.record, runbooks.GROUP: runbooks.record}
OF_STORIES = (guards.GROUP, "stories", "orders")
OF_NODES = (situations.GROUP, situations.FACTS)
GROUPS = (*OF_STORIES, *OF_NODES, situations.TRIAGE, *WHOLE)


def compute(groups: Iterable[str] = GROUPS) -> tuple[Record, Texts]:
    wanted, record, texts = set(groups), {}, {}
    for name in WHOLE.keys() & wanted:
        _take(WHOLE[name](), record, texts)
    with tempfile.TemporaryDirectory(prefix="slotlight-frozen-") as folder:
        tasks = [(kind, name, folder) for kind, name in _units(wanted)]
        if tasks:
            with ProcessPoolExecutor(os.cpu_count(), get_context("fork")) as pool:
                for found in pool.map(_one, tasks, chunksize=1):
                    _take(found, record, texts)
    return {name: record[name] for name in record if name in wanted}, {name: texts[name] for name in texts if name in wanted}


def _take(found: tuple[Record, Texts], record: Record, texts: Texts) -> None:
    add(record, found[0])
    add_texts(texts, found[1])


UNITS: dict[str, Unit] = {
    "story": guards.of_story,
    "capture": situations.of_capture,
    "twin": situations.of_twin,
    "paste": situations.of_paste,
}


def _units(wanted: set[str]) -> Iterator[tuple[str, str]]:
    """The long ones first."""
    if wanted & set(OF_STORIES):
        yield from (("story", title) for title in STORIES)
    if wanted & set(OF_NODES):
        yield from (("twin", name) for name in scenarios.names())
        yield from (("capture", name) for name in STEPS)
    if situations.TRIAGE in wanted:
        yield from (("paste", name) for name in situations.pastes())


def _one(task: tuple[str, str, str]) -> tuple[Record, Texts]:
    kind, name, folder = task
    return UNITS[kind](name, Path(folder) / f"{kind}-{name.replace('/', '-')}")
