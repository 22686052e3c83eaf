"""Packages are installed when the lock changed and not otherwise; what is missing gets a sentence."""

import importlib.util
import os

import pytest

from launcher import bootstrap
from launcher.bootstrap import DEVELOPMENT, RUNTIME
from launcher.say import Stop


@pytest.fixture
def home(tmp_path, monkeypatch):
    venv = tmp_path / ".venv"
    (venv / "bin").mkdir(parents=True)
    os.symlink(os.sys.executable, venv / "bin" / "python")
    for name in (RUNTIME, DEVELOPMENT):
        (tmp_path / name).write_text(f"{name} one")
    for name, value in {"ROOT": tmp_path, "VENV": venv, "PYTHON": venv / "bin" / "python", "STAMP": venv / "slotlight-locks"}.items():
        monkeypatch.setattr(bootstrap, name, value)
    return tmp_path


def test_nothing_is_installed_at_first(home):
    assert not bootstrap._installed(RUNTIME)


def test_the_development_lock_covers_the_runtime_lock_but_not_the_other_way(home):
    bootstrap.STAMP.write_text(bootstrap._digest(DEVELOPMENT))
    assert bootstrap._installed(RUNTIME)
    bootstrap.STAMP.write_text(bootstrap._digest(RUNTIME))
    assert bootstrap._installed(RUNTIME)
    assert not bootstrap._installed(DEVELOPMENT)


def test_a_changed_lock_is_installed_again(home):
    bootstrap.STAMP.write_text(bootstrap._digest(RUNTIME))
    (home / RUNTIME).write_text("two")
    assert not bootstrap._installed(RUNTIME)


def test_a_venv_without_its_python_is_made_again(home):
    bootstrap.STAMP.write_text(bootstrap._digest(RUNTIME))
    bootstrap.PYTHON.unlink()
    assert not bootstrap._installed(RUNTIME)


def test_a_missing_venv_module_without_uv_gets_a_sentence(home, monkeypatch):
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Stop, match="no venv module, and uv is not on PATH.*apt install python3-venv"):
        bootstrap._install(RUNTIME)


def test_a_failed_install_leaves_no_stamp(home, monkeypatch):
    bootstrap.STAMP.write_text("old")
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: "/bin/false")
    with pytest.raises(Stop, match="could not install requirements.lock"):
        bootstrap._install(RUNTIME)
    assert not bootstrap.STAMP.exists()


def test_every_runtime_package_is_in_the_development_lock_at_the_same_version():
    """What `COVERED_BY` stands on."""

    def pins(name):
        return {line.split()[0] for line in (bootstrap.ROOT / name).read_text().splitlines() if line and not line.startswith((" ", "#"))}

    assert pins(RUNTIME) <= pins(DEVELOPMENT)
