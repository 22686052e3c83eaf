"""What an agent may ask of the portal. The long poll for orders is in `app/streams.py`; it holds no thread."""

from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from agents.domain.times import seconds_of
from agents.portal.wire import ENROL_NONCE, canonical, sign_answer
from app.fleet.ingest import intake
from app.ledger import services as ledger
from app.nodes import keys, sessions, vault
from app.nodes.door import TROUBLE, Answer, BadBody, read_body, read_json, signed, trouble, unsigned
from app.nodes.sessions import session_fault
from app.runs import tasks
from app.runs.ordering import orders
from app.runs.services import concerns_us


@csrf_exempt
def enrol(request: HttpRequest) -> HttpResponse:
    """The only unsigned route: the token is the proof, and the key that comes with it signs the answer."""
    if request.method != "POST":
        return unsigned(405, f"{request.path} takes POST.")
    try:
        pinned = ledger.public_keys()  # before the token is used up: without them an agent could check no order
        key = keys.enrol(read_json(read_body(request), ""), timezone.now())
        secret = vault.reveal(bytes(key.secret), key.key_id)
        answer = {"key_id": key.key_id, "node": key.node.name, **pinned}
    except BadBody as error:
        return unsigned(400, str(error))
    except keys.EnrolRefused as refusal:
        return unsigned(403, str(refusal))
    except TROUBLE as own:
        return unsigned(503, trouble(own))
    body = canonical(answer)
    headers = sign_answer(secret, 200, body, ENROL_NONCE)
    return HttpResponse(body, content_type="application/json", headers=headers)


@signed
def reports(caller: keys.Caller, body: dict[str, Any]) -> Answer:
    now = timezone.now()
    if why := session_fault(caller, body.get("nonce", ""), now):
        return 409, {"reason": why, "duplicate": True}
    if (sessions.journal_of(body) or caller.journal, sessions.held_of(body)) != (caller.journal, caller.held):
        sessions.note(caller.key, body)
    about = {"at": now.isoformat()} | ({"journal": caller.journal} if caller.journal else {})
    try:
        taken_at = now - timedelta(seconds=caller.elapsed_seconds(seconds_of(str(body.get("taken_at")))))
        missing = intake.receive(caller.node, body, taken_at)
    except intake.NeedFull:
        return 200, {"need": "full"} | about
    except (intake.BadReport, ValueError, OverflowError) as error:
        return 422, {"reason": str(error)}
    if not missing and concerns_us(caller.node):
        tasks.soon(tasks.facts_arrived, caller.node)
    return 200, {"missing": missing} | about


@signed
def claim(caller: keys.Caller, body: dict[str, Any], order_id: str) -> Answer:
    return _go(orders.claim(caller.node, order_id, str(body.get("digest")), body.get("approvals")))


@signed
def start(caller: keys.Caller, body: dict[str, Any], order_id: str) -> Answer:
    return _go(orders.start(caller.node, order_id, str(body.get("digest"))))


@signed
def receipt(caller: keys.Caller, body: dict[str, Any], order_id: str) -> Answer:
    """Taken from whoever has the key, even from two machines: what a node did is never thrown away."""
    return _go(orders.receipt(caller.node, order_id, body))


def _go(reason: str) -> Answer:
    return (409, {"reason": reason}) if reason else (200, {"go": True})
