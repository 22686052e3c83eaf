"""The image's name follows from what it is made of."""

from lab import recipe
from lab.recipe import Recipe


def test_each_series_has_an_image_of_its_own():
    assert Recipe("2.1").name != Recipe("2.3").name
    assert Recipe("2.1").suite == "bookworm"
    assert Recipe("2.3").suite == "bookworm-backports"


def test_a_changed_file_is_another_image(monkeypatch):
    before = Recipe("2.1").digest
    monkeypatch.setitem(recipe.FILES, "etc/hosts", "127.0.0.1 localhost\n::1 localhost\n")
    assert Recipe("2.1").digest != before


def test_the_image_knows_nothing_of_the_product():
    everything = repr((recipe.BASE, recipe.KERNEL, recipe.ZFS, recipe.FILES, recipe.FINISH))
    assert "slotlight" not in everything.lower()
