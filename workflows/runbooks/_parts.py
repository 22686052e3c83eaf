"""What stands beside a runbook's definition in its folder: a node that needs it, what people do on it, and what its guards refuse.

rehearsal.py      NODES: scenario -> its nodes at a moment; HANDS: step -> what a person does there
tests/stories.py  STORIES: walks from the situation to the end
tests/bad.py      REFUSED, UNSURE, NEVER, ANSWERS: what makes each of its own guards refuse or not know
"""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from workflows.runbooks import BOOKS


def parts(name: str) -> Iterator[tuple[str, ModuleType]]:
    """The slug of each runbook whose folder has a module of this name, and that module."""
    for book in BOOKS:
        module = f"{book.__name__}.{name}"
        if find_spec(module) is not None:
            yield book.RUNBOOK.slug, import_module(module)
