"""What holds for every source: registered, typed, total."""

from pathlib import Path

import pytest

from agents import collectors
from agents.collectors import COLLECTORS
from agents.collectors.base import Capture, ask
from agents.host.host import Ran
from agents.tests.fuzz import genuine

SHARED = {"__init__", "base"}


def test_every_file_is_registered():
    files = {path.stem for path in Path(collectors.__file__).parent.glob("*.py")}
    assert {name for name in files - SHARED if not name.startswith("_")} == set(COLLECTORS)


@pytest.mark.parametrize("name", COLLECTORS)
def test_a_source_has_the_name_of_its_file_and_is_asked_at_some_pace(name):
    module = COLLECTORS[name]
    assert module.__name__.rsplit(".", 1)[1] == module.NAME == name
    assert 5 <= module.EVERY_SECONDS <= 3600


@pytest.mark.parametrize("name", COLLECTORS)
@pytest.mark.parametrize(
    "text", ["", "\n", "\0", "²", "\t", "     ", "a" * 100_000, "\t\n" * 10_000, "{" * 10_000, "- " * 10_000, ":" * 10_000]
)
def test_no_strange_text_makes_a_parser_raise(name, text):
    COLLECTORS[name].parse(text)


@pytest.mark.parametrize("name", COLLECTORS)
def test_the_same_text_means_the_same(name):
    for text in genuine()[name][:5]:
        assert COLLECTORS[name].parse(text) == COLLECTORS[name].parse(text)


class Answers:
    def __init__(self, ran: Ran) -> None:
        self.ran = ran

    def run(self, argv, timeout_seconds):
        return self.ran


ARGV = ("zdb", "-l", "/dev/sda1")


@pytest.mark.parametrize(
    ("ran", "capture"),
    [
        (Ran(ARGV, 0, b"x\n", b"", 0.5), Capture("s", "k", "data", "x\n", "", 0, "", 0.5)),
        (Ran(ARGV, 2, b"x\n", b"e", 0.5), Capture("s", "k", "data", "x\n", "", 2, "e", 0.5)),
        (Ran(ARGV, 1, b"x\n", b"e", 0.5), Capture("s", "k", "failed", "x\n", "zdb -l /dev/sda1 exited 1", 1, "e", 0.5)),
        (Ran(ARGV, None, b"", b"", 0.0, "not found"), Capture("s", "k", "nothing", "", "zdb is not installed")),
        (
            Ran(ARGV, None, b"x", b"", 20.0, "stuck"),
            Capture("s", "k", "failed", "x", "zdb -l /dev/sda1: stuck after 20.0 s", None, "", 20.0),
        ),
        (Ran(ARGV, 0, b"\xff", b"", 0.1), Capture("s", "k", "data", "\\xff", "", 0, "", 0.1)),
        (
            Ran(ARGV, 0, b"x", b"", 0.1, truncated=True),
            Capture("s", "k", "failed", "x", "zdb -l /dev/sda1 printed too much and was cut", 0, "", 0.1),
        ),
    ],
)
def test_a_command_has_one_of_three_ends(ran, capture):
    assert ask(Answers(ran), "s", ARGV, 20.0, key="k", data_exits=(0, 2)) == capture


def test_how_long_it_took_is_no_part_of_what_was_said():
    assert Capture("s", "", "data", "x", seconds=1.0).digest == Capture("s", "", "data", "x", seconds=2.0).digest
