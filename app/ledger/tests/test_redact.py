"""What must not be kept is erased on the record: the proofs stand, and everybody who checks is told."""

import io
import json
import zipfile

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from agents.portal.wire import canonical
from app.ledger import notes, redact, verify
from app.ledger.audit import audit
from app.ledger.bundle import bundle
from app.ledger.models import Blob, LedgerEvent
from app.ledger.redact import NotRedacted
from app.ledger.services import Redacted

LEAF = "SELECT encode(leaf, 'hex') FROM ledger_event WHERE id = {}"


@pytest.fixture
def owner(cast, ground, committed_db):
    """As `./run manage` is: connected as the owner, who alone may erase."""
    from app.core.database import point_at

    point_at(ground.url(committed_db, "owner"))
    yield cast
    point_at(ground.url(committed_db))


def unzip(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def look(files: dict[str, bytes]) -> verify.Report:
    report = verify.Report()
    verify.check(files, verify.Pins(notes.signer().fingerprint), report)
    return report


def evidence_of(pk: int) -> str:
    return LedgerEvent.objects.get(pk=pk).parsed["evidence"][0]


def test_an_event_is_erased_and_the_ledger_stands(owner):
    redact.redact_event(2, "A customer's name.", "ann")
    event = LedgerEvent.objects.get(pk=2)
    assert (event.body, event.parsed["body"], event.parsed["run"]) == (None, {}, "7")
    found = audit()
    assert (found.exit_code, found.redacted) == (0, ["Event 2 was redacted by ann: A customer's name."])
    owner.record("run.moved", {}, "ann", run="7")
    assert owner.checkpoint_now().size == 8
    assert audit().exit_code == 0
    with pytest.raises(owner.LedgerDown, match="was redacted"):
        owner.inclusion(event)


def test_evidence_is_erased_and_missed_by_nobody(owner):
    digest = evidence_of(2)
    redact.redact_evidence(digest, "A password on the console.", "ann")
    with pytest.raises(Redacted):
        owner.blob(digest)
    found = audit()
    assert (found.exit_code, len(found.redacted)) == (0, 1)
    report = look(unzip(bundle("7", "ann")))
    assert (report.exit_code, report.tampered, report.incomplete) == (0, [], [])
    assert ("redacted", f"the evidence {digest}; the export says so") in report.facts


@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_export_of_what_was_erased_proves_the_rest(owner, number):
    event = LedgerEvent.objects.get(run="7", run_seq=number)
    redact.redact_event(event.chain.seq, "A name.", "ann")
    report = look(unzip(bundle("7", "ann")))
    assert (report.exit_code, report.tampered, report.incomplete) == (0, [], [])
    assert ("redacted", f"event {number} of the run; its leaf stands") in report.facts


def test_an_event_can_be_withheld_from_one_export(cast):
    files = unzip(bundle("7", "ann", withhold={2}))
    report = look(files)
    assert (report.exit_code, report.tampered, report.incomplete) == (0, [], [])
    assert ("redacted", "event 2 of the run; its leaf stands") in report.facts
    assert json.loads(files["events.jsonl"].splitlines()[-1])["body"]["withheld"] == [
        json.loads(files["events.jsonl"].splitlines()[1])["redacted"]
    ]
    assert LedgerEvent.objects.get(run="7", run_seq=2).body is not None
    assert look(unzip(bundle("7", "ann"))).exit_code == 0


def test_what_is_taken_out_after_the_export_is_not_called_redacted(cast):
    files = unzip(bundle("7", "ann"))
    lines = files["events.jsonl"].splitlines(keepends=True)
    leaf = verify.sha256(b"\x00" + lines[1][:-1]).hexdigest()
    lines[1] = canonical({"redacted": leaf, "run_seq": "2"}) + b"\n"
    report = look(files | {"events.jsonl": b"".join(lines)})
    assert report.exit_code == 2
    assert "They were taken out after it" in report.incomplete[0]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger_event SET body = NULL WHERE id = 2",
        "UPDATE ledger_event SET body = NULL, actor = 'eve' WHERE id = 3",
        "UPDATE ledger_event SET body = '{}' WHERE id = 3",
        "UPDATE ledger_event SET body = NULL WHERE id = 7",
        "UPDATE ledger_blob SET bytes = NULL",
        "UPDATE ledger_blob SET media = 'x'",
    ],
)
def test_the_owner_erases_nothing_but_what_was_recorded(owner, statement):
    """An event that names event 3 is there; everything else is refused."""
    fields = {"leaf": bytes(LedgerEvent.objects.get(pk=3).leaf).hex(), "why": "x"}
    owner.record("event.redacted", fields, "ann")
    with pytest.raises(DatabaseError, match="only grows"), connection.cursor() as cursor:
        cursor.execute(statement)


def test_the_portal_erases_nothing(cast):
    with pytest.raises(DatabaseError, match="permission denied"):
        redact.redact_event(2, "why not", "ann")
    assert LedgerEvent.objects.count() == 6  # the record of it went with it


def test_somebody_who_erases_without_a_record_is_found(cast, tamper):
    tamper("UPDATE ledger_event SET body = NULL WHERE id = 3", "UPDATE ledger_blob SET bytes = NULL")
    named = " ".join(audit().tampered)
    assert "Event 3 has no body" in named
    assert named.count("no event records its redaction") == 1 + Blob.objects.count()


@pytest.mark.parametrize(("seq", "why", "named"), [(2, " ", "Say why"), (99, "x", "no event 99")])
def test_it_wants_a_reason_and_an_event(owner, seq, why, named):
    with pytest.raises(NotRedacted, match=named):
        redact.redact_event(seq, why, "ann")


def test_it_never_erases_what_the_rest_is_proven_with(owner):
    redact.redact_event(3, "x", "ann")
    with pytest.raises(NotRedacted, match="proven with it"):
        redact.redact_event(7, "x", "ann")
    with pytest.raises(NotRedacted, match="already"):
        redact.redact_event(3, "x", "ann")


def test_the_command_erases(owner, capsys):
    call_command("ledger", "redact", "2", "--why", "A name.")
    call_command("ledger", "redact", evidence_of(5), "--why", "A key.")
    assert audit().exit_code == 0
    assert len(audit().redacted) == 2
    with pytest.raises(CommandError, match="no event 99"):
        call_command("ledger", "redact", "99", "--why", "A name.")
    capsys.readouterr()
    call_command("ledger", "verify")
    assert "REDACTED    Event 2 was redacted by" in capsys.readouterr().out


def test_erasing_and_its_record_are_one(owner, ground, committed_db):
    with psycopg.connect(ground.url(committed_db, "owner")) as person:
        person.execute("ALTER TABLE ledger_event ADD CONSTRAINT no CHECK (body IS NOT NULL) NOT VALID")
    with pytest.raises(DatabaseError), transaction.atomic():
        redact.redact_event(2, "x", "ann")
    assert not LedgerEvent.objects.filter(type="event.redacted").exists()
