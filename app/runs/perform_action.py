"""One act by its name, for whoever asks: a page or the API. What stands beside the engine is done by `takeover`."""

from collections.abc import Mapping
from datetime import datetime

from app.accounts.models import User
from app.runs import pasted, services
from app.runs.actions import ACTS, WORDS_MAX
from app.runs.people import approval_requests, owners, takeover, technician_link


def do(pk: int, version: int, name: str, user: User, proved_at: datetime | None, fields: Mapping[str, str]) -> None:
    """`name` is one of ACTS or BESIDE; `said` is what its form holds. Raises what `services.act` raises."""
    reason = fields.get("reason", "")[:WORDS_MAX]
    match name:
        case "withdraw":
            takeover.withdraw(pk, version, user, reason)
        case "take-over":
            takeover.take_over(pk, version, _number(fields.get("holder", "")), user, reason, proved_at)
        case "hand-over":
            owners.hand_over(pk, user, fields.get("to", ""), reason)
        case "have-it":
            owners.have_it(pk, user)
        case "comment":
            owners.comment(pk, user, fields.get("text", ""))
        case "paste":
            pasted.keep(pk, user, fields.get("output", ""))
        case "remind":
            approval_requests.remind(pk, version, user)
        case "revoke-link":
            technician_link.revoke(pk, _number(fields.get("link", "")), user)
        case _:
            services.act(pk, version, ACTS[name].kind, user, proved_at=proved_at, **ACTS[name].values_from(fields))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
