"""Acts through a token: the services that the pages use, and beside what they record, which token it was.

Both stand in one transaction, also when the act was refused: a refusal is on the record too, so nothing is taken back for it.
"""

from collections.abc import Callable
from typing import TypeVar

from django.db import transaction

from app.api.models import Token
from app.ledger import services as ledger
from app.runs.services import RunRefused

T = TypeVar("T")


def by_token(token: Token, act: str, what: Callable[[], T], *, run: str = "", node: str = "") -> T:
    """Do `what`, and record that this token did it or was refused. Raises what `what` raises."""
    ledger.refuse_if_broken()  # before the transaction: its trial write holds the ledger's head
    refused: RunRefused | None = None
    with transaction.atomic():
        try:
            done = what()
        except RunRefused as why:
            refused = why
            _record(token, act, "refused", run, node)
        else:
            _record(token, act, "done", run or str(getattr(done, "pk", "") or ""), node)
    if refused is not None:
        raise refused
    return done


def taken(token: Token, act: str, run: str, node: str = "") -> None:
    """For what cannot stand in one transaction with its record: that it is about to be done; or, of a node, that it was."""
    with transaction.atomic():
        _record(token, act, "done" if node else "begun", run, node)


def _record(token: Token, act: str, outcome: str, run: str, node: str) -> None:
    body = {"token": token.prefix, "name": token.name, "act": act, "outcome": outcome}
    ledger.record("token.used", body, token.person.username, run=run, node=node)
