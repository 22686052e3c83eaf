"""The image's name follows from what it is made of."""

import pytest

from agents.tests.scenes import OWED, RELEASES
from agents.zfs_releases import TRIED, numbers
from lab import recipe
from lab.recipe import Recipe
from lab.tests.conftest import MINUTES, SEEN


@pytest.mark.parametrize(
    ("series", "release", "suite"),
    [
        ("2.0", "bullseye", "bullseye"),
        ("2.1", "bookworm", "bookworm"),
        ("2.2", "bookworm", "bookworm"),
        ("2.3", "bookworm", "bookworm-backports"),
        ("2.4", "trixie", "trixie-backports"),
    ],
)
def test_each_series_comes_from_a_suite_of_its_own_on_a_release_of_debian(series, release, suite):
    assert (Recipe(series).release, Recipe(series).suite) == (release, suite)


def test_each_series_has_an_image_of_its_own():
    assert len({Recipe(series).name for series in recipe.SUITES}) == len(recipe.SUITES)


def test_another_release_of_debian_is_another_image(monkeypatch):
    before = Recipe("2.1").digest
    monkeypatch.setitem(recipe.SUITES, "2.1", "trixie")
    assert Recipe("2.1").digest != before


def test_a_changed_file_is_another_image(monkeypatch):
    before = Recipe("2.1").digest
    monkeypatch.setitem(recipe.FILES, "etc/hosts", "127.0.0.1 localhost\n::1 localhost\n")
    assert Recipe("2.1").digest != before


def test_how_one_is_compiled_makes_no_other_image_of_those_that_come_as_packages(monkeypatch):
    before = {series: Recipe(series).digest for series in recipe.SUITES}
    monkeypatch.setattr(recipe, "COMPILE", recipe.COMPILE + "true\n")
    assert [series for series in recipe.SUITES if Recipe(series).digest != before[series]] == list(recipe.FROM_SOURCE)


def test_the_image_knows_nothing_of_the_product():
    everything = repr((recipe.BASE, recipe.KERNEL, recipe.ZFS, recipe.FILES, recipe.FINISH))
    assert "slotlight" not in everything.lower()


def test_what_only_one_release_of_debian_lacks_makes_no_other_image_of_the_others(monkeypatch):
    before = {series: Recipe(series).digest for series in recipe.SUITES}
    monkeypatch.setitem(recipe.MORE, "trixie", ("e2fsprogs", "another"))
    assert [series for series in recipe.SUITES if Recipe(series).digest != before[series]] == ["2.4"]
    assert "e2fsprogs" in Recipe("2.4").base  # mkfs.ext4, which the least bookworm has


def test_a_series_is_called_tried_when_it_played_every_scene_and_a_walk_was_seen_green_on_it():
    played = {(numbers(release) or ())[:2] for release in RELEASES if not OWED.get(release)}
    walked = {tuple(map(int, series.split("."))) for series in recipe.SUITES if SEEN.get(series, MINUTES)}
    assert set(TRIED) == played & walked
