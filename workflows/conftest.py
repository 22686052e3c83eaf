"""What a walk recorded goes with the report of its test; a twin in memory is asked of one disk after the other."""

import pytest

from agents.collectors import _disks
from workflows.tests import tally


@pytest.fixture(autouse=True)
def _tally(record_property):
    yield
    for counted in tally.take():
        record_property(tally.PROPERTY, list(counted))


@pytest.fixture(autouse=True, scope="module")
def _one_disk_after_the_other():
    """A twin answers at once, so threads would only cost time. `agents/tests/test_one_question_to_each_disk.py` tests those."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_disks, "each", lambda question, disks: tuple(map(question, disks)))
        yield
