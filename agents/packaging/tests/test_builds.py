"""Builds rise with each change, alike in every clone; dpkg and a person order them the same way."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agents.packaging import zipapp
from agents.packaging.builds import Sources
from cli import packaging as cli

ROOT = Path(__file__).resolve().parents[3]
ONE = Sources(("part",), frozenset({"tests"}))
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
needs_dpkg = pytest.mark.skipif(shutil.which("dpkg") is None, reason="dpkg is not installed")


def git(root, *words, at=0):
    when = {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"} if at else {}
    who = ("-c", "user.name=a", "-c", "user.email=a@invalid")
    subprocess.run(["git", "-C", str(root), *who, *words], env=os.environ | when, check=True, capture_output=True)


def commit(root, text, at, name="part/a.py"):
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", text, at=at)


@pytest.fixture(autouse=True)
def _no_one_gives_it(monkeypatch):
    monkeypatch.delenv("SLOTLIGHT_SOURCE_DATE", raising=False)


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    commit(root, "1", 1_700_000_000)
    return root


@needs_git
def test_the_number_is_when_the_sources_were_changed_and_not_when_something_else_was(repository):
    first = ONE.build(repository)
    assert first.startswith("20231114.221320.")
    commit(repository, "x", 1_700_000_100, "other.py")
    commit(repository, "x", 1_700_000_200, "part/tests/test_a.py")
    assert ONE.build(repository) == first


@needs_git
def test_every_clone_says_the_same(repository, tmp_path):
    git(tmp_path, "clone", "-q", str(repository), "clone")
    os.utime(tmp_path / "clone/part/a.py", (1, 1))
    assert ONE.build(tmp_path / "clone") == ONE.build(repository)


@needs_git
def test_what_was_merged_is_newer_than_what_it_was_merged_into(repository):
    git(repository, "switch", "-q", "-c", "side")
    commit(repository, "2", 1_700_000_010, "part/b.py")
    git(repository, "switch", "-q", "main")
    commit(repository, "3", 1_700_000_020)
    before = ONE.build(repository)
    git(repository, "merge", "-q", "-m", "merged", "side", at=1_700_000_030)
    assert before < ONE.build(repository)


@needs_git
@pytest.mark.parametrize("name", ["part/a.py", "part/new.py"])
def test_what_is_not_committed_is_newer(repository, name):
    before = ONE.build(repository)
    (repository / name).write_text("2")
    assert before < ONE.build(repository)


@needs_git
def test_a_source_that_was_removed_makes_a_newer_build(repository):
    commit(repository, "2", 1_700_000_010, "part/b.py")
    before = ONE.build(repository)
    (repository / "part/b.py").unlink()
    git(repository, "commit", "-q", "-a", "-m", "gone", at=1_700_000_020)
    assert before < ONE.build(repository)


def test_without_git_the_files_have_their_times(tmp_path, monkeypatch):
    (tmp_path / "part").mkdir()
    (tmp_path / "part/a.py").write_text("1")
    os.utime(tmp_path / "part/a.py", (1_700_000_000, 1_700_000_000))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ONE.build(tmp_path).startswith("20231114.221320.")


def test_who_copies_the_sources_may_say_their_time(tmp_path, monkeypatch):
    (tmp_path / "part").mkdir()
    (tmp_path / "part/a.py").write_text("1")
    monkeypatch.setenv("SLOTLIGHT_SOURCE_DATE", "1700000060")
    assert ONE.build(tmp_path).startswith("20231114.221420.")


def test_another_source_is_another_build(tmp_path):
    (tmp_path / "part").mkdir()
    digests = set()
    for text in ("1", "2", "2"):
        (tmp_path / "part/a.py").write_text(text)
        digests.add(ONE.digest(tmp_path))
    assert len(digests) == 2


@needs_dpkg
@pytest.mark.parametrize("version", [zipapp.version_of, cli.version_of], ids=["agent", "command line"])
def test_dpkg_takes_a_later_build_for_a_newer_version(version, monkeypatch):
    lines = []
    for seconds in (1_700_000_000, 1_700_000_001, 1_700_003_600, 1_700_090_000, 1_800_000_000):
        monkeypatch.setenv("SLOTLIGHT_SOURCE_DATE", str(seconds))
        lines.append(version(ROOT))
    for older, newer in zip(["0.1.0", *lines], [*lines, "0.1.1"]):
        assert subprocess.run(["dpkg", "--compare-versions", older, "lt", newer], check=False).returncode == 0, (older, newer)
    assert subprocess.run(["dpkg", "--validate-version", lines[0]], check=False).returncode == 0


def test_what_packs_the_agent_counts_as_one_of_its_sources():
    """Another maintainer script is another package."""
    assert Path("agents/packaging/deb.py") in zipapp.SOURCES.files(ROOT)
    assert Path("cli/packaging.py") in cli.SOURCES.files(ROOT)
