"""The list of damaged data as a file: every entry once, nothing that a spreadsheet or a script takes for something else, and its limits."""

import csv
import io
from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.collectors.zpool_status_errors import ErrorList
from app.accounts.models import User
from app.fleet.ingest import intake
from app.fleet.pages import damage
from app.fleet.tests.cast import collect, node, payload
from app.ledger.models import LedgerEvent
from twin.scenarios import tiny
from workflows.runbooks.damaged_data.rehearsal import FILES, restored
from workflows.tests.stage import Stage

ODD = '/ost_0/a\nb\t"c",d\\e\x1b[31m\u202e'


@pytest.fixture
def reader(db) -> Client:
    made = Client()
    made.force_login(User.objects.create_user("reader"))
    return made


def reported(tmp_path, made) -> None:
    intake.receive(node("oss01").name, payload("oss01", collect(Stage(tmp_path, {"oss01": made}).hosts["oss01"])), timezone.now())


def get(reader, form, pool="ost_0"):
    return reader.get(reverse("pool-damaged", args=["oss01", pool, form]))


def test_a_table_has_each_entry_with_what_helps(reader, tmp_path):
    reported(tmp_path, restored(0.0))
    answer = get(reader, "csv")
    heading, *found = csv.reader(io.StringIO(answer.content.decode()))
    assert (answer["Content-Type"], answer["X-Content-Type-Options"]) == ("text/csv; charset=utf-8", "nosniff")
    assert answer["Content-Disposition"] == 'attachment; filename="damaged-oss01-ost_0.csv"'
    assert tuple(heading) == damage.COLUMNS
    assert [row[0] for row in found] == list(FILES)
    assert [row[2] for row in found] == ["", "ost_0/archive@monday", ""]
    assert "Restore each from a copy" in found[0][3]


def test_lines_have_an_entry_each_and_the_page_leads_there(reader, tmp_path):
    reported(tmp_path, restored(0.0))
    first, *found = get(reader, "txt").content.decode().splitlines()
    assert first.startswith("# ost_0 on oss01, guid ")
    assert found == list(FILES)
    page = reader.get(reverse("pool", args=["oss01", "ost_0"])).content.decode()
    assert reverse("pool-damaged", args=["oss01", "ost_0", "csv"]) in page
    assert reverse("pool-damaged", args=["oss01", "ost_0", "txt"]) in page


def test_it_is_recorded_as_looking_at_the_evidence_once(reader, tmp_path):
    reported(tmp_path, restored(0.0))
    for _ in range(2):
        get(reader, "txt")
    assert LedgerEvent.objects.filter(type="evidence.looked", actor="reader").count() == 1


@pytest.mark.parametrize(
    ("form", "pool", "words"), [("csv", "ost_0", "No list of damaged data"), ("txt", "ost_9", ""), ("json", "ost_0", "")]
)
def test_without_a_list_there_is_no_file(reader, tmp_path, form, pool, words):
    """An empty file would say that nothing is damaged."""
    reported(tmp_path, tiny())
    answer = get(reader, form, pool)
    assert (answer.status_code, words in answer.content.decode()) == (404, True)
    assert "damaged.csv" not in reader.get(reverse("pool", args=["oss01", "ost_0"])).content.decode()


def test_a_list_that_was_not_read_is_no_file(reader, tmp_path):
    made = restored(0.0)
    here = Stage(tmp_path, {"oss01": made}).facts().nodes["oss01"]
    [pool] = here.pools
    assert damage.entries(replace(pool, errors="3 data errors, use '-v' for a list", error_list=ErrorList("ost_0", ()))) == ()


def test_names_with_control_characters_stay_one_cell_and_one_line(tmp_path):
    here = Stage(tmp_path, {"oss01": restored(0.0)}).facts().nodes["oss01"]
    [pool] = here.pools
    [_, row] = csv.reader(io.StringIO(damage.table(pool, [ODD])))
    assert row[0] == damage.escaped(ODD)
    assert [sign for sign in row[0] if not sign.isprintable()] == []
    assert row[0].encode().decode("unicode_escape") == ODD
    assert len(list(damage.lines(here, pool, [ODD]))) == 2


@pytest.mark.parametrize("sign", damage.FORMULA)
def test_no_cell_is_a_formula(sign):
    assert damage.cell(f"{sign}cmd").startswith("'")


def test_what_the_list_lacks_stands_in_it(tmp_path):
    here = Stage(tmp_path, {"oss01": restored(0.0)}).facts().nodes["oss01"]
    [pool] = here.pools
    cut = replace(pool, error_list=ErrorList("ost_0", FILES, left_out=7))
    assert "7 more entries are not in this list" in damage.table(cut, FILES)
    assert list(damage.lines(here, cut, FILES))[-1].startswith("# 7 more entries are not in this list")
