"""Destroyed pools that cannot or must not come back, and lists of damaged data of which a part is missing."""

from __future__ import annotations

import pytest

from workflows.triage import triage

DESTROYED = """   pool: linden
     id: 7750158761011452865
  state: {0} (DESTROYED)
 action: The pool can be imported using its name or numeric identifier.
 config:

\tlinden      {0}{1}
\t  mirror-0  {0}
\t    wwn-0x5000c500a1b2c3d1  {2}
\t    wwn-0x5000c500a1b2c3d2  ONLINE
"""
OTHER = """   pool: linden
     id: 1122334455667788990
  state: ONLINE
 action: The pool can be imported using its name or numeric identifier.
 config:

\tlinden      ONLINE
\t  mirror-0  ONLINE
\t    wwn-0x5000c500a1b2c3d2  ONLINE
\t    wwn-0x5000c500a1b2c3d3  ONLINE
"""
OLD = (
    "  pool: linden\n state: ONLINE\n scrub: resilver completed after 1h28m with 0 errors on Sat Nov 14 00:11:22 2026\nconfig:\n\n"
    "\tNAME        STATE     READ WRITE CKSUM\n\tlinden      ONLINE       0     0     0\n\t  mirror-0  ONLINE       0     0     0\n"
    "\t    c1t0d0  ONLINE       0     0     0  5.62M resilvered\n\t    c1t1d0  ONLINE       0     0     0\n\nerrors: {0}\n"
)


def read(text: str):
    return triage([("p", text)])


def commands(text: str) -> list[str]:
    return [" ".join(argv) for one in read(text).situations for cure in one.cures for argv in cure.argv]


def test_a_destroyed_pool_that_is_whole_can_be_brought_back():
    text = f"# zpool import -D\n{DESTROYED.format('ONLINE', '', 'ONLINE')}"
    assert any("could be brought back" in one.title for one in read(text).situations)
    assert any("-D" in command for command in commands(text))


@pytest.mark.parametrize(
    "text",
    [
        f"# zpool import -D\n{DESTROYED.format('FAULTED', '  corrupted data', 'UNAVAIL')}",
        f"# zpool import\n{OTHER}\n# zpool import -D\n{DESTROYED.format('ONLINE', '', 'ONLINE')}",
    ],
    ids=["its rows are away", "its disks are another pool's"],
)
def test_one_that_is_down_and_one_whose_disks_another_pool_has_are_not_to_be_imported(text: str):
    found = next(one for one in read(text).situations if "destroyed" in one.title)
    assert "could be brought back" not in found.title
    assert not any("-D" in command for command in commands(text))


@pytest.mark.parametrize(
    "line",
    ["Permanent errors have been detected", "Permanent errors have been detected in the following"],
)
def test_damage_of_which_the_list_is_not_here_is_damage(line: str):
    answer = read(OLD.format(line))
    assert ("data-errors", "act") in {(one.slug, one.severity) for one in answer.situations}
    assert "unexplained" not in {one.slug for one in answer.situations}
    assert not answer.good


@pytest.mark.parametrize("first", ["<metadata>:<0x3d>", "        linden/vm@auto-1:<0x1a>", "<0xffffffffffffffff>:<0x0>"])
def test_a_list_of_damaged_data_without_what_stands_above_it_is_damage(first: str):
    answer = read(f"These are damaged:\n{first}\n        linden/vm:<0x1>\n")
    assert [one.slug for one in answer.situations] == ["data-errors"]
    assert "in 2 files and objects" in answer.situations[0].title
    assert not answer.good


def test_the_same_list_below_its_line_is_one_text():
    answer = read(
        OLD.format("Permanent errors have been detected in the following files:\n\n        <metadata>:<0x0>\n        <metadata>:<0x24>")
    )
    assert [one.outcome for one in answer.reads] == ["read"]


def test_what_an_old_release_leaves_behind_a_row_when_a_resilver_has_ended_is_explained():
    assert read(OLD.format("No known data errors")).good


def test_a_sentence_right_below_a_tree_that_lost_its_indentation_is_no_row_of_it():
    flat = "\n".join(line.strip() for line in OLD.format("No known data errors").splitlines() if line and not line.startswith("errors"))
    answer = read(f"{flat}\nIf that is not so, the disk is to be looked at as follows:\n")
    assert not {"unexplained"} & {one.slug for one in answer.situations}


def test_a_configuration_with_lines_left_out_says_so_and_is_joined_with_nothing():
    text = "# zdb -C\nlinden:\n[...]\n            children[6]:\n                type: 'disk'\n                id: 6\n                guid: 2551349573857462274\n                path: '/dev/disk/by-vdev/slot_6-part1'\n"
    answer = read(text)
    assert [(one.outcome, one.source) for one in answer.reads] == [("partly", "zdb_config")]
    assert not answer.good
