"""Walks of import-without-log: the first one is its transcript."""

from __future__ import annotations

from workflows.runbooks.import_pool.tests.stories import STARTED, not_imported
from workflows.runbooks.import_without_log import rehearsal
from workflows.tests.stories_of_disks import answer
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import Story, Walk

LOOKED_FOR = "Reseated in its slot and in another one; the device is dead."


def search(walk: Walk) -> str:
    return LOOKED_FOR


FIRST = Story(
    runbook="import-without-log",
    twins=lambda: rehearsal.NODES["import-without-log"](NOW),
    params=lambda facts: answer(facts, "import-without-log"),
    hands={"search": search, "start": lambda walk: STARTED},
    restored=not_imported,
)
OF_A_MIRROR = Story(
    runbook="import-without-log",
    twins=lambda: {"oss01": rehearsal.without_its_log(mirror=True)},
    params=lambda facts: answer(facts, "import-without-log"),
    hands={"search": search, "start": lambda walk: STARTED},
    restored=not_imported,
    name="import-without-log, both halves of a log mirror are lost",
)
STORIES = (FIRST, OF_A_MIRROR)
