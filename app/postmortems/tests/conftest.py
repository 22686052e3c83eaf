import time

import pytest

from app.postmortems import services
from app.runs import services as runs
from app.runs.tests.cast import RESILVER_SECONDS, Oss01, act, person, walk_to
from workflows.engine import events as ev


@pytest.fixture
def ann(db):
    return person("ann", "operator")


@pytest.fixture
def bob(db):
    return person("bob", "approver")


@pytest.fixture
def finished(db, tmp_path, ann, bob):
    """The incident from beginning to end, as it was walked."""
    oss01 = Oss01(tmp_path)
    oss01.report()
    run = walk_to("replace", oss01, ann, bob)
    act(run, ev.ExecuteAsked, ann)
    oss01.work()
    time.sleep(RESILVER_SECONDS * 1.5)
    oss01.report()
    runs.advance_from_facts("oss01")
    oss01.work()
    run.refresh_from_db()
    assert run.status == "done", run.here.note
    return run


@pytest.fixture
def story(finished, ann):
    return services.begin(ann, "A bay swapped at night", [finished], None)
