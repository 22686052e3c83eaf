"""The agent in one file: whole, without tests and twin, and the same bytes for the same source."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from agents.packaging import zipapp

ROOT = Path(__file__).resolve().parents[3]


def test_it_holds_the_agent_and_neither_tests_nor_twin():
    names = {path.as_posix() for path in zipapp.sources(ROOT)}
    assert {
        "agents/host/host.py",
        "agents/portal/wire.py",
        "agents/collectors/zpool_status.py",
        "agents/operations/zpool_replace.py",
    } <= names
    assert not [name for name in names if "/tests/" in name or "/twin/" in name or "/packaging/" in name]


def test_the_same_source_gives_the_same_bytes(tmp_path):
    (tmp_path / "agents").symlink_to(ROOT / "agents")
    first = zipapp.build(tmp_path)
    assert zipapp.build(tmp_path) == first
    assert zipfile.ZipFile(first[0]).testzip() is None


def test_it_starts_with_any_python_and_nothing_installed(tmp_path):
    (tmp_path / "agents").symlink_to(ROOT / "agents")
    target, _ = zipapp.build(tmp_path)
    done = subprocess.run([sys.executable, "-I", target, "--help"], capture_output=True, text=True, cwd="/", check=False)
    assert done.returncode == 0, done.stderr
    assert "usage" in done.stdout
