"""Every runbook's story: the twin that needs it and what people do. What `test_stories` walks, and the demo's scenarios show."""

from __future__ import annotations

from workflows.tests.stories_of_disks import BLINK, BLINK_A_FAULTED_DISK, SPARE_BACK, SPARE_STAYS, SPARE_WAITS

STORIES = {story.title: story for story in (BLINK, BLINK_A_FAULTED_DISK, SPARE_BACK, SPARE_STAYS, SPARE_WAITS)}
