"""Every route says who may use it, and means it."""

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from app import asgi
from app.core.permissions_by_route import (
    AGENT,
    ANYBODY,
    API,
    APPROVE,
    DOORS,
    ENROL,
    HOOK,
    METRICS,
    NOTICES,
    OPERATE,
    PEOPLE,
    ROUTES,
    SIGNED_IN,
    TECHNICIAN,
    TOKEN,
)
from app.nodes.tests.cast import Agent, through

SOME = {
    "pk": "1",
    "since": "1",
    "name": "oss01",
    "pool_name": "ost_0",
    "enclosure_id": "0x50050cc11ac016e2",
    "wwid": "naa:5000c500a65b207b",
    "digest": "0" * 64,
    "run": "1",
    "order_id": "o1",
    "slug": "spare-return",
    "token": "nobodys",
    "number": "1",
    "form": "json",
    "act": "check",
    "rest": "nothing",
    "provider_id": "sso",
}


def patterns(resolver=None, prefix="/"):
    """Every URL pattern there is, as (name, path with something in each place)."""
    for entry in (resolver or get_resolver()).url_patterns:
        here = prefix + filled(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from patterns(entry, here)
        else:
            assert isinstance(entry, URLPattern)
            yield entry.name, here


def filled(pattern) -> str:
    path = str(pattern)
    for name, converter in pattern.converters.items():
        word = type(converter).__name__.removesuffix("Converter").lower()
        path = path.replace(f"<{'str' if word == 'string' else word}:{name}>", SOME[name])
    assert "<" not in path, path
    return path


PATHS = dict(patterns())


def named(*statements: str) -> list:
    return [pytest.param(path, id=name) for name, path in PATHS.items() if ROUTES.get(name) in statements]


def test_every_url_has_a_name_and_states_what_it_asks_for():
    listed = list(patterns())
    assert all(name for name, _ in listed)
    assert len({name for name, _ in listed}) == len(listed), "two URLs of one name would share one statement"
    assert {name for name, _ in listed} == set(ROUTES)
    asked = {ANYBODY, SIGNED_IN, TOKEN, AGENT, OPERATE, APPROVE, ENROL, NOTICES, HOOK, TECHNICIAN, API, METRICS, PEOPLE}
    assert set(ROUTES.values()) <= asked


def test_every_door_in_front_of_django_states_what_it_asks_for():
    assert set(asgi.WAITING) | {f"{asgi.AGENTS}reports"} == set(DOORS)


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("path", named(SIGNED_IN, OPERATE, APPROVE, ENROL, NOTICES, PEOPLE))
def test_a_page_is_shown_to_nobody_who_is_not_signed_in(client, path, method):
    answer = getattr(client, method)(path)
    assert answer.status_code == 302, answer.content[:200]
    assert answer.headers["Location"].startswith("/sign-in/")


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["get", "post", "put", "delete"])
@pytest.mark.parametrize("path", named(AGENT))
def test_an_agents_route_is_deaf_without_a_signature(client, path, method):
    answer = getattr(client, method)(path, data=b"{}", content_type="application/json") if method != "get" else client.get(path)
    assert answer.status_code in (401, 405)


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["get", "post", "put", "delete"])
@pytest.mark.parametrize("path", named(API, METRICS))
def test_a_programs_route_is_deaf_without_a_token(client, django_user_model, path, method):
    """Also to a browser that is signed in: the API knows no cookies."""
    client.force_login(django_user_model.objects.create_user("dan"))
    answer = client.generic(method.upper(), path, b"{}", content_type="application/json", REMOTE_ADDR="192.0.2.7")
    assert answer.status_code in (401, 405)


@pytest.mark.django_db
def test_a_token_is_asked_for(client):
    [enrol] = [path for name, path in PATHS.items() if ROUTES[name] == TOKEN]
    assert client.post(enrol, data=b"{}", content_type="application/json").status_code == 403


@pytest.mark.django_db
@pytest.mark.parametrize("path", named(HOOK))
def test_a_hook_that_nobody_made_is_not_there(client, path):
    assert client.post(path, data=b"{}", content_type="application/json").status_code == 404


@pytest.mark.django_db
def test_an_agent_reaches_nothing_that_is_not_listed(client):
    agent = Agent(through(client))
    assert agent.enrol()[0] == 200
    for path in ("keys", "orders", "orders/o1", "orders/o1/seal", "orders/o1/__class__", "_private", "enrol/../keys", "orders/o1/claim/"):
        full = f"/agent/v1/{path}"
        headers, _ = agent.sign(full, b"{}")
        assert agent.post(full, b"{}", headers)[0] == 404, path
