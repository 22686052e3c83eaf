"""What is known of `toy.py`. Its file is no test of the product; the hunt asks for it by name."""

import pytest

from tests.mutants import toy


@pytest.fixture(scope="module")
def at_the_edge():
    """Made once for the file, so only a hunt that begins before it is made sees what is wrong with it."""
    return toy.is_at_the_edge(7)


def test_two_is_small():
    assert toy.is_small(2)
    assert not toy.is_small(9)


def test_five_is_odd_and_four_is_neither():
    assert toy.is_odd_or_small(5)
    assert not toy.is_odd_or_small(4)


def test_seven_is_the_edge(at_the_edge):
    assert at_the_edge


def test_it_counts_from_five():
    assert toy.Counter().next(toy.Counter.start) == 6
