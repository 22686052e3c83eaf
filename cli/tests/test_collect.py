"""`slotlight collect`: over an ssh of the test's own, against a portal of the test's own."""

import io
import os
import stat

import pytest

from cli import commands
from cli.problems import ABSENT, DONE, DOWN, NOT_ALLOWED, REFUSED, USAGE
from cli.tests.conftest import ANSWER

ARCHIVE = b"\x1f\x8b" + bytes(range(256)) * 40


@pytest.fixture
def ssh(tmp_path):
    """A command that stands for ssh, and does what the test says after it has read the script."""

    def make(does):
        path = tmp_path / "ssh"
        path.write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/argv\ncat >{tmp_path}/stdin\n{does}\n')
        path.chmod(0o755)
        (tmp_path / "archive").write_bytes(ARCHIVE)
        return str(path)

    return make


def sends(tmp_path, before="", after=""):
    size = len(ARCHIVE)
    return f"{before}\nprintf '\\nslotlight-collect-archive 1 {size}\\n'\ncat {tmp_path}/archive\n{after}"


def test_it_runs_the_script_over_ssh_and_brings_the_archive(portal, ssh, tmp_path, capsys):
    assert commands.main(["collect", "root@oss07", "--ssh", ssh(sends(tmp_path))]) == DONE
    [(path, sent, token, media)] = portal.got
    assert (path, sent, token, media) == ("/api/v1/snapshots", ARCHIVE, "Bearer slt_x", "application/octet-stream")
    assert (tmp_path / "argv").read_text().strip() == "-T -- root@oss07 sh -s -- -t 600"
    assert (tmp_path / "stdin").read_text().startswith("#!/bin/sh\n# slotlight-collect")
    out = capsys.readouterr().out
    assert "oss07" in out
    assert "lacks lsscsi: lsscsi is not installed." in out
    assert not (tmp_path / "state").exists(), "what was brought is not kept here"


def test_what_a_login_shell_prints_does_not_spoil_it(portal, ssh, tmp_path):
    noisy = sends(tmp_path, before="echo Welcome to oss07; printf 'no newline at the end'", after="echo logout")
    assert commands.main(["collect", "oss07", "--ssh", ssh(noisy)]) == DONE
    assert portal.got[0][1] == ARCHIVE


def test_sudo_is_asked_for_by_name_alone(portal, ssh, tmp_path):
    assert commands.main(["collect", "--sudo", "me@oss07", "--ssh", ssh(sends(tmp_path))]) == DONE
    assert "sudo -n sh -s" in (tmp_path / "argv").read_text()


def test_a_refused_archive_is_kept_for_its_person_alone_and_the_way_on_is_shown(portal, ssh, tmp_path, capsys):
    portal.status, portal.body = 422, {"type": "urn:slotlight:not-taken", "detail": "oss07 has an agent.", "do": "Read the reason."}
    assert commands.main(["collect", "root@oss07", "--anew", "--ssh", ssh(sends(tmp_path))]) == REFUSED
    [kept] = (tmp_path / "state" / "slotlight").iterdir()
    assert kept.read_bytes() == ARCHIVE
    assert stat.S_IMODE(os.stat(kept).st_mode) == 0o600
    error = " ".join(capsys.readouterr().err.split())
    assert "oss07 has an agent." in error
    assert f"slotlight collect --from {kept} --anew" in error
    portal.status, portal.body = 200, ANSWER
    assert commands.main(["collect", "--from", str(kept)]) == DONE
    assert portal.got[-1][1] == ARCHIVE


@pytest.mark.parametrize(("status", "code"), [(401, NOT_ALLOWED), (403, NOT_ALLOWED), (404, ABSENT), (413, USAGE), (503, DOWN)])
def test_exit_codes_are_those_that_are_documented(portal, ssh, tmp_path, status, code):
    portal.status, portal.body = status, {"detail": "No.", "do": ""}
    assert commands.main(["collect", "oss07", "--ssh", ssh(sends(tmp_path))]) == code


def test_a_portal_that_is_away_leaves_the_archive_here(portal, ssh, tmp_path):
    portal.server.shutdown()
    portal.server.server_close()
    assert commands.main(["collect", "oss07", "--ssh", ssh(sends(tmp_path))]) == DOWN
    assert len(list((tmp_path / "state" / "slotlight").iterdir())) == 1


@pytest.mark.parametrize(
    ("does", "words"),
    [
        ("echo 'Permission denied (publickey).' >&2; exit 255", "sent no archive; ssh ended with exit code 255"),
        ("echo This account is not available; exit 1", "It printed: This account is not available"),
        ("printf '\\nslotlight-collect-archive 1 99999\\nshort'", "was cut short: 5 of 99999 bytes came"),
    ],
)
def test_a_host_that_sends_no_archive(portal, ssh, tmp_path, capsys, does, words):
    assert commands.main(["collect", "oss07", "--ssh", ssh(does)]) == DOWN
    assert words in " ".join(capsys.readouterr().err.split())
    assert not portal.got


def test_more_than_the_portal_takes_is_not_held(portal, ssh, monkeypatch, capsys):
    monkeypatch.setattr("cli.collect.BYTES_MAX", 1 << 20)
    assert commands.main(["collect", "oss07", "--ssh", ssh("exec cat /dev/zero")]) == DOWN
    assert "more than 1 MiB" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["oss07", "--from", "x"], ["--from", "/nowhere/x"], ["--ssh", "/nowhere/ssh", "oss07"]])
def test_what_is_used_wrongly(portal, words, monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert commands.main(["collect", *words]) == USAGE
