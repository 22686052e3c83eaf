"""The table of features: each name once, and a release that a message about several of them needs."""

import pytest

from workflows.analysis import pool_features


def test_each_feature_has_one_release():
    names = [name for listed in pool_features.SINCE.values() for name in listed]
    assert len(names) == len(set(names)) == len(pool_features.RELEASE_OF) > 40


def test_the_releases_stand_in_order():
    numbers = [tuple(map(int, release.split("."))) for release in pool_features.SINCE]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("name", pool_features.RELEASE_OF)
def test_a_message_that_names_a_feature_is_read(name):
    assert pool_features.named(f"\t{name} (What it does.)") == (name,)


@pytest.mark.parametrize(
    ("wanted", "release"),
    [
        (("com.delphix:async_destroy",), "0.6.1"),
        (("com.delphix:hole_birth", "org.illumos:lz4_compress"), "0.6.4"),  # 0.6.1 to 0.6.3 do not know hole_birth
        (("org.open-zfs:large_blocks", "com.delphix:bookmarks"), "0.6.5"),
        (("com.delphix:head_errlog", "com.datto:encryption"), "2.2"),
        (("com.example:not_known", "com.datto:encryption"), ""),
        ((), ""),
    ],
)
def test_the_newest_of_them_is_what_is_needed(wanted, release):
    assert pool_features.needed(wanted) == release
