"""What a command says when it ends."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    exit_code: int
    stdout: str = ""
    stderr: str = ""


def refused(exit_code: int, sentence: str) -> Answer:
    return Answer(exit_code, "", sentence + "\n")
