"""Who asks in these tests: people with tokens, and a client that sends them."""

import json
from datetime import timedelta

from django.test import Client
from django.utils import timezone

from app.accounts.models import User
from app.api import tokens
from app.api.door import api
from app.api.scopes import LIVES, SCOPES


def token(person: User, *scopes: str, lasts: timedelta = LIVES["1h"].lasts) -> str:
    """The text of a new token of somebody who has just typed the password."""
    return tokens.make(person, "test", list(scopes or SCOPES), lasts, timezone.now())[1]


def older(text: str, by: timedelta) -> str:
    """The same token, made that much earlier."""
    found = tokens.find(text)
    found.made_at, found.proved_at = found.made_at - by, found.proved_at - by
    found.save()
    return text


class Asker:
    """A program with a token."""

    def __init__(self, text: str = "") -> None:
        self.client, self.headers = Client(), {"Authorization": f"Bearer {text}"} if text else {}

    def __call__(self, method: str, path: str, body: dict | str | None = None):
        data = {"data": body if isinstance(body, str) else json.dumps(body), "content_type": "application/json"} if body is not None else {}
        return getattr(self.client, method.lower())(f"/api/v1{path}", headers=self.headers, **data)

    def get(self, path: str) -> dict:
        answer = self("GET", path)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def post(self, path: str, body: dict):
        return self("POST", path, body)


def operations() -> list[tuple[str, str, str]]:
    """Every operation there is, as (method, path, scope)."""
    schema = api.get_openapi_schema()
    return [
        (method.upper(), path.removeprefix("/api/v1"), answer["x-scope"])
        for path, all_ in schema["paths"].items()
        for method, answer in all_.items()
    ]
