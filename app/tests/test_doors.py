"""Agents come through a door of their own, without what stands before a page."""

import json
from io import BytesIO

from app.asgi import Doors
from app.core.threads import Threads


def test_who_knocks_where_no_door_is_hears_so(wire):
    status, _, body = wire("POST", "/agent/v1/nonsense", b"{}")
    assert status == 404
    assert b"/agent/v1/nonsense" in body
    status, _, body = wire("GET", "/agent/v1/reports")
    assert status == 405
    assert "takes POST" in json.loads(body)["reason"]


def test_plain_http_and_a_strange_host_are_turned_away_at_this_door_too(settings):
    settings.SECURE_SSL_REDIRECT, settings.ALLOWED_HOSTS = True, ["slotlight.example"]
    doors = Doors(Threads(1, "test"))

    def knock(host):
        scope = {"type": "http", "method": "POST", "path": "/agent/v1/enrol", "query_string": b"", "headers": [(b"host", host)]}
        return doors._answer(scope, BytesIO(b"{}"))[0]

    assert knock(b"slotlight.example") == 301
    settings.SECURE_SSL_REDIRECT = False
    doors = Doors(Threads(1, "test"))
    assert knock(b"elsewhere.example") == 400
