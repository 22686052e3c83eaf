"""A portal that answers as a test says."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

ANSWER = {
    "node": "oss07", "form": "slotlight-collect", "archive": "a" * 64, "taken_at": "2026-11-27T09:30:00Z", "brought_at": "2026-11-27T09:30:09Z",
    "is_new": True, "holds": ["zpool status", "ZFS label (6)"], "lacks": [{"what": "lsscsi", "why": "lsscsi is not installed."}], "dropped": 0,
}  # fmt: skip


class Portal:
    """Answers what it is told to, and keeps what it was sent."""

    def __init__(self):
        self.status, self.body, self.got, portal = 200, ANSWER, [], self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                sent = self.rfile.read(int(self.headers["Content-Length"]))
                portal.got.append((self.path, sent, self.headers["Authorization"], self.headers["Content-Type"]))
                data = json.dumps(portal.body).encode()
                self.send_response(portal.status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def portal(monkeypatch, tmp_path):
    portal = Portal()
    for name, value in {"SLOTLIGHT_URL": portal.url, "SLOTLIGHT_TOKEN": "slt_x", "XDG_STATE_HOME": str(tmp_path / "state")}.items():
        monkeypatch.setenv(name, value)
    yield portal
    portal.server.shutdown()
    portal.server.server_close()
