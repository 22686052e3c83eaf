"""Who walks the incident: people with a browser's cookies, over HTTP, who see what the pages say and no more."""

import html
import http.client
import re
from urllib.parse import urlencode

from django.test import Client

from app.accounts.models import Team, User
from twin import demo

CSRF = "c" * 32
PHRASE = "581455 ost_0"
BLANK = f"naa:{demo.BLANK_WWN}"


class Person:
    """Signed in; `run` is the address of the run that this person looks at."""

    def __init__(self, port: int, name: str, role: str, team: str = "") -> None:
        self.port, self.name = port, name
        user = User.objects.create_user(name)
        user.memberships.create(role=role, team=Team.objects.create(name=team) if team else None)
        client = Client()
        client.force_login(user)  # the password's slow hash is not what is tested here
        self.cookies = f"sessionid={client.cookies['sessionid'].value}; csrftoken={CSRF}"
        self.run = ""

    def get(self, path: str) -> str:
        status, _, text = self._ask("GET", path)
        assert status == 200, (path, status, words(text))
        return text

    def post(self, path: str, **form: str) -> tuple[int, str]:
        """(status, where the answer leads, or its text)."""
        status, location, text = self._ask("POST", path, urlencode({"csrfmiddlewaretoken": CSRF, **form}))
        return status, location or text

    def _ask(self, method: str, path: str, body: str = "") -> tuple[int, str, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        headers = {"Cookie": self.cookies, **({"Content-Type": "application/x-www-form-urlencoded"} if body else {})}
        try:
            connection.request(method, path, body or None, headers)
            response = connection.getresponse()
            return response.status, response.headers.get("Location", ""), response.read().decode()
        finally:
            connection.close()

    def begin(self, situation: int) -> None:
        status, self.run = self.post("/runs/start/", situation=str(situation), runbook="wwid-mismatch-replace")
        assert status == 302, self.run

    def act(self, act: str, **form: str) -> tuple[int, str]:
        """One act on the run's page as it is now."""
        page = self.get(self.run)
        return self.post(f"{self.run}act/", act=act, version=hidden(page, "version"), **form)

    def does(self, act: str, **form: str) -> None:
        status, answer = self.act(act, **form)
        assert status == 302, (act, words(answer))

    def sees(self) -> str:
        return words(self.get(self.run))


def hidden(page: str, name: str) -> str:
    """The value of a hidden field."""
    return re.search(rf'name="{name}" value="([^"]*)"', page)[1]


def words(page: str) -> str:
    """What of a page is read."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
