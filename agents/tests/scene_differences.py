"""docs/scenes.md: where one release of OpenZFS says something else than another to the same command, made from the scenes that were kept.

`python -m agents.tests.scene_differences` writes the page; a test says when it is behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agents.tests import scenes
from agents.tests.scenes import OWED, RELEASES, SCENES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scenes.md"
HEAD = """<!-- Made from agents/tests/captures/scenes by `python -m agents.tests.scene_differences`. -->

# What differs between releases, as real nodes said it

Each scene of `agents/tests/scenes.py` was played on a node of the lab (`lab.md`) with OpenZFS {releases}. Here stands every command to which
those that played it did not all say the same, in the order of the scenes, and of its answer the lines that not all of them have. What chance and the clock decide is left
out. `d0`, `g0`, `tank`: a disk, its member's guid, a pool; N, n and DATE: a number, a count of errors, a date. Each scene begins anew, so a command may
differ because what came before it did.{owed}

"""
NOTHING, SPACED = "nothing of it", "other spaces, else as"


def page() -> str:
    *first, last = RELEASES
    owed = "".join(f"\n\nNot played yet on {release}: {', '.join(names)}." for release, names in OWED.items() if names)
    return HEAD.format(releases=f"{', '.join(first)} and {last}", owed=owed) + "\n".join(_lines()).rstrip() + "\n"


def _lines() -> Iterator[str]:
    for name in SCENES:
        rows = list(_rows(name))
        if rows:
            releases = scenes.played(name)
            yield f"## {name}\n"
            yield f"| asked | {' | '.join(releases)} |"
            yield f"|---|{'---|' * len(releases)}"
            yield from rows
            yield ""


def _rows(name: str) -> Iterator[str]:
    values = {release: scenes.everything_alike(scenes.kept(release, name)) for release in scenes.played(name)}
    for row in zip(*values.values()):
        answers = [one.splitlines()[1:] for one in row]
        if any(answer != answers[0] for answer in answers):
            yield f"| {_code(row[0].splitlines()[0][2:])} | {' | '.join(_cells(answers, list(values)))} |"


def _cells(answers: list[list[str]], releases: list[str]) -> Iterator[str]:
    shown: list[str] = []
    for number, answer in enumerate(answers):
        same = answers.index(answer)
        own = "<br>".join(_code(line) for line in answer if not all(line in other for other in answers)) or NOTHING
        if same < number:
            yield f"as {releases[same]}"
        else:
            yield f"{SPACED} {releases[shown.index(own)]}" if own in shown else own
        shown.append(own)


def _code(line: str) -> str:
    """A line of an answer, or its exit code."""
    before, end, code = line.rpartition("= ")
    if end and (code.isdigit() or code == "None"):
        ended = "it hangs" if code == "None" else f"exit {code}"
        return f"{_code(before)}<br>{ended}" if before else ended
    shown = " ".join(line.replace("/dev/disk/by-id/", "").split()).replace("|", "\\|")
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def write(path: Path = PAGE) -> None:
    path.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write()
