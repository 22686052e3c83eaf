"""Texts of pools as people have them every day: damaged volumes, a half of a mirror that is left alone, hidden names, lost indentation."""

from __future__ import annotations

from typing import Any

import pytest

from workflows.triage import triage
from workflows.triage.json_answer import answer


def read(text: str):
    return triage([("p", text)])


def as_json(text: str) -> dict[str, Any]:
    return answer(read(text))


def situation(text: str, slug: str):
    return next(each for each in read(text).situations if each.slug == slug)


def kinds(text: str, slug: str) -> list[str]:
    return [cure.kind for cure in situation(text, slug).cures]


COLUMNS = "\tNAME        STATE     READ WRITE CKSUM\n"
DAMAGED = (
    "  pool: basin\n state: ONLINE\nstatus: One or more devices has experienced an error resulting in data\n\tcorruption.  Applications may be affected.\n"
    "config:\n\n" + COLUMNS + "\tbasin       ONLINE       0     0     0\n\t  sdk       ONLINE       0     0     4\n\n"
    "errors: Permanent errors have been detected in the following files:\n\n{}"
)


# What is damaged


@pytest.mark.parametrize(
    ("entries", "severity"),
    [
        ("        basin/vm-7-disk:<0x1>\n", "act"),
        ("        basin/vm-7-disk@before:<0x1>\n        basin/vm-7-disk:<0x1>\n", "act"),
        ("        basin/vm-7-disk@before:<0x1>\n", "watch"),  # only in a snapshot
        ("        basin/home:<0x1f3>\n", "watch"),
    ],
)
def test_the_data_of_a_volume_is_no_remains_of_a_removed_file(entries: str, severity: str) -> None:
    found = situation(DAMAGED.format(entries), "data-errors")
    assert found.severity == severity
    assert ("removed files or snapshots" in found.title) is (severity == "watch")
    assert ("restore" in [cure.kind for cure in found.cures]) is (severity == "act")


def test_of_objects_without_a_name_the_datasets_are_mounted_first() -> None:
    first = situation(DAMAGED.format("        basin/home:<0x1f3>\n"), "data-errors").cures[0]
    assert first.text.startswith("Mount the datasets")


def test_a_list_of_damaged_files_that_lost_its_indentation_is_read() -> None:
    text = DAMAGED.format("/basin/home/a.db\nbasin/home:<0x1f3>\nbasin/home@x:/b.db\n") + "\nThanks for any help\n"
    assert situation(text, "data-errors").title == "basin: data is damaged in 3 files and objects"


# A half that has no other beside it

HALF = (
    "  pool: basin\n state: DEGRADED\nstatus: One or more devices has been removed by the administrator.\n  scan: none requested\nconfig:\n\n"
    + COLUMNS
    + "\tbasin       DEGRADED     0     0     0\n\t  mirror-0  DEGRADED     0     0     0\n\t    sdk     {}\n\t    sdl     {}\n\nerrors: No known data errors\n"
)
COUNTS = "ONLINE       0     0     9"
GIVEN_UP = "DEGRADED     0     0    90  too many errors"


@pytest.mark.parametrize(("row", "slug"), [(COUNTS, "disk-errors"), (GIVEN_UP, "disk-faulted")])
def test_the_only_half_that_serves_is_not_touched_before_the_other_is_back(row: str, slug: str) -> None:
    text = HALF.format(row, "REMOVED      0     0     0")
    assert kinds(text, slug)[0] == "wait"
    assert not {"reseat", "replace"} & set(kinds(text, slug))
    assert "First bring sdl back" in situation(text, slug).cures[0].text
    assert "reseat" in kinds(text, "disk-missing")
    assert {"reseat", "replace"} <= set(kinds(HALF.format(row, "ONLINE       0     0     0"), slug))


def test_a_disk_that_is_being_replaced_already_is_not_asked_for() -> None:
    rows = "\t    replacing-1  DEGRADED     0     0     0\n\t      sdl   OFFLINE      0     0     0\n\t      sdm   ONLINE       0     0     0  (resilvering)\n"
    text = HALF.format(GIVEN_UP, "GONE").replace("\t    sdl     GONE\n", rows)
    assert "First bring" not in " ".join(cure.text for cure in situation(text, "disk-faulted").cures)


# How many losses

DOWN = (
    "  pool: basin\n state: UNAVAIL\nstatus: One or more devices are faulted in response to IO failures.\n  scan: none requested\nconfig:\n\n"
    + COLUMNS
    + "\tbasin       UNAVAIL      0     0     0  insufficient replicas\n\t  sdk       UNAVAIL      0     0     0\n\nerrors: 4 data errors, use '-v' for a list\n"
)


