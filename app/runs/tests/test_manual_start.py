"""A runbook begun at a node, a pool or a disk: for whom it fits, with parameters from facts only."""

import re
from html import unescape

import pytest
from django.urls import reverse

from app.ledger.models import LedgerEvent
from app.runs.models import Run
from app.runs.tests.cast import BLANK, SDCW, act, try_out
from app.runs.tests.test_by_hand import observe
from workflows.analysis import manual_start
from workflows.engine import events as ev
from workflows.runbooks import RUNBOOKS

pytestmark = pytest.mark.django_db
START = reverse("run-start")


def forms(client, path: str) -> dict[str, dict[str, str]]:
    """The fields of each form that begins something, by runbook."""
    page = client.get(path).content.decode()
    found = re.findall(r'<form method="post" action="/runs/start/" id="begin-(.*?)</form>', page, re.S)
    buttons = [one for one in found if "<button" in one]
    fields = [dict(re.findall(r'name="(offer|node|pool|wwid)" value="([^"]*)"', one)) for one in buttons]
    return {one["offer"].split(":")[1]: {name: unescape(value) for name, value in one.items()} for one in fields}


def test_every_runbook_that_is_offered_gets_all_its_parameters_from_facts(oss01, ann, client):
    client.force_login(ann)
    for slug, form in forms(client, f"/disks/{SDCW}/").items():
        begun = client.post(START, form)
        assert begun.status_code == 302, slug
        run = Run.objects.latest("pk")
        assert run.runbook == slug
        assert set(run.params) >= set(RUNBOOKS[slug].params)
        assert all(run.params.values())
        assert run.params.get("old_wwid", SDCW) == SDCW
        page = client.get(f"/disks/{SDCW}/").content.decode()
        assert f'id="in-hand-{run.pk}"' in page
        assert f'<a href="/runs/{run.pk}/">Run {run.pk}</a> of ann has it in hand.' in page, (
            "and the other runbooks are not begun beside it"
        )
        act(run, ev.Aborted, ann, reason="The next one is tried.")
    assert set(manual_start.OF_NODE) | set(manual_start.OF_POOL) | set(manual_start.OF_DISK) <= set(RUNBOOKS)


def test_a_second_click_begins_no_second_run_and_what_is_typed_does_not_count(oss01, ann, client):
    client.force_login(ann)
    form = forms(client, f"/disks/{SDCW}/")["blink-and-replace"]
    first = client.post(START, form | {"vdev_guid": "1", "old_serial": "TYPED"})
    assert client.post(START, form).headers["Location"] == first.headers["Location"]
    run = Run.objects.get()
    assert (run.params["old_wwid"], run.params["vdev_guid"], run.params["slot"]) == (SDCW, "7602460441426092393", "68")
    assert "TYPED" not in str(run.params)
    assert f"Go on with run {run.pk}" in client.get(f"/disks/{SDCW}/").content.decode()


def test_nothing_is_begun_for_what_is_not_offered(oss01, ann, client):
    client.force_login(ann)
    assert forms(client, f"/disks/{BLANK}/") == {}
    key = "by-hand:blink-and-replace:oss01:1:2"
    for form in ({"wwid": BLANK}, {"wwid": SDCW}, {"node": "oss01"}, {"node": "oss01", "pool": "ost_0"}, {}, {"node": "nobody"}):
        assert client.post(START, {"offer": key, **form}).status_code == 409, form
    assert not Run.objects.exists()


def test_who_may_only_look_sees_what_fits_and_starts_nothing(oss01, client, ann, django_user_model):
    client.force_login(ann)
    form = forms(client, f"/disks/{SDCW}/")["blink-and-replace"]
    client.force_login(django_user_model.objects.create_user("looker"))
    assert forms(client, f"/disks/{SDCW}/") == {}
    assert "Starting it needs the operator's right." in client.get(f"/disks/{SDCW}/").content.decode()
    assert client.post(START, form).status_code == 409
    assert LedgerEvent.objects.filter(type="run.start-refused", actor="looker").exists()


def test_what_speaks_against_it_is_said_before_anybody_begins(oss01, ann, client):
    """oss01's disk that is FAULTED has no label to be known by; a member that serves in a vdev without a loss to spare is kept."""
    client.force_login(ann)
    page = client.get("/disks/" + SDCW + "/").content.decode()
    assert "Begin a runbook here" in page
    against = re.findall(r"Not now: [^<]{10,}", page)
    assert all(one.rstrip().endswith((".", "more.")) for one in against), against


def test_a_spare_that_stands_in_is_offered_at_its_pool_too(tmp_path, ann, client):
    node = try_out(tmp_path, "spare-return")
    client.force_login(ann)
    form = forms(client, f"/nodes/{node.name}/pools/ost_0/")["spare-return"]
    assert client.post(START, form).status_code == 302
    assert set(Run.objects.get().params) == set(RUNBOOKS["spare-return"].params)


def test_a_pool_that_could_be_imported_is_offered_at_its_node(tmp_path, ann, client):
    node = try_out(tmp_path, "read-only-import")
    client.force_login(ann)
    form = forms(client, f"/nodes/{node.name}/")["read-only-import"]
    assert client.post(START, form).status_code == 302
    assert set(Run.objects.get().params) == set(RUNBOOKS["read-only-import"].params)


def test_where_the_node_is_only_observed_it_may_be_begun_and_goes_on_by_hand(tmp_path, ann, client):
    """No order is made there, and nothing speaks against the run itself."""
    node = try_out(tmp_path, "read-only-import")
    client.force_login(ann)
    assert "It goes on by hand" not in client.get(f"/nodes/{node.name}/").content.decode()
    observe(node)
    assert "It goes on by hand, as no order is made here: " in client.get(f"/nodes/{node.name}/").content.decode()
    assert client.post(START, forms(client, f"/nodes/{node.name}/")["read-only-import"]).status_code == 302
