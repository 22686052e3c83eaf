"""Where a slot is to be looked for: only where the model says so, and never a place that the chassis does not have."""

import pytest

from workflows.geometry import MODELS, geometry


def places(found):
    return [slot for block in found.blocks for row in block.rows for slot in row if slot is not None]


@pytest.mark.parametrize(("pattern", "count", "words", "blocks", "top"), MODELS, ids=[str(m[1]) + m[0].pattern for m in MODELS])
def test_every_known_model_has_each_of_its_bays_once(pattern, count, words, blocks, top):
    assert sorted(slot for block in blocks for row in block.rows for slot in row if slot is not None) == list(range(count))


def test_the_84_bays_lie_in_two_drawers_with_the_lowest_numbers_nearest_to_the_reader():
    found = geometry("SEAGATE EXOS-E 5U84 6020", range(84))
    assert found.known
    assert found.top_loaded
    assert [block.title for block in found.blocks] == ["upper drawer", "lower drawer"]
    assert found.blocks[0].rows[-1] == tuple(range(14))
    assert found.blocks[1].rows[-1][0] == 42
    assert found.blocks[1].columns == 14


def test_the_shorter_rows_of_the_102_leave_the_middle_free():
    row = geometry("HGST H4102-J 3010", range(102)).blocks[0].rows[0]
    assert len(row) == 15
    assert [slot for slot in row if slot is not None] == list(range(91, 102))
    assert row[0] == 91
    assert row[-1] == 101
    assert row[7] is None


def test_an_enclosure_that_counts_from_one_has_the_same_places():
    assert geometry("DELL MD1420 1.09", range(1, 25)).blocks[0].rows == (tuple(range(1, 25)),)


def test_a_known_model_of_which_only_some_bays_are_told_keeps_their_places():
    found = geometry("DELL MD1420 1.09", (0, 5, 7))
    assert found.known
    assert places(found) == list(range(24))


@pytest.mark.parametrize("slots", [range(85), (-1, 0, 1), range(90, 100), ()])
def test_a_known_model_with_bays_it_does_not_have_is_drawn_as_a_plain_grid(slots):
    found = geometry("SEAGATE EXOS-E 5U84 6020", slots)
    assert not found.known
    assert places(found) == sorted(slots)


def test_an_unknown_model_is_said_to_be_no_picture_of_the_chassis():
    found = geometry("LSI SAS2X28 0e12", range(12))
    assert not found.known
    assert "LSI SAS2X28 0e12 lie is not known" in found.words
    assert "no picture of the chassis" in found.words
    assert [len(row) for row in found.blocks[0].rows] == [6, 6]
    assert "Which model this enclosure is" in geometry("", range(24)).words
