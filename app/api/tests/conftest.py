import pytest

from app import readiness
from app.api import metrics
from app.runs.tests.cast import Oss01, person


@pytest.fixture(autouse=True)
def _forget():
    """What was read at the last scrape was of another test."""
    metrics.last.metrics, readiness.last.found = [], {}


@pytest.fixture
def ann(db):
    return person("ann", "operator")


@pytest.fixture
def bob(db):
    return person("bob", "approver")


@pytest.fixture
def dan(db, django_user_model):
    """May look, and nothing more."""
    return django_user_model.objects.create_user("dan")


@pytest.fixture
def oss01(db, tmp_path):
    node = Oss01(tmp_path)
    node.report()
    return node
