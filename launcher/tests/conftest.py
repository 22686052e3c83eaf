"""Fixtures for the launcher's tests."""

import pytest

from launcher import servers


@pytest.fixture(autouse=True)
def shared(tmp_path, monkeypatch):
    """What root puts where `nobody` may enter goes to a folder of the test's own."""
    monkeypatch.setattr(servers, "SHARED", tmp_path / "shared")
