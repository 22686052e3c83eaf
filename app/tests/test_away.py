"""A browser whose session is over keeps its page: a part is answered 401, never with the sign-in in its place. Names of the frame are its own."""

import re
from pathlib import Path

import pytest
from django.urls import reverse

from app.accounts.models import User

pytestmark = pytest.mark.django_db
BASE = Path(__file__).resolve().parents[2] / "templates/base.html"


@pytest.mark.parametrize("address", ["runs", "approvals", "alarms", "fleet"])
def test_a_part_asked_for_without_a_session_is_401_and_says_where_to_sign_in(client, address):
    answer = client.get(reverse(address), headers={"HX-Request": "true"})
    assert (answer.status_code, answer["X-Sign-In"]) == (401, reverse("sign-in"))
    assert "<form" not in answer.content.decode()


def test_an_act_sent_without_a_session_is_401_too(client):
    assert client.post(reverse("run-act", args=[1]), {"act": "comment"}, headers={"HX-Request": "true"}).status_code == 401


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true", "HX-Boosted": "true"}])
def test_a_whole_page_goes_to_the_sign_in(client, headers):
    answer = client.get(reverse("runs"), headers=headers)
    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("sign-in"))


def test_no_page_fills_the_search_field_but_the_search(client, rf):
    """The field of the frame reads a name of its own: any page's context may hold whatever it likes under another."""
    [name] = re.findall(r'name="q" value="\{\{ (\w+) \}\}"', BASE.read_text())
    views = [path for path in (BASE.parents[1] / "app").rglob("*.py") if "tests" not in path.parts and f'"{name}"' in path.read_text()]
    assert [path.parent.name for path in views] == ["search"]
    client.force_login(User.objects.create_user("ann"))
    assert 'name="q" value="ost_0"' in client.get(reverse("search"), {"q": "ost_0"}).content.decode()
