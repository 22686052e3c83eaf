"""Asking the portal: one request, its answer as JSON or bytes, every failure as Trouble."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.parse import quote, urlencode

from cli import VERSION
from cli.config import Config
from cli.far import Far, shown
from cli.problems import DOWN, Trouble, of_answer

PATIENCE_SECONDS = 30
MAKING_SECONDS = 600  # of what the portal gathers, proves and packs before its first byte
CHUNK = 1 << 16
PAGE = 200


class _StayHere(urllib.request.HTTPRedirectHandler):
    """A token is for the portal it was given for, and is sent to no other."""

    def redirect_request(self, *_: object) -> None:
        return None


class Portal:
    def __init__(self, config: Config) -> None:
        self.config = config
        self._opener = urllib.request.build_opener(_StayHere)

    def get(self, *path: object, **query: object) -> Any:
        asked = urlencode({name: value for name, value in query.items() if value not in ("", None)})
        return json.loads(self.ask("GET", _path(path) + (f"?{asked}" if asked else "")))

    def post(self, *path: object, **body: object) -> Any:
        return json.loads(self.ask("POST", _path(path), json.dumps(body).encode()))

    def all(self, *path: object, most: int = 1000, **query: object) -> Iterator[dict[str, Any]]:
        """Every item of a list, page by page, up to `most`."""
        cursor, left = "", most
        while left > 0:
            page = self.get(*path, **query, cursor=cursor, limit=min(PAGE, left))
            yield from page["items"]
            left, cursor = left - len(page["items"]), page["next"]
            if not cursor:
                return

    def ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        with self._answer(method, path, body, PATIENCE_SECONDS) as answer:
            return answer.read()

    def download(self, path: str, what: str) -> bytes:
        """What takes its time to be made and to come; at a terminal its progress is shown."""
        with shown(what) as far, self._answer("GET", path, None, MAKING_SECONDS) as answer:
            return _whole(answer, far)

    def send(self, path: str, data: bytes, **query: object) -> Any:
        """Bytes as they are, which the portal reads before it answers."""
        asked = urlencode({name: value for name, value in query.items() if value not in ("", None, False)})
        whole = path + (f"?{asked}" if asked else "")
        with self._answer("POST", whole, data, MAKING_SECONDS, "application/octet-stream") as answer:
            return json.loads(answer.read())

    @contextmanager
    def _answer(self, method: str, path: str, body: bytes | None, seconds: int, media: str = "application/json") -> Iterator[HTTPResponse]:
        headers = {
            "Authorization": f"Bearer {self.config.token}",
            "Content-Type": media,
            "User-Agent": f"slotlight-cli/{VERSION}",
        }
        request = urllib.request.Request(f"{self.config.url}/api/v1/{path}", body, headers, method=method)
        try:
            with self._opener.open(request, timeout=seconds) as answer:
                yield answer
        except urllib.error.HTTPError as error:
            raise of_answer(error.code, _problem(error.read())) from None
        except (OSError, ValueError, HTTPException) as error:
            why = getattr(error, "reason", error)
            raise Trouble(
                f"{self.config.url} cannot be reached: {why}.", "Check the address and the network; /readyz there lists what is down.", DOWN
            ) from None


def _whole(answer: HTTPResponse, far: Far) -> bytes:
    """In pieces; an answer that ends before it said it would is none."""
    far.of = answer.length
    data = bytearray()
    while piece := answer.read(CHUNK):
        data += piece
        far.through = len(data)
    if far.of is not None and len(data) != far.of:
        raise Trouble(f"{far.what} broke off after {len(data)} of {far.of} bytes.", "Ask for it again.", DOWN)
    return bytes(data)


def _path(parts: tuple[Any, ...]) -> str:
    return "/".join(quote(str(part), safe=":") for part in parts)


def _problem(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}
