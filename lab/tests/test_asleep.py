"""Which sleeper is woken: only one that was left as today's lab leaves it."""

import subprocess
from types import SimpleNamespace

import pytest

from lab import asleep
from lab.machine import HARDWARE


@pytest.fixture(autouse=True)
def qemu(monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *argv, **more: SimpleNamespace(stdout="QEMU emulator version 7.2.0\n"))


def test_one_that_was_left_in_another_state_is_not_woken(monkeypatch):
    before = asleep._digest(1536, HARDWARE)
    assert asleep._digest(1536, HARDWARE) == before
    monkeypatch.setattr(asleep, "SETTLED", "sync")
    assert asleep._digest(1536, HARDWARE) != before
