"""What stands around the processes needs no root: an ordinary user runs these tests too."""

import os
import re

from tests.compose.fronts import Nginx


def test_nginx_of_an_ordinary_user_asks_for_no_port_folder_or_user_of_roots(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    front = object.__new__(Nginx)
    front.folder, front.port, front.plain, front.url = tmp_path, 18443, 18080, "https://portal.lab:18443"
    front.places = {name: str(tmp_path / "x") for name in ("/etc/slotlight/portal.crt", "/etc/slotlight/portal.key")}
    front.flags()
    text = (tmp_path / "nginx.conf").read_text() + (tmp_path / "slotlight.conf").read_text()
    assert not re.search(r"^\s*user ", text, re.MULTILINE)
    assert {int(port) for port in re.findall(r"listen \S*?:?(\d+)[ ;]", text)} == {18443, 18080}
    paths = re.findall(r"(?:pid|error_log|include|_temp_path|ssl_certificate|ssl_certificate_key) (/\S+?)[; ]", text)
    assert paths
    assert all(path.startswith(str(tmp_path)) for path in paths)
