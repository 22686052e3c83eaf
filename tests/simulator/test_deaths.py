"""Each moment of one replacement at which the portal or the agent can die, in turn; and the page that tells of them."""

import logging

import pytest

from agents import failpoints
from tests.simulator import deaths
from tests.simulator.playing import prepare, room


@pytest.fixture(scope="module")
def played():
    """(place, what became of it) for every moment there is."""
    logging.disable(logging.CRITICAL)
    with room() as folder:
        folders = prepare(folder)
        played = [(place, deaths.play(*folders, place)) for place in deaths.places(*folders)]
    logging.disable(logging.NOTSET)
    return played


def test_every_failpoint_journal_write_and_message_is_among_them(played):
    wheres = {place.where for place, _ in played}
    assert {f"at {name}" for name in failpoints.NAMES} <= wheres
    for name in ("claim", "intend", "result", "amend", "acknowledge"):
        assert {f"before it writes “{name}” into its journal", f"after it wrote “{name}” into its journal"} <= wheres
    for word in ("claim", "start", "receipt"):
        assert {f"before it says {word}", f"after it said {word}"} <= wheres
    for status in ("OFFERED", "CLAIMED", "STARTED", "SUCCEEDED"):
        assert {f"before it commits “run.order-moved {status}”", f"after it committed “run.order-moved {status}”"} <= wheres
    assert "while the command runs" in wheres


def test_whoever_dies_whenever_the_run_comes_to_its_end_and_no_order_runs_twice(played):
    for place, sim in played:
        (run,) = sim.portal.tables.runs.values()
        assert run.state.status == "done", (str(place), run.state.note)
        assert [command.took_effect for command in sim.world.given].count(True) == 1, str(place)
        orders = [command.order for command in sim.world.given]
        assert len(set(orders)) == len(orders), str(place)


def test_each_death_was_died(played):
    for place, sim in played:
        assert any(line.endswith(f"x  the {str(place)[4:]}") for line in sim.trace), str(place)


def test_the_page_tells_what_happens():
    logging.disable(logging.CRITICAL)
    text = "\n".join(deaths.page())
    logging.disable(logging.NOTSET)
    assert deaths.PAGE.read_text() == text, "Run `python -m tests.simulator.deaths` and read what changed."
