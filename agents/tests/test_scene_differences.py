"""The page of what differs between releases says what the kept scenes say."""

from agents.tests import scene_differences


def test_the_page_is_what_the_scenes_say():
    assert scene_differences.PAGE.read_text(encoding="utf-8") == scene_differences.page(), (
        "python -m agents.tests.scene_differences writes it"
    )
