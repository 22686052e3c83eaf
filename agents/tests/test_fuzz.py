"""Every parser on hurt texts; `./run bench fuzz` does the same a hundred thousand times each."""

import random

import pytest

from agents.collectors import COLLECTORS
from agents.collectors.base import Unparsed
from agents.tests import fuzz

COUNT = 400


@pytest.mark.parametrize("name", COLLECTORS)
def test_no_hurt_text_makes_a_parser_raise_or_read_a_number_nobody_printed(name):
    texts = fuzz.genuine()[name]
    assert texts, f"{name} has no text: put a genuine one, or a made-up one, into agents/tests/captures/{name}/"
    tally = fuzz.abuse(COLLECTORS[name], texts, COUNT)
    assert tally.texts == COUNT
    assert tally.refused > COUNT // 20  # a parser that takes anything has read nothing


class Careless:
    """A parser as one should not be: it reads whatever digits it meets."""

    NAME = "careless"

    @staticmethod
    def parse(text):
        digits = "".join(c for c in text.split("size=")[-1].split(" ")[0].split(".")[0] if c in "0123456789")
        return (int(digits),) if digits else Unparsed("no size")


@pytest.mark.parametrize("hurt", ["torn", "rounded"])
def test_the_harness_catches_a_parser_that_reads_half_a_number(hurt, monkeypatch):
    monkeypatch.setattr(fuzz, "HURTS", (getattr(fuzz, f"_{hurt}"),))
    with pytest.raises(fuzz.WrongNumber, match=hurt):
        fuzz.abuse(Careless, ("size=536870912 bytes\n",), 200)


def test_the_same_seed_hurts_the_same_way():
    hurt = [fuzz._torn("a text of some length", random.Random(7)) for _ in range(2)]
    assert hurt[0] == hurt[1]
    assert (
        fuzz.abuse(COLLECTORS["node"], fuzz.genuine()["node"], 50).refused
        == fuzz.abuse(COLLECTORS["node"], fuzz.genuine()["node"], 50).refused
    )
