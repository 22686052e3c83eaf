"""Which earlier text a source is compared with: one of long ago, and one of some minutes ago for what began since."""

from app.fleet.ingest.earlier_captures import HISTORY_SECONDS, LATELY_SECONDS, Span, pick

NOW = 100_000.0
ASKED = {"zpool_status": NOW - 5}


def spans(*since: float) -> tuple[Span, ...]:
    """Newest first; each ends where the next one begins."""
    return tuple(
        Span(number, "zpool_status", NOW - ago, None if number == 0 else NOW - since[number - 1]) for number, ago in enumerate(since)
    )


def test_a_resilver_that_began_ten_minutes_ago_has_a_look_at_which_it_ran():
    """The oldest look is of before it; without a younger one its speed would not be known for half an hour."""
    kept = spans(8, 300, 600, 5000)
    assert pick(kept, ASKED, NOW) == {"zpool_status": (3, HISTORY_SECONDS["zpool_status"] - 5)}
    assert pick(kept, ASKED, NOW, LATELY_SECONDS) == {"zpool_status": (1, LATELY_SECONDS["zpool_status"] - 5)}


def test_where_nothing_changed_both_are_one_text():
    kept = spans(5000)
    assert {picked["zpool_status"][0] for picked in (pick(kept, ASKED, NOW), pick(kept, ASKED, NOW, LATELY_SECONDS))} == {0}


def test_a_text_that_was_not_asked_is_compared_with_nothing():
    assert pick(spans(5000), {}, NOW, LATELY_SECONDS) == {}
