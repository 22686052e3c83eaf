"""The people of these tests."""

import pytest

from app.runs.tests.cast import person


@pytest.fixture
def ann():
    return person("ann", "operator")


@pytest.fixture
def bob():
    return person("bob", "approver")
