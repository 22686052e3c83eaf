"""Where the disk of a run sits, in the words that its pages have for it."""

import pytest

from app.runs.templatetags.runs import place


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"enclosure": "0x50050cc11ac016e2", "slot": "68"}, "bay 68"),
        ({"enclosure": "npem", "slot": "0000:00:03.1"}, "PCIe port 0000:00:03.1"),
        ({"enclosure": "sas3ircu", "slot": "0/2:5"}, "place 0/2:5 of sas3ircu"),
        ({"enclosure": "none", "slot": "none"}, ""),
        ({}, ""),
    ],
)
def test_each_kind_of_place_has_its_words(params, words):
    assert place(params) == words
