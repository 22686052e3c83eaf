"""Something small to hurt, for the tests of the hunt: `toy_checks.py` notices some of it, and not all."""

LIMIT = 3
EDGE = 7


def is_small(number: int) -> bool:
    return number < LIMIT


def is_odd_or_small(number: int) -> bool:
    return number % 2 == 1 or is_small(number)


def is_at_the_edge(number: int) -> bool:
    return number == EDGE


def nobody_asks(number: int) -> bool:
    return not number


class Counter:
    start = 5

    def next(self, number: int) -> int:
        return number + 1
