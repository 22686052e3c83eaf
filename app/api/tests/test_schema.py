"""The description is valid OpenAPI 3.1, and whatever it allows and forbids is asked: no answer is a failure, each is one it describes."""

from collections import Counter

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, Phase, given, settings, strategies
from schemathesis.checks import (
    content_type_conformance,
    negative_data_rejection,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.generation import GenerationMode

from app.api.door import api
from app.api.models import Token
from app.api.tests.cast import token
from app.runs.models import Run
from app.runs.tests.cast import SDCW, Oss01, begin, person

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
FEW = settings(
    max_examples=8,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def asked(committed_db, tmp_path, settings):
    """The API as a schema, on a portal with a node and a run, and a token that may do everything but see the end of the rate."""
    settings.SLOTLIGHT_LEDGER_KEY, settings.API_PER_MINUTE = tmp_path / "ledger.key", 10**6
    node = Oss01(tmp_path)
    node.report()
    run = begin(person("ann", "operator"))
    there = {"pk": run.pk, "name": "oss01", "wwid": SDCW, "run": str(run.pk)}
    bob = person("bob", "approver")
    schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", get_wsgi_application())
    return schema, {"Authorization": f"Bearer {token(bob)}"}, there


def test_whatever_is_asked_no_answer_is_a_failure(asked):
    """Half of it about things that are there: what is not there is soon answered."""
    schema, headers, there = asked
    statuses = Counter()
    for found in schema.get_all_operations():

        @FEW
        @cases(found.ok())
        def ask(case, about):
            known = {name: there[name] for name in case.path_parameters or () if name in there} if about else {}
            case.path_parameters = {**(case.path_parameters or {}), **known}
            checks = [check for check in CHECKS if not known or check is not negative_data_rejection]  # it may be good data by now
            statuses[case.call_and_validate(headers=headers, checks=checks).status_code] += 1

        ask()
    assert {200, 404, 409, 422} <= set(statuses), statuses


def cases(operation):
    """What the description allows, and what it forbids."""
    good, bad = (operation.as_strategy(generation_mode=mode) for mode in GenerationMode)
    return given(case=good | bad, about=strategies.booleans())


def test_without_a_token_nothing_is_answered_and_nothing_done(asked):
    schema, _, _ = asked
    before = list(Run.objects.values())
    Token.objects.all().delete()
    for found in schema.get_all_operations():

        @settings(FEW, max_examples=2)
        @cases(found.ok())
        def ask(case, about):
            answer = case.call()
            assert answer.status_code in (401, 404, 405), answer.status_code

        ask()
    assert list(Run.objects.values()) == before


def test_the_description_is_served_to_whoever_asks(client):
    answer = client.get("/api/v1/openapi.json")
    assert answer.status_code == 200
    body = answer.json()
    assert body["openapi"] == "3.1.0"
    assert body["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert set(body["paths"]) == set(api.get_openapi_schema()["paths"])


@pytest.mark.parametrize("status", ["400", "401", "403", "404", "409", "422", "429", "503"])
def test_every_operation_documents_every_refusal(status):
    for path, operations in api.get_openapi_schema()["paths"].items():
        for method, body in operations.items():
            content = {str(code): answer for code, answer in body["responses"].items()}[status]["content"]
            assert set(content) == {"application/problem+json"}, (path, method)
