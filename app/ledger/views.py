"""The ledger, as pages: search, one event, one piece of evidence, the bundle of a run. Looking needs a sign-in and nothing more."""

import json
import logging
import re
from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import Max
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_safe

from app.core.job_progress import reported_as_asked
from app.core.pages import live, render_page
from app.ledger import checkpoints, grants, keys, looking, origins, search, stored
from app.ledger.bundle import NoSuchRun, bundle
from app.ledger.forms import DIGEST, LedgerDown
from app.ledger.looking import number_if_possible, take_words_if_possible
from app.ledger.models import Blob, LedgerChain, LedgerCheckpoint
from app.ledger.services import Redacted, blob
from app.ledger.words import WORDS, sentence

log = logging.getLogger(__name__)
SHORT = 140
PLAIN = "text/plain; charset=utf-8"
READABLE = ("text/", "application/json")
ERASED = "This evidence was redacted. The ledger records by whom and why."


def ledger_stamp(request: HttpRequest) -> Any:
    """Nothing here is ever changed: a page is as it was until an event comes that belongs on it, or more of them are signed."""
    fields = search.asked(request.GET)
    newest = [] if search.faults(fields) else search.newest(fields, search.before(request.GET))
    return newest, LedgerCheckpoint.objects.aggregate(Max("size"))


@login_required
@require_safe
@live(ledger_stamp)
def ledger(request: HttpRequest) -> HttpResponse:
    number_if_possible()
    fields, before, flat = search.asked(request.GET), search.before(request.GET), "flat" in request.GET
    wrong, signed = search.faults(fields), LedgerCheckpoint.objects.order_by("-size").first()
    if set(fields) & set(search.WORDED):
        take_words_if_possible()
    page = search.Page([], 0) if wrong else search.page(fields, before, flat)
    context = {
        "section": "ledger",
        "fields": fields,
        "wrong": wrong,
        "kinds": WORDS,
        "looked_back_to": page.looked_back_to,
        "flat": flat,
        "lines": [shown(line, fields, signed.size if signed else 0) for line in page.lines],
        "here": search.query_string(fields, before, flat),
        "looks_again": not before and not wrong,  # an older page stays as it is
        "older": search.query_string(fields, page.older, flat) if page.older else "",
        "newest": search.query_string(fields, 0, flat) if before else "",
        "length": LedgerChain.objects.aggregate(last=Max("seq"))["last"] or 0,
        "faults": grants.faults(),
        "signed": signed,
        **_key(),
    }
    return render_page(request, "ledger/ledger.html", context, partial="ledger-events", status=422 if wrong else 200)


def _key() -> dict[str, str]:
    """What an exported run is checked against: `verify.py --key`. Looking makes no key."""
    try:
        return {"fingerprint": checkpoints.signing_key().fingerprint if keys.key_path().exists() else ""}
    except LedgerDown as down:
        return {"key_fault": str(down)}


def shown(line: search.Line, fields: dict[str, str], signed: int) -> dict[str, Any]:
    rows = [line_of(row) | {"signed": row.seq <= signed} for row in line.rows]
    apart = search.query_string(fields, max(row.event_id for row in line.rows) + 1, flat=True)
    return rows[0] | {"rows": rows, "count": line.count, "oldest": line.oldest, "actors": line.actors, "apart": apart}


def line_of(row: LedgerChain) -> dict[str, Any]:
    """One event for a list: what happened in a sentence, and the rest of what it says cut to one line."""
    body = row.event.parsed["body"]
    text = sentence(row.event.type, row.event.actor, body)
    return {"seq": row.seq, "event": row.event, "says": text, "short": short(body, text)}


def _contains(text: str, value: str) -> bool:
    """As words of their own: a 1 is not said by a 10."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def short(body: dict[str, Any], text: str) -> str:
    """What the body holds beyond what is `told` already, cut to one line. Of a digest the first digits are enough to recognise it."""
    rest = {name: value for name, value in body.items() if isinstance(value, str) and value and not _contains(text, value)}
    shortened = {name: value[:10] + "…" if DIGEST.match(value) else value for name, value in rest.items()}
    words = " · ".join(f"{name} {value}" for name, value in shortened.items())
    return words if len(words) <= SHORT else f"{words[: SHORT - 1]}…"


@login_required
@require_safe
def event(request: HttpRequest, pk: int) -> HttpResponse:
    number_if_possible()
    place = get_object_or_404(LedgerChain.objects.select_related("event"), event_id=pk)
    fields = place.event.parsed
    signed = LedgerCheckpoint.objects.filter(size__gte=place.seq).order_by("size").first()
    context = {
        "section": "ledger",
        "place": place,
        "event": place.event,
        "says": sentence(place.event.type, place.event.actor, fields["body"]),
        "body": json.dumps(fields["body"], ensure_ascii=False, indent=2),
        "raw": bytes(place.event.body).decode() if place.event.body is not None else "",
        "hashes": {"leaf": bytes(place.event.leaf).hex(), "prev": bytes(place.prev).hex(), "link": bytes(place.link).hex()},
        "evidence": Blob.objects.filter(pk__in=fields["evidence"]).defer("bytes").order_by("pk"),
        "checkpoint": signed,
        "proof": proof_of(place, signed) if signed else {},
        "before": neighbour(place.seq - 1),
        "after": neighbour(place.seq + 1),
    }
    return render_page(request, "ledger/event.html", context, partial="ledger-event")


def proof_of(place: LedgerChain, signed: LedgerCheckpoint) -> dict[str, Any]:
    """The event's way up to the signed root, or why there is none any more."""
    try:
        path = stored.inclusion(place.seq - 1, signed.size, bytes(place.event.leaf), bytes(signed.root))
    except LedgerDown as down:
        return {"fault": str(down)}
    return {"path": [node.hex() for node in path], "root": bytes(signed.root).hex()}


