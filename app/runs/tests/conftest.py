import pytest

from app.runs import in_hand
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


@pytest.fixture
def two_on_one(monkeypatch):
    """Two runs may begin on one member, as they could before that was refused: what stands behind that bar must hold without it."""
    monkeypatch.setattr(in_hand, "why_not", lambda runbook, params: "")
