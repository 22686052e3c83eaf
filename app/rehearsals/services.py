"""Rehearsing: asked for on a page, played in the worker, shown on a page of its own.

It reads what nodes reported and writes one row of its own table. That a person rehearsed goes into the ledger, without effect on
anything. Nothing here imports runs, orders or locks; a test keeps it so.
"""

import logging
import time
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.utils import timezone

from app.accounts.models import User
from app.fleet import services as fleet
from app.fleet.models import Node, Situation
from app.ledger import services as ledger
from app.rehearsals.models import Rehearsal
from workflows.facts import FleetFacts, NodeFacts, known
from workflows.rehearsal import Asked, CannotRebuild, Rehearsed, Report, Stage, rehearse
from workflows.runbooks import RUNBOOKS

PLAY_SECONDS_MAX = 30.0
KEPT = timedelta(days=1)
GIVEN_UP_AFTER = timedelta(minutes=2)  # a rehearsal whose worker died with it
CHOICE_CHARACTERS_MAX = 200
CHOICES_MAX = 20
ONE_AT_A_TIME = 0x510_4EA2  # of pg_try_advisory_lock: what the worker has to do for runs comes first
log = logging.getLogger(__name__)


class CannotRehearse(Exception):
    """Nothing was begun. The message says why."""


def begin(user: User, situation: Situation, runbook: str, choices: Mapping[str, str]) -> Rehearsal:
    """Keep what is asked for. Raises CannotRehearse."""
    answer = next((a for a in situation.data["answers"] if a["runbook"] == runbook), None)
    if answer is None or runbook not in RUNBOOKS:
        raise CannotRehearse("That runbook is not among those of this situation. Open it again.")
    if situation.closed_at is not None:
        raise CannotRehearse("This situation is over: the facts no longer show it, so there is nothing to rehearse.")
    if len(choices) > CHOICES_MAX or any(len(part) > CHOICE_CHARACTERS_MAX for pair in choices.items() for part in pair):
        raise CannotRehearse("These are not choices of that runbook. Begin the rehearsal again from its situation.")
    now = timezone.now()
    is_well = _ledger_is_well()
    with transaction.atomic():
        Rehearsal.objects.filter(asked_at__lt=now - KEPT).delete()
        begun = Rehearsal.objects.create(
            situation=situation, runbook=runbook, params=answer["params"], choices=dict(choices), asked_by=user, asked_at=now
        )
        if is_well:
            body = {"rehearsal": begun.pk, "runbook": runbook, "situation": situation.key, "choices": dict(choices)}
            ledger.record("rehearsal.begun", body, user.username, node=situation.node.name)
    return begun


def _ledger_is_well() -> bool:
    """Looking goes on when nothing can be recorded, and a rehearsal is looking."""
    try:
        ledger.refuse_if_broken()
    except ledger.LedgerDown as down:
        log.error("%s", down)
        return False
    return True


def is_lost(rehearsal: Rehearsal, now: datetime) -> bool:
    return rehearsal.ended_at is None and now - rehearsal.asked_at > GIVEN_UP_AFTER


def play(pk: int) -> bool:
    """Play it and keep the result; False when another one is being played and this must wait. Harmless however often it is rung."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [ONE_AT_A_TIME])
        if not cursor.fetchone()[0]:
            return False
        try:
            asked = Rehearsal.objects.select_related("situation__node").filter(pk=pk, ended_at__isnull=True).first()
            if asked is not None:
                _play(asked)
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [ONE_AT_A_TIME])
    return True


def _play(asked: Rehearsal) -> None:
    now, node = timezone.now(), asked.situation.node
    asked.reported_at = node.last_report_at
    try:
        asked.result = rehearse_on_twins(asked.runbook, asked.params, asked.choices, node, now).to_json()
    except CannotRebuild as why:
        asked.why_not = str(why)
    asked.ended_at = timezone.now()
    asked.save()


def rehearse_on_twins(runbook: str, params: Mapping[str, str], choices: Mapping[str, str], node: Node, now: datetime) -> Rehearsed:
    """Raises CannotRebuild."""
    facts = fleet.facts_near([node.name, *params.values(), *choices.values()], now)
    if node.name not in facts.nodes:
        raise CannotRebuild(f"{node.name} has never reported, so there is nothing to make a twin of.")
    beside = {name: _report(name, facts, now) for name in _who_shares_disks(facts, node.name)}
    stage = Stage({node.name: _report(node.name, facts, now)}, facts, now.timestamp(), beside)
    ends = time.monotonic() + PLAY_SECONDS_MAX
    return rehearse(Asked(RUNBOOKS[runbook], params, choices, late=lambda: time.monotonic() > ends), stage)


def _who_shares_disks(facts: FleetFacts, name: str) -> list[str]:
    mine = _wwids(facts.nodes[name])
    return [other for other, node in facts.nodes.items() if other != name and mine & _wwids(node)]


def _wwids(node: NodeFacts) -> set[str]:
    return {disk.wwid for disk in (node.disks if known(node.disks) else ()) if known(disk.wwid)}


def _report(name: str, facts: FleetFacts, now: datetime) -> Report:
    captures, earlier = fleet.last_captures(Node.objects.get(name=name), now)
    return Report(facts.nodes[name], captures, earlier)