def neighbour(seq: int) -> LedgerChain | None:
    return LedgerChain.objects.filter(seq=seq).first()


@login_required
@require_safe
def evidence(request: HttpRequest, digest: str) -> HttpResponse:
    """The kept bytes, as text or as a download; never as something a browser runs."""
    kept = get_object_or_404(Blob.objects.defer("bytes"), pk=digest)
    looking.looked(request.user.get_username(), digest)
    try:
        data = blob(digest)
    except Redacted:
        return HttpResponse(ERASED, status=410, content_type=PLAIN)
    except LedgerDown as down:
        return HttpResponse(str(down), status=503, content_type=PLAIN)
    if kept.media.startswith(READABLE):
        return HttpResponse(data, content_type=PLAIN)
    return attachment(data, "application/octet-stream", digest)


@login_required
@require_safe
def evidence_page(request: HttpRequest, digest: str) -> HttpResponse:
    """The kept bytes with where they came from: which command, when, how it ended, its lines, and what it said before."""
    kept = get_object_or_404(Blob.objects.defer("bytes"), pk=digest)
    looking.looked(request.user.get_username(), digest)
    take_words_if_possible()
    namings = origins.named_by(
        digest, int(event_id) if (event_id := request.GET.get("event", "")).isdecimal() and len(event_id) < 19 else 0
    )
    context = {"section": "ledger", "kept": kept, "digest": digest, "namings": namings}
    try:
        context |= reading(blob(digest), kept.media) | compared(namings, digest)
    except Redacted:
        return render(request, "ledger/evidence.html", context | {"gone": ERASED}, status=410)
    except LedgerDown as down:
        return render(request, "ledger/evidence.html", context | {"gone": str(down)}, status=503)
    return render(request, "ledger/evidence.html", context)


def reading(data: bytes, media: str) -> dict[str, Any]:
    """A capture by its parts, another text by its lines."""
    capture = origins.capture(data)
    if capture is None and not media.startswith(READABLE):
        return {"binary": True}
    lines = capture.lines if capture else pretty(data).split("\n")
    return {"capture": capture, "lines": lines[: origins.LINES_MAX], "more_lines": max(0, len(lines) - origins.LINES_MAX)}


def pretty(data: bytes) -> str:
    text = data.decode("utf-8", "backslashreplace")
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except ValueError:
        return text


def compared(namings: list[origins.Naming], digest: str) -> dict[str, Any]:
    """What the same source of the same node said before, and what differs."""
    naming = next((naming for naming in namings if naming.is_capture and naming.event.node), None)
    earlier = origins.before(naming, digest) if naming else None
    if naming is None or earlier is None:
        return {"naming": naming}
    try:
        older, newer = origins.capture(blob(earlier[0])), origins.capture(blob(digest))
    except (Redacted, LedgerDown) as gone:
        return {"naming": naming, "earlier": earlier, "not_compared": f"Its earlier text cannot be read: {gone}"}
    lines = origins.difference(older, newer) if older and newer else None
    return {"naming": naming, "earlier": earlier, "difference": lines}


@login_required
@require_GET
def run_bundle(request: HttpRequest, run: str) -> HttpResponse:
    """The run's bundle. Each download is itself an event of the run: an audit trail says who took a copy."""
    try:
        with reported_as_asked(request):
            data = bundle(run, actor=request.user.get_username())
    except NoSuchRun:
        raise Http404("The ledger holds no event of this run.") from None
    except LedgerDown as down:
        return HttpResponse(str(down), status=503, content_type=PLAIN)
    return attachment(data, "application/zip", f"slotlight-run-{slugify(run)}.zip")


def attachment(data: bytes, media: str, name: str) -> HttpResponse:
    return HttpResponse(data, content_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'})
