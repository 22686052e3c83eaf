"""One act by its name, for whoever asks: a page or the API. What stands beside the engine is done by `takeover`."""

from collections.abc import Mapping
from datetime import datetime

from app.accounts.models import User
from app.runs import services, takeover
from app.runs.acts import ACTS, WORDS_MAX


def do(pk: int, version: int, name: str, user: User, proved_at: datetime | None, said: Mapping[str, str]) -> None:
    """`name` is one of ACTS or BESIDE; `said` is what its form holds. Raises what `services.act` raises."""
    reason = said.get("reason", "")[:WORDS_MAX]
    if name == "withdraw":
        takeover.withdraw(pk, version, user, reason)
    elif name == "take-over":
        holder = said.get("holder", "")
        takeover.take_over(pk, version, int(holder) if holder.isascii() and holder.isdigit() else 0, user, reason, proved_at)
    else:
        services.act(pk, version, ACTS[name].kind, user, proved_at=proved_at, **ACTS[name].said(said))
