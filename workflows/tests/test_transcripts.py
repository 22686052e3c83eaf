"""The transcripts of docs/transcripts are what the engine says today."""

from __future__ import annotations

import pytest

from workflows.runbooks import RUNBOOKS
from workflows.tests import transcripts


@pytest.mark.parametrize("slug", RUNBOOKS)
def test_its_page_tells_what_a_walk_tells_now(slug):
    path = transcripts.FOLDER / f"{slug}.md"
    assert path.exists(), "Run `python -m workflows.tests.transcripts` and read what is new."
    assert path.read_text() == transcripts.page(slug), "Run `python -m workflows.tests.transcripts` and read what changed."
