"""What the API says is what the pages say: real captures of the incident, guids as text, pages by cursor."""

import io
import json
import zipfile

import pytest
from django.utils import timezone

from agents.tests.scenarios import step
from app.api import triage
from app.api.tests.cast import Asker, token
from app.api.tests.test_metrics import scrape
from app.fleet import unexplained_reviews
from app.fleet.tests.test_unexplained_reviews import word
from app.runs.tests.cast import SDCW, Oss01, begin, incident, person
from launcher.triage import triage as launcher_triage


@pytest.fixture
def asks(oss01, ann):
    return Asker(token(ann))


@pytest.mark.django_db
def test_status_counts_what_is_so(asks):
    answer = asks.get("/status")
    assert answer["nodes"] == {"enrolled": 1}
    assert answer["silent"] == 0
    assert answer["situations"]["act"] >= 1


@pytest.mark.django_db
def test_a_node_says_its_pools_with_guids_as_text(asks):
    answer = asks.get("/nodes/oss01")
    [pool] = [one for one in answer["pools"] if one["name"] == "ost_0"]
    assert isinstance(pool["guid"], str)
    assert int(pool["guid"]) > 2**53
    assert pool["may_lose"] == 1
    assert answer["worst"] == "act"
    assert [one["name"] for one in asks.get("/nodes")["items"]] == ["oss01"]


@pytest.mark.django_db
def test_a_situation_comes_with_its_lines_and_its_runbooks(asks, ann):
    [one] = [line for line in asks.get("/situations?severity=act")["items"] if line["slug"] == "wwid-mismatch"]
    assert one["may_lose"] == 1
    run = begin(ann)
    answer = asks.get(f"/situations/{one['id']}")
    assert answer["answers"][0]["runbook"] == "wwid-mismatch-replace"
    assert all(len(line["digest"]) == 64 and line["line"] for line in answer["evidence"])
    assert answer["open_runs"] == [run.pk]


@pytest.mark.django_db
def test_what_an_administrator_has_reviewed_says_who_why_and_until_when(asks, client):
    row = word()
    here = row.node.name
    assert asks.get(f"/situations/{row.pk}")["reviewed"] is None
    before = asks.get("/status")["situations"]
    unexplained_reviews.review(row, person("bea", "admin"), "the sensor is not there", 30, timezone.now())
    after = asks.get("/status")["situations"]
    assert (after["watch"], after["reviewed"]) == (before["watch"] - 1, 1)
    [line] = [one for one in asks.get(f"/situations?severity=watch&node={here}")["items"] if one["id"] == row.pk]
    for answer in (line, asks.get(f"/situations/{row.pk}")):
        assert (answer["reviewed"]["by"], answer["reviewed"]["why"]) == ("bea", "the sensor is not there")
        assert answer["reviewed"]["until"]
    assert "title" not in asks.get(f"/nodes/{here}")["worst_title"]
    samples = scrape(client)["slotlight_situations"]
    assert [one.labels["severity"] for one in samples if one.labels["slug"] == "unexplained"] == ["reviewed"]


@pytest.mark.django_db
@pytest.mark.parametrize("q", [SDCW, SDCW.removeprefix("naa:"), f"0x{SDCW.removeprefix('naa:')}", "oss01:sdcw"])
def test_a_disk_is_found_by_any_of_its_names(asks, q):
    found = asks.get(f"/disks?q={q}")["items"]
    assert [one["wwid"] for one in found] == [SDCW]
    answer = asks.get(f"/disks/{found[0]['wwid']}")
    assert answer["sightings"][0]["name"] == "sdcw"
    assert answer["size_bytes"].isdigit()


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/disks", "/situations"])
def test_pages_give_everything_once(asks, path):
    all_pages_of(asks, path)


def all_pages_of(asks, path):
    whole, cursor, seen = asks.get(f"{path}?limit=200")["items"], "", []
    for _ in range(200):
        page = asks.get(f"{path}?limit=7&cursor={cursor}")
        seen += page["items"]
        cursor = page["next"]
        if not cursor:
            break
    assert not cursor
    assert len(seen) >= len(whole) > 0
    assert seen[: len(whole)] == whole


