"""The API's description, and what it answers about the installation that 29e7ff0 left behind, are as they were kept.

`SLOTLIGHT_KEEP=1` writes what is answered now, for a change that is meant.
"""

import json
import os
import re
import tempfile
from datetime import timedelta

from django.test import Client

from app.fleet.models import Node
from tests import memory
from tests.frozen.left_behind import RECORDED
from tests.frozen.record import KEPT, differences, kept, written
from tests.frozen.test_left_behind import keys, migrated, taken_over  # noqa: F401  fixtures

GROUP = "api"
YEAR = timedelta(days=365)
MOMENT = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
OF_THIS_TEST = re.compile(rf"(?:{re.escape(tempfile.gettempdir())}|{re.escape(str(memory.FOLDER))})/\S+")
AGO = re.compile(r"\d+ [a-z]+(?= ago)")
SINCE_NOW = re.compile(r"(?:age|ago|seconds|silence)")  # fields that count until this moment
KNOWN = {"name": "oss01", "run": str(RECORDED["run"]), "pk": "1", "digest": "0" * 64}
ASKED = ("/disks?q=naa:5000", "/situations?severity=act", "/runs?status=done", "/nodes?limit=1", "/nothing", "/nodes/nobody")


def plain(value, name=""):
    """What does not depend on when it is asked."""
    if isinstance(value, dict):
        return {key: plain(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item, name) for item in value]
    if isinstance(value, str) and MOMENT.match(value):
        return "<moment>"
    if isinstance(value, str):
        return OF_THIS_TEST.sub("<path>", AGO.sub("<some time>", value))
    return f"<{type(value).__name__}>" if isinstance(value, (int, float)) and SINCE_NOW.search(name) else value


def line(value) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True)


def described() -> dict[str, dict[str, str]]:
    from app.api.door import api

    answer = json.loads(json.dumps(api.get_openapi_schema(), default=str))
    sections = {
        f"path {path}": {method: line(described_method) for method, described_method in methods.items()}
        for path, methods in answer.pop("paths").items()
    }
    sections["schemas"] = {name: line(shape) for name, shape in answer["components"].pop("schemas").items()}
    sections["description"] = {name: line(value) for name, value in answer.items()}
    return sections


def answers() -> dict[str, dict[str, str]]:
    from app.api.door import api

    client, headers = Client(), {"Authorization": f"Bearer {RECORDED['token']}"}
    paths = [path.removeprefix("/api/v1") for path, methods in api.get_openapi_schema()["paths"].items() if "get" in methods]
    known = KNOWN | {"wwid": client.get("/api/v1/disks?limit=1", headers=headers).json()["items"][0]["wwid"]}
    sections = {}
    for path in (*paths, *ASKED):
        asked = re.sub(r"{(?:\w+:)?(\w+)}", lambda part: known.get(part[1], "1"), path)
        answer = client.get(f"/api/v1{asked}", headers=headers)
        sections[f"GET {path}"] = {"status": str(answer.status_code), **dict(_content(answer))}
    return sections


def _content(answer):
    kind = answer["Content-Type"].partition(";")[0]
    yield "content", kind
    if kind.endswith("json"):
        body = plain(answer.json())
        yield from ((f"body {name}", line(value)) for name, value in (body if isinstance(body, dict) else {"": body}).items())


def silent_for_a_year() -> None:
    """No source is late today and was not yesterday: what is late does not depend on the day of this test."""
    for node in Node.objects.all():
        node.asked = {source: at - YEAR.total_seconds() for source, at in node.asked.items()}
        Node.objects.filter(pk=node.pk).update(asked=node.asked, last_report_at=node.last_report_at - YEAR)


def test_it_is_described_and_answers_as_it_was_kept(taken_over):  # noqa: F811  the fixture
    silent_for_a_year()
    now = described() | answers()
    if os.environ.get("SLOTLIGHT_KEEP"):
        (KEPT / f"{GROUP}.txt").write_text(written(now))
    assert list(differences(GROUP, kept(GROUP), now)) == []
    assert sum(section.get("status") == "200" for section in now.values()) > 10
