"""What a walk reads off a run's page."""

from dataclasses import replace

import pytest

from app.fleet.templatetags.words import code
from app.runs.tests.test_plan_page import CONFIRMS, at_its_confirmations, shown
from lab.visitor import Page, Reader
from lab.walk import BACK, read_off_the_plan
from workflows.guards.replaced import the_new_disk_is_in_service
from workflows.tests.incident import NEW_LEAF, PARAMS, after


def test_how_a_lost_new_disk_comes_back_is_read_off_the_page():
    """A page shows a command as code: its marks are not in the text."""
    reason = the_new_disk_is_in_service(after(replace(NEW_LEAF, state="REMOVED")), PARAMS).reason
    reader = Reader(Page(200, "/runs/1/"))
    reader.feed(f"<p>{code(reason)}</p>")
    page = reader.done()
    assert "`" in reason
    assert "`" not in page.text
    assert BACK.search(page.text)[1] == f"zpool online {PARAMS['pool']} {NEW_LEAF.guid}"


@pytest.mark.parametrize("runbook", [slug for slug, steps in CONFIRMS.items() if steps and slug != "drive-mode-audit"])
def test_what_a_confirmation_asks_for_is_read_off_the_page(runbook):
    for walk in at_its_confirmations(runbook):
        step = f"{shown(walk, ('_lost', '_plan'))} {walk.step.phrase_hint} It is not printed here: read it off the plan."
        page = Page(200, "/runs/1/", text=f"At work {shown(walk, ('_about',))} · asked for by ann", current=step)
        assert read_off_the_plan(page) == walk.step.phrase(walk.state.params, walk.state.plan)
