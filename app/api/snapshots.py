"""Bringing what was collected on a host without an agent, through the API: the archive is the body, as it is."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Router, Schema
from pydantic import StringConstraints

from app.api.acting import taken
from app.api.auth import Scoped, TokenRequest
from app.api.problems import Problem
from app.api.scopes import OPERATE
from app.api.words import NO_NUL, answers
from app.fleet import triage_process
from app.snapshots import bringing
from confined import Stopped

router = Router(tags=["snapshots"])
RETRY_SECONDS = 10
MEDIA = "application/octet-stream"
BODY = {"requestBody": {"required": True, "content": {MEDIA: {"schema": {"type": "string", "format": "binary"}}}}}
Host = Annotated[str, StringConstraints(max_length=255, pattern=NO_NUL)]


class LackOut(Schema):
    what: str
    why: str


class SnapshotOut(Schema):
    node: str
    form: str
    archive: str
    taken_at: datetime
    brought_at: datetime
    is_new: bool
    holds: list[str]
    lacks: list[LackOut]
    dropped: int


@router.post("/snapshots", response=answers(SnapshotOut), auth=Scoped(OPERATE), url_name="api-snapshots", openapi_extra=BODY)
def snapshots(request: TokenRequest, host: Host = "", taken_at: datetime | None = None, anew: bool = False) -> dict[str, Any]:
    """Bring the archive of a host without an agent: what slotlight-collect wrote, or one of the other forms that the guide names. The body is
    the archive itself. `host` and `taken_at` are for archives that do not say them."""
    if taken_at is not None and taken_at.tzinfo is None:
        raise Problem("invalid", "taken_at has no time zone. Give it with one: 2026-11-27T09:30:00Z.")
    asked = bringing.Asked(host, taken_at, anew)
    try:
        brought = bringing.bring(request.body, request.auth.person, asked)
    except bringing.MayNot as why:
        raise Problem("not-allowed", str(why)) from None
    except bringing.NotTaken as why:
        raise Problem("not-taken", str(why)) from None
    except triage_process.Busy as busy:
        raise Problem("busy", str(busy), headers={"Retry-After": str(RETRY_SECONDS)}) from None
    except Stopped as stopped:
        raise Problem("stopped", str(stopped)) from None
    kept = brought.snapshot
    taken(request.auth, "snapshot", "", kept.node.name)
    return {
        "node": kept.node.name,
        "form": kept.form,
        "archive": kept.digest,
        "taken_at": kept.taken_at,
        "brought_at": kept.brought_at,
        "is_new": brought.is_new,
        "holds": kept.holds,
        "lacks": kept.lacks,
        "dropped": kept.others,
    }
