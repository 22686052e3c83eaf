"""The page of what differs between releases says what the kept scenes say."""

from agents.tests import scene_differences
from agents.tests.scenes import OWED, RELEASES
from agents.zfs_releases import TRIED, numbers


def test_the_page_is_what_the_scenes_say():
    assert scene_differences.PAGE.read_text(encoding="utf-8") == scene_differences.page(), (
        "python -m agents.tests.scene_differences writes it"
    )


def test_a_series_is_called_tried_when_it_has_played_every_scene():
    """Not each that has: of 2.0 the scenes alone were played, and no walk."""
    whole = [release for release in RELEASES if not OWED.get(release)]
    assert set(TRIED) <= {(numbers(release) or ())[:2] for release in whole}
