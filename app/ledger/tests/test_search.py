"""Finding events by who, where, which disk, when; and that a long ledger costs no more than a short one."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from app.fleet.models import Disk
from app.ledger import redact, search, terms
from app.ledger.forms import moment
from app.ledger.models import LedgerChain, LedgerEvent, LedgerTerm
from app.ledger.services import record

AT = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
DISK = "5000c500a65b207b"
MANY = 21_000


@pytest.fixture
def recorded(ledger):
    """A run, a node that reports, and a person who looks."""
    record("run.started", {"params": {"pool": "ost_0", "wwid": f"naa:{DISK}"}}, "ann", run="7", node="oss01", at=AT)
    record("run.approved", {"plan_digest": "ab" * 32}, "bob", run="7", node="oss01", at=AT + timedelta(hours=1))
    record("report.changed", {"opened": ["disk-missing:oss02:991"], "changed": {}}, "node:oss02", node="oss02", at=AT + timedelta(hours=2))
    record("person.signed-in", {"from": "10.0.0.1"}, "Annabel", at=AT + timedelta(hours=3))
    terms.catch_up()
    return ledger


def found(**fields) -> list[str]:
    return [line.newest.event.type for line in search.page(fields, 0).lines]


@pytest.mark.parametrize(
    "written", [f"naa:{DISK}", f"wwn-0x{DISK}", f"/dev/disk/by-id/wwn-0x{DISK}", f"3{DISK}", DISK.upper(), f"scsi-3{DISK}-part1"]
)
def test_a_disk_is_found_by_every_way_to_write_its_wwid(recorded, written):
    assert found(disk=written) == ["run.started"]


def test_a_disk_is_found_by_its_serial(recorded):
    Disk.objects.create(wwid=f"naa:{DISK}", serial="ZA20XYZ1", first_seen_at=AT)
    assert found(disk="za20xyz1") == ["run.started"]


@pytest.mark.parametrize(
    ("fields", "types"),
    [
        ({"pool": "OST_0"}, ["run.started"]),
        ({"q": "abab"}, ["run.approved"]),
        ({"q": "991"}, ["report.changed"]),
        ({"q": "disk-missing 991"}, ["report.changed"]),
        ({"q": "ost_0 991"}, []),
        ({"actor": "ann"}, ["person.signed-in", "run.started"]),
        ({"actor": "node:oss02"}, ["report.changed"]),
        ({"actor": "nobody"}, []),
        ({"type": "run."}, ["run.approved", "run.started"]),
        ({"type": "run.", "actor": "bob"}, ["run.approved"]),
        ({"node": "oss02"}, ["report.changed"]),
        ({"run": "7", "q": "ost_0"}, ["run.started"]),
        ({"since": "2026-11-21 05:00"}, ["person.signed-in", "report.changed"]),
        ({"until": "2026-11-21T04:00:00"}, ["run.started"]),
        ({"since": "2026-11-21 04:00", "until": "2026-11-21 05:00"}, ["run.approved"]),
        ({"since": "2026-11-21 06:00+02:00", "until": "2026-11-21"}, []),
        ({"since": "2026-11-22"}, []),
    ],
)
def test_it_finds_by(recorded, fields, types):
    assert found(**fields) == types


def test_a_time_that_is_none_is_said_and_nothing_is_shown(recorded):
    client = Client()
    client.force_login(get_user_model().objects.create_user("eve"))
    answer = client.get(reverse("ledger"), {"since": "yesterday"})
    assert answer.status_code == 422
    assert "yesterday is no time. Write it as 2026-11-21 03:15, in UTC." in answer.content.decode()


def test_words_are_taken_in_once_and_can_be_made_again(recorded):
    kept = set(LedgerTerm.objects.values_list("term", "event_id"))
    assert terms.catch_up()
    LedgerTerm.objects.all().delete()
    connection.cursor().execute("UPDATE ledger_terms_head SET seq = 0")
    terms.catch_up()
    assert set(LedgerTerm.objects.values_list("term", "event_id")) == kept


def test_what_was_redacted_is_found_no_more(recorded, ground, committed_db):
    from app.core.database import point_at

    point_at(ground.url(committed_db, "owner"))
    redact.redact_event(1, "a name", "ann")
    point_at(ground.url(committed_db))
    assert found(disk=DISK) == []


@pytest.fixture
def long(recorded, tamper):
    """Tens of thousands of reports upon the four events; the ledger's own way would take minutes."""
    tamper(
        "INSERT INTO ledger_event (body, leaf, at, actor, type, run, node) SELECT convert_to('{\"body\":{}}', 'UTF8'), sha256(n::text::bytea),"
        f" to_char(timestamp '{AT:%Y-%m-%d %H:%M:%S}' + interval '4 hours' + n * interval '1 second', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'),"
        f" 'node:oss' || n % 50, 'report.changed', '', 'oss' || n % 50 FROM generate_series(1, {MANY}) n",
        "INSERT INTO ledger_chain (seq, event_id, prev, link) SELECT id, id, sha256(id::text::bytea), sha256((id + 1)::text::bytea)"
        " FROM ledger_event WHERE id > 4",
        "INSERT INTO ledger_term SELECT 'word' || id % 9000, id FROM ledger_event WHERE id > 4",
        "UPDATE ledger_terms_head SET seq = (SELECT max(seq) FROM ledger_chain)",
        "ANALYZE ledger_event, ledger_chain, ledger_term",
    )


