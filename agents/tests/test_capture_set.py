"""What names a set of captures, and how ages travel."""

from __future__ import annotations

import pytest

from agents.reporting.capture_set import place, set_digest, spoken

SET = {"boot_id": "b", "version": "0.1.0", "mode": "observe", "captures": {"node": "0" * 64, "zdb_label/sda1": "1" * 64}}


def test_it_names_a_place():
    assert (place("node", ""), place("zdb_label", "sda1")) == ("node", "zdb_label/sda1")


@pytest.mark.parametrize("change", [{"boot_id": "c"}, {"version": "0.1.1"}, {"mode": "operate"}, {"captures": {"node": "0" * 64}}])
def test_it_gives_another_name_to_whatever_differs(change):
    assert set_digest(**SET) != set_digest(**{**SET, **change})


def test_it_does_not_mind_the_order():
    assert set_digest(**SET) == set_digest(**{**SET, "captures": dict(reversed(SET["captures"].items()))})


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.0, "0"), (-1.0, "0"), (0.01, "0.1"), (2.0, "2"), (59.96, "60"), (60.2, "61"), (3600.0, "3600")]
)
def test_it_never_says_an_age_younger_than_it_is(seconds, shown):
    assert spoken({"node": seconds}) == {"node": shown}
