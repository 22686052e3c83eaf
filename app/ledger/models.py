"""The ledger's five tables, as Django reads them. The tables themselves are written in `migrations/0001_ledger.sql`.

Nothing of them is ever changed or deleted: the database refuses it, for everybody. Write through `services`. The one exception is
`redact`. The two tables of words at the end only help to find events; see `terms`.
"""

import json
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models


class LedgerEvent(models.Model):
    """One thing that was done or decided. Only `body` is written; a trigger reads every other column out of it."""

    body = models.BinaryField(null=True)  # null: redacted
    leaf = models.BinaryField()
    at = models.TextField()
    actor = models.TextField()
    type = models.TextField()
    run = models.TextField()
    node = models.TextField()
    run_seq = models.BigIntegerField(null=True)
    identity = models.TextField(null=True)  # the row about a person that it is about; see app/accounts/seals.py

    class Meta:
        db_table = "ledger_event"

    def __str__(self) -> str:
        return f"{self.type} by {self.actor} at {self.at}"

    @property
    def parsed(self) -> dict[str, Any]:
        """The whole record as an object: v, type, at, actor, run, node, run_seq, run_prev, evidence, body. Of a redacted one, what is left."""
        if self.body is None:
            columns = {name: getattr(self, name) for name in ("type", "at", "actor", "run", "node")}
            return {"v": "1", **columns, "run_seq": str(self.run_seq or ""), "run_prev": "", "evidence": [], "body": {}}
        found: dict[str, Any] = json.loads(bytes(self.body))
        return found


class LedgerChain(models.Model):
    """The place of one event in the one order of all events, written by the database itself.

    That is at COMMIT, unless another transaction was just then at it: then the event waits in a lane, and whoever commits next, or
    `services.number_waiting`, gives it its place.
    """

    seq = models.BigIntegerField(primary_key=True)
    event = models.OneToOneField(LedgerEvent, models.DO_NOTHING, related_name="chain", db_constraint=False)
    prev = models.BinaryField()
    link = models.BinaryField()

    class Meta:
        db_table = "ledger_chain"

    def __str__(self) -> str:
        return f"event {self.seq}"


class LedgerHead(models.Model):
    """The one row every sealing transaction waits for."""

    one = models.BooleanField(primary_key=True)
    seq = models.BigIntegerField()
    prev = models.BinaryField()
    link = models.BinaryField()
    numbered = ArrayField(models.BigIntegerField(), default=list)  # how far each lane has been numbered

    class Meta:
        db_table = "ledger_head"

    def __str__(self) -> str:
        return f"head at event {self.seq}"


class LedgerCheckpoint(models.Model):
    """A signed statement: the first `size` events have this Merkle root. `frontier` lets the next one start from here."""

    size = models.BigIntegerField(primary_key=True)
    root = models.BinaryField()
    frontier = models.BinaryField()
    note = models.TextField()
    at = models.TextField()

    class Meta:
        db_table = "ledger_checkpoint"

    def __str__(self) -> str:
        return f"checkpoint over {self.size} events"


class LedgerSent(models.Model):
    """How the last try to send a checkpoint to one place outside ended, and which one went there last."""

    place = models.TextField(primary_key=True)  # without its password
    size = models.BigIntegerField(null=True)  # of the last one that went there
    sent_at = models.DateTimeField(null=True)
    why = models.TextField(blank=True)  # why the newest did not go; empty: it did
    failing_since = models.DateTimeField(null=True)

    class Meta:
        db_table = "ledger_sent"

    def __str__(self) -> str:
        return f"checkpoints to {self.place}"


class Blob(models.Model):
    """Evidence by its SHA-256. The database checks the digest itself and compresses the bytes."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    size = models.BigIntegerField()
    media = models.TextField()
    bytes = models.BinaryField(null=True)  # null: redacted

    class Meta:
        db_table = "ledger_blob"

    def __str__(self) -> str:
        return self.sha256


class LedgerTerm(models.Model):
    """One word by which an event is found. Made from the events, and made again when it is lost."""

    pk = models.CompositePrimaryKey("term", "event_id")
    term = models.TextField(db_collation="C")
    event_id = models.BigIntegerField()

    class Meta:
        db_table = "ledger_term"
        indexes = [models.Index(fields=["event_id"], name="ledger_term_event")]

    def __str__(self) -> str:
        return f"{self.term} in the event with the row id {self.event_id}"


class LedgerTermsHead(models.Model):
    """Up to which event the words were taken in."""

    one = models.BooleanField(primary_key=True)
    seq = models.BigIntegerField()

    class Meta:
        db_table = "ledger_terms_head"

    def __str__(self) -> str:
        return f"words up to event {self.seq}"
