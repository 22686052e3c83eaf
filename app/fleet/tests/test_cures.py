"""What helps, as it is kept in a situation's row: the same on its page, in the API and in a notice; and what a new release does to a run."""

from dataclasses import replace

import pytest
from django.utils import timezone

from app.api.tests.cast import Asker, token
from app.fleet import situations
from app.fleet.models import Situation, Standing
from app.fleet.pages import overview
from app.fleet.tests.cast import node
from app.notices.kinds import _next
from app.runs.tests.cast import person
from workflows.engine.core import Answer, Cure
from workflows.engine.core import Situation as Seen
from workflows.tests.incident import FLEET

pytestmark = pytest.mark.django_db
WAIT = Cure("wait", "Wait until the resilver has ended.")
CLEAR = Cure(
    "clear", "Clear its <errors>.", (("zpool", "clear", "ost_0", "77"),), "0.8 and newer", "It is back.", "The error counters.", ""
)
ANSWER = Answer("wwid-mismatch-replace", {}, "by its guid")


def seen(**more):
    about = {"slug": "disk-missing", "key": "disk-missing:oss01:77", "node": "oss01", "severity": "act", "title": "a title"}
    return Seen(**(about | {"meaning": "A meaning. And more.", "evidence": (), "subject": {"pool": "ost_0"}} | more))


def row(**more):
    one = seen(**more)
    return Situation.objects.create(key=one.key, node=node(), opened_at=timezone.now(), **situations._fields(one, FLEET))


@pytest.fixture
def ann():
    return person("ann", "operator")


def page_of(client, ann, one):
    client.force_login(ann)
    return " ".join(client.get(f"/situations/{one.pk}/").content.decode().split())


def test_the_page_shows_what_helps_in_its_order_with_all_that_each_takes(client, ann):
    page = page_of(client, ann, row(cures=(WAIT, CLEAR), gate=True))
    places = [
        page.index(text) for text in ("What helps, first things first", WAIT.text, "Clear its &lt;errors&gt;.", "zpool clear ost_0 77")
    ]
    assert places == sorted(places)
    for text in ("Right for OpenZFS 0.8 and newer.", "Before: It is back.", "Save first: The error counters."):
        assert page.count(text) == 1
    assert "No member of ost_0 may be replaced for now." in page
    assert "<h2>Runbooks</h2>" in page


def test_a_page_without_cures_shows_none_and_one_that_is_over_advises_nothing(client, ann):
    page = page_of(client, ann, row())
    assert "What helps" not in page
    assert "may be replaced for now" not in page
    Situation.objects.update(data=Situation.objects.get().data | {"cures": [CLEAR.as_dict()], "gate": True}, closed_at=timezone.now())
    page = page_of(client, ann, Situation.objects.get())
    assert "zpool clear" not in page
    assert "may be replaced for now" not in page


def test_the_api_tells_the_same_with_nothing_where_there_is_nothing(ann):
    asks = Asker(token(ann))
    answer = asks.get(f"/situations/{row(cures=(WAIT, CLEAR), gate=True).pk}")
    assert answer["no_replacement"] is True
    assert answer["advice"] == [WAIT.as_dict(), CLEAR.as_dict()]
    assert answer["advice"][0] == {"kind": "wait", "text": WAIT.text} | {"commands": []} | dict.fromkeys(
        ("releases", "needs", "save_first", "runbook")
    )
    assert answer["advice"][1]["commands"] == [["zpool", "clear", "ost_0", "77"]]


def test_of_a_row_of_a_release_without_advice_the_api_says_none(ann):
    old = row(cures=(CLEAR,), gate=True)
    old.data = {name: value for name, value in old.data.items() if name not in ("cures", "gate")}
    old.save()
    answer = Asker(token(ann)).get(f"/situations/{old.pk}")
    assert (answer["advice"], answer["no_replacement"]) == ([], False)


NOTICES = {
    "cures, a gate and a runbook": (
        {"cures": (WAIT, CLEAR), "gate": True, "answers": (ANSWER,)},
        "No member of its pool may be replaced for now. First: Wait until the resilver has ended. Its page offers the runbook “",
    ),
    "cures alone": ({"cures": (WAIT,)}, "First: Wait until the resilver has ended."),
    "a gate alone": ({"gate": True}, "No member of its pool may be replaced for now."),
    "a runbook alone": ({"answers": (ANSWER,)}, "Its page offers the runbook “"),
    "nothing": ({}, "Its page shows the evidence; no runbook answers it."),
}


@pytest.mark.parametrize("name", NOTICES)
def test_a_notice_says_what_comes_first_and_no_command(name):
    more, words = NOTICES[name]
    text = _next(row(**more))
    assert text.startswith(words)
    assert "zpool" not in text


@pytest.mark.parametrize("under_repair", [True, False])
def test_the_first_judgement_of_a_release_keeps_what_an_open_run_is_about(monkeypatch, under_repair):
    """A release that does not see a situation any more closes it, unless somebody walks a run for it; after that run it is closed."""
    here, now = node(), timezone.now()
    Standing.objects.create(node=here, judged_by="another", rank=0, tone="bad", why="", settled_at=now, changed_at=now)
    old = row(slug="disk-missing", key="disk-missing:of-the-release-before")
    repairs = {old.key: object()} if under_repair else {}
    monkeypatch.setattr(overview, "under_repair", lambda: repairs)
    fleet = replace(FLEET, nodes={"oss01": FLEET.nodes["oss01"]})
    for look in ("first", "second"):  # the second is no first judgement of a release any more
        _, closed = situations.settle(fleet, now)
        old.refresh_from_db()
        assert old.is_open == under_repair
        assert (old.key in closed) == (not under_repair and look == "first")
    assert bool(old.data.get(situations.KEPT)) == under_repair
    repairs.clear()
    situations.settle(fleet, now)
    old.refresh_from_db()
    assert not old.is_open