@pytest.mark.django_db
def test_a_parameter_that_is_given_twice_is_refused_and_named(asks):
    answer = asks("GET", "/situations?severity=info&severity=act")
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:slotlight:invalid")
    assert "severity is given 2 times" in answer.json()["detail"]


@pytest.mark.django_db
@pytest.mark.parametrize("body", ['{"version": 1, "version": 2}', '{"version": 1, "params": {"a": {"b": 1, "b": 2}}}'])
def test_a_field_that_is_given_twice_is_refused_and_named_however_deep(asks, body):
    answer = asks("POST", "/runs", body)
    assert (answer.status_code, answer.json()["type"]) == (400, "urn:slotlight:unreadable")
    assert "is given more than once" in answer.json()["detail"]


@pytest.mark.django_db
def test_what_is_not_there_is_404_in_the_one_shape(asks):
    for path in ("/nodes/nobody", "/runs/999999", "/disks/naa:1", "/nothing", "/ledger/events/999999999"):
        answer = asks("GET", path)
        assert answer.status_code == 404, path
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert set(answer.json()) == {"type", "title", "status", "detail", "do", "verdicts"}


@pytest.fixture
def committed(committed_db, tmp_path, settings):
    settings.SLOTLIGHT_LEDGER_KEY = tmp_path / "ledger.key"
    node, ann = Oss01(tmp_path), person("ann", "operator")
    node.report()
    return Asker(token(ann)), begin(ann)


def test_the_ledger_is_searched_proven_and_taken_away(committed):
    asks, run = committed
    all_pages_of(asks, "/ledger")
    assert asks("GET", "/runs/77/bundle").status_code == 404
    assert not asks.get("/ledger?run=77")["items"], "asking for a run that is not there makes none"
    situation = asks.get(f"/situations/{incident().pk}")
    assert situation["evidence"][0]["line"].split()[0].encode() in asks("GET", f"/evidence/{situation['evidence'][0]['digest']}").content
    found = asks.get(f"/ledger?run={run.pk}&type=run.")["items"]
    assert found[-1]["type"] == "run.started"
    event = asks.get(f"/ledger/events/{found[0]['id']}")
    proof = asks.get(f"/ledger/events/{found[0]['id']}/proof")
    assert proof["body"] == event["raw"]
    assert int(proof["index"]) == int(event["seq"]) - 1
    assert asks.get("/ledger/head")["checkpoint"] == proof["checkpoint"]
    assert asks.get("/ledger/consistency?size=1")["consistency"]
    assert asks.get("/ledger/keys")["log_key"]
    bundle = asks("GET", f"/runs/{run.pk}/bundle")
    assert bundle.status_code == 200
    assert [one["body"]["act"] for one in asks.get(f"/ledger?type=token.used&run={run.pk}")["items"]] == ["run.bundle"]
    assert "events.jsonl" in zipfile.ZipFile(io.BytesIO(bundle.content)).namelist()
    assert asks.get("/ledger?type=run.exported")["items"][0]["actor"] == "ann"


STATUS = step("disk-removed/2-removed") / "zpool-status-P.txt"


@pytest.mark.django_db
def test_triage_answers_as_the_launcher_does(asks, capsys):
    answer = asks.post("/triage", {"texts": [{"name": str(STATUS), "text": STATUS.read_text()}]}).json()
    assert launcher_triage(["--json", str(STATUS)]) == 1
    assert json.loads(capsys.readouterr().out) == answer
    assert [one["slug"] for one in answer["situations"]] == ["disk-missing"]
    assert answer["good"] is False


@pytest.mark.django_db
def test_triage_of_too_much_says_so(asks, monkeypatch):
    monkeypatch.setattr(triage, "PASTE_BYTES_MAX", 10)
    answer = asks.post("/triage", {"texts": [{"name": "x", "text": "x" * 11}]})
    assert answer.status_code == 413
    assert "Nothing of it was read or kept" in answer.json()["detail"]
