"""Which runs a disk's page lists: those that name it, and those about a vdev whose label it carried."""

import pytest
from django.utils import timezone

from app.accounts.models import User
from app.fleet.models import Disk, LabelSeen, Node
from app.runs.models import Run
from app.runs.pages import runs_of_disk
from workflows.engine.state import RunState
from workflows.runbooks import RUNBOOKS

pytestmark = pytest.mark.django_db
OLD, NEW, OTHER = "naa:5000c500a6754abb", "naa:5000c500a65b207b", "naa:5000cca273a7d9e8"


def run(slug, params, chosen=None):
    book = RUNBOOKS[slug]
    state = RunState(requester="asks", step=book.steps[0].slug, params=params | (chosen or {}))
    person = User.objects.get_or_create(username="asks")[0]
    return Run.objects.create(
        runbook=slug,
        definition_digest="0" * 64,
        params=params,
        node="oss01",
        requester=person,
        state=state.to_json(),
        status="open",
        created_at=timezone.now(),
    )


def test_a_run_is_found_by_the_disk_it_began_with_by_the_one_chosen_and_by_the_label_it_carried():
    node, disk = Node.objects.create(name="oss01"), Disk.objects.create(wwid=OTHER, first_seen_at=timezone.now())
    LabelSeen.objects.create(disk=disk, node=node, partition="sda1", vdev_guid="77", state=0, since=timezone.now())
    began = run("blink-and-replace", {"node": "oss01", "old_wwid": OLD, "vdev_guid": "77"}, {"wwid": NEW})
    run("blink-and-replace", {"node": "oss01", "old_wwid": "naa:1", "vdev_guid": "78"})
    for wwid, role in ((OLD, "began with"), (NEW, "was chosen"), (OTHER, "carried the label of the vdev 77")):
        [one] = runs_of_disk.of_disk(wwid)
        assert one["pk"] == began.pk
        assert role in one["role"]
