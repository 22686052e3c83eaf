"""What happened, through the API: search, one event, proofs, keys, evidence, the bundle of a run."""

from typing import Annotated, Any

from django.db.models import Max
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.text import slugify
from ninja import Field, Router, Schema
from pydantic import StringConstraints

from app.api.acting import taken
from app.api.auth import Scoped, TokenRequest
from app.api.problems import Problem
from app.api.scopes import READ
from app.api.words import PAGE, Answer, Cursor, Limit, Name, Number, Page, Words, answers, number
from app.ledger import looking, search, services
from app.ledger.bundle import bundle, events_of
from app.ledger.checkpoints import newest
from app.ledger.looking import number_if_possible
from app.ledger.models import Blob, LedgerChain

router = Router(tags=["ledger"])


Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class EventOut(Schema):
    seq: str = Field(description="Its place in the chain, from 1")
    id: int
    type: str
    at: str
    actor: str
    run: str
    node: str
    body: dict[str, Any]


class EventFull(EventOut):
    leaf: str
    prev: str
    link: str
    evidence: list[str]
    raw: str = Field(description="The exact bytes the leaf is made of; empty when it was redacted")


class ProofOut(Schema):
    checkpoint: str = Field(description="C2SP signed note")
    body: str
    index: str = Field(description="Its place, counted from 0")
    path: list[str]


class ConsistencyOut(Schema):
    checkpoint: str
    consistency: list[str]


class KeysOut(Schema):
    origin: str
    log_key: str
    portal_key: str


class HeadOut(Schema):
    size: str
    checkpoint: str
    checkpoint_at: str


@router.get("/ledger", response=answers(Page[EventOut]), auth=Scoped(READ), url_name="api-ledger")
def events(
    request: TokenRequest,
    q: Words = "",
    disk: Words = "",
    pool: Words = "",
    actor: Words = "",
    type: Words = "",
    run: Words = "",
    node: Words = "",
    since: Words = "",
    until: Words = "",
    cursor: Cursor = "",
    limit: Limit = PAGE,
) -> Answer:
    """Events, newest first. `q` is found as words of them, `disk` by WWID or serial number, a type by its beginning, as in `run.`.

    Times are as 2026-11-21 03:15, in UTC. A page may hold few events, or none, and still have a next one: each looks back a bounded way.
    """
    number_if_possible()
    given = {"q": q, "disk": disk, "pool": pool, "actor": actor, "type": type, "run": run, "node": node, "since": since, "until": until}
    fields = search.asked(given)
    if wrong := search.faults(fields):
        raise Problem("invalid", wrong[0])
    if set(fields) & set(search.WORDED):
        looking.take_words_if_possible()
    found, older = search.events(fields, number(cursor), limit)
    return {"items": [event_line(place) for place in found], "next": str(older) if older else ""}


def event_line(place: LedgerChain) -> Answer:
    event = place.event
    plain = {name: getattr(event, name) for name in ("type", "at", "actor", "run", "node")}
    return plain | {"seq": str(place.seq), "id": event.pk, "body": event.parsed["body"]}


@router.get("/ledger/events/{int:pk}", response=answers(EventFull), auth=Scoped(READ), url_name="api-ledger-event")
def event(request: TokenRequest, pk: Number) -> Answer:
    """One event, with what binds it to the one before."""
    place = found_event(pk)
    one = place.event
    hashes = {"leaf": bytes(one.leaf).hex(), "prev": bytes(place.prev).hex(), "link": bytes(place.link).hex()}
    raw = bytes(one.body).decode() if one.body is not None else ""
    return event_line(place) | hashes | {"evidence": one.parsed["evidence"], "raw": raw}


def found_event(pk: int) -> LedgerChain:
    number_if_possible()
    return get_object_or_404(LedgerChain.objects.select_related("event"), event_id=pk)


@router.get("/ledger/events/{int:pk}/proof", response=answers(ProofOut), auth=Scoped(READ), url_name="api-ledger-proof")
def proof(request: TokenRequest, pk: Number) -> Answer:
    """That this event is in the ledger: its way up to the root of a signed checkpoint (RFC 6962)."""
    found = services.proofs_for([found_event(pk).event])
    one: Answer = found["events"][0]
    return one | {"checkpoint": found["checkpoint"]}


@router.get("/ledger/head", response=answers(HeadOut), auth=Scoped(READ), url_name="api-ledger-head")
def head(request: TokenRequest) -> Answer:
    """How long the ledger is, and what was signed last."""
    signed = newest()
    size = LedgerChain.objects.aggregate(last=Max("seq"))["last"] or 0
    return {"size": str(size), "checkpoint": signed.note if signed else "", "checkpoint_at": signed.at if signed else ""}


@router.get("/ledger/consistency", response=answers(ConsistencyOut), auth=Scoped(READ), url_name="api-ledger-consistency")
def consistency(request: TokenRequest, size: Number) -> Answer:
    """That the newest checkpoint continues the one over `size` events."""
    found = services.log_since(size)
    if found is None:
        raise Problem("not-found", "Nothing in the ledger is signed yet.")
    return found


@router.get("/ledger/keys", response=answers(KeysOut), auth=Scoped(READ), url_name="api-ledger-keys")
def keys(request: TokenRequest) -> dict[str, str]:
    """The public keys that sign checkpoints and orders. Compare them with what you hold from elsewhere."""
    return services.public_keys()


@router.get("/runs/{str:run}/bundle", response=answers(None), auth=Scoped(READ), url_name="api-run-bundle")
def run_bundle(request: TokenRequest, run: Name) -> HttpResponse:
    """The run as a zip that `slotlight ledger verify` checks offline. Taking it is an event of the run."""
    if not events_of(run).exists():
        raise Problem("not-found", f"The ledger holds no event of run {run}.")
    taken(request.auth, "run.bundle", run)
    data = bundle(run, actor=request.auth.person.username)
    name = f"slotlight-run-{slugify(run)}.zip"
    return HttpResponse(data, content_type="application/zip", headers={"Content-Disposition": f'attachment; filename="{name}"'})


@router.get("/evidence/{str:digest}", response=answers(None), auth=Scoped(READ), url_name="api-evidence")
def evidence(request: TokenRequest, digest: Digest) -> HttpResponse:
    """The kept bytes of one piece of evidence, as the node said them. Who looked is on the record, once an hour."""
    if not Blob.objects.filter(pk=digest).exists():
        raise Problem("not-found", f"No evidence {digest[:16]}… is kept here.")
    looking.looked(request.auth.person.username, digest)
    try:
        data = services.blob(digest)
    except services.Redacted:
        raise Problem("not-found", "This evidence was redacted. The ledger records by whom and why.") from None
    return HttpResponse(data, content_type="application/octet-stream")
