"""What a person pastes of a command given by hand: read, kept as evidence, and never what settles anything.

Anybody can type what a terminal would have printed. So it moves no run: it is there for people and for the postmortem. What became of the
command is what the node shows in a later look.
"""

from django.db import transaction

from agents.portal.wire import sha256_hex
from app.accounts.models import User
from app.ledger import services as ledger
from app.realtime.publish import ring
from app.runs import services
from app.runs.models import Run
from app.runs.rights import OPERATE
from workflows.by_hand import printed
from workflows.engine.events import can_be_kept

CHARS_MAX = 64 * 1024


def keep(run_id: int, user: User, text: str) -> None:
    """Keep it beside the run. Raises RunRefused where there is nothing it could be about, NotAllowed, LedgerDown."""
    ledger.refuse_if_broken()
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run_id)
        services.need(user, OPERATE, run.node)
        shown = run.here.shown
        if shown is None or not run.here.is_by_hand:
            raise services.RunRefused("No command of this run is being given by hand, so there is nothing that could be pasted of it.")
        if not text.strip() or not can_be_kept(text):
            raise services.RunRefused("What was pasted is empty, or no text that can be kept. Paste what the terminal shows.")
        raw = text[:CHARS_MAX].encode()
        ledger.keep(raw, "text/plain")
        body = {"plan_digest": shown.plan_digest, "pasted": sha256_hex(raw), "reads": list(printed.read(text[:CHARS_MAX], shown.nonce))}
        ring(f"run:{run.pk}")
        ledger.record("run.by-hand-pasted", body, user.username, run=str(run.pk), node=run.node)
