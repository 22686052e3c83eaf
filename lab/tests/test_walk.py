"""What a walk reads off a run's page."""

from dataclasses import replace

from lab.walk import BACK
from workflows.guards.replaced import the_new_disk_is_in_service
from workflows.tests.incident import NEW_LEAF, PARAMS, after


def test_how_a_lost_new_disk_comes_back_is_read_off_the_page():
    said = the_new_disk_is_in_service(after(replace(NEW_LEAF, state="REMOVED")), PARAMS)
    assert BACK.search(said.reason)[1] == f"zpool online {PARAMS['pool']} {NEW_LEAF.guid}"
