"""An image that is there is used at once, also while the one of another series is being made."""

import fcntl

from lab import image, places
from lab.recipe import Recipe


def test_an_image_that_is_there_does_not_wait_for_one_that_is_being_made(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOTLIGHT_LAB", str(tmp_path))
    monkeypatch.setattr(image, "lacking", lambda: "")
    there = places.images() / Recipe("2.1").name
    there.mkdir(parents=True)
    (there / "root.img").touch()
    with (places.images() / ".lock").open("w") as making:
        fcntl.flock(making, fcntl.LOCK_EX)
        assert image.build("2.1").folder == there
