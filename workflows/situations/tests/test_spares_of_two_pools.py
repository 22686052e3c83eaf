"""A hot spare that two pools list: broken it protects neither, and in use it is given back by the pool that has it."""

from __future__ import annotations

import pytest

from workflows.situations.tests.texts import MIRROR, commands, found, status, words

SHARED = "/dev/disk/by-id/wwn-0x5000c500a65b209b-part1"
MEMBER = "/dev/disk/by-id/wwn-0x5000c500a65b20{}b-part1"


def pool(name: str, spare: str, *more: str, rows: tuple[str, ...] = MIRROR, state: str = "ONLINE") -> str:
    return status(*rows, "spares", f"  {spare}", *more, pool=name, state=state)


def of(text: str, slug: str) -> list:
    return [one for one in found(text) if one.slug == slug]


@pytest.mark.parametrize("state", ["UNAVAIL  cannot open", "FAULTED  corrupted data", "REMOVED"])
def test_a_broken_one_is_told_of_both_and_taken_out_of_each_list(state):
    other = tuple(row.replace("201b", "203b").replace("202b", "204b") for row in MIRROR)
    both = of(pool("oak", f"{SHARED} {state}") + "\n" + pool("elm", f"{SHARED} {state}", rows=other), "spare-unavailable")
    assert [one.subject["pool"] for one in both] == ["oak", "elm"]
    for one, name in zip(both, ("elm", "oak"), strict=True):
        assert f"It is a spare of {name} too" in words(one)
        assert [one.cures[0].kind, one.severity] == ["reseat", "watch"]
        assert any(line.startswith(f"zpool remove {one.subject['pool']} ") for line in commands(one))


def test_a_broken_one_of_a_single_pool_is_told_without_another():
    (one,) = of(pool("oak", f"{SHARED} UNAVAIL  cannot open"), "spare-unavailable")
    assert "too, and protects none" not in words(one)


def test_one_that_serves_the_other_pool_is_waited_for():
    (one,) = of(pool("oak", f"{SHARED} INUSE  in use by pool 'elm'"), "spare-unavailable")
    assert (one.severity, [cure.kind for cure in one.cures]) == ("info", ["wait"])
    assert commands(one) == ["zpool status -g elm"]
