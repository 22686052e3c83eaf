"""How `./run test` shares the tests among the cores, so that all of them end at about the same time.

pytest-xdist hands out whole files, by default those with the most tests first. The files that take longest have few tests, so they
came last, and one core ended minutes before the other. Here the folders whose tests take longest come first. What is in
`tests/browser` stays on one core: two browsers at once are late where no page is, and Chromium is started once instead of each time
a core comes back to that folder. So do the files that walk every story: each story is walked once in a process.
"""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling

BROWSER = "tests/browser/"
OF_STORIES = tuple(
    f"workflows/tests/test_{name}.py" for name in ("stories", "story_guards", "same_verdict", "every_refusal", "every_operation_dies")
)
LONGEST_FIRST = (BROWSER, "tests/", "launcher/", "app/", "workflows/")


def rank(nodeid: str) -> int:
    """The place of a test's folder among those that take longest; every other folder comes after them."""
    return next((place for place, folder in enumerate(LONGEST_FIRST) if nodeid.startswith(folder)), len(LONGEST_FIRST))


def unit(nodeid: str) -> str:
    """What stays on one core: a file, or everything in `tests/browser`, or the files that go on from the same walks."""
    file = nodeid.partition("::")[0]
    return BROWSER if nodeid.startswith(BROWSER) else OF_STORIES[0] if file in OF_STORIES else file


class LongestFirst(LoadFileScheduling):
    """Files in the order in which the workers collected them."""

    def __init__(self, config, log=None) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
