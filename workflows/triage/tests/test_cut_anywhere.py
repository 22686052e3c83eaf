"""Each text that the tests have, cut at many places: what is left is called good only if it is said that, and where, something may be missing."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from workflows.triage import triage

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("workflows/pasted/tests/cases", "workflows/triage/tests/cases", "workflows/triage/tests/known_cases", "agents/tests/captures")
LARGEST, LINES_MIN, CUTS = 20_000, 5, 4
TEXTS = {
    str(path.relative_to(ROOT)): path.read_text()
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.txt"))
    if path.stat().st_size < LARGEST and path.read_text().count("\n") >= LINES_MIN
}
MULTIPATH = """mpatha (35000c500a7000001) dm-5 EXAMPLE,DISK12T
size=10.9T features='0' hwhandler='0' wp=rw
|-+- policy='service-time 0' prio=1 status=active
| `- 1:0:0:0 sdb 8:16 active ready running
`-+- policy='service-time 0' prio=1 status=enabled
  `- 2:0:0:0 sdc 8:32 active ready running
"""


def cuts(name: str, text: str) -> list[str]:
    """Without an end, without a beginning, with neither, and in the middle of a line; the same ones each time."""
    chance, lines = random.Random(name), text.split("\n")
    found = []
    for how in range(CUTS):
        first, last = sorted(chance.sample(range(len(lines) + 1), 2))
        part = (lines[:last], lines[first:], lines[first:last], [text[: chance.randrange(len(text))]])[how]
        found.append("\n".join(part))
    return [part for part in found if part.strip() and part != text]


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_a_part_is_good_only_where_it_says_what_may_be_missing(name):
    for part in cuts(name, TEXTS[name]):
        found = triage([("p", part)])
        assert not found.good or any(line.startswith("p, lines") for line in found.not_looked_at), part


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_a_list_of_multipath_that_ends_within_a_map_is_a_part(count):
    found = triage([("p", MULTIPATH.replace("mpatha", "mpathb").replace("sd", "sdx") + "".join(MULTIPATH.splitlines(True)[:count]))])
    assert [read.outcome for read in found.reads if read.source] == ["partly"]
    assert not found.good


def test_a_list_of_multipath_that_is_whole_is_good_and_may_go_on():
    found = triage([("p", MULTIPATH)])
    assert found.good
    assert any("shows where its list ends" in line for line in found.not_looked_at)


def test_a_path_that_was_cut_behind_its_name_is_a_part():
    found = triage([("p", MULTIPATH.removesuffix("active ready running\n"))])
    assert [read.outcome for read in found.reads if read.source] == ["partly"]
