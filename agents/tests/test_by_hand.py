"""What people ran by hand, as the agent reads it: one folder for each showing of a plan."""

from pathlib import Path

import pytest

from agents.collectors import by_hand
from agents.collectors.base import Unparsed
from agents.collectors.by_hand import FOLDER, Mark, collect, parse
from agents.tests.fuzz import FOLDER as CAPTURES

NONCES = [f"{number:032x}" for number in range(by_hand.MARKS_MAX + 1)]


class Folder:
    """Of a host only what is asked here."""

    def __init__(self, files):
        self.files = files

    def list(self, pattern):
        assert pattern == f"{FOLDER}/*"
        return tuple(sorted({path.rsplit("/", 1)[0] for path in self.files}))

    def read(self, path):
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path]


def text_of(files):
    (capture,) = collect(Folder({f"{FOLDER}/{name}": text.encode() for name, text in files.items()}))
    return capture


def test_it_reads_the_ended_and_the_one_under_way():
    text = Path(CAPTURES / "by_hand/made-up--one-that-failed-and-one-under-way.txt").read_text()
    failed, under_way = parse(text)
    assert (failed.exit_code, failed.output.split(":")[0]) == (
        "1",
        "cannot replace 9223372036854775809 with /dev/disk/by-id/wwn-0x5000c500a65b207b",
    )
    assert (under_way.exit_code, under_way.ended_at, under_way.begun_at) == (None, None, "1795697442")


def test_what_it_collects_is_what_it_parses():
    begun = f"nonce {NONCES[1]}\nhostid 007f0101\nboot_id {'1' * 36}\nat 1795696381\n"
    capture = text_of({f"{NONCES[1]}/begun": begun, f"{NONCES[1]}/output": "two\nlines: here\n", "not-a-nonce/begun": begun})
    assert parse(capture.text) == (Mark(NONCES[1], "007f0101", "1" * 36, "1795696381", output="two\nlines: here"),)


def test_a_folder_alone_is_a_command_that_was_begun_and_not_recorded():
    assert parse(f"{NONCES[1]}/:\n") == (Mark(NONCES[1]),)


def test_nothing_there_is_said_as_nothing():
    assert text_of({}).outcome == "nothing"


def test_more_folders_than_anybody_needs_are_not_read():
    assert text_of({f"{nonce}/begun": "" for nonce in NONCES}).outcome == "failed"


def test_files_of_any_size_give_a_bounded_text():
    capture = text_of({f"{NONCES[1]}/{name}": "x" * 10_000_000 for name in ("begun", "ended", "output")})
    assert len(capture.text) < 2 * by_hand.OUTPUT_CHARS_MAX


@pytest.mark.parametrize(
    "line",
    [
        f"begun:nonce {NONCES[2]}",  # of another showing
        "begun:exit_code 0",
        "ended:exit_code zero",
        "ended:exit_code 0\n{nonce}/ended:exit_code 1",
        "other:x",
        "begun:hostid 7",
    ],
)
def test_a_line_that_is_none_of_ours_is_no_record(line):
    text = f"{NONCES[1]}/{line}\n".replace("{nonce}", NONCES[1])
    assert isinstance(parse(text), Unparsed)