SEARCHES = [
    {},
    {"q": "ost_0"},
    {"disk": DISK},
    {"actor": "ann"},
    {"type": "run."},
    {"run": "7"},
    {"node": "oss7"},
    {"node": "oss01"},
    {"since": "2026-11-21 02:00", "until": "2026-11-21 03:30"},
    {"type": "report."},
]


def test_a_long_ledger_is_not_read_through(long):
    """However many events there are, a page looks at a bounded number of rows, each found by an index."""
    for fields in SEARCHES:
        with CaptureQueriesContext(connection) as queries:
            page = search.page(fields, 0)
        assert page.lines, fields
        assert len(queries) <= 60, fields
        for query in queries:
            assert_bounded(query["sql"])


def test_the_newest_page_asks_as_many_questions_of_a_long_ledger_as_of_a_short_one(long, monkeypatch):
    counts = []
    for scanned in (10_000_000, 20):  # the whole of it fits on a page, or only its newest events do
        monkeypatch.setattr(search, "SCANNED", scanned)
        monkeypatch.setattr(search, "LOOKED_MAX", scanned * 10)
        monkeypatch.setattr(search, "CHUNK", 10)
        with CaptureQueriesContext(connection) as queries:
            page = search.page({}, 0)
        counts.append((len(queries), bool(page.older)))
    assert counts == [(2, False), (2, True)]


def assert_bounded(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}")
        [plan] = cursor.fetchone()[0]
    for node in nodes(plan["Plan"]):
        if node.get("Relation Name", "").startswith("ledger_"):
            touched = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
            assert touched <= search.CHUNK * 2, (touched, sql)
            assert node["Node Type"] != "Seq Scan", sql


def nodes(plan):
    yield plan
    for inner in plan.get("Plans", ()):
        yield from nodes(inner)


def test_when_too_few_fit_it_says_how_far_it_looked_and_goes_on(long, monkeypatch):
    monkeypatch.setattr(search, "LOOKED_MAX", 5000)
    fields, below, seen, pages = {"node": "oss01", "since": "2026-11-21 02:00"}, 0, [], 0
    assert found(**fields) == ["run.approved", "run.started"]
    fields = {"type": "", "until": "2026-11-21 03:30"} | {"since": "2026-11-21"}
    while True:
        page = search.page(fields, below)
        seen += [line.newest.event.type for line in page.lines]
        pages += 1
        if not page.older:
            break
        below = page.older
    assert seen == ["run.started"]
    rare = search.page({"type": "report.", "actor": "node:oss01"}, 0)
    assert rare.lines == []
    assert rare.older == 0


def test_a_page_that_looked_at_enough_says_so(long, monkeypatch):
    monkeypatch.setattr(search, "LOOKED_MAX", 2000)
    page = search.page({"type": "report.", "node": "oss7", "until": "2026-11-21 07:00:08"}, 0)
    assert [line.newest.event.at for line in page.lines] == [moment(AT + timedelta(hours=4, seconds=7))]
    monkeypatch.setattr(search, "CHUNK", 100)
    monkeypatch.setattr(search, "LOOKED_MAX", 100)
    page = search.page({"node": "oss7", "type": "run."}, 0)
    assert (page.lines, page.older > 0, page.looked_back_to > "2026") == ([], True, True)
    assert LedgerEvent.objects.get(pk=page.older).at == page.looked_back_to


def test_events_that_were_committed_in_another_order_than_they_were_written_stand_by_their_numbers(recorded):
    """Two at once: the later row may be numbered first."""
    first, second, *_ = LedgerChain.objects.order_by("seq").select_related("event")
    first.event, second.event = second.event, first.event
    rows = [(one.event_id, one.event.type, one.event.actor) for one in (first, second)]
    line = search._line(rows, {one.event_id: one for one in (first, second)})
    assert [place.seq for place in line.rows] == [2, 1]
    assert (line.newest.seq, line.oldest) == (2, 1)
