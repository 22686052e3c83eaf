"""Agents come through a door of their own, without what stands before a page."""

import json


def test_who_knocks_where_no_door_is_hears_so(wire):
    status, _, body = wire("POST", "/agent/v1/nonsense", b"{}")
    assert status == 404
    assert b"/agent/v1/nonsense" in body
    status, _, body = wire("GET", "/agent/v1/reports")
    assert status == 405
    assert "takes POST" in json.loads(body)["reason"]
