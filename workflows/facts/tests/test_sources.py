"""What a source said before, for what grows."""

from workflows.facts import known, node_facts
from workflows.facts.sources import Sources


def body(outcome="data", text="a", reason=""):
    return {"outcome": outcome, "text": text, "reason": reason, "exit_code": None, "stderr": ""}


def test_it_gives_the_earlier_value_and_how_long_before():
    nodes = [body(text=f"hostid:{n}\n") for n in (1, 2)]
    sources = Sources({"node": nodes[1]}, {"node": (nodes[0], 600.0)})
    assert sources.earlier("node") == (Sources({"node": nodes[0]}).read("node"), 600.0)


def test_what_was_not_kept_or_not_said_before_is_not_known():
    sources = Sources({"node": body()}, {"block": (body("failed", "", "timeout"), 60.0)})
    assert not known(sources.earlier("node"))
    assert "Before, block: timeout" in sources.earlier("block").reason


def test_it_takes_digests_that_are_known_already():
    assert node_facts("n", {"node": body()}, 0.0, (), digests={"node": "d"}).digests == {"node": "d"}
