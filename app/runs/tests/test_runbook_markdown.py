"""The committed pages of docs/runbooks/ are what the definitions give, and they say what a run needs to be read beforehand."""

import re

import pytest

from app.runs.pages import guard_refusals, runbook_markdown, runbook_page
from workflows.engine.core import ok, refuse
from workflows.runbooks import RUNBOOKS


def test_the_committed_pages_are_what_the_definitions_give():
    assert runbook_markdown.behind() == [], "Run `./run manage runbook_docs` and commit what it writes."


def test_a_page_that_is_behind_is_written_and_one_of_no_runbook_goes(tmp_path):
    assert set(runbook_markdown.write(tmp_path)) == {"README.md", *(f"{slug}.md" for slug in RUNBOOKS)}
    (tmp_path / "gone.md").write_text("No runbook has this.")
    (tmp_path / "README.md").write_text("Old.")
    assert runbook_markdown.write(tmp_path) == ["README.md", "gone.md"]
    assert runbook_markdown.behind(tmp_path) == []


@pytest.mark.parametrize("runbook", RUNBOOKS.values(), ids=lambda runbook: runbook.slug)
def test_it_names_every_step_with_its_command_and_who_does_it(runbook):
    text = runbook_markdown.markdown(runbook)
    for line in (*runbook_page.page(runbook)["forward"], *runbook_page.page(runbook)["back"]):
        assert f"### {line['number']}. {line['step'].title}" in text
        assert line["argv"] in text
        assert line["who"] in text
    assert ("Point of no return: **" in text) == bool(runbook.point_of_no_return)
    assert not re.search(r"Unknown\(|\bNone\b|<function|object at", text)


@pytest.mark.parametrize("runbook", RUNBOOKS.values(), ids=lambda runbook: runbook.slug)
def test_every_way_of_its_diagram_leads_to_a_step_that_stands_there(runbook):
    text = runbook_markdown.diagram(runbook)
    boxes = set(re.findall(r"^  (s[0-9]+|done)[\[({]", text, re.MULTILINE))
    ends = set(re.findall(r"--?.*?>(?:\|[a-z]+\|)? (\w+)$", text, re.MULTILINE))
    assert ends <= boxes
    assert len(boxes - {"done"}) == len(runbook.steps)


def test_most_guards_say_with_which_words_they_refuse():
    guards = {guard for book in RUNBOOKS.values() for step in book.steps for guard in step.guards}
    assert sum(bool(guard_refusals.of(guard)) for guard in guards) > 0.85 * len(guards)


def test_what_is_known_only_in_a_case_stands_as_dots():
    name = "sda"

    def the_disk_is_free(facts, params):
        return ok("It is free.") if facts else refuse(f"The disk {name} is taken.")

    assert guard_refusals.of(the_disk_is_free) == ("The disk … is taken.",)


def test_a_refusal_without_a_word_of_its_own_is_left_out():
    why, where = "it is old", "sda"

    def the_disk_is_new(facts, params):
        return ok("It is new.") if facts else refuse(f"{where}: {why}")

    assert guard_refusals.of(the_disk_is_new) == ()
