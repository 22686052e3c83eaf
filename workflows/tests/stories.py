"""Every runbook's stories: the twin that needs it and what people do. What `test_stories` walks."""

from __future__ import annotations

from workflows.runbooks._parts import parts
from workflows.tests import stories_of_disks, stories_of_imports, stories_of_slowness, stories_of_suspension

STORIES = {
    story.title: story
    for story in (
        *stories_of_disks.STORIES,
        *stories_of_imports.STORIES,
        *stories_of_slowness.STORIES,
        *stories_of_suspension.STORIES,
        *(story for _, part in parts("tests.stories") for story in part.STORIES),
    )
}
