"""The API itself: its routers, its errors and its OpenAPI description. Nothing else of the portal imports it."""

import json
from collections import Counter
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.datastructures import MultiValueDict
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.parser import Parser

from app.api import fleet, ledger, problems, runs, snapshots, triage
from app.api.auth import Scoped
from app.api.scopes import SCOPES

DESCRIPTION = """What people do in Slotlight's pages, for programs. Send `Authorization: Bearer slt_…`; tokens are made on the page Account, tokens.
Every operation names the one scope it takes, and a token never has more than its person has now. Guids and sizes are decimal strings.
Lists come in pages: give `next` as `cursor` to read on. Every error has one shape; `do` says what to do next."""

BYTES = {"_run_bundle": "application/zip", "_evidence": "application/octet-stream"}  # what is no JSON


class Once(Parser):
    """A parameter or a field that is given twice says two things; which one is meant is not for us to choose."""

    def parse_body(self, request: HttpRequest) -> Any:
        return json.loads(request.body, object_pairs_hook=_once)

    def parse_querydict(self, data: MultiValueDict[str, Any], list_fields: list[str], request: HttpRequest) -> dict[str, Any]:
        for name, values in data.lists():
            if len(values) > 1 and name not in list_fields:
                raise problems.Problem("invalid", f"The parameter {problems.clean(name)[:80]} is given {len(values)} times. Give it once.")
        return super().parse_querydict(data, list_fields, request)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    twice = [name for name, times in Counter(name for name, _ in pairs).items() if times > 1]
    if twice:
        raise problems.Problem("unreadable", f"The field {problems.clean(twice[0])[:80]} is given more than once. Give it once.")
    return dict(pairs)


class Api(NinjaAPI):
    """ninja's, with the description corrected where it cannot say what is so."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self._described: dict[str, OpenAPISchema] = {}

    def get_openapi_schema(self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None) -> OpenAPISchema:
        """Made once for each address that the API has, which takes half a second; it is not to be changed."""
        prefix = self.get_root_path(path_params or {}) if path_prefix is None else path_prefix
        if prefix not in self._described:
            self._described[prefix] = self._describe(prefix)
        return self._described[prefix]

    def _describe(self, prefix: str) -> OpenAPISchema:
        schema = super().get_openapi_schema(path_prefix=prefix)
        for operations in schema["paths"].values():
            for operation in operations.values():
                _correct(operation)
        schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer", "description": _scopes()}}
        return schema


def _correct(operation: dict[str, Any]) -> None:
    for status, response in operation["responses"].items():
        if status >= 400 and "application/json" in response.get("content", {}):
            response["content"] = {problems.MEDIA: response["content"].pop("application/json")}
    for name, media in BYTES.items():
        if operation["operationId"].endswith(name):
            operation["responses"][200]["content"] = {media: {"schema": {"type": "string", "format": "binary"}}}


def _scopes() -> str:
    return " ".join(f"{name}: {words}" for name, words in SCOPES.items())


api = Api(
    title="Slotlight",
    version="1",
    description=DESCRIPTION,
    docs_url=None,
    urls_namespace="api",
    parser=Once(),
)
problems.handle_all(api)
for router in (fleet.router, triage.router, snapshots.router, runs.router, ledger.router):
    api.add_router("", router)
for _, _router in api._routers:
    for path_view in _router.path_operations.values():
        for _operation in path_view.operations:
            scope = next(one.scope for one in _operation.auth_callbacks if isinstance(one, Scoped))
            _operation.openapi_extra = {**(_operation.openapi_extra or {}), "x-scope": scope, "security": [{"token": [scope]}]}


@csrf_exempt
def nothing(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Any other address below the API's."""
    return problems.answer("not-found", f"The API has nothing at {problems.clean(request.path)}.")
