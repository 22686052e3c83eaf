"""What a walk recorded goes with the report of its test."""

import pytest

from workflows.tests import tally


@pytest.fixture(autouse=True)
def _tally(record_property):
    yield
    for counted in tally.take():
        record_property(tally.PROPERTY, list(counted))
