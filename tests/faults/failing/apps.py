import functools
import os
import threading
from importlib import import_module
from pathlib import Path

from django.apps import AppConfig
from django.db.backends.base.base import BaseDatabaseWrapper

EXIT_CODE = 137
# name -> (module, function): what writes for a person and for the agent
POINTS = {
    "act": ("app.runs.services", "act"),
    "offer": ("app.runs.ordering.orders", "next_for"),
    "claim": ("app.runs.ordering.orders", "claim"),
    "start": ("app.runs.ordering.orders", "start"),
    "receipt": ("app.runs.ordering.orders", "receipt"),
}
WANTED = Path(os.environ.get("SLOTLIGHT_PORTAL_FAILPOINT", "/nowhere"))
HERE = threading.local()


class Failing(AppConfig):
    name = "tests.faults.failing"
    label = "failing"

    def ready(self) -> None:
        for point, (module, function) in POINTS.items():
            _watch(point, import_module(module), function)
        commit = BaseDatabaseWrapper._commit

        def dying(connection):
            _die_if_wanted(getattr(HERE, "point", ""), "before")
            commit(connection)

        BaseDatabaseWrapper._commit = dying


def _watch(point: str, owner, function: str) -> None:
    real = getattr(owner, function)

    @functools.wraps(real)
    def watched(*args, **fields):
        HERE.point = point
        try:
            answer = real(*args, **fields)
        finally:
            HERE.point = ""
        _die_if_wanted(point, "after")  # all is committed, and nobody has the answer yet
        return answer

    setattr(owner, function, watched)


def _die_if_wanted(point: str, when: str) -> None:
    if point and WANTED.exists() and WANTED.read_text() == f"{point}:{when}":
        WANTED.unlink()
        os._exit(EXIT_CODE)
