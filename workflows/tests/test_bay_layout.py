"""Where a slot is to be looked for: only where the model says so, and never a place that the chassis does not have."""

import pytest

from workflows.analysis.bay_layout import MODELS, geometry


def places(found):
    return [slot for block in found.blocks for row in block.rows for slot in row if slot is not None]


@pytest.mark.parametrize("model", MODELS, ids=[model.name.pattern for model in MODELS])
def test_every_known_model_has_each_of_its_bays_once(model):
    assert sorted(places(model)) == list(range(model.count))


def test_the_84_bays_lie_in_two_drawers_with_the_lowest_numbers_nearest_to_the_reader():
    found = geometry("SEAGATE EXOS-E 5U84 6020", range(84))
    assert found.known
    assert found.top_loaded
    assert [block.title for block in found.blocks] == ["upper drawer", "lower drawer"]
    assert found.blocks[0].rows[-1] == tuple(range(14))
    assert found.blocks[1].rows[-1][0] == 42
    assert found.blocks[1].columns == 14


def test_the_shorter_rows_of_the_102_leave_the_middle_free():
    rows = geometry("HGST H4102-J 3010", range(102)).blocks[0].rows
    assert rows[-1] == tuple(range(14)), "at the front"
    assert rows[0] == (*range(90, 96), None, None, *range(96, 102))
    assert [sum(slot is not None for slot in row) for row in reversed(rows)] == [14, 14, 14, 12, 12, 12, 12, 12]


def test_a_layout_without_a_source_is_said_to_be_supposed():
    supposed, read = geometry("SEAGATE EXOS-E 5U84 6020", range(84)), geometry("HGST H4060-J 2033", range(60))
    assert (supposed.known, supposed.sure) == (True, False)
    assert "as we suppose such a chassis to be" in supposed.words
    assert (read.known, read.sure) == (True, True)
    assert "suppose" not in read.words
    for found in (supposed, read, geometry("", range(24))):
        assert found.words.endswith("Go by the number at the bay, its light and the serial number.")


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
