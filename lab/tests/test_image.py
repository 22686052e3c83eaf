"""An image that is there is used at once, also while the one of another series is being made."""

import fcntl

import pytest

from lab import image, places
from lab.recipe import Recipe
from launcher.say import Stop


def test_an_image_that_is_there_does_not_wait_for_one_that_is_being_made(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOTLIGHT_LAB", str(tmp_path))
    monkeypatch.setattr(image, "lacking", lambda: "")
    there = places.images() / Recipe("2.1").name
    there.mkdir(parents=True)
    (there / "root.img").touch()
    with (places.images() / ".lock").open("w") as making:
        fcntl.flock(making, fcntl.LOCK_EX)
        assert image.build("2.1").folder == there


def test_a_series_without_packages_asks_for_its_source(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOTLIGHT_LAB", str(tmp_path))
    monkeypatch.setattr(image, "lacking", lambda: "")
    with pytest.raises(Stop, match=r"source of zfs-2\.2\.9 \(\.tar\.gz\) with --source"):
        image.build("2.2")
