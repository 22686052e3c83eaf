"""What a person has to type before an order can be read off the page: no page prints the phrase itself."""

import re
from types import SimpleNamespace

import pytest
from django.template.loader import render_to_string
from django.utils.html import strip_tags

from app.ledger.forms import plain
from app.runs.pages import panels
from app.runs.pages.run_page import argv
from workflows.engine import plan_losses
from workflows.engine.state import ENDED
from workflows.runbooks import RUNBOOKS
from workflows.tests.stories import STORIES
from workflows.tests.walks import Walk, stages_of

CONFIRMS = {slug: {step.slug for step in book.steps if step.kind == "CONFIRM"} for slug, book in RUNBOOKS.items()}


def at_its_confirmations(runbook: str):
    """A walk of this runbook, at each step where a phrase has to be typed."""
    seen = set()
    for story in (one for one in STORIES.values() if one.runbook == runbook):
        walk = Walk(story)
        walk.kept["begun with"] = walk.state.params  # the head of the page shows these, and nothing that was learnt since
        while seen < CONFIRMS[runbook] and walk.state.status not in ENDED:
            if walk.step.kind == "CONFIRM" and walk.step.slug not in seen:
                seen.add(walk.step.slug)
                yield walk
            walk.go()
        for slug in sorted(CONFIRMS[runbook] - seen):  # on the way back
            turned = stages_of(story).turned_to(slug)
            if turned is not None:
                turned.kept["begun with"] = walk.kept["begun with"]
                seen.add(slug)
                yield turned
    assert seen == CONFIRMS[runbook]


def shown(walk: Walk, names: tuple[str, ...] = ("_about", "_lost", "_plan")) -> str:
    """The words of the head of the run's page, of what is lost, and of the plan as the receipt brings it: its numbers are strings."""
    plan, run = plain(walk.state.plan), SimpleNamespace(params=walk.kept["begun with"], node=walk.state.params["node"])
    fields = {"run": run, "state": walk.state, "plan": plan, "argv": argv(plan), "plan_in_step": True, "lost": plan_losses.lost(plan)}
    pages = (render_to_string(f"runs/{name}.html", fields | panels.planned(plan)) for name in names)
    return " ".join(strip_tags(" ".join(pages).replace("<", " <")).split())


@pytest.mark.parametrize("runbook", [slug for slug, steps in CONFIRMS.items() if steps])
def test_what_has_to_be_typed_can_be_read_off_the_page(runbook):
    for walk in at_its_confirmations(runbook):
        phrase, page = walk.step.phrase(walk.state.params, walk.state.plan), shown(walk)
        parts = re.split(" loses | from ", phrase) if " loses " in phrase or " from " in phrase else phrase.split()
        missing = [words for words in parts if f"{words} " not in f"{page} "]
        assert not missing, (walk.step.slug, phrase, page)


def test_sizes_in_a_plan_have_their_unit():
    pages = [shown(next(at_its_confirmations(runbook)), ("_plan",)) for runbook in ("wwid-mismatch-replace", "replace-in-place")]
    assert all(re.search(r" Size [0-9.]+ [MGT]B \([0-9]+ bytes\)", page) for page in pages), pages


def test_what_two_stories_of_the_disks_differ_by_stands_in_the_plan_that_deletes_one():
    story = next(one for one in STORIES.values() if one.runbook == "device-delete-reimport")
    walk = Walk(story)
    walk.kept["begun with"] = walk.state.params
    walk.to("approve-delete")
    assert walk.state.plan["compared"] in shown(walk)


def test_what_is_on_a_disk_that_is_wiped_is_shown_and_its_serial_number_stands_first():
    walk = next(at_its_confirmations("wipe-disk"))
    text = shown(walk, ("_plan",))
    assert text.index("Serial ZA") < text.index("WWID naa:") < text.index("What is on the disk, which the plan keeps")
    assert all(line.strip() in text for line in walk.state.plan["labels"] if "guid" in line)
    assert walk.state.plan["leaving"]["partition_table"] in text