def test_a_number_of_losses_is_never_below_zero() -> None:
    pool = as_json(DOWN)["pools"][0]
    assert pool["losses_survived"] is None
    assert "out of reach" in pool["unknown"]["losses_survived"]
    pool = as_json(HALF.format(COUNTS, "REMOVED      0     0     0"))["pools"][0]
    assert pool["losses_survived"] == 0


def test_a_spare_in_use_of_which_no_disk_is_there_is_one_place() -> None:
    text = (
        "   pool: basin\n     id: 77\n  state: UNAVAIL\n status: One or more devices are missing from the system.\n"
        " action: The pool cannot be imported. Attach the missing\n\tdevices and try again.\n config:\n\n"
        "\tbasin        UNAVAIL  missing device\n\t  raidz1-0   DEGRADED\n\t    spare-0  UNAVAIL\n\t      4242424242424242401  FAULTED  corrupted data\n"
        "\t      4242424242424242402  FAULTED  corrupted data\n\t    sdk      ONLINE\n\t    sdl      ONLINE\n"
    )
    found = situation(text, "import-blocked")
    assert found.subject["why"] == "missing-top"
    assert "Look for 4242424242424242401" in found.meaning
    assert "All rows" not in found.meaning


# Names and layout


def test_a_name_that_was_hidden_in_one_place_only() -> None:
    text = HALF.format(COUNTS, "REMOVED      0     0     0").replace("pool: basin", "pool: xxxx")
    one = as_json(text)["pools"][0]
    assert (one["name"], one["verdict"], one["losses_survived"]) == ("xxxx", "reduced", 0)
    assert [each.outcome for each in read(text).reads] == ["read"]
    assert any("begins with basin" in note for each in read(text).reads for note in each.notes)


def test_a_top_level_vdev_is_no_hidden_name_of_a_pool() -> None:
    text = HALF.format(COUNTS, "REMOVED      0     0     0").replace("\tbasin       DEGRADED     0     0     0\n", "")
    assert [each.outcome for each in read(text).reads] != ["read"]


def test_a_pool_that_is_indented_below_its_command_is_read_from_its_first_line() -> None:
    text = "zpool status\n" + "".join(
        f"\t{line.lstrip()}" if line[:1] != "\t" else f"\t{line}" for line in HALF.format(COUNTS, "ONLINE 0 0 0").splitlines(True)
    )
    pool = as_json(text)["pools"][0]
    assert (pool["name"], pool["state"], pool["errors"]["text"]) == ("basin", "DEGRADED", "No known data errors")


def test_two_listings_that_lost_the_break_between_them() -> None:
    one = "   pool: {0}\n     id: {1}\n  state: ONLINE\n action: The pool can be imported using its name or numeric identifier.\n config:\n\n\t{0}  ONLINE\n\t  sd{1}  ONLINE"
    found = as_json(f"{one.format('basin', 7)}   {one.format('lake', 8).strip()}\n")
    assert [pool["name"] for pool in found["pools"]] == ["basin", "lake"]
    assert not found["unexplained"]


def test_a_prompt_alone_ends_the_output_above_it() -> None:
    table = "NAME    SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT\nbasin   228G  16.8G   211G        -         -    12%     7%  1.00x    ONLINE  -\n"
    assert [each.outcome for each in read(f"$ zpool list\n{table}$\n").reads] == ["read"]


def test_the_old_column_of_delays_is_that_of_slow_ios() -> None:
    rows = (
        "        NAME        STATE     READ WRITE CKSUM DELAY\n        basin       ONLINE       0     0     0     -\n"
        "          mirror-0  ONLINE       0     0     0     -\n            sdk     ONLINE       0     0     0    20\n            sdl     ONLINE       0     0     0     0\n"
    )
    assert "slow-ios" in [each.slug for each in read(rows).situations]


# Refusals and alerts


@pytest.mark.parametrize("words", ["(hanging)", "[hangs]", "(it just hangs for ever)"])
def test_a_command_that_does_not_come_back(words: str) -> None:
    found = situation(f"$ zpool export basin\n{words}\n", "refused-command")
    assert (found.title, found.severity, found.subject["why"]) == ("zpool export does not come back", "act", "hangs")


def test_a_mount_that_was_refused_after_an_import_is_a_refused_mount() -> None:
    found = situation("# zpool import -f basin lake\ncannot mount '/lake': directory is not empty\n", "refused-command")
    assert found.title == "mount of /lake was refused"


def test_alerts_about_a_pool_whose_name_is_hidden_and_what_a_program_repeats() -> None:
    text = (
        "> Pool `[X]` state is SUSPENDED: One or more devices are faulted in response to IO failures.\n\nLater in the day the programs met it:\n\n"
        "- `zfs_open() failed - cannot open '[X]/apps': pool I/O is currently suspended`\n"
    )
    found = read(text).situations
    assert {each.slug for each in found} == {"pool-suspended", "refused-command"}
    assert not any(cure.kind == "replace" for each in found for cure in each.cures)
