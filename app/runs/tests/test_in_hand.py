"""A member, a disk or a bay that a run has in hand is shown as such everywhere, and no second run begins on it."""

import pytest

from app.fleet.models import Situation
from app.ledger.models import LedgerEvent
from app.runs import in_hand, services
from app.runs.models import Run
from app.runs.tests.cast import act, try_out
from app.runs.tests.test_rack import BLINK, blink
from app.runs.tests.walks import Walk
from workflows.engine import events as ev
from workflows.runbooks import RUNBOOKS

pytestmark = pytest.mark.django_db


@pytest.fixture
def walk(db, tmp_path, ann, bob):
    """A run that has taken its member out of service: ZFS now calls it lost, and other runbooks offer themselves for it."""
    walk = blink(try_out(tmp_path, BLINK), ann, bob)
    walk.to("light")
    walk.node.report()
    return walk


def others(walk) -> list[Situation]:
    """Situations that are about what the run has in hand, under keys of their own."""
    held = in_hand.of(walk.run)
    found = Situation.objects.filter(closed_at=None).exclude(key=walk.run.situation_key)
    return [one for one in found if held & in_hand.concerned(one)]


def test_no_second_run_begins_on_it_by_whatever_situation(walk, eve):
    answers = [(one, answer) for one in others(walk) for answer in one.data["answers"]]
    assert answers, "an OFFLINE member is a situation of its own"
    for one, answer in answers:
        with pytest.raises(services.RunRefused, match=f"Run {walk.run.pk} of ann has .* in hand"):
            services.start_run(eve, answer["runbook"], answer["params"], one.key)
    assert Run.objects.count() == 1
    assert LedgerEvent.objects.filter(type="run.start-refused").count() == len(answers)


@pytest.mark.parametrize(
    ("named", "shared"),
    [
        ({"vdev_guid": "{vdev_guid}"}, "member"),
        ({"old_wwid": "{old_wwid}"}, "disk"),
        ({"wwid": "{old_wwid}"}, "disk"),
        ({"enclosure": "{enclosure}", "slot": "{slot}"}, "bay"),
    ],
)
def test_it_is_known_by_member_disk_or_bay(named, shared, walk):
    params = {name: value.format(**walk.run.params) for name, value in named.items()}
    assert shared in in_hand.why_not("replace-in-place", params)
    assert in_hand.why_not("replace-in-place", {name: f"{value}9" for name, value in params.items()}) == ""
    act(walk.run, ev.Aborted, walk.ann, reason="Not tonight.")
    act(walk.run, ev.Aborted, walk.ann, reason="Nor its way back.")
    assert in_hand.why_not("replace-in-place", params) == "", "an ended run has nothing in hand"


NO_MEMBERS = {"pool_guid", "snapshot_guid"}  # a pool is held when an order is sealed; a snapshot is no place for hands


def test_every_member_disk_and_bay_that_a_runbook_names_is_known():
    named = {name for book in RUNBOOKS.values() for name in book.params}
    named |= {name for book in RUNBOOKS.values() for step in book.steps for name in (step.param, *step.learned)}
    wanted = {name for name in named if name.rstrip("_0123456789").endswith(("guid", "wwid", "slot", "enclosure"))} - NO_MEMBERS
    assert wanted == {*in_hand.MEMBERS, *in_hand.DISKS, *(name for bay in in_hand.BAYS for name in bay)}


@pytest.mark.parametrize(
    ("named", "shared"),
    [
        ({"spare_guid": "77"}, "member 77"),
        ({"new_guid": "77"}, "member 77"),
        ({"goes_guid": "77"}, "member 77"),
        ({"keeps_wwid": "naa:5000c500a65b207b"}, "disk naa:5000c500a65b207b"),
        ({"new_enclosure": "0x5000ccab05061300", "new_slot": "9"}, "bay 0x5000ccab05061300/9"),
    ],
)
def test_the_spare_the_new_disk_and_its_bay_count_like_the_old_one(named, shared):
    assert in_hand.things(named) == {shared}


def test_a_run_that_waits_for_another_one_does_not_keep_it_from_beginning(tmp_path, ann, bob):
    """spare-return says: replace the member in another run. That one must begin."""
    walk = Walk(try_out(tmp_path, "spare-return"), ann, bob, "spare-return")
    walk.choices = {"way": "replace"}
    assert "member" in in_hand.why_not("replace-in-place", {"vdev_guid": walk.run.params["vdev_guid"]})
    walk.to("wait")
    assert in_hand.why_not("replace-in-place", {"vdev_guid": walk.run.params["vdev_guid"]}) == ""


def test_what_waits_for_another_run_says_so_at_its_step():
    for slug, step in in_hand.LEFT_TO_ANOTHER_RUN:
        assert "in another run" in RUNBOOKS[slug].step(step).why
    elsewhere = {(slug, step.slug) for slug, book in RUNBOOKS.items() for step in book.steps if "in another run" in step.why}
    assert elsewhere == in_hand.LEFT_TO_ANOTHER_RUN


def test_every_page_that_shows_it_says_so(walk, client):
    client.force_login(walk.bob)
    params, node = walk.run.params, walk.node.name
    pages = [
        f"/nodes/{node}/",
        f"/nodes/{node}/pools/{params['pool']}/",
        f"/disks/{params['old_wwid']}/",
        f"/nodes/{node}/enclosures/{params['enclosure']}/",
        *(f"/situations/{one.pk}/" for one in others(walk)),
    ]
    for page in pages:
        shown = client.get(page).content.decode()
        assert f'id="in-hand-{walk.run.pk}"' in shown, page
        assert ">Start: " not in shown, page
    fleet = client.get("/").content.decode()
    about = Situation.objects.filter(closed_at=None, pk__in=[one.pk for one in others(walk)], cause_key="")
    assert about.exists()
    assert fleet.count(f"being repaired by ann, run {walk.run.pk}") >= about.count()


def test_a_run_about_a_whole_pool_is_shown_and_keeps_off_a_second_one_of_its_runbook_alone(tmp_path, ann, bob, client):
    walk = Walk(try_out(tmp_path, "import-pool"), ann, bob, "import-pool")
    run, params = walk.run, walk.run.params
    assert in_hand.things(params) == frozenset()
    assert "for import-pool in hand" in in_hand.why_not("import-pool", params)
    assert in_hand.why_not("read-only-import", params) == ""
    client.force_login(bob)
    (about,) = Situation.objects.filter(closed_at=None, key=run.situation_key)
    of_node, of_situation = (client.get(page).content.decode() for page in (f"/nodes/{run.node}/", f"/situations/{about.pk}/"))
    assert f'id="in-hand-{run.pk}"' in of_node
    assert "No second run of this runbook begins on it." in of_node
    assert f'href="/runs/{run.pk}/"' in of_situation
