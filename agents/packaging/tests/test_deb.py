"""The package, handled by the real dpkg below a folder: an upgrade is one, and removal and purge do what the guide says."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from agents.host import paths
from agents.packaging import deb, zipapp
from agents.service import install

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = {"postinst": deb.POSTINST, "prerm": deb.PRERM, "postrm": deb.POSTRM}
needs_dpkg = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg is not installed")


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_script_leaves_the_root_that_dpkg_was_given(name):
    lines = [line for line in SCRIPTS[name].splitlines() if not re.match(r"#|\s*echo |Remove ", line)]
    named = re.findall(r"(\S*?)/(?:etc|usr|var|run)/", "\n".join(lines))
    assert all(before.endswith('"$DPKG_ROOT') for before in named), named


@pytest.fixture
def dpkg(tmp_path, monkeypatch):
    """Calls dpkg below a folder of its own, and returns that folder and the call."""
    root = tmp_path / "root"
    (root / "var/lib/dpkg/updates").mkdir(parents=True)
    (root / "var/lib/dpkg/info").mkdir()
    (root / "var/lib/dpkg/status").touch()
    how = ("--force-not-root", "--force-script-chrootless", "--force-depends", "--force-bad-path", "--no-triggers", "--log=/dev/null")

    def call(*words):
        ran = subprocess.run(["dpkg", f"--root={root}", *how, *words], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout + ran.stderr

    def package(seconds):
        monkeypatch.setenv("SLOTLIGHT_SOURCE_DATE", str(seconds))
        file = tmp_path / f"{seconds}.deb"
        file.write_bytes(deb.content(ROOT))
        return str(file)

    call.root, call.package = root, package
    return call


def version_in(dpkg):
    output = dpkg("--status", "slotlight-agent")
    return re.search(r"^Version: (.+)$", output, re.MULTILINE)[1]


def enrolled(root):
    """What an agent that ran leaves behind."""
    folder = root / paths.FOLDER[1:]
    for name in ("journal.sqlite", "journal.sqlite-wal", "journal.sqlite.1234.lost", *deb.FORGOTTEN):
        (folder / name).write_text("x")
    (folder / "postgres-18").mkdir()  # a portal's, on the same machine
    install.configure(str(root), "https://portal.example", paths.CA)
    (root / paths.CA[1:]).write_text("x")
    (root / paths.RUN[1:]).mkdir(parents=True)
    return folder


@needs_dpkg
def test_a_later_build_is_an_upgrade(dpkg):
    dpkg("--install", dpkg.package(1_700_000_000))
    first = version_in(dpkg)
    policy = dpkg.root / paths.POLICY[1:]
    policy.write_text('{"mode": "operate"}')
    folder = enrolled(dpkg.root)
    dpkg("--refuse-downgrade", "--install", dpkg.package(1_700_000_001))
    assert first < version_in(dpkg) == zipapp.version_of(ROOT)
    assert policy.read_text() == '{"mode": "operate"}'
    assert (folder / "identity.json").exists()


@needs_dpkg
def test_removal_keeps_key_journal_and_policy(dpkg):
    dpkg("--install", dpkg.package(1_700_000_000))
    folder = enrolled(dpkg.root)
    dpkg("--remove", "slotlight-agent")
    assert (folder / "identity.json").exists()
    assert (folder / "journal.sqlite").exists()
    assert (dpkg.root / paths.POLICY[1:]).exists()
    assert not (dpkg.root / paths.DEB_PROGRAM[1:]).exists()


@needs_dpkg
def test_purge_forgets_key_and_configuration_and_keeps_the_journal(dpkg):
    dpkg("--install", dpkg.package(1_700_000_000))
    folder = enrolled(dpkg.root)
    output = dpkg("--purge", "slotlight-agent")
    assert sorted(path.name for path in folder.iterdir()) == [
        "journal.sqlite",
        "journal.sqlite-wal",
        "journal.sqlite.1234.lost",
        "postgres-18",
    ]
    assert not (dpkg.root / paths.ETC[1:]).exists()
    assert not (dpkg.root / paths.RUN[1:]).exists()
    assert not (dpkg.root / paths.ZED_HOOK[1:]).exists()
    assert f"{paths.FOLDER}/journal.sqlite stays" in output


@needs_dpkg
def test_purge_of_one_that_never_ran_leaves_nothing(dpkg):
    dpkg("--install", dpkg.package(1_700_000_000))
    assert "stays" not in dpkg("--purge", "slotlight-agent")
    assert not (dpkg.root / paths.FOLDER[1:]).exists()


@needs_dpkg
def test_beside_an_agent_of_the_install_line_it_says_which_one_runs(dpkg):
    program = dpkg.root / paths.PROGRAM[1:]
    program.parent.mkdir(parents=True)
    program.touch()
    assert "is what runs here still" in dpkg("--install", dpkg.package(1_700_000_000))
