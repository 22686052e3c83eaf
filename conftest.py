"""Fixtures for every test. Pure tests (agents, workflows) use none of them and start nothing.

A test marked `django_db` runs as the app role in a clone of the migrated template and is rolled back.
`committed_db` gives a test a clone of its own, for what only happens at COMMIT; the ledger refuses TRUNCATE,
so `transaction=True` and `live_server` cannot work here and are refused with a sentence.
"""

import itertools
import os
from collections import Counter
from pathlib import Path

import pytest

from tests import memory

passed: set[str] = set()  # ids of the tests whose call passed
walked: set[tuple] = set()  # what those told of runbooks
SHARED_DATABASE = f"slotlight_test{os.environ.get('PYTEST_XDIST_WORKER', '')}"
numbers = itertools.count(1)
UMASK = os.umask(0o022)
os.umask(UMASK)
if memory.folder():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory.folder()))  # what `tmp_path` is made in


def pytest_runtest_teardown():
    """The agent's command line tightens the umask of its process; the tests after it must not make their folders under that."""
    os.umask(UMASK)


def _migrate(url: str) -> None:
    from django.core.management import call_command

    from app.core.database import point_at

    point_at(url)
    call_command("migrate", verbosity=0, interactive=False)


@pytest.fixture(scope="session")
def ground(django_db_blocker):
    """The private servers, up and migrated; see `tests/ground.py`."""
    from app.core.database import point_at
    from tests.ground import Ground

    ground = Ground.place()
    with django_db_blocker.unblock():
        ground.start(_migrate)
        ground.clone(SHARED_DATABASE)
        point_at(ground.url(SHARED_DATABASE))
    yield ground
    with django_db_blocker.unblock():
        point_at(ground.url(SHARED_DATABASE))
    ground.drop(SHARED_DATABASE)


@pytest.fixture(scope="session")
def django_db_setup(ground):
    """In place of pytest-django's: the database is already there."""


@pytest.fixture
def committed_name():
    return f"{SHARED_DATABASE}_{next(numbers)}"


@pytest.fixture
def committed_db(ground, committed_name, django_db_blocker):
    """A database of the test's own, where COMMIT is real. Yields its name; `ground.environment(name)` suits child processes."""
    from app.core.database import point_at

    ground.clone(committed_name)
    with django_db_blocker.unblock():
        point_at(ground.url(committed_name))
        yield committed_name
        point_at(ground.url(SHARED_DATABASE))
    ground.drop(committed_name)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """For `--dist loadfile`, as `./run test` asks for it; see `tests/order.py`."""
    from tests.order import LongestFirst

    return LongestFirst(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items):
    if "PYTEST_XDIST_WORKER" in os.environ:
        from tests.order import rank

        items.sort(key=lambda item: rank(item.nodeid))
    for item in items:
        mark = item.get_closest_marker("django_db")
        fixtures = set(getattr(item, "fixturenames", ()))
        truncates = (mark and mark.kwargs.get("transaction")) or fixtures & {"transactional_db", "live_server"}
        if truncates or (mark and "committed_db" in fixtures):
            raise pytest.UsageError(
                f"{item.nodeid}: use committed_db alone for real commits; transaction=True truncates, which the ledger refuses."
            )


def pytest_runtest_logreport(report):
    """The properties of a test are complete with its teardown. On the controller of pytest-xdist this is called for every worker's tests."""
    if report.when == "call" and report.passed:
        passed.add(report.nodeid)
    if report.when == "teardown" and report.passed and report.nodeid in passed:
        from workflows.tests import tally

        walked.update(tally.of_report(report.user_properties))


def pytest_terminal_summary(terminalreporter):
    """What was walked, and what was not run and why: a green run says nothing about what it left out."""
    if walked:
        from workflows.tests import tally

        terminalreporter.section("runbooks")
        for line in tally.table(walked):
            terminalreporter.line(line)
    _not_run(terminalreporter)


def _not_run(terminalreporter):
    reasons = Counter((Path(report.fspath).as_posix(), _reason(report)) for report in terminalreporter.stats.get("skipped", ()))
    if not reasons:
        return
    terminalreporter.section("not run")
    for (path, reason), count in sorted(reasons.items()):
        terminalreporter.line(f"{path}: {count} test{'s' if count > 1 else ''}. {reason}")


def _reason(report) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")
