"""The log: when, how grave, who asked what and how it was answered; never a secret, and no second time where the journal has one."""

import asyncio
import logging
import re
import subprocess
import sys
import time

import pytest
from django.test import RequestFactory
from django.urls import get_resolver
from django.utils.functional import SimpleLazyObject

from agents.service.log_lines import Line
from app.accounts.models import User
from app.core import access_log
from app.core.logs import WithoutTokens

PATIENCE_SECONDS = 10
STAMP = r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
SECRETS = re.compile(r"<(?:\w+:)?(token|key|secret|code|uidb36|password)>")


def line_of(message, level=logging.WARNING):
    record = logging.LogRecord("app.part", level, __file__, 1, message, (), None)
    WithoutTokens().filter(record)
    return Line(named=True).format(record)


def test_a_line_has_time_and_level():
    assert re.fullmatch(rf"{STAMP} WARNING app\.part: It is so\.", line_of("It is so."))


@pytest.mark.parametrize(("read", "begins"), [(False, rf"{STAMP} INFO x"), (True, "INFO x")], ids=["terminal", "journal"])
def test_the_journal_is_told_no_second_time(read, begins):
    """What the agent does in the foreground and as a service."""
    text = "import os, logging; s = os.fstat(2); READ; from agents.service import log_lines; log_lines.begin(); logging.info('x')"
    stream = "os.environ['JOURNAL_STREAM'] = f'{s.st_dev}:{s.st_ino}'" if read else "os.environ['JOURNAL_STREAM'] = '1:1'"
    ran = subprocess.run([sys.executable, "-c", text.replace("READ", stream)], capture_output=True, text=True, check=True)
    assert re.fullmatch(begins, ran.stderr.strip())


def routes(patterns, before=""):
    for one in patterns:
        path = before + str(one.pattern)
        yield from routes(one.url_patterns, path) if hasattr(one, "url_patterns") else [path]


def test_no_path_that_holds_a_secret_is_told():
    secret = [path for path in routes(get_resolver().url_patterns) if SECRETS.search(path)]
    assert len(secret) >= 2
    for path in secret:
        text = line_of(f"10.0.0.1 GET /{SECRETS.sub('sEcreT-1_x', path)} 200 3 ms -")
        assert "sEcreT" not in text, path


def asked(scope, answer, caplog):
    async def through():
        async def app(scope, receive, send):
            await answer(scope, send)

        sent = []

        async def send(message):
            sent.append(message)

        task = asyncio.create_task(access_log.logged(app)({"type": "http", "method": "GET", "client": ("10.0.0.1", 5)} | scope, None, send))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        return sent, task

    with caplog.at_level(logging.INFO, "access"):
        sent, task = asyncio.run(through())
    return sent, task, [record.getMessage() for record in caplog.records if record.name == "access"]


def answers(status, who=""):
    async def answer(scope, send):
        scope[access_log.WHO] = who
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b"x"})

    return answer


def test_each_request_is_one_line(caplog):
    scope = {"path": "/nodes/oss01/\nfalse line", "query_string": b"token=sEcreT"}
    *_, lines = asked(scope, answers(200, "ann"), caplog)
    assert len(lines) == 1
    assert re.fullmatch(r"10\.0\.0\.1 GET /nodes/oss01/%0Afalse%20line 200 \d+ ms ann", lines[0])


@pytest.mark.parametrize(("path", "status", "expected"), [
    ("/healthz", 200, 0), ("/healthz", 503, 1), ("/agent/v1/reports", 200, 0), ("/agent/v1/reports", 401, 1), ("/agent/v1/orders", 204, 0),
    ("/agent/v1/orders/o1/claim", 200, 1), ("/", 200, 1),
])  # fmt: skip
def test_what_is_asked_all_the_time_is_told_when_it_fails(path, status, expected, caplog):
    *_, lines = asked({"path": path}, answers(status), caplog)
    assert len(lines) == expected


async def hangs(scope, send):
    await asyncio.sleep(60)


async def breaks_off(scope, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x", "more_body": True})
    await asyncio.sleep(60)


def test_who_waits_when_the_server_ends_hears_503(caplog):
    sent, task, lines = asked({"path": "/"}, hangs, caplog)
    assert [message.get("status") for message in sent] == [503, None]
    assert (task.cancelled(), task.exception()) == (False, None)
    assert " 503 " in lines[0]


def test_what_has_begun_when_the_server_ends_is_ended(caplog):
    sent, task, _ = asked({"path": "/events"}, breaks_off, caplog)
    assert [message.get("more_body") for message in sent] == [None, True, None]
    assert task.exception() is None


@pytest.mark.django_db
def test_who_is_told_only_where_it_was_asked_for():
    request = RequestFactory().get("/")
    assert access_log.who(request) == ""
    request.user = SimpleLazyObject(lambda: pytest.fail("the log asks no database"))
    assert access_log.who(request) == ""
    request.user = User(username="ann")
    assert access_log.who(request) == "ann"
    request.who = "oss01"
    assert access_log.who(request) == "oss01"


def test_a_real_page_is_told_with_its_reader(wire, caplog):
    from django.test import Client

    client = Client()
    client.force_login(User.objects.create_user("ann"))
    with caplog.at_level(logging.INFO, "access"):
        assert wire("GET", "/account/?token=sEcreT", headers={"Cookie": f"sessionid={client.cookies['sessionid'].value}"})[0] == 200
        line = re.compile(r"127\.0\.0\.1 GET /account/ 200 \d+ ms ann")
        end = time.monotonic() + PATIENCE_SECONDS
        while not any(line.fullmatch(record.getMessage()) for record in caplog.records if record.name == "access"):
            assert time.monotonic() < end, caplog.text  # it is told once the answer has gone, and whoever asked may be faster
            time.sleep(0.01)
