import threading
import time
import uuid
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.utils import timezone

from app.accounts.models import Team
from app.fleet.models import Node, Situation
from app.notices import spreading
from app.notices.models import Channel, Happening
from app.notices.sending import seal, shown
from app.runs.tests.cast import person


class Receiver(ThreadingHTTPServer):
    """Somebody's webhook: keeps what it gets, and answers what it is told to."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.got, self.paths, self.answers, self.waits = [], [], 200, 0.0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"json://someone:hunter2-secret@127.0.0.1:{self.server_port}/hooks/T0KEN-secret"


class Answer(BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.got.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.server.paths.append(self.path)
        time.sleep(self.server.waits)
        self.send_response(self.server.answers)
        self.end_headers()
        self.wfile.write(b'{"requestId": "43a29c5c"}')

    def log_message(self, *_):
        pass


@pytest.fixture
def receiver():
    server = Receiver()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def ada(db):
    return person("ada", "admin")


@pytest.fixture
def team(db):
    return Team.objects.create(name="north")


@pytest.fixture
def node(team):
    return Node.objects.create(name="oss01", team=team, state="enrolled", last_report_at=timezone.now())


@pytest.fixture
def channel(ada):
    """`channel(url, severity="act", ...)` makes one."""

    def make(url="json://127.0.0.1:9/x", **fields):
        mark = uuid.uuid4().hex
        known = {
            "name": mark[:8],
            "mark": mark,
            "service": shown(url),
            "url": seal(url, mark),
            "created_at": timezone.now(),
            "created_by": ada,
        }
        return Channel.objects.create(**known | fields)

    return make


@pytest.fixture
def situation(node):
    """`situation("key", cause="", severity="act")` opens one and puts it into the outbox, as settling does."""

    def make(key, cause="", severity="act", on=node):
        from app.core import outbox
        from app.fleet import notifications

        data = {"meaning": "One member is gone. More words.", "evidence": [], "answers": [], "subject": {}, "sure": True, "cause": cause}
        row = Situation.objects.create(
            key=key, slug="disk-missing", node=on, severity=severity, title=f"{key} is wrong", data=data, opened_at=timezone.now()
        )
        outbox.put(notifications.happened([row], [], []))
        return row

    return make


@pytest.fixture
def close():
    def end(row):
        from app.core import outbox
        from app.fleet import notifications

        row.closed_at = timezone.now()
        row.save()
        outbox.put(notifications.happened([], [row], []))

    return end


@pytest.fixture
def spread():
    """As if everything in the outbox had been there for a while."""

    def now():
        Happening.objects.filter(spread_at=None).update(at=timezone.now() - timedelta(minutes=1))
        spreading.spread(timezone.now())

    return now
