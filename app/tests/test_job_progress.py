"""How far a copy is: said to the one who asked, under the name the browser made up, and to nobody else."""

import pytest
import redis
from django.test import Client, RequestFactory

from app.accounts.models import User
from app.core import job_progress

pytestmark = pytest.mark.django_db
NAME = "a-name-of-mine"


@pytest.fixture
def ann():
    return User.objects.create_user("ann")


def asks(person, name=NAME):
    client = Client()
    client.force_login(person)
    return client.get(f"/progress/{name}/")


def request_of(person, name=NAME):
    request = RequestFactory().get("/", {"progress": name})
    request.user = person
    return request


def test_it_says_how_far_to_who_asked_and_to_nobody_else(ann):
    with job_progress.reported_as_asked(request_of(ann)):
        for _ in job_progress.over(["a", "b", "c"], "Proving events"):
            pass
    assert asks(ann).json() == {"doing": "Proving events", "through": 0, "of": 3}
    assert asks(User.objects.create_user("bob")).json() == {}
    assert asks(ann, "another-name").json() == {}
    assert Client().get(f"/progress/{NAME}/").status_code == 302


@pytest.mark.parametrize("name", ["", "short", "x" * 41, "no/slash-here", "bell:fleet"])
def test_a_name_that_is_none_says_nothing(ann, name, monkeypatch):
    monkeypatch.setattr(job_progress, "valkey", lambda: pytest.fail("nothing was to be kept"))
    with job_progress.reported_as_asked(request_of(ann, name)):
        assert list(job_progress.over([1, 2], "Proving")) == [1, 2]


def test_a_valkey_that_is_down_stops_no_copy(ann, monkeypatch):
    monkeypatch.setattr(job_progress, "valkey", lambda: redis.Redis(port=1))
    with job_progress.reported_as_asked(request_of(ann)):
        assert list(job_progress.over([1, 2], "Proving")) == [1, 2]
    assert asks(ann).json() == {}


def test_it_is_told_now_and_then_and_not_for_each(monkeypatch):
    lines = []
    with job_progress.reported_to(lambda *what: lines.append(what)):
        for _ in job_progress.over(range(10_000), "Proving"):
            pass
    assert lines[0] == ("Proving", 0, 10_000)
    assert len(lines) < 20
