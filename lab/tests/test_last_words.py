"""What is kept of a node when a walk turned red."""

from lab import last_words
from lab.guest import GuestFailed

PANIC = "[  758.650562] Kernel panic - not syncing: Fatal exception in interrupt\n"


class Guest:
    def __init__(self, answers):
        self.answers = answers

    def sh(self, line, seconds=0.0):
        if not self.answers:
            raise GuestFailed("ssh: connect to host 127.0.0.1 port 47261: Connection refused")
        return f"output of {line}\n"


def test_a_panic_is_shown_with_the_end_of_the_console_and_no_question_is_asked(tmp_path):
    console = tmp_path / "console.log"
    console.write_text("x" * 9000 + "\n" + PANIC)
    words = last_words.of(Guest(True), console)
    assert words.startswith("The kernel of the node panicked")
    assert words.rstrip().endswith(PANIC.rstrip())
    assert len(words) < 6200
    assert "$ zpool" not in words


def test_a_console_without_a_panic_is_left_out(tmp_path):
    console = tmp_path / "console.log"
    console.write_text("oss07 login:\n")
    assert "login" not in last_words.of(Guest(True), console)


def test_a_node_that_does_not_answer_is_told_line_by_line(tmp_path):
    words = last_words.of(Guest(False), tmp_path / "console.log")
    assert words.count("Connection refused") == len(last_words.LINES)
