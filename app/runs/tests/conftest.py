import pytest

from app.runs.tests.cast import Oss01, person


@pytest.fixture
def ann(db):
    return person("ann", "operator")


@pytest.fixture
def bob(db):
    return person("bob", "approver")


@pytest.fixture
def eve(db):
    return person("eve", "operator")


@pytest.fixture
def oss01(db, tmp_path):
    """The node of the incident, having reported once."""
    node = Oss01(tmp_path)
    node.report()
    return node
